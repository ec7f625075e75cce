//! Findings of checks, collected until they are written in the order of their keys: the id of the issue, then the id of the page.

use searchwright_contract::ids::{IssueId, PageId};
use searchwright_crawls::{
    ids::PageIds,
    sorted_spill::{SortedSpill, send_portions},
};
use searchwright_site::{checks::Check, page::UrlId};
use searchwright_store::issues::Finding;
use serde::{Deserialize, Serialize};

use crate::jobs::JobError;

/// Bytes of findings of all evaluators above which they are compressed.
const MAX_OPEN_BYTES: usize = 8 << 20;
/// Findings in one transaction. Other writers wait for its end.
const FINDINGS_PER_WRITE: usize = 16 * 1024;
/// Parts of the findings of a check, by the first byte of page ids.
const RANGES: usize = 16;

/// A finding that is not written yet.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FindingRecord {
    /// Place of the check in the registry.
    check: usize,
    page: UrlId,
    /// JSON text.
    evidence: String,
}

/// Issues of all checks, in both orders.
#[derive(Debug)]
pub(super) struct IssueIds {
    /// Issue of each check, in the order of the registry.
    by_check: Vec<IssueId>,
    /// Place of the issue of each check among all issues sorted by id.
    ranks: Vec<usize>,
}

impl IssueIds {
    pub(super) fn new(by_check: Vec<IssueId>) -> Self {
        let mut sorted: Vec<usize> = (0..by_check.len()).collect();
        sorted.sort_unstable_by_key(|check| by_check[*check]);
        let mut ranks = vec![0; by_check.len()];
        for (rank, check) in sorted.into_iter().enumerate() {
            ranks[check] = rank;
        }
        Self { by_check, ranks }
    }

    /// Returns the issue of a check.
    pub(super) fn get(&self, check: &Check) -> IssueId {
        self.by_check[check.place()]
    }
}

/// Findings collected so far.
#[derive(Debug)]
pub(super) struct FindingSpill(SortedSpill<FindingRecord>);

impl FindingSpill {
    /// Makes the spill of one of so many evaluators, which share the bytes of uncompressed findings.
    pub(super) const fn new(evaluators: usize) -> Self {
        Self(SortedSpill::new(MAX_OPEN_BYTES / evaluators))
    }

    /// Adds a finding of a check on a page with this id.
    pub(super) fn push(
        &mut self,
        issues: &IssueIds,
        check: &Check,
        page: UrlId,
        page_id: PageId,
        evidence: String,
    ) -> Result<(), JobError> {
        let check = check.place();
        let range = usize::from(page_id.uuid().as_bytes()[0]) * RANGES / 256;
        let record = FindingRecord {
            check,
            page,
            evidence,
        };
        Ok(self.0.push(issues.ranks[check] * RANGES + range, &record)?)
    }

    /// Adds the findings of another evaluator.
    pub(super) fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
    }

    /// Sends all findings in portions of one transaction each, in the order of their keys, until the receiver refuses one.
    pub(super) fn send(
        self,
        ids: &PageIds,
        send: &mut dyn FnMut(Vec<FindingRecord>) -> bool,
    ) -> Result<(), JobError> {
        let parts = self.0.into_sorted(|found| ids.get(found.page));
        Ok(send_portions(parts, FINDINGS_PER_WRITE, send)?)
    }
}

/// Returns findings as they are stored.
pub(super) fn stored_findings<'f>(
    portion: &'f [FindingRecord],
    issues: &IssueIds,
    ids: &PageIds,
) -> Vec<Finding<&'f str>> {
    let finding = |found: &'f FindingRecord| Finding {
        issue: issues.by_check[found.check],
        page: ids.get(found.page),
        evidence: found.evidence.as_str(),
    };
    portion.iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use searchwright_site::checks;
    use uuid::Uuid;

    use searchwright_crawls::fixtures::index;

    use super::*;

    #[test]
    fn findings_are_sent_in_the_order_of_issue_and_page() {
        let index = index(20_000);
        let ids = PageIds::default().complete(Uuid::nil(), &index, 2);
        let issues = IssueIds::new([5, 9, 2].map(|id| Uuid::from_u128(id).into()).to_vec());
        let (mut first, mut second, mut expected) = (FindingSpill::new(2), FindingSpill::new(2), Vec::new());
        for number in 0..20_000 {
            let check = &checks::registry()[[1, 2, 0, 0, 0, 0, 0, 0][number as usize % 8]];
            let (page, evidence) = (UrlId(number), format!("{number:0700}"));
            let spill = if number % 3 == 0 { &mut first } else { &mut second };
            spill
                .push(&issues, check, page, ids.get(page), evidence.clone())
                .unwrap();
            expected.push((issues.get(check), ids.get(page), evidence));
        }
        first.merge(second);
        expected.sort_unstable();
        let mut sent = Vec::new();
        let send = &mut |portion: Vec<FindingRecord>| {
            assert!((1..=FINDINGS_PER_WRITE).contains(&portion.len()));
            let findings = stored_findings(&portion, &issues, &ids).into_iter();
            sent.extend(findings.map(|found| (found.issue, found.page, found.evidence.to_owned())));
            true
        };
        first.send(&ids, send).unwrap();
        assert!(sent == expected);
    }
}
