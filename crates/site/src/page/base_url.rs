//! The base URL of a page, and URLs resolved against it.

use url::Url;

use super::{HtmlFacts, PageFacts};

/// Returns the base URL that URLs of a page are relative to.
pub(crate) fn base_url(facts: &PageFacts, html: &HtmlFacts) -> Option<Url> {
    let url = Url::parse(&facts.url).ok()?;
    let base = html.base.as_ref().and_then(|base| url.join(base).ok());
    Some(
        base.filter(|base| matches!(base.scheme(), "http" | "https"))
            .unwrap_or(url),
    )
}

/// Resolves an http(s) URL, without its fragment.
pub(crate) fn resolve_http(base: &Url, url: &str) -> Option<Url> {
    let mut url = base.join(url.trim()).ok()?;
    url.set_fragment(None);
    matches!(url.scheme(), "http" | "https").then_some(url)
}
