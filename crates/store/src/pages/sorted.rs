//! Lists of pages in the order of a number. Each reads from an index, so that a page takes as long among a million pages as among
//! a thousand.

use searchwright_contract::{ids::PageId, pages::Page};

use super::{FEW, PageQuery, as_json, find_few, read_page};
use crate::{Result, Tx, access::ProjectScope, sql};

/// Number by which pages are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageNumber {
    /// HTTP status, highest first, then pages without an answer.
    StatusCode,
    /// Click depth, deepest first, then pages to which no link leads.
    Depth,
    /// Number of pages with a link there, fewest first.
    Inlinks,
}

/// A part of the list: pages whose number is known come before the others.
#[derive(Clone, Copy)]
enum PagePart {
    Known,
    Unknown,
}

/// Filters by CASE, because PostgreSQL takes one that may be left out for one that few pages pass, and would sort. A page is in the
/// list by URL once an audit with results has seen it.
macro_rules! ordered {
    ($index:literal, $from:expr, $order:expr) => {
        concat!(
            columns!("SELECT" "FROM pages p"),
            $index,
            " WHERE p.project_id = $1 AND ",
            $from,
            " AND CASE WHEN CAST($5 AS BIGINT) IS NULL THEN TRUE ELSE p.status_code = $5 END
              AND CASE WHEN CAST($6 AS BOOLEAN) IS NULL THEN TRUE ELSE p.indexable = $6 END
              AND CASE WHEN CAST($7 AS TEXT) IS NULL THEN TRUE ELSE replace(p.url, $7, '') <> p.url END
              AND CASE WHEN (SELECT 1 FROM page_urls u WHERE u.project_id = p.project_id AND u.url = p.url AND u.page_id = p.id) IS NULL
                THEN FALSE ELSE TRUE END ORDER BY ",
            $order,
            " LIMIT $4"
        )
    };
}

macro_rules! known {
    ($index:literal, $value:expr) => {
        ordered!(
            $index,
            concat!(
                $value,
                " IS NOT NULL AND (",
                $value,
                ", p.id) < (CAST($2 AS BIGINT), $3)"
            ),
            concat!($value, " DESC, p.id DESC")
        )
    };
}

macro_rules! unknown {
    ($index:literal, $value:expr) => {
        ordered!(
            $index,
            concat!(
                $value,
                " IS NULL AND p.id < $3 AND CAST($2 AS BIGINT) IS NOT NULL"
            ),
            concat!($value, " DESC, p.id DESC")
        )
    };
}

macro_rules! fewest {
    ($index:literal, $value:expr) => {
        ordered!(
            $index,
            concat!("(", $value, ", p.id) > (CAST($2 AS BIGINT), $3)"),
            concat!($value, ", p.id")
        )
    };
}

/// Looks at all pages of a short list of ids. The sum keeps databases from walking the index of the order instead.
macro_rules! among {
    ($ids:literal, $from:expr, $order:expr) => {
        ordered!("", concat!("p.id IN (", $ids, ") AND ", $from), $order)
    };
    ($ids:literal, $number:expr) => {
        match $number {
            PageNumber::StatusCode => among!(most $ids, "COALESCE(0 + p.status_code, -1)"),
            PageNumber::Depth => among!(most $ids, "COALESCE(0 + p.depth, -1)"),
            PageNumber::Inlinks => {
                among!($ids, "(0 + p.inlinks, p.id) > (CAST($2 AS BIGINT), $3)", "0 + p.inlinks, p.id")
            }
        }
    };
    (most $ids:literal, $value:literal) => {
        among!(
            $ids,
            concat!("(", $value, ", p.id) < (CAST($2 AS BIGINT), $3)"),
            concat!($value, " DESC, p.id DESC")
        )
    };
}

/// SQLite is told which index: by its statistics it could take another.
fn text_of(number: PageNumber, part: PagePart, postgres: bool) -> &'static str {
    match (number, part, postgres) {
        (PageNumber::StatusCode, PagePart::Known, true) => known!("", "p.status_code"),
        (PageNumber::StatusCode, PagePart::Unknown, true) => unknown!("", "p.status_code"),
        (PageNumber::Depth, PagePart::Known, true) => known!("", "p.depth"),
        (PageNumber::Depth, PagePart::Unknown, true) => unknown!("", "p.depth"),
        (PageNumber::Inlinks, _, true) => fewest!("", "p.inlinks"),
        (PageNumber::StatusCode, PagePart::Known, false) => {
            known!(" INDEXED BY pages_by_status_code", "p.status_code")
        }
        (PageNumber::StatusCode, PagePart::Unknown, false) => {
            unknown!(" INDEXED BY pages_by_status_code", "p.status_code")
        }
        (PageNumber::Depth, PagePart::Known, false) => known!(" INDEXED BY pages_by_depth", "p.depth"),
        (PageNumber::Depth, PagePart::Unknown, false) => unknown!(" INDEXED BY pages_by_depth", "p.depth"),
        (PageNumber::Inlinks, _, false) => fewest!(" INDEXED BY pages_by_inlinks", "p.inlinks"),
    }
}

fn text_among(number: PageNumber, postgres: bool) -> &'static str {
    if postgres {
        among!(
            "SELECT CAST(value AS UUID) FROM json_array_elements_text(CAST(CAST($8 AS TEXT) AS JSON)) AS few (value)",
            number
        )
    } else {
        among!("SELECT unhex(value, '-') FROM json_each($8)", number)
    }
}

/// Returns the pages that pass a filter, as a list in JSON, unless they are many.
async fn find_among(tx: &mut Tx, scope: ProjectScope, query: &PageQuery) -> Result<Option<String>> {
    let few = find_few(tx, scope, query).await?;
    let Some(text) = query.contains.as_ref().filter(|_| few.is_none()) else {
        return Ok(few);
    };
    let ids: Vec<PageId> =
        sql("SELECT page_id FROM page_urls WHERE project_id = $1 AND replace(url, $2, '') <> url LIMIT $3")
            .bind(scope.project())
            .bind(text)
            .bind(FEW + 1)
            .fetch_all(tx, |c| c.take())
            .await?;
    as_json(ids)
}

/// Returns one page of the list in the order of a number. The last row of the page before has this number, -1 if it has none, and
/// this id. The cursor of the query is that of another order.
pub async fn list_by_number(
    tx: &mut Tx,
    scope: ProjectScope,
    query: &PageQuery,
    number: PageNumber,
    after: Option<(i64, PageId)>,
) -> Result<Vec<Page>> {
    let begin = match number {
        PageNumber::Inlinks => (-1, PageId::MIN),
        PageNumber::StatusCode | PageNumber::Depth => (i64::MAX, PageId::MAX),
    };
    let after = after.unwrap_or(begin);
    let few = find_among(tx, scope, query).await?;
    let list = PagesInOrder {
        scope,
        query,
        few: few.as_deref(),
    };
    if few.is_some() {
        let text = text_among(number, tx.is_postgres());
        return list.fetch(tx, text, after, query.limit).await;
    }
    let text = |part, tx: &Tx| text_of(number, part, tx.is_postgres());
    if after.0 < 0 && number != PageNumber::Inlinks {
        let text = text(PagePart::Unknown, tx);
        return list.fetch(tx, text, after, query.limit).await;
    }
    let known = text(PagePart::Known, tx);
    let mut found = list.fetch(tx, known, after, query.limit).await?;
    let left = query.limit.saturating_sub(found.len() as u32);
    if left > 0 && number != PageNumber::Inlinks {
        let unknown = text(PagePart::Unknown, tx);
        found.extend(list.fetch(tx, unknown, (-1, PageId::MAX), left).await?);
    }
    Ok(found)
}

/// A list of which parts are read.
struct PagesInOrder<'q> {
    scope: ProjectScope,
    query: &'q PageQuery,
    few: Option<&'q str>,
}

impl PagesInOrder<'_> {
    async fn fetch(
        &self,
        tx: &mut Tx,
        text: &'static str,
        after: (i64, PageId),
        limit: u32,
    ) -> Result<Vec<Page>> {
        let mut statement = sql(text)
            .bind(self.scope.project())
            .bind(after.0)
            .bind(after.1)
            .bind(limit)
            .bind(self.query.status_code)
            .bind(self.query.indexable)
            .bind(self.query.contains.as_deref());
        if let Some(few) = self.few {
            statement = statement.bind(few);
        }
        statement.fetch_all(tx, read_page).await
    }
}
