//! Ideas for keywords from what is at hand without any account: own pages, sitemap, brand data, patterns
//! of questions, and competitors' pages.
//!
//! Every idea carries the places it was found in. Nothing is invented beyond the patterns in
//! `data/phrases`, whose ideas say so by their source, and no numbers are.

mod brand;
mod filters;
mod patterns;
mod profile;
mod rules;
mod site;
#[cfg(test)]
mod tests;
mod topics;
mod usage;
mod yake;

use std::collections::{BTreeMap, HashMap, HashSet};

use searchwright_contract::keywords::Intent;

use super::{
    Source,
    intent::{self, Brands, Verdict},
    normalize,
    score::{self, Parts},
    words::Lexicon,
};
pub use filters::Rejected;

/// Most ideas of one call.
pub const MAX_IDEAS: usize = 200;
/// Most places remembered of one idea.
const MAX_EVIDENCE: usize = 5;

/// A page as far as ideas are made of it.
#[derive(Clone, Debug, Default)]
pub struct Page<'a> {
    /// Address.
    pub url: &'a str,
    /// Language it declares, BCP 47.
    pub language: Option<&'a str>,
    /// Title.
    pub title: Option<&'a str>,
    /// Main headings.
    pub h1s: Vec<&'a str>,
    /// Headings below them.
    pub headings: Vec<&'a str>,
    /// Texts of links to it.
    pub anchors: Vec<&'a str>,
    /// Main text, or what is kept of it.
    pub text: &'a str,
}

/// Facts about the brand.
#[derive(Clone, Debug, Default)]
pub struct Brand<'a> {
    /// Name, then aliases.
    pub names: Vec<&'a str>,
    /// Products.
    pub products: Vec<Product<'a>>,
    /// Questions that customers ask.
    pub faqs: Vec<&'a str>,
    /// Competitors, each by name and aliases.
    pub competitors: Vec<Vec<&'a str>>,
}

/// A product.
#[derive(Clone, Copy, Debug, Default)]
pub struct Product<'a> {
    /// Name.
    pub name: &'a str,
    /// Category of the product.
    pub category: Option<&'a str>,
}

/// A keyword that an account offers.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// The text.
    pub keyword: &'a str,
    /// The account.
    pub source: Source,
    /// Subject that the account was asked about.
    pub place: &'a str,
    /// Searches per month, difficulty and intent as far as the account says.
    pub figures: Figures,
}

/// Figures of an account that the worth of a keyword depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Searches per month.
    pub volume: Option<i64>,
    /// Difficulty, 0 to 100.
    pub difficulty: Option<i64>,
    /// Search intent.
    pub intent: Option<Intent>,
}

impl Figures {
    fn or(self, other: Self) -> Self {
        Self {
            volume: self.volume.or(other.volume),
            difficulty: self.difficulty.or(other.difficulty),
            intent: self.intent.or(other.intent),
        }
    }
}

/// All that ideas are made of.
#[derive(Clone, Debug, Default)]
pub struct Material<'a> {
    /// Language of the ideas, BCP 47.
    pub language: &'a str,
    /// Own pages.
    pub pages: Vec<Page<'a>>,
    /// Addresses of the sitemap.
    pub sitemap: Vec<&'a str>,
    /// Brand data.
    pub brand: Brand<'a>,
    /// Pages of competitors.
    pub competitor_pages: Vec<Page<'a>>,
    /// Terms that the caller wants questions about.
    pub seeds: Vec<&'a str>,
    /// Keywords that accounts offer, the best of each first.
    pub offers: Vec<Offer<'a>>,
    /// Sources that ideas may come from; all if empty. Other sources still count as evidence of an idea.
    pub sources: &'a [Source],
    /// Words and phrases that no idea may hold.
    pub blocked: Vec<&'a str>,
    /// Keywords that the project has already.
    pub known: Vec<&'a str>,
    /// Most ideas wanted; never more than [`MAX_IDEAS`].
    pub most: usize,
}

/// Place where an idea was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Kind of place.
    pub source: Source,
    /// Address of the page, or the member of the brand data.
    pub place: String,
    /// Text that was found there.
    pub detail: String,
}

/// A keyword that may be worth having.
#[derive(Clone, Debug, PartialEq)]
pub struct Idea {
    /// The text.
    pub keyword: String,
    /// The text as keywords are compared.
    pub normalized: String,
    /// Places where it was found, the best first; at least one.
    pub evidence: Vec<Evidence>,
    /// Search intent.
    pub intent: Verdict,
    /// Mean of the likeness to the profile of the site and of the place among the ideas of its source, 0 to 1; `None` without
    /// pages.
    pub relevance: Option<f64>,
    /// Worth by what is known so far, 0 to 100; see [`score::score`].
    pub score: Option<f64>,
    /// The idea that this one differs from in word order, inflection or year only.
    pub variant_of: Option<String>,
}

/// The ideas, best first, and how many were dropped for which reason.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ideas {
    /// The ideas.
    pub ideas: Vec<Idea>,
    /// Number of dropped candidates, by reason.
    pub rejected: BTreeMap<Rejected, usize>,
}

/// A text that a source offers, before it is judged.
#[derive(Clone, Debug)]
struct Draft {
    keyword: String,
    evidence: Vec<Evidence>,
    /// A product or competitor may be one word.
    one_word: bool,
    /// A question of the brand data is taken as it is, however long.
    verbatim: bool,
    figures: Figures,
    /// Place among the ideas of its source: 1 for the best, falling to 0.
    standing: f64,
}

impl Draft {
    fn new(keyword: impl Into<String>, source: Source, place: &str, detail: impl Into<String>) -> Self {
        Self {
            keyword: keyword.into(),
            evidence: vec![Evidence {
                source,
                place: place.to_owned(),
                detail: detail.into(),
            }],
            one_word: false,
            verbatim: false,
            figures: Figures::default(),
            standing: 0.0,
        }
    }

    /// Whether it is the same idea as one that differs from it in inflection or a number only: products and keywords with
    /// figures of their own are not.
    fn may_merge(&self) -> bool {
        let named = self.evidence.iter().any(|e| e.source == Source::BrandData);
        !named && self.figures == Figures::default()
    }

    fn offered(offer: &Offer<'_>) -> Self {
        Self {
            figures: offer.figures,
            ..Self::new(offer.keyword.trim(), offer.source, offer.place, offer.keyword)
        }
    }
}

/// Patterns of questions about `{term}` in a language.
pub fn questions(language: &str) -> &'static [&'static str] {
    &patterns::find(language).questions
}

/// Returns whether a text begins as a question of a BCP 47 language does.
pub fn is_question(text: &str, language: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default().to_lowercase();
    words.next().is_some() && rules::find(language).question.contains(first.as_str())
}

/// Makes ideas.
pub fn ideas(material: &Material<'_>) -> Ideas {
    let lexicon = Lexicon::for_language(material.language);
    let competitors = material.brand.competitors.iter().flatten().copied();
    let brands = Brands::new(material.brand.names.iter().copied(), competitors);
    let patterns = patterns::find(material.language);
    let mut out = Ideas::default();
    let profile =
        profile::Profile::from_pages(&material.pages, material.language, &lexicon, &mut out.rejected);

    let usage = usage::Usage::from_pages(&material.pages, material.language, &lexicon);
    let topics = topics::Topics::new(material.language, &lexicon, &usage);
    let filters = filters::Filters::new(material, &brands, &topics, &lexicon);
    // each source offers its best first
    let mut offers = vec![
        site::own_pages(material, &topics, &lexicon, &mut out.rejected),
        brand::draft_ideas(&material.brand, patterns),
        site::gaps(material, &topics, &profile, &brands, &lexicon, &mut out.rejected),
        site::sitemap(material, &topics, &mut out.rejected),
        brand::questions(material, patterns),
    ];
    let mut accounts: BTreeMap<&str, Vec<Draft>> = BTreeMap::new();
    for offer in &material.offers {
        let account = accounts.entry(offer.source.as_str()).or_default();
        account.push(Draft::offered(offer));
    }
    offers.extend(accounts.into_values());
    let wanted = |draft: &Draft| {
        let mut sources = draft.evidence.iter().map(|e| &e.source);
        material.sources.is_empty() || sources.any(|source| material.sources.contains(source))
    };
    for offer in &mut offers {
        offer.retain(wanted);
        for (place, draft) in offer.iter_mut().enumerate() {
            draft.standing = 1.0 - place.min(MAX_IDEAS) as f64 / MAX_IDEAS as f64;
        }
    }
    let mut drafts: Vec<(String, Draft)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut inflected: HashMap<String, usize> = HashMap::new();
    for draft in in_turn(offers) {
        let normalized = normalize(&draft.keyword);
        let key = lexicon.inflection_key(&normalized);
        let same = places.get(&normalized);
        let merges = draft.may_merge();
        if let Some(known) = same.or_else(|| inflected.get(&key).filter(|_| merges)) {
            let known = &mut drafts[*known].1;
            known.figures = known.figures.or(draft.figures);
            let evidence = &mut known.evidence;
            let new = draft.evidence.into_iter().filter(|e| !evidence.contains(e));
            let new: Vec<Evidence> = new.collect();
            evidence.extend(new);
            continue;
        }
        match filters.judge(&normalized, &draft) {
            Some(reason) => *out.rejected.entry(reason).or_default() += 1,
            None => {
                places.insert(normalized.clone(), drafts.len());
                inflected.entry(key).or_insert(drafts.len());
                drafts.push((normalized, draft));
            }
        }
    }
    let most = material.most.min(MAX_IDEAS);
    let (heads, variants) = heads_and_variants(drafts, &lexicon);
    let all = heads
        .into_iter()
        .map(|(normalized, draft)| (normalized, draft, None))
        .chain(variants);
    for (normalized, mut draft, variant_of) in all.take(most) {
        let intent = intent::classify(&normalized, material.language, &brands);
        // a word that is on many pages is no topic yet: what its source is about counts as much
        let relevance = profile.relevance(&normalized, &lexicon);
        let relevance = relevance.map(|likeness| f64::midpoint(likeness, draft.standing));
        let parts = Parts {
            relevance,
            volume: draft.figures.volume,
            difficulty: draft.figures.difficulty,
            intent: Some(draft.figures.intent.unwrap_or(intent.intent)),
        };
        draft.evidence.truncate(MAX_EVIDENCE);
        out.ideas.push(Idea {
            keyword: draft.keyword,
            normalized,
            evidence: draft.evidence,
            intent,
            relevance,
            score: score::score(&parts),
            variant_of,
        });
    }
    // stable, so of equals those that their source put first stay first
    let score = |idea: &Idea| idea.score.unwrap_or_default();
    let is_variant = |idea: &Idea| idea.variant_of.is_some();
    out.ideas.sort_by(|a, b| {
        is_variant(a)
            .cmp(&is_variant(b))
            .then(score(b).total_cmp(&score(a)))
    });
    out
}

/// The first of each, then the second of each, and so on: no source crowds out another.
fn in_turn(offers: Vec<Vec<Draft>>) -> impl Iterator<Item = Draft> {
    let n = offers.len();
    let mut offers: Vec<_> = offers.into_iter().map(Vec::into_iter).collect();
    let mut empty = 0;
    let mut next = 0;
    std::iter::from_fn(move || {
        while empty < n {
            let turn = next % n;
            next += 1;
            match offers[turn].next() {
                Some(draft) => {
                    empty = 0;
                    return Some(draft);
                }
                None => empty += 1,
            }
        }
        None
    })
}

/// Variants behind all others, each with the text it is a variant of.
type Variants = Vec<(String, Draft, Option<String>)>;

fn heads_and_variants(drafts: Vec<(String, Draft)>, lexicon: &Lexicon) -> (Vec<(String, Draft)>, Variants) {
    let mut known: HashMap<String, String> = HashMap::new();
    let mut heads = Vec::new();
    let mut variants = Vec::new();
    for (normalized, draft) in drafts {
        let key = lexicon.variant_key(&normalized);
        match known.get(&key) {
            Some(head) => variants.push((normalized, draft, Some(head.clone()))),
            None => {
                known.insert(key, draft.keyword.clone());
                heads.push((normalized, draft));
            }
        }
    }
    (heads, variants)
}

/// Texts as keywords are compared.
fn normalized_set(texts: &[&str]) -> HashSet<String> {
    texts.iter().map(|text| normalize(text)).collect()
}
