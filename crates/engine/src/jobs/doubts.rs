//! Which pages may be linked to by one that gave no answer. That a page is an orphan, or has a single link, is told at once
//! only where all answered; else when the audit before saw no more links to it either.

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
    let mut doubtful = index.doubtful_inlinks();
    if let Some(previous) = previous(audit).filter(|_| !doubtful.is_empty()) {
        let page = |id| page_id(scope.project(), index.key(id));
        let pages: Vec<Uuid> = doubtful.iter().map(|(id, _)| page(*id)).collect();
        let before = page_links::find(&mut db.read().await?, scope, previous, &pages).await?;
        let mut before = before.into_iter();
        doubtful.retain(|(_, now)| {
            let before = before.next().flatten();
            before.is_none_or(|place| place.others() > *now)
        });
    }
    index.doubt(doubtful.into_iter().map(|(id, _)| id));
    Ok(())
}
