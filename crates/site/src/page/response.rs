//! Turns an HTTP response into facts.

use std::collections::HashSet;

use http::{HeaderMap, header};
use searchwright_text as text;
use url::Url;

use super::{
    At, HeaderFacts, HtmlFacts, Intern, Limits, LinkRel, Outcome, PageFacts, charset, headers,
    limits::ALTERNATES, links::Resolver, not_modified, reader::Reader,
};
use crate::fetch::Response;

/// Reads a response. Takes time linear in the size of the body and never fails: any response yields some facts.
pub fn read(response: &Response, url: &Url, at: At, intern: &mut dyn Intern, limits: &Limits) -> PageFacts {
    let header = headers::read(&response.headers, url, intern);
    let outcome = outcome(response, url, intern);
    let looks_html = looks_like_html(&response.body);
    let is_html = !matches!(outcome, Outcome::Redirect { .. })
        && is_html(&header, looks_html)
        // an empty body is an empty page, unless it was cut off
        && (!response.body.is_empty() || response.status == 200 && response.cut.is_none());
    let mut html = is_html.then(|| {
        let (html, used) = charset::decode(&response.body, header.content_type.as_deref(), url.host_str());
        let resolver = Resolver::new(url, at.id, intern);
        let mut facts = Reader::new(&html, resolver, limits, at.fetched_at_ms).read();
        facts.charset = used;
        Box::new(facts)
    });
    let alternates = match &mut html {
        Some(html) => html.alternates_of_headers(&response.headers, url, intern),
        None => 0,
    };
    let mut facts = PageFacts {
        outcome,
        ttfb_ms: u32::try_from(response.ttfb.as_millis()).unwrap_or(u32::MAX),
        wire_bytes: response.wire_bytes,
        body_bytes: response.body.len() as u64,
        cut: response.cut,
        headers: header,
        looks_html,
        html,
        ..PageFacts::without_answer(url, at, Outcome::Status(response.status))
    };
    // a 304 may omit `Link` headers, so alternates named there cannot be reused
    if alternates == 0 {
        facts.validators = not_modified::validators(&facts, response);
    }
    facts
}

impl HtmlFacts {
    /// Adds the language alternates of `Link` headers to those of the page; returns their number.
    pub(super) fn alternates_of_headers(
        &mut self,
        headers: &HeaderMap,
        url: &Url,
        intern: &mut dyn Intern,
    ) -> usize {
        if !headers.contains_key(header::LINK) {
            return 0;
        }
        let mut named = headers::alternates(headers, url, intern);
        let count = named.len();
        if count == 0 {
            return 0;
        }
        // frameworks name alternates in both places
        let place = |link: &LinkRel| match link.target {
            Some(target) => (link.rel.clone(), Ok(target)),
            None => (link.rel.clone(), Err(link.href.clone())),
        };
        let known: HashSet<_> = self.hreflangs.iter().map(place).collect();
        named.retain(|link| !known.contains(&place(link)));
        named.truncate(ALTERNATES.saturating_sub(self.hreflangs.len()));
        self.hreflangs.append(&mut named);
        count
    }
}

fn outcome(response: &Response, url: &Url, intern: &mut dyn Intern) -> Outcome {
    let status = response.status;
    if !(300..400).contains(&status) || status == 304 {
        return Outcome::Status(status);
    }
    let location = response
        .headers
        .get(header::LOCATION)
        .map(|value| String::from_utf8_lossy(value.as_bytes()));
    let target = location.as_deref().and_then(|location| {
        let target = url.join(location.trim()).ok()?;
        if matches!(target.scheme(), "http" | "https") {
            intern.intern(&target)
        } else {
            None
        }
    });
    Outcome::Redirect {
        status,
        location: location.map(|l| text::cut(&l, 2_048).into()),
        target,
    }
}

fn is_html(headers: &HeaderFacts, looks_html: bool) -> bool {
    let Some(content_type) = &headers.content_type else {
        return looks_html;
    };
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.is_empty() && looks_html
        || essence.eq_ignore_ascii_case("text/html")
        || essence.eq_ignore_ascii_case("application/xhtml+xml")
}

/// Whether a body begins with a signature of HTML in the MIME Sniffing Standard, section 7.1.
fn looks_like_html(body: &[u8]) -> bool {
    const SIGNATURES: [&str; 17] = [
        "<!doctype html",
        "<html",
        "<head",
        "<script",
        "<iframe",
        "<h1",
        "<div",
        "<font",
        "<table",
        "<a",
        "<style",
        "<title",
        "<b",
        "<body",
        "<br",
        "<p",
        "<!--",
    ];
    let body = body
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(body)
        .trim_ascii_start();
    SIGNATURES.iter().any(|signature| {
        let signature = signature.as_bytes();
        body.get(..signature.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(signature))
            && (signature == b"<!--"
                || matches!(
                    body.get(signature.len()),
                    Some(b' ' | b'>' | b'\t' | b'\n' | b'\r' | b'\x0c')
                ))
    })
}
