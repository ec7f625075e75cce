//! Kind and address of every page, and the links between them. Everything follows from the
//! page's number, so nothing has to be remembered per page but its path.

use crate::random::Random;

use super::{Order, prose};

/// First path segment of every page but the home page.
pub const SECTIONS: [&str; 8] = [
    "guides",
    "journal",
    "workshop",
    "materials",
    "places",
    "people",
    "seasons",
    "questions",
];

/// Faults repeat with this distance, so each one is on 0.5 % of the pages.
pub const PERIOD: usize = 200;

/// Pages below each page in the tree that makes every linked page reachable from the home page.
const CHILDREN: usize = 12;

/// Links in the text of a page.
pub const TEXT_LINKS: usize = 16;

/// Pages that the footer of every page links to.
const FOOTER: std::ops::RangeInclusive<usize> = 9..=19;

/// Hops of the one redirect chain.
pub const CHAIN: [&str; 3] = ["/moved/first", "/moved/second", "/moved/third"];

/// The one redirect loop.
pub const LOOP: [&str; 2] = ["/circle/here", "/circle/there"];

/// Fault of a page; a page has one at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A link in its text leads to a page that is not there.
    BrokenLink,
    /// A link in its text is answered by 301.
    PermanentRedirect,
    /// A link in its text is answered by 302.
    TemporaryRedirect,
    /// A link in its text enters the chain of three redirects.
    RedirectChain,
    /// A link in its text enters the redirect loop.
    RedirectLoop,
    /// Its title is that of the page before it.
    DuplicateTitle,
    /// Its `main` is that of the page before it.
    DuplicateBody,
    /// It has no meta description.
    NoDescription,
    /// `noindex` in its robots meta.
    NoIndex,
    /// No page links to it; the sitemap lists it.
    Orphan,
}

/// The whole site, before any of it is written.
#[derive(Debug)]
pub struct Plan {
    pub order: Order,
    /// Path of each page, `/` first.
    paths: Vec<String>,
    /// Numbers of the pages that are linked, in the order of the tree.
    linked: Vec<u32>,
    /// Place of each page in `linked`; orphans have the place of the home page.
    places: Vec<u32>,
}

impl Plan {
    pub fn new(order: &Order) -> Self {
        let pages = order.pages as usize;
        let paths = (0..pages).map(|page| path(order.seed, page)).collect();
        let mut linked = Vec::with_capacity(pages);
        let mut places = vec![0; pages];
        for (page, place) in places.iter_mut().enumerate() {
            if fault(page) != Some(Fault::Orphan) {
                *place = linked.len() as u32;
                linked.push(page as u32);
            }
        }
        Self {
            order: *order,
            paths,
            linked,
            places,
        }
    }

    /// Number of pages.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.order.port)
    }

    pub fn path(&self, page: usize) -> &str {
        &self.paths[page]
    }

    /// Page at a path.
    pub fn at(&self, path: &str) -> Option<usize> {
        let number = path.strip_suffix(".html").and_then(|path| path.rsplit_once('-'));
        let page = number.map_or(Ok(0), |(_, number)| number.parse()).ok()?;
        (self.paths.get(page)? == path).then_some(page)
    }

    pub fn url(&self, page: usize) -> String {
        format!("{}{}", self.origin(), self.paths[page])
    }

    /// File of the page below the served folder.
    pub fn file(&self, page: usize) -> &str {
        if page == 0 {
            "index.html"
        } else {
            &self.paths[page][1..]
        }
    }

    /// All pages with this fault, in order.
    pub fn with(&self, wanted: Fault) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(move |page| fault(*page) == Some(wanted))
    }

    /// A sequence of its own for one purpose of one page.
    pub fn random(&self, page: usize, purpose: u64) -> Random {
        Random::new(self.order.seed, (page as u64) << 3 | purpose)
    }

    /// Subject of the page in three words; other pages use it as the text of their links.
    pub fn name(&self, page: usize) -> String {
        prose::name(&mut self.random(page, 0))
    }

    /// Page above this one in the tree.
    pub fn parent(&self, page: usize) -> usize {
        let place = self.places[page] as usize;
        self.linked[place.saturating_sub(1) / CHILDREN] as usize
    }

    /// Home page and the first page of each section.
    pub fn navigation(&self) -> impl Iterator<Item = usize> {
        self.linked[..=SECTIONS.len()].iter().map(|page| *page as usize)
    }

    pub fn footer(&self) -> impl Iterator<Item = usize> {
        self.linked[FOOTER].iter().map(|page| *page as usize)
    }

    /// Pages below this one, filled up with others to a dozen.
    pub fn related(&self, page: usize) -> Vec<usize> {
        let mut random = self.random(page, 1);
        let first = self.places[page] as usize * CHILDREN + 1;
        let below = if fault(page) == Some(Fault::Orphan) {
            0..0
        } else {
            first..first + CHILDREN
        };
        let mut pages: Vec<usize> = below
            .filter_map(|place| Some(*self.linked.get(place)? as usize))
            .collect();
        while pages.len() < CHILDREN {
            pages.push(self.other(&mut random, page));
        }
        pages
    }

    /// A linked page that is not `page`.
    pub fn other(&self, random: &mut Random, page: usize) -> usize {
        loop {
            let other = self.linked[random.below(self.linked.len())] as usize;
            if other != page {
                return other;
            }
        }
    }

    /// Page that the redirect of a faulty page leads to.
    pub fn redirect_target(&self, page: usize) -> usize {
        self.other(&mut self.random(page, 2), page)
    }

    /// Faulty address in the text of a page, if its fault is one.
    pub fn planted_link(&self, page: usize) -> Option<String> {
        match fault(page)? {
            Fault::BrokenLink => Some(format!(
                "/{}/withdrawn-{page}.html",
                SECTIONS[page % SECTIONS.len()]
            )),
            Fault::PermanentRedirect => Some(format!("/old/{page}")),
            Fault::TemporaryRedirect => Some(format!("/away/{page}")),
            Fault::RedirectChain => Some(CHAIN[0].to_owned()),
            Fault::RedirectLoop => Some(LOOP[0].to_owned()),
            _ => None,
        }
    }

    /// Page whose `main` this page shows: its own, or that of the page before it.
    pub fn body_of(&self, page: usize) -> usize {
        if fault(page) == Some(Fault::DuplicateBody) {
            page - 1
        } else {
            page
        }
    }

    /// Page whose title this page has.
    pub fn title_of(&self, page: usize) -> usize {
        if fault(page) == Some(Fault::DuplicateTitle) {
            page - 1
        } else {
            page
        }
    }
}

/// Fault of a page by its number. The first period also holds the chain and the loop.
pub fn fault(page: usize) -> Option<Fault> {
    match page {
        149 => return Some(Fault::RedirectChain),
        151 => return Some(Fault::RedirectLoop),
        _ => {}
    }
    match page % PERIOD {
        29 => Some(Fault::BrokenLink),
        41 => Some(Fault::PermanentRedirect),
        59 => Some(Fault::TemporaryRedirect),
        73 => Some(Fault::DuplicateTitle),
        97 => Some(Fault::DuplicateBody),
        113 | 187 => Some(Fault::NoDescription),
        131 => Some(Fault::NoIndex),
        167 => Some(Fault::Orphan),
        _ => None,
    }
}

fn path(seed: u64, page: usize) -> String {
    if page == 0 {
        return "/".to_owned();
    }
    let name = prose::name(&mut Random::new(seed, (page as u64) << 3));
    format!(
        "/{}/{}-{page}.html",
        SECTIONS[page % SECTIONS.len()],
        name.replace(' ', "-")
    )
}
