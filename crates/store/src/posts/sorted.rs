//! Lists of posts in other orders than that of their creation. Each reads from an index.

use super::{PostQuery, read_summary};
use crate::{Param, Result, Tx, access::ProjectScope, sql, statement::Statement};
use searchwright_contract::{
    Instant,
    ids::PostId,
    posts::{PostStatus, PostSummary},
};

/// Posts that pass a filter, up to which they are all looked at.
const FEW: i64 = 1_000;
/// Later than any post: the end of the year 9999.
const LATEST: i64 = 253_402_300_799_999;

/// Order of a list of posts, with the value of the last row of the page before; `None` to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostOrder {
    /// By normalised title.
    Title(Option<(String, PostId)>),
    /// By score, highest first, then posts without one.
    Score(Option<(Option<i64>, PostId)>),
    /// By time of publication or, before it, for which it is scheduled; latest first, then posts without one.
    Date(Option<(Option<Instant>, PostId)>),
}

macro_rules! filtered {
    ($filter:literal, $from:expr) => {
        concat!(
            $filter,
            $from,
            " AND CASE WHEN CAST($5 AS TEXT) IS NULL THEN TRUE ELSE p.status = $5 END
              AND CASE WHEN CAST($6 AS UUID) IS NULL THEN TRUE ELSE p.keyword_id = $6 END
              AND CASE WHEN CAST($7 AS TEXT) IS NULL THEN TRUE ELSE replace(p.title_key, $7, '') <> p.title_key END ORDER BY "
        )
    };
}

macro_rules! ordered {
    ($index:literal, $filter:literal, $from:expr, $value:literal, $way:literal) => {
        concat!(
            "SELECT ",
            summary!(),
            from!($index),
            "AND ",
            filtered!($filter, $from),
            $value,
            $way,
            ", p.id",
            $way,
            " LIMIT $4"
        )
    };
    // Filters by the columns of the index, so that posts that do not pass are not read. The plus keeps SQLite from walking the
    // index again.
    (covered $index:literal, $from:expr, $value:literal, $way:literal) => {
        concat!(
            "SELECT ",
            summary!(),
            from!(""),
            "AND p.id IN (SELECT p.id FROM posts p",
            $index,
            " WHERE p.project_id = $1 AND ",
            filtered!("", $from),
            $value,
            $way,
            ", p.id",
            $way,
            " LIMIT $4) ORDER BY +",
            $value,
            $way,
            ", +p.id",
            $way
        )
    };
}

macro_rules! by_title {
    (covered $index:literal, $value:literal) => {
        ordered!(covered $index, concat!("(", $value, ", p.id) > (CAST($2 AS TEXT), $3)"), $value, "")
    };
    ($index:literal, $filter:literal, $value:literal) => {
        ordered!($index, $filter, concat!("(", $value, ", p.id) > (CAST($2 AS TEXT), $3)"), $value, "")
    };
}

macro_rules! below {
    ($value:literal, $kind:literal) => {
        concat!("(", $value, ", p.id) < (CAST($2 AS ", $kind, "), $3)")
    };
}

macro_rules! known {
    (covered $index:literal, $value:literal, $kind:literal) => {
        ordered!(covered $index, below!($value, $kind), $value, " DESC")
    };
    ($index:literal, $filter:literal, $value:literal, $kind:literal) => {
        ordered!($index, $filter, below!($value, $kind), $value, " DESC")
    };
}

macro_rules! without {
    ($value:literal, $kind:literal) => {
        concat!(
            $value,
            " IS NULL AND p.id < $3 AND CAST($2 AS ",
            $kind,
            ") IS NOT NULL"
        )
    };
}

macro_rules! unknown {
    (covered $index:literal, $value:literal, $kind:literal) => {
        ordered!(covered $index, without!($value, $kind), $value, " DESC")
    };
    ($index:literal, $filter:literal, $value:literal, $kind:literal) => {
        ordered!($index, $filter, without!($value, $kind), $value, " DESC")
    };
}

/// Filter of which few posts pass, so that all of them are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FewPosts {
    OfStatus,
    OfKeyword,
    No,
}

/// Chooses the text by the filter. A value that is not that of an index keeps PostgreSQL from walking it; SQLite is told which index.
macro_rules! chosen {
    ($macro:ident, $few:expr, $postgres:expr, $index:literal, $value:literal, $other:literal $(, $kind:literal, $sqlite:literal)?) => {
        match ($few, $postgres) {
            (FewPosts::No, true) => $macro!("", "", $value $(, $kind)?),
            (FewPosts::No, false) => $macro!(covered $index, $value $(, $sqlite)?),
            (FewPosts::OfStatus, true) => $macro!("", "p.status = $5 AND ", $other $(, $kind)?),
            (FewPosts::OfKeyword, true) => $macro!("", "p.keyword_id = $6 AND ", $other $(, $kind)?),
            (FewPosts::OfStatus, false) => {
                $macro!(" INDEXED BY posts_by_status", "p.status = $5 AND ", $other $(, $sqlite)?)
            }
            (FewPosts::OfKeyword, false) => {
                $macro!(" INDEXED BY posts_by_keyword", "p.keyword_id = $6 AND ", $other $(, $sqlite)?)
            }
        }
    };
}

macro_rules! score {
    ($macro:ident, $few:expr, $postgres:expr) => {
        chosen!(
            $macro,
            $few,
            $postgres,
            " INDEXED BY posts_by_score",
            "p.seo_score",
            "0 + p.seo_score",
            "BIGINT",
            "BIGINT"
        )
    };
}

macro_rules! date {
    ($macro:ident, $few:expr, $postgres:expr) => {
        chosen!(
            $macro,
            $few,
            $postgres,
            " INDEXED BY posts_by_date",
            "p.dated_at",
            "COALESCE(p.dated_at, p.dated_at)",
            "TIMESTAMPTZ",
            "TEXT"
        )
    };
}

async fn find_few(tx: &mut Tx, scope: ProjectScope, query: &PostQuery) -> Result<FewPosts> {
    let (beyond, few) = if let Some(keyword) = query.keyword {
        let beyond = sql("SELECT 1 FROM posts WHERE project_id = $1 AND keyword_id = $2 LIMIT 1 OFFSET $3");
        (beyond.bind(scope.project()).bind(keyword), FewPosts::OfKeyword)
    } else if let Some(status) = query.status {
        let beyond = sql("SELECT 1 FROM posts WHERE project_id = $1 AND status = $2 LIMIT 1 OFFSET $3");
        (
            beyond.bind(scope.project()).bind(status.as_str()),
            FewPosts::OfStatus,
        )
    } else {
        return Ok(FewPosts::No);
    };
    let beyond = beyond.bind(FEW).fetch_optional(tx, |_| Ok(())).await?;
    Ok(if beyond.is_none() { few } else { FewPosts::No })
}

/// Returns one page of posts in an order, without texts. The cursor of the query is that of another order.
pub async fn list_by(
    tx: &mut Tx,
    scope: ProjectScope,
    query: &PostQuery,
    order: PostOrder,
) -> Result<Vec<PostSummary>> {
    let few = find_few(tx, scope, query).await?;
    let postgres = tx.is_postgres();
    match order {
        PostOrder::Title(after) => {
            let (title, id) = after.unwrap_or((String::new(), PostId::MIN));
            let text = chosen!(
                by_title,
                few,
                postgres,
                " INDEXED BY posts_by_title",
                "p.title_key",
                "p.title_key || ''"
            );
            let statement = sql(text).bind(scope.project()).bind(title).bind(id);
            bind(statement, query, query.limit)
                .fetch_all(tx, read_summary)
                .await
        }
        PostOrder::Score(after) => {
            let texts = (score!(known, few, postgres), score!(unknown, few, postgres));
            let parts = PostParts {
                scope,
                query,
                texts,
                greatest: i64::MAX,
            };
            parts.fetch(tx, after).await
        }
        PostOrder::Date(after) => {
            let texts = (date!(known, few, postgres), date!(unknown, few, postgres));
            let parts = PostParts {
                scope,
                query,
                texts,
                greatest: Instant::from_millis(LATEST),
            };
            parts.fetch(tx, after).await
        }
    }
}

fn bind(statement: Statement, query: &PostQuery, limit: u32) -> Statement {
    statement
        .bind(limit)
        .bind(query.status.map(PostStatus::as_str))
        .bind(query.keyword)
        .bind(query.contains.as_deref())
}

/// A list of posts whose value is known, and then of the others.
struct PostParts<'q, V> {
    scope: ProjectScope,
    query: &'q PostQuery,
    texts: (&'static str, &'static str),
    greatest: V,
}

impl<V: Copy + Into<Param>> PostParts<'_, V> {
    async fn fetch(&self, tx: &mut Tx, after: Option<(Option<V>, PostId)>) -> Result<Vec<PostSummary>> {
        let limit = self.query.limit;
        let (known, unknown) = self.texts;
        let (value, id) = after.unwrap_or((Some(self.greatest), PostId::MAX));
        let Some(value) = value else {
            return self.part(tx, unknown, (self.greatest, id), limit).await;
        };
        let mut found = self.part(tx, known, (value, id), limit).await?;
        let left = limit.saturating_sub(found.len() as u32);
        if left > 0 {
            let begin = (self.greatest, PostId::MAX);
            found.extend(self.part(tx, unknown, begin, left).await?);
        }
        Ok(found)
    }

    async fn part(
        &self,
        tx: &mut Tx,
        text: &'static str,
        after: (V, PostId),
        limit: u32,
    ) -> Result<Vec<PostSummary>> {
        let statement = sql(text).bind(self.scope.project()).bind(after.0).bind(after.1);
        bind(statement, self.query, limit)
            .fetch_all(tx, read_summary)
            .await
    }
}
