//! A CMS without the product: what is later concluded from its answers has to be true of it.

use anyhow::{Context, Result, ensure};

use super::cms::{ADDED, Cms, Status};

/// Makes a post, changes it and removes it.
pub(super) fn check(cms: &dyn Cms) -> Result<String> {
    let before = cms.items()?.len();
    let title = "By somebody else";
    let id = cms.add(title, "by-somebody-else").context("add")?;
    let made = cms.only(title)?;
    ensure!(
        made.id == id && made.status == Status::Live && made.slug == "by-somebody-else",
        "made {made:?}"
    );
    cms.edit(&made).context("edit")?;
    let edited = cms.only(title)?;
    ensure!(
        edited.content.contains(ADDED) && edited.status == Status::Live,
        "edited {edited:?}"
    );
    cms.files().context("files")?;
    cms.delete(&id).context("delete")?;
    let after = cms.items()?.len();
    ensure!(after == before, "{before} posts became {after}");
    Ok(format!("at {}", cms.address()))
}
