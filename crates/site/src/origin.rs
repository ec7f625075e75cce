//! The site as a whole, beside its pages: robots.txt, sitemaps, well-known files, host variants.

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

/// Everything site-scope checks read. Gathered once per audit, stored with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Scheme, host and port of the start URL after its redirects, without a trailing slash.
    pub root: Box<str>,
    /// The page the start URL ends at; site-scope findings hang on the start URL (id 0).
    pub home: UrlId,
    /// robots.txt.
    pub robots: WellKnownFile,
    /// Sitemaps found, indexes included.
    pub sitemaps: Vec<Sitemap>,
    /// /llms.txt.
    pub llms_txt: WellKnownFile,
    /// Status of /favicon.ico; `None` when not asked or no answer.
    pub favicon_status: Option<u16>,
    /// The `www.` twin (or the bare host), when somebody serves there.
    pub twin: Option<Variant>,
    /// The root over the other scheme, when somebody serves there: plain http of a site on https, https of one on http.
    pub other_scheme: Option<Variant>,
    /// Status of a made-up URL: 200 means that the site does not say 404.
    pub probe_status: Option<u16>,
    /// Answers of made-up URLs, in the root and in the folder that all pages share.
    pub probes: Vec<Probe>,
    /// The root is https and was answered over HTTP/1.1, although HTTP/2 was offered.
    pub http1_only: bool,
    /// Expiry of the root's certificate, milliseconds since the Unix epoch.
    pub certificate_until_ms: Option<i64>,
    /// Spellings of the root over https that cannot be reached for their certificate, and what is wrong with it.
    pub faults: Vec<(Box<str>, Fault)>,
}

/// Answer of a made-up URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The URL asked.
    pub url: Box<str>,
    /// Final status; 0 without an answer.
    pub status: u16,
    /// Hash of the folded title; 0 when absent.
    pub title: u64,
    /// Hash of the folded main text; 0 when absent.
    pub text: u64,
    /// Sketch of a main text of at least 50 words.
    pub sketch: Option<Sketch>,
}

/// Another way to spell the root.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// The URL asked.
    pub url: Box<str>,
    /// First answer's status; 0 without an answer.
    pub status: u16,
    /// Its `Location`, resolved.
    pub location: Option<Box<str>>,
}

impl Origin {
    /// Other spellings of the root that were asked for and gave no answer.
    pub fn silent_variants(&self) -> impl Iterator<Item = &str> {
        let variants = self.twin.iter().chain(&self.other_scheme);
        variants
            .filter(|variant| variant.status == 0 || is_transient(variant.status))
            .map(|variant| &*variant.url)
    }

    /// Whether robots.txt lets this crawler fetch the root.
    pub fn permits_root(&self) -> bool {
        match Policy::from_file(&self.robots) {
            Policy::Follow(rules) => rules.forbids("/").is_none(),
            Policy::Unreachable => false,
        }
    }

    /// Whether there is something where a sitemap was looked for: not where nobody has said that one is, and the answer is none
    /// and the same as to made-up URLs.
    pub(crate) fn has(&self, sitemap: &Sitemap) -> bool {
        let says_nothing = !sitemap.declared && sitemap.error.is_some() && sitemap.urls == 0;
        sitemap.status == Some(200) && !(says_nothing && self.probe_status == Some(200))
    }

    /// Nothing is known of what a sitemap lists, or not of all: there was no answer, what came cannot be read to its end, or it is
    /// refused and made-up URLs are not.
    pub(crate) fn is_unread(&self, sitemap: &Sitemap) -> bool {
        // a server may forbid what nobody has said that it has
        let [_, rarer @ ..] = sitemap::USUAL;
        let is_guess = !sitemap.declared && rarer.iter().any(|path| sitemap.url.ends_with(path));
        match sitemap.status {
            _ if sitemap.is_left_out() => false,
            Some(401 | 403) if is_guess => false,
            Some(200) => self.has(sitemap) && (sitemap.is_cut() || sitemap.urls > URL_LIMIT),
            status => self.is_withheld(status),
        }
    }

    /// Whether sitemaps may list what those that were read do not: one was not, or not to its end.
    pub(crate) fn may_list_more(&self) -> bool {
        let mut sitemaps = self.sitemaps.iter();
        sitemaps.any(|sitemap| self.is_unread(sitemap) || sitemap.is_left_out())
    }

    /// A file beside the pages gave no answer, or is refused and made-up URLs are not.
    pub(crate) fn is_withheld(&self, status: Option<u16>) -> bool {
        match status {
            Some(401 | 403) => self.probe_status != status,
            status => status.is_none_or(is_transient),
        }
    }

    /// A made-up URL that was asked for and gave no answer.
    pub fn silent_probe(&self) -> Option<&str> {
        let mut silent = self
            .probes
            .iter()
            .filter(|probe| probe.status == 0 || is_transient(probe.status));
        silent.next().map(|probe| &*probe.url)
    }
}
