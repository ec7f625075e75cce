//! Which pages may be linked to by one that gave no answer. That a page is an orphan, or has a single link, is told at once
//! only where all answered; else when the audit before saw no more links to it either.

use searchwright_contract::audits::Audit;
use searchwright_site::{graph::Index, page::UrlId};
use searchwright_store::{Db, access::ProjectScope};
use uuid::Uuid;

use super::{JobError, analysis::evaluate::page_id, audit::previous, page_links};

/// Pages that are looked up in the audit before; of more, which is how some sites are built, all stay in doubt.
const MOST: usize = 20_000;

/// Notes them in the index of a crawl.
pub(super) async fn note(
    db: &Db,
    scope: ProjectScope,
    audit: &Audit,
    index: &mut Index,
) -> Result<(), JobError> {
    let mut all = Vec::new();
    for (most, mut doubtful) in (0..).zip(index.doubtful_inlinks()) {
        if let Some(previous) = previous(audit).filter(|_| (1..=MOST).contains(&doubtful.len())) {
            let page = |id: &UrlId| page_id(scope.project(), index.key(*id));
            let pages: Vec<Uuid> = doubtful.iter().map(page).collect();
            let before = page_links::find(&mut db.read().await?, scope, previous, &pages).await?;
            let mut before = before.into_iter();
            doubtful.retain(|_| {
                let before = before.next().flatten();
                before.is_none_or(|place| place.others() > most)
            });
        }
        all.append(&mut doubtful);
    }
    index.doubt(all);
    Ok(())
}
