//! Pages of a site, each as the audit that fetched it last saw it.

use std::collections::{HashMap, HashSet};

use searchwright_contract::{
    Instant,
    ids::{AuditId, PageId},
    issues::OccurrenceState,
    pages::Page,
};

use uuid::Uuid;

use crate::{Cells, Error, Result, Tx, access::ProjectScope, ledger, sql};

/// Pages that pass a filter up to which they are all looked at, and not the list.
const FEW: i64 = 1_000;

/// Filters and cursor of a list.
#[derive(Clone, Debug, Default)]
pub struct PageQuery {
    /// Only this HTTP status.
    pub status_code: Option<u16>,
    /// Only indexable or only not indexable pages.
    pub indexable: Option<bool>,
    /// Only URLs that contain this.
    pub contains: Option<String>,
    /// Last row of the previous page: URL and id.
    pub after: Option<(String, PageId)>,
    /// Maximum number of rows.
    pub limit: u32,
}

macro_rules! columns {
    ($before:literal $after:literal) => {
        concat!(
            $before,
            " p.id, p.url, final_url, status_code, failure, depth, inlinks, outlinks, link_score, indexable, non_indexable_reason, title, word_count, crawled_at ",
            $after
        )
    };
}

mod sorted;

pub use sorted::{PageNumber, list_by_number};

fn read_page(c: &mut Cells<'_>) -> Result<Page> {
    let mut page = Page {
        id: c.take()?,
        url: c.take()?,
        final_url: c.take()?,
        status_code: c.take()?,
        failure: c.take()?,
        depth: c.take()?,
        inlinks: c.take()?,
        outlinks: c.take()?,
        link_score: c.take()?,
        indexable: c.take()?,
        non_indexable_reason: c.take()?,
        title: c.take()?,
        word_count: c.take()?,
        last_crawled_at: c.take()?,
    };
    // The column is 0 if the page is not HTML, which has no word count either.
    page.outlinks = page.outlinks.filter(|_| page.word_count.is_some());
    Ok(page)
}

// CASE, because PostgreSQL takes a second equality of a join for one that hardly any row passes, and would sort.
macro_rules! list {
    ($from:literal, $status:literal, $indexable:literal, $contains:literal) => {
        concat!(
            columns!("SELECT" "FROM "),
            $from,
            "u.project_id = $1 AND (u.url, u.page_id) > ($2, $3) AND p.project_id = u.project_id AND p.id = u.page_id
             AND CASE WHEN p.url = u.url THEN TRUE ELSE FALSE END AND ",
            $status,
            " AND ",
            $indexable,
            " AND ",
            $contains,
            " ORDER BY u.url, u.page_id LIMIT $4"
        )
    };
    (few $from:literal) => {
        list!(
            $from,
            "(CAST($5 AS BIGINT) IS NULL OR status_code = $5)",
            "(CAST($6 AS BOOLEAN) IS NULL OR indexable = $6)",
            "(CAST($7 AS TEXT) IS NULL OR replace(u.url, $7, '') <> u.url)"
        )
    };
    (many $status:literal, $indexable:literal, $query:expr) => {
        if $query.contains.is_some() {
            list!("page_urls u CROSS JOIN pages p WHERE ", $status, $indexable, "replace(u.url, $7, '') <> u.url")
        } else {
            list!("page_urls u CROSS JOIN pages p WHERE ", $status, $indexable, "CAST($7 AS TEXT) IS NULL")
        }
    };
}

/// Returns one page of the list by URL, which has the pages that were [inserted](insert_urls) into it. A page whose URL changed
/// its spelling is listed by the URL that was inserted last.
///
/// A URL contains a text if removing the text changes it: LIKE ignores case on SQLite, but paths are case-sensitive.
pub async fn list(tx: &mut Tx, scope: ProjectScope, query: PageQuery) -> Result<Vec<Page>> {
    let few = find_few(tx, scope, &query).await?;
    let (url, id) = query.after.unwrap_or((String::new(), PageId::MIN));
    // CROSS JOIN keeps SQLite to the order of URLs, or to the few pages that pass the filters. Where many pass, PostgreSQL would
    // take a filter that may be left out for one that few pass, and sort: each has its text.
    let text = match (&few, query.status_code, query.indexable) {
        (Some(_), ..) if tx.is_postgres() => list!(
            few "pages p CROSS JOIN page_urls u WHERE p.project_id = $1
             AND p.id IN (SELECT CAST(value AS UUID) FROM json_array_elements_text(CAST(CAST($8 AS TEXT) AS JSON)) AS few (value)) AND "
        ),
        (Some(_), ..) => list!(
            few "pages p CROSS JOIN page_urls u WHERE p.project_id = $1 AND p.id IN (SELECT unhex(value, '-') FROM json_each($8)) AND "
        ),
        (None, None, None) => list!(many "CAST($5 AS BIGINT) IS NULL", "CAST($6 AS BOOLEAN) IS NULL", query),
        (None, Some(_), None) => list!(many "status_code = $5", "CAST($6 AS BOOLEAN) IS NULL", query),
        (None, None, Some(_)) => list!(many "CAST($5 AS BIGINT) IS NULL", "indexable = $6", query),
        (None, Some(_), Some(_)) => list!(many "status_code = $5", "indexable = $6", query),
    };
    let mut statement = sql(text)
        .bind(scope.project())
        .bind(url)
        .bind(id)
        .bind(query.limit)
        .bind(query.status_code)
        .bind(query.indexable)
        .bind(query.contains);
    if let Some(few) = few {
        statement = statement.bind(few);
    }
    statement.fetch_all(tx, read_page).await
}

/// Returns a list in JSON of the pages that pass the filters on columns. `None` without a filter, or if many pages pass: reading
/// the list in its order soon finds enough of them.
async fn find_few(tx: &mut Tx, scope: ProjectScope, query: &PageQuery) -> Result<Option<String>> {
    // Each reads nothing but the index.
    let text = match (query.status_code, query.indexable) {
        (Some(_), _) => {
            "SELECT id FROM pages WHERE project_id = $1 AND status_code = $2 AND (CAST($3 AS BOOLEAN) IS NULL OR indexable = $3) LIMIT $4"
        }
        (None, Some(_)) => {
            "SELECT id FROM pages WHERE project_id = $1 AND CAST($2 AS BIGINT) IS NULL AND indexable = $3 LIMIT $4"
        }
        (None, None) => return Ok(None),
    };
    let ids: Vec<PageId> = sql(text)
        .bind(scope.project())
        .bind(query.status_code)
        .bind(query.indexable)
        .bind(FEW + 1)
        .fetch_all(tx, |c| c.take())
        .await?;
    as_json(ids)
}

/// Returns a list in JSON of these pages; `None` if they are many.
fn as_json(ids: Vec<PageId>) -> Result<Option<String>> {
    if ids.len() > FEW as usize {
        return Ok(None);
    }
    let ids: Vec<Uuid> = ids.into_iter().map(PageId::uuid).collect();
    serde_json::to_string(&ids).map(Some).map_err(Error::defect)
}

/// Returns a page; [`Error::Missing`] if the project has none of this id.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: PageId) -> Result<Page> {
    sql(columns!("SELECT" "FROM pages p WHERE project_id = $1 AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, read_page)
        .await
}

/// Returns the audit that fetched a page last.
pub async fn get_audit(tx: &mut Tx, scope: ProjectScope, id: PageId) -> Result<AuditId> {
    sql("SELECT audit_id FROM pages WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, |c| c.take())
        .await
}

/// A page as an audit saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRow {
    /// UUIDv5 of project and normalised URL.
    pub id: PageId,
    /// Columns of the page; `id` and `last_crawled_at` are not used.
    pub page: Page,
    /// Time of the fetch.
    pub crawled_at: Instant,
    /// Whether it counts in the score.
    pub scored: bool,
    /// Share in the PageRank of the site, 0 to 1.
    pub rank: f64,
}

/// Inserts or updates pages of an audit; fastest in the order of their ids. They appear in lists after [`insert_urls`].
pub async fn upsert(tx: &mut Tx, scope: ProjectScope, audit: AuditId, pages: Vec<PageRow>) -> Result<()> {
    let rows = pages
        .into_iter()
        .map(
            |PageRow {
                 id,
                 page,
                 crawled_at,
                 scored,
                 rank,
             }| {
                vec![
                    id.into(),
                    page.url.into(),
                    page.final_url.into(),
                    page.status_code.into(),
                    page.failure.into(),
                    page.depth.into(),
                    page.inlinks.into(),
                    page.outlinks.unwrap_or_default().into(),
                    page.link_score.into(),
                    page.indexable.into(),
                    page.non_indexable_reason.into(),
                    page.title.into(),
                    page.word_count.into(),
                    crawled_at.into(),
                    scored.into(),
                    rank.into(),
                ]
            },
        )
        .collect();
    sql("INSERT INTO pages (project_id, audit_id, id, url, final_url, status_code, failure, depth, inlinks, outlinks, link_score, indexable,
            non_indexable_reason, title, word_count, crawled_at, scored, rank)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
         ON CONFLICT (project_id, id) DO UPDATE SET audit_id = excluded.audit_id, url = excluded.url, final_url = excluded.final_url,
           status_code = excluded.status_code, failure = excluded.failure, depth = excluded.depth, inlinks = excluded.inlinks,
           outlinks = excluded.outlinks, link_score = excluded.link_score, indexable = excluded.indexable,
           non_indexable_reason = excluded.non_indexable_reason, title = excluded.title, word_count = excluded.word_count,
           crawled_at = excluded.crawled_at, scored = excluded.scored, rank = excluded.rank")
    .bind(scope.project())
    .bind(audit)
    .execute_each_in_key_order(tx, rows)
    .await?;
    Ok(())
}

/// Inserts pages into the list by URL; fastest in the order of URLs.
pub async fn insert_urls(tx: &mut Tx, scope: ProjectScope, pages: Vec<(String, PageId)>) -> Result<()> {
    let rows = pages.into_iter().map(|(url, page)| vec![url.into(), page.into()]);
    sql("INSERT INTO page_urls (project_id, url, page_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING")
        .bind(scope.project())
        .execute_each_in_key_order(tx, rows.collect())
        .await?;
    Ok(())
}

/// Returns at most `limit` URLs that the next audit fetches even if no page links to them: pages that may still exist, and pages
/// with occurrences that are not resolved.
pub async fn list_seeds(tx: &mut Tx, scope: ProjectScope, limit: u32) -> Result<Vec<String>> {
    let mut urls: Vec<String> = sql("SELECT url FROM pages WHERE project_id = $1
           AND (status_code IS NULL OR status_code NOT BETWEEN 300 AND 499 OR status_code IN (401, 403, 408, 425, 429)) ORDER BY url LIMIT $2")
        .bind(scope.project())
        .bind(limit)
        .fetch_all(tx, |c| c.take())
        .await?;
    // Redirected and removed pages are fetched again only if they have unresolved occurrences.
    let gone: HashMap<PageId, String> = sql("SELECT id, url FROM pages WHERE project_id = $1
           AND status_code BETWEEN 300 AND 499 AND status_code NOT IN (401, 403, 408, 425, 429)")
    .bind(scope.project())
    .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
    .await?
    .into_iter()
    .collect();
    if gone.is_empty() {
        return Ok(urls);
    }
    let leaves = sql(
        "SELECT issue_id, data FROM occurrence_leaves WHERE project_id = $1
           AND open + done + recheck_pending + still_present + reopened + ignored > 0",
    )
    .bind(scope.project());
    let mut with_issues: HashSet<PageId> = HashSet::new();
    ledger::for_each_entry(tx, leaves, |(_, page), entry| {
        if entry.state != OccurrenceState::Resolved && gone.contains_key(&page) {
            with_issues.insert(page);
        }
    })
    .await?;
    urls.extend(with_issues.iter().filter_map(|page| gone.get(page).cloned()));
    urls.sort_unstable();
    urls.truncate(limit as usize);
    Ok(urls)
}
