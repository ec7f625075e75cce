//! The topics of a site, as weights of stems.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
};

use super::{Page, filters::Rejected};
use crate::{
    normalize,
    words::{Lexicon, primary, tokens},
};

/// Stems of a site.
pub(super) struct Profile {
    ids: HashMap<String, u32>,
    /// TF-IDF of each stem.
    weights: Vec<f64>,
    idf: Vec<f64>,
    /// Length of the whole vector.
    length: f64,
    /// Stems that follow each other, stop words left out.
    follows: HashSet<(u32, u32)>,
}

impl Profile {
    /// The profile of pages in a language.
    pub fn from_pages(
        pages: &[Page<'_>],
        language: &str,
        lexicon: &Lexicon,
        rejected: &mut BTreeMap<Rejected, usize>,
    ) -> Self {
        let mut profile = Self {
            ids: HashMap::new(),
            weights: Vec::new(),
            idf: Vec::new(),
            length: 0.0,
            follows: HashSet::new(),
        };
        // ids of words already seen; `None` for stop words
        let mut words: HashMap<String, Option<u32>> = HashMap::new();
        let mut last_page: Vec<usize> = Vec::new();
        let mut documents = 0;
        for (number, page) in pages.iter().enumerate() {
            if !is_in(page, language, lexicon) {
                *rejected.entry(Rejected::OtherLanguage).or_default() += 1;
                continue;
            }
            documents += 1;
            for text in texts(page) {
                let mut before = None;
                for word in tokens(&normalize(text)) {
                    let id = match words.get(word) {
                        Some(id) => *id,
                        None => {
                            let id = (!lexicon.is_stop(word)).then(|| profile.id(lexicon.stem(word)));
                            words.insert(word.to_owned(), id);
                            id
                        }
                    };
                    let Some(id) = id else { continue };
                    last_page.resize(profile.weights.len(), usize::MAX);
                    profile.weights[id as usize] += 1.0;
                    if last_page[id as usize] != number {
                        last_page[id as usize] = number;
                        profile.idf[id as usize] += 1.0;
                    }
                    if let Some(before) = before.replace(id) {
                        profile.follows.insert((before, id));
                    }
                }
            }
        }
        let n = f64::from(documents);
        for (weight, idf) in profile.weights.iter_mut().zip(&mut profile.idf) {
            *idf = ((1.0 + n) / (1.0 + *idf)).ln() + 1.0;
            *weight = (1.0 + weight.ln()) * *idf;
        }
        profile.length = profile.weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        profile
    }

    fn id(&mut self, stem: Cow<'_, str>) -> u32 {
        let next = self.weights.len() as u32;
        match self.ids.get(stem.as_ref()) {
            Some(id) => *id,
            None => {
                self.ids.insert(stem.into_owned(), next);
                self.weights.push(0.0);
                self.idf.push(0.0);
                next
            }
        }
    }

    /// Cosine of a keyword and the site; `None` without pages.
    pub fn relevance(&self, normalized: &str, lexicon: &Lexicon) -> Option<f64> {
        if self.weights.is_empty() {
            return None;
        }
        let (mut product, mut square) = (0.0, 0.0);
        let rarest = self.idf.iter().copied().fold(1.0, f64::max);
        let stems: HashSet<Cow<'_, str>> = lexicon.content_stems(normalized).into_iter().collect();
        for stem in stems {
            match self.ids.get(stem.as_ref()) {
                Some(id) => {
                    let idf = self.idf[*id as usize];
                    product += idf * self.weights[*id as usize];
                    square += idf * idf;
                }
                // a word the site has not is at least as rare as the rarest it has
                None => square += rarest * rarest,
            }
        }
        (square > 0.0).then(|| product / (square.sqrt() * self.length))
    }

    /// Whether the site has all words of a keyword, each behind the one before.
    pub fn has(&self, normalized: &str, lexicon: &Lexicon) -> bool {
        let stems = lexicon.content_stems(normalized);
        let ids: Option<Vec<u32>> = stems.iter().map(|s| self.ids.get(s.as_ref()).copied()).collect();
        ids.is_some_and(|ids| {
            ids.windows(2)
                .all(|pair| self.follows.contains(&(pair[0], pair[1])))
        })
    }
}

/// All texts of a page.
fn texts<'a>(page: &'a Page<'a>) -> impl Iterator<Item = &'a str> {
    let short = page
        .title
        .iter()
        .chain(&page.h1s)
        .chain(&page.headings)
        .chain(&page.anchors);
    short.copied().chain([page.text])
}

/// Whether a page is in a language: by what it declares, and by the stop words of its text.
pub(super) fn is_in(page: &Page<'_>, language: &str, lexicon: &Lexicon) -> bool {
    /// Texts of fewer words may be lists of names.
    const MIN_WORDS: usize = 40;
    /// Least share of stop words; in running text they are a third to a half.
    const MIN_STOP_WORD_SHARE: f64 = 0.12;
    if page
        .language
        .is_some_and(|declared| primary(declared) != primary(language))
    {
        return false;
    }
    if !lexicon.has_stop_words() {
        return true;
    }
    let (mut words, mut stop) = (0, 0);
    for word in tokens(page.text).take(400) {
        words += 1;
        stop += usize::from(lexicon.is_stop(&word.to_lowercase()));
    }
    words < MIN_WORDS || stop as f64 >= MIN_STOP_WORD_SHARE * words as f64
}
