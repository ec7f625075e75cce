//! What the project calls its brand, which no crawl knows.

use searchwright_site::graph::Index;
use searchwright_store::{Db, access::ProjectScope, brand};

use super::JobError;

/// Notes it in the index, if anybody has set it.
pub(super) async fn note(db: &Db, scope: ProjectScope, index: &mut Index) -> Result<(), JobError> {
    let stored = brand::profile(&mut db.read().await?, scope).await?;
    index.brand(stored.as_ref().map(|stored| &*stored.profile.name));
    Ok(())
}
