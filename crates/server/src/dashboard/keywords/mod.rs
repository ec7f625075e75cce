//! `/projects/{id}/keywords`: the keywords with their figures and where those are from, and forms that add, change and delete them.

mod import;
mod row;

use std::sync::Arc;

use askama::Template;
use axum::{Router, body::Body, routing::get};
use http::{Response, StatusCode};
use searchwright_contract::{
    Patch, Scope,
    keywords::{
        CreateKeyword, DeleteKeyword, Intent, KeywordSort, KeywordStatus, ListKeywords, UpdateKeyword,
    },
    posts::CreatePost,
};
use searchwright_engine::{Failure, failure::fault};

use self::row::KeywordRow;
use super::{
    export::CsvFile,
    frame::{ProjectFrame, Section},
    page::{self, Form},
    rows::RowChanges,
    show,
    visit::{self, FilterLink, PageResult, Paging, SentForm, SortColumn, Sorting, TickedRow, Visit},
};
use crate::app::App;

/// Characters of a search, at most.
const MAX_SEARCH: usize = 200;
/// Rows of a page.
const ROWS: u8 = 50;

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/projects/{project}/keywords", get(list).post(submit))
        .route(
            "/projects/{project}/keywords.csv",
            CsvFile::of_list("keywords").route(listing),
        )
        .route(
            "/projects/{project}/keywords/import",
            get(import::show).post(import::submit),
        )
}

/// An option of a choice: its value, its text, and whether it is chosen.
pub(super) type KeywordChoice = (&'static str, String, bool);

/// Status of a keyword with the class of its mark.
pub(super) fn status_mark(status: KeywordStatus) -> (&'static str, &'static str) {
    match status {
        KeywordStatus::New => ("warning", "New"),
        KeywordStatus::Approved => ("good", "Approved"),
        KeywordStatus::Planned => ("run", "Planned"),
        KeywordStatus::InProgress => ("run", "In progress"),
        KeywordStatus::Published => ("good", "Published"),
        KeywordStatus::Rejected => ("off", "Rejected"),
        KeywordStatus::Archived => ("off", "Archived"),
    }
}

/// Fields of the form that adds a keyword, as they were typed.
#[derive(Default)]
struct TypedKeyword {
    keyword: String,
    volume: String,
    difficulty: String,
    intent: String,
}

#[derive(Template)]
#[template(path = "keywords.html")]
struct KeywordsView {
    frame: ProjectFrame,
    rows: Vec<KeywordRow>,
    statuses: Vec<FilterLink>,
    intents: Vec<FilterLink>,
    kept: Vec<(&'static str, String)>,
    search: String,
    whole_list: Option<String>,
    /// By time of addition, volume, difficulty and score.
    sorts: [SortColumn; 4],
    is_filtered: bool,
    may_change: bool,
    may_write: bool,
    import: String,
    action: String,
    typed: TypedKeyword,
    choices: Vec<KeywordChoice>,
    settable: Vec<KeywordChoice>,
    paging: Paging,
    wrong: Option<String>,
    is_adding: bool,
}

fn search_of(visit: &Visit) -> Option<String> {
    let text = visit.parameter("q")?.trim();
    Some(text.chars().take(MAX_SEARCH).collect()).filter(|text: &String| !text.is_empty())
}

fn filters<'a, W>(
    visit: &Visit,
    name: &str,
    words: &'a [W],
    text: impl Fn(&'a W) -> (&'static str, String),
) -> Vec<FilterLink> {
    let mut links = vec![FilterLink::new(visit, name, None, "All")];
    for word in words {
        let (value, text) = text(word);
        links.push(FilterLink::new(visit, name, Some(value), text));
    }
    links
}

/// The list with the filters of the address.
fn listing(visit: &Visit) -> ListKeywords {
    let cluster: Option<uuid::Uuid> = visit.parsed("cluster");
    ListKeywords {
        project_id: visit.project_id(),
        status: visit.parsed("status"),
        intent: visit.parsed("intent"),
        cluster_id: cluster.map(|id| id.to_string()),
        q: search_of(visit),
        sort: visit.parsed("sort"),
        limit: Some(ROWS),
        cursor: visit.cursor(),
    }
}

async fn show_list(
    visit: &Visit,
    wrong: Option<(StatusCode, String)>,
    typed: Option<TypedKeyword>,
) -> PageResult {
    let asked = listing(visit);
    let listed = visit.read(&asked).await?;
    let sorting = Sorting::new(visit, "sort", "created", asked.sort.map(KeywordSort::as_str));
    let (search, cluster) = (asked.q, asked.cluster_id);
    let kept = ["status", "intent", "cluster", "sort"];
    let kept = kept
        .into_iter()
        .filter_map(|name| Some((name, visit.parameter(name)?.to_owned())));
    let (status, wrong) = wrong.map_or((StatusCode::OK, None), |(status, text)| (status, Some(text)));
    let is_adding = typed.is_some();
    let typed = typed.unwrap_or_default();
    let view = KeywordsView {
        frame: visit.frame("Keywords", Section::Keywords),
        statuses: filters(visit, "status", KeywordStatus::ALL, |status| {
            (status.as_str(), status_mark(*status).1.to_owned())
        }),
        intents: filters(visit, "intent", Intent::ALL, |intent| {
            (intent.as_str(), show::heading(intent.as_str()))
        }),
        kept: kept.collect(),
        whole_list: cluster.map(|_| visit.with_parameter("cluster", None)),
        sorts: [
            sorting.order_by("created", "Keyword, newest", "descending"),
            sorting.order_by_number("searchVolume", "Volume", "descending"),
            sorting.order_by_number("keywordDifficulty", "Difficulty", "descending"),
            sorting.order_by_number("score", "Score", "descending"),
        ],
        is_filtered: search.is_some()
            || ["status", "intent", "cluster"]
                .iter()
                .any(|name| visit.parameter(name).is_some()),
        search: search.unwrap_or_default(),
        may_change: visit.may(Scope::KeywordsWrite),
        may_write: visit.may(Scope::PostsWrite),
        import: visit.address("/keywords/import"),
        action: visit.here(),
        choices: Intent::ALL
            .iter()
            .map(|intent| {
                let word = intent.as_str();
                (word, show::heading(word), typed.intent == word)
            })
            .collect(),
        settable: KeywordStatus::ALL
            .iter()
            .map(|status| (status.as_str(), status_mark(*status).1.to_owned(), false))
            .collect(),
        typed,
        paging: Paging::new(visit, listed.next_cursor.as_deref()).with_file(visit, "/keywords.csv"),
        rows: listed
            .data
            .into_iter()
            .map(|keyword| KeywordRow::new(visit, keyword))
            .collect(),
        wrong,
        is_adding,
    };
    Ok(page::respond(status, &view, Form::OwnWithScript))
}

async fn list(visit: Visit) -> PageResult {
    show_list(&visit, None, None).await
}

/// A whole number of a field; `None` if it was left empty.
pub(super) fn whole_number(sent: &SentForm, name: &str) -> Result<Option<i64>, Failure> {
    match sent.form.get(name).trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| {
            fault(
                &format!("/{name}"),
                "invalid",
                "has to be a whole number, or empty if it is unknown",
            )
        }),
    }
}

async fn add(sent: &SentForm) -> Result<Response<Body>, Failure> {
    let intent = match sent.form.get("intent") {
        "" => None,
        word => Some(
            word.parse()
                .map_err(|_| fault("/intent", "invalid", "is not an intent"))?,
        ),
    };
    sent.change(&CreateKeyword {
        project_id: sent.visit.project_id(),
        keyword: sent.form.get("keyword").trim().to_owned(),
        search_volume: whole_number(sent, "searchVolume")?,
        keyword_difficulty: whole_number(sent, "keywordDifficulty")?,
        intent,
        language: None,
        country: None,
    })
    .await?;
    Ok(sent.done(&sent.visit.address("/keywords"), "keyword-added", 1))
}

/// Changes one row after the other. What was refused is told with its reason; what was changed before stays.
async fn change_rows(sent: &SentForm) -> Result<Response<Body>, Failure> {
    let rows = sent.ticked_rows();
    let is_deletion = sent.form.get("action") == "delete";
    if rows.is_empty() {
        return Err(visit::nothing_selected());
    }
    let status: Option<KeywordStatus> = sent.form.get("status").parse().ok();
    if !is_deletion && status.is_none() {
        return Err(fault("/status", "missing", "choose the status to set"));
    }
    let project_id = sent.visit.project_id();
    let mut changes = RowChanges::default();
    for row in &rows {
        let project_id = project_id.clone();
        let keyword_id = row.id.clone();
        if is_deletion {
            let operation = DeleteKeyword {
                project_id,
                keyword_id,
            };
            changes.add(sent.change_row(&operation, row).await)?;
        } else {
            let operation = UpdateKeyword {
                project_id,
                keyword_id,
                status,
                search_volume: Patch::Absent,
                keyword_difficulty: Patch::Absent,
                intent: Patch::Absent,
            };
            changes.add(sent.change_row(&operation, row).await)?;
        }
    }
    let changed = changes.finish()?;
    let code = if is_deletion {
        "keywords-deleted"
    } else {
        "keywords-set"
    };
    Ok(sent.done(&sent.visit.here(), code, changed))
}

/// Begins a post for a keyword.
async fn begin_post(sent: &SentForm, keyword: &str) -> Result<Response<Body>, Failure> {
    let row = TickedRow {
        id: keyword.to_owned(),
        version: String::new(),
    };
    let operation = CreatePost {
        keyword_id: Some(keyword.to_owned()),
        ..super::posts::new_post(&sent.visit)
    };
    let post = sent.change_row(&operation, &row).await?;
    let address = sent.visit.address(&format!("/posts/{}", post.summary.id));
    Ok(sent.done(&address, "post-begun", 1))
}

async fn submit(sent: SentForm) -> PageResult {
    let keyword = sent.form.get("post");
    let outcome = match sent.form.get("action") {
        _ if !keyword.is_empty() => begin_post(&sent, keyword).await,
        "add" => add(&sent).await,
        "status" | "delete" => change_rows(&sent).await,
        _ => Err(fault("", "invalid", "choose one of the buttons")),
    };
    match outcome {
        Ok(response) => Ok(response),
        Err(failure) => {
            let Some(wrong) = visit::refusal(&failure) else {
                return Err(failure.into());
            };
            let typed = (sent.form.get("action") == "add").then(|| TypedKeyword {
                keyword: sent.form.get("keyword").to_owned(),
                volume: sent.form.get("searchVolume").to_owned(),
                difficulty: sent.form.get("keywordDifficulty").to_owned(),
                intent: sent.form.get("intent").to_owned(),
            });
            show_list(&sent.visit, Some(wrong), typed).await
        }
    }
}
