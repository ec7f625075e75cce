//! A leaf of the ledger: neighbouring pages of one issue, packed.
//!
//! The ids of the pages stand first and as they are, so that a page is looked for without unpacking; behind them is what is
//! known of each, as postcard within an LZ4 block.

use searchwright_contract::{Instant, issues::OccurrenceState};
use uuid::Uuid;

use super::entry::Entry;
use crate::{Error, Param, Result};

/// Entries of a leaf that is written; one that is changed may hold twice as many before it is split.
pub(super) const ENTRIES: usize = 128;
/// Begins a leaf that is packed.
const PACKED: u8 = 1;
/// Bytes of an id.
const ID: usize = 16;

/// Entries of each leaf that so many become.
pub(super) fn most(entries: usize) -> usize {
    if entries <= 2 * ENTRIES {
        entries.max(1)
    } else {
        ENTRIES
    }
}

/// Pages and what is known of them, ascending.
pub(super) type Entries = Vec<(Uuid, Entry)>;

pub(super) fn defect(what: impl ToString) -> Error {
    Error::Defect(format!("a leaf of the ledger: {}", what.to_string()))
}

/// The ids of a packed leaf and what is behind them.
fn parts(data: &[u8]) -> Result<(&[u8], &[u8])> {
    let (count, rest) = data
        .strip_prefix(&[PACKED])
        .and_then(|rest| rest.split_first_chunk())
        .ok_or_else(|| defect("unknown form"))?;
    let ids = usize::from(u16::from_le_bytes(*count)) * ID;
    rest.split_at_checked(ids).ok_or_else(|| defect("cut off"))
}

fn unpack(packed: &[u8]) -> Result<Vec<Entry>> {
    let plain = lz4_flex::decompress_size_prepended(packed).map_err(defect)?;
    postcard::from_bytes(&plain).map_err(defect)
}

/// Everything in a leaf.
pub(super) fn read(data: &[u8]) -> Result<Entries> {
    let (ids, packed) = parts(data)?;
    let ids = ids.chunks_exact(ID).map(Uuid::from_slice);
    let ids: Vec<Uuid> = ids.collect::<Result<_, _>>().map_err(defect)?;
    let entries = unpack(packed)?;
    if ids.len() != entries.len() {
        return Err(defect("more ids than entries, or fewer"));
    }
    Ok(ids.into_iter().zip(entries).collect())
}

/// The last page of a leaf.
pub(super) fn last(data: &[u8]) -> Result<Option<Uuid>> {
    let (ids, _) = parts(data)?;
    let (ids, _) = ids.as_chunks::<ID>();
    Ok(ids.last().map(|id| Uuid::from_bytes(*id)))
}

/// What a leaf knows of a page.
pub(crate) fn find(data: &[u8], page: Uuid) -> Result<Option<Entry>> {
    let (ids, packed) = parts(data)?;
    let (ids, _) = ids.as_chunks::<ID>();
    let Ok(place) = ids.binary_search(page.as_bytes()) else {
        return Ok(None);
    };
    Ok(unpack(packed)?.into_iter().nth(place))
}

/// Counts of a leaf, and what it is looked for by.
#[derive(Default)]
struct Summary {
    counts: [u32; OccurrenceState::ALL.len()],
    wakes_at: Option<Instant>,
    changed_at: Option<Instant>,
    /// Of those that are active: the audit that saw all of them last.
    seen_by: Option<Uuid>,
    mixed: bool,
}

impl Summary {
    fn add(&mut self, entry: &Entry) {
        self.counts[entry.state as usize] += 1;
        if entry.state == OccurrenceState::Ignored
            && let Some(until) = entry.ignored_until
        {
            self.wakes_at = Some(self.wakes_at.map_or(until, |at| at.min(until)));
        }
        if entry.was.is_some() {
            self.changed_at = self.changed_at.max(entry.changed_at);
        }
        if entry.is_active() {
            let first = *self.seen_by.get_or_insert(entry.last_seen);
            self.mixed |= first != entry.last_seen;
        }
    }

    fn row(self, first_page: Uuid, data: Vec<u8>) -> Vec<Param> {
        let mut row = vec![first_page.into()];
        row.extend(self.counts.map(Param::from));
        row.push(self.wakes_at.into());
        row.push(self.changed_at.into());
        row.push(self.seen_by.filter(|_| !self.mixed).into());
        row.push(data.into());
        row
    }
}

/// The row of a leaf, behind project and issue: its first page, the counts in the order of [`OccurrenceState::ALL`], when
/// the next is to be woken, the last change by an audit, the audit that saw all, the data.
pub(super) fn row(first_page: Uuid, entries: &[(Uuid, Entry)]) -> Result<Vec<Param>> {
    let mut summary = Summary::default();
    entries.iter().for_each(|(_, entry)| summary.add(entry));
    let of: Vec<&Entry> = entries.iter().map(|(_, entry)| entry).collect();
    // it need not grow, but for long evidence
    let plain = Vec::with_capacity(entries.len() * 256);
    let plain = postcard::to_extend(&of, plain).map_err(defect)?;
    let data = pack(entries.iter().map(|(page, _)| *page), &plain)?;
    Ok(summary.row(first_page, data))
}

/// The row of a leaf of new entries, as [`row`] makes it. They differ in what was seen and in nothing else, so that the rest of
/// them is made once: of an audit's entries most are new.
pub(super) fn row_of_new(pages: &[(Uuid, &str)], audit: Uuid, now: Instant) -> Result<Vec<Param>> {
    let new = Entry::new(String::new(), audit, now);
    let whole = postcard::to_stdvec(&new).map_err(defect)?;
    let beginning =
        |evidence: &str, plain| postcard::to_extend(&(new.state, evidence), plain).map_err(defect);
    let empty = beginning("", Vec::new())?;
    let rest = whole
        .strip_prefix(&*empty)
        .ok_or_else(|| defect("unknown form"))?;
    let seen: usize = pages.iter().map(|(_, evidence)| evidence.len()).sum();
    let plain = Vec::with_capacity(seen + (pages.len() + 1) * (whole.len() + 8));
    let mut plain = postcard::to_extend(&pages.len(), plain).map_err(defect)?;
    let mut summary = Summary::default();
    for (_, evidence) in pages {
        summary.add(&new);
        plain = beginning(evidence, plain)?;
        plain.extend(rest);
    }
    let first = pages.first().map_or(Uuid::nil(), |(page, _)| *page);
    let data = pack(pages.iter().map(|(page, _)| *page), &plain)?;
    Ok(summary.row(first, data))
}

/// The data of a leaf: the ids of its pages as they are, and entries packed.
fn pack(pages: impl ExactSizeIterator<Item = Uuid>, entries: &[u8]) -> Result<Vec<u8>> {
    let count = u16::try_from(pages.len()).map_err(defect)?;
    let mut data = Vec::with_capacity(3 + pages.len() * 64);
    data.push(PACKED);
    data.extend(count.to_le_bytes());
    pages.for_each(|page| data.extend(page.as_bytes()));
    data.extend(lz4_flex::compress_prepend_size(entries));
    Ok(data)
}
