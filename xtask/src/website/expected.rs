//! Findings that an audit of the site must have: the planted faults by their URLs, and nothing else of these
//! kinds.

use serde::{Deserialize, Serialize};

use super::{
    Order, VERSION,
    plan::{CHAIN, Fault, LOOP, Plan},
};

/// Content of `expected.json`. All URLs are absolute, all lists in the order of the pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expected {
    /// [`VERSION`] of the generator.
    pub version: u32,
    /// HTML pages, orphans included.
    pub pages: u32,
    /// Seed of the order.
    pub seed: u64,
    /// Port of the order.
    pub port: u16,
    /// Scheme, host and port of every URL.
    pub origin: String,
    /// Size of all pages together in bytes.
    pub bytes: u64,
    /// Links to pages that are not there, one to a page.
    pub broken_links: Vec<Planted>,
    /// Every redirect there is, those of chain and loop included.
    pub redirects: Vec<Redirect>,
    /// The chain's hops in order, then the page it ends at.
    pub redirect_chain: Vec<String>,
    /// The loop's hops in order; the last leads to the first.
    pub redirect_loop: Vec<String>,
    /// Pairs of pages with one title.
    pub duplicate_titles: Vec<[String; 2]>,
    /// Pairs of pages with the same `main`, byte for byte (so with the same `h1`).
    pub duplicate_bodies: Vec<[String; 2]>,
    /// Pages without a meta description.
    pub missing_descriptions: Vec<String>,
    /// Pages with `noindex`; not in the sitemap.
    pub noindex: Vec<String>,
    /// Pages in the sitemap that no page links to.
    pub orphans: Vec<String>,
}

/// A faulty link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planted {
    /// Page that carries the link.
    pub page: String,
    /// Target of the link.
    pub target: String,
}

/// A redirect the server answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Redirect {
    /// Address that is redirected.
    pub url: String,
    /// 301 or 302.
    pub status: u16,
    /// Target of the redirect.
    pub target: String,
    /// Pages that link to `url`; none for the later hops of chain and loop.
    pub linked_from: Option<String>,
}

impl Expected {
    pub(super) fn new(plan: &Plan, bytes: u64) -> Self {
        let origin = plan.origin();
        let at = |path: &str| format!("{origin}{path}");
        let pair = |page: usize| [plan.url(page - 1), plan.url(page)];
        let urls = |fault| plan.with(fault).map(|page| plan.url(page)).collect();
        let links = |fault| {
            plan.with(fault).filter_map(|page| {
                Some(Planted {
                    page: plan.url(page),
                    target: at(&plan.planted_link(page)?),
                })
            })
        };
        Self {
            version: VERSION,
            pages: plan.order.pages,
            seed: plan.order.seed,
            port: plan.order.port,
            bytes,
            broken_links: links(Fault::BrokenLink).collect(),
            redirects: redirects(plan),
            redirect_chain: CHAIN
                .iter()
                .map(|hop| at(hop))
                .chain(chain_end(plan).map(|page| plan.url(page)))
                .collect(),
            redirect_loop: LOOP.iter().map(|hop| at(hop)).collect(),
            duplicate_titles: plan.with(Fault::DuplicateTitle).map(pair).collect(),
            duplicate_bodies: plan.with(Fault::DuplicateBody).map(pair).collect(),
            missing_descriptions: urls(Fault::NoDescription),
            noindex: urls(Fault::NoIndex),
            orphans: urls(Fault::Orphan),
            origin,
        }
    }

    /// The order of the site.
    pub fn order(&self) -> Order {
        Order {
            pages: self.pages,
            seed: self.seed,
            port: self.port,
        }
    }
}

fn chain_end(plan: &Plan) -> Option<usize> {
    plan.with(Fault::RedirectChain)
        .next()
        .map(|page| plan.redirect_target(page))
}

/// Every redirect there is.
pub(super) fn redirects(plan: &Plan) -> Vec<Redirect> {
    let origin = plan.origin();
    let single = |fault, status| {
        plan.with(fault).filter_map(move |page| {
            Some(Redirect {
                url: format!("{}{}", plan.origin(), plan.planted_link(page)?),
                status,
                target: plan.url(plan.redirect_target(page)),
                linked_from: Some(plan.url(page)),
            })
        })
    };
    let hops = |fault, hops: &[&str], end: Option<String>| -> Vec<Redirect> {
        let linked = plan.with(fault).next().map(|page| plan.url(page));
        let targets = hops.iter().skip(1).map(|hop| format!("{origin}{hop}")).chain(end);
        hops.iter()
            .zip(targets)
            .enumerate()
            .map(|(place, (hop, target))| Redirect {
                url: format!("{origin}{hop}"),
                status: 301,
                target,
                linked_from: linked.clone().filter(|_| place == 0),
            })
            .collect()
    };
    single(Fault::PermanentRedirect, 301)
        .chain(single(Fault::TemporaryRedirect, 302))
        .chain(hops(
            Fault::RedirectChain,
            &CHAIN,
            chain_end(plan).map(|page| plan.url(page)),
        ))
        .chain(hops(
            Fault::RedirectLoop,
            &LOOP,
            Some(format!("{origin}{}", LOOP[0])),
        ))
        .collect()
}
