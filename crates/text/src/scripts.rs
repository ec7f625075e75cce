//! Scripts: characters that are letters, and scripts without spaces between words.

use crate::simd::count;

/// Whether a character is alphanumeric; equals [`char::is_alphanumeric`], which is slow for Arabic, Chinese, Japanese
/// and Korean.
pub fn is_alphanumeric(c: char) -> bool {
    let is_letter = matches!(c, '\u{620}'..='\u{657}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    is_letter || c.is_alphanumeric()
}

/// Whether a character is Han, kana or bopomofo: scripts without spaces between words that UAX #29 does not segment.
pub fn is_cjk(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
        | '\u{3041}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether most letters of a text, given in parts, are of such scripts.
pub fn is_mostly_cjk<'t>(parts: impl Iterator<Item = &'t str> + Clone) -> bool {
    // all of them begin with such a byte; most texts have more ASCII letters
    let sum =
        |is_so: fn(u8) -> bool| -> usize { parts.clone().map(|part| count(part.as_bytes(), is_so)).sum() };
    let (firsts, plain) = (sum(|b| b >= 0xe2), sum(|b| b.is_ascii_alphanumeric()));
    if firsts <= plain {
        return false;
    }
    let (mut all, mut cjk) = (0_usize, 0_usize);
    for letter in parts.flat_map(str::chars).filter(|c| is_alphanumeric(*c)) {
        all += 1;
        cjk += usize::from(is_cjk(letter));
    }
    2 * cjk > all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    #[test]
    fn letters_and_digits_are_those_of_unicode() {
        for c in '\0'..='\u{1ffff}' {
            assert_eq!(is_alphanumeric(c), c.is_alphanumeric(), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn most_letters_are_counted_only_where_it_is_not_plain(parts in proptest::collection::vec("[a-c 修理。’é１]{0,12}", 0..4)) {
            let letters = || parts.iter().flat_map(|part| part.chars()).filter(|c| c.is_alphanumeric());
            let cjk = letters().filter(|c| is_cjk(*c)).count();
            prop_assert_eq!(is_mostly_cjk(parts.iter().map(String::as_str)), 2 * cjk > letters().count());
        }
    }
}
