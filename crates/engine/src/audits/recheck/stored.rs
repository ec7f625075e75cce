//! The crawl of an audit as it is kept, with what rechecks have fetched since in its place.

use std::{collections::HashMap, time::Duration};

use searchwright_site::{
    crawl::{Config, Resume, let_others_run},
    origin::Origin,
    page::UrlId,
};
use searchwright_store::{Db, access::ProjectScope, crawls};
use uuid::Uuid;

use super::super::batches::{Saved, unpack};
use crate::{failure::defect, jobs::JobError};

/// Where batches of rechecks begin among those of their audit: they hold what is newer.
pub(in crate::audits) const OVERLAY: u32 = 1_000_000;

async fn batch(db: &Db, scope: ProjectScope, audit: Uuid, number: u32) -> Result<Option<Saved>, JobError> {
    let data = crawls::find_batch(&mut db.read().await?, scope, audit, number).await?;
    Ok(data.map(|data| unpack(&data)).transpose()?)
}

/// The key of the page that the start URL ended at. What is known of the site beside its pages comes with the first batch.
pub(super) async fn home(db: &Db, scope: ProjectScope, audit: Uuid) -> Result<Option<String>, JobError> {
    let mut home: Option<UrlId> = None;
    for number in 0.. {
        let Some((origin, discovered, _)) = batch(db, scope, audit, number).await? else {
            break;
        };
        home = home.or(origin.map(|origin| origin.home));
        let found = discovered.into_iter().find(|url| Some(url.id) == home);
        if found.is_some() || home.is_none() {
            return Ok(found.map(|url| url.key.into()));
        }
    }
    Ok(None)
}

/// The crawl, ready to go on; `None` when it is gone. Without what is known of the site beside its pages that is learnt again.
pub(super) async fn crawl(
    db: &Db,
    scope: ProjectScope,
    audit: Uuid,
    config: &Config,
    with_origin: bool,
) -> Result<Option<Resume>, JobError> {
    let mut overlays = Vec::new();
    let mut newest = HashMap::new();
    while let Some(saved) = batch(db, scope, audit, OVERLAY + overlays.len() as u32).await? {
        newest.extend(saved.2.iter().map(|page| (page.id, overlays.len())));
        overlays.push(saved);
    }
    let mut resume = Resume::new(config, with_origin.then(Origin::default), Duration::ZERO);
    let load = |number| {
        let db = db.clone();
        tokio::spawn(async move { batch(&db, scope, audit, number).await })
    };
    let (mut count, mut next) = (0, load(0));
    while let Some(saved) = next.await.map_err(|e| defect("saved crawl", e))?? {
        count += 1;
        // the next one is read and unpacked meanwhile
        next = load(count);
        let_others_run();
        add(&mut resume, saved, with_origin, |page| !newest.contains_key(page))?;
    }
    for (number, saved) in overlays.into_iter().enumerate() {
        add(&mut resume, saved, with_origin, |page| {
            newest.get(page) == Some(&number)
        })?;
    }
    Ok((count > 0).then_some(resume))
}

fn add(
    resume: &mut Resume,
    (origin, discovered, pages): Saved,
    with_origin: bool,
    current: impl Fn(&UrlId) -> bool,
) -> Result<(), JobError> {
    if let Some(origin) = origin.filter(|_| with_origin) {
        resume.origin(origin);
    }
    for url in &discovered {
        resume.url(url).map_err(|e| defect("saved crawl", e))?;
    }
    for page in pages.iter().filter(|page| current(&page.id)) {
        resume.page(page).map_err(|e| defect("saved crawl", e))?;
    }
    Ok(())
}
