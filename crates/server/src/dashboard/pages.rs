//! `/projects/{id}/pages`: the URLs of the website, and everything that is known about one.

use std::sync::Arc;

use askama::Template;
use axum::{Router, extract::Path, routing::get};
use http::StatusCode;
use searchwright_contract::{
    evidence::in_words,
    pages::{FoundBy, GetPage, ListPages, Page, PageDetail, PageFacts, PageIssue, PageLink, PageSort},
};

use super::{
    export::CsvFile,
    frame::{ProjectFrame, Section},
    page::{self, Form},
    show,
    visit::{FilterLink, PageResult, Paging, SortColumn, Sorting, Visit},
};
use crate::app::App;

/// Characters of a search, at most.
const MAX_SEARCH: usize = 200;

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/projects/{project}/pages", get(list))
        .route(
            "/projects/{project}/pages.csv",
            CsvFile::of_list("pages").route(listing),
        )
        .route("/projects/{project}/pages/{page}", get(detail))
}

/// A row of the table of pages.
struct PageRow {
    page: Page,
    href: String,
    crawled: String,
}

/// Answer of a page, in words, with the class of its mark.
fn answer(status_code: Option<u16>, failure: Option<&str>) -> (&'static str, String) {
    match (status_code, failure) {
        (Some(code), _) => {
            let class = match code {
                200..300 => "good",
                300..400 => "off",
                _ => "error",
            };
            (class, code.to_string())
        }
        (None, Some("blocked")) => ("off", "forbidden by robots.txt".to_owned()),
        (None, Some(failure)) => ("error", format!("no answer: {}", show::words(failure))),
        (None, None) => ("error", "no answer".to_owned()),
    }
}

impl PageRow {
    fn answer(&self) -> (&'static str, String) {
        answer(self.page.status_code, self.page.failure.as_deref())
    }
}

#[derive(Template)]
#[template(path = "site_pages.html")]
struct PagesView {
    frame: ProjectFrame,
    rows: Vec<PageRow>,
    filters: Vec<FilterLink>,
    search: String,
    status: Option<String>,
    indexable: Option<String>,
    audits: String,
    /// The parameter of the order, for the search.
    sort: Option<&'static str>,
    /// By URL, status, depth and links.
    sorts: [SortColumn; 4],
    paging: Paging,
    is_filtered: bool,
}

/// The list with the filters of the address.
fn listing(visit: &Visit) -> ListPages {
    ListPages {
        project_id: visit.project_id(),
        status_code: visit.parsed("status").filter(|code| (100..600).contains(code)),
        indexable: visit.parsed("indexable"),
        q: visit
            .parameter("q")
            .map(|text| text.chars().take(MAX_SEARCH).collect()),
        sort: visit.parsed("sort"),
        limit: Some(50),
        cursor: visit.cursor(),
    }
}

async fn list(visit: Visit) -> PageResult {
    let asked = listing(&visit);
    let listed = visit.read(&asked).await?;
    let sorting = Sorting::new(&visit, "sort", "url", asked.sort.map(PageSort::as_str));
    let (status, indexable, search) = (asked.status_code, asked.indexable, asked.q);
    let filter = |value, text| FilterLink::new(&visit, "indexable", value, text);
    let view = PagesView {
        frame: visit.frame("Pages", Section::Pages),
        filters: vec![
            filter(None, "All"),
            filter(Some("true"), "Can appear in search"),
            filter(Some("false"), "Cannot appear in search"),
        ],
        is_filtered: search.is_some() || status.is_some() || indexable.is_some(),
        search: search.unwrap_or_default(),
        status: status.map(|code| code.to_string()),
        indexable: indexable.map(|is| is.to_string()),
        audits: visit.address("/audits"),
        sort: asked.sort.map(PageSort::as_str),
        sorts: [
            sorting.order_by("url", "Page", "ascending"),
            sorting.order_by("status", "Answer", "descending"),
            sorting.order_by_number("depth", "Depth", "descending"),
            sorting.order_by_number("inlinks", "Links in", "ascending"),
        ],
        paging: Paging::new(&visit, listed.next_cursor.as_deref()).with_file(&visit, "/pages.csv"),
        rows: listed
            .data
            .into_iter()
            .map(|page| PageRow {
                href: visit.address(&format!("/pages/{}", page.id)),
                crawled: visit.time(&page.last_crawled_at),
                page,
            })
            .collect(),
    };
    Ok(page::respond(StatusCode::OK, &view, Form::OwnWithScript))
}

/// An issue of a page.
struct PageIssueRow {
    issue: PageIssue,
    href: String,
    state: (&'static str, &'static str),
    evidence: String,
}

/// A link of a page.
struct LinkRow {
    url: String,
    href: Option<String>,
    anchor: String,
    answer: (&'static str, String),
    followable: bool,
}

#[derive(Template)]
#[template(path = "site_page.html")]
struct PageView {
    frame: ProjectFrame,
    page: Page,
    facts: Option<PageFacts>,
    issues: Vec<PageIssueRow>,
    links_in: Vec<LinkRow>,
    links_in_total: u32,
    links_out: Vec<LinkRow>,
    links_out_total: u32,
    has_links: bool,
    found_by: String,
    answer: (&'static str, String),
    crawled: String,
    all_pages: String,
    open: Option<String>,
}

fn link_rows(visit: &Visit, links: Vec<PageLink>) -> Vec<LinkRow> {
    links
        .into_iter()
        .map(|link| LinkRow {
            href: link.page_id.map(|id| visit.address(&format!("/pages/{id}"))),
            anchor: show::cut(&link.anchor, 200),
            answer: match link.failure.as_deref() {
                Some("not_fetched") => ("off", "not fetched".to_owned()),
                failure => answer(link.status_code, failure),
            },
            followable: link.followable,
            url: link.url,
        })
        .collect()
}

fn found_by(source: FoundBy) -> &'static str {
    match source {
        FoundBy::Link => "a link",
        FoundBy::Sitemap => "a sitemap",
        FoundBy::Canonical => "a canonical URL",
        FoundBy::Hreflang => "an hreflang alternate",
        FoundBy::Redirect => "a redirect",
        FoundBy::PreviousAudit => "the audit before",
        FoundBy::Post => "a published post",
        FoundBy::Gsc => "Search Console",
    }
}

async fn detail(visit: Visit, Path((_, id)): Path<(String, String)>) -> PageResult {
    let PageDetail {
        page,
        issues,
        facts,
        links_in,
        links_out,
        found_by: sources,
        ..
    } = visit
        .read(&GetPage {
            project_id: visit.project_id(),
            page_id: id,
        })
        .await?;
    let has_links = links_in.is_some() || links_out.is_some();
    let (links_in, links_out) = (links_in.unwrap_or_default(), links_out.unwrap_or_default());
    let is_web = page.url.starts_with("http://") || page.url.starts_with("https://");
    let view = PageView {
        frame: visit.frame("Page", Section::Pages),
        issues: issues
            .into_iter()
            .map(|issue| PageIssueRow {
                href: visit.address(&format!("/issues/{}", issue.issue_id)),
                state: show::state(issue.state),
                evidence: show::cut(&in_words(&issue.evidence), 400),
                issue,
            })
            .collect(),
        links_in_total: links_in.total,
        links_in: link_rows(&visit, links_in.data),
        links_out_total: links_out.total,
        links_out: link_rows(&visit, links_out.data),
        has_links,
        found_by: sources.into_iter().map(found_by).collect::<Vec<_>>().join(", "),
        answer: answer(page.status_code, page.failure.as_deref()),
        crawled: visit.time(&page.last_crawled_at),
        all_pages: visit.address("/pages"),
        open: is_web.then(|| page.url.clone()),
        facts,
        page,
    };
    Ok(page::respond(StatusCode::OK, &view, Form::OwnWithScript))
}

#[derive(Template)]
#[template(path = "link_table.html")]
struct LinkTable<'a> {
    links: &'a [LinkRow],
}

/// The table of links, as HTML.
fn links(links: &[LinkRow]) -> String {
    LinkTable { links }.render().unwrap_or_default()
}
