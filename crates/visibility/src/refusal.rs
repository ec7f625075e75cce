//! Refusals: answers that say that the engine does not know, cannot or may not answer.

use std::{collections::HashMap, sync::LazyLock};

use serde::{Deserialize, Serialize};

use crate::{
    answer_text::{AnswerText, Span},
    lists::sections,
    phrases::{PhraseHit, PhraseSet, is_complete},
};

/// Number of sentences at the beginning in which a refusal concerns the whole answer.
const FIRST_SENTENCES: usize = 2;
/// Maximum number of words of an answer that a refusal in any of its sentences concerns as a whole.
const MAX_SHORT_WORDS: usize = 40;

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
    let sentence = answer.tokens[hit.tokens.start].sentence;
    Some(RefusalHit {
        phrase: answer.text(hit.tokens.clone()).to_owned(),
        span: answer.span(hit.tokens.clone()),
        is_whole: sentence < FIRST_SENTENCES || answer.words() <= MAX_SHORT_WORDS,
    })
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
}
