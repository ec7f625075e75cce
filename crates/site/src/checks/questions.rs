//! Headings that are questions.

use searchwright_text as text;

use crate::page::Heading;

const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];
/// Maximum length in grapheme clusters of a form in [`forms_in`].
const MAX_START: usize = 20;

/// Whether a heading is a question, or has the form of one: "How to …", "What is …". A question word alone is not
/// enough: "How it works" and "Why choose us" are no questions.
pub(super) fn is_question(heading: &Heading) -> bool {
    if heading.text.ends_with(QUESTION_MARKS) {
        return true;
    }
    let Some(first) = heading.text.bytes().next() else {
        return false;
    };
    let forms = forms_in(first.to_ascii_lowercase());
    // folding keeps an ASCII letter unless an accent follows it, which no form has
    if first.is_ascii_alphabetic() && forms.is_empty() {
        return false;
    }
    if let Some(start) = plain_start(&heading.text) {
        let begins = |form: &&str| {
            let start = start.get(..form.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(form.as_bytes()))
        };
        return forms.iter().any(begins);
    }
    // no form is longer
    let folded = text::folded(text::cut(&heading.text, MAX_START));
    let first = folded.bytes().next().unwrap_or_default();
    forms_in(first).iter().any(|form| folded.starts_with(form))
}

/// Returns the folded forms of questions that begin with a byte.
const fn forms_in(first: u8) -> &'static [&'static str] {
    match first {
        b'c' => &[
            "can i ",
            "can you ",
            "can we ",
            "comment faire ",
            "comment choisir ",
            "comment utiliser ",
            "comment fonctionne ",
            "cómo ",
            "cuándo ",
            "che cos'è ",
            "cos'è ",
            "cosa sono ",
            "come fare ",
            "come si ",
            "como fazer ",
            "co to jest ",
            "czym jest ",
        ],
        b'd' => &["does ", "do i ", "do you ", "dónde "],
        b'h' => &[
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
            "hoe ",
        ],
        b'i' => &["is it "],
        b'j' => &["jak "],
        b'o' => &["o que é ", "o que são "],
        b'q' => &[
            "qu'est-ce ",
            "qu’est-ce ",
            "quel est ",
            "quelle est ",
            "quels sont ",
            "quelles sont ",
            "qué es ",
            "qué son ",
        ],
        b's' => &["should i ", "should you ", "should we "],
        b'w' => &[
            "what is ",
            "what are ",
            "what was ",
            "what does ",
            "what do ",
            "what to ",
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
            "wat is ",
            "wat zijn ",
        ],
        0xc2 => &["¿"],
        0xd0 => &["как "],
        0xd1 => &["что такое "],
        _ => &[],
    }
}

/// Returns the beginning of a text, if folding changes nothing in it but capitals.
fn plain_start(text: &str) -> Option<&[u8]> {
    let start = text.as_bytes();
    let start = start.get(..MAX_START).unwrap_or(start);
    let mut before = b' ';
    let plain = start.iter().all(|byte| {
        let doubled = before == b' ' && *byte == b' ';
        before = *byte;
        matches!(*byte, b' '..=b'~') && !doubled
    });
    plain.then_some(start)
}

#[cfg(test)]
mod tests {
    use super::{MAX_START, forms_in};

    #[test]
    fn forms_are_found_by_their_first_byte() {
        for first in 0..=u8::MAX {
            for form in forms_in(first) {
                assert_eq!(form.bytes().next(), Some(first), "{form}");
                assert!(form.chars().count() <= MAX_START, "{form}");
            }
        }
    }
}
