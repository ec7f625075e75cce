//! One page is asked for: whole, or first whether it is another than the one an earlier crawl read.

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

/// A first byte later than this is asked for once more, and the median of the two counts, which is their mean: a moment
/// in which the server or this machine was busy says half as much.
const SLOW: Duration = Duration::from_millis(SLOW_MS as u64);

/// A request, with what decides about its conditions.
pub(super) struct Ask {
    pub(super) fetcher: Arc<dyn Fetch>,
    pub(super) url: Url,
    pub(super) body_limit: usize,
    pub(super) fresh: bool,
    /// See [`super::Crawler::doubts`].
    pub(super) doubts: Arc<AtomicU32>,
    /// Facts of the previous crawl, if the page may be asked for by them.
    pub(super) earlier: Option<Arc<dyn PreviousCrawl>>,
    /// See [`super::Crawler::useless`].
    pub(super) useless: Arc<AtomicU32>,
    pub(super) now: Clock,
}

/// Result of the request.
pub(super) enum Asked {
    Answer(Fetched),
    /// The page is the one these facts are of: they, what it was asked by, and the 304.
    Unchanged(Box<PageFacts>, Box<Validators>, Response),
}

impl Ask {
    pub(super) async fn page(&self) -> Asked {
        if is_media(&self.url) {
            return Asked::Answer(self.media().await);
        }
        if let Some(known) = self.known().await {
            match self.whole(Some(known.clone())).await {
                // some servers refuse the question, which none may: RFC 9110 section 13.1.2 has no 412 for a GET
                Ok(answer) if matches!(answer.status, 304 | 400 | 412) => {
                    if let Some(facts) = self.facts(&known, &answer).await {
                        return Asked::Unchanged(facts, known, answer);
                    }
                    // asked for once more, whole
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

    /// By what to ask whether the page has changed, if that may spare anything.
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

    /// The facts that a 304 says are still right.
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
        // Some servers refuse HEAD in one way or another.
        if matches!(&asked, Ok(answer) if answer.status >= 400) {
            asked = self.ask(Method::Get, 1, None).await;
        }
        match asked {
            // /wiki/Node.js is a page
            Ok(answer) if answer.status == 200 && says_html(&answer) => self.whole(None).await,
            asked => asked,
        }
    }

    /// Measures a slow first byte once more.
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

/// Whatever its name says.
fn says_html(response: &Response) -> bool {
    let kind = response.headers.get(http::header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.as_bytes().get(..9));
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case(b"text/html"))
}
