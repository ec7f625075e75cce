//! What the texts of posts are compared with: sources, and each other.

use serde_json::Value;
use uuid::Uuid;

use crate::{Json, Param, Result, Tx, access::ProjectScope, sql};

/// Hashes kept of a text. Of two texts half of whose word runs are the same, all but 1 in 250 share one.
pub const MARKS: usize = 8;
/// Posts that are compared in full.
const MOST_ALIKE: u32 = 3;

/// What the text of a post is held against, if anything is kept.
pub async fn sources(tx: &mut Tx, scope: ProjectScope, post: Uuid) -> Result<Option<Value>> {
    sql("SELECT sources FROM post_sources WHERE project_id = $1 AND post_id = $2")
        .bind(scope.project())
        .bind(post)
        .fetch_optional(tx, |c| Ok(c.take::<Json>()?.0))
        .await
}

/// Keeps what the text of a post is held against.
pub async fn save_sources(tx: &mut Tx, scope: ProjectScope, post: Uuid, sources: &Value) -> Result<()> {
    sql(
        "INSERT INTO post_sources (project_id, post_id, sources) VALUES ($1, $2, $3)
         ON CONFLICT (project_id, post_id) DO UPDATE SET sources = $3",
    )
    .bind(scope.project())
    .bind(post)
    .bind(sources)
    .execute(tx)
    .await?;
    Ok(())
}

/// Keeps the marks of a text that changed.
pub async fn mark(tx: &mut Tx, scope: ProjectScope, post: Uuid, marks: &[i64]) -> Result<()> {
    sql("DELETE FROM post_marks WHERE project_id = $1 AND post_id = $2")
        .bind(scope.project())
        .bind(post)
        .execute(tx)
        .await?;
    if marks.is_empty() {
        return Ok(());
    }
    sql("INSERT INTO post_marks (project_id, post_id, mark) VALUES ($1, $2, $3)")
        .bind(scope.project())
        .bind(post)
        .execute_each(tx, marks.iter().map(|mark| vec![Param::from(*mark)]).collect())
        .await?;
    Ok(())
}

/// Id and text of the other posts that share the most marks with a text; those put away left out.
pub async fn alike(
    tx: &mut Tx,
    scope: ProjectScope,
    except: Uuid,
    marks: &[i64],
) -> Result<Vec<(Uuid, String)>> {
    if marks.is_empty() {
        return Ok(Vec::new());
    }
    let mut statement = sql(
        "SELECT p.id, p.content FROM posts p JOIN
           (SELECT post_id, count(*) AS shared FROM post_marks
            WHERE project_id = $1 AND mark IN ($4, $5, $6, $7, $8, $9, $10, $11) AND post_id <> $2 GROUP BY post_id) m ON p.id = m.post_id
         WHERE p.project_id = $1 AND p.status <> 'archived' ORDER BY m.shared DESC, p.id LIMIT $3",
    )
    .bind(scope.project())
    .bind(except)
    .bind(MOST_ALIKE);
    for at in 0..MARKS {
        statement = statement.bind(marks.get(at).copied());
    }
    statement.fetch_all(tx, |c| Ok((c.take()?, c.take()?))).await
}
