//! One post: its status, its text with what is found in it, where it is published, and its earlier texts.

use askama::Template;
use axum::extract::Path;
use http::StatusCode;
use searchwright_contract::{
    Scope,
    integrations::{Integration, ListIntegrations},
    keywords::{KeywordSort, KeywordStatus, ListKeywords},
    posts::{GetPost, ListRevisions, Post, PostStatus, Revision},
    usage::GetUsage,
};
use searchwright_engine::Failure;

use super::{
    super::{
        frame::{ProjectFrame, Section},
        lines::{LineDifference, compare, line_table},
        page::{self, Form},
        show,
        visit::{PageResult, Paging, Visit},
    },
    parts::{self, Destination, PostFinding, PublicationRow, RevisionRow},
    status_mark, title_of,
    typed::TypedPost,
    web_address,
};

/// Bytes of a text up to which the page has its form and its preview, and not only one of them.
const MAX_TOGETHER: usize = 45_000;
/// Earlier texts of a page.
const REVISIONS: u8 = 10;

/// A form of the page that was refused.
pub(super) struct PostRefusal {
    pub action: String,
    pub status: StatusCode,
    pub text: String,
    /// Fields of an edit, as they were typed.
    pub typed: Option<TypedPost>,
    /// Whether somebody changed the post since the page was loaded.
    pub is_stale: bool,
    pub instructions: String,
    pub sources: String,
}

/// Changes of somebody else while an edit was typed.
struct PostConflict {
    fields: Vec<(&'static str, String)>,
    text: LineDifference,
}

/// An earlier text beside the text now.
struct ComparedRevision {
    number: i64,
    text: LineDifference,
}

/// A source of the text.
struct PostSourceRow {
    url: String,
    href: Option<String>,
    title: Option<String>,
    quote: Option<String>,
    mark: (&'static str, &'static str),
    at: Option<String>,
}

/// Actions that are shown.
struct PostActions {
    edit: bool,
    schedule: bool,
    draft: bool,
    review: bool,
    archive: bool,
    generate: bool,
    publish: bool,
    unpublish: bool,
    look_again: bool,
}

#[derive(Template)]
#[template(path = "post.html")]
struct PostView {
    frame: ProjectFrame,
    title: String,
    posts: String,
    calendar: String,
    address: String,
    post: Post,
    version: String,
    mark: (&'static str, &'static str),
    failure: Option<String>,
    keyword: Option<(String, String)>,
    scheduled: Option<String>,
    published: Option<String>,
    live: Option<String>,
    replaced: Option<String>,
    findings: Vec<PostFinding>,
    has_claims: bool,
    can: PostActions,
    impossible: Vec<(&'static str, String)>,
    destinations: Vec<Destination>,
    integrations: String,
    cost: Vec<String>,
    written: Option<String>,
    typed: TypedPost,
    erases: bool,
    suggested: Vec<String>,
    conflict: Option<PostConflict>,
    shows_form: bool,
    shows_preview: bool,
    editor: String,
    preview: String,
    publications: Vec<PublicationRow>,
    sources: Vec<PostSourceRow>,
    revisions: Vec<RevisionRow>,
    compared: Option<ComparedRevision>,
    paging: Paging,
    wrong: Option<String>,
    wrong_edit: Option<String>,
    wrong_generation: bool,
    instructions: String,
    asked_sources: String,
}

impl PostView {
    fn conflict_table(&self) -> Option<String> {
        let conflict = self
            .conflict
            .as_ref()
            .filter(|conflict| !conflict.text.rows.is_empty())?;
        Some(line_table(&conflict.text, "The text now", "What you typed"))
    }

    fn compared_table(&self) -> Option<String> {
        let compared = self.compared.as_ref()?;
        Some(line_table(
            &compared.text,
            &format!("Revision {}", compared.number),
            "The text now",
        ))
    }
}

/// The earlier texts of a post.
pub(super) fn history(visit: &Visit, post: &str) -> ListRevisions {
    ListRevisions {
        project_id: visit.project_id(),
        post_id: post.to_owned(),
        limit: Some(REVISIONS),
        cursor: visit.cursor(),
    }
}

async fn find_revision(visit: &Visit, id: &str, number: i64) -> Result<Option<Revision>, Failure> {
    let mut cursor = None;
    loop {
        let listed = visit
            .read(&ListRevisions {
                project_id: visit.project_id(),
                post_id: id.to_owned(),
                limit: Some(25),
                cursor,
            })
            .await?;
        if let Some(found) = listed.data.into_iter().find(|revision| revision.number == number) {
            return Ok(Some(found));
        }
        cursor = listed.next_cursor;
        if cursor.is_none() {
            return Ok(None);
        }
    }
}

async fn suggested(visit: &Visit) -> Result<Vec<String>, Failure> {
    let listed = visit
        .read(&ListKeywords {
            project_id: visit.project_id(),
            status: Some(KeywordStatus::Approved),
            intent: None,
            cluster_id: None,
            q: None,
            sort: Some(KeywordSort::Score),
            limit: Some(50),
            cursor: None,
        })
        .await?;
    Ok(listed.data.into_iter().map(|keyword| keyword.keyword).collect())
}

fn actions(visit: &Visit, post: &Post, is_ready: bool) -> PostActions {
    let summary = &post.summary;
    let allowed = &summary.allowed_actions;
    let can = |name| parts::is_allowed(allowed, name);
    let may_publish = visit.may(Scope::ContentPublish);
    let is_unpublished = matches!(
        summary.status,
        PostStatus::Draft | PostStatus::Review | PostStatus::Failed
    );
    PostActions {
        edit: can("update"),
        // The time that it needs is a field of the form, so that it may be missing yet.
        schedule: can("update") && may_publish && is_ready && (is_unpublished || can("schedule")),
        draft: can("draft"),
        review: can("review"),
        archive: can("archive"),
        generate: can("generate"),
        publish: can("publish"),
        unpublish: can("unpublish"),
        look_again: may_publish && summary.status == PostStatus::Publishing,
    }
}

fn impossible(visit: &Visit, post: &Post) -> Vec<(&'static str, String)> {
    if !visit.may(Scope::PostsWrite) {
        return Vec::new();
    }
    let named = [
        ("Edit", "update"),
        ("Generate", "generate"),
        ("Publish", "publish"),
        ("Unpublish", "unpublish"),
        ("Archive", "archive"),
    ];
    let reasons = named.into_iter().filter_map(|(name, action)| {
        let why = parts::refusal(&post.summary.allowed_actions, action)?;
        Some((name, why))
    });
    reasons.collect()
}

fn sources(visit: &Visit, post: &Post) -> Vec<PostSourceRow> {
    let rows = post
        .findings
        .external_sources
        .iter()
        .take(50)
        .map(|source| PostSourceRow {
            url: show::cut(&source.url, 200),
            href: web_address(Some(&source.url)),
            title: source.title.as_deref().map(|title| show::cut(title, 150)),
            quote: source.quote.as_deref().map(|quote| show::cut(quote, 300)),
            mark: match source.ok {
                Some(true) => ("good", "Read"),
                Some(false) => ("error", "Could not be read"),
                None => ("off", "Not read"),
            },
            at: source.checked_at.map(|at| visit.time(&at)),
        });
    rows.collect()
}

fn written(visit: &Visit, post: &Post) -> Option<String> {
    let generation = post.generation.as_ref()?;
    let by = match (&generation.method, &generation.provider, &generation.model) {
        (_, Some(provider), Some(model)) => {
            format!("by {} of {}", show::cut(model, 80), show::cut(provider, 40))
        }
        (Some(method), _, _) => format!("as a {}", method.as_str()),
        _ => String::new(),
    };
    let at = visit.time(&generation.finished_at.unwrap_or(generation.requested_at));
    let what = if generation.finished_at.is_some() {
        "Last written"
    } else {
        "Asked for"
    };
    let cost = generation
        .cost_micros_usd
        .map_or_else(String::new, |cost| format!(", for {}", show::dollars(cost)));
    Some(format!("{what} {by} on {at}{cost}."))
}

pub(super) async fn show_post(visit: &Visit, id: &str, refused: Option<PostRefusal>) -> PageResult {
    let project_id = visit.project_id();
    let post = visit
        .read(&GetPost {
            project_id: project_id.clone(),
            post_id: id.to_owned(),
        })
        .await?;
    let revisions = visit.read(&history(visit, id)).await?;
    let integrations: Vec<Integration> = visit
        .read(&ListIntegrations {
            project_id: project_id.clone(),
            limit: Some(100),
            cursor: None,
        })
        .await?
        .data;
    let compared = match visit.parsed::<i64>("revision") {
        Some(number) => find_revision(visit, id, number).await?,
        None => None,
    };
    let destinations = parts::destinations(&post, &integrations);
    let can = actions(visit, &post, !destinations.is_empty());
    let cost = if can.generate {
        parts::cost(&post, &visit.read(&GetUsage { project_id }).await?)
    } else {
        Vec::new()
    };
    let suggested = if can.edit {
        suggested(visit).await?
    } else {
        Vec::new()
    };
    let now = TypedPost::from_post(visit, &post);
    let typed = refused.as_ref().and_then(|refused| refused.typed.clone());
    let is_typed = typed.is_some();
    let is_stale = refused.as_ref().is_some_and(|refused| refused.is_stale);
    let typed = typed.unwrap_or_else(|| now.clone());
    let conflict = (is_typed && is_stale).then(|| PostConflict {
        fields: typed.differences(&now),
        text: if typed.content == now.content {
            LineDifference::default()
        } else {
            compare(&now.content, &typed.content)
        },
    });
    let is_large = post.content.len() + post.content_html.len() > 2 * MAX_TOGETHER;
    // What was typed is kept where a job has begun on the text meanwhile.
    let has_form = can.edit || is_typed && visit.may(Scope::PostsWrite);
    let wants_form = is_typed || visit.parameter("view") == Some("edit");
    let summary = &post.summary;
    let findings = parts::findings(&post);
    let is_running = matches!(
        summary.status,
        PostStatus::Queued | PostStatus::Generating | PostStatus::Publishing
    );
    let (code, action, text, instructions, asked_sources) = match refused {
        Some(refused) => (
            refused.status,
            refused.action,
            Some(refused.text),
            refused.instructions,
            refused.sources,
        ),
        None => Default::default(),
    };
    let code = if text.is_some() { code } else { StatusCode::OK };
    let view = PostView {
        title: title_of(summary),
        frame: visit
            .frame("Post", Section::Posts)
            .live(is_running && text.is_none()),
        posts: visit.address("/posts"),
        calendar: visit.address("/calendar"),
        address: visit.address(&format!("/posts/{id}")),
        version: format!("{}-{}", summary.id, summary.version),
        mark: status_mark(summary.status),
        failure: summary.failure.as_ref().map(|failure| {
            let stage = if failure.stage == "publish" {
                "Publishing"
            } else {
                "Writing"
            };
            format!("{stage} failed: {}", show::cut(&failure.detail, 600))
        }),
        keyword: summary
            .keyword_id
            .zip(summary.keyword.as_deref())
            .map(|(_, keyword)| {
                let query = url::form_urlencoded::Serializer::new(String::new())
                    .append_pair("q", keyword)
                    .finish();
                (
                    visit.address(&format!("/keywords?{query}")),
                    show::cut(keyword, 120),
                )
            }),
        scheduled: summary.scheduled_at.map(|at| visit.time(&at)),
        published: summary.published_at.map(|at| visit.time(&at)),
        live: web_address(summary.published_url.as_deref()).filter(|_| summary.is_live),
        replaced: summary
            .replaces_post_id
            .map(|replaced| visit.address(&format!("/posts/{replaced}"))),
        has_claims: can.edit && findings.iter().any(|finding| finding.claim.is_some()),
        findings,
        impossible: impossible(visit, &post),
        destinations,
        integrations: visit.address("/integrations"),
        cost,
        written: written(visit, &post),
        erases: typed.erases(&post),
        typed,
        suggested,
        conflict,
        shows_form: has_form && (!is_large || wants_form),
        shows_preview: !post.content.is_empty() && (!is_large || !wants_form),
        can,
        editor: visit.with_parameter("view", Some("edit")),
        preview: visit.with_parameter("view", None),
        publications: post
            .publications
            .iter()
            .map(|publication| PublicationRow::new(visit, &post, publication, &integrations))
            .collect(),
        sources: sources(visit, &post),
        revisions: revisions
            .data
            .iter()
            .map(|revision| RevisionRow::new(visit, revision, compared.as_ref().map(|shown| shown.number)))
            .collect(),
        compared: compared.map(|revision| ComparedRevision {
            number: revision.number,
            text: compare(&revision.content, &post.content),
        }),
        paging: Paging::new(visit, revisions.next_cursor.as_deref())
            .with_file(visit, &format!("/posts/{id}/revisions.csv")),
        wrong: text.clone().filter(|_| !is_typed || !has_form),
        wrong_edit: text.filter(|_| is_typed && has_form),
        wrong_generation: action == "generate",
        instructions,
        asked_sources,
        post,
    };
    Ok(page::respond(code, &view, Form::OwnWithScript))
}

pub(super) async fn show(visit: Visit, Path((_, id)): Path<(String, String)>) -> PageResult {
    show_post(&visit, &id, None).await
}
