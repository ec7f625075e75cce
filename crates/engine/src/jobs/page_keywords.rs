//! Which pages of a crawl were published for the same keyword.

use searchwright_site::{graph::Index, url_key::url_key};
use searchwright_store::{Db, access::ProjectScope, keywords};
use url::Url;

use super::JobError;

/// Notes them in the index.
pub(super) async fn note(db: &Db, scope: ProjectScope, index: &mut Index) -> Result<(), JobError> {
    let mut last = None;
    let mut pages: Vec<(String, Vec<String>)> = Vec::new();
    for (id, keyword, url) in keywords::published_twice(&mut db.read().await?, scope).await? {
        let Ok(url) = Url::parse(&url) else { continue };
        if last.replace(id) != Some(id) {
            pages.push((keyword, Vec::new()));
        }
        if let Some((_, keys)) = pages.last_mut() {
            keys.push(url_key(&url).into_owned());
        }
    }
    index.aim(pages);
    Ok(())
}
