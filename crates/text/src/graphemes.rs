//! Lengths as readers count them: in extended grapheme clusters of UAX #29.

use unicode_segmentation::UnicodeSegmentation;

/// Returns the number of extended grapheme clusters of a text.
pub fn length(text: &str) -> usize {
    if text.is_ascii() && !text.contains('\r') {
        return text.len();
    }
    text.graphemes(true).count()
}

/// Returns the first `most` extended grapheme clusters of a text.
pub fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    // one byte more, which might begin a combining mark
    if text.as_bytes()[..=most].is_ascii() && !text[..=most].contains('\r') {
        return &text[..most];
    }
    match text.grapheme_indices(true).nth(most) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{cut, length};

    #[test]
    fn a_character_is_a_grapheme_cluster() {
        assert_eq!(length("Ğ👨‍👩‍👧é"), 3);
        assert_eq!(cut("e\u{301}tat", 2), "e\u{301}t");
        assert_eq!(cut("abc", 5), "abc");
        assert_eq!(length("Заголовок"), 9);
    }
}
