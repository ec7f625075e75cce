//! Offsets of pages, at the very end of a batch, so that a page can be read without those before it.

use searchwright_site::page::UrlId;

/// Last bytes of a batch with offsets; batches of older releases end otherwise.
const MARK: &[u8; 8] = b"\0places\0";

/// Id and offset of each page, 4 bytes each, little-endian; on writing, their count (4 bytes) and [`MARK`] follow.
#[derive(Debug, Default)]
pub(super) struct Places(Vec<u8>);

impl Places {
    pub(super) fn insert(&mut self, id: UrlId, at: usize) {
        self.0.extend(id.0.to_le_bytes());
        // a batch is cut long before it has as many bytes
        self.0.extend(u32::try_from(at).unwrap_or(u32::MAX).to_le_bytes());
    }

    pub(super) fn write(self, plain: &mut Vec<u8>) {
        let count = (self.0.len() / 8) as u32;
        plain.extend(self.0);
        plain.extend(count.to_le_bytes());
        plain.extend(MARK);
    }
}

/// Splits off the offsets of pages, and returns what is before them; `None` if the batch has no offsets.
pub(super) fn split(plain: &[u8]) -> (&[u8], Option<impl Iterator<Item = (UrlId, usize)>>) {
    let Some((before, places)) = last(plain) else {
        return (plain, None);
    };
    let places = places.iter().map(|place| {
        let [a, b, c, d, e, f, g, h] = *place;
        let (id, at) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        (UrlId(id), at as usize)
    });
    (before, Some(places))
}

fn last(plain: &[u8]) -> Option<(&[u8], &[[u8; 8]])> {
    let (rest, count) = plain.strip_suffix(MARK)?.split_last_chunk()?;
    let bytes = (u32::from_le_bytes(*count) as usize).checked_mul(8)?;
    let (before, places) = rest.split_at_checked(rest.len().checked_sub(bytes)?)?;
    Some((before, places.as_chunks().0))
}
