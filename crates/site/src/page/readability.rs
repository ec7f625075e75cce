//! Detects main texts that are very hard to read.

use searchwright_text::{
    self as text, primary,
    readability::{Counts, Formula, Readability, count, formula, score},
    simd::BLOCK,
};

/// Minimum length of a line in bytes; a shorter one is a heading or a list item.
const LINE: usize = 60;
/// Minimum number of words of running text for a score.
const MIN_WORDS: u32 = 100;
/// Number of bytes of running text whose words are counted first, in whole paragraphs.
const COUNTED_FIRST: usize = 1_500;
/// Maximum score of a text that is kept; a higher one is certainly readable.
const MAX_SCORE: f64 = 40.0;
/// Number of points by which a rough score may exceed the exact score.
const DOUBT: f64 = 22.0;
/// Number of points by which an exact score of the beginning with a rough score of the rest may exceed the exact score.
/// Of 355 pages with hard texts (91 different ones) among 2,476 pages of real websites, these two bounds lose none.
const BEGINNING_DOUBT: f64 = 6.0;

/// Returns the score of a hard text, in a language with a formula on the Flesch scale. Counting syllables is slow, so
/// most texts are ruled out by a rough score of their letters, or by an exact score of their beginning with a rough
/// score of the rest.
pub(super) fn hard(language: &str, lines: &str) -> Option<Readability> {
    let formula = formula(language);
    if matches!(formula, Formula::Lix | Formula::SentenceLength) {
        return None;
    }
    let scored = |counts: &Counts| Some(score(counts, formula)?.score);
    let paragraphs = text::lines(lines).filter(|line| line.len() >= LINE && ends_a_sentence(line));
    let mut bytes = 0;
    let first = paragraphs.clone().take_while(|paragraph| {
        let more = bytes < COUNTED_FIRST;
        bytes += paragraph.len();
        more
    });
    let beginning: Vec<&str> = first.collect();
    let rest = paragraphs.skip(beginning.len());
    let primary = primary(language);
    let letters = rough(beginning.iter().copied(), &primary);
    if letters.words < MIN_WORDS {
        return None;
    }
    let mut all_letters = rough(rest.clone(), &primary);
    all_letters.join(letters);
    let by_letters = scored(&all_letters)?;
    if by_letters > MAX_SCORE + DOUBT {
        return None;
    }
    let mut words = count(beginning.into_iter(), language);
    if scored(&words)? + by_letters - scored(&letters)? > MAX_SCORE + BEGINNING_DOUBT {
        return None;
    }
    words.join(count(rest, language));
    score(&words, formula).filter(|found| found.score <= MAX_SCORE)
}

/// Whether a line ends like a sentence; entries of an index end with a bracket and do not.
fn ends_a_sentence(line: &str) -> bool {
    line.trim_end_matches(['"', '”', '»', ')', ' '])
        .ends_with(['.', '!', '?', '…'])
}

const PART: u8 = 1;
const VOWEL: u8 = 2;
const STOP: u8 = 4;
/// First byte of a character.
const FIRST: u8 = 8;

/// Returns classes of single bytes. The second byte of a vowel outside ASCII stands for the whole vowel.
const fn classes(cyrillic: bool) -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        let part = b.is_ascii_alphanumeric() || b >= 0x80;
        let vowel = matches!(b | 0x20, b'a' | b'e' | b'i' | b'o' | b'u' | b'y') && b < 0x80
            || cyrillic
                && matches!(
                    b,
                    0x83 | 0x8b | 0x8d | 0x8e | 0x8f | 0x91 | 0xb0 | 0xb5 | 0xb8 | 0xbe
                )
            || !cyrillic && matches!(b, 0xa0..=0xa6 | 0xa8..=0xaf | 0xb2..=0xb6 | 0xb8..=0xbc);
        classes[byte] = if part { PART } else { 0 }
            | if vowel { VOWEL } else { 0 }
            | if matches!(b, b'.' | b'!' | b'?') { STOP } else { 0 }
            | if part && !matches!(b, 0x80..=0xbf) {
                FIRST
            } else {
                0
            };
        byte += 1;
    }
    classes
}

static LATIN: [u8; 256] = classes(false);
static CYRILLIC: [u8; 256] = classes(true);

/// Counts roughly, by single bytes: every run of vowels is a syllable, every full stop before a space ends a sentence.
fn rough<'t>(paragraphs: impl Iterator<Item = &'t str>, language: &str) -> Counts {
    let classes = if language == "ru" { &CYRILLIC } else { &LATIN };
    let silent_e = matches!(language, "en" | "fr");
    let mut counts = Counts::default();
    let mut silent = 0;
    for paragraph in paragraphs {
        if paragraph.is_ascii() {
            silent += rough_ascii(paragraph.as_bytes(), &mut counts);
        } else {
            silent += rough_bytes(paragraph.as_bytes(), classes, &mut counts);
        }
        counts.sentences += 1;
    }
    let silent = if silent_e { silent } else { 0 };
    counts.syllables = counts.syllables.saturating_sub(silent).max(counts.words);
    counts
}

/// Counts a paragraph byte by byte. Returns the number of words that end with `e`.
fn rough_bytes(paragraph: &[u8], classes: &[u8; 256], counts: &mut Counts) -> u32 {
    let (mut before, mut last, mut silent) = (0, b' ', 0);
    for byte in paragraph {
        let class = classes[usize::from(*byte)];
        let begins = class & !before;
        counts.words += u32::from(begins & PART);
        counts.syllables += u32::from(begins & VOWEL != 0);
        counts.letters += u32::from(class & FIRST != 0);
        counts.sentences += u32::from(before & STOP != 0 && *byte == b' ');
        silent += u32::from(last == b'e' && class & PART == 0);
        (before, last) = (class, *byte);
    }
    silent
}

/// Counts an ASCII paragraph, 64 bytes at a time. Returns the number of words that end with `e`.
fn rough_ascii(paragraph: &[u8], counts: &mut Counts) -> u32 {
    let (mut parts, mut vowels, mut stops, mut es, mut silent) = (0, 0, 0, 0, 0);
    text::simd::each_block(paragraph, |at, block| {
        let last = [parts, vowels, stops, es].map(|bits: u64| bits >> 63);
        (parts, vowels, es) = (block.letters_and_digits(), block.vowels(), block.each(b'e'));
        stops = block.each(b'.') | block.each(b'!') | block.each(b'?');
        let [parts_before, vowels_before, stops_before, es_before] =
            [(parts, 0), (vowels, 1), (stops, 2), (es, 3)].map(|(bits, of)| bits << 1 | last[of]);
        counts.words += (parts & !parts_before).count_ones();
        counts.syllables += (vowels & !vowels_before).count_ones();
        counts.letters += parts.count_ones();
        counts.sentences += (stops_before & block.each(b' ')).count_ones();
        // bits beyond the end do not count
        let left = paragraph.len() - at;
        let there = if left < BLOCK { (1 << left) - 1 } else { u64::MAX };
        silent += (es_before & !parts & there).count_ones();
    });
    silent
}

#[cfg(test)]
mod tests {
    use searchwright_text::readability::readability;

    use super::*;

    const HARD: &str = "Organisational considerations necessitate comprehensive interdisciplinary deliberation concerning the \
        implementation of administrative responsibilities, notwithstanding previously established institutional arrangements.";
    const EASY: &str = "The cat sat on the mat because it was warm there. The dog came in and saw the cat, and then they both ran \
        out of the house and down the lane as fast as they could go.";
    const HART: &str = "Gesamtorganisatorische Überlegungen erfordern weitreichende Vereinbarungen hinsichtlich der \
        verwaltungsrechtlichen Verantwortlichkeiten ungeachtet vorangegangener institutioneller Übereinkünfte.";

    fn lines(paragraph: &str) -> String {
        vec![paragraph; 20].join("\n")
    }

    proptest::proptest! {
        #[test]
        fn ascii_counts_as_bytes_do(text in "[aAeEyZ0 .!?,'-]{0,200}") {
            let (mut blocks, mut bytes) = (Counts::default(), Counts::default());
            let silent = rough_ascii(text.as_bytes(), &mut blocks);
            proptest::prop_assert_eq!(silent, rough_bytes(text.as_bytes(), &LATIN, &mut bytes));
            proptest::prop_assert_eq!(blocks, bytes);
        }
    }

    #[test]
    fn only_hard_texts_are_remembered() {
        let found = hard("en", &lines(HARD)).unwrap();
        assert!(found.score < 0.0 && found.formula == Formula::FleschReadingEase);
        assert!(hard("de", &lines(HART)).unwrap().score < 30.0);
        assert_eq!(hard("en", &lines(EASY)), None);
        assert_eq!(
            hard("en", &lines(&HARD.replace(".", " (in module xml.parsers)"))),
            None
        );
        assert!(hard("en", &lines(&HARD.replace(".", " (in all modules.)"))).is_some());
        // an easy beginning does not decide
        let later = format!("{}\n{}", lines(EASY), lines(&HARD.repeat(5)));
        assert!(hard("en", &later).is_some());
        // no Flesch formula for the language, and too little text
        assert_eq!(hard("fi", &lines(HARD)), None);
        assert_eq!(hard("en", HARD), None);
        assert_eq!(hard("en", &lines("Extraordinary considerations")), None);
    }

    #[test]
    fn a_look_at_the_letters_is_near_enough() {
        for (language, text) in [
            ("en", EASY),
            ("en", HARD),
            ("de", HART),
            (
                "fr",
                "Les considérations de cette organisation sont assez difficiles à comprendre, mais elles restent utiles à tous.",
            ),
            (
                "es",
                "La organización del trabajo necesita algunas consideraciones que no son fáciles de entender para todos.",
            ),
            (
                "ru",
                "Организация работы требует некоторых соображений, которые нелегко понять. Но они всё же полезны для всех.",
            ),
            (
                "nl",
                "De organisatie van het werk vraagt om enkele overwegingen die niet voor iedereen makkelijk te begrijpen zijn.",
            ),
        ] {
            let text = lines(text);
            let rough = score(&rough(text.lines(), language), formula(language))
                .unwrap()
                .score;
            let exact = readability(text.lines(), language).unwrap().score;
            assert!(rough - exact < DOUBT, "{language}: {rough} {exact}");
        }
    }
}
