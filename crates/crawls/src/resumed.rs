//! The stored crawl of an audit, in which pages that rechecks have fetched since replace the older ones.

use std::{collections::HashMap, time::Duration};

use searchwright_contract::ids::AuditId;
use searchwright_failure::{Failure, defect};
use searchwright_site::{
    crawl::{Config, Resume, let_others_run},
    origin::Origin,
    page::UrlId,
};
use searchwright_store::{Db, access::ProjectScope, crawls};

use crate::stored_batch::{StoredBatch, unpack};

/// Number of the first batch of rechecks among the batches of their audit. These hold newer versions of pages.
pub const OVERLAY: u32 = 1_000_000;

async fn batch(
    db: &Db,
    scope: ProjectScope,
    audit: AuditId,
    number: u32,
) -> Result<Option<StoredBatch>, Failure> {
    let data = crawls::find_batch(&mut db.read().await?, scope, audit, number).await?;
    data.map(|data| unpack(&data)).transpose()
}

/// Returns the key of the page that the start URL ended at. The facts about the site come with the first batch.
pub async fn home(db: &Db, scope: ProjectScope, audit: AuditId) -> Result<Option<String>, Failure> {
    let mut home: Option<UrlId> = None;
    for number in 0.. {
        let Some(batch) = batch(db, scope, audit, number).await? else {
            break;
        };
        home = home.or(batch.origin.map(|origin| origin.home));
        let found = batch.discovered.into_iter().find(|url| Some(url.id) == home);
        if found.is_some() || home.is_none() {
            return Ok(found.map(|url| url.key.into()));
        }
    }
    Ok(None)
}

/// Loads the crawl so that it can be resumed; `None` if it was deleted. If `with_origin` is false, the facts about the site are
/// fetched again.
pub async fn crawl(
    db: &Db,
    scope: ProjectScope,
    audit: AuditId,
    config: &Config,
    with_origin: bool,
) -> Result<Option<Resume>, Failure> {
    let mut overlays = Vec::new();
    let mut newest = HashMap::new();
    while let Some(saved) = batch(db, scope, audit, OVERLAY + overlays.len() as u32).await? {
        newest.extend(saved.pages.iter().map(|page| (page.id, overlays.len())));
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
    batch: StoredBatch,
    with_origin: bool,
    current: impl Fn(&UrlId) -> bool,
) -> Result<(), Failure> {
    if let Some(origin) = batch.origin.filter(|_| with_origin) {
        resume.origin(origin);
    }
    for url in &batch.discovered {
        resume.url(url).map_err(|e| defect("saved crawl", e))?;
    }
    for page in batch.pages.iter().filter(|page| current(&page.id)) {
        resume.page(page).map_err(|e| defect("saved crawl", e))?;
    }
    Ok(())
}
