//! Text in a language: sentences, words, readability, sketches.

use searchwright_text::{
    cut, folded, folded_hash, length, minhash::Sketch, readability, sentences, squeeze, title_pixels, words,
};

use crate::in_language;

/// Reads one input.
pub fn run(data: &[u8]) {
    let Some((language, text)) = in_language(data) else {
        return;
    };
    let mut from = 0;
    for sentence in sentences(text, language) {
        assert!(!sentence.is_empty() && sentence.trim() == sentence);
        let at = text[from..].find(sentence).expect("sentences come in order");
        from += at + sentence.len();
    }
    let squeezed = squeeze(text);
    assert_eq!(squeeze(&squeezed), squeezed);
    assert_eq!(folded_hash(text), folded_hash(&squeezed));
    for most in [0, 1, 10, 60] {
        let beginning = cut(text, most);
        assert!(text.starts_with(beginning) && length(beginning) <= most);
        assert!(beginning == text || length(beginning) == most);
    }
    words(text);
    title_pixels(text);
    if let Some(found) = readability::readability(text.lines(), language) {
        assert!(found.score.is_finite());
    }
    if let Some(sketch) = Sketch::from_text(&folded(text)) {
        assert_eq!(sketch.similarity(&sketch), 1.0);
    }
}
