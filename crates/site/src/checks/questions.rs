//! Headings that ask something.

use crate::{page::Heading, text};

const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];
/// The form of a question that has more letters is looked for in vain.
const LONGEST: usize = 20;

/// A question, or the form of one that headings have: "How to …", "What is …". Not any that begins with such a word: "How it
/// works" and "Why choose us" ask nothing.
pub(super) fn is_question(heading: &Heading) -> bool {
    const FORMS: &[&str] = &[
        "what is ",
        "what are ",
        "what was ",
        "what does ",
        "what do ",
        "what to ",
        "how to ",
        "how do ",
        "how does ",
        "how can ",
        "how is ",
        "how are ",
        "how much ",
        "how many ",
        "how long ",
        "how often ",
        "why is ",
        "why are ",
        "why do ",
        "why does ",
        "why should ",
        "when is ",
        "when are ",
        "when do ",
        "when does ",
        "when to ",
        "when should ",
        "where is ",
        "where are ",
        "where do ",
        "where does ",
        "where to ",
        "where can ",
        "who is ",
        "who are ",
        "who should ",
        "which is ",
        "which are ",
        "can i ",
        "can you ",
        "can we ",
        "should i ",
        "should you ",
        "should we ",
        "does ",
        "do i ",
        "do you ",
        "is it ",
        "was ist ",
        "was sind ",
        "was kostet ",
        "was bedeutet ",
        "was macht ",
        "wie funktioniert ",
        "wie kann ",
        "wie man ",
        "wie viel ",
        "wie lange ",
        "wie oft ",
        "warum ist ",
        "warum sind ",
        "wann ist ",
        "wann sind ",
        "wo ist ",
        "wo sind ",
        "wer ist ",
        "qu'est-ce ",
        "qu’est-ce ",
        "comment faire ",
        "comment choisir ",
        "comment utiliser ",
        "comment fonctionne ",
        "quel est ",
        "quelle est ",
        "quels sont ",
        "quelles sont ",
        "qué es ",
        "qué son ",
        "cómo ",
        "cuándo ",
        "dónde ",
        "¿",
        "che cos'è ",
        "cos'è ",
        "cosa sono ",
        "come fare ",
        "come si ",
        "o que é ",
        "o que são ",
        "como fazer ",
        "wat is ",
        "wat zijn ",
        "hoe ",
        "что такое ",
        "как ",
        "co to jest ",
        "czym jest ",
        "jak ",
    ];
    if heading.text.ends_with(QUESTION_MARKS) {
        return true;
    }
    let first = heading.text.bytes().next().map(|b| b.to_ascii_lowercase());
    let may_begin = |word: &&&str| word.as_bytes().first().copied() == first;
    // a letter stays one however the text is folded, but for an accent behind it, which none of the words has
    if first.is_some_and(|b| b.is_ascii_lowercase()) && !FORMS.iter().any(|word| may_begin(&word)) {
        return false;
    }
    if let Some(start) = plain_start(&heading.text) {
        let begins = |word: &&str| {
            let start = start.get(..word.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
        };
        return FORMS.iter().filter(may_begin).any(begins);
    }
    // no more than the longest of the words
    let folded = text::folded(text::cut(&heading.text, LONGEST));
    let first = folded.as_bytes().first();
    FORMS
        .iter()
        .any(|word| word.as_bytes().first() == first && folded.starts_with(word))
}

/// The first letters of a text that are the same however it is folded, but for capitals.
fn plain_start(text: &str) -> Option<&[u8]> {
    let start = text.as_bytes();
    let start = start.get(..LONGEST).unwrap_or(start);
    let mut before = b' ';
    let plain = start.iter().all(|byte| {
        let doubled = before == b' ' && *byte == b' ';
        before = *byte;
        matches!(*byte, b' '..=b'~') && !doubled
    });
    plain.then_some(start)
}
