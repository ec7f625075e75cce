//! Which pages gave no answer in the audit before: what fails twice counts in the health score, what fails once does not.

use std::collections::HashSet;

use searchwright_contract::audits::Audit;
use searchwright_site::{
    graph::{Index, State, flag},
    page::UrlId,
    score::NO_RESPONSE,
};
use searchwright_store::{
    Db,
    access::ProjectScope,
    snapshots::{self, half},
};
use uuid::Uuid;

use super::{
    JobError,
    analysis::evaluate::{issue_id, page_id},
    audit::previous,
};

/// The halves of the ids of the pages that gave none in that audit, the one before another.
pub(super) async fn before(
    db: &Db,
    scope: ProjectScope,
    previous: Option<Uuid>,
) -> Result<HashSet<u64>, JobError> {
    let Some(previous) = previous else {
        return Ok(HashSet::new());
    };
    let issue = issue_id(scope.project(), NO_RESPONSE);
    let found = snapshots::found(&mut db.read().await?, scope, previous, issue).await?;
    Ok(found.into_iter().collect())
}

/// Notes them in the index of a crawl.
pub(super) async fn note(
    db: &Db,
    scope: ProjectScope,
    audit: &Audit,
    index: &mut Index,
) -> Result<(), JobError> {
    let before = before(db, scope, previous(audit)).await?;
    if before.is_empty() {
        return Ok(());
    }
    let asked = |id: &UrlId| index.has(*id, flag::INTERNAL) && index.state(*id) != State::Known;
    let ids = (0..u32::try_from(index.len()).unwrap_or(u32::MAX)).map(UrlId);
    let silent: Vec<UrlId> = ids
        .filter(asked)
        .filter(|id| before.contains(&half(page_id(scope.project(), index.key(*id)))))
        .collect();
    index.silent_before(silent);
    Ok(())
}
