//! Knowledge about keywords that needs no database and no network: files of other tools, intent, ideas,
//! clusters and scores.
//!
//! Everything here is a function of its arguments. Lists of words lie in `keywords/data`, one file per
//! language.

pub mod cannibalisation;
pub mod cluster;
pub mod ideas;
pub mod import;
pub mod intent;
pub mod score;
pub mod titles;
pub mod words;

pub use searchwright_contract::keywords::KeywordSource as Source;
use unicode_normalization::UnicodeNormalization as _;

/// Returns the form in which keywords are compared: compatibility form, lower case, single spaces, plain quotes.
pub fn normalize(text: &str) -> String {
    let plain = |c: char| match c {
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2032}' | '`' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201f}' | '\u{2033}' => '"',
        other => other,
    };
    if text.is_ascii() {
        // its compatibility form is itself
        let mut out = String::with_capacity(text.len());
        for word in text.split_whitespace() {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
        out.make_ascii_lowercase();
        return if out.contains('`') {
            out.replace('`', "'")
        } else {
            out
        };
    }
    let folded: String = text.nfkc().flat_map(char::to_lowercase).map(plain).collect();
    let mut out = String::with_capacity(folded.len());
    for word in folded.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::normalize;

    #[test]
    fn spellings_of_one_keyword() {
        for same in [
            "Caf\u{e9}  au lait",
            "  cafe\u{301} au\u{a0}lait ",
            "CAF\u{c9} AU LAIT",
        ] {
            assert_eq!(normalize(same), "caf\u{e9} au lait");
        }
        assert_eq!(
            normalize("Today\u{2019}s \u{201c}news\u{201d}"),
            "today's \"news\""
        );
        assert_eq!(normalize(" \t\n "), "");
    }
}
