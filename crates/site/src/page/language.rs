//! Detects a main text in another language than the page declares.

use std::sync::LazyLock;

use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

use searchwright_text::{self as text, primary};

/// Minimum number of words of running text for a verdict.
const MIN_WORDS: u32 = 50;
/// Number of bytes of running text that are examined.
const SAMPLE: usize = 1_000;
/// Minimum length of a line in bytes; a shorter one is a heading, a list item or a button.
const LINE: usize = 40;
/// Number of words that are looked up.
const LOOKED_UP: usize = 100;
/// Minimum share of the most frequent words of a language in running text, in percent: English and German have more
/// than half, a text in another language seldom a fifth.
const USUAL: usize = 25;
/// Minimum share, in percent, for a language with a short word list.
const USUAL_IN_SHORT: usize = 12;
const CONFIDENCE: f64 = 0.9;

/// Languages that detection supports, as pairs of ISO 639-3 and ISO 639-1 codes.
const KNOWN: &str = "eng en rus ru cmn zh spa es por pt ita it ben bn fra fr deu de ukr uk kat ka ara ar hin hi jpn ja heb he \
    yid yi pol pl amh am jav jv kor ko nob no dan da swe sv fin fi tur tr nld nl hun hu ces cs ell el bul bg bel be mar mr \
    kan kn ron ro slv sl hrv hr srp sr mkd mk lit lt lav lv est et tam ta vie vi urd ur tha th guj gu uzb uz pan pa aze az \
    ind id tel te pes fa mal ml ori or mya my nep ne sin si khm km tuk tk aka ak zul zu sna sn afr af slk sk cat ca tgl tl \
    hye hy";
/// Groups of languages so similar that one may be mistaken for another.
const ALIKE: [&[&str]; 6] = [
    &["no", "nb", "nn", "da"],
    &["hr", "sr", "bs", "sh"],
    &["id", "ms", "jv"],
    &["cs", "sk"],
    &["hi", "mr", "ne"],
    &["ru", "uk", "be", "bg", "mk"],
];
/// Languages whose most frequent words the `stop_words` crate knows.
const LISTED: [&str; 22] = [
    "ar", "az", "ca", "da", "de", "el", "en", "es", "fi", "fr", "he", "hu", "id", "it", "nl", "no", "pt",
    "ro", "ru", "sl", "sv", "tr",
];

/// The most frequent words of some further languages.
const MORE: [(&str, &str); 7] = [
    (
        "pl",
        "i w na z do się nie że jest o to od za jak po dla są przez oraz lub czy ale co który która które ten tego może tym przy ich był",
    ),
    (
        "cs",
        "a v na se je z do že s o to i pro za ve po jsou si jako od ale by při které který nebo která jeho také byl k u",
    ),
    (
        "sk",
        "a v na sa je z do že s o to i pre za vo po sú si ako od ale by pri ktoré ktorý alebo ktorá aj k",
    ),
    (
        "uk",
        "і в на з до не що у та за це від як про по для є або його при який яка які також але ми ви вони бути було й",
    ),
    (
        "bg",
        "и в на да се за от с е не по са че като до при или което който ще това но след",
    ),
    (
        "hr",
        "i u na je se da za od su s o to kao ne ili koji koja koje može iz bi te a po što ali biti",
    ),
    (
        "vi",
        "và của là có cho các được trong một với không những để này người khi đã từ đến về như cũng bạn ở ra trên sẽ",
    ),
];

/// Frequent words per language, as values of [`key`].
static USUAL_WORDS: LazyLock<HashMap<&'static str, HashSet<u128>>> = LazyLock::new(|| {
    let listed = LISTED.into_iter().map(|code| {
        let words = stop_words::lookup(code).unwrap_or_default();
        (code, words.iter().map(|word| key(word.as_bytes())).collect())
    });
    let by_key = |word: &str| key(word.as_bytes());
    let more = MORE.map(|(code, words)| (code, words.split(' ').map(by_key).collect()));
    listed.chain(more).collect()
});

/// Language of a text, as detected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DetectedLanguage {
    /// ISO 639-1 code.
    pub language: Box<str>,
    /// Confidence in percent, 90 to 100.
    pub confidence: u8,
}

/// Returns the language of a text if it certainly differs from the declared one. Most pages are in the declared
/// language, which their frequent words show, so that detection runs on few of them.
pub(super) fn other_than(declared: &str, lines: &str) -> Option<DetectedLanguage> {
    let declared = primary(declared);
    let declared = if matches!(&*declared, "nb" | "nn") {
        "no"
    } else {
        &*declared
    };
    // detection mistakes a language it does not support for another one
    codes().find(|(_, code)| *code == declared)?;
    let mut sample = String::new();
    for line in text::lines(lines).filter(|line| line.len() >= LINE) {
        sample.push_str(line);
        sample.push('\n');
        if sample.len() >= SAMPLE {
            break;
        }
    }
    sample.truncate(sample.floor_char_boundary(SAMPLE));
    if sample.len() < 2 * MIN_WORDS as usize || has_usual_words(&sample, declared) == Some(true) {
        return None;
    }
    if text::words(&sample) < MIN_WORDS {
        return None;
    }
    let found = whatlang::detect(&sample)?;
    let (_, language) = codes().find(|(code, _)| *code == found.lang().code())?;
    let alike = ALIKE
        .iter()
        .any(|group| group.contains(&language) && group.contains(&declared));
    let sure = language != declared
        && !alike
        && found.confidence() >= CONFIDENCE
        && has_usual_words(&sample, language) != Some(false);
    sure.then(|| DetectedLanguage {
        language: language.into(),
        confidence: (found.confidence() * 100.0) as u8,
    })
}

fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut codes = KNOWN.split_ascii_whitespace();
    std::iter::from_fn(move || Some((codes.next()?, codes.next()?)))
}

/// Whether a text has enough of the most frequent words of a language; `None` if these are unknown.
fn has_usual_words(sample: &str, language: &str) -> Option<bool> {
    let usual = USUAL_WORDS.get(language).filter(|words| !words.is_empty())?;
    let short = MORE.iter().any(|(code, _)| *code == language);
    let least = if short { USUAL_IN_SHORT } else { USUAL };
    let (mut all, mut known) = (0, 0);
    let mut enough = |word: u128| {
        all += 1;
        known += usize::from(usual.contains(&word));
        // stops early, whatever the remaining words are
        known * 100 >= LOOKED_UP * least
    };
    let is_enough = if sample.is_ascii() {
        let mut next = 0;
        let words = sample
            .as_bytes()
            .split(|b| !b.is_ascii_alphanumeric())
            .map(|word| {
                let at = next;
                next += word.len() + 1;
                (at, word)
            });
        let mut words = words.filter(|(_, word)| !word.is_empty()).take(LOOKED_UP);
        words.any(|(at, word)| enough(ascii_key(sample.as_bytes(), at, word)))
    } else {
        let words = sample.split(|c: char| !c.is_alphanumeric());
        let mut words = words.filter(|word| !word.is_empty()).take(LOOKED_UP);
        words.any(|word| enough(key(word.to_lowercase().as_bytes())))
    };
    Some(is_enough || known * 100 >= all * least)
}

/// Returns the look-up key of a word in lower case: its bytes if there are up to 16, otherwise its hash.
fn key(word: &[u8]) -> u128 {
    let mut sixteen = [0; 16];
    match sixteen.get_mut(..word.len()) {
        Some(there) => there.copy_from_slice(word),
        None => return 1 << 127 | u128::from(text::hash(word)),
    }
    u128::from_le_bytes(sixteen)
}

/// Returns the key of a word of ASCII letters and digits, in either case, inside a text. It mostly loads 16 bytes
/// including the text behind the word and masks them, because copying a variable number of bytes is a call, which costs
/// more than all the rest.
fn ascii_key(text: &[u8], at: usize, word: &[u8]) -> u128 {
    // the bit that lowers capitals is already set in digits
    const SMALL: u128 = u128::from_le_bytes([0x20; 16]);
    match text.get(at..).and_then(<[u8]>::first_chunk) {
        Some(sixteen) if word.len() < 16 => {
            (u128::from_le_bytes(*sixteen) | SMALL) & ((1 << (8 * word.len())) - 1)
        }
        _ => key(&word.to_ascii_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    const ENGLISH: &str = "The repair of lawn mowers is not difficult when you have the right tools and a little patience. \
        Begin with the spark plug, which is easily reached, and look at its colour before you put it back into the engine. \
        When it is black the mixture is too rich; when it is white the engine runs hot. Then you should look at the filter.";
    const GERMAN: &str = "Die Reparatur von Rasenmähern ist nicht schwierig, wenn man das richtige Werkzeug und ein wenig \
        Geduld hat. Beginnen Sie mit der Zündkerze, die leicht zu erreichen ist, und sehen Sie sich ihre Farbe an, bevor \
        Sie sie wieder in den Motor einsetzen. Wenn sie schwarz ist, ist das Gemisch zu fett; ist sie weiß, so läuft der \
        Motor zu heiß, und dann sollten Sie sich den Filter ansehen.";
    const NORWEGIAN: &str = "Reparasjon av gressklippere er ikke vanskelig når man har riktig verktøy og litt tålmodighet. \
        Begynn med tennpluggen, som er lett å nå, og se på fargen før du setter den tilbake i motoren. Når den er svart, \
        er blandingen for fet, og når den er hvit, går motoren varm, og da bør du se på filteret som ligger under dekselet.";

    fn found(declared: &str, text: &str) -> Option<String> {
        other_than(declared, text).map(|found| found.language.into())
    }

    proptest! {
        #[test]
        fn a_word_is_the_same_with_what_is_behind_it(before in "[a-z ]{0,5}", word in "[a-zA-Z0-9]{1,40}", behind in "[ a-zA-Z]{0,20}") {
            let text = format!("{before}{word}{behind}");
            let found = ascii_key(text.as_bytes(), before.len(), word.as_bytes());
            prop_assert_eq!(found, key(word.to_lowercase().as_bytes()));
        }
    }

    #[test]
    fn another_language_is_seen() {
        assert_eq!(found("de-AT", ENGLISH).as_deref(), Some("en"));
        assert_eq!(found("en", GERMAN).as_deref(), Some("de"));
        assert_eq!(found("ja", ENGLISH).as_deref(), Some("en"));
        assert_eq!(found("pl", ENGLISH).as_deref(), Some("en"));
    }

    #[test]
    fn usual_words_tell_languages_apart() {
        let polish = "Naprawa kosiarki nie jest trudna, jeśli ma się odpowiednie narzędzia i trochę cierpliwości. Zacznij od \
            świecy, do której łatwo się dostać, i sprawdź jej kolor, zanim włożysz ją z powrotem do silnika.";
        for (text, own, others) in [
            // related languages are not told apart by frequent words
            (polish, "pl", ["en", "de"]),
            (ENGLISH, "en", ["pl", "de"]),
            (GERMAN, "de", ["hr", "en"]),
            (NORWEGIAN, "no", ["en", "vi"]),
        ] {
            assert_eq!(has_usual_words(text, own), Some(true), "{own}");
            for other in others {
                assert_eq!(has_usual_words(text, other), Some(false), "{own} {other}");
            }
        }
        assert_eq!(has_usual_words(ENGLISH, "et"), None);
    }

    #[test]
    fn nothing_is_said_without_need() {
        for (declared, text) in [
            ("en-GB", ENGLISH),
            ("de", GERMAN),
            ("nn", NORWEGIAN),
            ("da", NORWEGIAN),
            // not supported by detection
            ("eu", ENGLISH),
            ("de", &ENGLISH[..120]),
            // product names have no language
            (
                "de",
                &"Apple MacBook Pro Samsung Galaxy Ultra Sony Bose Dell Lenovo Canon Nikon Garmin Kindle Roku ".repeat(9),
            ),
        ] {
            assert_eq!(found(declared, text), None, "{declared}: {text}");
        }
    }
}
