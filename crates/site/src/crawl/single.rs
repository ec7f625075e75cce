//! One page of whatever site, read as its robots.txt allows: what somebody names as a source.

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

/// Redirects that are followed.
const MAX_HOPS: u8 = 5;
/// Most bytes of the page that are read.
const BODY: usize = 2 << 20;
/// Least time between two requests begin.
const DELAY: Duration = Duration::from_millis(500);

/// A page that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Its title, or else its first heading.
    pub title: Option<Box<str>>,
    /// The beginning of its main text, a line for each block.
    pub text: Box<str>,
}

/// Reason that a page was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// Its robots.txt forbids it.
    #[error("its robots.txt forbids it")]
    Forbidden,
    /// Its robots.txt could not be read, which forbids everything (RFC 9309 section 2.3.1.4).
    #[error("its robots.txt could not be read")]
    RobotsUnreachable,
    /// It gave no answer.
    #[error(transparent)]
    Failed(#[from] FetchError),
    /// It answered with another status than 200.
    #[error("it answered with the status {0}")]
    Status(u16),
    /// It is no HTML page with a text.
    #[error("it is no HTML page with a text")]
    NoText,
}

/// Reads one page and at most so many bytes of its text. The robots.txt of every site on the way is obeyed; nothing
/// is tried twice but a robots.txt whose server may be back soon.
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
                // A site that does not answer has no page to offer either.
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
