//! The prompts of a project: a table, a form for another, and suggestions from what the project knows.

use askama::Template;
use axum::body::Body;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::Response;
use searchwright_contract::{
    Code, Problem, Scope,
    answers::Engine,
    prompt_ideas::{SuggestPrompts, SuggestedPrompts},
    prompts::{CreatePrompt, ListPrompts, Prompt, PromptClass, PromptSort, PromptStatus, UpdatePrompt},
};
use searchwright_engine::{Failure, failure};
use sha2::{Digest as _, Sha256};

use super::shown::{
    RefusedForm, SeenOption, ShareCell, VisibilityTab, class_name, engine_name, engine_names, gap,
};
use crate::dashboard::{
    frame::{ProjectFrame, Section},
    page::{self, Form},
    rows::RowChanges,
    show,
    visit::{self, FilterLink, PageResult, Paging, SentForm, SortColumn, Sorting, Visit},
};

/// Suggestions that are asked for.
const SUGGESTED: u8 = 20;

/// A row of the table of prompts.
struct PromptRow {
    prompt: Prompt,
    href: String,
    text: String,
    facts: String,
    latest: String,
    mention_rate: ShareCell,
    citation_rate: ShareCell,
    gap: Option<(&'static str, &'static str)>,
}

impl PromptRow {
    fn new(visit: &Visit, prompt: Prompt) -> Self {
        let window = prompt.window.as_ref();
        let mut facts = vec![class_name(prompt.class).to_owned()];
        facts.extend(prompt.persona.as_deref().map(|persona| show::cut(persona, 60)));
        facts.extend(prompt.tags.iter().map(|tag| format!("#{}", show::cut(tag, 50))));
        Self {
            href: visit.address(&format!("/visibility/prompts/{}", prompt.id)),
            text: show::cut(&prompt.text, 300),
            facts: facts.join(" · "),
            latest: latest(visit, &prompt),
            mention_rate: ShareCell::new(window.map(|window| &window.mention_rate)),
            citation_rate: ShareCell::new(window.map(|window| &window.citation_rate)),
            gap: window.map(|window| gap(window.gap)),
            prompt,
        }
    }

    /// Value of its tick box.
    fn value(&self) -> String {
        format!("{} {}", self.prompt.id, self.prompt.version)
    }
}

/// The newest answers to a prompt in words.
pub(super) fn latest(visit: &Visit, prompt: &Prompt) -> String {
    let Some(latest) = &prompt.latest else {
        return "not asked yet".to_owned();
    };
    let mut said = vec![match (latest.mentioned, latest.position) {
        (true, Some(position)) => format!("named at position {position}"),
        (true, None) => "named".to_owned(),
        (false, _) => "not named".to_owned(),
    }];
    match latest.cited {
        Some(true) => said.push("cited".to_owned()),
        Some(false) => said.push("not cited".to_owned()),
        None => {}
    }
    format!(
        "{}: {} by {}",
        visit.day(&latest.answer_at),
        said.join(", "),
        engine_names(&latest.engines)
    )
}

/// Fields of the form for a prompt, as they were typed.
struct TypedPrompt {
    text: String,
    language: String,
    country: String,
    persona: String,
    tags: String,
    engines: Vec<SeenOption>,
}

#[derive(Template)]
#[template(path = "visibility_prompts.html")]
struct PromptsView {
    frame: ProjectFrame,
    tabs: Vec<FilterLink>,
    statuses: Vec<FilterLink>,
    classes: Vec<FilterLink>,
    tag: Option<String>,
    without_tag: String,
    is_paused: bool,
    action: String,
    is_filtered: bool,
    rows: Vec<PromptRow>,
    suggested: Option<SuggestedPrompts>,
    seen: String,
    suggest: String,
    may_write: bool,
    may_suggest: bool,
    /// By time of addition, text and rate.
    sorts: [SortColumn; 3],
    paging: Paging,
    wrong: Option<String>,
    is_open: bool,
    typed: TypedPrompt,
}

/// Boxes of the engines.
pub(super) fn engine_boxes(is_chosen: impl Fn(Engine) -> bool) -> Vec<SeenOption> {
    let boxes = Engine::ALL
        .iter()
        .map(|engine| SeenOption::new(engine.as_str(), engine_name(*engine), is_chosen(*engine)));
    boxes.collect()
}

/// The list with the filters of the address.
pub(super) fn listing(visit: &Visit) -> ListPrompts {
    ListPrompts {
        project_id: visit.project_id(),
        status: visit.parsed("status"),
        class: visit.parsed("class"),
        tag: visit.parameter("tag").map(|tag| tag.chars().take(50).collect()),
        sort: visit.parsed("sort"),
        limit: Some(50),
        cursor: visit.cursor(),
    }
}

/// Returns what tells these suggestions from others.
fn digest(suggested: &SuggestedPrompts) -> String {
    let mut digest = Sha256::new();
    for prompt in &suggested.data {
        digest.update(prompt.text.as_bytes());
        digest.update(b"\n");
    }
    STANDARD.encode(digest.finalize())
}

/// Shows the prompts.
pub(super) async fn show(visit: &Visit, refused: Option<&RefusedForm<'_>>) -> PageResult {
    let asked = listing(visit);
    let listed = visit.read(&asked).await?;
    let sorting = Sorting::new(visit, "sort", "created", asked.sort.map(PromptSort::as_str));
    let (status, class, tag) = (asked.status, asked.class, asked.tag);
    let may_suggest = visit.may(Scope::ContentGenerate);
    let suggested = if may_suggest && visit.parameter("suggest").is_some() {
        let asked = SuggestPrompts {
            project_id: visit.project_id(),
            limit: Some(SUGGESTED),
            save: None,
        };
        Some(visit.read(&asked).await?)
    } else {
        None
    };
    let mut classes = vec![FilterLink::new(visit, "class", None, "All")];
    for class in PromptClass::ALL.iter().rev() {
        classes.push(FilterLink::new(
            visit,
            "class",
            Some(class.as_str()),
            class_name(*class),
        ));
    }
    let typed = |name| RefusedForm::typed(refused, name);
    let view = PromptsView {
        frame: visit.frame("Prompts", Section::Visibility),
        tabs: VisibilityTab::Prompts.links(visit),
        statuses: vec![
            FilterLink::new(visit, "status", None, "Active"),
            FilterLink::new(visit, "status", Some("archived"), "Paused"),
        ],
        classes,
        without_tag: visit.with_parameter("tag", None),
        is_paused: status == Some(PromptStatus::Archived),
        action: visit.here(),
        is_filtered: status.is_some() || class.is_some() || tag.is_some(),
        tag,
        seen: suggested.as_ref().map(digest).unwrap_or_default(),
        suggested,
        suggest: format!("{}&suggest=1", VisibilityTab::Prompts.address(visit)),
        may_write: visit.may(Scope::VisibilityWrite),
        may_suggest,
        sorts: [
            sorting.order_by("created", "Newest", "descending"),
            sorting.order_by("text", "Prompt", "ascending"),
            sorting.order_by_number("rate", "Named in", "descending"),
        ],
        paging: Paging::new(visit, listed.next_cursor.as_deref()).with_file(visit, "/visibility/prompts.csv"),
        rows: listed
            .data
            .into_iter()
            .map(|prompt| PromptRow::new(visit, prompt))
            .collect(),
        wrong: RefusedForm::reason(refused),
        is_open: !typed("text").is_empty(),
        typed: TypedPrompt {
            text: typed("text"),
            language: typed("language"),
            country: typed("country"),
            persona: typed("persona"),
            tags: typed("tags"),
            engines: engine_boxes(|engine| RefusedForm::has(refused, "engine", engine.as_str())),
        },
    };
    Ok(page::respond(
        RefusedForm::status(refused),
        &view,
        Form::OwnWithScript,
    ))
}

/// Text of a field; `None` if it is empty.
pub(super) fn filled(sent: &SentForm, name: &str) -> Option<String> {
    Some(sent.form.get(name).trim().to_owned()).filter(|text| !text.is_empty())
}

/// Tags, as they are typed with commas between.
pub(super) fn tags(sent: &SentForm) -> Vec<String> {
    let tags = sent.form.get("tags").split(',').map(str::trim);
    tags.filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

/// Engines that are ticked.
pub(super) fn engines(sent: &SentForm) -> Result<Vec<Engine>, Failure> {
    let named = sent.form.all("engine").filter(|name| !name.is_empty());
    named
        .map(|name| {
            name.parse()
                .map_err(|e: String| failure::fault("/engines", "invalid", e))
        })
        .collect()
}

/// Adds a prompt.
pub(super) async fn add(sent: &SentForm) -> Result<Response<Body>, Failure> {
    let engines = engines(sent)?;
    let added = sent
        .change(&CreatePrompt {
            project_id: sent.visit.project_id(),
            text: sent.form.get("text").trim().to_owned(),
            language: filled(sent, "language"),
            country: filled(sent, "country"),
            city: None,
            persona: filled(sent, "persona"),
            tags: Some(tags(sent)),
            intent: None,
            engines: Some(engines),
        })
        .await?;
    let address = sent.visit.address(&format!("/visibility/prompts/{}", added.id));
    Ok(sent.done(&address, "prompt-added", 1))
}

/// Pauses the ticked prompts, or tracks them again.
pub(super) async fn set_status(sent: &SentForm) -> Result<Response<Body>, Failure> {
    let (status, code) = match sent.form.get("action") {
        "pause" => (PromptStatus::Archived, "prompts-paused"),
        _ => (PromptStatus::Active, "prompts-resumed"),
    };
    let rows = sent.ticked_rows();
    if rows.is_empty() {
        return Err(visit::nothing_selected());
    }
    let mut changes = RowChanges::default();
    for row in &rows {
        let operation = UpdatePrompt {
            project_id: sent.visit.project_id(),
            prompt_id: row.id.clone(),
            status: Some(status),
            tags: None,
            intent: searchwright_contract::Patch::Absent,
            engines: None,
        };
        changes.add(sent.change_row(&operation, row).await)?;
    }
    Ok(sent.done(&sent.visit.here(), code, changes.finish()?))
}

/// Adds the suggestions that the person saw. They are made anew, and refused if they are others now: each costs money from then on.
pub(super) async fn add_suggested(sent: &SentForm) -> Result<Response<Body>, Failure> {
    let mut operation = SuggestPrompts {
        project_id: sent.visit.project_id(),
        limit: Some(SUGGESTED),
        save: None,
    };
    if digest(&sent.visit.read(&operation).await?) != sent.form.get("seen") {
        let why = "the suggestions are others now than those that were shown; nothing was added";
        return Err(Problem::new(Code::PreconditionFailed, why)
            .hint("look at the suggestions of now")
            .into());
    }
    operation.save = Some(true);
    let added = sent.change(&operation).await?;
    let address = VisibilityTab::Prompts.address(&sent.visit);
    Ok(sent.done(&address, "prompts-added", added.data.len() as u64))
}
