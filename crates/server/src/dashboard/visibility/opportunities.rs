//! Next steps by the evidence of the answers, each with calls that can be made from the page.

use askama::Template;
use axum::body::Body;
use http::Response;
use searchwright_contract::{
    Scope,
    faqs::CreateFaqs,
    keywords::CreateKeyword,
    opportunities::{ListOpportunities, NextStep, Opportunity, OpportunityKind, WrongSentence},
    posts::CreatePost,
};
use searchwright_engine::{Failure, failure};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::shown::{RefusedForm, VisibilityTab, engine_name, engine_names};
use crate::dashboard::{
    frame::{ProjectFrame, Section},
    page::{self, Form},
    show,
    visit::{FilterLink, PageResult, Paging, SentForm, Visit},
};

/// A step that the page offers.
struct StepRow {
    /// Its place in the entry, if a button carries it out.
    place: Option<usize>,
    /// Page to look at.
    href: Option<String>,
    label: &'static str,
    purpose: String,
}

/// A sentence that contradicts the brand data.
struct SentenceRow {
    quote: String,
    claim: String,
    href: String,
}

/// An entry of the list.
struct OpportunityRow {
    id: String,
    kind: (&'static str, &'static str),
    title: String,
    why: String,
    score: f64,
    is_thin: bool,
    engines: String,
    competitors: String,
    urls: Vec<String>,
    prompts: Vec<String>,
    sentences: Vec<SentenceRow>,
    steps: Vec<StepRow>,
}

const fn kind_mark(kind: OpportunityKind) -> (&'static str, &'static str) {
    match kind {
        OpportunityKind::CompetitorOnly => ("error", "Only competitors named"),
        OpportunityKind::CitedThirdParty => ("warning", "Cited page without you"),
        OpportunityKind::CitedNotMentioned => ("warning", "Cited, not named"),
        OpportunityKind::MentionedNotCited => ("warning", "Named, not cited"),
        OpportunityKind::WrongFact => ("error", "Wrong fact"),
        OpportunityKind::BlockedAgents => ("error", "Closed to AI agents"),
    }
}

fn step_row(visit: &Visit, place: usize, step: &NextStep) -> StepRow {
    let id = step
        .path
        .split('/')
        .nth(if step.operation == "prompts.answers" { 5 } else { 4 })
        .unwrap_or_default();
    let may_write = visit.may(Scope::PostsWrite);
    let (label, href) = match step.operation.as_str() {
        "posts.create" => ("Start a post", None),
        "keywords.create" => ("Add the keyword", None),
        "faqs.create" => ("Add to the FAQs", None),
        "prompts.answers" => (
            "Read the answers",
            Some(visit.address(&format!("/visibility/prompts/{id}"))),
        ),
        "issues.get" | "issues.occurrences" | "occurrences.list" => {
            ("Look at the issue", Some(visit.address(&format!("/issues/{id}"))))
        }
        _ => ("", None),
    };
    StepRow {
        place: (href.is_none() && !label.is_empty() && may_write).then_some(place),
        href,
        label,
        purpose: show::plain(&step.purpose),
    }
}

impl OpportunityRow {
    fn new(visit: &Visit, entry: &Opportunity) -> Self {
        let prompt_page = |id: String| visit.address(&format!("/visibility/prompts/{id}"));
        let competitors = entry.competitors.iter();
        let competitors: Vec<String> = competitors
            .map(|competitor| {
                format!(
                    "{} ({})",
                    show::cut(&competitor.name, 80),
                    show::number(competitor.answers)
                )
            })
            .collect();
        let sentence = |sentence: &WrongSentence| SentenceRow {
            quote: show::cut(&sentence.quote, 400),
            claim: format!(
                "{} says {}; the brand data say {}",
                engine_name(sentence.engine),
                show::cut(&sentence.claimed, 100),
                show::cut(&sentence.expected, 100)
            ),
            href: prompt_page(sentence.prompt_id.to_string()),
        };
        let steps = entry.next_steps.iter().enumerate();
        Self {
            id: entry.id.clone(),
            kind: kind_mark(entry.kind),
            title: show::cut(&entry.title, 300),
            why: show::plain(&entry.why),
            score: entry.score.round(),
            is_thin: entry.thin,
            engines: engine_names(&entry.engines),
            competitors: competitors.join(", "),
            urls: entry
                .urls
                .iter()
                .filter(|url| !entry.title.contains(url.as_str()))
                .map(|url| show::cut(url, 300))
                .collect(),
            prompts: entry
                .prompt_ids
                .iter()
                .map(|id| prompt_page(id.to_string()))
                .collect(),
            sentences: entry.sentences.iter().map(sentence).collect(),
            steps: steps.map(|(place, step)| step_row(visit, place, step)).collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "visibility_opportunities.html")]
struct OpportunitiesView {
    frame: ProjectFrame,
    tabs: Vec<FilterLink>,
    kinds: Vec<FilterLink>,
    is_filtered: bool,
    rows: Vec<OpportunityRow>,
    prompts: String,
    paging: Paging,
    wrong: Option<String>,
}

pub(super) fn listing(visit: &Visit, limit: u8, cursor: Option<String>) -> ListOpportunities {
    ListOpportunities {
        project_id: visit.project_id(),
        kind: visit.parsed("kind"),
        limit: Some(limit),
        cursor,
    }
}

/// Shows the opportunities.
pub(super) async fn show(visit: &Visit, refused: Option<&RefusedForm<'_>>) -> PageResult {
    let cursor = visit.parameter("cursor").map(str::to_owned);
    let listed = visit.read(&listing(visit, 15, cursor)).await?;
    let mut kinds = vec![FilterLink::new(visit, "kind", None, "All")];
    for kind in OpportunityKind::ALL {
        let text = kind_mark(*kind).1;
        kinds.push(FilterLink::new(visit, "kind", Some(kind.as_str()), text));
    }
    let view = OpportunitiesView {
        frame: visit.frame("Opportunities", Section::Visibility),
        tabs: VisibilityTab::Opportunities.links(visit),
        is_filtered: visit.parsed::<OpportunityKind>("kind").is_some(),
        kinds,
        prompts: VisibilityTab::Prompts.address(visit),
        paging: Paging::new(visit, listed.next_cursor.as_deref())
            .with_file(visit, "/visibility/opportunities.csv"),
        rows: listed
            .data
            .iter()
            .map(|entry| OpportunityRow::new(visit, entry))
            .collect(),
        wrong: RefusedForm::reason(refused),
    };
    Ok(page::respond(
        RefusedForm::status(refused),
        &view,
        Form::OwnWithScript,
    ))
}

/// The call of a step as its operation.
fn operation<O: DeserializeOwned>(visit: &Visit, step: &NextStep) -> Result<O, Failure> {
    let mut arguments = step.body.clone().unwrap_or_default();
    if let Value::Object(members) = &mut arguments {
        members.insert("projectId".to_owned(), visit.project_id().into());
    }
    serde_json::from_value(arguments).map_err(|e| failure::defect("step", e))
}

/// Carries out a step of an entry. What it does comes from the answers as they are now, never from the form.
pub(super) async fn carry_out(sent: &SentForm) -> Result<Response<Body>, Failure> {
    let visit = &sent.visit;
    let gone = || {
        failure::fault(
            "",
            "invalid",
            "the answers no longer show this: look at the list again",
        )
    };
    let (id, place) = sent.form.get("step").split_once(' ').ok_or_else(gone)?;
    let mut cursor = visit.parameter("cursor").map(str::to_owned);
    let mut found = None;
    // At most as many pages as the ranking has.
    for _ in 0..5 {
        let listed = visit.read(&listing(visit, 100, cursor)).await?;
        found = listed.data.into_iter().find(|entry| entry.id == id);
        cursor = listed.next_cursor;
        if found.is_some() || cursor.is_none() {
            break;
        }
    }
    let place: usize = place.parse().map_err(|_| gone())?;
    let entry = found.ok_or_else(gone)?;
    let step = entry.next_steps.get(place).ok_or_else(gone)?;
    match step.operation.as_str() {
        "posts.create" => {
            let post = sent.change(&operation::<CreatePost>(visit, step)?).await?;
            let address = visit.address(&format!("/posts/{}", post.summary.id));
            Ok(sent.done(&address, "post-added", 1))
        }
        "keywords.create" => {
            sent.change(&operation::<CreateKeyword>(visit, step)?).await?;
            let address = VisibilityTab::Opportunities.address(visit);
            Ok(sent.done(&address, "keyword-added", 1))
        }
        "faqs.create" => {
            sent.change(&operation::<CreateFaqs>(visit, step)?).await?;
            Ok(sent.done(&visit.address("/brand?view=faqs"), "saved", 1))
        }
        _ => Err(gone()),
    }
}
