//! Which pages may be linked to by one that gave no answer. That a page is an orphan is told at once only where all answered;
//! else when the audit before saw no link to it either.

use searchwright_contract::audits::Audit;
use searchwright_site::graph::Index;
use searchwright_store::{Db, access::ProjectScope};
use uuid::Uuid;

use super::{JobError, analysis::evaluate::page_id, audit::previous, page_links};

/// Notes them in the index of a crawl.
pub(super) async fn note(
    db: &Db,
    scope: ProjectScope,
    audit: &Audit,
    index: &mut Index,
) -> Result<(), JobError> {
    let mut doubtful = index.doubtful_orphans();
    if let Some(previous) = previous(audit).filter(|_| !doubtful.is_empty()) {
        let page = |id| page_id(scope.project(), index.key(id));
        let pages: Vec<Uuid> = doubtful.iter().map(|id| page(*id)).collect();
        let before = page_links::find(&mut db.read().await?, scope, previous, &pages).await?;
        let mut before = before.into_iter();
        doubtful.retain(|_| !before.next().flatten().is_some_and(|place| place.is_unlinked()));
    }
    index.doubt(doubtful);
    Ok(())
}
