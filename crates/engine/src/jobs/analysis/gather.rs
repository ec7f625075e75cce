//! What evaluators find, on its way to the store. It is written in the order of its keys, so that each leaf of a tree is
//! written once: a row that goes anywhere costs the disk a whole leaf. What a site of some thousand pages has is sorted as it
//! is. What a very large one has beyond the first waits packed, parted by the beginnings of the pages' ids, until everything is
//! there.

use std::{collections::HashMap, mem::take};

use searchwright_store::{issues::Finding, pages::Seen};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::super::JobError;
use crate::failure::defect;

/// Bytes of findings that are packed together, or written while others are evaluated.
const FINDINGS: usize = 8 << 20;
/// Pages written at once.
const AT_ONCE: usize = 4 * 1024;
/// Pages packed together.
const PACKED: usize = 2 * AT_ONCE;
/// Pages whose rows are written while others are evaluated: their trees are still small, and what is packed takes memory that
/// a site of so many has no use for.
const FIRST: usize = 16 * AT_ONCE;
/// Parts of what is packed. Of a million pages one has some five megabytes.
const PARTS: usize = 128;

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
        self.findings.sort_unstable_by_key(|f| (f.issue, f.page));
        self
    }

    /// Bytes of its findings.
    fn bytes(&self) -> usize {
        let evidence: usize = self.findings.iter().map(|finding| finding.evidence.len()).sum();
        evidence + self.findings.len() * size_of::<Finding>()
    }

    /// Whether it is packed as it is, when its findings have so many bytes.
    fn fills_pack(&self, bytes: usize) -> bool {
        bytes >= FINDINGS || self.seen.len() >= PACKED
    }

    /// Whether it is written as it is. Three of these are on their way at once, beside all that is packed.
    fn fills_portion(&self) -> bool {
        self.seen.len() >= AT_ONCE || self.bytes() >= FINDINGS / 2
    }
}

/// A part: issues and pages by their places among all issues and the pages of the part, because ids cannot be made smaller.
#[derive(Serialize, Deserialize)]
struct Packed<'p> {
    seen: Vec<Seen>,
    /// Pages behind those, which were handed on before what was found on them.
    others: Vec<Uuid>,
    #[serde(borrow)]
    findings: Vec<(u16, u32, &'p str)>,
}

/// What several evaluators found so far.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    plain: Evaluated,
    /// Of the findings among these.
    bytes: usize,
    /// Pages that were handed on.
    handed: usize,
    /// Of each part what was packed; empty as long as nothing was.
    parts: Vec<Vec<Vec<u8>>>,
}

/// What is next to do with a part of it, by whoever brought it.
#[derive(Debug)]
pub(super) enum Next {
    /// To be written.
    Write(Evaluated),
    /// To be packed, and kept.
    Pack(Evaluated),
}

impl Gathered {
    /// Takes in what another gathered.
    pub(super) fn gather(&mut self, mut more: Evaluated) -> Option<Next> {
        self.bytes += more.bytes();
        self.plain.append(&mut more);
        if self.handed >= FIRST {
            let fills_pack = self.plain.fills_pack(self.bytes);
            return fills_pack.then(|| {
                self.bytes = 0;
                Next::Pack(take(&mut self.plain))
            });
        }
        let mut full = Evaluated::default();
        if self.plain.seen.len() >= AT_ONCE {
            full.seen = take(&mut self.plain.seen);
            self.handed += full.seen.len();
        }
        if self.bytes >= FINDINGS {
            full.findings = take(&mut self.plain.findings);
            self.bytes = 0;
        }
        let is_some = !full.seen.is_empty() || !full.findings.is_empty();
        is_some.then(|| Next::Write(full.sorted()))
    }

    /// Keeps what [`pack`] made.
    pub(super) fn keep(&mut self, packed: Vec<Vec<u8>>) {
        self.parts.resize_with(PARTS, Vec::new);
        for (part, packed) in self.parts.iter_mut().zip(packed) {
            part.push(packed);
        }
    }

    /// The rest in portions, each in the order of its keys and behind the one before, until one is not taken.
    pub(super) fn rest(
        self,
        issues: &[Uuid],
        mut give: impl FnMut(Evaluated) -> bool,
    ) -> Result<(), JobError> {
        if self.parts.is_empty() {
            give(self.plain.sorted());
            return Ok(());
        }
        let mut next = Evaluated::default();
        for (mut part, packed) in split(self.plain).into_iter().zip(self.parts) {
            next.append(&mut part);
            for data in packed {
                next.append(&mut unpack(&data, issues)?);
            }
            if next.fills_portion() && !give(take(&mut next).sorted()) {
                return Ok(());
            }
        }
        give(next.sorted());
        Ok(())
    }
}

/// Packs what was found, each part of it alone. `issues` are all there are, ascending.
pub(super) fn pack(found: Evaluated, issues: &[Uuid]) -> Result<Vec<Vec<u8>>, JobError> {
    let parts = split(found).into_iter().map(|part| {
        let mut places: HashMap<Uuid, u32> = part.seen.iter().map(|seen| seen.id).zip(0..).collect();
        let mut others = Vec::new();
        let findings = part.findings.iter().map(|finding| {
            let issue = issues.binary_search(&finding.issue).ok()?;
            let next = places.len() as u32;
            let page = *places.entry(finding.page).or_insert_with(|| {
                others.push(finding.page);
                next
            });
            Some((u16::try_from(issue).ok()?, page, &*finding.evidence))
        });
        let findings: Option<Vec<_>> = findings.collect();
        let packed = Packed {
            seen: part.seen,
            others,
            findings: findings.ok_or_else(|| defect("gathered", "a finding of no issue"))?,
        };
        let plain = postcard::to_stdvec(&packed).map_err(|e| defect("gathered", e))?;
        Ok(lz4_flex::compress_prepend_size(&plain))
    });
    parts.collect()
}

fn unpack(data: &[u8], issues: &[Uuid]) -> Result<Evaluated, JobError> {
    let plain = lz4_flex::decompress_size_prepended(data).map_err(|e| defect("gathered", e))?;
    let Packed {
        seen,
        others,
        findings,
    } = postcard::from_bytes(&plain).map_err(|e| defect("gathered", e))?;
    let page_of = |place: u32| {
        let place = place as usize;
        match place.checked_sub(seen.len()) {
            Some(behind) => others.get(behind).copied(),
            None => seen.get(place).map(|seen| seen.id),
        }
    };
    let findings = findings.into_iter().map(|(issue, page, evidence)| {
        Some(Finding {
            issue: *issues.get(usize::from(issue))?,
            page: page_of(page)?,
            evidence: evidence.to_owned(),
        })
    });
    let findings: Option<Vec<Finding>> = findings.collect();
    let findings = findings.ok_or_else(|| defect("gathered", "a finding of no page or issue"))?;
    Ok(Evaluated { seen, findings })
}

/// By the beginnings of the pages' ids, ascending.
fn split(found: Evaluated) -> Vec<Evaluated> {
    let mut parts: Vec<Evaluated> = (0..PARTS).map(|_| Evaluated::default()).collect();
    for seen in found.seen {
        parts[part(seen.id)].seen.push(seen);
    }
    for finding in found.findings {
        parts[part(finding.page)].findings.push(finding);
    }
    parts
}

fn part(page: Uuid) -> usize {
    usize::from(page.as_bytes()[0]) * PARTS / 256
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
            match gathered.gather(batch) {
                Some(Next::Write(full)) => out.push(full),
                Some(Next::Pack(full)) => {
                    packed = true;
                    gathered.keep(pack(full, &issues()).unwrap());
                }
                None => {}
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

    /// Pages, bytes found on each, and whether some are packed.
    const CASES: [(u32, usize, bool); 5] = [
        (0, 1, false),
        (9_000, 1_000, false),
        (120_000, 0, true),
        // findings wait while their pages are written already
        (80_000, 700, true),
        (125_000, 10, true),
    ];

    #[test]
    fn what_goes_in_comes_out_in_the_order_of_keys() {
        for (pages, bytes, is_much) in CASES {
            let batches = (0..pages).step_by(500).map(|from| found(from..from + 500, bytes));
            let (out, waited, packed) = through(batches);
            assert_eq!(packed, is_much, "{pages}");
            for portion in out.iter().chain(&waited) {
                assert!(portion.seen.is_sorted_by_key(|seen| seen.id));
                assert!(
                    portion
                        .findings
                        .is_sorted_by_key(|finding| (finding.issue, finding.page))
                );
            }
            // a portion that has waited comes behind the one before
            let pages_of = waited.iter().flat_map(|portion| &portion.seen);
            assert!(pages_of.is_sorted_by_key(|seen| seen.id));
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
