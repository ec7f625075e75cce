//! Classes of prompts and gaps per prompt.

use serde::{Deserialize, Serialize};

use crate::{answer_text::AnswerText, brands::BrandMatcher, mentions::Evidence};

/// Class of a prompt by the brands that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptClass {
    /// It names the brand of the project.
    Branded,
    /// It names a competitor, and not the own brand.
    CompetitorBranded,
    /// It names no brand.
    NonBranded,
}

impl PromptClass {
    /// Returns the text form, as in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Branded => "branded",
            Self::CompetitorBranded => "competitor_branded",
            Self::NonBranded => "non_branded",
        }
    }
}

impl BrandMatcher {
    /// Returns the class of a prompt. An ambiguous name with a capital counts, because a prompt is too short for other
    /// evidence.
    pub fn classify_prompt(&self, prompt: &str, language: &str) -> PromptClass {
        let answer = AnswerText::parse(prompt, language);
        let matched = self.match_answer(&answer, None);
        let named = matched.hits.iter().filter(|hit| {
            let is_doubtful = matches!(hit.evidence, Evidence::Missing | Evidence::SharedName);
            hit.is_counted()
                || is_doubtful && !hit.has_usual_capital && answer.is_capitalised(hit.tokens.start)
        });
        let mut class = PromptClass::NonBranded;
        for hit in named {
            class = class.min(match self.brands[hit.brand].is_own {
                true => PromptClass::Branded,
                false => PromptClass::CompetitorBranded,
            });
        }
        class
    }
}

/// Gap of a prompt in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapLabel {
    /// Competitors are mentioned, the own brand is neither mentioned nor cited.
    CompetitorOnly,
    /// An own page is cited, the own brand is not mentioned.
    CitedNotMentioned,
    /// The own brand is mentioned, no own page is cited although citations can be seen.
    MentionedNotCited,
    /// No brand is mentioned, and no own page is cited.
    Absent,
    /// The own brand is mentioned, and an own page is cited wherever citations can be seen.
    Strong,
}

/// Presence of brands in the answers to a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// Whether any answer mentions the own brand.
    pub mentioned: bool,
    /// Whether any answer cites an own page.
    pub cited: bool,
    /// Whether citations can be seen at all.
    pub citations_observable: bool,
    /// Whether any answer mentions a competitor.
    pub competitors: bool,
}

impl GapLabel {
    /// Returns the label for the answers to a prompt.
    pub const fn from_presence(presence: Presence) -> Self {
        match presence {
            Presence {
                mentioned: true,
                cited: true,
                ..
            } => Self::Strong,
            Presence {
                mentioned: true,
                citations_observable: false,
                ..
            } => Self::Strong,
            Presence { mentioned: true, .. } => Self::MentionedNotCited,
            Presence { cited: true, .. } => Self::CitedNotMentioned,
            Presence {
                competitors: true, ..
            } => Self::CompetitorOnly,
            _ => Self::Absent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brands::Brand;

    #[test]
    fn classes_of_prompts() {
        let brand = |id: &str, name: &str, is_own| Brand {
            id: id.to_owned(),
            name: name.to_owned(),
            is_own,
            ..Brand::default()
        };
        let matcher = BrandMatcher::new(&[
            brand("own", "Notion", true),
            brand("b", "Bolt Desks", false),
            brand("m", "Monday", false),
        ]);
        for (prompt, class) in [
            ("Notion or Bolt Desks?", PromptClass::Branded),
            ("Is Notion any good?", PromptClass::Branded),
            ("Is there a notion of time?", PromptClass::NonBranded),
            ("Which desks are like bolt desks?", PromptClass::CompetitorBranded),
            ("Which shops open on Monday?", PromptClass::NonBranded),
            ("Which desk is best?", PromptClass::NonBranded),
        ] {
            assert_eq!(matcher.classify_prompt(prompt, "en"), class, "{prompt}");
        }
    }

    #[test]
    fn gaps() {
        let label = |mentioned, cited, competitors| {
            GapLabel::from_presence(Presence {
                mentioned,
                cited,
                competitors,
                citations_observable: true,
            })
        };
        assert_eq!(label(true, true, true), GapLabel::Strong);
        assert_eq!(label(true, false, true), GapLabel::MentionedNotCited);
        assert_eq!(label(false, true, true), GapLabel::CitedNotMentioned);
        assert_eq!(label(false, false, true), GapLabel::CompetitorOnly);
        assert_eq!(label(false, false, false), GapLabel::Absent);
    }
}
