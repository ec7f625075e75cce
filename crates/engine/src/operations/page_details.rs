//! Details of one page from the newest audit, with the links to it and from it.

use std::collections::HashSet;

use searchwright_contract::{
    ids::PageId,
    missing::MissingReason,
    pages::{FoundBy, Page, PageDetail, PageFacts, PageHeading, PageIssue, PageLink, PageLinks},
};
use searchwright_crawls::{
    page_links::{self, MAX_SHOWN, Place},
    stored_batch::unpack_pages,
};
use searchwright_site::{
    page::{self as read, Outcome, REL_NOFOLLOW, UrlId, directives},
    urls::provenance,
};
use searchwright_store::{Tx, access::ProjectScope, crawls, pages};
use url::Url;
use uuid::Uuid;

use crate::failure::{Failure, Result, defect};

/// Bytes of URLs and texts of links in an answer, at most: a URL may be 8 KB long.
const MAX_BYTES: usize = 32 * 1024;
/// Headings shown.
const HEADINGS: usize = 20;

/// Loads the details of a page.
pub(super) async fn load(
    tx: &mut Tx,
    scope: ProjectScope,
    id: PageId,
    page: Page,
    issues: Vec<PageIssue>,
) -> Result<PageDetail> {
    let audit = pages::get_audit(tx, scope, id).await?;
    let mut detail = PageDetail {
        page,
        issues,
        facts: None,
        links_in: None,
        links_out: None,
        found_by: Vec::new(),
        links_status: Some(MissingReason::NotMeasured),
    };
    let Some(place) = page_links::find(tx, scope, audit, &[id]).await?.pop().flatten() else {
        return Ok(detail);
    };
    let mut batches: Vec<u32> = place.sources.iter().map(|(batch, _)| *batch).collect();
    batches.push(place.batch);
    batches.sort_unstable();
    batches.dedup();
    let stored = crawls::find_batches(tx, scope, audit, &batches).await?;
    // The next audit has ended meanwhile and deleted the batches.
    let Some(stored) = stored.into_iter().collect::<Option<Vec<_>>>() else {
        return Ok(detail);
    };
    let project = scope.project();
    let (inlinks, provenance) = (place.inlinks, place.provenance);
    // Unpacking batches of hundreds of pages would block a thread of the runtime.
    let reading = tokio::task::spawn_blocking(move || {
        let mut seen = Seen::default();
        let wanted = |id| id == place.id || place.sources.iter().any(|(_, source)| *source == id);
        for data in stored {
            let pages = unpack_pages(&data, wanted)?;
            pages.iter().for_each(|facts| seen.take(facts, &place, project));
        }
        Ok::<_, Failure>(seen)
    });
    let seen = reading.await.map_err(|e| defect("page", e))??;
    let targets: Vec<PageId> = seen
        .targets
        .iter()
        .map(|target| page_links::page_of(project, target))
        .collect();
    let places = page_links::find(tx, scope, audit, &targets).await?;
    let mut links_out = seen.links_out;
    for (link, (target, place)) in links_out.data.iter_mut().zip(targets.iter().zip(places)) {
        let Some(place) = place else { continue };
        link.page_id = place.internal.then_some(*target);
        link.status_code = Some(place.status).filter(|status| *status != 0);
        link.failure = match link.status_code {
            Some(_) => None,
            None if place.blocked => Some("blocked".to_owned()),
            None => Some("no_answer".to_owned()),
        };
    }
    detail.facts = seen.facts;
    detail.links_in = Some(PageLinks {
        total: inlinks,
        data: bounded(seen.links_in),
    });
    links_out.data = bounded(links_out.data);
    detail.links_out = Some(links_out);
    detail.found_by = found_by(provenance);
    detail.links_status = None;
    Ok(detail)
}

/// Facts and links found in the batches.
#[derive(Default)]
struct Seen {
    facts: Option<PageFacts>,
    links_in: Vec<PageLink>,
    links_out: PageLinks,
    /// Targets of `links_out`.
    targets: Vec<Url>,
}

impl Seen {
    fn take(&mut self, page: &read::PageFacts, place: &Place, project: Uuid) {
        if page.id == place.id {
            self.own(page);
        }
        if place.sources.iter().any(|(_, source)| *source == page.id)
            && let Some(link) = source(page, place.id, project)
        {
            self.links_in.push(link);
        }
    }

    fn own(&mut self, page: &read::PageFacts) {
        if matches!(page.outcome, Outcome::Status(_) | Outcome::Redirect { .. }) {
            self.facts = Some(facts(page));
        }
        let (Some(html), Ok(url)) = (&page.html, Url::parse(&page.url)) else {
            return;
        };
        self.links_out.total = html.links_total;
        let base = html.base.as_ref().and_then(|base| url.join(base).ok());
        let base = base.unwrap_or(url);
        let nofollow = directives(page).nofollow();
        let mut known = HashSet::new();
        for link in html.links.iter().filter(|link| link.target.is_some()) {
            if self.targets.len() == MAX_SHOWN {
                break;
            }
            let Ok(mut target) = base.join(link.href.trim()) else {
                continue;
            };
            target.set_fragment(None);
            if known.insert(link.target) {
                self.links_out.data.push(PageLink {
                    page_id: None,
                    url: target.to_string(),
                    anchor: link.anchor.to_owned(),
                    followable: !nofollow && link.flags & REL_NOFOLLOW == 0,
                    status_code: None,
                    failure: Some("not_fetched".to_owned()),
                });
                self.targets.push(target);
            }
        }
    }
}

/// Returns the link from a page to another; of several links the first without `nofollow`.
fn source(page: &read::PageFacts, to: UrlId, project: Uuid) -> Option<PageLink> {
    let nofollow = directives(page).nofollow();
    let links = page.html.iter().flat_map(|html| html.links.iter());
    let link = links
        .filter(|link| link.target == Some(to))
        .min_by_key(|link| link.flags & REL_NOFOLLOW)?;
    let url = Url::parse(&page.url).ok()?;
    Some(PageLink {
        page_id: Some(page_links::page_of(project, &url)),
        url: page.url.to_string(),
        anchor: link.anchor.to_owned(),
        followable: !nofollow && link.flags & REL_NOFOLLOW == 0,
        status_code: page.status(),
        failure: None,
    })
}

fn bounded(mut links: Vec<PageLink>) -> Vec<PageLink> {
    let mut bytes = 0;
    let fit = links.iter().take_while(|link| {
        bytes += link.url.len() + link.anchor.len();
        bytes <= MAX_BYTES
    });
    links.truncate(fit.count());
    links
}

fn facts(page: &read::PageFacts) -> PageFacts {
    let html = page.html.as_deref();
    let directives = directives(page);
    let canonicals = html.iter().flat_map(|html| &html.canonicals);
    PageFacts {
        content_type: page.headers.content_type.as_deref().map(str::to_owned),
        ttfb_ms: page.ttfb_ms,
        bytes: page.body_bytes,
        location: match &page.outcome {
            Outcome::Redirect { location, .. } => location.as_deref().map(str::to_owned),
            _ => None,
        },
        language: html.and_then(|html| html.lang.as_deref()).map(str::to_owned),
        description: html
            .and_then(|html| html.metas.iter().find(|meta| &*meta.name == "description"))
            .map(|meta| meta.content.to_string()),
        canonical: canonicals
            .chain(&page.headers.canonicals)
            .next()
            .map(|link| link.href.to_string()),
        robots: (directives.meta.values.iter())
            .chain(&directives.header.values)
            .map(ToString::to_string)
            .collect(),
        headings: html
            .iter()
            .flat_map(|html| html.headings.iter().take(HEADINGS))
            .map(|heading| PageHeading {
                level: heading.level,
                text: heading.text.to_string(),
            })
            .collect(),
        headings_total: html.map_or(0, |html| html.headings_total),
        images: html.map_or(0, |html| html.images_total),
        images_without_alt: html.map_or(0, |html| html.images_without_alt),
        json_ld_blocks: html.map_or(0, |html| html.json_ld.len() as u32),
        excerpt: html.map(|html| html.excerpt.to_string()),
    }
}

fn found_by(bits: u8) -> Vec<FoundBy> {
    [
        (provenance::LINK, FoundBy::Link),
        (provenance::SITEMAP, FoundBy::Sitemap),
        (provenance::CANONICAL, FoundBy::Canonical),
        (provenance::HREFLANG, FoundBy::Hreflang),
        (provenance::REDIRECT, FoundBy::Redirect),
        (provenance::PREVIOUS, FoundBy::PreviousAudit),
        (provenance::POST, FoundBy::Post),
        (provenance::GSC, FoundBy::Gsc),
    ]
    .into_iter()
    .filter_map(|(bit, word)| (bits & bit != 0).then_some(word))
    .collect()
}
