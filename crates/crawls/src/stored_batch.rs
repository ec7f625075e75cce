//! Stored form of batches of crawled pages, compressed with LZ4.
//!
//! The plain form is a version byte, a `Header`, and the pages one after the other, both in postcard. The header has the length
//! of each page, so that some pages can be read without the others.

use std::{mem::take, vec};

use searchwright_failure::{Failure, defect};
use searchwright_site::{
    crawl::{Batch, Discovered},
    origin::Origin,
    page::{PageFacts, UrlId},
    resources::Resource,
};
use searchwright_store::crawls::PackedBatch;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Version of the stored form. A batch of another version is refused.
const VERSION: u8 = 2;

/// Facts that belong to a batch as a whole.
#[derive(Serialize, Deserialize)]
struct Header {
    origin: Option<Origin>,
    discovered: Vec<Discovered>,
    resources: Option<Vec<Resource>>,
    /// Id and length in bytes of each page, in their order.
    pages: Vec<(UrlId, u32)>,
}

/// A batch that was read back.
pub struct StoredBatch {
    /// Facts about the site, if they changed.
    pub origin: Option<Origin>,
    /// URLs that became known with this batch.
    pub discovered: Vec<Discovered>,
    /// Resources that pages need, if they were requested.
    pub resources: Option<Vec<Resource>>,
    /// Facts of pages, without their main texts.
    pub pages: Vec<PageFacts>,
}

/// Returns the stored form of a value: postcard, then LZ4 with the plain size before it.
pub fn compress(value: &impl Serialize) -> Result<Vec<u8>, Failure> {
    let plain = postcard::to_stdvec(value).map_err(|e| defect("stored form", e))?;
    Ok(lz4_flex::compress_prepend_size(&plain))
}

/// Reads a value back that [`compress`] has stored.
pub fn decompress<T: DeserializeOwned>(data: &[u8]) -> Result<T, Failure> {
    let plain = lz4_flex::decompress_size_prepended(data).map_err(|e| defect("stored form", e))?;
    postcard::from_bytes(&plain).map_err(|e| defect("stored form", e))
}

/// Returns the stored form of a batch. Its texts are stored separately.
pub fn pack(batch: Batch) -> Result<PackedBatch, Failure> {
    let (mut pages, mut lengths) = (Vec::new(), Vec::with_capacity(batch.pages.len()));
    for page in &batch.pages {
        let begin = pages.len();
        pages = postcard::to_extend(&page.facts, pages).map_err(|e| defect("batch", e))?;
        let length = u32::try_from(pages.len() - begin).map_err(|e| defect("batch", e))?;
        lengths.push((page.facts.id, length));
    }
    let header = Header {
        origin: batch.origin,
        discovered: batch.discovered,
        resources: batch.resources,
        pages: lengths,
    };
    let mut plain = postcard::to_extend(&header, vec![VERSION]).map_err(|e| defect("batch", e))?;
    plain.append(&mut pages);
    Ok(PackedBatch {
        data: lz4_flex::compress_prepend_size(&plain),
        ..PackedBatch::default()
    })
}

/// Reads a stored batch back.
pub fn unpack(data: &[u8]) -> Result<StoredBatch, Failure> {
    let (header, mut pages) = open(data)?;
    Ok(StoredBatch {
        origin: header.origin,
        discovered: header.discovered,
        resources: header.resources,
        pages: pages.read_next(usize::MAX)?,
    })
}

/// Reads some pages of a batch, and decodes no others.
pub fn unpack_pages(data: &[u8], is_wanted: impl Fn(UrlId) -> bool) -> Result<Vec<PageFacts>, Failure> {
    let (_, mut pages) = open(data)?;
    pages.read(usize::MAX, is_wanted)
}

/// Pages of a stored batch that are decoded one after the other: all pages of a batch take more memory than the batch.
pub struct PageReader {
    plain: Vec<u8>,
    /// Offset of the next page.
    at: usize,
    pages: vec::IntoIter<(UrlId, u32)>,
}

impl PageReader {
    /// Opens a stored batch.
    pub fn open(data: &[u8]) -> Result<Self, Failure> {
        Ok(open(data)?.1)
    }

    /// Returns the next pages, at most `limit`; none at the end.
    pub fn read_next(&mut self, limit: usize) -> Result<Vec<PageFacts>, Failure> {
        self.read(limit, |_| true)
    }

    fn read(&mut self, limit: usize, is_wanted: impl Fn(UrlId) -> bool) -> Result<Vec<PageFacts>, Failure> {
        let mut read = Vec::new();
        for (id, length) in self.pages.by_ref().take(limit) {
            let begin = self.at;
            self.at = begin.saturating_add(length as usize);
            if is_wanted(id) {
                let page = self.plain.get(begin..self.at).unwrap_or_default();
                read.push(postcard::from_bytes(page).map_err(|e| defect("saved batch", e))?);
            }
        }
        Ok(read)
    }
}

fn open(data: &[u8]) -> Result<(Header, PageReader), Failure> {
    let plain = lz4_flex::decompress_size_prepended(data).map_err(|e| defect("saved batch", e))?;
    let Some((&VERSION, rest)) = plain.split_first() else {
        return Err(defect("saved batch", "it has another version"));
    };
    let (mut header, pages): (Header, _) =
        postcard::take_from_bytes(rest).map_err(|e| defect("saved batch", e))?;
    let reader = PageReader {
        at: plain.len() - pages.len(),
        pages: take(&mut header.pages).into_iter(),
        plain,
    };
    Ok((header, reader))
}

#[cfg(test)]
mod tests {
    use searchwright_site::{
        crawl::CrawledPage,
        origin::Probe,
        page::{At, HtmlFacts, MarkupMismatch, Object, Objects, Outcome, UnknownTerms},
    };
    use searchwright_text::minhash::Sketch;
    use url::Url;

    use super::*;

    fn batch() -> Batch {
        let url = Url::parse("https://example.com/").unwrap();
        let page = |id: u32, html: Option<HtmlFacts>| CrawledPage {
            facts: PageFacts {
                html: html.map(Box::new),
                ..PageFacts::without_answer(
                    &url,
                    At {
                        id: UrlId(id),
                        ..At::default()
                    },
                    Outcome::Status(200),
                )
            },
            depth: None,
        };
        let html = HtmlFacts {
            words: 7,
            unseen: vec![MarkupMismatch {
                property: "price".into(),
                value: "5".into(),
            }],
            dated: Some(1_700_000_000_000),
            strange: UnknownTerms {
                types: vec!["Produkt".into()],
                properties: Vec::new(),
            },
            objects: Some(Box::new(Objects {
                list: vec![Object {
                    source: r#"{"@type":["Product"]}"#.into(),
                    is_whole: true,
                }],
                cut: false,
                elsewhere: vec!["Person".into()],
            })),
            ..HtmlFacts::default()
        };
        let url = |id: u32, day: u16| Discovered {
            id: UrlId(id),
            key: "https://example.com/".into(),
            url: "https://example.com/".into(),
            depth: None,
            provenance: 2,
            internal: true,
            day,
        };
        Batch {
            discovered: vec![url(0, 0), url(1, 20_000)],
            origin: Some(Origin {
                http1_only: true,
                probes: vec![Probe {
                    sketch: Sketch::from_text("text that a made-up URL answers"),
                    ..Probe::default()
                }],
                ..Origin::default()
            }),
            resources: Some(Vec::new()),
            pages: vec![
                page(5, None),
                page(6, Some(html)),
                page(7, Some(HtmlFacts::default())),
            ],
            ..Batch::default()
        }
    }

    fn facts() -> Vec<PageFacts> {
        batch().pages.into_iter().map(|page| page.facts).collect()
    }

    #[test]
    fn batch_is_read_back_whole() {
        let stored = unpack(&pack(batch()).unwrap().data).unwrap();
        assert_eq!(stored.pages, facts());
        assert_eq!(
            (stored.origin, stored.discovered, stored.resources),
            (batch().origin, batch().discovered, batch().resources)
        );
    }

    #[test]
    fn pages_are_read_a_few_at_a_time_or_by_id() {
        let data = pack(batch()).unwrap().data;
        let mut pages = PageReader::open(&data).unwrap();
        assert_eq!(pages.read_next(2).unwrap(), facts()[..2]);
        assert_eq!(pages.read_next(2).unwrap(), facts()[2..]);
        assert_eq!(pages.read_next(2).unwrap(), []);
        for first in 5..9 {
            let read = unpack_pages(&data, |id| id.0 >= first).unwrap();
            assert_eq!(read, facts()[first as usize - 5..]);
        }
    }

    #[test]
    fn other_versions_and_damaged_batches_are_refused() {
        let data = pack(batch()).unwrap().data;
        let plain = lz4_flex::decompress_size_prepended(&data).unwrap();
        let is_refused = |plain: &[u8]| unpack(&lz4_flex::compress_prepend_size(plain)).is_err();
        assert!(!is_refused(&plain));
        for end in 0..plain.len() {
            assert!(is_refused(&plain[..end]), "the first {end} bytes");
        }
        assert!(is_refused(&[&[VERSION + 1], &plain[1..]].concat()));
    }
}
