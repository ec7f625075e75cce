//! Events that the crawler waits for.

use super::{fetch_task::FetchTask, parse_job::ParsedPage};
use crate::{fetch::Fetched, resources::Resource, well_known::WellKnownFile};

/// A result that comes back to the deciding task.
#[derive(Debug)]
pub(super) enum CrawlEvent {
    /// An exchange ended.
    Fetched(FetchTask, Fetched),
    /// An exchange ended well with a small page, which was read there and then; its bytes on the wire.
    FetchedAndRead(FetchTask, u64, Box<ParsedPage>),
    /// A page was read.
    Read(Box<ParsedPage>),
    /// The robots.txt of an origin.
    Robots(Box<str>, WellKnownFile),
    /// Another site was asked.
    Checked(FetchTask, Box<ParsedPage>),
    /// Resources of pages were asked for.
    Resources(Vec<Resource>),
}
