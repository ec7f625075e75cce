//! Events that the crawler waits for.

use super::{fetch_task::FetchTask, parse_job::ParsedPage};
use crate::{fetch::Fetched, resources::Resource, well_known::WellKnownFile};

/// A result that returns to the crawler task.
#[derive(Debug)]
pub(super) enum CrawlEvent {
    /// A request ended.
    Fetched(FetchTask, Fetched),
    /// A request ended with a small page, which was parsed in the same task; the number is its bytes on the wire.
    FetchedAndRead(FetchTask, u64, Box<ParsedPage>),
    /// A page was parsed.
    Read(Box<ParsedPage>),
    /// The robots.txt of an origin was fetched.
    Robots(Box<str>, WellKnownFile),
    /// A URL of another site was fetched.
    Checked(FetchTask, Box<ParsedPage>),
    /// Resources of pages were fetched.
    Resources(Vec<Resource>),
}
