//! Reads the pages of a batch a few at a time: with more, the first ones have left the processor's caches before they are used.

use searchwright_site::{checks::Early, page::PageFacts};

use super::{Behind, placed, places, read};
use crate::failure::{Failure, defect};

/// Pages of a batch in their order, with the results of early checks on each.
pub(in crate::audits) struct Few<'b> {
    pages: BatchPages<'b>,
    early: std::vec::IntoIter<Option<Early>>,
}

enum BatchPages<'b> {
    /// Pages at known offsets, with the facts that are stored after all of them.
    Placed {
        plain: &'b [u8],
        places: std::iter::Enumerate<std::vec::IntoIter<usize>>,
        behind: Box<Behind<'b>>,
    },
    /// Pages of a batch of an older release, which has no offsets.
    Whole(std::vec::IntoIter<PageFacts>),
}

impl<'b> Few<'b> {
    /// Opens a stored batch. Results of early checks are included if they were made under the rules with the fingerprint `by`.
    /// `room` is a buffer that can be reused for the next batch.
    pub(in crate::audits) fn open(data: &[u8], by: u64, room: &'b mut Vec<u8>) -> Result<Self, Failure> {
        let (size, packed) =
            lz4_flex::block::uncompressed_size(data).map_err(|e| defect("saved batch", e))?;
        room.resize(size, 0);
        let size = lz4_flex::block::decompress_into(packed, room).map_err(|e| defect("saved batch", e))?;
        let plain = room.get(..size).unwrap_or_default();
        let (before, Some(places)) = places::split(plain) else {
            return Ok(Self {
                pages: BatchPages::Whole(read(plain)?.saved.2.into_iter()),
                early: Vec::new().into_iter(),
            });
        };
        let (before, objects, _) = placed::split(before)?;
        let places: Vec<usize> = places.map(|(_, at)| at).collect();
        // the parts after the pages begin where the last page ends
        let rest = match places.last() {
            Some(at) => page(before, *at)?.1,
            None => &[],
        };
        let behind = Behind::read(rest, objects)?;
        Ok(Self {
            early: behind.early(by)?.into_iter(),
            pages: BatchPages::Placed {
                plain: before,
                places: places.into_iter().enumerate(),
                behind: Box::new(behind),
            },
        })
    }

    /// Returns the next pages, at most `most`; none at the end.
    pub(in crate::audits) fn next(
        &mut self,
        most: usize,
    ) -> Result<(Vec<PageFacts>, Vec<Option<Early>>), Failure> {
        let pages: Vec<PageFacts> = match &mut self.pages {
            BatchPages::Placed {
                plain,
                places,
                behind,
            } => {
                let pages = places.take(most).map(|(place, at)| {
                    let (mut page, _) = page(plain, at)?;
                    behind.complete(&mut page, place);
                    Ok(page)
                });
                pages.collect::<Result<_, Failure>>()?
            }
            BatchPages::Whole(pages) => pages.take(most).collect(),
        };
        let early = pages.iter().map(|_| self.early.next().flatten()).collect();
        Ok((pages, early))
    }
}

/// Reads the page that begins at an offset, and returns it with the bytes after it.
pub(super) fn page(plain: &[u8], at: usize) -> Result<(PageFacts, &[u8]), Failure> {
    postcard::take_from_bytes(plain.get(at..).unwrap_or_default()).map_err(|e| defect("saved batch", e))
}
