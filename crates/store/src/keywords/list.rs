//! Lists of keywords: what they are narrowed to, in which order, and the statements that keep them as fast among a
//! million as among a thousand.

use searchwright_contract::keywords::{Intent, Keyword, KeywordSort, KeywordStatus};
use uuid::Uuid;

use super::keyword;
use crate::{Result, Tx, access::ProjectScope, sql};

/// Filters and place of a list.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Only this status.
    pub status: Option<KeywordStatus>,
    /// Only this intent.
    pub intent: Option<Intent>,
    /// Only this cluster.
    pub cluster: Option<Uuid>,
    /// Only texts that contain this, normalised.
    pub contains: Option<String>,
    /// Order.
    pub sort: Option<KeywordSort>,
    /// Last row of the page before: sort value (-1 for unknown) and id.
    pub after: Option<(i64, Uuid)>,
    /// Rows, at most.
    pub limit: u32,
}

macro_rules! filters {
    () => {
        " AND (CAST($5 AS TEXT) IS NULL OR status = $5) AND (CAST($6 AS TEXT) IS NULL OR intent = $6)
          AND (CAST($7 AS TEXT) IS NULL OR normalized LIKE $7 ESCAPE '\\') AND (CAST($8 AS UUID) IS NULL OR cluster_id = $8) ORDER BY "
    };
}

macro_rules! part {
    ($from:expr, $order:expr) => {
        concat!(
            columns!("SELECT" "FROM keywords WHERE project_id = $1 AND "),
            $from,
            filters!(),
            $order,
            " LIMIT $4"
        )
    };
}

/// Of what a filter leaves out of an order, nothing is looked up in the table: an index says what it needs.
/// The plus keeps SQLite from walking that index once more. PostgreSQL does not get it: it does not know how little
/// LIMIT leaves, and would read the whole table.
macro_rules! filtered {
    ($from:expr, $value:literal) => {
        concat!(
            columns!("SELECT" "FROM keywords WHERE project_id = $1 AND id IN (SELECT id FROM keywords WHERE project_id = $1 AND "),
            $from,
            " AND (CAST($5 AS TEXT) IS NULL OR status = $5) AND (CAST($6 AS TEXT) IS NULL OR intent = $6)
              AND CAST($7 AS TEXT) IS NULL AND CAST($8 AS UUID) IS NULL ORDER BY ",
            $value,
            " DESC, id DESC LIMIT $4) ORDER BY +",
            $value,
            " DESC, id DESC"
        )
    };
}

macro_rules! newest {
    ($from:expr) => {
        part!(
            concat!($from, " AND id < $3 AND CAST($2 AS BIGINT) IS NOT NULL"),
            "id DESC"
        )
    };
}

macro_rules! sorted {
    ($part:expr, $covered:expr, $value:literal) => {
        match ($part, $covered) {
            (Part::Known, true) => filtered!(concat!("(", $value, ", id) < ($2, $3)"), $value),
            (Part::Known, false) => {
                part!(
                    concat!("(", $value, ", id) < ($2, $3)"),
                    concat!($value, " DESC, id DESC")
                )
            }
            (Part::Unknown, _) => newest!(concat!($value, " IS NULL")),
        }
    };
}

/// An order by a value has two: the keywords whose value is known, and after them the others, newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its value is known.
    Known,
    /// It is not.
    Unknown,
}

/// The text of a part of a list. Each order walks an index of its own; newest first with a filter walks that of the filter.
/// Parameters: project, sort value and id of the place, limit, status, intent, pattern, cluster.
pub fn list_text(query: &Query, part: Part, postgres: bool) -> &'static str {
    let covered = !postgres
        && (query.status.is_some() || query.intent.is_some())
        && query.contains.is_none()
        && query.cluster.is_none();
    match query.sort.unwrap_or(KeywordSort::Created) {
        KeywordSort::Created if query.cluster.is_some() => newest!("cluster_id = $8"),
        KeywordSort::Created if query.status.is_some() => newest!("status = $5"),
        KeywordSort::Created if query.intent.is_some() => newest!("intent = $6"),
        KeywordSort::Created => newest!("id IS NOT NULL"),
        KeywordSort::Score => sorted!(part, covered, "score"),
        KeywordSort::SearchVolume => sorted!(part, covered, "search_volume"),
        KeywordSort::KeywordDifficulty => sorted!(part, covered, "keyword_difficulty"),
    }
}

/// One page in the order of the query, newest first unless it says otherwise.
pub async fn list(tx: &mut Tx, scope: ProjectScope, query: Query) -> Result<Vec<Keyword>> {
    // An id is a UUIDv7: its order is the order of creation, and the largest possible one begins the list.
    let (value, id) = query.after.unwrap_or((i64::MAX, Uuid::max()));
    if query.sort.unwrap_or(KeywordSort::Created) == KeywordSort::Created {
        let all = query.status.is_none() && query.intent.is_none() && query.cluster.is_none();
        if all && query.contains.is_none() {
            return sql(
                columns!("SELECT" "FROM keywords WHERE project_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3"),
            )
            .bind(scope.project())
            .bind(id)
            .bind(query.limit)
            .fetch_all(tx, keyword)
            .await;
        }
        return read(tx, scope, &query, Part::Known, (value, id), query.limit).await;
    }
    if value < 0 {
        return read(tx, scope, &query, Part::Unknown, (value, id), query.limit).await;
    }
    let mut found = read(tx, scope, &query, Part::Known, (value, id), query.limit).await?;
    let left = query.limit.saturating_sub(found.len() as u32);
    if left > 0 {
        let begin = (value, Uuid::max());
        found.extend(read(tx, scope, &query, Part::Unknown, begin, left).await?);
    }
    Ok(found)
}

async fn read(
    tx: &mut Tx,
    scope: ProjectScope,
    query: &Query,
    part: Part,
    after: (i64, Uuid),
    limit: u32,
) -> Result<Vec<Keyword>> {
    sql(list_text(query, part, tx.is_postgres()))
        .bind(scope.project())
        .bind(after.0)
        .bind(after.1)
        .bind(limit)
        .bind(query.status.map(KeywordStatus::as_str))
        .bind(query.intent.map(Intent::as_str))
        .bind(query.contains.as_deref().map(contains))
        .bind(query.cluster)
        .fetch_all(tx, keyword)
        .await
}

/// A LIKE pattern for texts that contain this one.
fn contains(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}
