//! The verdict on a fetch: how much of a page its response shows.

use crate::{
    http_status::is_transient,
    page::{HtmlFacts, Outcome, PageFacts},
};

/// Verdict on the response of a page's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchVerdict {
    /// Inconclusive: no response, or one that a busy server sends temporarily.
    Nothing,
    /// The response of the URL but not the page: refused, or redirected temporarily.
    Address,
    /// The page does not exist any more (404 or 410).
    Gone,
    /// The page has moved permanently (301 or 308).
    Moved,
    /// The beginning of an HTML page.
    Beginning,
    /// A complete HTML page.
    Whole,
    /// An HTML page with more entries of some lists than are kept: bits of `cut`.
    Cut(u8),
    /// Not HTML.
    Other,
}

impl FetchVerdict {
    /// Returns the verdict on a fetch.
    pub fn from_facts(facts: &PageFacts) -> Self {
        match facts.outcome {
            Outcome::Failed(_) | Outcome::Blocked(_) => Self::Nothing,
            Outcome::Redirect {
                status: 301 | 308, ..
            } => Self::Moved,
            Outcome::Status(404 | 410) => Self::Gone,
            Outcome::Status(status) if is_transient(status) => Self::Nothing,
            // a server or an application that failed without an error status
            Outcome::Status(200) if facts.body_bytes == 0 => Self::Nothing,
            Outcome::Status(200) => match (&facts.html, facts.cut) {
                (Some(html), _) if is_challenge(html) => Self::Nothing,
                (Some(html), None) => match html.cut_lists() {
                    0 => Self::Whole,
                    lists => Self::Cut(lists),
                },
                (Some(_), Some(_)) => Self::Beginning,
                (None, None) => Self::Other,
                (None, Some(_)) => Self::Address,
            },
            Outcome::Redirect { .. } | Outcome::Status(_) => Self::Address,
        }
    }
}

/// Whether the page is a challenge that a firewall sends in place of a page, with any status.
fn is_challenge(html: &HtmlFacts) -> bool {
    const TITLES: [&str; 3] = [
        "Just a moment...",
        "Attention Required! | Cloudflare",
        "DDoS-Guard",
    ];
    html.titles
        .first()
        .is_some_and(|title| TITLES.contains(&&**title))
}
