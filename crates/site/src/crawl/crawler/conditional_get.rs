//! Fetches one page: in full, or conditionally if an earlier crawl has read it.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use futures_util::FutureExt;
use url::Url;

use crate::{
    crawl::{Clock, PreviousCrawl, scope::is_media},
    fetch::{Fetch, FetchError, Fetched, Method, Request, Response, Validators},
    page::{PageFacts, SLOW_MS},
};

/// Time to first byte above which it is measured once more. The median of two measurements is their mean, so a moment
/// in which the server or this machine was busy counts only half.
const SLOW: Duration = Duration::from_millis(SLOW_MS as u64);

/// A request for a page, with the data that decides about its conditions.
pub(super) struct Ask {
    pub(super) fetcher: Arc<dyn Fetch>,
    pub(super) url: Url,
    pub(super) body_limit: usize,
    pub(super) fresh: bool,
    /// See [`super::Fetcher::doubts`].
    pub(super) doubts: Arc<AtomicU32>,
    /// The previous crawl, if the page may be fetched conditionally.
    pub(super) earlier: Option<Arc<dyn PreviousCrawl>>,
    /// See [`super::Fetcher::useless`].
    pub(super) useless: Arc<AtomicU32>,
    pub(super) now: Clock,
}

/// Result of the request.
pub(super) enum Asked {
    Answer(Fetched),
    /// The page has not changed: its earlier facts, the validators of the request, and the 304 response.
    Unchanged(Box<PageFacts>, Box<Validators>, Response),
}

impl Ask {
    pub(super) async fn page(&self) -> Asked {
        if is_media(&self.url) {
            return Asked::Answer(self.media().await);
        }
        if let Some(known) = self.known().await {
            match self.whole(Some(known.clone())).await {
                // some servers reject a conditional GET, although RFC 9110 section 13.1.2 has no 412 for a GET
                Ok(answer) if matches!(answer.status, 304 | 400 | 412) => {
                    if let Some(facts) = self.facts(&known, &answer).await {
                        return Asked::Unchanged(facts, known, answer);
                    }
                    // fetched once more, in full
                    self.useless
                        .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1))
                        .ok();
                }
                other => return Asked::Answer(self.doubted(other).await),
            }
        }
        let fetched = self.whole(None).await;
        Asked::Answer(self.doubted(fetched).await)
    }

    /// Returns the validators of the page, if a conditional request may save anything.
    async fn known(&self) -> Option<Box<Validators>> {
        let earlier = self.earlier.as_ref()?;
        if self.fresh || self.useless.load(Relaxed) == 0 {
            return None;
        }
        let known = AssertUnwindSafe(earlier.validators(&self.url))
            .catch_unwind()
            .await;
        known.ok()?.filter(|known| known.last((self.now)())).map(Box::new)
    }

    /// Returns the earlier facts that a 304 confirms.
    async fn facts(&self, known: &Validators, answer: &Response) -> Option<Box<PageFacts>> {
        if answer.status != 304 || answer.ttfb > SLOW || !known.are_meant_by(&answer.headers) {
            return None;
        }
        let earlier = self.earlier.as_ref()?;
        let facts = AssertUnwindSafe(earlier.facts(&self.url)).catch_unwind().await;
        facts
            .ok()?
            .filter(|facts| *facts.url == *self.url.as_str())
            .map(Box::new)
    }

    async fn media(&self) -> Fetched {
        let mut asked = self.ask(Method::Head, 0, None).await;
        // some servers refuse HEAD with one status or another
        if matches!(&asked, Ok(answer) if answer.status >= 400) {
            asked = self.ask(Method::Get, 1, None).await;
        }
        match asked {
            // a page may have a media extension: /wiki/Node.js
            Ok(answer) if answer.status == 200 && says_html(&answer) => self.whole(None).await,
            asked => asked,
        }
    }

    /// Measures a slow time to first byte once more.
    async fn doubted(&self, mut fetched: Fetched) -> Fetched {
        if let Ok(answer) = &mut fetched
            && answer.status == 200
            && answer.ttfb > SLOW
            && self
                .doubts
                .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1))
                .is_ok()
            && let Ok(again) = self.ask(Method::Get, 1, None).await
        {
            answer.ttfb = (answer.ttfb + again.ttfb) / 2;
        }
        fetched
    }

    async fn whole(&self, unless: Option<Box<Validators>>) -> Fetched {
        self.ask(Method::Get, self.body_limit, unless).await
    }

    async fn ask(&self, method: Method, body_limit: usize, unless: Option<Box<Validators>>) -> Fetched {
        let request = Request {
            url: self.url.clone(),
            method,
            body_limit,
            fresh: self.fresh,
            picture: false,
            unless,
        };
        let fetched = AssertUnwindSafe(self.fetcher.fetch(request)).catch_unwind().await;
        fetched.unwrap_or(Err(FetchError::Broken))
    }
}

/// Whether the response is HTML by its `Content-Type`, whatever its name suggests.
fn says_html(response: &Response) -> bool {
    let kind = response.headers.get(http::header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.as_bytes().get(..9));
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case(b"text/html"))
}
