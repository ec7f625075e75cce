//! URLs with a conclusive response.

use super::{PageFlags, SiteGraph, State};
use crate::{http_status::is_transient, page::UrlId, urls::provenance};

impl SiteGraph {
    /// Whether the crawl got a conclusive response for a URL; an unknown host is conclusive. If links lead to a
    /// redirect of another site, the response at its end decides.
    pub fn is_answered(&self, id: UrlId) -> bool {
        match self.state(id) {
            State::Known | State::Blocked => false,
            State::Failed => {
                self.has(id, PageFlags::NO_HOST) && (self.has(id, PageFlags::INTERNAL) || !self.is_cut_off())
            }
            State::Html | State::Other | State::Redirect => {
                // these and nonstandard statuses such as 999 refuse bots and say nothing about the page
                let refused = matches!(self.status(id), Some(401 | 403 | 405 | 406 | 451));
                let internal = self.has(id, PageFlags::INTERNAL);
                let silent = internal && self.is_blank(id);
                !refused
                    && !self.status(id).is_none_or(is_transient)
                    && !silent
                    && (internal || self.provenance(id) & provenance::LINK == 0 || self.leads_somewhere(id))
            }
        }
    }

    /// Whether the redirects of a URL of another site end at a conclusive response, or nowhere.
    fn leads_somewhere(&self, id: UrlId) -> bool {
        let hops = self.hops(id);
        let end = hops.urls.last().filter(|end| !hops.looped && **end != id);
        end.is_none_or(|end| {
            self.has(*end, PageFlags::INTERNAL) || self.redirect(*end).is_none() && self.is_answered(*end)
        })
    }

    /// Whether an alternate of a page has this URL, is a page of another site, and was not read to its end.
    pub fn is_unread_of(&self, page: UrlId, url: &str) -> bool {
        self.alternates(page)
            .any(|id| self.key(id) == url && self.is_unread(id))
    }

    fn is_unread(&self, id: UrlId) -> bool {
        self.provenance(id) & provenance::HREFLANG != 0
            && self.state(id) == State::Html
            && self.status(id) == Some(200)
            && !self.has(id, PageFlags::READ)
            && !self.has(id, PageFlags::INTERNAL)
    }

    /// Whether a page is empty, which is not conclusive: no title, no heading, no text and no link.
    fn is_blank(&self, id: UrlId) -> bool {
        let place = id.0 as usize;
        let says = [&self.titles, &self.h1s, &self.texts];
        self.state(id) == State::Html
            && self.status(id) == Some(200)
            && self.has(id, PageFlags::DEAD_END)
            && says
                .iter()
                .all(|hashes| hashes.get(place).is_none_or(|hash| *hash == 0))
    }
}
