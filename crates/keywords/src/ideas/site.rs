//! Ideas from pages and addresses.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use url::Url;

use super::{
    Draft, Evidence, Figures, MAX_EVIDENCE, Material, Page, Source,
    filters::Rejected,
    profile::{Profile, is_in},
    topics::{Place, Topics},
    yake,
};
use crate::{intent::Brands, normalize, titles, words::Lexicon};

/// Phrases taken of one page's text.
const PER_PAGE: usize = 20;
/// Reciprocal rank fusion: the constant of Cormack, Clarke and Büttcher (SIGIR 2009).
const FUSION: f64 = 60.0;
/// Weight of a title, main heading or link relative to the text.
const EMPHASIS: f64 = 3.0;
/// Weight of two words that no sentence of the site names, only a heading or a link.
const HEADING_ONLY: f64 = 0.1;
/// Weight of words of one page's text that it says less often than [`MIN_TALK`] times.
const ASIDE: f64 = 0.3;
const MIN_TALK: u32 = 5;
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

/// Topics of own pages: of each the best phrases of its text by YAKE and its titles, headings and links,
/// joined over all pages by rank, and weighted by how few pages have them.
pub(super) fn own_pages(
    material: &Material<'_>,
    topics: &Topics<'_>,
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
        let mut others = 0;
        let mut offer = |text: &str, place: Place, weight: f64, detail: String| {
            let Some(topic) = topics.find(text, place) else {
                others += 1;
                return;
            };
            let entry = weights.entry(normalize(&topic)).or_default();
            if weight > entry.0 {
                *entry = (weight, topic, detail);
            }
        };
        let emphasised = emphasised(page);
        for (kind, text) in &emphasised {
            offer(text, Place::Named, EMPHASIS / (FUSION + 1.0), (*kind).to_owned());
        }
        let titles: Vec<String> = emphasised.iter().map(|(_, text)| padded(text)).collect();
        for (rank, phrase) in yake::phrases(page.text, lexicon, PER_PAGE)
            .into_iter()
            .enumerate()
        {
            let stressed = titles.iter().any(|title| title.contains(&padded(&phrase.text)));
            let factor = if stressed { EMPHASIS } else { 1.0 };
            let detail = format!("text, YAKE {:.4}", phrase.score);
            let weight = factor / (FUSION + 1.0 + rank as f64);
            offer(&phrase.text, Place::Text, weight, detail);
        }
        for heading in &page.headings {
            offer(heading, Place::Named, 1.0 / (FUSION + 1.0), "heading".to_owned());
        }
        *rejected.entry(Rejected::NoTopic).or_default() += others;
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
        let firm = 1.0 + f64::from(topics.alone(&found.written)).ln_1p();
        let firm = if topics.is_firm(&found.written) {
            firm
        } else {
            HEADING_ONLY
        };
        let is_of_text = { found.evidence.iter() }.all(|evidence| evidence.detail.starts_with("text"));
        let is_aside =
            count >= FEW_PAGES && is_of_text && found.pages < 2 && topics.alone(&found.written) < MIN_TALK;
        let firm = if is_aside { firm * ASIDE } else { firm };
        ranked.push((found.weight * idf * firm, normalized, found));
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    ranked
        .into_iter()
        .map(|(_, _, found)| Draft {
            one_word: !found.written.contains(' '),
            keyword: found.written,
            evidence: found.evidence,
            verbatim: false,
            figures: Figures::default(),
            standing: 0.0,
        })
        .collect()
}

/// Titles and headings of competitors whose words the own site has not. Those with a competitor's name
/// lead to the competitor.
pub(super) fn gaps(
    material: &Material<'_>,
    topics: &Topics<'_>,
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
            let Some(topic) = topics.find(text, Place::Named) else {
                *rejected.entry(Rejected::NoTopic).or_default() += 1;
                continue;
            };
            if brands.owner(text).is_some() || profile.has(&normalized, lexicon) {
                *rejected.entry(Rejected::NoGap).or_default() += 1;
                continue;
            }
            *counts.entry(normalize(&topic)).or_default() += 1;
            drafts.push(Draft::new(topic, Source::CompetitorPage, page.url, kind));
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

/// The words of the addresses of a sitemap, those of its directories too. A page that was read is about the words of its
/// address.
pub(super) fn sitemap(
    material: &Material<'_>,
    topics: &Topics<'_>,
    rejected: &mut BTreeMap<Rejected, usize>,
) -> Vec<Draft> {
    let read: HashSet<&str> = material
        .pages
        .iter()
        .map(|page| page.url.trim_end_matches('/'))
        .collect();
    let mut seen = HashSet::new();
    let mut drafts = Vec::new();
    for address in &material.sitemap {
        let Ok(url) = Url::parse(address) else { continue };
        let segments: Vec<&str> = url
            .path_segments()
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect();
        for (at, segment) in segments.iter().enumerate() {
            let words = slug(segment);
            if !words.contains(' ') || !seen.insert(words.clone()) {
                continue;
            }
            if at + 1 == segments.len() && read.contains(address.trim_end_matches('/')) {
                *rejected.entry(Rejected::Covered).or_default() += 1;
                continue;
            }
            match topics.find(&words, Place::Named) {
                Some(topic) => drafts.push(Draft::new(topic, Source::Sitemap, address, *segment)),
                None => *rejected.entry(Rejected::NoTopic).or_default() += 1,
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
