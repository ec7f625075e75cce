//! Earlier texts of a post.

use searchwright_contract::{
    List, Problem,
    posts::{ListRevisions, Post, RestoreRevision, Revision},
};
use searchwright_store::{Tx, posts, projects};

use super::{
    check_version, forget_generated,
    record::{find, write},
    refuse_unless_editable, site,
};
use crate::{
    Engine,
    call::{Call, limit},
    endpoint::Handle,
    failure::Result,
    posts::settle,
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

impl Handle<RestoreRevision> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: RestoreRevision) -> Result<Post> {
        let scope = call.scope()?;
        projects::lock(tx, scope).await?;
        let mut record = find(call, tx, &operation.post_id).await?;
        let old = record.post.clone();
        // What is no number names no revision.
        let number = operation.number.parse().unwrap_or_default();
        let revision = posts::get_revision(tx, scope, old.summary.id, number)
            .await
            .map_err(|error| match error {
                searchwright_store::Error::Missing => Problem::not_found("revision").into(),
                other => crate::Failure::from(other),
            })?;
        check_version(call, &old, operation.if_version, true)?;
        refuse_unless_editable(old.summary.status)?;
        record.post.content = revision.content;
        if record.post.content != old.content {
            forget_generated(&mut record);
        }
        let is_new_text = record.post.content != old.content;
        settle(tx, scope, &mut record, &site(call)?, is_new_text, call.now).await?;
        write(call, tx, record, &old).await
    }
}
