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

/// Notes in the index which of its temporary redirects the audit before saw too, and since when they have been seen in
/// every one.
pub(super) async fn note(
    db: &Db,
    scope: ProjectScope,
    audit: &Audit,
    index: &mut Index,
) -> Result<(), JobError> {
    let project = scope.project();
    let mut open: HashMap<u64, _> = index
        .temporary_redirects()
        .map(|id| (half(page_id(project, index.key(id))), id))
        .collect();
    let mut since = HashMap::new();
    let mut previous = audit.previous_audit_id.clone();
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
        since.extend(open.values().map(|id| (*id, began)));
        previous = before.previous_audit_id;
    }
    index.redirected_before(since);
    Ok(())
}
