//! Files within a ZIP archive (APPNOTE.TXT 4.3), as Search Console exports them: one CSV file for each table.

use std::io::Read as _;

use flate2::read::DeflateDecoder;

/// Most entries looked at.
const MAX_ENTRIES: usize = 64;
/// Largest unpacked file, in bytes; the same as of a file that is not packed.
const MAX_UNPACKED: u64 = 16 << 20;

const MAGIC: &[u8] = b"PK\x03\x04";
const DIRECTORY_END: &[u8] = b"PK\x05\x06";
const DIRECTORY_ENTRY: &[u8] = b"PK\x01\x02";

/// Returns whether a file is a ZIP archive.
pub(super) fn is_archive(file: &[u8]) -> bool {
    file.starts_with(MAGIC)
}

/// Unpacks the tables of an archive, in its order. A workbook is an archive too, but has no such file.
pub(super) fn tables(archive: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    entries(archive)
        .into_iter()
        .filter(|entry| {
            let name = entry.name.to_ascii_lowercase();
            [&b".csv"[..], b".tsv", b".txt"]
                .iter()
                .any(|end| name.ends_with(end))
        })
        .filter_map(|entry| unpack(archive, &entry))
}

struct Entry {
    name: Vec<u8>,
    method: u16,
    packed: usize,
    header: usize,
}

fn entries(archive: &[u8]) -> Vec<Entry> {
    let end = archive
        .windows(DIRECTORY_END.len())
        .rposition(|bytes| bytes == DIRECTORY_END);
    let mut at = end
        .and_then(|end| number(archive, end + 16, 4))
        .unwrap_or(archive.len());
    let mut entries = Vec::new();
    while entries.len() < MAX_ENTRIES
        && archive
            .get(at..)
            .is_some_and(|rest| rest.starts_with(DIRECTORY_ENTRY))
        && let Some((entry, length)) = entry(archive, at)
    {
        entries.push(entry);
        at += length;
    }
    entries
}

/// The entry of the directory at a position, and its length.
fn entry(archive: &[u8], at: usize) -> Option<(Entry, usize)> {
    let size = |offset: usize| number(archive, at + offset, 2);
    let (name, extra, comment) = (size(28)?, size(30)?, size(32)?);
    let entry = Entry {
        name: archive.get(at + 46..at + 46 + name)?.to_vec(),
        method: u16::try_from(size(10)?).ok()?,
        packed: number(archive, at + 20, 4)?,
        header: number(archive, at + 42, 4)?,
    };
    Some((entry, 46 + name + extra + comment))
}

fn unpack(archive: &[u8], entry: &Entry) -> Option<Vec<u8>> {
    let size = |offset: usize| number(archive, entry.header.checked_add(offset)?, 2);
    let start = entry.header.checked_add(30 + size(26)? + size(28)?)?;
    let packed = archive.get(start..start.checked_add(entry.packed)?)?;
    let mut unpacked = Vec::new();
    match entry.method {
        0 => unpacked.extend_from_slice(packed),
        8 => {
            let mut data = DeflateDecoder::new(packed).take(MAX_UNPACKED + 1);
            data.read_to_end(&mut unpacked).ok()?;
        }
        _ => return None,
    }
    (unpacked.len() as u64 <= MAX_UNPACKED).then_some(unpacked)
}

/// A number of so many bytes, the lowest first.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(width)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | usize::from(*byte)),
    )
}
