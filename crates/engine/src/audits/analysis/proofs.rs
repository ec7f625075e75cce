//! What an audit proves of problems that were known before and that it did not find again. Nothing is resolved by silence:
//! not by a page or a target that gave no answer, nor by what the crawl left out.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use searchwright_contract::Instant;
use searchwright_site::{
    checks::{Check, FetchVerdict, Resolution, Rules, registry},
    graph::SiteGraph,
    origin::Origin,
    urls::provenance,
};
use searchwright_store::issues::{Settlement, UnseenOccurrence};
use serde_json::Value;
use uuid::Uuid;

use super::{
    super::{ids::issue_id, witnessed::Witnessed},
    Measured,
};

/// What is known of the pages of an audit.
pub(super) struct Proofs {
    pub(super) index: Arc<SiteGraph>,
    pub(super) origin: Origin,
    pub(super) project: Uuid,
    pub(super) began: Instant,
    /// Of pages that are no whole HTML, what their answers tell.
    pub(super) told: HashMap<Uuid, FetchVerdict>,
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
    pub(super) fn settle(&self, unseen: Vec<UnseenOccurrence>, witnessed: &Witnessed<'_>) -> Settlement {
        let mut settled = Settlement::default();
        for was in unseen {
            if was.checked_at > self.proofs.began {
                settled.newer.push(was.page);
                continue;
            }
            match self.resolution(&was, witnessed) {
                Some(Resolution::Fixed) if self.rule_changed => {
                    settled.resolved.push((was.page, "rule_changed"))
                }
                Some(resolution) => settled.resolved.push((was.page, resolution.code())),
                None => settled.stale.push(was.page),
            }
        }
        settled
    }

    fn resolution(&self, was: &UnseenOccurrence, witnessed: &Witnessed<'_>) -> Option<Resolution> {
        let check = self.check.filter(|_| was.visited)?;
        let told = self
            .proofs
            .told
            .get(&was.page)
            .copied()
            .unwrap_or(FetchVerdict::Whole);
        let left_behind = || {
            self.is_left_behind(was.page, told, witnessed)
                .then_some(Resolution::PageGone)
        };
        let resolution = check.resolution(told).or_else(left_behind)?;
        let over = resolution == Resolution::PageGone
            || self.is_measured(was.page) && !self.is_silent(check, (was, told), witnessed);
        over.then_some(resolution)
    }

    /// A page that sends its visitors on, be it for now, and that the whole site does not name any more, is gone for the site.
    fn is_left_behind(&self, page: Uuid, told: FetchVerdict, witnessed: &Witnessed<'_>) -> bool {
        let index = &self.proofs.index;
        let is_so = |id| {
            let is_redirect = index
                .status(id)
                .is_some_and(|status| (300..400).contains(&status));
            is_redirect && index.inlinks(id).len() == 0 && index.provenance(id) & !provenance::PREVIOUS == 0
        };
        told == FetchVerdict::Address
            && index.complete()
            && witnessed.page(self.proofs.project, page).is_some_and(is_so)
    }

    fn is_measured(&self, page: Uuid) -> bool {
        let measured = self.proofs.measured.get(&self.issue);
        measured.is_none_or(|pages| pages.contains(&page))
    }

    /// Whether the problem rested on something of which this audit learnt nothing.
    fn is_silent(
        &self,
        check: &Check,
        (was, told): (&UnseenOccurrence, FetchVerdict),
        witnessed: &Witnessed<'_>,
    ) -> bool {
        let Ok(evidence) = serde_json::from_str::<Value>(&was.evidence) else {
            return false;
        };
        let page = || witnessed.page(self.proofs.project, was.page);
        witnessed.silence(check, (&evidence, told), page).is_some()
    }
}
