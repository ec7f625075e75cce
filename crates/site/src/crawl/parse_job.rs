//! Parses one response, which takes a millisecond or more.

use std::panic::{AssertUnwindSafe, catch_unwind};

use url::Url;

use crate::{
    fetch::{Cut, Response, Validators},
    page::{self, At, Limits, Outcome, PageFacts},
    urls::PageUrls,
};

/// A response to be parsed.
#[derive(Debug)]
pub(super) struct ParseJob {
    pub(super) response: Response,
    pub(super) url: Url,
    pub(super) at: At,
    pub(super) urls: PageUrls,
}

/// A parsed page. Its ids are provisional until the table adopts them.
#[derive(Debug)]
pub(super) struct ParsedPage {
    pub(super) facts: PageFacts,
    pub(super) urls: PageUrls,
    /// Number of body bytes, used to track how much is queued.
    pub(super) held: usize,
}

/// Parses a response on the current thread.
pub(super) fn read(job: ParseJob, limits: &Limits) -> ParsedPage {
    let ParseJob {
        response,
        url,
        at,
        mut urls,
    } = job;
    let held = response.body.len();
    let facts = or_cut(&url, at, response.status, || {
        page::read(&response, &url, at, &mut urls, limits)
    });
    ParsedPage { facts, urls, held }
}

/// Returns incomplete facts if parsing panics, because one page must not stop the crawl.
fn or_cut(url: &Url, at: At, status: u16, read: impl FnOnce() -> PageFacts) -> PageFacts {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        tracing::error!(url = url.as_str(), "reading a page panicked");
        PageFacts {
            // so that no check takes anything for proven
            cut: Some(Cut::Size),
            ..PageFacts::without_answer(url, at, Outcome::Status(status))
        }
    })
}

/// Reuses the facts that an earlier crawl read of the page, after a 304.
pub(super) fn still(
    facts: PageFacts,
    known: &Validators,
    answer: &Response,
    url: &Url,
    at: At,
    mut urls: PageUrls,
) -> ParsedPage {
    let facts = or_cut(url, at, 200, || {
        page::unchanged(facts, known, answer, url, at, &mut urls)
    });
    ParsedPage { facts, urls, held: 0 }
}
