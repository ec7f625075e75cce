//! Refusals: answers that say that the engine does not know, cannot or may not answer.

use std::{collections::HashMap, sync::LazyLock};

use serde::{Deserialize, Serialize};

use crate::{
    answer_text::{AnswerText, Span},
    lists::sections,
    markdown::BlockKind,
    mentions::AnswerMentions,
    phrases::{PhraseHit, PhraseSet, is_complete},
};

/// Number of sentences at the beginning in which a refusal concerns the whole answer.
const FIRST_SENTENCES: usize = 2;
/// Maximum number of words of an answer that a refusal in any of its sentences concerns as a whole.
const MAX_SHORT_WORDS: usize = 40;
/// Number of items that make a list.
const MIN_ITEMS: usize = 2;
/// Words, in their normal form, behind which an answer no longer refuses.
pub(crate) const CONTRASTS: [&str; 19] = [
    "but",
    "however",
    "although",
    "aber",
    "jedoch",
    "mais",
    "cependant",
    "toutefois",
    "pero",
    "ma",
    "tuttavia",
    "mas",
    "porem",
    "maar",
    "echter",
    "ale",
    "jednak",
    "но",
    "однако",
];
/// Words, in their normal form, directly before a phrase that only concedes: the answer follows.
const CONCESSIONS: [&str; 9] = [
    "although", "though", "while", "whilst", "obwohl", "aunque", "embora", "hoewel", "хотя",
];

/// Phrases by language.
static PHRASES: LazyLock<HashMap<&'static str, PhraseSet>> = LazyLock::new(|| {
    let mut lists: HashMap<&str, Vec<&str>> = HashMap::new();
    for entry in sections(include_str!("../data/refusals.txt")) {
        lists.entry(entry.section).or_default().push(entry.text);
    }
    let sets = lists
        .into_iter()
        .map(|(language, list)| (language, PhraseSet::new(list)));
    sets.collect()
});

/// A phrase that refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusalHit {
    /// The phrase as it stands in the answer.
    pub phrase: String,
    /// Place of the phrase.
    pub span: Span,
    /// Whether the answer as a whole is a refusal.
    pub is_whole: bool,
}

/// Returns the first phrase that refuses; phrases of English are looked for in every answer.
pub fn find_refusal(answer: &AnswerText) -> Option<RefusalHit> {
    let hits = find_phrases(answer);
    let hit = hits.iter().min_by_key(|hit| hit.tokens.start)?;
    Some(RefusalHit {
        phrase: answer.text(hit.tokens.clone()).to_owned(),
        span: answer.span(hit.tokens.clone()),
        is_whole: concerns_all(answer, hit) && (is_short(answer) || !has_list(answer)),
    })
}

/// Whether an answer refuses and does nothing else: one that mentions a brand all the same has answered.
pub fn is_refused(found: &AnswerMentions) -> bool {
    let is_whole = found.refusal.as_ref().is_some_and(|refusal| refusal.is_whole);
    is_whole && found.mentioned().next().is_none()
}

/// Whether a phrase concerns more than its sentence: it opens the answer or is most of it, and no word of contrast
/// makes it a mere disclaimer.
pub(crate) fn concerns_all(answer: &AnswerText, phrase: &PhraseHit) -> bool {
    let sentence = answer.tokens[phrase.tokens.start].sentence;
    (sentence < FIRST_SENTENCES || is_short(answer)) && !is_disclaimer(answer, phrase)
}

/// Whether the sentence of a phrase goes on to answer. A contrast before the phrase is none: `I'm sorry, but I can't`.
fn is_disclaimer(answer: &AnswerText, phrase: &PhraseHit) -> bool {
    let end = answer.sentence(phrase.tokens.start).end;
    let before = phrase.tokens.start.checked_sub(1);
    before.is_some_and(|at| CONCESSIONS.contains(&answer.normal(at)))
        || (phrase.tokens.end..end).any(|at| CONTRASTS.contains(&answer.normal(at)))
}

fn is_short(answer: &AnswerText) -> bool {
    answer.words() <= MAX_SHORT_WORDS
}

fn has_list(answer: &AnswerText) -> bool {
    let is_item = |kind: BlockKind, rank: Option<u32>| {
        kind == BlockKind::Item || kind == BlockKind::Heading && rank.is_some()
    };
    let blocks = answer.blocks.iter();
    blocks.filter(|block| is_item(block.kind, block.rank)).count() >= MIN_ITEMS
}

/// Returns all phrases that refuse.
pub(crate) fn find_phrases(answer: &AnswerText) -> Vec<PhraseHit> {
    let english = Some("en").filter(|english| *english != answer.language);
    let languages = [Some(&*answer.language), english];
    let sets = languages
        .into_iter()
        .flatten()
        .filter_map(|language| PHRASES.get(language));
    let hits = sets.flat_map(|set| set.find(answer));
    hits.filter(|hit| is_complete(answer, &hit.tokens)).collect()
}

#[cfg(test)]
mod tests {
    use super::find_refusal;
    use crate::answer_text::AnswerText;

    #[test]
    fn refusals_in_ten_languages() {
        for (language, text) in [
            ("en", "I don’t have any information about Acme Desk."),
            ("en", "I'm sorry, but I can't help with that."),
            ("de", "Leider habe ich keine Informationen über Acme Desk."),
            ("fr", "Je n'ai pas d'informations sur Acme Desk."),
            ("es", "No tengo información sobre Acme Desk."),
            ("it", "Non ho informazioni su Acme Desk."),
            ("pt", "Não tenho informações sobre a Acme Desk."),
            ("nl", "Ik heb geen informatie over Acme Desk."),
            ("pl", "Nie mam informacji o Acme Desk."),
            ("ja", "Acme Deskに関する情報がありません。"),
            ("zh", "我没有关于Acme Desk的信息。"),
        ] {
            let hit = find_refusal(&AnswerText::parse(text, language));
            assert!(hit.is_some_and(|hit| hit.is_whole), "{text}");
        }
        for text in [
            "Acme Desk has a lot of information on its site.",
            "You can't go wrong with it.",
        ] {
            assert_eq!(find_refusal(&AnswerText::parse(text, "en")), None);
        }
    }

    #[test]
    fn a_disclaimer_refuses_nothing() {
        for (language, text) in [
            ("en", "I don't have access to live prices, but Zolt is good."),
            ("en", "While I'm unable to browse, Zolt is good."),
            (
                "de",
                "Leider habe ich keine Informationen zu Preisen, aber Zolt ist gut.",
            ),
            ("fr", "Je n'ai pas accès aux prix, mais Zolt est bon."),
            ("pt", "Não tenho acesso aos preços, porém a Zolt é boa."),
        ] {
            let hit = find_refusal(&AnswerText::parse(text, language));
            assert!(hit.is_some_and(|hit| !hit.is_whole), "{text}");
        }
    }

    #[test]
    fn a_long_answer_with_a_list_is_no_refusal() {
        let opening = "As an AI language model, I have no desk of my own.";
        let item = "Zolt is made of oak, stands firmly, is quiet and lasts for years";
        let list = format!("{opening} The best ones:\n1. {item}\n2. {item}\n3. {item}\n");
        let prose = format!("{opening} {item}. {item}. {item}.");
        let is_whole = |text: &str| find_refusal(&AnswerText::parse(text, "en")).map(|hit| hit.is_whole);
        assert_eq!([is_whole(&list), is_whole(&prose)], [Some(false), Some(true)]);
    }
}
