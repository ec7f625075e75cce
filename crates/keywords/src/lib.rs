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

/// Returns the form in which keywords are compared: compatibility form, full case folding, single spaces, plain quotes,
/// nothing that cannot be seen.
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
    let visible = text.nfkc().filter(|c| !is_invisible(*c));
    let folded: String = visible.flat_map(fold_case).map(plain).nfkc().collect();
    let mut out = String::with_capacity(folded.len());
    for word in folded.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    // what is left of the Turkish capital İ, and of an i that was typed with a dot of its own
    if out.contains("i\u{307}") {
        out = out.replace("i\u{307}", "i");
    }
    out
}

/// Folds case so that every spelling of a word is one: ς and σ, ß and ss, İ and i. The dotless ı stays: it is a letter of
/// its own.
fn fold_case(c: char) -> impl Iterator<Item = char> {
    let keeps = c == 'ı';
    let kept = keeps.then_some(c).into_iter();
    // by way of small letters: the capital ẞ is no other letter than ß
    let folded = (!keeps).then(|| {
        let small = c.to_lowercase();
        small.flat_map(char::to_uppercase).flat_map(char::to_lowercase)
    });
    kept.chain(folded.into_iter().flatten())
}

/// Returns whether a character shows nothing: soft hyphen, zero width, direction, variation.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{e0000}'..='\u{e0fff}'
    )
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

    #[test]
    fn case_is_folded_in_every_script() {
        for (one, other) in [
            ("ΣΊΣΥΦΟΣ μύθος", "σίσυφος ΜΎΘΟΣ"),
            ("σίσυφοσ", "ΣΊΣΥΦΟΣ"),
            ("İzmir otel", "izmir OTEL"),
            ("i\u{307}zmir", "İZMİR"),
            ("Straße", "STRASSE"),
            ("ẞ", "ss"),
            ("ﬁx", "FIX"),
            ("ＤＥＳＫ　５", "desk 5"),
            ("ﾃﾞｽｸ", "デスク"),
            ("ΐ", "Ϊ́"),
        ] {
            assert_eq!(normalize(one), normalize(other), "{one} {other}");
        }
        assert_ne!(normalize("kır"), normalize("kir"), "two words");
    }

    #[test]
    fn invisible_characters_do_not_count() {
        for same in [
            "stand\u{ad}ing desk",
            "\u{feff}standing\u{200b} desk",
            "standing desk\u{200e}",
            "standing\u{200b}\u{a0}desk\u{fe0f}",
        ] {
            assert_eq!(normalize(same), "standing desk");
        }
        assert_eq!(normalize("\u{200b}\u{ad}"), "");
    }
}
