//! The index of the texts of keywords, for searches by a part of them.
//!
//! On SQLite it is a full-text table of trigrams, which is kept here: a trigger would make every insert a statement that
//! writes the index out, however many follow in its transaction. Keywords that are created one by one are added a hundred at a
//! time, because for one of them as many pages are written as for all of these; until then a search looks at each of them.
//! PostgreSQL keeps its own index, where it has `pg_trgm`.

use searchwright_contract::ids::KeywordId;
use uuid::Uuid;

use super::list::like_pattern;
use crate::{Error, Param, Result, Tx, access::ProjectScope, sql};

/// Keywords that are looked at one by one. Where a search finds more, reading the list in its order soon finds enough of them.
const MAX_CANDIDATES: i64 = 5_000;
/// Characters of a trigram.
const LENGTH: usize = 3;
/// Maximum number of trigrams of a text that are considered.
const MAX_TRIGRAMS: usize = 200;
/// Maximum number of trigrams that are looked up.
const MAX_LOOKED_UP: usize = 5;
/// Maximum number of these that reach across two words.
const MAX_ACROSS: usize = 3;

/// Keywords from which on those that are not in the index are added to it.
const MAX_PENDING: usize = 128;
/// Keywords of which one looks how many are pending: those whose id happens to be a multiple.
const LOOKS_ONE_OF: u128 = 8;

/// Keywords whose text may contain what is looked for.
#[derive(Debug)]
pub(super) struct Candidates {
    /// List in JSON, as the statements of the list take it.
    pub(super) found: String,
    /// Last keyword that was in the index. On SQLite all later ones are candidates as well.
    pub(super) indexed: KeywordId,
}

/// Returns the statement that finds the candidates of a search. Parameters: project, what is looked for, limit.
pub const fn search_text(postgres: bool) -> &'static str {
    if postgres {
        "SELECT count(*), CAST(coalesce(json_agg(id), '[]') AS TEXT), CAST(NULL AS UUID) FROM
           (SELECT id FROM keywords WHERE project_id = $1 AND normalized LIKE $2 LIMIT $3) found"
    } else {
        "SELECT count(*), json_group_array(number), (SELECT indexed FROM keyword_ranges WHERE project_id = $1) FROM
           (SELECT t.rowid AS number FROM keyword_ranges r CROSS JOIN keyword_trigrams t
            WHERE r.project_id = $1 AND t.keyword_trigrams MATCH $2 AND t.rowid > r.range << 40 AND t.rowid <= r.last LIMIT $3)"
    }
}

/// Returns the keywords whose text may contain this one. `None` if the text is too short for the index, or if there are many.
pub(super) async fn find_candidates(
    tx: &mut Tx,
    scope: ProjectScope,
    contained: &str,
) -> Result<Option<Candidates>> {
    if contained.chars().nth(LENGTH - 1).is_none() {
        return Ok(None);
    }
    let text = if tx.is_postgres() {
        like_pattern(contained)
    } else {
        match_expression(contained)
    };
    let (count, found, indexed): (i64, String, Option<KeywordId>) = sql(search_text(tx.is_postgres()))
        .bind(scope.project())
        .bind(text)
        .bind(MAX_CANDIDATES + 1)
        .fetch_one(tx, |c| Ok((c.take()?, c.take()?, c.take()?)))
        .await?;
    let indexed = indexed.unwrap_or(Uuid::nil().into());
    Ok((count <= MAX_CANDIDATES).then_some(Candidates { found, indexed }))
}

/// Returns the full-text query of texts that have some trigrams of this one; what they let through is compared with it. Each
/// trigram that many texts have costs milliseconds, so few are looked up. Those across two words are the rarest: they tell
/// which words follow each other.
fn match_expression(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut trigrams: Vec<&[char]> = Vec::new();
    for trigram in chars.windows(LENGTH).take(MAX_TRIGRAMS) {
        if !trigrams.contains(&trigram) {
            trigrams.push(trigram);
        }
    }
    let (across, within): (Vec<_>, Vec<_>) = trigrams
        .into_iter()
        .partition(|trigram| matches!(trigram, [before, ' ', after] if *before != ' ' && *after != ' '));
    let mut looked_up = spread(&across, MAX_ACROSS);
    looked_up.extend(spread(&within, MAX_LOOKED_UP - looked_up.len()));
    let quoted = looked_up.into_iter().map(|trigram| {
        let text: String = trigram.iter().collect();
        format!("\"{}\"", text.replace('"', "\"\""))
    });
    quoted.collect::<Vec<_>>().join(" AND ")
}

/// Returns at most `count` of the items, from the first to the last at even distances.
fn spread<T: Copy>(items: &[T], count: usize) -> Vec<T> {
    if items.len() <= count {
        return items.to_vec();
    }
    (0..count)
        .filter_map(|n| items.get(n * (items.len() - 1) / (count - 1).max(1)).copied())
        .collect()
}

/// Adds keywords that were created to the index, or leaves them to be added together with later ones.
pub(super) async fn insert(tx: &mut Tx, scope: ProjectScope, created: &[KeywordId]) -> Result<()> {
    if tx.is_postgres() || created.is_empty() {
        return Ok(());
    }
    let indexed = sql("SELECT indexed FROM keyword_ranges WHERE project_id = $1")
        .bind(scope.project())
        .fetch_optional(tx, |c| c.take::<KeywordId>())
        .await?
        .unwrap_or(Uuid::nil().into());
    // The clock was set back, or the id was made before that of another which was created first.
    let (late, pending): (Vec<KeywordId>, Vec<KeywordId>) = created.iter().partition(|id| **id <= indexed);
    if !late.is_empty() {
        let ids = late.into_iter().map(|id| vec![id.into()]).collect();
        let entries = sql("SELECT id, normalized FROM keywords WHERE project_id = $1 AND id = $2")
            .bind(scope.project())
            .fetch_optional_each(tx, ids, |c| Ok((c.take()?, c.take()?)))
            .await?;
        add(tx, scope, entries.into_iter().flatten().collect(), indexed).await?;
    }
    let looks = pending.len() > 1
        || pending
            .iter()
            .any(|id| id.uuid().as_u128().is_multiple_of(LOOKS_ONE_OF));
    if !looks {
        return Ok(());
    }
    let full = sql("SELECT 1 FROM keywords WHERE project_id = $1 AND id > $2 LIMIT 1 OFFSET $3")
        .bind(scope.project())
        .bind(indexed)
        .bind(MAX_PENDING as u64 - 1)
        .fetch_optional(tx, |_| Ok(()))
        .await?;
    if full.is_none() {
        return Ok(());
    }
    let entries: Vec<(KeywordId, String)> =
        sql("SELECT id, normalized FROM keywords WHERE project_id = $1 AND id > $2 ORDER BY id")
            .bind(scope.project())
            .bind(indexed)
            .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
            .await?;
    let last = entries.last().map_or(indexed, |(id, _)| *id);
    add(tx, scope, entries, last).await
}

/// Adds keywords to the index, in which all up to `indexed` are then.
async fn add(
    tx: &mut Tx,
    scope: ProjectScope,
    mut entries: Vec<(KeywordId, String)>,
    indexed: KeywordId,
) -> Result<()> {
    entries.retain(|(_, normalized)| normalized.chars().nth(LENGTH - 1).is_some());
    let count = i64::try_from(entries.len()).map_err(Error::defect)?;
    let known =
        sql("UPDATE keyword_ranges SET last = last + $2, indexed = $3 WHERE project_id = $1 RETURNING last")
            .bind(scope.project())
            .bind(count)
            .bind(indexed)
            .fetch_optional(tx, |c| c.take::<i64>())
            .await?;
    let last = match known {
        Some(last) => last,
        None => {
            sql("INSERT INTO keyword_ranges (range, project_id, last, indexed)
                 SELECT next, $1, (next << 40) + $2, $3 FROM (SELECT coalesce(max(range), 0) + 1 AS next FROM keyword_ranges)
                 RETURNING last")
            .bind(scope.project())
            .bind(count)
            .bind(indexed)
            .fetch_one(tx, |c| c.take())
            .await?
        }
    };
    let (mut numbers, mut texts): (Vec<Vec<Param>>, Vec<Vec<Param>>) = (Vec::new(), Vec::new());
    for (number, (id, normalized)) in (last - count + 1..).zip(entries) {
        numbers.push(vec![number.into(), id.into()]);
        texts.push(vec![number.into(), normalized.into()]);
    }
    sql("INSERT INTO keyword_numbers (number, keyword_id) VALUES ($1, $2)")
        .execute_each(tx, numbers)
        .await?;
    sql("INSERT INTO keyword_trigrams (rowid, normalized) VALUES ($1, $2)")
        .execute_each(tx, texts)
        .await?;
    Ok(())
}

/// Removes a keyword from the index.
pub(super) async fn delete(tx: &mut Tx, scope: ProjectScope, keyword: KeywordId) -> Result<()> {
    if tx.is_postgres() {
        return Ok(());
    }
    let entry: Option<(i64, String)> = sql(
        "SELECT n.number, k.normalized FROM keywords k JOIN keyword_numbers n ON n.keyword_id = k.id
         WHERE k.project_id = $1 AND k.id = $2",
    )
    .bind(scope.project())
    .bind(keyword)
    .fetch_optional(tx, |c| Ok((c.take()?, c.take()?)))
    .await?;
    let Some((number, normalized)) = entry else {
        return Ok(());
    };
    sql("DELETE FROM keyword_numbers WHERE number = $1")
        .bind(number)
        .execute(tx)
        .await?;
    sql("INSERT INTO keyword_trigrams (keyword_trigrams, rowid, normalized) VALUES ('delete', $1, $2)")
        .bind(number)
        .bind(normalized)
        .execute(tx)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::match_expression;

    #[test]
    fn the_rarest_trigrams_are_looked_up() {
        assert_eq!(match_expression("abc"), r#""abc""#);
        assert_eq!(
            match_expression("straße"),
            r#""str" AND "tra" AND "raß" AND "aße""#
        );
        assert_eq!(match_expression(r#"a"b"#), r#""a""b""#);
        assert_eq!(match_expression(&"x".repeat(500)), r#""xxx""#);
        assert_eq!(
            match_expression("python model"),
            r#""n m" AND "pyt" AND "tho" AND " mo" AND "del""#
        );
        assert_eq!(
            match_expression("a b c d e f"),
            r#""a b" AND "c d" AND "e f" AND " b " AND " e ""#
        );
    }
}
