//! Collects findings of checks until they are written in the order of their keys, so that each leaf of the tree is written
//! once. Findings of a very large site wait compressed until all are collected.

use std::{collections::BTreeMap, mem::take, ops::Range, sync::Arc};

use searchwright_site::{
    checks::Check,
    graph::{PageFlags, SiteGraph},
    page::UrlId,
};
use searchwright_store::issues::Finding;
use uuid::Uuid;

use super::super::{ids::PageIds, pipeline::portions};
use crate::{failure::defect, jobs::JobError};

/// Bytes of findings above which they are packed.
const PLAIN: usize = 8 << 20;
/// Findings in one transaction. Other writers wait for its end.
const PORTION: usize = 16 * 1024;
/// Parts of the findings of a check, by the first byte of page ids.
const RANGES: usize = 16;

/// A finding: its page, whether the page was taken for indexable, and the evidence as JSON text.
type Seen<'s> = (UrlId, bool, &'s str);

/// Data by which findings are resolved to issues and pages of the store.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredIds<'n> {
    /// The issue of each check, in the order of the registry.
    pub(super) issues: &'n [Uuid],
    pub(super) ids: &'n PageIds,
    pub(super) index: &'n SiteGraph,
}

impl StoredIds<'_> {
    /// Returns the id of a page; `None` if it belongs to another site, or was wrongly taken for indexable or not. Such pages are
    /// evaluated again; see [`searchwright_site::checks::evaluate`].
    fn page(&self, page: UrlId, indexable: bool) -> Option<Uuid> {
        let is_so = self.index.has(page, PageFlags::INTERNAL)
            && self.index.has(page, PageFlags::INDEXABLE) == indexable;
        is_so.then(|| self.ids.get(page))
    }
}

/// Findings that are recorded together, in the order of their keys.
#[derive(Debug)]
pub(super) struct Portion {
    found: Vec<Found>,
    text: Arc<String>,
}

/// A finding, with the range of its evidence in the text.
#[derive(Debug)]
struct Found {
    issue: Uuid,
    page: Uuid,
    evidence: Range<usize>,
}

impl Portion {
    pub(super) fn findings(&self) -> Vec<Finding<&str>> {
        let finding = |found: &Found| Finding {
            issue: found.issue,
            page: found.page,
            evidence: &self.text[found.evidence.clone()],
        };
        self.found.iter().map(finding).collect()
    }
}

/// Findings that wait to be sent, in the order of their keys.
#[derive(Debug, Default)]
struct Next {
    found: Vec<Found>,
    text: String,
}

impl Next {
    /// Adds the findings of an issue from their packed form.
    fn add(&mut self, issue: Uuid, mut plain: &[u8], known: StoredIds<'_>) -> Result<(), JobError> {
        let mut all: Vec<Seen<'_>> = Vec::new();
        while !plain.is_empty() {
            let seen = postcard::take_from_bytes(plain).map_err(|e| defect("gathered", e))?;
            all.push(seen.0);
            plain = seen.1;
        }
        // looked up one after the other with nothing in between, so that cache misses overlap
        let pages = all
            .iter()
            .map(|(page, indexable, _)| known.page(*page, *indexable));
        let pages: Vec<Option<Uuid>> = pages.collect();
        for (page, (_, _, evidence)) in pages.into_iter().zip(all) {
            let Some(page) = page else { continue };
            let from = self.text.len();
            self.text.push_str(evidence);
            self.found.push(Found {
                issue,
                page,
                evidence: from..self.text.len(),
            });
        }
        Ok(())
    }

    /// Sends the findings in portions, until the receiver refuses one. Returns whether all were accepted.
    fn send_portions(&mut self, give: &mut dyn FnMut(Portion) -> bool) -> bool {
        let text = Arc::new(take(&mut self.text));
        portions(take(&mut self.found), PORTION).all(|found| {
            give(Portion {
                found,
                text: text.clone(),
            })
        })
    }
}

/// Findings collected so far: one part for each range of each check, which holds [`Seen`] after [`Seen`].
#[derive(Debug)]
pub(super) struct FindingSpill {
    parts: Vec<Vec<u8>>,
    /// Bytes in `parts`, and the bytes above which these are packed.
    bytes: usize,
    most: usize,
    packed: Vec<BTreeMap<usize, Vec<u8>>>,
}

impl Default for FindingSpill {
    fn default() -> Self {
        Self::one_of(1)
    }
}

impl FindingSpill {
    /// Makes one of `many` collectors that run at the same time and share the bytes of unpacked findings.
    pub(super) fn one_of(many: usize) -> Self {
        Self {
            parts: Vec::new(),
            bytes: 0,
            most: PLAIN / many.max(1),
            packed: Vec::new(),
        }
    }

    /// Adds a finding of a check on a page; `indexable` says whether the page was taken for indexable.
    pub(super) fn gather(
        &mut self,
        check: &Check,
        (page, id): (UrlId, Uuid),
        indexable: bool,
        evidence: &str,
    ) -> Result<(), JobError> {
        let place = check.place() * RANGES + range(id);
        if self.parts.len() <= place {
            self.parts.resize_with(place + 1, Vec::new);
        }
        let part = &mut self.parts[place];
        let before = part.len();
        let seen: Seen<'_> = (page, indexable, evidence);
        *part = postcard::to_extend(&seen, take(part)).map_err(|e| defect("gathered", e))?;
        self.bytes += part.len() - before;
        self.pack_if_much();
        Ok(())
    }

    /// Adds the findings of another collector. Call when none of them collects any more.
    pub(super) fn merge(&mut self, other: Self) {
        self.packed.extend(other.packed);
        self.bytes += other.bytes;
        if self.parts.len() < other.parts.len() {
            self.parts.resize_with(other.parts.len(), Vec::new);
        }
        self.parts
            .iter_mut()
            .zip(other.parts)
            .for_each(|(part, more)| part.extend(more));
    }

    fn pack_if_much(&mut self) {
        if self.bytes < self.most {
            return;
        }
        let parts = self.parts.iter_mut().enumerate();
        let packed = parts.filter(|(_, part)| !part.is_empty()).map(|(place, part)| {
            let mut packed = lz4_flex::compress_prepend_size(part);
            packed.shrink_to_fit();
            part.clear();
            (place, packed)
        });
        self.packed.push(packed.collect());
        self.bytes = 0;
    }

    /// Sends all findings in portions of one transaction each, in the order of their keys, until the receiver refuses one.
    pub(super) fn rest(
        mut self,
        known: StoredIds<'_>,
        give: &mut dyn FnMut(Portion) -> bool,
    ) -> Result<(), JobError> {
        let mut checks: Vec<(Uuid, usize)> = known.issues.iter().copied().zip(0..).collect();
        checks.sort_unstable();
        let mut next = Next::default();
        for (issue, check) in checks {
            for place in check * RANGES..(check + 1) * RANGES {
                let before = next.found.len();
                for packed in &mut self.packed {
                    let Some(packed) = packed.remove(&place) else {
                        continue;
                    };
                    let plain =
                        lz4_flex::decompress_size_prepended(&packed).map_err(|e| defect("gathered", e))?;
                    next.add(issue, &plain, known)?;
                }
                let open = self.parts.get_mut(place).map(take).unwrap_or_default();
                next.add(issue, &open, known)?;
                // numbers have the same order as ids, and are compared without a function call
                next.found[before..].sort_by_key(|found| found.page.as_u128());
                if next.found.len() >= PORTION && !next.send_portions(give) {
                    return Ok(());
                }
            }
        }
        next.send_portions(give);
        Ok(())
    }
}

/// Returns the range of a page id, by its first byte.
fn range(page: Uuid) -> usize {
    usize::from(page.as_bytes()[0]) * RANGES / 256
}

#[cfg(test)]
mod tests {
    use searchwright_site::checks;

    use super::{super::tests::index, *};

    /// Place of a check, page, whether the page was taken for indexable, and evidence.
    type Said = (usize, UrlId, bool, String);

    /// Yields a finding of so many bytes on each page, and a second one on every fifth page, then taken for indexable.
    fn said(numbers: Range<u32>, bytes: usize) -> impl Iterator<Item = Said> {
        let of = move |number: u32, indexable: bool| {
            let check = [1, 2, 0, 0, 0, 0, 0, 0][number as usize % 8];
            (check, UrlId(number), indexable, format!("{number:0bytes$}"))
        };
        numbers.flat_map(move |number| {
            let wrong = (number % 5 == 0).then(|| of(number, true));
            [of(number, false)].into_iter().chain(wrong)
        })
    }

    fn gather(gathered: &mut FindingSpill, said: impl Iterator<Item = Said>, ids: &PageIds) {
        for (check, page, indexable, evidence) in said {
            let (check, page) = (&checks::registry()[check], (page, ids.get(page)));
            gathered.gather(check, page, indexable, &evidence).unwrap();
        }
    }

    fn issues() -> [Uuid; 3] {
        [5, 9, 2].map(Uuid::from_u128)
    }

    /// Pages, bytes of the finding on each, collectors, and whether something is packed.
    const CASES: [(u32, usize, usize, bool); 7] = [
        (0, 1, 1, false),
        (9_000, 700, 1, false),
        (9_000, 700, 3, false),
        (12_000, 1_000, 1, true),
        (12_000, 1_000, 2, true),
        (40_000, 10, 1, false),
        // a range has more than a portion
        (400_000, 16, 16, true),
    ];

    #[test]
    fn what_goes_in_comes_out_in_the_order_of_keys() {
        let (index, issues) = (index(400_000), issues());
        let ids = PageIds::default().complete(Uuid::nil(), &index, 2);
        let known = StoredIds {
            issues: &issues,
            ids: &ids,
            index: &index,
        };
        for (pages, bytes, many, is_much) in CASES {
            let mut each: Vec<FindingSpill> = (0..many).map(|_| FindingSpill::one_of(many)).collect();
            for (turn, from) in (0..pages).step_by(500).enumerate() {
                gather(&mut each[turn % many], said(from..from + 500, bytes), &ids);
            }
            let mut gathered = each.remove(0);
            each.into_iter().for_each(|other| gathered.merge(other));
            assert_eq!(gathered.packed.is_empty(), !is_much, "{pages}");
            let mut out = Vec::new();
            let rest = gathered.rest(known, &mut |portion| {
                let findings = portion.findings().into_iter();
                let findings =
                    findings.map(|finding| (finding.issue, finding.page, finding.evidence.to_owned()));
                assert!((1..=PORTION).contains(&findings.len()));
                out.extend(findings);
                true
            });
            rest.unwrap();
            let right = said(0..pages, bytes).filter(|(_, _, indexable, _)| !indexable);
            let right = right.map(|(check, page, _, evidence)| (issues[check], ids.get(page), evidence));
            let mut right: Vec<_> = right.collect();
            right.sort_unstable();
            assert!(out == right, "{pages}");
        }
    }

    #[test]
    fn who_writes_no_more_gets_no_more() {
        let (index, issues) = (index(40_000), issues());
        let ids = PageIds::default().complete(Uuid::nil(), &index, 2);
        let known = StoredIds {
            issues: &issues,
            ids: &ids,
            index: &index,
        };
        for many in [1, 100] {
            let mut gathered = FindingSpill::one_of(many);
            gather(&mut gathered, said(0..40_000, 10), &ids);
            assert_eq!(gathered.packed.is_empty(), many == 1);
            let mut given = 0;
            let rest = gathered.rest(known, &mut |_| {
                given += 1;
                given < 2
            });
            rest.unwrap();
            assert_eq!(given, 2);
        }
    }
}
