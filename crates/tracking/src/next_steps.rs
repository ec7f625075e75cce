//! Calls that are ready to be sent, and the texts in them.

use searchwright_contract::{
    Operation,
    answers::{FactKind, ListAnswers, WrongFact},
    faqs::CreateFaqs,
    ids::{IssueId, ProjectId, PromptId},
    issues::{GetIssue, ListOccurrences},
    keywords::CreateKeyword,
    opportunities::NextStep,
    posts::CreatePost,
};
use searchwright_store::prompts::PromptOutline;
use serde_json::{Value, json};

/// Longest title of a post.
const MAX_TITLE_CHARS: usize = 300;
/// Most words of a prompt that is also a keyword.
const MAX_KEYWORD_WORDS: usize = 8;
/// Longest text of a keyword.
const MAX_KEYWORD_CHARS: usize = 200;

/// Returns a call of an operation.
fn step<O: Operation>(
    project: ProjectId,
    child: Option<String>,
    body: Option<Value>,
    purpose: &str,
) -> NextStep {
    let mut path = O::META.path.replace("{projectId}", &project.to_string());
    if let (Some(child), Some(name)) = (child, O::META.path_parameters().nth(1)) {
        path = path.replace(&format!("{{{name}}}"), &child);
    }
    NextStep {
        operation: O::META.name.to_owned(),
        method: O::META.method.as_str().to_owned(),
        path,
        body,
        purpose: purpose.to_owned(),
    }
}

/// Returns the calls for a prompt: a post and, for a short prompt, a keyword; and the answers, to look at.
pub(crate) fn of_prompt(project: ProjectId, prompt: &PromptOutline, purpose: &str) -> Vec<NextStep> {
    let post = json!({ "title": cut(&prompt.text, MAX_TITLE_CHARS), "language": prompt.language });
    let mut steps = vec![step::<CreatePost>(project, None, Some(post), purpose)];
    let keyword = keyword(&prompt.text);
    if let Some(keyword) = keyword {
        let mut body = json!({ "keyword": keyword, "language": prompt.language });
        if !prompt.country.is_empty() {
            body["country"] = prompt.country.as_str().into();
        }
        let purpose = "Track it as a keyword, with its figures from search.";
        steps.push(step::<CreateKeyword>(project, None, Some(body), purpose));
    }
    steps.push(read_answers(project, prompt.id));
    steps
}

fn read_answers(project: ProjectId, prompt: PromptId) -> NextStep {
    let purpose = "Read the answers behind this.";
    step::<ListAnswers>(project, Some(prompt.to_string()), None, purpose)
}

/// Returns the calls for an issue.
pub(crate) fn of_issue(project: ProjectId, issue: IssueId) -> Vec<NextStep> {
    let child = || Some(issue.to_string());
    vec![
        step::<GetIssue>(
            project,
            child(),
            None,
            "Read what is blocked and how it is changed.",
        ),
        step::<ListOccurrences>(project, child(), None, "List the pages."),
    ]
}

/// Returns the calls for a wrong fact: a question with its answer in the brand data, and a post about it.
pub(crate) fn of_fact(
    project: ProjectId,
    fact: &WrongFact,
    language: &str,
    prompt: PromptId,
) -> Vec<NextStep> {
    let text = FactText::new(fact, language.starts_with("de"));
    let item = json!({ "question": text.question, "answer": text.answer });
    let faq = json!({ "items": [item], "onDuplicate": "skip" });
    let post = json!({ "title": text.question, "content": text.answer });
    vec![
        step::<CreateFaqs>(
            project,
            None,
            Some(faq),
            "State the fact as a question with its answer, which generated texts then repeat.",
        ),
        step::<CreatePost>(
            project,
            None,
            Some(post),
            "Publish a page that states the fact, so that engines find it.",
        ),
        read_answers(project, prompt),
    ]
}

struct FactText {
    question: String,
    answer: String,
}

impl FactText {
    fn new(fact: &WrongFact, is_german: bool) -> Self {
        let (subject, expected) = (cut(&fact.subject, 200), cut(&fact.expected, 60));
        let (question, answer) = match (fact.kind, is_german) {
            (FactKind::Price, false) => (
                format!("How much does {subject} cost?"),
                format!("{subject} costs {expected}."),
            ),
            (FactKind::Price, true) => (
                format!("Was kostet {subject}?"),
                format!("{subject} kostet {expected}."),
            ),
            (FactKind::Website, false) => (
                format!("What is the official website of {subject}?"),
                format!("The official website of {subject} is https://{expected}."),
            ),
            (FactKind::Website, true) => (
                format!("Wie lautet die offizielle Website von {subject}?"),
                format!("Die offizielle Website von {subject} ist https://{expected}."),
            ),
            (FactKind::Availability, false) => (
                format!("Is {subject} still available?"),
                format!("{subject} is no longer available."),
            ),
            (FactKind::Availability, true) => (
                format!("Ist {subject} noch erhältlich?"),
                format!("{subject} ist nicht mehr erhältlich."),
            ),
            (FactKind::Feature, false) => (
                format!("Does {subject} have {expected}?"),
                format!("Yes, {subject} has {expected}."),
            ),
            (FactKind::Feature, true) => (
                format!("Hat {subject} {expected}?"),
                format!("Ja, {subject} hat {expected}."),
            ),
        };
        Self { question, answer }
    }
}

/// Returns a prompt as a keyword: without its final sign, if it is short.
fn keyword(prompt: &str) -> Option<String> {
    let bare = prompt.trim().trim_end_matches(['?', '!', '.', '…', ' ']);
    let is_short = bare.split_whitespace().count() <= MAX_KEYWORD_WORDS
        && bare.chars().count() <= MAX_KEYWORD_CHARS
        && bare.chars().any(char::is_alphanumeric);
    is_short.then(|| bare.to_owned())
}

/// Returns a text of at most so many characters, cut between words where there are any.
pub(crate) fn cut(text: &str, max: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let head: String = text.chars().take(max - 1).collect();
    let end = head
        .rfind(' ')
        .filter(|end| *end > head.len() / 2)
        .unwrap_or(head.len());
    format!("{}…", head[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::{cut, keyword};

    #[test]
    fn texts_are_cut_between_words() {
        assert_eq!(cut("Which desk is best?", 100), "Which desk is best?");
        assert_eq!(cut("Which desk is best?", 12), "Which desk…");
        assert_eq!(cut(&"ä".repeat(20), 10), format!("{}…", "ä".repeat(9)));
    }

    #[test]
    fn short_prompts_are_keywords() {
        assert_eq!(
            keyword("Which standing desk is quiet? ").unwrap(),
            "Which standing desk is quiet"
        );
        assert_eq!(
            keyword("Which standing desk is stable enough for two heavy monitors?"),
            None
        );
        assert_eq!(keyword("?!"), None);
    }
}
