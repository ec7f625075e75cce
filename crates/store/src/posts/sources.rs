//! Sources of posts, which the claims of a text are checked against whenever it changes.

use searchwright_contract::ids::PostId;
use serde_json::Value;

use crate::{Json, Result, Tx, access::ProjectScope, sql};

/// Returns the sources of a post, if there are any.
pub async fn find_sources(tx: &mut Tx, scope: ProjectScope, post: PostId) -> Result<Option<Value>> {
    sql("SELECT sources FROM post_sources WHERE project_id = $1 AND post_id = $2")
        .bind(scope.project())
        .bind(post)
        .fetch_optional(tx, |c| Ok(c.take::<Json>()?.0))
        .await
}

/// Saves the sources of a post.
pub async fn save_sources(tx: &mut Tx, scope: ProjectScope, post: PostId, sources: &Value) -> Result<()> {
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
