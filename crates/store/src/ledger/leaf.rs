//! A leaf of the ledger: neighbouring pages of one issue, packed.
//!
//! Form: a byte that names it, the number of pages (u16, little-endian), their ids (16 bytes each, ascending), and the entries
//! as postcard in an LZ4 block. The ids are not compressed, so that a page is looked up without unpacking.

use searchwright_contract::{
    Instant,
    ids::{AuditId, PageId},
    issues::OccurrenceState,
};
use uuid::Uuid;

use super::{defect, entry::Entry};
use crate::{Param, Result};

/// Number of entries of a new leaf; it may grow to twice as many before it is split.
pub(super) const ENTRIES: usize = 128;
/// First byte of a leaf: version of the form.
const FORMAT: u8 = 1;
/// Length of an id in bytes.
const ID_LEN: usize = 16;

/// Maximum number of entries per leaf when this many are written.
pub(super) fn max_entries(entries: usize) -> usize {
    if entries <= 2 * ENTRIES {
        entries.max(1)
    } else {
        ENTRIES
    }
}

/// Pages and their entries, ascending.
pub(super) type Entries = Vec<(PageId, Entry)>;

/// Splits a leaf into its ids and its packed entries.
fn split_parts(data: &[u8]) -> Result<(&[u8], &[u8])> {
    let (count, rest) = data
        .strip_prefix(&[FORMAT])
        .and_then(|rest| rest.split_first_chunk())
        .ok_or_else(|| defect("unknown form"))?;
    let ids = usize::from(u16::from_le_bytes(*count)) * ID_LEN;
    rest.split_at_checked(ids).ok_or_else(|| defect("cut off"))
}

fn unpack(packed: &[u8]) -> Result<Vec<Entry>> {
    let plain = lz4_flex::decompress_size_prepended(packed).map_err(defect)?;
    postcard::from_bytes(&plain).map_err(defect)
}

/// Returns all entries of a leaf.
pub(super) fn decode(data: &[u8]) -> Result<Entries> {
    let (ids, packed) = split_parts(data)?;
    let ids = ids
        .as_chunks::<ID_LEN>()
        .0
        .iter()
        .map(|id| PageId::from(Uuid::from_bytes(*id)));
    let entries = unpack(packed)?;
    if ids.len() != entries.len() {
        return Err(defect("more ids than entries, or fewer"));
    }
    Ok(ids.into_iter().zip(entries).collect())
}

/// Returns the last page of a leaf.
pub(super) fn last_page(data: &[u8]) -> Result<Option<PageId>> {
    let (ids, _) = split_parts(data)?;
    let (ids, _) = ids.as_chunks::<ID_LEN>();
    Ok(ids.last().map(|id| Uuid::from_bytes(*id).into()))
}

/// Returns the entry of a page in a leaf.
pub(crate) fn find_entry(data: &[u8], page: PageId) -> Result<Option<Entry>> {
    let (ids, packed) = split_parts(data)?;
    let (ids, _) = ids.as_chunks::<ID_LEN>();
    let Ok(place) = ids.binary_search(page.uuid().as_bytes()) else {
        return Ok(None);
    };
    Ok(unpack(packed)?.into_iter().nth(place))
}

/// Columns of a leaf, by which leaves are searched.
#[derive(Default)]
struct LeafSummary {
    counts: [u32; OccurrenceState::ALL.len()],
    wakes_at: Option<Instant>,
    changed_at: Option<Instant>,
    /// Audit that saw the active entries last.
    seen_by: Option<AuditId>,
    /// Active entries were seen last by different audits.
    mixed: bool,
}

impl LeafSummary {
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

    fn into_row(self, first_page: PageId, data: Vec<u8>) -> Vec<Param> {
        let mut row = vec![first_page.into()];
        row.extend(self.counts.map(Param::from));
        row.push(self.wakes_at.into());
        row.push(self.changed_at.into());
        row.push(self.seen_by.filter(|_| !self.mixed).into());
        row.push(data.into());
        row
    }
}

/// Encodes the row of a leaf, without project and issue: first page, counts in the order of [`OccurrenceState::ALL`],
/// earliest end of an ignored entry, last change by an audit, the audit that saw all, data.
pub(super) fn encode_row(first_page: PageId, entries: &[(PageId, Entry)]) -> Result<Vec<Param>> {
    let mut summary = LeafSummary::default();
    entries.iter().for_each(|(_, entry)| summary.add(entry));
    let stored: Vec<&Entry> = entries.iter().map(|(_, entry)| entry).collect();
    // Grows only if evidence is long.
    let plain = Vec::with_capacity(entries.len() * 256);
    let plain = postcard::to_extend(&stored, plain).map_err(defect)?;
    let data = pack(entries.iter().map(|(page, _)| *page), &plain)?;
    Ok(summary.into_row(first_page, data))
}

/// Encodes the row of a leaf of new entries, as [`encode_row`] would. New entries differ in their evidence only, so the rest of
/// them is encoded once: most entries of an audit are new.
pub(super) fn encode_new_row(pages: &[(PageId, &str)], audit: AuditId, now: Instant) -> Result<Vec<Param>> {
    let new = Entry::new(String::new(), audit, now);
    let whole = postcard::to_stdvec(&new).map_err(defect)?;
    let encode_start =
        |evidence: &str, plain| postcard::to_extend(&(new.state, evidence), plain).map_err(defect);
    let empty = encode_start("", Vec::new())?;
    let rest = whole
        .strip_prefix(&*empty)
        .ok_or_else(|| defect("unknown form"))?;
    let evidence_len: usize = pages.iter().map(|(_, evidence)| evidence.len()).sum();
    let plain = Vec::with_capacity(evidence_len + (pages.len() + 1) * (whole.len() + 8));
    let mut plain = postcard::to_extend(&pages.len(), plain).map_err(defect)?;
    let mut summary = LeafSummary::default();
    for (_, evidence) in pages {
        summary.add(&new);
        plain = encode_start(evidence, plain)?;
        plain.extend(rest);
    }
    let first = pages.first().map_or(PageId::MIN, |(page, _)| *page);
    let data = pack(pages.iter().map(|(page, _)| *page), &plain)?;
    Ok(summary.into_row(first, data))
}

/// Packs the data of a leaf from the ids of its pages and its encoded entries.
fn pack(pages: impl ExactSizeIterator<Item = PageId>, entries: &[u8]) -> Result<Vec<u8>> {
    let count = u16::try_from(pages.len()).map_err(defect)?;
    let mut data = Vec::with_capacity(3 + pages.len() * 64);
    data.push(FORMAT);
    data.extend(count.to_le_bytes());
    pages.for_each(|page| data.extend(page.uuid().as_bytes()));
    data.extend(lz4_flex::compress_prepend_size(entries));
    Ok(data)
}
