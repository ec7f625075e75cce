//! Facts that only few pages have, each with its place among the pages: microdata objects, then words of texts. The part before
//! them has no length of its own, so they are found from the end, before the offsets of pages.

use searchwright_site::{
    crawl::CrawledPage,
    page::{HtmlFacts, Objects},
};
use searchwright_text::shingles::Tokens;
use serde::{Serialize, de::DeserializeOwned};

use super::write as write_to;
use crate::{
    failure::{Failure, defect},
    jobs::JobError,
};

/// Marker at the end of the objects, if a batch has some.
const OBJECTS: &[u8; 8] = b"\0objects";
/// Marker at the end of the words, if a batch has some.
const TOKENS: &[u8; 8] = b"\0tokens\0";
/// Marker at the end of word runs, which batches held for some days in place of words; they are skipped.
const RUNS: &[u8; 8] = b"\0runs\0\0\0";

/// Values of those pages that have one, each with the place of its page.
pub(super) type Placed<T> = Vec<(u32, T)>;

/// Writes the objects and the words of the pages.
pub(super) fn write(plain: &mut Vec<u8>, pages: &[CrawledPage]) -> Result<(), JobError> {
    write_each(plain, pages, OBJECTS, |html| html.objects.as_deref())?;
    write_each(plain, pages, TOKENS, |html| html.tokens.as_deref())
}

/// Writes the values of all pages, their length in bytes (4 bytes, little-endian), and the marker; nothing if no page has a
/// value.
fn write_each<T: Serialize>(
    plain: &mut Vec<u8>,
    pages: &[CrawledPage],
    mark: &[u8; 8],
    of: fn(&HtmlFacts) -> Option<&T>,
) -> Result<(), JobError> {
    let placed: Vec<(u32, &T)> = (0..)
        .zip(pages)
        .filter_map(|(place, page)| Some((place, of(page.facts.html.as_ref()?)?)))
        .collect();
    if placed.is_empty() {
        return Ok(());
    }
    let begin = plain.len();
    write_to(plain, &placed)?;
    let bytes = u32::try_from(plain.len() - begin).map_err(|e| defect("batch", e))?;
    plain.extend(bytes.to_le_bytes());
    plain.extend(mark);
    Ok(())
}

/// Splits off the objects and the words, and returns what is before them. The words are not decoded, because few callers need
/// them.
pub(super) fn split(plain: &[u8]) -> Result<(&[u8], Placed<Objects>, StoredTokens<'_>), Failure> {
    let (before, tokens) = last(plain, TOKENS);
    let (before, _) = last(before, RUNS);
    let (before, objects) = last(before, OBJECTS);
    Ok((before, read(objects)?, StoredTokens(tokens)))
}

/// The words of pages, not read yet.
#[derive(Clone, Copy)]
pub(super) struct StoredTokens<'b>(Option<&'b [u8]>);

impl StoredTokens<'_> {
    pub(super) fn read(self) -> Result<Placed<Tokens>, Failure> {
        read(self.0)
    }
}

fn read<T: DeserializeOwned>(placed: Option<&[u8]>) -> Result<Placed<T>, Failure> {
    let read = placed.map(postcard::from_bytes).transpose();
    Ok(read.map_err(|e| defect("saved batch", e))?.unwrap_or_default())
}

fn last<'b>(plain: &'b [u8], mark: &[u8; 8]) -> (&'b [u8], Option<&'b [u8]>) {
    let found = || {
        let (rest, bytes) = plain.strip_suffix(mark)?.split_last_chunk()?;
        rest.split_at_checked(rest.len().checked_sub(u32::from_le_bytes(*bytes) as usize)?)
    };
    found().map_or((plain, None), |(before, placed)| (before, Some(placed)))
}
