//! The text of an answer in parts, of which some name a brand. The parts are text, which the template escapes: text of models is
//! never markup.

use searchwright_contract::answers::Mention;

use crate::dashboard::show;

/// Bytes of a text that a page shows, counted as they are sent.
const MAX_SHOWN: usize = 9_000;

/// Part of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AnswerPart {
    pub text: String,
    /// Brand that the part names.
    pub brand: Option<String>,
    pub is_own: bool,
    /// Whether it may mean something else, so that it does not count.
    pub is_candidate: bool,
}

/// A text in parts.
#[derive(Debug, Default)]
pub(super) struct MarkedText {
    pub parts: Vec<AnswerPart>,
    /// Characters that were left out at the end.
    pub left_out: usize,
}

/// Size of a character as the template sends it.
const fn sent_bytes(c: char) -> usize {
    match c {
        '<' | '>' | '&' | '"' | '\'' => 5,
        c => c.len_utf8(),
    }
}

/// Parts a text at the places of its mentions. Places that overlap an earlier one, or lie outside, are left out.
pub(super) fn mark(text: &str, mentions: &[Mention]) -> MarkedText {
    let mut spans: Vec<(usize, usize, &Mention)> = mentions
        .iter()
        .flat_map(|mention| {
            let spans = mention.spans.iter();
            spans.map(move |span| (span.start as usize, span.end as usize, mention))
        })
        .filter(|(start, end, _)| start < end)
        .collect();
    spans.sort_by_key(|(start, end, _)| (*start, std::cmp::Reverse(*end)));
    let letters: Vec<char> = text.chars().collect();
    let mut budget = MAX_SHOWN;
    let shown = letters.iter().take_while(|c| {
        let left = budget.checked_sub(sent_bytes(**c));
        budget = left.unwrap_or(0);
        left.is_some()
    });
    let shown = shown.count();
    let letters_in = |from: usize, to: usize| show::plain(&letters[from..to].iter().collect::<String>());
    let mut marked = MarkedText {
        parts: Vec::new(),
        left_out: letters.len() - shown,
    };
    let plain = |parts: &mut Vec<AnswerPart>, from: usize, to: usize| {
        if from < to {
            parts.push(AnswerPart {
                text: letters_in(from, to),
                brand: None,
                is_own: false,
                is_candidate: false,
            });
        }
    };
    let mut at = 0;
    for (start, end, mention) in spans {
        if start < at || end > shown {
            continue;
        }
        plain(&mut marked.parts, at, start);
        marked.parts.push(AnswerPart {
            text: letters_in(start, end),
            brand: Some(show::cut(&mention.brand, 100)),
            is_own: mention.is_own,
            is_candidate: mention.candidate,
        });
        at = end;
    }
    plain(&mut marked.parts, at, shown);
    marked
}

#[cfg(test)]
mod tests {
    use searchwright_contract::answers::Span;

    use super::*;

    fn mention(brand: &str, spans: &[(u32, u32)]) -> Mention {
        let spans = spans.iter().map(|(start, end)| Span {
            start: *start,
            end: *end,
        });
        Mention {
            brand: brand.to_owned(),
            competitor_id: None,
            is_own: brand == "Acme",
            position: Some(1),
            list_rank: None,
            occurrences: 1,
            context: None,
            candidate: false,
            spans: spans.collect(),
            sentiment: None,
            sentiment_score: None,
        }
    }

    fn texts(marked: &MarkedText) -> Vec<(&str, Option<&str>)> {
        let parts = marked.parts.iter();
        parts
            .map(|part| (part.text.as_str(), part.brand.as_deref()))
            .collect()
    }

    #[test]
    fn places_are_counted_in_characters() {
        let marked = mark(
            "Für Acme, nicht Bolt.",
            &[mention("Acme", &[(4, 8)]), mention("Bolt", &[(16, 20)])],
        );
        assert_eq!(
            texts(&marked),
            [
                ("Für ", None),
                ("Acme", Some("Acme")),
                (", nicht ", None),
                ("Bolt", Some("Bolt")),
                (".", None)
            ]
        );
    }

    #[test]
    fn places_that_overlap_or_lie_outside_are_left_out() {
        let spans = [(0, 4), (2, 6), (9, 90), (7, 7), (6, 5)];
        let marked = mark("Acme desk", &[mention("Acme", &spans)]);
        assert_eq!(texts(&marked), [("Acme", Some("Acme")), (" desk", None)]);
        assert!(mark("", &[mention("Acme", &[(0, 1)])]).parts.is_empty());
    }

    #[test]
    fn long_texts_are_cut_by_what_is_sent() {
        let marked = mark(&"<".repeat(10_000), &[mention("Acme", &[(5_000, 5_004)])]);
        assert_eq!(marked.parts.len(), 1);
        assert_eq!(marked.left_out, 10_000 - MAX_SHOWN / 5);
        assert_eq!(mark("a\u{202e}b", &[]).parts[0].text, "ab");
    }
}
