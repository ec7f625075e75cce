//! Pages of the site that a post is compared with while its writer waits: of the main text of each a sketch is kept beside
//! the batch of its crawl, where the text is kept.

use searchwright_site::{crawl::Batch, url_key::url_key};
use searchwright_text::{folded, hash, minhash::Sketch};
use url::Url;

use crate::failure::{Result, defect};

/// A sketch with the hash of the URL of its page.
type Kept = (u64, Sketch);

/// Returns the stored form of the sketches of a batch.
pub(crate) fn pack(batch: &Batch) -> Result<Vec<u8>> {
    let kept: Vec<Kept> = batch
        .pages
        .iter()
        .filter_map(|page| Some((place(&page.facts.url)?, page.facts.html_200()?.sketch?)))
        .collect();
    postcard::to_stdvec(&kept).map_err(|e| defect("sketches", e))
}

fn place(url: &str) -> Option<u64> {
    Some(hash(url_key(&Url::parse(url).ok()?).as_bytes()))
}

/// Returns the similarity of a text, by the packed sketches of pages, to the most similar page of the site, without the pages at the URLs in `except`: an
/// estimate of the share of word runs of either that are in both.
pub(super) fn closest(sketches: &[Vec<u8>], text: &str, except: &[&str]) -> Result<f64> {
    let Some(sketch) = Sketch::from_text(&folded(text)) else {
        return Ok(0.0);
    };
    let except: Vec<u64> = except.iter().filter_map(|url| place(url)).collect();
    let mut closest = 0.0;
    for data in sketches {
        let kept: Vec<Kept> = postcard::from_bytes(data).map_err(|e| defect("saved sketches", e))?;
        let others = kept.iter().filter(|(place, _)| !except.contains(place));
        closest = others
            .map(|(_, other)| sketch.similarity(other))
            .fold(closest, f64::max);
    }
    Ok(closest)
}
