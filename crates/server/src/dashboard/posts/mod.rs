//! `/projects/{id}/posts`: the posts of a project, and one post with everything that can be done with it.

mod changes;
mod detail;
mod parts;
mod typed;

use std::sync::Arc;

use askama::Template;
use axum::{Router, routing::get};
use http::StatusCode;
use searchwright_contract::{
    Patch, Scope,
    posts::{CreatePost, ListPosts, PostSort, PostStatus, PostSummary, UpdatePost},
};

use super::{
    export::CsvFile,
    frame::{ProjectFrame, Section},
    page::{self, Form},
    show,
    visit::{self, FilterLink, PageResult, Paging, SentForm, SortColumn, Sorting, Visit},
};
use crate::app::App;

/// Characters of a search, at most.
const MAX_SEARCH: usize = 200;

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/projects/{project}/posts", get(list).post(create))
        .route(
            "/projects/{project}/posts.csv",
            CsvFile::of_list("posts").route(listing),
        )
        .route(
            "/projects/{project}/posts/{post}/revisions.csv",
            CsvFile::of_list("revisions").route_of(detail::history),
        )
        .route(
            "/projects/{project}/posts/{post}",
            get(detail::show).post(changes::submit),
        )
}

/// Status of a post with the class of its mark.
pub(super) fn status_mark(status: PostStatus) -> (&'static str, &'static str) {
    match status {
        PostStatus::Draft => ("off", "Draft"),
        PostStatus::Queued => ("run", "Waiting to be written"),
        PostStatus::Generating => ("run", "Being written"),
        PostStatus::Review => ("warning", "In review"),
        PostStatus::Scheduled => ("run", "Scheduled"),
        PostStatus::Publishing => ("run", "Being published"),
        PostStatus::Published => ("good", "Published"),
        PostStatus::Failed => ("error", "Failed"),
        PostStatus::Archived => ("off", "Archived"),
    }
}

/// Title of a post, or what stands for it.
pub(super) fn title_of(summary: &PostSummary) -> String {
    match summary.title.as_deref() {
        Some(title) => show::cut(title, 300),
        None => "Post without a title".to_owned(),
    }
}

/// Address of a page of the web, if it is one.
pub(super) fn web_address(url: Option<&str>) -> Option<String> {
    url.filter(|url| url.starts_with("https://") || url.starts_with("http://"))
        .map(str::to_owned)
}

/// An order for a post with nothing in it.
pub(super) fn new_post(visit: &Visit) -> CreatePost {
    CreatePost {
        project_id: visit.project_id(),
        title: None,
        content: None,
        slug: None,
        language: None,
        keyword_id: None,
        excerpt: None,
        meta_title: None,
        meta_description: None,
        secondary_keywords: None,
        tags: None,
        categories: None,
        featured_image: None,
        author: None,
        canonical_url: None,
    }
}

/// A change of a post that changes nothing.
pub(super) fn no_change(visit: &Visit, post: &str) -> UpdatePost {
    UpdatePost {
        project_id: visit.project_id(),
        post_id: post.to_owned(),
        title: None,
        content: None,
        slug: None,
        language: None,
        keyword_id: Patch::Absent,
        excerpt: Patch::Absent,
        meta_title: Patch::Absent,
        meta_description: Patch::Absent,
        secondary_keywords: None,
        tags: None,
        categories: None,
        featured_image: Patch::Absent,
        author: Patch::Absent,
        canonical_url: Patch::Absent,
        status: None,
        scheduled_at: Patch::Absent,
        unpublish: None,
        accept_claims: None,
        allow_empty_content: None,
        if_version: None,
    }
}

/// A row of the table of posts.
struct PostRow {
    href: String,
    title: String,
    mark: (&'static str, &'static str),
    reason: Option<String>,
    score: Option<u8>,
    words: String,
    keyword: Option<(String, String)>,
    /// Past or coming step with its time.
    when: Option<(&'static str, String)>,
    live: Option<String>,
    is_changed: bool,
}

impl PostRow {
    fn new(visit: &Visit, post: PostSummary) -> Self {
        let reason = post
            .failure
            .as_ref()
            .map(|failure| show::cut(&failure.detail, 200));
        let when = match (post.status, post.published_at, post.scheduled_at) {
            (PostStatus::Scheduled, _, Some(at)) => Some(("Scheduled for", visit.time(&at))),
            (_, Some(at), _) => Some(("Published", visit.time(&at))),
            (_, None, Some(at)) => Some(("Planned for", visit.time(&at))),
            (_, None, None) => None,
        };
        Self {
            href: visit.address(&format!("/posts/{}", post.id)),
            title: title_of(&post),
            mark: status_mark(post.status),
            reason,
            score: post.seo_score,
            words: show::number(post.word_count),
            keyword: post.keyword_id.zip(post.keyword.as_deref()).map(|(id, text)| {
                let list = visit.address(&format!("/posts?keyword={id}"));
                (list, show::cut(text, 100))
            }),
            when,
            live: web_address(post.published_url.as_deref()).filter(|_| post.is_live),
            is_changed: post.has_unpublished_changes,
        }
    }
}

#[derive(Template)]
#[template(path = "posts.html")]
struct PostsView {
    frame: ProjectFrame,
    rows: Vec<PostRow>,
    statuses: Vec<FilterLink>,
    status: Option<&'static str>,
    keyword: Option<String>,
    every_keyword: String,
    search: String,
    is_filtered: bool,
    may_write: bool,
    keywords: String,
    calendar: String,
    title: String,
    is_adding: bool,
    wrong: Option<String>,
    /// The parameter of the order, for the search.
    sort: Option<&'static str>,
    /// By time of creation, title, score and date.
    sorts: [SortColumn; 4],
    paging: Paging,
}

/// The list with the filters of the address.
fn listing(visit: &Visit) -> ListPosts {
    let search = visit.parameter("q").map(str::trim);
    let search: String = search.unwrap_or_default().chars().take(MAX_SEARCH).collect();
    let keyword: Option<uuid::Uuid> = visit.parsed("keyword");
    ListPosts {
        project_id: visit.project_id(),
        status: visit.parsed("status"),
        keyword_id: keyword.map(|id| id.to_string()),
        q: Some(search).filter(|text| !text.is_empty()),
        sort: visit.parsed("sort"),
        limit: Some(50),
        cursor: visit.cursor(),
    }
}

async fn show_list(visit: &Visit, wrong: Option<(StatusCode, String)>, title: Option<String>) -> PageResult {
    let asked = listing(visit);
    let listed = visit.read(&asked).await?;
    let sorting = Sorting::new(visit, "sort", "created", asked.sort.map(PostSort::as_str));
    let (status, keyword) = (asked.status, asked.keyword_id);
    let search = asked.q.unwrap_or_default();
    let mut statuses = vec![FilterLink::new(visit, "status", None, "All")];
    for status in PostStatus::ALL {
        let text = status_mark(*status).1;
        statuses.push(FilterLink::new(visit, "status", Some(status.as_str()), text));
    }
    let (code, wrong) = wrong.map_or((StatusCode::OK, None), |(status, text)| (status, Some(text)));
    let view = PostsView {
        frame: visit
            .frame("Posts", Section::Posts)
            .live_with_text(listed.data.iter().any(|post| !post.status.is_editable())),
        statuses,
        status: status.map(PostStatus::as_str),
        every_keyword: visit.with_parameter("keyword", None),
        is_filtered: !search.is_empty() || status.is_some() || keyword.is_some(),
        keyword,
        search,
        may_write: visit.may(Scope::PostsWrite),
        keywords: visit.address("/keywords"),
        calendar: visit.address("/calendar"),
        is_adding: title.is_some(),
        title: title.unwrap_or_default(),
        wrong,
        sort: asked.sort.map(PostSort::as_str),
        sorts: [
            sorting.order_by("created", "Newest", "descending"),
            sorting.order_by("title", "Title", "ascending"),
            sorting.order_by_number("score", "Score", "descending"),
            sorting.order_by("date", "When", "descending"),
        ],
        paging: Paging::new(visit, listed.next_cursor.as_deref()).with_file(visit, "/posts.csv"),
        rows: listed
            .data
            .into_iter()
            .map(|post| PostRow::new(visit, post))
            .collect(),
    };
    Ok(page::respond(code, &view, Form::OwnWithScript))
}

async fn list(visit: Visit) -> PageResult {
    show_list(&visit, None, None).await
}

async fn create(sent: SentForm) -> PageResult {
    let title = sent.form.get("title").trim().to_owned();
    let operation = CreatePost {
        title: Some(title.clone()).filter(|title| !title.is_empty()),
        ..new_post(&sent.visit)
    };
    match sent.change(&operation).await {
        Ok(post) => {
            let address = sent.visit.address(&format!("/posts/{}", post.summary.id));
            Ok(sent.done(&address, "post-begun", 1))
        }
        Err(failure) => match visit::refusal(&failure) {
            Some(wrong) => show_list(&sent.visit, Some(wrong), Some(title)).await,
            None => Err(failure.into()),
        },
    }
}
