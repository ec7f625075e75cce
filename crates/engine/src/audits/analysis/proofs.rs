//! Proofs that known problems are fixed, when an audit did not find them again. Nothing is resolved by silence: not by a page
//! or a target that gave no answer, nor by what the crawl left out.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use searchwright_contract::{
    Instant,
    ids::{IssueId, PageId},
};
use searchwright_crawls::{dependency_check::DependencyCheck, ids::issue_id};
use searchwright_site::{
    checks::{Check, FetchVerdict, Resolution, Rules, registry},
    graph::SiteGraph,
    origin::Origin,
    urls::provenance,
};
use searchwright_store::issues::{Settlement, UnseenOccurrence};
use serde_json::Value;
use uuid::Uuid;

use super::Measured;

/// Facts about the pages of an audit from which proofs are made.
pub(super) struct Proofs {
    pub(super) index: Arc<SiteGraph>,
    pub(super) origin: Origin,
    pub(super) project: Uuid,
    pub(super) began: Instant,
    /// Verdicts of the answers of pages that are not complete HTML.
    pub(super) told: HashMap<PageId, FetchVerdict>,
    /// See [`Measured`].
    pub(super) measured: Measured,
    /// Checks that failed on some page, or whose prerequisites are missing.
    pub(super) unproven: HashSet<&'static str>,
}

/// Proof for one issue of an audit.
pub(super) struct Proof<'a> {
    proofs: &'a Proofs,
    issue: IssueId,
    /// Check of the issue; `None` if it proves nothing: it is off, it failed, or its prerequisites are missing.
    check: Option<&'static Check>,
    /// Whether the condition of the check differs from the previous audit.
    rule_changed: bool,
}

impl Proofs {
    /// Returns the proof for the issue of each check in the registry.
    pub(super) fn by_issue(&self, rules: &Rules, before: &Rules) -> HashMap<IssueId, Proof<'_>> {
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
    /// Decides on occurrences of the issue that were not found again: resolved, stale, or newer than the audit.
    pub(super) fn settle(
        &self,
        unseen: Vec<UnseenOccurrence>,
        dependencies: &DependencyCheck<'_>,
    ) -> Settlement {
        let mut settled = Settlement::default();
        for was in unseen {
            if was.checked_at > self.proofs.began {
                settled.newer.push(was.page);
                continue;
            }
            match self.resolution(&was, dependencies) {
                Some(Resolution::Fixed) if self.rule_changed => {
                    settled.resolved.push((was.page, "rule_changed"))
                }
                Some(resolution) => settled.resolved.push((was.page, resolution.code())),
                None => settled.stale.push(was.page),
            }
        }
        settled
    }

    fn resolution(&self, was: &UnseenOccurrence, dependencies: &DependencyCheck<'_>) -> Option<Resolution> {
        let check = self.check.filter(|_| was.visited)?;
        let told = self
            .proofs
            .told
            .get(&was.page)
            .copied()
            .unwrap_or(FetchVerdict::Whole);
        let left_behind = || {
            self.is_left_behind(was.page, told, dependencies)
                .then_some(Resolution::PageGone)
        };
        let resolution = check.resolution(told).or_else(left_behind)?;
        let over = resolution == Resolution::PageGone
            || self.is_measured(was.page) && !self.is_silent(check, (was, told), dependencies);
        over.then_some(resolution)
    }

    /// Returns whether a page redirects, even temporarily, and nothing on the site names it any more: for the site it is gone.
    fn is_left_behind(&self, page: PageId, told: FetchVerdict, dependencies: &DependencyCheck<'_>) -> bool {
        let index = &self.proofs.index;
        let is_so = |id| {
            let is_redirect = index
                .status(id)
                .is_some_and(|status| (300..400).contains(&status));
            is_redirect && index.inlinks(id).len() == 0 && index.provenance(id) & !provenance::PREVIOUS == 0
        };
        told == FetchVerdict::Address
            && index.complete()
            && dependencies.page(self.proofs.project, page).is_some_and(is_so)
    }

    fn is_measured(&self, page: PageId) -> bool {
        let measured = self.proofs.measured.get(&self.issue);
        measured.is_none_or(|pages| pages.contains(&page))
    }

    /// Returns whether the problem depends on something that gave no answer in this audit.
    fn is_silent(
        &self,
        check: &Check,
        (was, told): (&UnseenOccurrence, FetchVerdict),
        dependencies: &DependencyCheck<'_>,
    ) -> bool {
        let Ok(evidence) = serde_json::from_str::<Value>(&was.evidence) else {
            return false;
        };
        let page = || dependencies.page(self.proofs.project, was.page);
        dependencies.silence(check, &evidence, told, page).is_some()
    }
}
