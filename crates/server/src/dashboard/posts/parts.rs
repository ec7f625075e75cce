//! Parts of the page of one post: what is found in its text, where it is published, and its earlier texts.

use searchwright_contract::{
    actions::{AllowedActions, Permission},
    integrations::{Integration, Readiness},
    posts::{CheckOutcome, Post, Publication, PublicationState, Revision, VerificationState},
    usage::{Metric, Usage},
};

use super::{
    super::{show, visit::Visit},
    web_address,
};

/// Steps of an attempt that are listed.
const MAX_STEPS: usize = 12;

/// Returns whether an action is possible now.
pub(super) fn is_allowed(actions: &AllowedActions, name: &str) -> bool {
    matches!(actions.0.get(name), Some(Permission::Yes(true)))
}

/// Reason for which an action is not possible now; `None` if it is, or if it has no meaning here.
pub(super) fn refusal(actions: &AllowedActions, name: &str) -> Option<String> {
    match actions.0.get(name) {
        Some(Permission::No { reason, .. }) => Some(reason.to_string()),
        _ => None,
    }
}

/// Something about the text that can be better.
pub(super) struct PostFinding {
    pub mark: (&'static str, &'static str),
    pub text: String,
    /// Sentence, phrase or address that it is about.
    pub quote: Option<String>,
    /// Part of the form where it is, with its name.
    pub place: Option<(&'static str, String)>,
    /// Sentence that a person can accept as true, verbatim.
    pub claim: Option<String>,
    /// Page or post that the text is like.
    pub source: Option<String>,
}

/// Part of the form that a check is about.
fn place_of(check: &str) -> (&'static str, String) {
    let (part, name) = match check {
        "keyword_in_title" | "title_length" => ("title", "Title"),
        "keyword_in_slug" | "slug_length" => ("slug", "Slug"),
        "keyword_in_description" | "description_length" => ("meta-description", "Description"),
        "keyword_unused" => ("keyword", "Keyword"),
        _ => ("content", "Text"),
    };
    (part, name.to_owned())
}

/// Lines of a text in which something is.
fn line_of(content: &str, text: &str) -> Option<usize> {
    let first = text
        .lines()
        .next()
        .map(str::trim)
        .filter(|line| !line.is_empty())?;
    content
        .lines()
        .position(|line| line.contains(first))
        .map(|at| at + 1)
}

/// Findings of a post: first what blocks publishing, then other warnings, then checks that were not passed.
pub(super) fn findings(post: &Post) -> Vec<PostFinding> {
    let mut warnings: Vec<_> = post.findings.warnings.iter().collect();
    warnings.sort_by_key(|warning| !warning.blocks_publishing);
    let mut findings: Vec<PostFinding> = Vec::new();
    for warning in warnings {
        let line = warning
            .text
            .as_deref()
            .and_then(|text| line_of(&post.content, text));
        let place = line.map_or_else(|| "Text".to_owned(), |line| format!("Line {line} of the text"));
        let is_claim = warning.code == "unverified_claims" && warning.blocks_publishing;
        findings.push(PostFinding {
            mark: if warning.blocks_publishing {
                ("error", "Blocks publishing")
            } else {
                ("warning", "Warning")
            },
            text: show::cut(&warning.detail, 400),
            quote: warning.text.as_deref().map(|text| show::cut(text, 300)),
            place: Some(("content", place)),
            claim: warning.text.clone().filter(|_| is_claim),
            source: warning.source.as_deref().map(|source| show::cut(source, 200)),
        });
    }
    for outcome in [CheckOutcome::Fail, CheckOutcome::Partial] {
        let checks = post
            .findings
            .seo_checks
            .iter()
            .filter(|check| check.outcome == outcome);
        for check in checks {
            let advice = check.advice.as_deref().unwrap_or(&check.id);
            // The unit of the value ends the advice, in brackets.
            let (advice, unit) = match advice.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
                Some((advice, unit)) => (advice, format!(" {unit}")),
                None => (advice, String::new()),
            };
            let value = check.value.map_or_else(String::new, |value| {
                format!(" Now: {}{unit}.", (value * 10.0).round() / 10.0)
            });
            findings.push(PostFinding {
                mark: if outcome == CheckOutcome::Fail {
                    ("warning", "Not met")
                } else {
                    ("off", "Met in part")
                },
                text: format!("{}.{value}", sentence(advice)),
                quote: None,
                place: Some(place_of(&check.id)),
                claim: None,
                source: None,
            });
        }
    }
    findings
}

/// A text with a capital at its beginning.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// A place through which a post can be published.
pub(super) struct Destination {
    pub provider: &'static str,
    pub connection: String,
    /// Name with the account.
    pub name: String,
    /// Whether it has the post already.
    pub is_update: bool,
    pub can_draft: bool,
    pub is_changed_there: bool,
    pub is_gone_there: bool,
}

/// Integrations that are ready, as destinations of a post.
pub(super) fn destinations(post: &Post, integrations: &[Integration]) -> Vec<Destination> {
    let ready = integrations
        .iter()
        .filter(|integration| integration.status == Readiness::Ready);
    let destination = |integration: &Integration| {
        let connection = integration.connection_id?;
        let before = post
            .publications
            .iter()
            .find(|publication| publication.connection_id == connection);
        let fault = before.and_then(|publication| publication.last_error.as_ref());
        let is_fault = |code: &str| fault.is_some_and(|fault| fault.code == code);
        let account = integration.account.as_deref();
        Some(Destination {
            provider: integration.provider.as_str(),
            connection: connection.to_string(),
            name: account.map_or_else(
                || integration.display_name.clone(),
                |account| format!("{} ({})", integration.display_name, show::cut(account, 80)),
            ),
            is_update: before.is_some_and(|publication| {
                matches!(
                    publication.state,
                    PublicationState::Published | PublicationState::Draft
                )
            }),
            can_draft: integration.capabilities.draft,
            is_changed_there: is_fault("remote_changed"),
            is_gone_there: is_fault("remote_missing"),
        })
    };
    ready.filter_map(destination).collect()
}

/// A post at one provider.
pub(super) struct PublicationRow {
    pub name: String,
    pub provider: &'static str,
    pub mark: (&'static str, String),
    pub url: Option<String>,
    pub is_live: bool,
    pub at: Option<String>,
    pub is_older: bool,
    pub wrong: Option<String>,
    pub check: (&'static str, String),
    pub steps: Vec<String>,
    pub next: Option<String>,
}

fn state_mark(state: PublicationState) -> (&'static str, &'static str) {
    match state {
        PublicationState::Pending => ("run", "Being looked for there"),
        PublicationState::Sending => ("run", "Being sent"),
        PublicationState::Published => ("good", "Public"),
        PublicationState::Draft => ("off", "A draft there"),
        PublicationState::Unpublished => ("off", "Taken back"),
        PublicationState::Uncertain => ("warning", "Uncertain: sent, and the answer was lost"),
        PublicationState::Failed => ("error", "Failed"),
    }
}

/// Findings of the check of the live page.
fn check(visit: &Visit, publication: &Publication) -> (&'static str, String) {
    let Some(found) = &publication.verification else {
        return ("off", "not checked yet".to_owned());
    };
    let at = visit.time(&found.checked_at);
    let answer = found
        .status_code
        .map_or_else(|| "no answer".to_owned(), |code| format!("answer {code}"));
    match found.state {
        VerificationState::Pending => ("run", format!("{answer} on {at}; checked again soon")),
        VerificationState::Passed => ("good", format!("As expected: {answer} on {at}")),
        VerificationState::Failed => {
            let codes: Vec<String> = found.findings.iter().map(|code| show::words(code)).collect();
            (
                "error",
                format!(
                    "{} ({answer} on {at})",
                    sentence(&show::cut(&codes.join(", "), 200))
                ),
            )
        }
    }
}

impl PublicationRow {
    pub(super) fn new(visit: &Visit, post: &Post, publication: &Publication, known: &[Integration]) -> Self {
        let integration = known
            .iter()
            .find(|integration| integration.provider == publication.provider);
        let (class, text) = state_mark(publication.state);
        let wrong = publication.last_error.as_ref().map(|error| {
            let said = error
                .provider_message
                .as_deref()
                .map_or_else(String::new, |said| format!(" It said: {}", show::cut(said, 300)));
            format!(
                "{}: {}{said}",
                visit.time(&error.at),
                show::cut(&error.detail, 400)
            )
        });
        let steps = publication.attempt.as_ref().map(|attempt| {
            let from = attempt.evidence.len().saturating_sub(MAX_STEPS);
            attempt.evidence[from..]
                .iter()
                .map(|step| {
                    let detail = step
                        .detail
                        .as_deref()
                        .map_or_else(String::new, |detail| format!(": {}", show::cut(detail, 300)));
                    format!("{}, {}{detail}", visit.time(&step.at), show::words(&step.what))
                })
                .collect()
        });
        let attempt = publication.attempt.as_ref();
        Self {
            name: integration.map_or_else(
                || show::heading(publication.provider.as_str()),
                |integration| integration.display_name.clone(),
            ),
            provider: publication.provider.as_str(),
            mark: (class, text.to_owned()),
            url: web_address(publication.url.as_deref()),
            is_live: publication.is_live,
            at: publication.published_at.map(|at| visit.time(&at)),
            is_older: publication.is_live && post.summary.has_unpublished_changes,
            wrong,
            check: check(visit, publication),
            steps: steps.unwrap_or_default(),
            next: attempt
                .and_then(|attempt| attempt.next_check_at)
                .map(|at| visit.time(&at)),
        }
    }
}

/// A row of the table of earlier texts.
pub(super) struct RevisionRow {
    pub number: i64,
    pub title: String,
    pub words: String,
    pub at: String,
    pub href: String,
    pub is_shown: bool,
}

impl RevisionRow {
    pub(super) fn new(visit: &Visit, revision: &Revision, shown: Option<i64>) -> Self {
        let number = revision.number.to_string();
        Self {
            number: revision.number,
            title: show::cut(revision.title.as_deref().unwrap_or("without a title"), 120),
            words: show::number(revision.word_count),
            at: visit.time(&revision.replaced_at),
            href: format!("{}#compared", visit.with_parameter("revision", Some(&number))),
            is_shown: shown == Some(revision.number),
        }
    }
}

/// Use of budgets and quotas by writing a text, as far as it is known beforehand.
pub(super) fn cost(post: &Post, usage: &Usage) -> Vec<String> {
    let mut lines = Vec::new();
    let quota = usage
        .quotas
        .iter()
        .find(|quota| quota.metric == Metric::PostsGenerated);
    if let Some(quota) = quota {
        let used = show::number(quota.used.unsigned_abs());
        lines.push(match quota.limit {
            Some(limit) => format!(
                "It uses one of {} texts of this month, of which {used} are used.",
                show::number(limit.unsigned_abs())
            ),
            None => format!("Texts written this month: {used}, without a limit."),
        });
    }
    for spend in &usage.spend {
        let budget = spend.budget_micros_usd.map_or_else(
            || "without a budget".to_owned(),
            |budget| format!("of {}", show::dollars(budget)),
        );
        lines.push(format!(
            "Spent with {} this month: {} {budget}.",
            show::cut(&spend.provider, 40),
            show::dollars(spend.spent_micros_usd)
        ));
    }
    if let Some(cost) = post
        .generation
        .as_ref()
        .and_then(|generation| generation.cost_micros_usd)
    {
        lines.push(format!(
            "The last text of this post cost {}.",
            show::dollars(cost)
        ));
    }
    lines.push(
        "Without an account for a language model it writes a brief from your own pages, which costs nothing."
            .to_owned(),
    );
    lines
}
