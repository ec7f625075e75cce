//! Fixtures of tests.

use searchwright_site::{
    graph::{CrawlSummary, GraphBuilder, SiteGraph},
    origin::Origin,
    page::{At, Outcome, PageFacts},
    urls::UrlTable,
};
use url::Url;

/// Returns the index of a crawl that requested so many pages.
#[expect(clippy::unwrap_used, reason = "a fixture of tests")]
pub fn index(pages: u32) -> SiteGraph {
    let (mut table, mut builder) = (UrlTable::new(1_000_000), GraphBuilder::default());
    for number in 0..pages {
        let url = Url::parse(&format!("https://example.com/{number}")).unwrap();
        let at = At {
            id: table.add_url(&url).unwrap(),
            ..At::default()
        };
        builder.set_internal(at.id);
        builder.add(&PageFacts::without_answer(&url, at, Outcome::Status(404)));
    }
    let ends = CrawlSummary {
        depths: Vec::new(),
        origin: &Origin::default(),
        traps: Vec::new(),
        complete: true,
    };
    builder.finish(table, ends)
}
