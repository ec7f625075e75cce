//! Spelling of a keyword: people type in small letters what texts write otherwise.

use std::collections::HashMap;

use searchwright_keywords::words::{primary, tokens};

/// Returns a keyword with the words spelt as the texts of the project spell them, if it is typed in small letters: names such
/// as `iPhone` and abbreviations, and in German the nouns.
pub(super) fn respell<'t>(topic: &str, language: &str, texts: impl Iterator<Item = &'t str>) -> String {
    if topic.contains(char::is_uppercase) {
        return topic.to_owned();
    }
    let wanted: Vec<&str> = tokens(topic).collect();
    let mut found: HashMap<String, HashMap<&str, u32>> = HashMap::new();
    for text in texts {
        // the first word of a text has a capital letter anyway
        for word in tokens(text).skip(1) {
            let lower = word.to_lowercase();
            if wanted.contains(&lower.as_str()) {
                *found.entry(lower).or_default().entry(word).or_default() += 1;
            }
        }
    }
    let is_german = primary(language) == "de";
    let spelt = |word: &str| -> Option<String> {
        let spellings = found.get(word)?;
        // the most used, the first by letters of equals
        let usual = spellings
            .iter()
            .max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)))?
            .0;
        let capitals = usual.chars().filter(|c| c.is_uppercase()).count();
        // elsewhere than in German headings have capital letters that words have not
        let is_heading = capitals == 1 && usual.starts_with(char::is_uppercase) && !is_german;
        (!is_heading).then(|| (*usual).to_owned())
    };
    let words = topic
        .split(' ')
        .map(|word| spelt(word).unwrap_or_else(|| word.to_owned()));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::respell;

    #[test]
    fn a_keyword_is_spelt_as_the_texts_spell_it() {
        let texts = [
            "Der Stehtisch ist neu.",
            "Ein elektrischer Stehtisch",
            "Best iPhone Case",
            "An iPhone and a USB case",
        ];
        let respell = |topic, language| respell(topic, language, texts.into_iter());
        assert_eq!(
            respell("elektrischer stehtisch", "de-AT"),
            "elektrischer Stehtisch"
        );
        assert_eq!(respell("iphone case", "en"), "iPhone case");
        assert_eq!(respell("usb case", "en"), "USB case");
        assert_eq!(respell("Iphone", "en"), "Iphone");
    }
}
