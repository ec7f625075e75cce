//! A CMS without the product, so that later conclusions from its answers are sound.

use anyhow::{Context, Result, ensure};

use super::cms::{ADDED, Cms, ItemStatus};

/// Makes a post, changes it and removes it.
pub(super) fn check(cms: &dyn Cms) -> Result<String> {
    let before = cms.list_items()?.len();
    let title = "By somebody else";
    let id = cms.add_post(title, "by-somebody-else").context("add")?;
    let made = cms.find_only_post(title)?;
    ensure!(
        made.id == id && made.status == ItemStatus::Live && made.slug == "by-somebody-else",
        "made {made:?}"
    );
    cms.edit_post(&made).context("edit")?;
    let edited = cms.find_only_post(title)?;
    ensure!(
        edited.content.contains(ADDED) && edited.status == ItemStatus::Live,
        "edited {edited:?}"
    );
    cms.count_files().context("files")?;
    cms.delete_post(&id).context("delete")?;
    let after = cms.list_items()?.len();
    ensure!(after == before, "{before} posts became {after}");
    Ok(format!("at {}", cms.address()))
}
