//! The page of a post that was published, as a search engine sees it: does it say what it should, and may it be indexed.

use url::Url;

use crate::{
    fetch::Response,
    page::{At, HtmlFacts, Intern, Limits, UrlId, directives, read},
};

/// Properties that the page of a post should have.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// Its address.
    pub url: &'a Url,
    /// Title of the post.
    pub title: &'a str,
    /// Address that search engines are to take for it.
    pub canonical: &'a str,
}

/// Addresses of a page by their number.
#[derive(Default)]
struct Addresses(Vec<String>);

impl Intern for Addresses {
    fn intern(&mut self, url: &Url) -> Option<UrlId> {
        self.intern_key(url.as_str())
    }

    fn intern_key(&mut self, key: &str) -> Option<UrlId> {
        let at = self.0.iter().position(|known| known == key).unwrap_or_else(|| {
            self.0.push(key.to_owned());
            self.0.len() - 1
        });
        u32::try_from(at).ok().map(UrlId)
    }
}

impl Expected<'_> {
    /// Returns the codes of the faults of a page that was fetched at a time, in milliseconds since 1970.
    pub fn faults(&self, response: &Response, fetched_at_ms: i64) -> Vec<&'static str> {
        let mut addresses = Addresses::default();
        let at = At {
            id: UrlId(u32::MAX),
            attempts: 1,
            fetched_at_ms,
        };
        let facts = read(response, self.url, at, &mut addresses, &Limits::default());
        let mut findings = Vec::new();
        let Some(html) = facts.html.as_deref() else {
            return vec!["title_missing"];
        };
        if !says(html, self.title) {
            findings.push("title_missing");
        }
        let expected = self.canonical.trim_end_matches('/');
        let elsewhere = facts
            .canonical()
            .and_then(|id| addresses.0.get(id.0 as usize))
            .is_some_and(|named| named.trim_end_matches('/') != expected);
        if elsewhere {
            findings.push("canonical_elsewhere");
        }
        if directives(&facts).noindex() {
            findings.push("noindex");
        }
        findings
    }
}

/// Returns whether the title or a heading contains the title of the post. Only letters and digits are compared, because themes
/// change quotes and spaces.
fn says(html: &HtmlFacts, title: &str) -> bool {
    let plain = |text: &str| -> String {
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect()
    };
    let wanted = plain(title);
    let titles = html.titles.iter().map(|title| plain(title));
    let headings = html.headings.iter().map(|heading| plain(&heading.text));
    titles.chain(headings).any(|text| text.contains(&wanted))
}
