//! Share of refused pages: a crawl that was refused nearly everywhere must not pass for a complete crawl of a small
//! site.

use super::Crawler;
use crate::{
    crawl::{
        Termination,
        scope::{is_media_name, origin},
    },
    graph::State,
    page::UrlId,
    robots::Robots,
};

/// Counts of fetched pages by outcome. Redirects do not count, because their targets are fetched too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answers {
    pub(super) answered: u32,
    refused: u32,
    /// Pages without a response or with 5xx.
    silent: u32,
}

impl Answers {
    /// Returns the reason for termination if more than half of the pages could not be read.
    pub(super) fn verdict(self) -> Option<Termination> {
        let why = if self.refused >= self.silent {
            Termination::Blocked
        } else {
            Termination::HostUnavailable
        };
        (self.refused + self.silent > self.answered).then_some(why)
    }
}

impl Crawler {
    /// Whether robots.txt forbids everything to this crawler but not to Googlebot, so that nothing is known of the
    /// site. Rules that forbid a page to both are a finding.
    pub(super) fn is_shut_out(&self) -> bool {
        let home = self.discovery.origin.home;
        let googlebot = Robots::parse(&self.discovery.origin.robots.text).agent("Googlebot");
        let key = self.discovery.table.key(home);
        let path = key.get(origin(key).len()..).unwrap_or_default();
        self.answers() == Answers::default()
            && self.discovery.builder.state(home) == State::Blocked
            && googlebot.forbids(path).is_none()
    }

    pub(super) fn answers(&self) -> Answers {
        let mut answers = Answers::default();
        let internal = (0..self.discovery.table.len() as u32).map(UrlId);
        for id in internal.filter(|id| self.discovery.builder.is_internal(*id)) {
            let count = match (
                self.discovery.builder.state(id),
                self.discovery.builder.status(id),
            ) {
                (State::Known | State::Blocked | State::Redirect, _) => continue,
                _ if is_media_name(path(self.discovery.table.key(id))) => continue,
                (_, Some(401 | 403 | 429 | 451)) => &mut answers.refused,
                _ if self.discovery.challenged.contains(&id) => &mut answers.refused,
                (_, None | Some(500..)) => &mut answers.silent,
                _ => &mut answers.answered,
            };
            *count += 1;
        }
        answers
    }
}

fn path(key: &str) -> &str {
    key.split('?').next().unwrap_or_default()
}
