//! Stored sources of a post, and the competitors that its text may speak of.

use searchwright_contract::{brand::Item, competitors::Competitor, ids::PostId};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    brand::{self, Resource},
    posts,
};
use searchwright_writing::{assessment::sources::Sources, rivals::Rival};

use crate::failure::{Result, defect};

/// Competitors of a project, at most (domain rule).
const MAX_ITEMS: u32 = 2_000;

/// Loads the sources of a post; none if no job wrote the post.
pub(crate) async fn load(tx: &mut Tx, scope: ProjectScope, post: PostId) -> Result<Sources> {
    let kept = posts::find_sources(tx, scope, post).await?;
    kept.map_or_else(
        || Ok(Sources::default()),
        |kept| serde_json::from_value(kept).map_err(|e| defect("sources of a post", e)),
    )
}

/// Stores the sources of a post.
pub(crate) async fn save(tx: &mut Tx, scope: ProjectScope, post: PostId, sources: &Sources) -> Result<()> {
    let kept = serde_json::to_value(sources).map_err(|e| defect("sources of a post", e))?;
    Ok(posts::save_sources(tx, scope, post, &kept).await?)
}

/// Loads the competitors: a text that a model wrote may only claim what their records say. None for other texts.
pub(super) async fn rivals(tx: &mut Tx, scope: ProjectScope, sources: &Sources) -> Result<Vec<Rival>> {
    if !sources.traces {
        return Ok(Vec::new());
    }
    let items: Vec<Item<Competitor>> = brand::list(tx, scope, Resource::Competitors, None, MAX_ITEMS).await?;
    Ok(items.into_iter().map(|item| item.data.into()).collect())
}
