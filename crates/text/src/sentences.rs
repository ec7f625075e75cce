//! Sentences by UAX #29, with rules that it leaves to languages.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::{
    abbreviations::{has_stopped_ordinals, is_abbreviation},
    language_tag::primary,
};

/// Returns the sentences of a paragraph, trimmed and not empty. For several paragraphs, call it for each.
pub fn sentences<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let mut out = Vec::new();
    each_sentence(text, &primary(language), |place| out.push(&text[place]));
    out
}

/// Calls `found` with the range of each sentence, in a language given by its primary subtag.
pub(crate) fn each_sentence(text: &str, language: &str, mut found: impl FnMut(Range<usize>)) {
    let mut start = 0;
    let mut end_at = |end: usize| {
        if end < text.len() && goes_on(text[start..end].trim_end(), language) {
            return;
        }
        let sentence = text[start..end].trim_start();
        let from = end - sentence.len();
        let sentence = sentence.trim_end();
        // a stop and a quotation mark alone are the end of the previous sentence
        if sentence.chars().any(char::is_alphanumeric) {
            found(from..from + sentence.len());
        }
        start = end;
    };
    let mut take = |at: usize, part: &str| {
        // UAX #29 sees no end before digits that a lower-case word follows; scanned as a whole without a branch, so
        // that the compiler vectorizes the loop
        let has_digit = !part.is_ascii() || part.bytes().fold(false, |any, b| any | b.is_ascii_digit());
        let part_with_digits = if has_digit { part } else { "" };
        for stop in memchr::memchr_iter(b'.', part_with_digits.as_bytes()) {
            let behind = part[stop + 1..].strip_prefix(' ');
            if behind.is_some_and(|behind| behind.starts_with(char::is_numeric)) {
                end_at(at + stop + 2);
            }
        }
        end_at(at + part.len());
    };
    if text.is_ascii() {
        let mut at = 0;
        while at < text.len() {
            let end = ascii_bound(text.as_bytes(), at);
            take(at, &text[at..end]);
            at = end;
        }
    } else {
        for (at, part) in text.split_sentence_bound_indices() {
            take(at, part);
        }
    }
}

/// Returns the end of the sentence that begins at `start` by UAX #29, for ASCII text only: most text is, and the tables
/// of all characters cost ten times as much.
fn ascii_bound(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(found) = memchr::memchr3(b'.', b'!', b'?', &text[at..]).map(|found| at + found) {
        // a line ends a sentence as well (SB4), and `\r\n` is one line end (SB3)
        if let Some(end) = line_end(text, at, found) {
            return end;
        }
        at = found + 1;
        let is_stop = text[found] == b'.';
        let next = text.get(at).copied();
        // SB6, SB7
        let letter_before = found > start && text[found - 1].is_ascii_alphabetic();
        if is_stop && next.is_some_and(|b| b.is_ascii_digit() || b.is_ascii_uppercase() && letter_before) {
            continue;
        }
        let mut end = at;
        let skip = |mut end: usize, of: fn(u8) -> bool| {
            while text.get(end).is_some_and(|b| of(*b)) {
                end += 1;
            }
            end
        };
        end = skip(end, |b| {
            matches!(b, b'"' | b'\'' | b'(' | b')' | b'[' | b']' | b'{' | b'}')
        });
        end = skip(end, |b| matches!(b, b' ' | b'\t' | 0x0b | 0x0c));
        // SB8a
        if text
            .get(end)
            .is_some_and(|b| matches!(b, b',' | b'-' | b':' | b';' | b'.' | b'!' | b'?'))
        {
            at = end;
            continue;
        }
        // SB8: a stop before a lower-case word, with anything between that is no letter, line end or terminator
        if is_stop {
            let ahead = skip(end, |b| {
                !(b.is_ascii_alphabetic() || matches!(b, b'\n' | b'\r' | b'.' | b'!' | b'?'))
            });
            if text.get(ahead).is_some_and(u8::is_ascii_lowercase) {
                at = end;
                continue;
            }
        }
        // SB9 to SB11
        return match text.get(end) {
            Some(b'\r') if text.get(end + 1) == Some(&b'\n') => end + 2,
            Some(b'\n' | b'\r') => end + 1,
            _ => end,
        };
    }
    line_end(text, at, text.len()).unwrap_or(text.len())
}

fn line_end(text: &[u8], from: usize, to: usize) -> Option<usize> {
    let at = from + memchr::memchr2(b'\n', b'\r', &text[from..to])?;
    Some(at + 1 + usize::from(text[at] == b'\r' && text.get(at + 1) == Some(&b'\n')))
}

/// Whether a sentence that seems to end here goes on.
fn goes_on(part: &str, language: &str) -> bool {
    let Some(before) = part.strip_suffix('.') else {
        return false;
    };
    let word = last_word(before);
    let mut chars = word.chars();
    let initial = match (chars.next(), chars.next()) {
        // `J. R. R.`, `z. B.`; not the pronoun, and not where a single letter is a word
        (Some(only), None) => only.is_alphabetic() && !(language == "en" && only == 'I'),
        _ => false,
    };
    let ordinal = has_stopped_ordinals(language)
        && (1..=2).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_digit());
    initial || ordinal || is_abbreviation(word, language)
}

/// Returns the text after the last white space, bracket, quotation mark or slash.
fn last_word(text: &str) -> &str {
    let ends = |b: u8| b.is_ascii_whitespace() || matches!(b, 0x0b | b'(' | b'[' | b'"' | b'/');
    let bytes = text.as_bytes();
    match bytes.iter().rposition(|b| ends(*b) || !b.is_ascii()) {
        None => text,
        Some(at) if bytes[at].is_ascii() => &text[at + 1..],
        Some(_) => {
            let ends = |c: char| {
                c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“' | '”' | '„' | '«' | '»' | '/')
            };
            text.rsplit(ends).next().unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::{last_word, sentences};

    proptest! {
        #[test]
        fn a_last_word_is_the_same_by_bytes(text in "[aé \u{a0}\u{2003}\u{b}(/“]{0,12}") {
            let ends = |c: char| c.is_whitespace() || matches!(c, '(' | '/' | '“');
            prop_assert_eq!(last_word(&text), text.rsplit(ends).next().unwrap());
        }
    }

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
        fn ascii_is_parted_as_all_text_is(text in "[aAbB0 .!?,;:'\"()\\-\t\r\n\u{b}#_%]{0,40}") {
            let mut parts = Vec::new();
            let mut at = 0;
            while at < text.len() {
                let end = super::ascii_bound(text.as_bytes(), at);
                parts.push(&text[at..end]);
                at = end;
            }
            let expected: Vec<&str> = unicode_segmentation::UnicodeSegmentation::split_sentence_bounds(&*text).collect();
            prop_assert_eq!(parts, expected);
        }

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
