//! Loading and writing of posts, for every operation on them.

use searchwright_contract::{
    events::EventType,
    posts::{Post, Publication},
};
use searchwright_publishing::vendors;
use searchwright_store::{
    Tx,
    access::RecordKind,
    posts::{self, PostRecord},
    publications,
};
use searchwright_writing::transitions::Facts;

use crate::{
    call::Call,
    connections::list_ready,
    failure::Result,
    operations::items::changed_since_read,
    posts::{actions, announce, facts, follow},
};

/// Returns a post as it is answered: with its publications and the actions that are allowed.
pub(in crate::operations) async fn shown(call: &Call, tx: &mut Tx, record: PostRecord) -> Result<Post> {
    let (scope, mut post) = (call.scope()?, record.post);
    let ready = !list_ready(tx, scope).await?.is_empty();
    post.publications = publications::list_of_post(tx, scope, post.summary.id).await?;
    let can_be_taken_back = |publication: &Publication| {
        publication.is_live
            && vendors::find(publication.provider).is_some_and(|vendor| vendor.capabilities.unpublish)
    };
    let facts = Facts {
        is_integration_ready: ready,
        can_unpublish: post.publications.iter().any(can_be_taken_back),
        ..facts(&post.summary, &post.findings.warnings, call.now)
    };
    post.summary.allowed_actions = actions(call, &post.summary, &facts);
    Ok(post)
}

/// Loads a post; 404 or 403 where there is none.
pub(in crate::operations) async fn find(call: &Call, tx: &mut Tx, id: &str) -> Result<PostRecord> {
    let id = call.child(RecordKind::Post, id)?;
    let found = posts::get(tx, call.scope()?, id).await;
    call.or_missing(tx, RecordKind::Post, id, found).await
}

/// Writes a changed post, the revision before it and the event, and returns the post as it is answered.
pub(in crate::operations) async fn write(
    call: &Call,
    tx: &mut Tx,
    record: PostRecord,
    old: &Post,
) -> Result<Post> {
    let written = keep(call, tx, record, old).await?;
    shown(call, tx, written).await
}

/// Writes a changed post, the revision before it and the event.
pub(super) async fn keep(call: &Call, tx: &mut Tx, record: PostRecord, old: &Post) -> Result<PostRecord> {
    let scope = call.scope()?;
    if record.post.content != old.content && !old.content.is_empty() {
        posts::insert_revision(tx, scope, old, call.now).await?;
    }
    let written = posts::update(tx, scope, &record, call.now)
        .await
        .map_err(changed_since_read)?;
    follow(tx, scope, Some(&old.summary), &written.post.summary, call.now).await?;
    let kind = EventType::PostUpdated;
    announce(
        tx,
        scope,
        call.engine.clock.id(),
        kind,
        &written.post.summary,
        call.now,
    )
    .await?;
    Ok(written)
}
