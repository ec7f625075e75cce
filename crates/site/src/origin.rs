//! Facts of the site beside its pages: robots.txt, sitemaps, well-known files, host variants.

use searchwright_text::minhash::Sketch;
use serde::{Deserialize, Serialize};

use crate::{
    fetch::Fault,
    http_status::is_transient,
    page::UrlId,
    robots::Policy,
    sitemap::{self, Sitemap, URL_LIMIT},
    well_known::WellKnownFile,
};

/// Facts that site-scope checks read. Gathered once per audit and stored with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Scheme, host and port of the start URL after its redirects, without a trailing slash.
    pub root: Box<str>,
    /// Page where the start URL ends; site-scope findings belong to the start URL (id 0).
    pub home: UrlId,
    /// robots.txt.
    pub robots: WellKnownFile,
    /// Sitemaps found, including indexes.
    pub sitemaps: Vec<Sitemap>,
    /// Hashes of URLs in sitemaps with a language alternate that they name there, sorted.
    pub alternates: Vec<u64>,
    /// /llms.txt.
    pub llms_txt: WellKnownFile,
    /// Status of /favicon.ico; `None` if it was not fetched or there was no response.
    pub favicon_status: Option<u16>,
    /// The `www.` counterpart (or the bare host), if there is a server.
    pub twin: Option<Variant>,
    /// The root over the other scheme, if there is a server: plain http for an https site, https for an http site.
    pub other_scheme: Option<Variant>,
    /// Status of a made-up URL: 200 means that the site does not report missing pages.
    pub probe_status: Option<u16>,
    /// Responses to made-up URLs, in the root and in the folder that all pages share.
    pub probes: Vec<Probe>,
    /// Whether the root is https and was served over HTTP/1.1, although HTTP/2 was offered.
    pub http1_only: bool,
    /// Expiry of the root's certificate in milliseconds since the Unix epoch.
    pub certificate_until_ms: Option<i64>,
    /// Variants of the root over https whose certificate is not valid, with the fault.
    pub faults: Vec<(Box<str>, Fault)>,
}

/// Response to a made-up URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// URL that was requested.
    pub url: Box<str>,
    /// Final status; 0 without a response.
    pub status: u16,
    /// Hash of the folded title; 0 if absent.
    pub title: u64,
    /// Hash of the folded main text; 0 if absent.
    pub text: u64,
    /// Sketch of the main text, if it has at least 50 words.
    pub sketch: Option<Sketch>,
}

/// Variant of the root URL.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// URL that was requested.
    pub url: Box<str>,
    /// Status of the first response; 0 without a response.
    pub status: u16,
    /// Resolved `Location` of the response.
    pub location: Option<Box<str>>,
}

impl Origin {
    /// Returns the variants of the root that were requested and did not respond.
    pub fn silent_variants(&self) -> impl Iterator<Item = &str> {
        let variants = self.twin.iter().chain(&self.other_scheme);
        variants
            .filter(|variant| variant.status == 0 || is_transient(variant.status))
            .map(|variant| &*variant.url)
    }

    /// Whether robots.txt allows this crawler to fetch the root.
    pub fn permits_root(&self) -> bool {
        match Policy::from_file(&self.robots) {
            Policy::Follow(rules) => rules.forbids("/").is_none(),
            Policy::Unreachable => false,
        }
    }

    /// Adds language alternates of a sitemap.
    pub(crate) fn add_alternates(&mut self, alternates: Vec<u64>) {
        if alternates.is_empty() {
            return;
        }
        self.alternates.extend(alternates);
        self.alternates.sort_unstable();
        self.alternates.dedup();
        self.alternates.truncate(sitemap::ALTERNATE_LIMIT);
    }

    /// Whether a sitemap names a language alternate of a page, both by their normalised URLs, or may do so.
    pub(crate) fn lists_alternate(&self, page: &str, alternate: &str) -> bool {
        self.alternates.len() >= sitemap::ALTERNATE_LIMIT
            || !self.alternates.is_empty()
                && self
                    .alternates
                    .binary_search(&sitemap::named(page, alternate))
                    .is_ok()
    }

    /// Whether a sitemap exists at its URL. A guessed URL does not count if its contents are no sitemap and made-up
    /// URLs get status 200 too.
    pub(crate) fn has(&self, sitemap: &Sitemap) -> bool {
        let says_nothing = !sitemap.declared && sitemap.error.is_some() && sitemap.urls == 0;
        sitemap.status == Some(200) && !(says_nothing && self.probe_status == Some(200))
    }

    /// Whether the contents of a sitemap are unknown or incomplete: there was no response, it cannot be read to its
    /// end, or it is refused while made-up URLs are not.
    pub(crate) fn is_unread(&self, sitemap: &Sitemap) -> bool {
        // a server may refuse URLs at which nobody announced a sitemap
        let [_, rarer @ ..] = sitemap::USUAL;
        let is_guess = !sitemap.declared && rarer.iter().any(|path| sitemap.url.ends_with(path));
        match sitemap.status {
            _ if sitemap.is_left_out() => false,
            Some(401 | 403) if is_guess => false,
            Some(200) => self.has(sitemap) && (sitemap.is_cut() || sitemap.urls > URL_LIMIT),
            status => self.is_withheld(status),
        }
    }

    /// Whether sitemaps may list further URLs, because some were not read or not to their end.
    pub(crate) fn may_list_more(&self) -> bool {
        let mut sitemaps = self.sitemaps.iter();
        sitemaps.any(|sitemap| self.is_unread(sitemap) || sitemap.is_left_out())
    }

    /// Whether a file beside the pages did not respond, or is refused while made-up URLs are not.
    pub(crate) fn is_withheld(&self, status: Option<u16>) -> bool {
        match status {
            Some(401 | 403) => self.probe_status != status,
            status => status.is_none_or(is_transient),
        }
    }

    /// Returns a made-up URL that was requested and did not respond.
    pub fn silent_probe(&self) -> Option<&str> {
        let mut silent = self
            .probes
            .iter()
            .filter(|probe| probe.status == 0 || is_transient(probe.status));
        silent.next().map(|probe| &*probe.url)
    }
}
