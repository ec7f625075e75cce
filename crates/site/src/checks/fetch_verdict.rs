//! The verdict on a fetch: how much of a page its answer shows.

use crate::{
    http_status::is_transient,
    page::{HtmlFacts, Outcome, PageFacts},
};

/// Verdict on the answer to the URL of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchVerdict {
    /// Nothing: there was no answer, or one that a busy server gives for a while.
    Nothing,
    /// The answer of the URL, and nothing of the page behind it: refused, or sent on for now.
    Address,
    /// There is no page any more.
    Gone,
    /// The page has moved for good.
    Moved,
    /// The beginning of a page of HTML.
    Beginning,
    /// A page of HTML.
    Whole,
    /// HTML with more of something than is kept: bits of `cut`.
    Cut(u8),
    /// Something else than HTML.
    Other,
}

impl FetchVerdict {
    /// Judges what became of a fetch.
    pub fn from_facts(facts: &PageFacts) -> Self {
        match facts.outcome {
            Outcome::Failed(_) | Outcome::Blocked(_) => Self::Nothing,
            Outcome::Redirect {
                status: 301 | 308, ..
            } => Self::Moved,
            Outcome::Status(404 | 410) => Self::Gone,
            Outcome::Status(status) if is_transient(status) => Self::Nothing,
            // a server or an application that failed, and does not say so
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

/// Whether it is what firewalls put in the place of a page while they look at who asks, with any status.
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
