//! What evaluators find, on its way to the store. It is written in the order of its keys, so that each leaf is written once:
//! findings of a very large site wait packed until everything is there.

use std::{collections::BTreeMap, mem::take};

use searchwright_store::issues::Finding;
use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

use super::super::JobError;
use crate::failure::defect;

/// Bytes of findings that are packed together.
const PLAIN: usize = 8 << 20;
/// Findings that are handed on together: one transaction, for the end of which others wait.
const PORTION: usize = 16 * 1024;
/// Parts of the findings of an issue that are packed.
const RANGES: usize = 16;

/// In the order of their keys.
fn sorted(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| (finding.issue, finding.page));
    findings
}

/// Bytes that findings take.
fn bytes(findings: &[Finding]) -> usize {
    let evidence: usize = findings.iter().map(|finding| finding.evidence.len()).sum();
    evidence + size_of_val(findings)
}

/// What was packed together.
#[derive(Debug, Default)]
pub(super) struct Packed {
    /// Of each range of ids the pages on which something was found, ascending.
    pages: Vec<Vec<Uuid>>,
    /// Findings by the place of their issue and the range of their page: the place of the page, and the evidence.
    findings: BTreeMap<(u16, u8), Vec<u8>>,
}

/// What several evaluators found so far.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    plain: Vec<Finding>,
    /// That these take.
    bytes: usize,
    packed: Vec<Packed>,
}

impl Gathered {
    /// Takes in what another gathered. What comes back is to be packed by whoever brought it, and kept.
    pub(super) fn gather(&mut self, mut more: Vec<Finding>) -> Option<Vec<Finding>> {
        self.bytes += bytes(&more);
        self.plain.append(&mut more);
        if self.bytes < PLAIN {
            return None;
        }
        self.bytes = 0;
        Some(take(&mut self.plain))
    }

    /// Keeps what [`pack`] made.
    pub(super) fn keep(&mut self, packed: Packed) {
        self.packed.push(packed);
    }

    /// All in portions, each in the order of its keys and behind the one before, until one is not taken.
    pub(super) fn rest(
        mut self,
        issues: &[Uuid],
        give: &mut dyn FnMut(Vec<Finding>) -> bool,
    ) -> Result<(), JobError> {
        let plain = take(&mut self.plain);
        if self.packed.is_empty() {
            let mut portions = super::portions(sorted(plain), PORTION);
            while portions.next().is_some_and(&mut *give) {}
            return Ok(());
        }
        self.keep(pack(plain, issues)?);
        let mut next = Vec::new();
        for (place, issue) in (0..).zip(issues) {
            for range in 0..RANGES {
                for packed in &mut self.packed {
                    let Some(data) = packed.findings.remove(&(place, range as u8)) else {
                        continue;
                    };
                    let pages = &packed.pages[range];
                    for (page, evidence) in unpack::<Vec<(u32, String)>>(&data)? {
                        let page = pages.get(page as usize);
                        next.push(Finding {
                            issue: *issue,
                            page: *page.ok_or_else(|| defect("gathered", "a finding on no page"))?,
                            evidence,
                        });
                    }
                }
                if next.len() >= PORTION && !give(sorted(take(&mut next))) {
                    return Ok(());
                }
            }
        }
        if !next.is_empty() {
            give(sorted(next));
        }
        Ok(())
    }
}

/// Packs what was found. `issues` are all there are, ascending.
pub(super) fn pack(findings: Vec<Finding>, issues: &[Uuid]) -> Result<Packed, JobError> {
    let mut packed = Packed::default();
    packed.pages.resize_with(RANGES, Vec::new);
    for finding in &findings {
        packed.pages[range(finding.page)].push(finding.page);
    }
    for pages in &mut packed.pages {
        pages.sort_unstable();
        pages.dedup();
        pages.shrink_to_fit();
    }
    let mut parts: BTreeMap<(u16, u8), Vec<(u32, &str)>> = BTreeMap::new();
    for finding in &findings {
        let issue = issues.binary_search(&finding.issue).ok();
        let issue = issue.and_then(|place| u16::try_from(place).ok());
        let issue = issue.ok_or_else(|| defect("gathered", "a finding of no issue"))?;
        let range = range(finding.page);
        let page = packed.pages[range].partition_point(|page| *page < finding.page);
        let part = parts.entry((issue, range as u8)).or_default();
        part.push((page as u32, &finding.evidence));
    }
    for (key, part) in parts {
        packed.findings.insert(key, compressed(&part)?);
    }
    Ok(packed)
}

fn compressed(part: &impl Serialize) -> Result<Vec<u8>, JobError> {
    let plain = postcard::to_stdvec(part).map_err(|e| defect("gathered", e))?;
    let mut data = lz4_flex::compress_prepend_size(&plain);
    data.shrink_to_fit();
    Ok(data)
}

fn unpack<T: DeserializeOwned>(data: &[u8]) -> Result<T, JobError> {
    let plain = lz4_flex::decompress_size_prepended(data).map_err(|e| defect("gathered", e))?;
    Ok(postcard::from_bytes(&plain).map_err(|e| defect("gathered", e))?)
}

/// The range of a page, by the beginning of its id.
fn range(page: Uuid) -> usize {
    usize::from(page.as_bytes()[0]) * RANGES / 256
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: u32) -> Uuid {
        Uuid::new_v5(&Uuid::nil(), &number.to_be_bytes())
    }

    /// One finding of so many bytes on each page.
    fn found(numbers: std::ops::Range<u32>, bytes: usize) -> Vec<Finding> {
        let finding = |number: u32| Finding {
            issue: page(number % 3),
            page: page(number),
            evidence: format!("{number:0bytes$}"),
        };
        numbers.map(finding).collect()
    }

    fn issues() -> Vec<Uuid> {
        let mut issues: Vec<Uuid> = (0..3).map(page).collect();
        issues.sort_unstable();
        issues
    }

    /// Pages, bytes found on each, and whether something is packed.
    const CASES: [(u32, usize, bool); 5] = [
        (0, 1, false),
        (9_000, 700, false),
        (12_000, 1_000, true),
        (40_000, 10, false),
        (140_000, 10, true),
    ];

    #[test]
    fn what_goes_in_comes_out_in_the_order_of_keys() {
        for (pages, bytes, is_much) in CASES {
            let (mut gathered, mut packed) = (Gathered::default(), false);
            for from in (0..pages).step_by(500) {
                if let Some(full) = gathered.gather(found(from..from + 500, bytes)) {
                    packed = true;
                    gathered.keep(pack(full, &issues()).unwrap());
                }
            }
            assert_eq!(packed, is_much, "{pages}");
            let mut out = Vec::new();
            let rest = gathered.rest(&issues(), &mut |portion| {
                assert!(!portion.is_empty());
                out.extend(portion);
                true
            });
            rest.unwrap();
            assert_eq!(out, sorted(found(0..pages, bytes)));
        }
    }

    #[test]
    fn who_writes_no_more_gets_no_more() {
        for packs in [true, false] {
            let (mut gathered, all) = (Gathered::default(), found(0..40_000, 10));
            if packs {
                gathered.keep(pack(all, &issues()).unwrap());
            } else {
                assert!(gathered.gather(all).is_none());
            }
            let mut given = 0;
            let rest = gathered.rest(&issues(), &mut |_| {
                given += 1;
                given < 2
            });
            rest.unwrap();
            assert_eq!(given, 2);
        }
    }
}
