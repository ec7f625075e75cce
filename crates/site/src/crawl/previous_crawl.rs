//! Pages of an earlier crawl, for a crawl that fetches only pages that have changed.

use std::{fmt::Debug, future::Future, pin::Pin};

use url::Url;

use crate::{fetch::Validators, page::PageFacts};

/// Source of earlier facts. An implementation may have no entry but must not give a wrong one: a page without an entry
/// is fetched in full.
pub trait PreviousCrawl: Debug + Send + Sync + 'static {
    /// Returns the validators for a conditional request of the page, if it was fetched at exactly this URL.
    fn validators(&self, url: &Url) -> Pin<Box<dyn Future<Output = Option<Validators>> + Send + '_>>;

    /// Returns all facts of the page with ids of the earlier crawl, with the text if this crawl keeps texts. The facts
    /// of a page are handed out only once.
    fn facts(&self, url: &Url) -> Pin<Box<dyn Future<Output = Option<PageFacts>> + Send + '_>>;
}
