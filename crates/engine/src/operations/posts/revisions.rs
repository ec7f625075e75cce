//! Earlier texts of a post.

use searchwright_contract::{
    List, Problem,
    posts::{ListRevisions, Post, RestoreRevision, Revision},
};
use searchwright_store::{
    Tx,
    posts::{self, PostRecord},
    projects,
};

use super::{
    assess_ahead, assessed, check_version, forget_generated,
    record::{find, write},
    refuse_unless_editable, refuse_unless_publisher,
};
use crate::{
    Engine,
    call::{Call, Prepared, limit},
    endpoint::Handle,
    failure::Result,
};

impl Handle<ListRevisions> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListRevisions) -> Result<List<Revision>> {
        let post = find(call, tx, &operation.post_id).await?.post;
        let limit = limit(operation.limit);
        let before: Option<i64> = call.after(&operation, operation.cursor.as_deref())?;
        let rows = posts::list_revisions(tx, call.scope()?, post.summary.id, before, limit + 1).await?;
        call.page(&operation, limit, rows, |last| last.number)
    }
}

/// Returns a post, and the same with an earlier text, without its derived fields.
async fn restored(call: &Call, tx: &mut Tx, operation: &RestoreRevision) -> Result<[PostRecord; 2]> {
    let before = find(call, tx, &operation.post_id).await?;
    let old = &before.post;
    // What is no number names no revision.
    let number = operation.number.parse().unwrap_or_default();
    let revision = posts::get_revision(tx, call.scope()?, old.summary.id, number)
        .await
        .map_err(|error| match error {
            searchwright_store::Error::Missing => Problem::not_found("revision").into(),
            other => crate::Failure::from(other),
        })?;
    check_version(call, old, operation.if_version, true)?;
    refuse_unless_editable(old.summary.status)?;
    let mut after = before.clone();
    after.post.content = revision.content;
    if after.post.content != old.content {
        forget_generated(&mut after);
    }
    Ok([before, after])
}

impl Handle<RestoreRevision> for Engine {
    const PREPARES: bool = true;

    async fn prepare(call: &Call, operation: &RestoreRevision) -> Result<Prepared> {
        let restored = restored(call, &mut call.engine.db.read().await?, operation).await;
        assess_ahead(call, restored.map(|[_, after]| Some(after))).await
    }

    async fn handle(call: &Call, tx: &mut Tx, operation: RestoreRevision) -> Result<Post> {
        let scope = call.scope()?;
        projects::lock(tx, scope).await?;
        let [before, mut record] = restored(call, tx, &operation).await?;
        refuse_unless_publisher(call, tx, &record).await?;
        let is_new_text = record.post.content != before.post.content;
        assessed(call)?.apply(tx, scope, &mut record, is_new_text).await?;
        write(call, tx, record, &before.post).await
    }
}
