//! Sentences: UAX #29, with what it leaves to languages.

use unicode_segmentation::UnicodeSegmentation;

use super::{
    abbreviations::{has_stopped_ordinals, is_abbreviation},
    primary,
};

/// The sentences of a paragraph, trimmed, none empty. Those of several paragraphs are those of each.
pub fn sentences<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let language = primary(language);
    let mut out = Vec::new();
    let mut start = 0;
    let mut end_at = |end: usize| {
        if end < text.len() && goes_on(text[start..end].trim_end(), &language) {
            return;
        }
        let sentence = text[start..end].trim();
        // a stop and a quotation mark alone are the end of what was before, not a sentence
        if sentence.chars().any(char::is_alphanumeric) {
            out.push(sentence);
        }
        start = end;
    };
    for (at, part) in text.split_sentence_bound_indices() {
        // UAX #29 sees no end before digits that a word in lower case follows
        let stops = part.match_indices(". ").map(|(stop, _)| stop + 2);
        for end in stops.filter(|end| part[*end..].starts_with(char::is_numeric)) {
            end_at(at + end);
        }
        end_at(at + part.len());
    }
    out
}

/// Whether what ends here only looks like a sentence.
fn goes_on(part: &str, language: &str) -> bool {
    let Some(before) = part.strip_suffix('.') else {
        return false;
    };
    let word = before
        .rsplit(|c: char| {
            c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“' | '„' | '«' | '/' | '\u{a0}')
        })
        .next()
        .unwrap_or_default();
    let mut chars = word.chars();
    let initial = match (chars.next(), chars.next()) {
        // `J. R. R.`, `z. B.`; not the pronoun, and not where a letter is a word
        (Some(only), None) => only.is_alphabetic() && !(language == "en" && only == 'I'),
        _ => false,
    };
    let ordinal = has_stopped_ordinals(language)
        && (1..=2).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_digit());
    initial || ordinal || is_abbreviation(word, language)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::sentences;

    #[test]
    fn sentences_by_language() {
        let cases: &[(&str, &str, &[&str])] = &[
            (
                "en",
                "Dr. Who met Mr. Smith. He left!",
                &["Dr. Who met Mr. Smith.", "He left!"][..],
            ),
            (
                "en",
                "See e.g. Berlin. So did I. Then more.",
                &["See e.g. Berlin.", "So did I.", "Then more."],
            ),
            (
                "en",
                "It costs 3.50 dollars. Really?",
                &["It costs 3.50 dollars.", "Really?"],
            ),
            (
                "en-US",
                "J. R. R. Tolkien wrote. Others read.",
                &["J. R. R. Tolkien wrote.", "Others read."],
            ),
            (
                "en",
                "We sell tea, etc. and more. Ok.",
                &["We sell tea, etc. and more.", "Ok."],
            ),
            (
                "de",
                "Am 3. Mai kam z. B. Hans. Er blieb.",
                &["Am 3. Mai kam z. B. Hans.", "Er blieb."],
            ),
            (
                "de",
                "Das war im Jahr 2024. Danach nichts.",
                &["Das war im Jahr 2024.", "Danach nichts."],
            ),
            ("en", "There were 12. Then 13.", &["There were 12.", "Then 13."]),
            (
                "ru",
                "Он живёт на ул. Ленина. Она нет.",
                &["Он живёт на ул. Ленина.", "Она нет."],
            ),
            (
                "en",
                "We agree. 45% of us, approx. 12 people.",
                &["We agree.", "45% of us, approx. 12 people."],
            ),
            ("zh", "你好。再见！", &["你好。", "再见！"]),
            (
                "en",
                "He said \"No.\" She left.",
                &["He said \"No.\"", "She left."],
            ),
            ("en", " ... ", &[]),
        ];
        for (language, text, expected) in cases {
            assert_eq!(sentences(text, language), *expected);
        }
    }

    proptest! {
        #[test]
        fn no_word_is_lost(text in "([A-Za-zé1-9]{1,6}[.!?]? ){0,20}") {
            let found = sentences(&text, "en").join(" ");
            let words = |t: &str| t.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&found), words(&text));
        }

        #[test]
        fn none_is_empty(text in ".{0,80}") {
            for sentence in sentences(&text, "de") {
                prop_assert!(sentence.chars().any(char::is_alphanumeric));
                prop_assert!(text.contains(sentence));
            }
        }
    }
}
