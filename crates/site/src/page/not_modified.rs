//! Conditional requests for a page that an earlier audit read: its validators, and its facts after a 304 (Not
//! Modified).

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, header};
use url::Url;

use super::{
    At, HeaderFacts, Intern, PageFacts, headers,
    limits::{ALTERNATES, LIST},
    links::Resolver,
};
use crate::fetch::{Response, Validators};

/// Version of the reader. Raise it with every change of the facts that the same bytes yield (`html/`, this folder, the
/// crate `text`, the limits of what is kept) or of the request (`Accept`), because stored facts are reused while it
/// stays.
pub const READER: u32 = 12;

/// Maximum length in bytes of a validator that is sent back; most have 30.
const MAX_VALIDATOR_BYTES: usize = 256;
/// Time in milliseconds after which a page is fetched in full: a server may omit headers from a 304 (Apache sends
/// hardly any), or use one validator for different contents.
const LASTS_MS: i64 = 30 * 24 * 3_600_000;
/// Time to first byte in milliseconds above which it is measured on a full response, because that of a 304 is no guide.
pub(crate) const SLOW_MS: u32 = 800;
/// Size of a body in bytes above which it should be compressed.
const LARGE: u64 = 1_024;

/// Returns the validators of a page that was just read, if its facts may be reused.
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

/// Whether facts equal what reading the page again would yield. Facts of a cut or failed page do not, nor do lists with
/// entries left out. Headers may be fixed without a change of the body, which a 304 need not show: if something is
/// wrong there, the page is fetched in full.
fn is_reusable(facts: &PageFacts) -> bool {
    let Some(html) = facts.html_200().filter(|_| facts.cut.is_none()) else {
        return false;
    };
    let headers = &facts.headers;
    let declared = html.charset.header.is_some() || html.charset.meta.is_some() || html.charset.bom;
    let compressed = headers.content_encoding.is_some() || facts.body_bytes <= LARGE;
    let header_tells = headers.robots_tags.is_empty() && headers.canonicals.is_empty();
    // its links cannot be resolved again, since it is unknown which of them come before the base element
    let resolvable = html.base.is_none();
    let whole = html.links_total as usize == html.links.len()
        && html.canonicals.len() < LIST
        && html.pagination.len() < LIST
        && html.hreflangs.len() < ALTERNATES;
    declared && compressed && header_tells && resolvable && whole && facts.ttfb_ms <= SLOW_MS
}

/// Whether the response differs with every request (RFC 9110 section 12.5.5).
fn varies(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::VARY).iter();
    values.any(|value| value.as_bytes().contains(&b'*'))
}

/// Whether a value is `"x"` or `W/"x"`; servers would misread a list or a bare word.
fn is_etag(etag: &str) -> bool {
    let inside = opaque(etag)
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inside.is_some_and(|inside| !inside.contains('"'))
}

fn opaque(etag: &str) -> &str {
    etag.strip_prefix("W/").unwrap_or(etag)
}

/// Whether `Last-Modified` is a strong validator: a page changed twice within one second has the same date twice (RFC
/// 9110 section 8.8.2.2).
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
    /// Whether the validators are still recent enough for a conditional request.
    pub fn last(&self, now_ms: i64) -> bool {
        (0..LASTS_MS).contains(&(now_ms - self.read_at_ms))
    }

    /// Whether a 304 refers to the page of these validators: a validator in the response has to match (RFC 9111 section
    /// 4.3.4).
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

/// Returns the facts of a page after a 304, from those that an earlier audit stored, with its texts. They equal what
/// reading the page now would yield: the body is the same, so only the ids, which differ between crawls, and the facts
/// of this request are new.
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
        // in the order of a full read, because the first mention of a URL decides the form that is fetched
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

/// Replaces known headers by those of a 304 (RFC 9111 sections 4.3.4 and 3.2), except content type and coding, since a
/// 304 has no body. Headers that the 304 omits stay, because it may omit most.
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
        // caches belong to this response only
        caches: newer.caches,
    }
}

#[cfg(test)]
mod tests;
