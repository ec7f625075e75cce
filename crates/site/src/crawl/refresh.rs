//! Target of `<meta http-equiv="refresh">`, which is followed like a link.

use url::Url;

use super::scope::CrawlScope;
use crate::page::{PageFacts, base_url, refresh, resolve_http};

/// Longest content that is certainly complete, in bytes: facts keep the first 500 characters.
const WHOLE: usize = 499;

/// Returns the target URL if it is on the site.
pub(super) fn target(page: &PageFacts, scope: &CrawlScope) -> Option<Url> {
    let html = page.html_200()?;
    let named = html.metas.iter().filter(|meta| &*meta.name == "=refresh");
    let mut named = named.filter(|meta| meta.content.len() <= WHOLE);
    let written = named.find_map(|meta| Some(refresh(&meta.content)?.1))?;
    let target = resolve_http(&base_url(page, html)?, written)?;
    scope.is_internal(target.as_str()).then_some(target)
}
