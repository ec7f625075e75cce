//! Reads one page of any site, as its robots.txt allows: a page that a user names as a source.

use std::{sync::Arc, time::Duration};

use url::Url;

use super::{
    Clock, Config,
    discovery::{Survey, location, permits},
};
use crate::{
    fetch::{Fetch, FetchError, Method},
    page::{self, At, Limits, PageFacts},
    robots::Policy,
    urls::UrlTable,
};

/// Maximum number of redirects that are followed.
const MAX_HOPS: u8 = 5;
/// Maximum number of bytes of the page that are read.
const BODY: usize = 2 << 20;
/// Minimum time between the starts of two requests.
const DELAY: Duration = Duration::from_millis(500);

/// A page that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Title, or else the first heading.
    pub title: Option<Box<str>>,
    /// Beginning of the main text, one line per block.
    pub text: Box<str>,
}

/// Reason why a page was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// The robots.txt of its origin forbids the URL.
    #[error("its robots.txt forbids it")]
    Forbidden,
    /// The robots.txt of its origin could not be fetched, which forbids everything (RFC 9309 section 2.3.1.4).
    #[error("its robots.txt could not be read")]
    RobotsUnreachable,
    /// The request failed without a response.
    #[error(transparent)]
    Failed(#[from] FetchError),
    /// The response has another status than 200.
    #[error("it answered with the status {0}")]
    Status(u16),
    /// The response is not an HTML page with text.
    #[error("it is no HTML page with a text")]
    NoText,
}

/// Reads one page and at most `most_text` bytes of its text. Obeys the robots.txt of every origin on the way. Nothing
/// is retried except a robots.txt whose server may be back soon.
pub async fn read_page(
    fetcher: Arc<dyn Fetch>,
    url: Url,
    most_text: usize,
    now: Clock,
) -> Result<Reading, Unread> {
    let mut survey = Survey::new(fetcher, &Config::new(url.clone(), 1), now);
    survey.delay = DELAY;
    let mut at = url;
    let mut known: Option<(url::Origin, Policy)> = None;
    for hop in 0..=MAX_HOPS {
        let origin = at.origin();
        let policy = match known.take() {
            Some((of, policy)) if of == origin => policy,
            _ => {
                let file = survey.robots(&at).await;
                // a site that does not respond has no page to offer either
                if let Some(error) = file.error {
                    return Err(error.into());
                }
                Policy::from_file(&file)
            }
        };
        match &policy {
            Policy::Unreachable => return Err(Unread::RobotsUnreachable),
            Policy::Follow(_) if !permits(&policy, &at) => return Err(Unread::Forbidden),
            Policy::Follow(_) => known = Some((origin, policy)),
        }
        let answer = survey.ask(at.clone(), Method::Get, BODY).await?;
        match location(&answer, &at) {
            Some(target) if hop < MAX_HOPS => at = target,
            _ => {
                let limits = Limits {
                    text: most_text,
                    ..Limits::default()
                };
                let read = tokio::task::spawn_blocking(move || {
                    page::read(&answer, &at, At::default(), &mut UrlTable::new(0), &limits)
                });
                return reading(&read.await.map_err(|_| Unread::NoText)?);
            }
        }
    }
    Err(Unread::NoText)
}

fn reading(facts: &PageFacts) -> Result<Reading, Unread> {
    let Some(html) = facts.html_200() else {
        let status = facts.status().filter(|status| *status != 200);
        return Err(status.map_or(Unread::NoText, Unread::Status));
    };
    if html.main_text.is_empty() {
        return Err(Unread::NoText);
    }
    let heading = html.headings.first().map(|heading| &heading.text);
    let title = html.titles.first().or(heading).filter(|title| !title.is_empty());
    Ok(Reading {
        title: title.cloned(),
        text: html.main_text.clone(),
    })
}
