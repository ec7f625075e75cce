//! Arguments of the functions of checks.

use std::cell::OnceCell;

use serde_json::Value;

use super::{
    Check, Rules,
    evidence::MAX_PAGES,
    schema::{self, Item, Markup},
    url_parts::{authority, host, path_and_query},
    word_lists::Bots,
};
use crate::{
    graph::{PageFlags, SiteGraph, State},
    http_status::is_bot_refusal,
    origin::Origin,
    page::{Directives, HtmlFacts, LINK_CODE, Link, PageFacts, UrlId, base_url, directives, resolve_http},
    private_network,
    resources::{Resource, needed_by},
    robots::{Agent, Robots, Rule},
    thresholds::Thresholds,
    url_key::Base,
};

/// Data shared by all pages of an audit, created once.
#[derive(Debug)]
pub struct Context<'a> {
    /// Graph of the crawl.
    pub index: &'a SiteGraph,
    /// Facts of the site beside its pages.
    pub origin: &'a Origin,
    /// Thresholds of the conditions.
    pub thresholds: &'a Thresholds,
    /// Checks that are evaluated.
    pub(super) checks: &'a [&'static Check],
    /// Time of the audit in milliseconds since the Unix epoch.
    pub now_ms: i64,
    /// Whether only a private network knows the site, so that nobody outside could read or change what is sent.
    pub(super) is_private_site: bool,
    /// Rules for Googlebot.
    pub(super) googlebot: Agent,
    /// Rules for bots of AI search engines.
    pub(super) search_bots: Bots,
    /// Rules for bots that fetch pages on behalf of users.
    pub(super) user_bots: Bots,
    /// Rules for bots that collect training data.
    pub(super) training_bots: Bots,
}

impl<'a> Context<'a> {
    /// Parses the rules of robots.txt for each bot that checks need.
    pub fn new(index: &'a SiteGraph, origin: &'a Origin, rules: &'a Rules, now_ms: i64) -> Self {
        let robots = Robots::parse(&origin.robots.text);
        Self {
            index,
            origin,
            thresholds: &rules.thresholds,
            checks: &rules.checks,
            now_ms,
            is_private_site: private_network::is_private(&origin.root),
            googlebot: robots.agent("Googlebot"),
            search_bots: Bots::search(&robots),
            user_bots: Bots::user(&robots),
            training_bots: Bots::training(&robots),
        }
    }

    /// Whether the crawl left nothing out, so that a page it did not see does not exist.
    pub(super) fn complete(&self) -> bool {
        self.index.complete()
    }

    pub(super) fn is_internal(&self, id: UrlId) -> bool {
        self.index.has(id, PageFlags::INTERNAL)
    }

    /// Returns the status of a URL if it is an error. A status with which other sites refuse bots does not count.
    pub(super) fn error(&self, id: UrlId) -> Option<u16> {
        let proven = |status: &u16| *status >= 400 && (self.is_internal(id) || !is_bot_refusal(*status));
        self.index.status(id).filter(proven)
    }

    /// Whether a URL is on the host whose robots.txt is known.
    pub(super) fn is_at_root(&self, url: &str) -> bool {
        authority(url).eq_ignore_ascii_case(authority(&self.origin.root))
    }

    /// Returns the rule that forbids a URL to Googlebot; the rules of other hosts are unknown.
    pub(super) fn forbids_googlebot(&self, url: &str) -> Option<&Rule> {
        if !self.googlebot.forbids_anything() || !self.is_at_root(url) {
            return None;
        }
        self.googlebot.forbids(path_and_query(url))
    }

    /// Returns a URL and the URLs that redirect to it.
    pub(super) fn addresses(&self, id: UrlId) -> impl Iterator<Item = UrlId> + '_ {
        std::iter::once(id).chain(self.index.redirected_to(id))
    }

    /// Whether robots.txt forbids the whole site to Googlebot, which is told once and not of every page again.
    pub(super) fn is_all_forbidden(&self) -> bool {
        self.googlebot.forbids_anything() && self.googlebot.forbids("/").is_some()
    }

    /// Returns the pages with a followed link to a URL, except the page itself.
    pub(super) fn followed_inlinks(&self, id: UrlId) -> impl Iterator<Item = UrlId> + '_ {
        self.index
            .inlinks(id)
            .filter(move |(from, nofollow)| !nofollow && *from != id)
            .map(|(from, _)| from)
    }

    /// Returns the pages with a followed link to a URL or to a redirect that ends there; a page may occur twice.
    pub(super) fn ways_in(&self, id: UrlId) -> impl Iterator<Item = UrlId> + '_ {
        self.addresses(id)
            .flat_map(|address| self.followed_inlinks(address))
            .filter(move |from| *from != id)
    }

    /// Returns the first pages that link to a URL, at most [`MAX_PAGES`].
    pub(super) fn inlinks(&self, id: UrlId) -> Vec<&'a str> {
        self.index
            .inlinks(id)
            .take(MAX_PAGES)
            .map(|(from, _)| self.index.key(from))
            .collect()
    }
}

/// A page with the audit as its context. Data that several checks need is computed once, on first use.
#[derive(Debug)]
pub struct Page<'a> {
    /// Facts of the page.
    pub facts: &'a PageFacts,
    /// Context of the audit.
    pub context: &'a Context<'a>,
    /// Time of the audit, or of the fetch if that was later, in milliseconds since the Unix epoch.
    pub(super) now_ms: i64,
    /// Robots directives of the page.
    pub(super) directives: Directives,
    /// Whether the page is indexable.
    pub(super) indexable: bool,
    /// Path and query of the fetched URL, from the first slash.
    pub(super) path_and_query: &'a str,
    markup: OnceCell<Markup<'a>>,
    elsewhere: OnceCell<Vec<&'a str>>,
    targets: OnceCell<Vec<u64>>,
    external: OnceCell<Vec<u64>>,
    resources: OnceCell<Vec<(u8, usize, usize)>>,
    forbidden: OnceCell<Option<&'a Rule>>,
}

impl<'a> Page<'a> {
    pub(super) fn new(facts: &'a PageFacts, context: &'a Context<'a>) -> Self {
        Self {
            facts,
            context,
            // a crawl may take days
            now_ms: context.now_ms.max(facts.fetched_at_ms),
            directives: directives(facts),
            indexable: context.index.has(facts.id, PageFlags::INDEXABLE),
            path_and_query: path_and_query(&facts.url),
            markup: OnceCell::new(),
            elsewhere: OnceCell::new(),
            targets: OnceCell::new(),
            external: OnceCell::new(),
            resources: OnceCell::new(),
            forbidden: OnceCell::new(),
        }
    }

    pub(super) fn id(&self) -> UrlId {
        self.facts.id
    }

    pub(super) fn thresholds(&self) -> &'a Thresholds {
        self.context.thresholds
    }

    /// Returns the path without query.
    pub(super) fn path(&self) -> &'a str {
        self.path_and_query.split('?').next().unwrap_or_default()
    }

    pub(super) fn is_https(&self) -> bool {
        self.facts.url.starts_with("https:")
    }

    /// Returns the URLs in the page whose host differs from its own, as written.
    pub(super) fn elsewhere(&self) -> &[&'a str] {
        self.elsewhere.get_or_init(|| {
            let html = self.facts.html.as_deref();
            html.map(|html| named_elsewhere(&self.facts.url, html))
                .unwrap_or_default()
        })
    }

    /// Returns the objects of the page's structured data.
    pub(super) fn items(&self) -> &[Item<'a>] {
        &self.markup().items
    }

    /// Returns the objects of the page's JSON-LD and microdata.
    pub(super) fn markup(&self) -> &Markup<'a> {
        let html = self.facts.html.as_deref();
        self.markup
            .get_or_init(|| html.map(schema::markup).unwrap_or_default())
    }

    pub(super) fn index(&self) -> &'a SiteGraph {
        self.context.index
    }

    /// Returns the normalised URL of an id.
    pub(super) fn key(&self, id: UrlId) -> &'a str {
        self.context.index.key(id)
    }

    /// Returns the rule that forbids the page to Googlebot.
    pub(super) fn forbids_googlebot(&self) -> Option<&'a Rule> {
        let url = &self.facts.url;
        *self.forbidden.get_or_init(|| self.context.forbids_googlebot(url))
    }

    /// Whether this is the home page of the crawl, or the root of a host.
    pub(super) fn is_home(&self) -> bool {
        self.id() == self.context.origin.home || self.path_and_query == "/"
    }

    /// Returns the internal targets of the page's links, each once.
    pub(super) fn link_targets<'h>(&self, html: &'h HtmlFacts) -> impl Iterator<Item = LinkTarget<'h>> {
        let internal = |id: &UrlId| *id != self.id() && self.context.is_internal(*id);
        targets(&self.targets, html, internal)
    }

    /// Whether no target of the page's links responded with a redirect or an error, as for most pages.
    pub(super) fn is_linked_well(&self) -> bool {
        !self.index().has(self.id(), PageFlags::TO_AMISS)
    }

    /// Returns the fetched resources that the page needs: purpose, index among the page's images or files, and
    /// resource.
    pub(super) fn resources(&self, html: &HtmlFacts) -> impl Iterator<Item = (u8, usize, &'a Resource)> {
        let needed = self.resources.get_or_init(|| {
            let known = &self.index().resources;
            let mut needs = needed_by(html).peekable();
            if known.is_empty() || needs.peek().is_none() {
                return Vec::new();
            }
            let Some(base) = base_url(self.facts, html) else {
                return Vec::new();
            };
            let mut short = Base::new(&base);
            let mut find = |url: &str| match short.key(url) {
                Some(key) => known.find(key),
                None => known.find(resolve_http(&base, url)?.as_str()),
            };
            needs
                .filter_map(|(purpose, place, url)| Some((purpose, place, find(url)?)))
                .collect()
        });
        let known = &self.index().resources;
        needed
            .iter()
            .filter_map(|(purpose, place, found)| Some((*purpose, *place, known.at(*found)?)))
    }

    /// Returns the fetched targets of the page's links on other sites, each once.
    pub(super) fn external_targets<'h>(&self, html: &'h HtmlFacts) -> impl Iterator<Item = LinkTarget<'h>> {
        let asked = |id: &UrlId| !self.context.is_internal(*id) && self.index().state(*id) != State::Known;
        let any = self.index().has(self.id(), PageFlags::TO_ASKED);
        any.then(|| targets(&self.external, html, asked))
            .into_iter()
            .flatten()
    }
}

/// Target of a link of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkTarget<'h> {
    pub id: UrlId,
    place: usize,
    html: &'h HtmlFacts,
}

impl<'h> LinkTarget<'h> {
    /// Returns the first link to the target.
    pub fn link(self) -> Option<Link<'h>> {
        self.html.links.get(self.place)
    }
}

/// Returns the wanted targets, each once with its first link; computed once. Target and index of the link share one
/// number, which sorts fast.
fn targets<'h>(
    known: &OnceCell<Vec<u64>>,
    html: &'h HtmlFacts,
    wanted: impl Fn(&UrlId) -> bool,
) -> impl Iterator<Item = LinkTarget<'h>> {
    let targets = known.get_or_init(|| {
        let links = html.links.iter().zip(0..);
        let mut targets: Vec<u64> = links
            .filter_map(|(link, place)| Some(u64::from(link.target.filter(&wanted)?.0) << 32 | place))
            .collect();
        targets.sort_unstable();
        targets.dedup_by_key(|target| *target >> 32);
        targets
    });
    targets.iter().map(|target| LinkTarget {
        id: UrlId((target >> 32) as u32),
        place: *target as u32 as usize,
        html,
    })
}

/// Returns the URLs of links outside program text, resources, images, forms and the head whose host is not that of the page.
fn named_elsewhere<'h>(own: &str, html: &'h HtmlFacts) -> Vec<&'h str> {
    // a link in program text shows an address that readers are to use
    let links = html.links.iter().filter(|link| link.flags & LINK_CODE == 0);
    let links = links.map(|link| link.href);
    let resources = html.resources.iter().map(|resource| &*resource.url);
    let images = html.images.iter().map(|image| &*image.src);
    let forms = html.forms.iter().map(|form| &*form.action);
    let heads = html.canonicals.iter().chain(&html.hreflangs);
    let heads = heads.map(|link| &*link.href);
    let all = links.chain(resources).chain(images).chain(forms).chain(heads);
    let own = host(own);
    all.filter(|url| {
        let absolute = url.starts_with("//")
            || url
                .get(..4)
                .is_some_and(|scheme| scheme.eq_ignore_ascii_case("http"));
        absolute && !host(url).eq_ignore_ascii_case(own)
    })
    .collect()
}

/// The site as a whole.
#[derive(Debug)]
pub struct Site<'a> {
    /// Context of the audit.
    pub context: &'a Context<'a>,
    /// The home page, where the start URL ends.
    pub home: Option<Page<'a>>,
}

impl<'a> Site<'a> {
    pub(super) fn new(home: Option<&'a PageFacts>, context: &'a Context<'a>) -> Self {
        Self {
            context,
            home: home.map(|facts| Page::new(facts, context)),
        }
    }

    pub(super) fn origin(&self) -> &'a Origin {
        self.context.origin
    }

    /// Returns the home page if its response is HTML with status 200.
    pub(super) fn home_html(&self) -> Option<(&Page<'a>, &'a HtmlFacts)> {
        let home = self.home.as_ref()?;
        Some((home, home.facts.html_200()?))
    }

    /// Returns evidence if a header of the home page is not `fine`.
    pub(super) fn home_header(
        &self,
        fine: impl Fn(&PageFacts) -> bool,
        evidence: impl Fn(&PageFacts) -> Value,
    ) -> Option<Value> {
        let home = self.home.as_ref()?;
        home.facts.html_200()?;
        (!fine(home.facts)).then(|| evidence(home.facts))
    }
}
