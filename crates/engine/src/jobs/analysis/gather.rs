//! What evaluators find, on its way to the store. It is written in the order of its keys, so that each leaf is written once:
//! findings of a very large site wait packed until everything is there.

use std::{collections::BTreeMap, mem::take};

use searchwright_site::{checks::Check, page::UrlId};
use searchwright_store::issues::Finding;
use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

use super::{super::JobError, ids::Ids, writing::portions};
use crate::failure::defect;

/// Bytes of findings that are packed together.
const PLAIN: usize = 8 << 20;
/// Findings that are handed on together: one transaction, for the end of which others wait.
const PORTION: usize = 16 * 1024;
/// Parts of the findings of an issue that are packed.
const RANGES: usize = 16;

/// What a check found on a page.
#[derive(Debug)]
pub(super) struct Found {
    /// The place of the check in the registry.
    check: u16,
    page: UrlId,
    /// JSON text.
    evidence: String,
}

impl Found {
    pub(super) fn new(check: &Check, page: UrlId, evidence: String) -> Self {
        Self {
            check: check.place() as u16,
            page,
            evidence,
        }
    }
}

/// What findings are called in the store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'n> {
    /// The issue of each check, in the order of the registry.
    pub(super) issues: &'n [Uuid],
    pub(super) ids: &'n Ids,
}

impl Names<'_> {
    fn finding(&self, found: Found) -> Finding {
        Finding {
            issue: self
                .issues
                .get(usize::from(found.check))
                .copied()
                .unwrap_or_default(),
            page: self.ids.of(found.page),
            evidence: found.evidence,
        }
    }
}

/// In the order of their keys.
fn sorted(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| (finding.issue, finding.page));
    findings
}

/// Bytes that findings take.
fn bytes(findings: &[Found]) -> usize {
    let evidence: usize = findings.iter().map(|finding| finding.evidence.len()).sum();
    evidence + size_of_val(findings)
}

/// What was packed together: by check and by the range of the ids of pages, which page, and the evidence.
#[derive(Debug)]
pub(super) struct Packed(BTreeMap<(u16, u8), Vec<u8>>);

/// What several evaluators found so far.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    plain: Vec<Found>,
    /// That these take.
    bytes: usize,
    packed: Vec<Packed>,
}

impl Gathered {
    /// Takes in what another gathered. What comes back is to be packed by whoever brought it, and kept.
    pub(super) fn gather(&mut self, mut more: Vec<Found>) -> Option<Vec<Found>> {
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

    /// All in portions of one transaction, each in the order of its keys and behind the one before, until one is not taken.
    pub(super) fn rest(
        mut self,
        names: Names<'_>,
        give: &mut dyn FnMut(Vec<Finding>) -> bool,
    ) -> Result<(), JobError> {
        let mut give =
            |findings: &mut Vec<Finding>| portions(sorted(take(findings)), PORTION).all(&mut *give);
        let plain = take(&mut self.plain);
        if self.packed.is_empty() {
            let plain = plain.into_iter().map(|found| names.finding(found));
            give(&mut plain.collect());
            return Ok(());
        }
        self.keep(pack(plain, names.ids)?);
        let mut checks: Vec<(&Uuid, u16)> = names.issues.iter().zip(0..).collect();
        checks.sort_unstable();
        let mut next = Vec::new();
        for (_, check) in checks {
            for range in 0..RANGES {
                for Packed(packed) in &mut self.packed {
                    let Some(data) = packed.remove(&(check, range as u8)) else {
                        continue;
                    };
                    let found = unpack::<Vec<(UrlId, String)>>(&data)?.into_iter();
                    next.extend(found.map(|(page, evidence)| {
                        names.finding(Found {
                            check,
                            page,
                            evidence,
                        })
                    }));
                }
                if next.len() >= PORTION && !give(&mut next) {
                    return Ok(());
                }
            }
        }
        give(&mut next);
        Ok(())
    }
}

/// Packs what was found.
pub(super) fn pack(findings: Vec<Found>, ids: &Ids) -> Result<Packed, JobError> {
    let mut parts: Vec<Vec<(UrlId, &str)>> = Vec::new();
    for found in &findings {
        let part = usize::from(found.check) * RANGES + range(ids.of(found.page));
        if parts.len() <= part {
            parts.resize_with(part + 1, Vec::new);
        }
        parts[part].push((found.page, &found.evidence));
    }
    let parts = parts.iter().enumerate().filter(|(_, part)| !part.is_empty());
    let packed = parts.map(|(place, part)| {
        let key = ((place / RANGES) as u16, (place % RANGES) as u8);
        Ok((key, compressed(part)?))
    });
    Ok(Packed(packed.collect::<Result<_, JobError>>()?))
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

/// The range of an id, by its beginning.
fn range(page: Uuid) -> usize {
    usize::from(page.as_bytes()[0]) * RANGES / 256
}

#[cfg(test)]
mod tests {
    use searchwright_site::{
        graph::{Ends, IndexBuilder},
        origin::Origin,
        page::{At, Outcome, PageFacts},
        urls::UrlTable,
    };
    use url::Url;

    use super::*;

    /// Of so many pages that were asked for.
    fn ids(pages: u32) -> Ids {
        let (mut table, mut builder) = (UrlTable::new(1_000_000), IndexBuilder::default());
        for number in 0..pages {
            let url = Url::parse(&format!("https://example.com/{number}")).unwrap();
            let at = At {
                id: table.add_url(&url).unwrap(),
                ..At::default()
            };
            builder.add(&PageFacts::without_answer(&url, at, Outcome::Status(404)));
        }
        let ends = Ends {
            depths: Vec::new(),
            origin: &Origin::default(),
            traps: Vec::new(),
            complete: true,
        };
        Ids::make(Uuid::nil(), &builder.finish(table, ends), 2)
    }

    /// One finding of so many bytes on each page.
    fn found(numbers: std::ops::Range<u32>, bytes: usize) -> Vec<Found> {
        let finding = |number: u32| Found {
            check: [1, 2, 0, 0, 0, 0, 0, 0][number as usize % 8],
            page: UrlId(number),
            evidence: format!("{number:0bytes$}"),
        };
        numbers.map(finding).collect()
    }

    fn issues() -> [Uuid; 3] {
        [5, 9, 2].map(Uuid::from_u128)
    }

    /// Pages, bytes found on each, and whether something is packed.
    const CASES: [(u32, usize, bool); 6] = [
        (0, 1, false),
        (9_000, 700, false),
        (12_000, 1_000, true),
        (40_000, 10, false),
        (220_000, 10, true),
        // a range has more than a portion
        (400_000, 1, true),
    ];

    #[test]
    fn what_goes_in_comes_out_in_the_order_of_keys() {
        let (ids, issues) = (ids(400_000), issues());
        let names = Names {
            issues: &issues,
            ids: &ids,
        };
        for (pages, bytes, is_much) in CASES {
            let (mut gathered, mut packed) = (Gathered::default(), false);
            for from in (0..pages).step_by(500) {
                if let Some(full) = gathered.gather(found(from..from + 500, bytes)) {
                    packed = true;
                    gathered.keep(pack(full, &ids).unwrap());
                }
            }
            assert_eq!(packed, is_much, "{pages}");
            let mut out = Vec::new();
            let rest = gathered.rest(names, &mut |portion| {
                assert!((1..=PORTION).contains(&portion.len()));
                out.extend(portion);
                true
            });
            rest.unwrap();
            let all = found(0..pages, bytes)
                .into_iter()
                .map(|found| names.finding(found));
            assert!(out == sorted(all.collect()), "{pages}");
        }
    }

    #[test]
    fn who_writes_no_more_gets_no_more() {
        let (ids, issues) = (ids(40_000), issues());
        let names = Names {
            issues: &issues,
            ids: &ids,
        };
        for packs in [true, false] {
            let (mut gathered, all) = (Gathered::default(), found(0..40_000, 10));
            if packs {
                gathered.keep(pack(all, &ids).unwrap());
            } else {
                assert!(gathered.gather(all).is_none());
            }
            let mut given = 0;
            let rest = gathered.rest(names, &mut |_| {
                given += 1;
                given < 2
            });
            rest.unwrap();
            assert_eq!(given, 2);
        }
    }
}
