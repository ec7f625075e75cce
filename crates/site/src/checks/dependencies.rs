//! Dependencies of a finding beside its page: if one of them did not respond, the absence of the finding proves
//! nothing.

use serde_json::Value;

use super::{Check, FetchVerdict, Scope, prerequisite::Prerequisite};
use crate::{
    graph::{PageFlags, SiteGraph},
    origin::Origin,
    page::{UrlId, cut},
    sitemap::Sitemap,
};

/// Whether evidence describes a microdata object, or lists one.
fn is_of_microdata(evidence: &Value) -> bool {
    let says = |of: &Value| of.get("syntax").and_then(Value::as_str) == Some("microdata");
    let mut lists = evidence
        .as_object()
        .into_iter()
        .flat_map(|members| members.values());
    says(evidence) || lists.any(|list| list.as_array().is_some_and(|list| list.iter().any(says)))
}

/// URLs in evidence that decide whether the problem is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependencies {
    /// No URLs.
    None,
    /// URLs that the page still points at.
    Targets,
    /// Resources of pages.
    Resources,
    /// All other URLs in the evidence.
    Others,
}

impl Check {
    /// Returns the URLs that the check depends on, beside a page with this verdict.
    pub fn dependencies(&self, told: FetchVerdict) -> Dependencies {
        match self.scope {
            _ if self.rests_on.contains(&Prerequisite::Resources) => Dependencies::Resources,
            _ if self.rests_on.contains(&Prerequisite::Targets) => Dependencies::Targets,
            Scope::Targets => Dependencies::Targets,
            Scope::Graph => Dependencies::Others,
            _ if self.is_unmended(told) => Dependencies::Others,
            Scope::Page | Scope::Site => Dependencies::None,
        }
    }

    /// Whether the page still responds as badly as before, so that the finding depends on its inlinks.
    fn is_unmended(&self, told: FetchVerdict) -> bool {
        self.rests_on.contains(&Prerequisite::Inlinks)
            && matches!(told, FetchVerdict::Gone | FetchVerdict::Address)
    }

    /// Whether the check counts the inlinks of a page.
    pub fn counts_inlinks(&self) -> bool {
        let counts = |fact: &Prerequisite| matches!(fact, Prerequisite::InlinkCount | Prerequisite::NoInlink);
        self.rests_on.iter().any(counts)
    }

    /// Whether a page without a response may contain another link to the page. A page with an inlink is no orphan.
    pub fn doubts_inlinks(&self, page: UrlId, index: &SiteGraph) -> bool {
        self.counts_inlinks()
            && index.may_be_linked(page)
            && !(self.rests_on.contains(&Prerequisite::NoInlink) && index.followed_by(page).next().is_some())
    }

    /// Whether the check needs to know which sitemaps list a page, and not all sitemaps could be read.
    pub fn doubts_listing(&self, origin: &Origin) -> bool {
        self.rests_on.contains(&Prerequisite::Listed) && origin.may_list_more()
    }

    /// Whether the check depends on the contents of a page's alternates.
    pub fn looks_inside_alternates(&self) -> bool {
        self.rests_on.contains(&Prerequisite::Alternates)
    }

    /// Returns the reason why requests beside the page are inconclusive for a problem with this evidence; `None` if
    /// they are not.
    pub fn unmet_beside(&self, evidence: &Value, told: FetchVerdict, origin: &Origin) -> Option<String> {
        let listed = || evidence.get("inSitemap") == Some(&Value::Bool(true));
        if self.is_unmended(told) && listed() && origin.may_list_more() {
            return Some("a sitemap could not be read".to_owned());
        }
        // the evidence is about a sitemap of a subdomain that was not read this time
        let is_elsewhere = |url: &&str| !url.starts_with(&*origin.root);
        if self.rests_on.contains(&Prerequisite::Sitemaps)
            && self.scope == Scope::Site
            && origin.sitemaps.iter().any(Sitemap::is_left_out)
            && urls(evidence).iter().any(is_elsewhere)
        {
            return Some("not all sitemaps were read".to_owned());
        }
        if evidence.get("method").and_then(Value::as_str) == Some("probe") {
            if origin.probes.is_empty() {
                return Some("no nonexistent URL was requested for comparison".to_owned());
            }
            let url = origin.silent_probe()?;
            return Some(format!("{url} (nonexistent, for comparison) did not respond"));
        }
        if let FetchVerdict::Cut(lists) = told
            && lists & cut::OBJECTS != 0
            && !self.rests_on.contains(&Prerequisite::ObjectNames)
            && (self.rests_on.contains(&Prerequisite::ObjectEnds) || is_of_microdata(evidence))
        {
            return Some("the microdata of the page could not be read unambiguously".to_owned());
        }
        let named = urls(evidence);
        let url = origin.silent_variants().find(|url| named.contains(url))?;
        Some(format!("{url} did not respond"))
    }

    /// Returns an alternate on another site that the page still names and that responded, but names no alternates any
    /// more: it may do so in a sitemap, so the evidence is not disproven.
    pub fn mute_alternate(&self, evidence: &Value, page: UrlId, index: &SiteGraph) -> Option<UrlId> {
        if !self.rests_on.contains(&Prerequisite::ReturnLinks) {
            return None;
        }
        let (named, cut) = (urls(evidence), is_cut(evidence));
        let is_mute = |id: &UrlId| {
            let read = index.has(*id, PageFlags::READ) && !index.has(*id, PageFlags::INTERNAL);
            read && index.alternates(*id).next().is_none() && (cut || named.contains(&index.key(*id)))
        };
        index.alternates(page).find(is_mute)
    }
}

/// Maximum number of URLs in one piece of evidence that are examined.
const MAX_URLS: usize = 100;

/// Returns the URLs in evidence as written, except those that are only advice, such as the end of a redirect.
pub fn urls(evidence: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut waiting = vec![evidence];
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) if text.starts_with("http") => found.push(text.as_str()),
            Value::Array(items) => waiting.extend(items),
            Value::Object(members) => {
                let named = members
                    .iter()
                    .filter(|(name, _)| !matches!(name.as_str(), "finalUrl" | "final"));
                waiting.extend(named.map(|(_, value)| value));
            }
            _ => {}
        }
        if found.len() >= MAX_URLS {
            break;
        }
    }
    found
}

/// Whether evidence counts more entries than it lists.
pub fn is_cut(evidence: &Value) -> bool {
    let Value::Object(members) = evidence else {
        return false;
    };
    let named = members.values().filter_map(Value::as_array).map(Vec::len).max();
    let total = members.get("total").and_then(Value::as_u64);
    total.is_some_and(|total| total > named.unwrap_or(0) as u64) || members.values().any(is_cut)
}

impl SiteGraph {
    /// Whether a page links or redirects to a URL, or names it as canonical or alternate, also through redirects.
    pub fn points_at(&self, page: UrlId, target: UrlId) -> bool {
        self.is_linked(page, target)
            || self.redirected_to(target).any(|from| self.is_linked(page, from))
            || self.is_alternate(page, target)
            || self.canonical(page) == Some(target)
            || self.hops(page).urls.contains(&target)
    }

    /// Returns for every page whether it points at one of these URLs.
    pub fn pointing_at(&self, targets: impl Iterator<Item = UrlId>) -> Vec<bool> {
        let mut wanted = vec![false; self.len()];
        for target in targets {
            wanted[target.0 as usize] = true;
        }
        let is_wanted = |id: UrlId| wanted[id.0 as usize];
        let mut pointing = vec![false; self.len()];
        for target in (0..self.len() as u32).map(UrlId) {
            if is_wanted(target) {
                let addresses = std::iter::once(target).chain(self.redirected_to(target));
                for (page, _) in addresses.flat_map(|address| self.inlinks(address)) {
                    pointing[page.0 as usize] = true;
                }
            }
            pointing[target.0 as usize] |= self.canonical(target).is_some_and(is_wanted)
                || self.redirect(target).is_some() && self.hops(target).urls.into_iter().any(is_wanted);
        }
        for (page, alternate) in &self.alternates {
            pointing[*page as usize] |= is_wanted(UrlId(*alternate));
        }
        pointing
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{is_cut, urls};

    #[test]
    fn urls_of_evidence_and_their_completeness() {
        let all =
            json!({"links": [{"url": "https://e.example/a", "finalUrl": "https://e.example/b"}], "total": 1});
        assert_eq!(urls(&all), ["https://e.example/a"]);
        assert!(!is_cut(&all) && !is_cut(&json!({})) && !is_cut(&json!({"status": 404})));
        assert!(is_cut(&json!({"links": [{}, {}], "total": 3})));
        assert!(is_cut(
            &json!({"follow": {"pages": ["x"], "total": 2}, "nofollow": {"pages": ["x"], "total": 1}})
        ));
    }
}
