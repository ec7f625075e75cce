//! What evaluators find, on its way to the store. It is written in the order of its keys, so that each leaf of a tree is
//! written once: a row that goes anywhere costs the disk a whole leaf. Pages of a site of some thousand are sorted as they are;
//! those that a very large one has beyond the first, and all findings, wait packed until everything is there.

use std::{collections::BTreeMap, mem::take};

use searchwright_store::{issues::Finding, pages::Seen};
use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

use super::super::JobError;
use crate::failure::defect;

/// Bytes of findings that are packed together.
const PLAIN: usize = 8 << 20;
/// Findings that are handed on together: one transaction.
const PORTION: usize = super::FINDINGS;
/// Pages written at once.
const AT_ONCE: usize = 4 * 1024;
/// Pages packed together.
const PACKED: usize = 2 * AT_ONCE;
/// Pages whose rows are written while others are evaluated: their trees are still small, and what is packed takes memory that
/// a site of so many has no use for.
const FIRST: usize = 16 * AT_ONCE;
/// Parts of the pages that are packed. Of a million pages one has some three megabytes.
const PARTS: usize = 128;
/// Parts of the findings of an issue that are packed.
const RANGES: usize = 16;

/// Pages that were evaluated, and what was found on them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Evaluated {
    pub(super) seen: Vec<Seen>,
    pub(super) findings: Vec<Finding>,
}

impl Evaluated {
    fn append(&mut self, more: &mut Self) {
        self.seen.append(&mut more.seen);
        self.findings.append(&mut more.findings);
    }

    /// In the order of their keys.
    fn sorted(mut self) -> Self {
        self.seen.sort_unstable_by_key(|s| s.id);
        self.findings.sort_by_key(|f| (f.issue, f.page));
        self
    }

    fn is_empty(&self) -> bool {
        self.seen.is_empty() && self.findings.is_empty()
    }

    /// Bytes of its findings.
    fn bytes(&self) -> usize {
        let evidence: usize = self.findings.iter().map(|finding| finding.evidence.len()).sum();
        evidence + self.findings.len() * size_of::<Finding>()
    }
}

/// What was packed together.
#[derive(Debug, Default)]
pub(super) struct Packed {
    /// Pages, by the beginnings of their ids; empty without any.
    seen: Vec<Vec<u8>>,
    /// Of each range of ids the pages on which something was found, ascending.
    pages: Vec<Vec<Uuid>>,
    /// Findings by the place of their issue and the range of their page: the place of the page, and the evidence.
    findings: BTreeMap<(u16, u8), Vec<u8>>,
}

/// What several evaluators found so far.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    plain: Evaluated,
    /// Of the findings among these.
    bytes: usize,
    /// Pages that were handed on.
    handed: usize,
    packed: Vec<Packed>,
}

/// What is next to do with a part of it, by whoever brought it.
#[derive(Debug)]
pub(super) struct Next {
    /// To be written.
    pub(super) write: Option<Evaluated>,
    /// To be packed, and kept.
    pub(super) pack: Option<Evaluated>,
}

impl Gathered {
    /// Takes in what another gathered.
    pub(super) fn gather(&mut self, mut more: Evaluated) -> Next {
        self.bytes += more.bytes();
        self.plain.append(&mut more);
        let (mut write, mut pack) = (Evaluated::default(), Evaluated::default());
        if self.handed < FIRST {
            if self.plain.seen.len() >= AT_ONCE {
                write.seen = take(&mut self.plain.seen);
                self.handed += write.seen.len();
            }
        } else if self.plain.seen.len() >= PACKED {
            pack.seen = take(&mut self.plain.seen);
        }
        if self.bytes >= PLAIN {
            pack.findings = take(&mut self.plain.findings);
            self.bytes = 0;
        }
        let some = |part: Evaluated| Some(part).filter(|part| !part.is_empty());
        Next {
            write: some(write).map(Evaluated::sorted),
            pack: some(pack),
        }
    }

    /// Keeps what [`pack`] made.
    pub(super) fn keep(&mut self, packed: Packed) {
        self.packed.push(packed);
    }

    /// The rest in portions, pages first, each in the order of its keys and behind the one before, until one is not taken.
    pub(super) fn rest(
        mut self,
        issues: &[Uuid],
        mut give: impl FnMut(Evaluated) -> bool,
    ) -> Result<(), JobError> {
        if self.packed.is_empty() {
            give(self.plain.sorted());
            return Ok(());
        }
        let plain = take(&mut self.plain);
        self.keep(pack(plain, issues)?);
        let mut next = Evaluated::default();
        for part in 0..PARTS {
            for packed in &mut self.packed {
                if let Some(data) = packed.seen.get_mut(part) {
                    next.seen.append(&mut unpack(&take(data))?);
                }
            }
            if next.seen.len() >= AT_ONCE && !give(take(&mut next).sorted()) {
                return Ok(());
            }
        }
        for (place, issue) in (0..).zip(issues) {
            for range in 0..RANGES {
                for packed in &mut self.packed {
                    let Some(data) = packed.findings.remove(&(place, range as u8)) else {
                        continue;
                    };
                    let pages = &packed.pages[range];
                    for (page, evidence) in unpack::<Vec<(u32, String)>>(&data)? {
                        let page = pages.get(page as usize);
                        next.findings.push(Finding {
                            issue: *issue,
                            page: *page.ok_or_else(|| defect("gathered", "a finding on no page"))?,
                            evidence,
                        });
                    }
                }
                if next.findings.len() >= PORTION && !give(take(&mut next).sorted()) {
                    return Ok(());
                }
            }
        }
        give(next.sorted());
        Ok(())
    }
}

/// Packs what was found. `issues` are all there are, ascending.
pub(super) fn pack(found: Evaluated, issues: &[Uuid]) -> Result<Packed, JobError> {
    let mut packed = Packed::default();
    if !found.seen.is_empty() {
        let mut parts: Vec<Vec<Seen>> = (0..PARTS).map(|_| Vec::new()).collect();
        for seen in found.seen {
            parts[part(seen.id, PARTS)].push(seen);
        }
        packed.seen = parts.iter().map(compressed).collect::<Result<_, _>>()?;
    }
    packed.pages.resize_with(RANGES, Vec::new);
    for finding in &found.findings {
        packed.pages[part(finding.page, RANGES)].push(finding.page);
    }
    for pages in &mut packed.pages {
        pages.sort_unstable();
        pages.dedup();
        pages.shrink_to_fit();
    }
    let mut parts: BTreeMap<(u16, u8), Vec<(u32, &str)>> = BTreeMap::new();
    for finding in &found.findings {
        let issue = issues.binary_search(&finding.issue).ok();
        let issue = issue.and_then(|place| u16::try_from(place).ok());
        let issue = issue.ok_or_else(|| defect("gathered", "a finding of no issue"))?;
        let range = part(finding.page, RANGES);
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

/// The part of a page, by the beginning of its id.
fn part(page: Uuid, parts: usize) -> usize {
    usize::from(page.as_bytes()[0]) * parts / 256
}

#[cfg(test)]
mod tests {
    use searchwright_contract::{Instant, pages::Page};

    use super::*;

    fn page(number: u32) -> Uuid {
        Uuid::new_v5(&Uuid::nil(), &number.to_be_bytes())
    }

    fn seen(number: u32) -> Seen {
        let at = Instant::from_millis(i64::from(number));
        Seen {
            id: page(number),
            page: Page {
                id: String::new(),
                url: format!("https://example.com/{number}"),
                final_url: None,
                status_code: Some(200),
                failure: None,
                depth: Some(1),
                inlinks: 0,
                outlinks: number,
                link_score: None,
                indexable: true,
                non_indexable_reason: None,
                title: None,
                word_count: Some(number),
                last_crawled_at: at,
            },
            crawled_at: at,
            scored: number.is_multiple_of(2),
        }
    }

    /// One finding of so many bytes on each page, or none.
    fn found(numbers: std::ops::Range<u32>, bytes: usize) -> Evaluated {
        Evaluated {
            seen: numbers.clone().map(seen).collect(),
            findings: numbers
                .filter(|_| bytes > 0)
                .map(|number| Finding {
                    issue: page(number % 3),
                    page: page(number),
                    evidence: format!("{number:0bytes$}"),
                })
                .collect(),
        }
    }

    fn issues() -> Vec<Uuid> {
        let mut issues: Vec<Uuid> = (0..3).map(page).collect();
        issues.sort_unstable();
        issues
    }

    /// What comes out at once, what has waited, and whether some of that was packed.
    fn through(batches: impl Iterator<Item = Evaluated>) -> (Vec<Evaluated>, Vec<Evaluated>, bool) {
        let (mut gathered, mut out, mut packed) = (Gathered::default(), Vec::new(), false);
        for batch in batches {
            let next = gathered.gather(batch);
            out.extend(next.write);
            if let Some(full) = next.pack {
                packed = true;
                gathered.keep(pack(full, &issues()).unwrap());
            }
        }
        let mut waited = Vec::new();
        let rest = gathered.rest(&issues(), |part| {
            waited.push(part);
            true
        });
        rest.unwrap();
        (out, waited, packed)
    }

    /// Pages, bytes found on each, and whether something is packed.
    const CASES: [(u32, usize, bool); 6] = [
        (0, 1, false),
        (9_000, 700, false),
        // findings wait while their pages are written already
        (12_000, 1_000, true),
        (120_000, 0, true),
        (80_000, 700, true),
        (125_000, 10, true),
    ];

    #[test]
    fn what_goes_in_comes_out_in_the_order_of_keys() {
        for (pages, bytes, is_much) in CASES {
            let batches = (0..pages).step_by(500).map(|from| found(from..from + 500, bytes));
            let (out, waited, packed) = through(batches);
            assert_eq!(packed, is_much, "{pages}");
            assert!(out.iter().all(|portion| portion.findings.is_empty()));
            for portion in &out {
                assert!(portion.seen.is_sorted_by_key(|seen| seen.id));
            }
            // a portion that has waited comes behind the one before
            let pages_of = waited.iter().flat_map(|portion| &portion.seen);
            assert!(pages_of.is_sorted_by_key(|seen| seen.id));
            let found_of = waited.iter().flat_map(|portion| &portion.findings);
            assert!(found_of.is_sorted_by_key(|finding| (finding.issue, finding.page)));
            let mut all = Evaluated::default();
            for mut portion in out.into_iter().chain(waited) {
                all.append(&mut portion);
            }
            assert_eq!(all.sorted(), found(0..pages, bytes).sorted());
        }
    }

    #[test]
    fn who_writes_no_more_gets_no_more() {
        let mut gathered = Gathered::default();
        gathered.keep(pack(found(0..20_000, 2_000), &issues()).unwrap());
        let mut given = 0;
        let rest = gathered.rest(&issues(), |_| {
            given += 1;
            given < 3
        });
        rest.unwrap();
        assert_eq!(given, 3);
    }
}
