//! Parsing of one answer, which takes a millisecond or more.

use std::panic::{AssertUnwindSafe, catch_unwind};

use url::Url;

use crate::{
    fetch::{Cut, Response, Validators},
    page::{self, At, Limits, Outcome, PageFacts},
    urls::PageUrls,
};

/// An answer to be read.
#[derive(Debug)]
pub(super) struct ParseJob {
    pub(super) response: Response,
    pub(super) url: Url,
    pub(super) at: At,
    pub(super) urls: PageUrls,
}

/// A page that was read. Its ids are provisional until the table adopts them.
#[derive(Debug)]
pub(super) struct ParsedPage {
    pub(super) facts: PageFacts,
    pub(super) urls: PageUrls,
    /// Bytes of the body, to know how much is still queued.
    pub(super) held: usize,
}

/// Reads an answer, here and now.
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

/// A page that the reader stumbles over must not stop the crawl.
fn or_cut(url: &Url, at: At, status: u16, read: impl FnOnce() -> PageFacts) -> PageFacts {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        tracing::error!(url = url.as_str(), "reading a page panicked");
        PageFacts {
            // so that nothing is taken for proven
            cut: Some(Cut::Size),
            ..PageFacts::without_answer(url, at, Outcome::Status(status))
        }
    })
}

/// Uses what an earlier crawl read of the page, after a 304.
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
