//! Objects of the microdata of pages. They came when what lies before them had no end of its own any more, so they are found
//! from behind, before where pages begin.

use searchwright_site::{crawl::Page, page::Objects};

use super::write as write_to;
use crate::{
    failure::{Failure, defect},
    jobs::JobError,
};

/// What ends a batch that has some, before the places of its pages.
const MARK: &[u8; 8] = b"\0objects";

/// Of pages with any, their place, and the objects.
pub(super) type Placed = Vec<(u32, Objects)>;

/// Writes them, how many bytes they take in four, little-endian, and [`MARK`]; nothing for a batch without any.
pub(super) fn write(plain: &mut Vec<u8>, pages: &[Page]) -> Result<(), JobError> {
    let objects = |page: &'_ Page| page.facts.html.as_ref()?.objects.as_deref().cloned();
    let placed: Placed = (0..)
        .zip(pages)
        .filter_map(|(place, page)| Some((place, objects(page)?)))
        .collect();
    if placed.is_empty() {
        return Ok(());
    }
    let begin = plain.len();
    write_to(plain, &placed)?;
    let bytes = u32::try_from(plain.len() - begin).map_err(|e| defect("batch", e))?;
    plain.extend(bytes.to_le_bytes());
    plain.extend(MARK);
    Ok(())
}

/// What lies before them, and they.
pub(super) fn split(plain: &[u8]) -> Result<(&[u8], Placed), Failure> {
    match last(plain) {
        Some((before, placed)) => {
            let placed = postcard::from_bytes(placed).map_err(|e| defect("saved batch", e))?;
            Ok((before, placed))
        }
        None => Ok((plain, Placed::new())),
    }
}

fn last(plain: &[u8]) -> Option<(&[u8], &[u8])> {
    let (rest, bytes) = plain.strip_suffix(MARK)?.split_last_chunk()?;
    rest.split_at_checked(rest.len().checked_sub(u32::from_le_bytes(*bytes) as usize)?)
}
