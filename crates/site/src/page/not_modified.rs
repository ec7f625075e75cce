//! A page that has not changed since an earlier audit read it: what its server may be asked by, and what the facts of then
//! become when it says 304.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, header};
use url::Url;

use super::{
    At, HeaderFacts, Intern, PageFacts, headers,
    limits::{ALTERNATES, LIST},
    links::Resolver,
};
use crate::fetch::{Response, Validators};

/// Version of the reader. It is raised by whoever changes the facts that the same bytes give (`html/`, this folder, the crate
/// `text`, the limits of what is kept) or the request (`Accept`), because stored facts are used again as long as it stays.
pub const READER: u32 = 11;

/// Longest validator that is sent back, bytes; most are 30.
const MAX_VALIDATOR_BYTES: usize = 256;
/// A page is read whole at least this often: a server may leave headers out of its 304 (Apache sends hardly any), or call
/// the same what is not.
const LASTS_MS: i64 = 30 * 24 * 3_600_000;
/// A first byte later than this is measured on a whole answer, with which a 304 has little in common, milliseconds.
pub(crate) const SLOW_MS: u32 = 800;
/// Bodies of more bytes than this should be compressed.
const LARGE: u64 = 1_024;

/// By what the server of a page that was just read may be asked later whether it has changed.
pub(super) fn validators(facts: &PageFacts, response: &Response) -> Option<Box<Validators>> {
    if !is_reusable(facts) || varies(&response.headers) {
        return None;
    }
    let text = |name: HeaderName| {
        let value = response.headers.get(name)?;
        let text = value.to_str().ok()?;
        (!text.is_empty() && text.len() <= MAX_VALIDATOR_BYTES).then_some(text)
    };
    let etag = text(header::ETAG).filter(|etag| is_etag(etag));
    let last_modified =
        text(header::LAST_MODIFIED).filter(|date| tells_apart(date, text(header::DATE), facts.fetched_at_ms));
    (etag.is_some() || last_modified.is_some()).then(|| {
        Box::new(Validators {
            etag: etag.map(Into::into),
            last_modified: last_modified.map(Into::into),
            read_at_ms: facts.fetched_at_ms,
        })
    })
}

/// Whether facts say all that reading the same page again would. Those of a cut or failed page do not, nor do lists that
/// leave out what was seen. What only headers or the clock tell may have been mended without a change of the body, of
/// which a 304 says nothing: where something is wanting there, the page is asked for whole.
fn is_reusable(facts: &PageFacts) -> bool {
    let Some(html) = facts.html_200().filter(|_| facts.cut.is_none()) else {
        return false;
    };
    let headers = &facts.headers;
    let declared = html.charset.header.is_some() || html.charset.meta.is_some() || html.charset.bom;
    let compressed = headers.content_encoding.is_some() || facts.body_bytes <= LARGE;
    let header_tells = headers.robots_tags.is_empty() && headers.canonicals.is_empty();
    // its links cannot be resolved again: which of them stood before the base is not known
    let resolvable = html.base.is_none();
    let whole = html.links_total as usize == html.links.len()
        && html.canonicals.len() < LIST
        && html.pagination.len() < LIST
        && html.hreflangs.len() < ALTERNATES;
    declared && compressed && header_tells && resolvable && whole && facts.ttfb_ms <= SLOW_MS
}

/// The answer is never the same (RFC 9110 section 12.5.5).
fn varies(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::VARY).iter();
    values.any(|value| value.as_bytes().contains(&b'*'))
}

/// `"x"` or `W/"x"`; a list or a bare word would be read as something else.
fn is_etag(etag: &str) -> bool {
    let inside = opaque(etag)
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inside.is_some_and(|inside| !inside.contains('"'))
}

fn opaque(etag: &str) -> &str {
    etag.strip_prefix("W/").unwrap_or(etag)
}

/// A page changed twice within the second of its date would have the same date twice (RFC 9110 section 8.8.2.2).
fn tells_apart(modified: &str, date: Option<&str>, fetched_at_ms: i64) -> bool {
    let Ok(modified) = httpdate::parse_http_date(modified) else {
        return false;
    };
    let fetched = Duration::from_millis(u64::try_from(fetched_at_ms).unwrap_or(0));
    let answered = match date.map(httpdate::parse_http_date) {
        Some(Ok(date)) => date,
        _ => SystemTime::UNIX_EPOCH + fetched,
    };
    answered
        .duration_since(modified)
        .is_ok_and(|age| age >= Duration::from_secs(1))
}

impl Validators {
    /// Whether the page need not be read whole yet.
    pub fn last(&self, now_ms: i64) -> bool {
        (0..LASTS_MS).contains(&(now_ms - self.read_at_ms))
    }

    /// Whether a 304 is about the page they belong to: if it says which page it means, that has to be the one that was
    /// asked about (RFC 9111 section 4.3.4).
    pub fn are_meant_by(&self, headers: &HeaderMap) -> bool {
        let said = |name: HeaderName| headers.get(name).map(|value| value.as_bytes());
        match (&self.etag, said(header::ETAG)) {
            (Some(known), Some(said)) => {
                std::str::from_utf8(said).is_ok_and(|said| opaque(said) == opaque(known))
            }
            _ => match (&self.last_modified, said(header::LAST_MODIFIED)) {
                (Some(known), Some(said)) => known.as_bytes() == said,
                _ => true,
            },
        }
    }
}

/// The facts of a page that an earlier audit read, with its texts, after a 304. They become what reading the page now would
/// have made of it: the body is the same, so only ids, of which every crawl has its own, and what belongs to the exchange
/// are new.
pub fn unchanged(
    mut facts: PageFacts,
    known: &Validators,
    answer: &Response,
    url: &Url,
    at: At,
    intern: &mut dyn Intern,
) -> PageFacts {
    let newer = headers::read(&answer.headers, url, intern);
    facts.headers = updated(facts.headers, newer);
    (facts.id, facts.attempts, facts.fetched_at_ms) = (at.id, at.attempts, at.fetched_at_ms);
    facts.ttfb_ms = u32::try_from(answer.ttfb.as_millis()).unwrap_or(u32::MAX);
    let mut alternates = 0;
    if let Some(html) = &mut facts.html {
        let mut resolver = Resolver::new(url, at.id, intern);
        // in the order in which pages have them: what is named first decides the form that is fetched
        let relations = [&mut html.canonicals, &mut html.hreflangs, &mut html.pagination];
        for relation in relations.into_iter().flatten() {
            relation.target = if relation.href.is_empty() {
                None
            } else {
                resolver.target(&relation.href)
            };
        }
        html.links.resolve(|href| resolver.target(href));
        alternates = html.alternates_of_headers(&answer.headers, url, intern);
    }
    facts.validators = (alternates == 0 && is_reusable(&facts)).then(|| Box::new(known.clone()));
    facts
}

/// Replaces headers that were known by those of a 304 (RFC 9111 section 4.3.4 with 3.2), but for what tells of the
/// body, which it does not have: its type and its coding. What it does not say stays, because it need not say much.
fn updated(known: HeaderFacts, newer: HeaderFacts) -> HeaderFacts {
    fn or<T>(newer: Vec<T>, known: Vec<T>) -> Vec<T> {
        if newer.is_empty() { known } else { newer }
    }
    HeaderFacts {
        content_type: known.content_type,
        content_encoding: known.content_encoding,
        robots_tags: or(newer.robots_tags, known.robots_tags),
        canonicals: or(newer.canonicals, known.canonicals),
        server: newer.server.or(known.server),
        retry_after: newer.retry_after.or(known.retry_after),
        cache_control: newer.cache_control.or(known.cache_control),
        hsts: newer.hsts.or(known.hsts),
        csp: newer.csp.or(known.csp),
        frame_options: newer.frame_options.or(known.frame_options),
        content_type_options: newer.content_type_options.or(known.content_type_options),
        referrer_policy: newer.referrer_policy.or(known.referrer_policy),
        last_modified: newer.last_modified.or(known.last_modified),
        // of this exchange or of none
        caches: newer.caches,
    }
}

#[cfg(test)]
mod tests;
