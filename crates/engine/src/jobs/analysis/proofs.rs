//! What an audit proves of problems that were known before and that it did not find again. Nothing is resolved by silence:
//! not by a page or a target that gave no answer, nor by what the crawl left out.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, OnceLock},
};

use searchwright_contract::Instant;
use searchwright_site::{
    checks::{Check, Resolution, Rules, Scope, Told, registry},
    graph::{Index, flag},
    page::UrlId,
    text::hash,
};
use searchwright_store::issues::{Settled, Unseen};
use serde_json::Value;
use uuid::Uuid;

use super::{
    super::named::{key, urls},
    Measured,
    evaluate::{issue_id, page_id},
};

/// What is known of the pages of an audit.
pub(super) struct Proofs {
    pub(super) index: Arc<Index>,
    pub(super) project: Uuid,
    pub(super) began: Instant,
    /// Of pages that are no whole HTML, what their answers tell.
    pub(super) told: HashMap<Uuid, Told>,
    /// See [`Measured`].
    pub(super) measured: Measured,
    /// Checks that failed on some page, or that lack what they rest on.
    pub(super) unproven: HashSet<&'static str>,
}

/// One issue of an audit.
pub(super) struct Proof<'a> {
    proofs: &'a Proofs,
    issue: Uuid,
    /// `None` proves nothing: the check is off, or no more.
    check: Option<&'static Check>,
    /// Its condition is another than in the audit before.
    rule_changed: bool,
}

/// Addresses and pages of an audit, for those few questions that need them.
#[derive(Default)]
pub(in crate::jobs) struct Lookup {
    /// Hashes of the URLs of which nothing was learnt, sorted.
    silent: OnceLock<Vec<(u64, u32)>>,
    pages: OnceLock<HashMap<Uuid, UrlId>>,
}

impl Proofs {
    /// What there is to know of every issue that the registry knows.
    pub(super) fn by_issue(&self, rules: &Rules, before: &Rules) -> HashMap<Uuid, Proof<'_>> {
        let of = |check: &'static Check| {
            let issue = issue_id(self.project, check.id);
            let proof = Proof {
                proofs: self,
                issue,
                check: (!rules.is_off(check) && !self.unproven.contains(check.id)).then_some(check),
                rule_changed: rules.differ(before, check),
            };
            (issue, proof)
        };
        registry().iter().map(of).collect()
    }
}

impl Proof<'_> {
    /// What becomes of occurrences of the issue.
    pub(super) fn settle(&self, unseen: Vec<Unseen>, lookup: &Lookup) -> Settled {
        let mut settled = Settled::default();
        for was in unseen {
            if was.checked_at > self.proofs.began {
                settled.newer.push(was.page);
                continue;
            }
            match self.resolution(&was, lookup) {
                Some(Resolution::Fixed) if self.rule_changed => {
                    settled.resolved.push((was.page, "rule_changed"))
                }
                Some(resolution) => settled.resolved.push((was.page, resolution.code())),
                None => settled.stale.push(was.page),
            }
        }
        settled
    }

    fn resolution(&self, was: &Unseen, lookup: &Lookup) -> Option<Resolution> {
        let check = self.check.filter(|_| was.visited)?;
        let told = self.proofs.told.get(&was.page).copied().unwrap_or(Told::Whole);
        let resolution = check.resolution(told)?;
        let over = resolution == Resolution::PageGone
            || self.is_measured(was.page) && !self.is_silent(check, was, lookup);
        over.then_some(resolution)
    }

    fn is_measured(&self, page: Uuid) -> bool {
        let measured = self.proofs.measured.get(&self.issue);
        measured.is_none_or(|pages| pages.contains(&page))
    }

    /// Whether the check was about something of which this audit learnt nothing: a target that the page points at still, or
    /// another page that it was compared with.
    fn is_silent(&self, check: &Check, was: &Unseen, lookup: &Lookup) -> bool {
        if !matches!(check.scope, Scope::Targets | Scope::Graph) {
            return false;
        }
        let Ok(evidence) = serde_json::from_str::<Value>(&was.evidence) else {
            return false;
        };
        let Proofs { index, project, .. } = self.proofs;
        let resources = index.resources();
        urls(&evidence).into_iter().any(|url| {
            if check.is_of_resources() {
                return resources.silence(url).is_some();
            }
            let Some(key) = key(url) else { return false };
            let mut ids = lookup.silent(index, &key).peekable();
            match check.scope {
                Scope::Graph => ids.peek().is_some(),
                _ => {
                    let page = lookup.page(index, *project, was.page);
                    page.is_some_and(|page| ids.any(|target| index.points_at(page, target)))
                }
            }
        })
    }
}

impl Lookup {
    pub(in crate::jobs) fn silent<'a>(
        &'a self,
        index: &'a Index,
        key: &'a str,
    ) -> impl Iterator<Item = UrlId> + 'a {
        let all = self.silent.get_or_init(|| {
            let ids = (0..index.len() as u32)
                .map(UrlId)
                .filter(|id| !index.is_told(*id));
            let mut all: Vec<(u64, u32)> = ids.map(|id| (hash(index.key(id).as_bytes()), id.0)).collect();
            all.sort_unstable();
            all
        });
        let hash = hash(key.as_bytes());
        let start = all.partition_point(|(other, _)| *other < hash);
        all[start..]
            .iter()
            .take_while(move |(other, _)| *other == hash)
            .map(|(_, id)| UrlId(*id))
            .filter(move |id| index.key(*id) == key)
    }

    fn page(&self, index: &Index, project: Uuid, page: Uuid) -> Option<UrlId> {
        let pages = self.pages.get_or_init(|| {
            let ids = (0..index.len() as u32).map(UrlId);
            ids.filter(|id| index.has(*id, flag::INTERNAL))
                .map(|id| (page_id(project, index.key(id)), id))
                .collect()
        });
        pages.get(&page).copied()
    }
}
