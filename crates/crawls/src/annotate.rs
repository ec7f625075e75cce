//! Adds to the index of a crawl what no crawl can know: the brand, keywords of published posts, and what earlier audits saw.
//! Audits and rechecks call the same function before pages are evaluated.

use std::collections::{HashMap, HashSet};

use searchwright_contract::{
    audits::Audit,
    ids::{AuditId, PageId},
};
use searchwright_failure::Failure;
use searchwright_site::{
    checks,
    graph::{PageFlags, SiteGraph, State},
    page::UrlId,
};
use searchwright_store::{
    Db,
    access::ProjectScope,
    audits, brand, keywords,
    snapshots::{self, id_prefix},
};

use crate::{
    ids::{issue_id, page_id, url_key_of},
    page_links,
};

/// Pages with doubtful inlinks that are looked up in the previous audit; of more, which is how some sites are built, all
/// stay doubtful.
const MAX_DOUBTFUL: usize = 20_000;

/// The kind of crawl that is annotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crawled {
    /// The crawl of the audit itself.
    Audit,
    /// The crawl of the audit with some pages fetched again.
    Recheck,
}

/// Annotates the index of a crawl of this audit.
pub async fn annotate(
    db: &Db,
    scope: ProjectScope,
    audit: &Audit,
    crawled: Crawled,
    index: &mut SiteGraph,
) -> Result<(), Failure> {
    let redirects = match crawled {
        Crawled::Audit => previous_redirects(db, scope, index, audit.previous_audit_id, 1).await?,
        // A recheck is no audit itself: the audit and the one before it have to have seen the redirect.
        Crawled::Recheck => previous_redirects(db, scope, index, Some(audit.id), 2).await?,
    };
    index.set_temporary_redirects(redirects);
    let silent = previously_unresponsive(db, scope, audit.previous_audit_id).await?;
    if !silent.is_empty() {
        index.set_silent(fetched_among(scope, index, &silent));
    }
    let doubtful = uncertain_inlinks(db, scope, audit, index).await?;
    index.set_uncertain_inlinks(doubtful);
    index.set_keyword_targets(pages_by_keyword(db, scope).await?);
    let stored = brand::find_profile(&mut db.read().await?, scope).await?;
    index.set_brand(stored.as_ref().map(|stored| &*stored.profile.name));
    Ok(())
}

/// Returns since when (Unix milliseconds) each temporary redirect of the index has been seen in every audit, going back
/// from `audit`; only those that at least `least` audits have seen.
async fn previous_redirects(
    db: &Db,
    scope: ProjectScope,
    index: &SiteGraph,
    mut audit: Option<AuditId>,
    least: usize,
) -> Result<HashMap<UrlId, i64>, Failure> {
    let project = scope.project();
    let mut open: HashMap<u64, _> = index
        .temporary_redirects()
        .map(|id| (id_prefix(page_id(project, index.key(id))), id))
        .collect();
    let mut since = HashMap::new();
    let mut seen = 0;
    while let Some(id) = audit.take().filter(|_| !open.is_empty()) {
        let mut tx = db.read().await?;
        let Some(pages) = snapshots::find_pages(&mut tx, scope, id).await? else {
            break;
        };
        let before = audits::get(&mut tx, scope, id).await?;
        drop(tx);
        let temporary: HashSet<u64> = pages
            .iter()
            .filter(|mark| matches!(mark.status, 302 | 303 | 307))
            .map(|mark| mark.page)
            .collect();
        open.retain(|page, _| temporary.contains(page));
        let began = before.started_at.unwrap_or(before.requested_at).millis();
        seen += 1;
        if seen >= least {
            since.extend(open.values().map(|id| (*id, began)));
        }
        audit = before.previous_audit_id;
    }
    Ok(since)
}

/// Returns the halves of the ids of the pages that gave no response in that audit. A page that fails twice counts in the
/// health score, a page that fails once does not.
pub async fn previously_unresponsive(
    db: &Db,
    scope: ProjectScope,
    audit: Option<AuditId>,
) -> Result<HashSet<u64>, Failure> {
    let Some(audit) = audit else {
        return Ok(HashSet::new());
    };
    let mut found = HashSet::new();
    for check in checks::registry().iter().filter(|check| check.counts_if_repeated) {
        let issue = issue_id(scope.project(), check.id);
        found.extend(snapshots::list_issue_pages(&mut db.read().await?, scope, audit, issue).await?);
    }
    Ok(found)
}

/// Returns the pages of the site that the crawl fetched, of those with such halves of ids.
fn fetched_among(scope: ProjectScope, index: &SiteGraph, halves: &HashSet<u64>) -> Vec<UrlId> {
    let is_fetched = |id: &UrlId| index.has(*id, PageFlags::INTERNAL) && index.state(*id) != State::Known;
    (0..u32::try_from(index.len()).unwrap_or(u32::MAX))
        .map(UrlId)
        .filter(is_fetched)
        .filter(|id| halves.contains(&id_prefix(page_id(scope.project(), index.key(*id)))))
        .collect()
}

/// Returns the pages whose inlink count is only a lower bound, because a page that did not answer may link to them, and
/// the previous audit does not show that it does not. "Orphan page" and "single inlink" are not reported on them.
async fn uncertain_inlinks(
    db: &Db,
    scope: ProjectScope,
    audit: &Audit,
    index: &SiteGraph,
) -> Result<Vec<UrlId>, Failure> {
    let mut all = Vec::new();
    for (most, mut doubtful) in (0..).zip(index.doubtful_inlinks()) {
        if let Some(previous) = audit
            .previous_audit_id
            .filter(|_| (1..=MAX_DOUBTFUL).contains(&doubtful.len()))
        {
            let page = |id: &UrlId| page_id(scope.project(), index.key(*id));
            let pages: Vec<PageId> = doubtful.iter().map(page).collect();
            let before = page_links::find(&mut db.read().await?, scope, previous, &pages).await?;
            let mut before = before.into_iter();
            doubtful.retain(|_| {
                let before = before.next().flatten();
                before.is_none_or(|place| place.others() > most)
            });
        }
        all.append(&mut doubtful);
    }
    Ok(all)
}

/// Returns URL keys of pages that were published for the same keyword, with the keyword.
async fn pages_by_keyword(db: &Db, scope: ProjectScope) -> Result<Vec<(String, Vec<String>)>, Failure> {
    let mut last = None;
    let mut pages: Vec<(String, Vec<String>)> = Vec::new();
    for (id, keyword, url) in keywords::list_published_twice(&mut db.read().await?, scope).await? {
        let Some(key) = url_key_of(&url) else { continue };
        if last.replace(id) != Some(id) {
            pages.push((keyword, Vec::new()));
        }
        if let Some((_, keys)) = pages.last_mut() {
            keys.push(key);
        }
    }
    Ok(pages)
}
