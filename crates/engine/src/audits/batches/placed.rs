//! What some pages have and most do not, each with its place among the pages. It came when what lies before it had no end of
//! its own any more, so it is found from behind, before where pages begin: objects of microdata, and behind them words of texts.

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

/// What ends the objects of a batch that has some.
const OBJECTS: &[u8; 8] = b"\0objects";
/// What ends the words of a batch that has some.
const TOKENS: &[u8; 8] = b"\0tokens\0";
/// What ended runs of words, which stood in their place for some days and are left alone.
const RUNS: &[u8; 8] = b"\0runs\0\0\0";

/// Of pages with any, their place, and what it is.
pub(super) type Placed<T> = Vec<(u32, T)>;

/// Writes both.
pub(super) fn write(plain: &mut Vec<u8>, pages: &[CrawledPage]) -> Result<(), JobError> {
    write_each(plain, pages, OBJECTS, |html| html.objects.as_deref())?;
    write_each(plain, pages, TOKENS, |html| html.tokens.as_deref())
}

/// Those of all pages, how many bytes they take in four, little-endian, and the mark; nothing for a batch without any.
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

/// What lies before both, and they; the words as they are stored, because few ask for them.
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
