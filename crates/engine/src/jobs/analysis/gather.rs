//! What checks find, on its way to the store. It is written in the order of its keys, so that each leaf is written once:
//! findings of a very large site wait packed until everything is there.

use std::{collections::BTreeMap, mem::take};

use searchwright_site::{
    checks::Check,
    graph::{Index, flag},
    page::UrlId,
};
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
    /// Of the id of the page, by its beginning.
    range: u8,
    /// The page was taken for one that may be in the index.
    indexable: bool,
    page: UrlId,
    /// JSON text.
    evidence: Box<str>,
}

impl Found {
    /// On a page of that id, taken for one that may be in the index or not.
    pub(super) fn new(check: &Check, page: (UrlId, Uuid), indexable: bool, evidence: String) -> Self {
        Self {
            check: check.place() as u16,
            range: range(page.1),
            indexable,
            page: page.0,
            evidence: evidence.into(),
        }
    }
}

/// What findings are in the store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'n> {
    /// The issue of each check, in the order of the registry.
    pub(super) issues: &'n [Uuid],
    pub(super) ids: &'n Ids,
    pub(super) index: &'n Index,
}

impl Known<'_> {
    /// Nothing on pages of other sites, or where the page was taken for what it is not: such pages are evaluated anew, as
    /// [`searchwright_site::checks::evaluate`] says.
    fn finding(&self, check: u16, (page, indexable, evidence): Seen) -> Option<Finding> {
        let is_so =
            self.index.has(page, flag::INTERNAL) && self.index.has(page, flag::INDEXABLE) == indexable;
        is_so.then(|| Finding {
            issue: self.issues.get(usize::from(check)).copied().unwrap_or_default(),
            page: self.ids.of(page),
            evidence: evidence.into_string(),
        })
    }
}

/// Where, taken for one that may be in the index or not, and the evidence.
type Seen<E = Box<str>> = (UrlId, bool, E);

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

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    plain: Vec<Found>,
    /// That these take.
    bytes: usize,
    packed: Vec<Packed>,
}

impl Gathered {
    /// Takes in what was found. What comes back is to be packed by whoever brought it, and kept.
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
        known: Known<'_>,
        give: &mut dyn FnMut(Vec<Finding>) -> bool,
    ) -> Result<(), JobError> {
        let mut give =
            |findings: &mut Vec<Finding>| portions(sorted(take(findings)), PORTION).all(&mut *give);
        let plain = take(&mut self.plain);
        if self.packed.is_empty() {
            let plain = plain.into_iter().filter_map(|found| {
                known.finding(found.check, (found.page, found.indexable, found.evidence))
            });
            give(&mut plain.collect());
            return Ok(());
        }
        self.keep(pack(plain)?);
        let mut checks: Vec<(&Uuid, u16)> = known.issues.iter().zip(0..).collect();
        checks.sort_unstable();
        let mut next = Vec::new();
        for (_, check) in checks {
            for range in 0..RANGES {
                for Packed(packed) in &mut self.packed {
                    let Some(data) = packed.remove(&(check, range as u8)) else {
                        continue;
                    };
                    let found = unpack::<Vec<Seen>>(&data)?.into_iter();
                    next.extend(found.filter_map(|seen| known.finding(check, seen)));
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
pub(super) fn pack(findings: Vec<Found>) -> Result<Packed, JobError> {
    let mut parts: Vec<Vec<Seen<&str>>> = Vec::new();
    for found in &findings {
        let part = usize::from(found.check) * RANGES + usize::from(found.range);
        if parts.len() <= part {
            parts.resize_with(part + 1, Vec::new);
        }
        parts[part].push((found.page, found.indexable, &found.evidence));
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
fn range(page: Uuid) -> u8 {
    (usize::from(page.as_bytes()[0]) * RANGES / 256) as u8
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

    /// So many pages that were asked for.
    fn index(pages: u32) -> Index {
        let (mut table, mut builder) = (UrlTable::new(1_000_000), IndexBuilder::default());
        for number in 0..pages {
            let url = Url::parse(&format!("https://example.com/{number}")).unwrap();
            let at = At {
                id: table.add_url(&url).unwrap(),
                ..At::default()
            };
            builder.set_internal(at.id);
            builder.add(&PageFacts::without_answer(&url, at, Outcome::Status(404)));
        }
        let ends = Ends {
            depths: Vec::new(),
            origin: &Origin::default(),
            traps: Vec::new(),
            complete: true,
        };
        builder.finish(table, ends)
    }

    /// One finding of so many bytes on each page, and one on every fifth that was taken for one in the index.
    fn found(numbers: std::ops::Range<u32>, bytes: usize, ids: &Ids) -> Vec<Found> {
        let finding = |number: u32, indexable: bool| Found {
            check: [1, 2, 0, 0, 0, 0, 0, 0][number as usize % 8],
            range: range(ids.of(UrlId(number))),
            indexable,
            page: UrlId(number),
            evidence: format!("{number:0bytes$}").into(),
        };
        let wrong = numbers.clone().filter(|number| number % 5 == 0);
        let wrong = wrong.map(|number| finding(number, true));
        numbers
            .map(|number| finding(number, false))
            .chain(wrong)
            .collect()
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
        let (index, issues) = (index(400_000), issues());
        let ids = Ids::make(Uuid::nil(), &index, 2);
        let known = Known {
            issues: &issues,
            ids: &ids,
            index: &index,
        };
        for (pages, bytes, is_much) in CASES {
            let (mut gathered, mut packed) = (Gathered::default(), false);
            for from in (0..pages).step_by(500) {
                if let Some(full) = gathered.gather(found(from..from + 500, bytes, &ids)) {
                    packed = true;
                    gathered.keep(pack(full).unwrap());
                }
            }
            assert_eq!(packed, is_much, "{pages}");
            let mut out = Vec::new();
            let rest = gathered.rest(known, &mut |portion| {
                assert!((1..=PORTION).contains(&portion.len()));
                out.extend(portion);
                true
            });
            rest.unwrap();
            let right = found(0..pages, bytes, &ids)
                .into_iter()
                .filter(|found| !found.indexable);
            let right = right.map(|found| Finding {
                issue: issues[usize::from(found.check)],
                page: ids.of(found.page),
                evidence: found.evidence.into(),
            });
            assert!(out == sorted(right.collect()), "{pages}");
        }
    }

    #[test]
    fn who_writes_no_more_gets_no_more() {
        let (index, issues) = (index(40_000), issues());
        let ids = Ids::make(Uuid::nil(), &index, 2);
        let known = Known {
            issues: &issues,
            ids: &ids,
            index: &index,
        };
        for packs in [true, false] {
            let (mut gathered, all) = (Gathered::default(), found(0..40_000, 10, &ids));
            if packs {
                gathered.keep(pack(all).unwrap());
            } else {
                assert!(gathered.gather(all).is_none());
            }
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
