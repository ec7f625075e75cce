//! Since when the temporary redirects of a crawl are what they are, as far as the audits before it tell.

use std::collections::{HashMap, HashSet};

use searchwright_contract::audits::Audit;
use searchwright_site::graph::Index;
use searchwright_store::{
    Db,
    access::ProjectScope,
    audits,
    snapshots::{self, half},
};
use uuid::Uuid;

use super::{JobError, analysis::evaluate::page_id};

/// Notes in the index of an audit which of its temporary redirects the one before saw too, and since when they have been
/// seen in every one.
pub(super) async fn note(
    db: &Db,
    scope: ProjectScope,
    audit: &Audit,
    index: &mut Index,
) -> Result<(), JobError> {
    look_back(db, scope, audit.previous_audit_id.clone(), 1, index).await
}

/// The same in what a recheck has made of the crawl of an audit, which is no audit itself: that one and the one before
/// have to have seen the redirect.
pub(super) async fn note_again(
    db: &Db,
    scope: ProjectScope,
    audit: &Audit,
    index: &mut Index,
) -> Result<(), JobError> {
    look_back(db, scope, Some(audit.id.clone()), 2, index).await
}

/// Goes back from an audit; at least so many have to have seen a redirect.
async fn look_back(
    db: &Db,
    scope: ProjectScope,
    mut previous: Option<String>,
    least: usize,
    index: &mut Index,
) -> Result<(), JobError> {
    let project = scope.project();
    let mut open: HashMap<u64, _> = index
        .temporary_redirects()
        .map(|id| (half(page_id(project, index.key(id))), id))
        .collect();
    let mut since = HashMap::new();
    let mut seen = 0;
    while let Some(id) = previous.take().filter(|_| !open.is_empty()) {
        let Ok(id) = Uuid::try_parse(&id) else { break };
        let mut tx = db.read().await?;
        let Some(pages) = snapshots::pages(&mut tx, scope, id).await? else {
            break;
        };
        let before = audits::get(&mut tx, scope, id).await?;
        drop(tx);
        let temporary: HashSet<u64> = pages
            .iter()
            .filter(|mark| matches!(mark.status, 302 | 303 | 307))
            .map(|mark| mark.page)
            .collect();
        open.retain(|page, _| temporary.contains(page));
        let began = before.started_at.unwrap_or(before.requested_at).millis();
        seen += 1;
        if seen >= least {
            since.extend(open.values().map(|id| (*id, began)));
        }
        previous = before.previous_audit_id;
    }
    index.redirected_before(since);
    Ok(())
}
