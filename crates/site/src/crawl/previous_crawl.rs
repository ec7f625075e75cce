//! Pages that an earlier crawl read of a site, for a crawl that asks only for what has changed.

use std::{fmt::Debug, future::Future, pin::Pin};

use url::Url;

use crate::{fetch::Validators, page::PageFacts};

/// Answers late or never rather than wrongly: a page of which it does not know is fetched whole.
pub trait PreviousCrawl: Debug + Send + Sync + 'static {
    /// By what the server may be asked whether a page, fetched at exactly this URL, has changed.
    fn validators(&self, url: &Url) -> Pin<Box<dyn Future<Output = Option<Validators>> + Send + '_>>;

    /// All that was read of it, with ids of the earlier crawl; with its text where the text of the page is kept now. The same
    /// facts are handed out once.
    fn facts(&self, url: &Url) -> Pin<Box<dyn Future<Output = Option<PageFacts>> + Send + '_>>;
}
