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

/// Of what a filter leaves out of an order, nothing is looked up in the table: an index says what it needs.
/// The plus keeps SQLite from walking that index once more. PostgreSQL does not get it: it does not know how little
/// LIMIT leaves, and would read the whole table.
macro_rules! filtered {
    ($value:literal) => {
        concat!(
            columns!("SELECT" "FROM keywords WHERE project_id = $1 AND id IN (SELECT id FROM keywords WHERE project_id = $1 AND ("),
            $value,
            ", id) < ($2, $3) AND (CAST($5 AS TEXT) IS NULL OR status = $5) AND (CAST($6 AS TEXT) IS NULL OR intent = $6)
              AND CAST($7 AS TEXT) IS NULL AND CAST($8 AS UUID) IS NULL ORDER BY ",
            $value,
            " DESC, id DESC LIMIT $4) ORDER BY +",
            $value,
            " DESC, id DESC"
        )
    };
}

macro_rules! sorted {
    ($covered:expr, $value:literal) => {
        if $covered {
            filtered!($value)
        } else {
            concat!(
                columns!("SELECT" "FROM keywords WHERE project_id = $1 AND ("),
                $value,
                ", id) < ($2, $3)",
                filters!(),
                $value,
                " DESC, id DESC LIMIT $4"
            )
        }
    };
}

macro_rules! newest {
    ($from:literal) => {
        concat!(
            columns!("SELECT" "FROM keywords WHERE project_id = $1 AND "),
            $from,
            " AND id < $3 AND CAST($2 AS BIGINT) IS NOT NULL",
            filters!(),
            "id DESC LIMIT $4"
        )
    };
}

/// The text of a list. Each order walks an index of its own; newest first with a filter walks that of the filter.
/// Parameters: project, sort value and id of the place, limit, status, intent, pattern, cluster.
pub fn list_text(query: &Query, postgres: bool) -> &'static str {
    let covered = !postgres
        && (query.status.is_some() || query.intent.is_some())
        && query.contains.is_none()
        && query.cluster.is_none();
    match query.sort.unwrap_or(KeywordSort::Created) {
        KeywordSort::Created if query.cluster.is_some() => newest!("cluster_id = $8"),
        KeywordSort::Created if query.status.is_some() => newest!("status = $5"),
        KeywordSort::Created if query.intent.is_some() => newest!("intent = $6"),
        KeywordSort::Created => newest!("id IS NOT NULL"),
        KeywordSort::Score => sorted!(covered, "coalesce(score, -1)"),
        KeywordSort::SearchVolume => sorted!(covered, "coalesce(search_volume, -1)"),
        KeywordSort::KeywordDifficulty => sorted!(covered, "coalesce(keyword_difficulty, -1)"),
    }
}

/// One page in the order of the query, newest first unless it says otherwise.
pub async fn list(tx: &mut Tx, scope: ProjectScope, query: Query) -> Result<Vec<Keyword>> {
    // An id is a UUIDv7: its order is the order of creation, and the largest possible one begins the list.
    let (value, id) = query.after.unwrap_or((i64::MAX, Uuid::max()));
    let filtered = query.status.is_some() || query.intent.is_some() || query.cluster.is_some();
    if query.sort.unwrap_or(KeywordSort::Created) == KeywordSort::Created
        && !filtered
        && query.contains.is_none()
    {
        return sql(
            columns!("SELECT" "FROM keywords WHERE project_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3"),
        )
        .bind(scope.project())
        .bind(id)
        .bind(query.limit)
        .all(tx, keyword)
        .await;
    }
    sql(list_text(&query, tx.is_postgres()))
        .bind(scope.project())
        .bind(value)
        .bind(id)
        .bind(query.limit)
        .bind(query.status.map(KeywordStatus::as_str))
        .bind(query.intent.map(Intent::as_str))
        .bind(query.contains.map(|t| contains(&t)))
        .bind(query.cluster)
        .all(tx, keyword)
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
