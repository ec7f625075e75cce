//! The pages of a batch, a few at a time: of more, what is read first has left the processor's caches when it is looked at.

use searchwright_site::{checks::Early, page::PageFacts};

use super::{Behind, placed, places, read};
use crate::failure::{Failure, defect};

/// Pages in their order, and what is known of what was found on each while the crawl went on.
pub(in crate::audits) struct Few<'b> {
    pages: Pages<'b>,
    early: std::vec::IntoIter<Option<Early>>,
}

enum Pages<'b> {
    /// Each where it is, with what is stored behind all of them.
    Placed {
        plain: &'b [u8],
        places: std::iter::Enumerate<std::vec::IntoIter<usize>>,
        behind: Box<Behind<'b>>,
    },
    /// Of a batch of an older release, which does not say where they are.
    Whole(std::vec::IntoIter<PageFacts>),
}

impl<'b> Few<'b> {
    /// What was found is known unless it was by other rules. `room` is for the next batch what it was for this one.
    pub(in crate::audits) fn open(data: &[u8], by: u64, room: &'b mut Vec<u8>) -> Result<Self, Failure> {
        let (size, packed) =
            lz4_flex::block::uncompressed_size(data).map_err(|e| defect("saved batch", e))?;
        room.resize(size, 0);
        let size = lz4_flex::block::decompress_into(packed, room).map_err(|e| defect("saved batch", e))?;
        let plain = room.get(..size).unwrap_or_default();
        let (before, Some(places)) = places::split(plain) else {
            return Ok(Self {
                pages: Pages::Whole(read(plain)?.saved.2.into_iter()),
                early: Vec::new().into_iter(),
            });
        };
        let (before, objects, _) = placed::split(before)?;
        let places: Vec<usize> = places.map(|(_, at)| at).collect();
        // what is behind pages begins where the last of them ends
        let rest = match places.last() {
            Some(at) => page(before, *at)?.1,
            None => &[],
        };
        let behind = Behind::read(rest, objects)?;
        Ok(Self {
            early: behind.early(by)?.into_iter(),
            pages: Pages::Placed {
                plain: before,
                places: places.into_iter().enumerate(),
                behind: Box::new(behind),
            },
        })
    }

    /// The next so many, none at the end.
    pub(in crate::audits) fn next(
        &mut self,
        most: usize,
    ) -> Result<(Vec<PageFacts>, Vec<Option<Early>>), Failure> {
        let pages: Vec<PageFacts> = match &mut self.pages {
            Pages::Placed {
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
            Pages::Whole(pages) => pages.take(most).collect(),
        };
        let early = pages.iter().map(|_| self.early.next().flatten()).collect();
        Ok((pages, early))
    }
}

/// The page that begins somewhere, and what is behind it.
pub(super) fn page(plain: &[u8], at: usize) -> Result<(PageFacts, &[u8]), Failure> {
    postcard::take_from_bytes(plain.get(at..).unwrap_or_default()).map_err(|e| defect("saved batch", e))
}
