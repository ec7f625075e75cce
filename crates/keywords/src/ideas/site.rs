//! Ideas from pages and addresses.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use url::Url;

use super::{
    Draft, Evidence, Figures, MAX_EVIDENCE, Material, Page, Source,
    filters::Rejected,
    profile::{Profile, is_in},
    yake,
};
use crate::{intent::Brands, normalize, titles, words::Lexicon};

/// Phrases taken of one page's text.
const PER_PAGE: usize = 20;
/// Reciprocal rank fusion: the constant of Cormack, Clarke and Büttcher (SIGIR 2009).
const FUSION: f64 = 60.0;
/// Weight of a title, main heading or link relative to the text.
const EMPHASIS: f64 = 3.0;
/// A site with fewer pages has no phrases of its menus to tell from others.
const FEW_PAGES: usize = 10;

/// A phrase found on pages.
#[derive(Default)]
struct Found {
    /// Phrase as first written.
    written: String,
    weight: f64,
    pages: usize,
    evidence: Vec<Evidence>,
}

/// Phrases of own pages: of each the best of its text by YAKE and its titles, headings and links,
/// joined over all pages by rank, and weighted by how few pages have them.
pub(super) fn own_pages(
    material: &Material<'_>,
    lexicon: &Lexicon,
    rejected: &mut BTreeMap<Rejected, usize>,
) -> Vec<Draft> {
    let mut all: HashMap<String, Found> = HashMap::new();
    let mut count = 0;
    for page in &material.pages {
        if !is_in(page, material.language, lexicon) {
            continue;
        }
        count += 1;
        let mut weights: HashMap<String, (f64, String, String)> = HashMap::new();
        let mut offer = |text: String, weight: f64, detail: String| {
            let entry = weights.entry(normalize(&text)).or_default();
            if weight > entry.0 {
                *entry = (weight, text, detail);
            }
        };
        let emphasised = emphasised(page);
        for (kind, text) in &emphasised {
            offer((*text).to_owned(), EMPHASIS / (FUSION + 1.0), (*kind).to_owned());
        }
        let titles: Vec<String> = emphasised.iter().map(|(_, text)| padded(text)).collect();
        for (rank, phrase) in yake::phrases(page.text, lexicon, PER_PAGE)
            .into_iter()
            .enumerate()
        {
            let stressed = titles.iter().any(|title| title.contains(&padded(&phrase.text)));
            let factor = if stressed { EMPHASIS } else { 1.0 };
            let detail = format!("text, YAKE {:.4}", phrase.score);
            offer(phrase.text, factor / (FUSION + 1.0 + rank as f64), detail);
        }
        for heading in &page.headings {
            offer(
                titles::bare(heading).to_owned(),
                1.0 / (FUSION + 1.0),
                "heading".to_owned(),
            );
        }
        for (normalized, (weight, written, detail)) in weights {
            let found = all.entry(normalized).or_default();
            found.weight += weight;
            found.pages += 1;
            if found.written.is_empty() {
                found.written = written;
            }
            if found.evidence.len() < MAX_EVIDENCE {
                found.evidence.push(Evidence {
                    source: Source::SiteContent,
                    place: page.url.to_owned(),
                    detail,
                });
            }
        }
    }
    let mut ranked: Vec<(f64, String, Found)> = Vec::with_capacity(all.len());
    for (normalized, found) in all {
        if count >= FEW_PAGES && found.pages * 2 > count {
            *rejected.entry(Rejected::Everywhere).or_default() += 1;
            continue;
        }
        let idf = (1.0 + count as f64 / found.pages as f64).ln();
        ranked.push((found.weight * idf, normalized, found));
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    ranked
        .into_iter()
        .map(|(_, _, found)| Draft {
            keyword: found.written,
            evidence: found.evidence,
            one_word: false,
            verbatim: false,
            figures: Figures::default(),
        })
        .collect()
}

/// Titles and headings of competitors whose words the own site has not. Those with a competitor's name
/// lead to the competitor.
pub(super) fn gaps(
    material: &Material<'_>,
    profile: &Profile,
    brands: &Brands,
    lexicon: &Lexicon,
    rejected: &mut BTreeMap<Rejected, usize>,
) -> Vec<Draft> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut drafts = Vec::new();
    for page in &material.competitor_pages {
        if !is_in(page, material.language, lexicon) {
            *rejected.entry(Rejected::OtherLanguage).or_default() += 1;
            continue;
        }
        let headings = page
            .headings
            .iter()
            .map(|heading| ("heading", titles::bare(heading)));
        let on_page: BTreeMap<String, (&str, &str)> = emphasised(page)
            .into_iter()
            .filter(|(kind, _)| *kind != "anchor")
            .chain(headings)
            .map(|(kind, text)| (normalize(text), (kind, text)))
            .collect();
        for (normalized, (kind, text)) in on_page {
            if brands.owner(text).is_some() || profile.has(&normalized, lexicon) {
                *rejected.entry(Rejected::NoGap).or_default() += 1;
                continue;
            }
            *counts.entry(normalized).or_default() += 1;
            drafts.push(Draft::new(text, Source::CompetitorPage, page.url, kind));
        }
    }
    // what several pages are about comes first
    drafts.sort_by_key(|draft| std::cmp::Reverse(counts.get(&normalize(&draft.keyword)).copied()));
    drafts
}

/// Title, main headings and links, each cut where sites put their name.
fn emphasised<'a>(page: &Page<'a>) -> Vec<(&'static str, &'a str)> {
    let title = page.title.iter().map(|text| ("title", *text));
    let h1s = page.h1s.iter().map(|text| ("h1", *text));
    let anchors: HashSet<&str> = page.anchors.iter().copied().collect();
    let anchors: BTreeSet<&str> = anchors.into_iter().collect();
    let anchors = anchors.into_iter().map(|text| ("anchor", text));
    let cut =
        |(kind, text): (&'static str, &'a str)| titles::parts(text).into_iter().map(move |part| (kind, part));
    title.chain(h1s).chain(anchors).flat_map(cut).collect()
}

/// Pads a normalized text with spaces, for a search by whole words.
fn padded(text: &str) -> String {
    format!(" {} ", normalize(text))
}

/// The words of the addresses of a sitemap, those of its directories too.
pub(super) fn sitemap(addresses: &[&str]) -> Vec<Draft> {
    let mut seen = HashSet::new();
    let mut drafts = Vec::new();
    for address in addresses {
        let Ok(url) = Url::parse(address) else { continue };
        for segment in url.path_segments().into_iter().flatten() {
            let words = slug(segment);
            if words.contains(' ') && seen.insert(words.clone()) {
                drafts.push(Draft::new(words, Source::Sitemap, address, segment));
            }
        }
    }
    drafts
}

/// The words of one part of an address: without an ending such as `.html`.
fn slug(segment: &str) -> String {
    let decoded = url::form_urlencoded::parse(segment.as_bytes()).next();
    let decoded = decoded.map(|(name, _)| name.into_owned()).unwrap_or_default();
    let stem = match decoded.rsplit_once('.') {
        Some((stem, ending)) if (2..=5).contains(&ending.len()) => stem,
        _ => decoded.as_str(),
    };
    let words = stem.split(['-', '_', ' ', '.']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn words_of_an_address() {
        assert_eq!(slug("standing-desk_frames.html"), "standing desk frames");
        assert_eq!(slug("h%C3%B6he-messen"), "höhe messen");
        assert_eq!(slug("index.php"), "index");
        assert_eq!(slug(""), "");
    }
}
