//! Lists of keywords, filtered and sorted. Each order reads from an index, so that a page takes as long among a million
//! keywords as among a thousand.

use searchwright_contract::{
    ids::{ClusterId, KeywordId},
    keywords::{Intent, Keyword, KeywordSort, KeywordStatus},
};

use super::{
    read_keyword,
    trigrams::{self, Candidates},
};
use crate::{Result, Tx, access::ProjectScope, sql};

/// Keywords that pass a filter, up to which they are all looked at.
const FEW: i64 = 1_000;

/// Filters and cursor of a list.
#[derive(Clone, Debug, Default)]
pub struct KeywordQuery {
    /// Only this status.
    pub status: Option<KeywordStatus>,
    /// Only this intent.
    pub intent: Option<Intent>,
    /// Only this cluster.
    pub cluster: Option<ClusterId>,
    /// Only texts that contain this normalised text.
    pub contains: Option<String>,
    /// Order; newest first if `None`.
    pub sort: Option<KeywordSort>,
    /// Last row of the previous page: sort value (-1 if it is unknown) and id.
    pub after: Option<(i64, KeywordId)>,
    /// Maximum number of rows.
    pub limit: u32,
}

/// Filters of a list. PostgreSQL takes `$5 IS NULL OR …` for a condition that hardly any keyword meets, and would sort all keywords
/// of the project: it expects that half of them meet a CASE. A list with one filter, or with none, has its own text.
macro_rules! filters {
    (none) => {
        " AND CAST($5 AS TEXT) IS NULL AND CAST($6 AS TEXT) IS NULL AND CAST($7 AS TEXT) IS NULL AND CAST($8 AS UUID) IS NULL ORDER BY "
    };
    (status) => {
        " AND CAST($6 AS TEXT) IS NULL AND CAST($7 AS TEXT) IS NULL AND CAST($8 AS UUID) IS NULL ORDER BY "
    };
    (intent) => {
        " AND CAST($5 AS TEXT) IS NULL AND CAST($7 AS TEXT) IS NULL AND CAST($8 AS UUID) IS NULL ORDER BY "
    };
    () => {
        " AND CASE WHEN CAST($5 AS TEXT) IS NULL THEN TRUE ELSE status = $5 END
          AND CASE WHEN CAST($6 AS TEXT) IS NULL THEN TRUE ELSE intent = $6 END
          AND CASE WHEN CAST($7 AS TEXT) IS NULL THEN TRUE ELSE normalized LIKE $7 ESCAPE '\\' END
          AND CASE WHEN CAST($8 AS UUID) IS NULL THEN TRUE ELSE cluster_id = $8 END ORDER BY "
    };
}

/// Reads in the order of an index. SQLite is told which: by its statistics it could take a value that few keywords have for
/// one that many have, and read all keywords.
macro_rules! part {
    ($index:literal, $from:expr, $order:expr $(, $filters:ident)?) => {
        concat!(
            columns!("SELECT" "FROM keywords"),
            $index,
            " WHERE project_id = $1 AND ",
            $from,
            filters!($($filters)?),
            $order,
            " LIMIT $4"
        )
    };
}

/// Filters by a subquery on the columns of an index, so that excluded rows are not read from the table. The plus keeps SQLite
/// from scanning that index again. Not for PostgreSQL, which does not know how few rows LIMIT leaves, and would read the whole
/// table.
macro_rules! filtered {
    ($index:literal, $from:expr, $value:literal) => {
        concat!(
            columns!("SELECT" "FROM keywords WHERE project_id = $1 AND id IN (SELECT id FROM keywords"),
            $index,
            " WHERE project_id = $1 AND ",
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

/// Looks at all keywords of a short list of ids. Pluses keep SQLite from walking the index of the order instead.
macro_rules! among {
    ($ids:expr, $from:expr, $order:expr) => {
        concat!(
            columns!("SELECT" "FROM keywords WHERE project_id = $1 AND id IN ("),
            $ids,
            ") AND ",
            $from,
            filters!(),
            $order,
            " LIMIT $4"
        )
    };
}

macro_rules! few {
    ($filter:literal) => {
        concat!("SELECT id FROM keywords WHERE project_id = $1 AND ", $filter)
    };
}

macro_rules! among_sorted {
    ($ids:expr, $plus:literal, $part:expr, $value:literal) => {
        match $part {
            ListPart::Known => among!(
                $ids,
                concat!("(", $plus, $value, ", ", $plus, "id) < ($2, $3)"),
                concat!($plus, $value, " DESC, ", $plus, "id DESC")
            ),
            ListPart::Unknown => among_newest!($ids, $plus, concat!($plus, $value, " IS NULL")),
        }
    };
}

macro_rules! among_newest {
    ($ids:expr, $plus:literal, $from:expr) => {
        among!(
            $ids,
            concat!(
                $from,
                " AND ",
                $plus,
                "id < $3 AND CAST($2 AS BIGINT) IS NOT NULL"
            ),
            concat!($plus, "id DESC")
        )
    };
}

macro_rules! among_text {
    ($ids:expr, $plus:literal, $query:expr, $part:expr) => {
        match $query.sort.unwrap_or(KeywordSort::Created) {
            KeywordSort::Created => among_newest!($ids, $plus, "id IS NOT NULL"),
            KeywordSort::Score => among_sorted!($ids, $plus, $part, "score"),
            KeywordSort::SearchVolume => among_sorted!($ids, $plus, $part, "search_volume"),
            KeywordSort::KeywordDifficulty => among_sorted!($ids, $plus, $part, "keyword_difficulty"),
        }
    };
}

macro_rules! newest {
    ($index:literal, $from:expr $(, $filters:ident)?) => {
        part!(
            $index,
            concat!($from, " AND id < $3 AND CAST($2 AS BIGINT) IS NOT NULL"),
            "id DESC"
            $(, $filters)?
        )
    };
}

macro_rules! sorted {
    ($index:literal, $part:expr, $filters:expr, $value:literal) => {
        match ($part, $filters) {
            (ListPart::Known, ListFilters::None) => {
                part!(
                    $index,
                    concat!("(", $value, ", id) < ($2, $3)"),
                    concat!($value, " DESC, id DESC"),
                    none
                )
            }
            (ListPart::Unknown, ListFilters::None) => newest!($index, concat!($value, " IS NULL"), none),
            (ListPart::Known, ListFilters::InIndex) => {
                filtered!($index, concat!("(", $value, ", id) < ($2, $3)"), $value)
            }
            (ListPart::Known, ListFilters::Some) => {
                part!(
                    $index,
                    concat!("(", $value, ", id) < ($2, $3)"),
                    concat!($value, " DESC, id DESC")
                )
            }
            (ListPart::Unknown, _) => newest!($index, concat!($value, " IS NULL")),
        }
    };
}

/// Filter of a list in the order of a value.
#[derive(Clone, Copy)]
enum ListFilters {
    None,
    /// Columns that the index of each order has.
    InIndex,
    Some,
}

impl ListFilters {
    const fn from_query(query: &KeywordQuery, postgres: bool) -> Self {
        let by_column = query.status.is_some() || query.intent.is_some();
        let beyond = query.contains.is_some() || query.cluster.is_some();
        match (by_column, beyond) {
            (false, false) => Self::None,
            (true, false) if !postgres => Self::InIndex,
            _ => Self::Some,
        }
    }
}

/// A part of a list: an order by a value has the keywords with a known value, and then the others, newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListPart {
    /// Keywords whose value is known.
    Known,
    /// Keywords whose value is not known.
    Unknown,
}

/// Returns the statement of a part of a list. Each order reads from its own index; newest first with a filter reads from that of
/// the filter. Parameters: project, sort value and id of the cursor, limit, status, intent, LIKE pattern, cluster.
pub fn list_text(query: &KeywordQuery, part: ListPart, postgres: bool) -> &'static str {
    let filters = ListFilters::from_query(query, postgres);
    match (query.sort.unwrap_or(KeywordSort::Created), postgres) {
        (KeywordSort::Created, true) if query.cluster.is_some() => newest!("", "cluster_id = $8"),
        (KeywordSort::Created, true) if query.status.is_some() => match (query.intent, &query.contains) {
            (None, None) => newest!("", "status = $5", status),
            _ => newest!("", "status = $5"),
        },
        (KeywordSort::Created, true) if query.intent.is_some() => match &query.contains {
            None => newest!("", "intent = $6", intent),
            Some(_) => newest!("", "intent = $6"),
        },
        (KeywordSort::Created, false) if query.cluster.is_some() => {
            newest!(" INDEXED BY keywords_by_cluster", "cluster_id = $8")
        }
        (KeywordSort::Created, false) if query.status.is_some() => {
            newest!(" INDEXED BY keywords_by_status", "status = $5")
        }
        (KeywordSort::Created, false) if query.intent.is_some() => {
            newest!(" INDEXED BY keywords_by_intent", "intent = $6")
        }
        (KeywordSort::Created, _) => newest!("", "id IS NOT NULL"),
        (KeywordSort::Score, true) => sorted!("", part, filters, "score"),
        (KeywordSort::SearchVolume, true) => sorted!("", part, filters, "search_volume"),
        (KeywordSort::KeywordDifficulty, true) => sorted!("", part, filters, "keyword_difficulty"),
        (KeywordSort::Score, false) => sorted!(" INDEXED BY keywords_by_score", part, filters, "score"),
        (KeywordSort::SearchVolume, false) => {
            sorted!(" INDEXED BY keywords_by_volume", part, filters, "search_volume")
        }
        (KeywordSort::KeywordDifficulty, false) => {
            sorted!(
                " INDEXED BY keywords_by_difficulty",
                part,
                filters,
                "keyword_difficulty"
            )
        }
    }
}

/// Returns the statement of a part of a list that has only the candidates of a search, which are one more parameter, or two on SQLite.
fn candidates_text(query: &KeywordQuery, part: ListPart, postgres: bool) -> &'static str {
    if postgres {
        among_text!(
            "SELECT CAST(value AS UUID) FROM json_array_elements_text(CAST(CAST($9 AS TEXT) AS JSON)) AS candidates (value)",
            "",
            query,
            part
        )
    } else {
        among_text!(
            "SELECT keyword_id FROM keyword_numbers WHERE number IN (SELECT value FROM json_each($9))
             UNION ALL SELECT id FROM keywords WHERE project_id = $1 AND id > $10",
            "+",
            query,
            part
        )
    }
}

/// Returns the statement of a part of a list of which few keywords pass a filter: all of them are looked at.
fn few_text(query: &KeywordQuery, part: ListPart, postgres: bool) -> &'static str {
    match (postgres, query.cluster.is_some(), query.status.is_some()) {
        (true, true, _) => among_text!(few!("cluster_id = $8"), "", query, part),
        (true, false, true) => among_text!(few!("status = $5"), "", query, part),
        (true, false, false) => among_text!(few!("intent = $6"), "", query, part),
        (false, true, _) => among_text!(few!("cluster_id = $8"), "+", query, part),
        (false, false, true) => among_text!(few!("status = $5"), "+", query, part),
        (false, false, false) => among_text!(few!("intent = $6"), "+", query, part),
    }
}

/// Whether few keywords pass a filter, so that an order by a value would be read to its end to find a page of them.
async fn is_filter_for_few(tx: &mut Tx, scope: ProjectScope, query: &KeywordQuery) -> Result<bool> {
    let beyond = if let Some(cluster) = query.cluster {
        sql("SELECT 1 FROM keywords WHERE project_id = $1 AND cluster_id = $2 LIMIT 1 OFFSET $3")
            .bind(scope.project())
            .bind(cluster)
    } else if let Some(status) = query.status {
        sql("SELECT 1 FROM keywords WHERE project_id = $1 AND status = $2 LIMIT 1 OFFSET $3")
            .bind(scope.project())
            .bind(status.as_str())
    } else if let Some(intent) = query.intent {
        sql("SELECT 1 FROM keywords WHERE project_id = $1 AND intent = $2 LIMIT 1 OFFSET $3")
            .bind(scope.project())
            .bind(intent.as_str())
    } else {
        return Ok(false);
    };
    let beyond = beyond.bind(FEW).fetch_optional(tx, |_| Ok(())).await?;
    Ok(beyond.is_none())
}

/// Returns one page in the order of the query.
pub async fn list(tx: &mut Tx, scope: ProjectScope, query: KeywordQuery) -> Result<Vec<Keyword>> {
    // Ids are UUIDv7: their order is that of creation, and the largest possible id begins the list.
    let (value, id) = query.after.unwrap_or((i64::MAX, KeywordId::MAX));
    let is_by_time = query.sort.unwrap_or(KeywordSort::Created) == KeywordSort::Created;
    let all = query.status.is_none() && query.intent.is_none() && query.cluster.is_none();
    if is_by_time && all && query.contains.is_none() {
        return sql(
            columns!("SELECT" "FROM keywords WHERE project_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3"),
        )
        .bind(scope.project())
        .bind(id)
        .bind(query.limit)
        .fetch_all(tx, read_keyword)
        .await;
    }
    let candidates = match &query.contains {
        Some(contained) => trigrams::find_candidates(tx, scope, contained).await?,
        None => None,
    };
    if tx.is_postgres()
        && candidates
            .as_ref()
            .is_some_and(|candidates| candidates.found == "[]")
    {
        return Ok(Vec::new());
    }
    let are_few = candidates.is_none() && !is_by_time && is_filter_for_few(tx, scope, &query).await?;
    let parts = Parts {
        scope,
        query: &query,
        candidates: candidates.as_ref(),
        are_few,
    };
    if is_by_time {
        return parts.fetch(tx, ListPart::Known, (value, id), query.limit).await;
    }
    if value < 0 {
        return parts.fetch(tx, ListPart::Unknown, (value, id), query.limit).await;
    }
    let mut found = parts.fetch(tx, ListPart::Known, (value, id), query.limit).await?;
    // Keywords without a value follow once those with a value are exhausted.
    let left = query.limit.saturating_sub(found.len() as u32);
    if left > 0 {
        let begin = (value, KeywordId::MAX);
        found.extend(parts.fetch(tx, ListPart::Unknown, begin, left).await?);
    }
    Ok(found)
}

/// A list of which parts are read.
struct Parts<'q> {
    scope: ProjectScope,
    query: &'q KeywordQuery,
    /// Candidates of a search, unless they are many.
    candidates: Option<&'q Candidates>,
    /// Few keywords pass a filter.
    are_few: bool,
}

impl Parts<'_> {
    async fn fetch(
        &self,
        tx: &mut Tx,
        part: ListPart,
        after: (i64, KeywordId),
        limit: u32,
    ) -> Result<Vec<Keyword>> {
        let query = self.query;
        let text = if self.candidates.is_some() {
            candidates_text(query, part, tx.is_postgres())
        } else if self.are_few {
            few_text(query, part, tx.is_postgres())
        } else {
            list_text(query, part, tx.is_postgres())
        };
        let mut statement = sql(text)
            .bind(self.scope.project())
            .bind(after.0)
            .bind(after.1)
            .bind(limit)
            .bind(query.status.map(KeywordStatus::as_str))
            .bind(query.intent.map(Intent::as_str))
            .bind(query.contains.as_deref().map(like_pattern))
            .bind(query.cluster);
        if let Some(candidates) = self.candidates {
            statement = statement.bind(&candidates.found);
            if !tx.is_postgres() {
                statement = statement.bind(candidates.indexed);
            }
        }
        statement.fetch_all(tx, read_keyword).await
    }
}

/// Returns the LIKE pattern of texts that contain this one.
pub(super) fn like_pattern(text: &str) -> String {
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
