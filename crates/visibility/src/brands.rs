//! Names of brands, compiled once for many answers.

use std::{collections::HashMap, sync::LazyLock};

use serde::{Deserialize, Serialize};

use crate::{
    lists::sections,
    normal::{Key, key},
    phrases::PhraseSet,
};

/// Maximum number of spellings of all brands together; the rest is left out.
pub const MAX_ALIASES: usize = 50_000;
/// Minimum length of the label of a domain that counts as a name.
const MIN_LABEL_CHARS: usize = 4;
/// Minimum length of a name in any case; a shorter one counts only as it is written.
const MIN_FOLDED_CHARS: usize = 3;

/// A name of a brand or of its product.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Alias {
    /// The name.
    pub text: String,
    /// Inflected forms that count as the name.
    #[serde(default)]
    pub inflect: Vec<String>,
    /// Whether the name is also an ordinary word.
    #[serde(default)]
    pub ambiguous: bool,
}

impl From<&str> for Alias {
    fn from(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }
}

/// A brand to look for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Brand {
    /// Id that the mentions carry.
    pub id: String,
    /// Name, the first alias.
    pub name: String,
    /// Whether it is the brand of the project.
    pub is_own: bool,
    /// Whether its name is also an ordinary word.
    pub ambiguous: bool,
    /// Other spellings and short names.
    pub aliases: Vec<Alias>,
    /// Names of products.
    pub products: Vec<Alias>,
    /// Domains.
    pub domains: Vec<String>,
    /// Category and other words that show that the brand is meant.
    pub category_terms: Vec<String>,
    /// Phrases that show, near the name, that something else is meant.
    pub negative_context: Vec<String>,
}

/// Way in which a name leads to a brand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// The name or another spelling of it.
    Name,
    /// The name of a product.
    Product,
    /// A domain, or the label of one.
    Domain,
}

/// A spelling, of one brand.
#[derive(Clone, Debug)]
pub(crate) struct Spelling {
    pub(crate) brand: usize,
    pub(crate) is_flagged: bool,
    pub(crate) is_product: bool,
    /// Number of words.
    pub(crate) words: usize,
    pub(crate) has_space: bool,
    /// Spelling to equal in case, of a short name.
    pub(crate) exact: Option<String>,
    /// Whether the name is written with a small letter.
    pub(crate) is_small: bool,
    /// Spelling, if it has a capital behind its first letter, which no ordinary word has.
    pub(crate) capitals: Option<String>,
}

/// All spellings with one normal form.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pattern {
    pub(crate) spellings: Vec<Spelling>,
    /// Languages in which the name is an ordinary word.
    pub(crate) common: Vec<CommonWord>,
}

/// A brand, compiled.
#[derive(Clone, Debug)]
pub(crate) struct CompiledBrand {
    pub(crate) id: String,
    pub(crate) is_own: bool,
    /// Hosts in lower case, without `www.`.
    pub(crate) domains: Vec<String>,
}

/// A phrase that belongs to a brand.
#[derive(Clone, Debug)]
pub(crate) struct BrandPhrase {
    pub(crate) brand: usize,
    /// Whether the phrase holds a name of the brand.
    pub(crate) holds_name: bool,
}

/// Compiled brands; immutable, and shared between threads.
#[derive(Clone, Debug)]
pub struct BrandMatcher {
    pub(crate) brands: Vec<CompiledBrand>,
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) names: PhraseSet,
    /// Brands by domain.
    pub(crate) domains: HashMap<String, Vec<usize>>,
    pub(crate) category: PhraseSet,
    pub(crate) category_phrases: Vec<BrandPhrase>,
    pub(crate) negative: PhraseSet,
    pub(crate) negative_phrases: Vec<BrandPhrase>,
}

impl BrandMatcher {
    /// Compiles brands. The order of brands is of no importance.
    pub fn new(brands: &[Brand]) -> Self {
        let mut builder = Builder::default();
        for (place, brand) in brands.iter().enumerate() {
            builder.add_brand(place, brand);
        }
        let (category, category_phrases) = builder.phrases(brands, |brand| &brand.category_terms);
        let (negative, negative_phrases) = builder.phrases(brands, |brand| &brand.negative_context);
        let brands: Vec<CompiledBrand> = brands.iter().map(compile).collect();
        let mut domains: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, brand) in brands.iter().enumerate() {
            for domain in &brand.domains {
                domains.entry(domain.clone()).or_default().push(place);
            }
        }
        Self {
            brands,
            domains,
            names: PhraseSet::from_keys(builder.keys),
            patterns: builder.patterns,
            category,
            category_phrases,
            negative,
            negative_phrases,
        }
    }

    /// Returns the brands whose domain a host equals or is below of.
    pub(crate) fn domain_owners(&self, host: &str) -> &[usize] {
        let mut rest = host;
        loop {
            if let Some(owners) = self.domains.get(rest) {
                return owners;
            }
            match rest.split_once('.') {
                Some((_, parent)) => rest = parent,
                None => return &[],
            }
        }
    }

    /// Returns the number of spellings.
    pub fn spellings(&self) -> usize {
        self.patterns.iter().map(|pattern| pattern.spellings.len()).sum()
    }
}

fn compile(brand: &Brand) -> CompiledBrand {
    let bare = |domain: &String| {
        let domain = domain.trim().to_lowercase();
        let domain = domain.split_once("://").map_or(&*domain, |(_, rest)| rest);
        let domain = domain.split(['/', ':', '?', '#']).next().unwrap_or_default();
        domain
            .strip_prefix("www.")
            .unwrap_or(domain)
            .trim_end_matches('.')
            .to_owned()
    };
    CompiledBrand {
        id: brand.id.clone(),
        is_own: brand.is_own,
        domains: brand
            .domains
            .iter()
            .map(bare)
            .filter(|domain| domain.contains('.'))
            .collect(),
    }
}

#[derive(Default)]
struct Builder {
    keys: Vec<String>,
    patterns: Vec<Pattern>,
    by_key: HashMap<String, usize>,
    count: usize,
}

impl Builder {
    fn add_brand(&mut self, place: usize, brand: &Brand) {
        let name = Alias {
            ambiguous: brand.ambiguous,
            ..Alias::from(&*brand.name)
        };
        let kinds = [(Via::Name, &brand.aliases), (Via::Product, &brand.products)];
        self.add_alias(place, Via::Name, &name);
        for (via, aliases) in kinds {
            for alias in aliases {
                // the flag of a brand is about its name, however it is repeated
                let is_name = brand.ambiguous && alias.text.eq_ignore_ascii_case(&brand.name);
                let ambiguous = alias.ambiguous || is_name;
                self.add_alias(
                    place,
                    via,
                    &Alias {
                        ambiguous,
                        ..alias.clone()
                    },
                );
            }
        }
        for domain in compile(brand).domains {
            if let Some(label) = domain_label(&domain) {
                let alias = Alias {
                    ambiguous: brand.ambiguous,
                    ..Alias::from(label)
                };
                self.add_alias(place, Via::Domain, &alias);
            }
        }
    }

    fn add_alias(&mut self, brand: usize, via: Via, alias: &Alias) {
        self.add_form(brand, via, alias.ambiguous, &alias.text);
        let base = key(&alias.text).norm;
        for form in &alias.inflect {
            self.add_form(brand, via, alias.ambiguous, form);
            self.inherit_common(&base, form);
        }
    }

    /// Takes an inflected form for an ordinary word where the name is one.
    fn inherit_common(&mut self, base: &str, form: &str) {
        let Some(at) = self.by_key.get(&key(form).norm).copied() else {
            return;
        };
        for common in COMMON_WORDS.get(base).into_iter().flatten() {
            let inherited = CommonWord {
                word: form.trim().to_lowercase(),
                ..common.clone()
            };
            if !self.patterns[at].common.contains(&inherited) {
                self.patterns[at].common.push(inherited);
            }
        }
    }

    fn add_form(&mut self, brand: usize, via: Via, is_flagged: bool, form: &str) {
        let form = form.trim();
        let found = key(form);
        if found.norm.is_empty() || self.count >= MAX_ALIASES {
            return;
        }
        let at = match self.by_key.get(&found.norm) {
            Some(at) => *at,
            None => self.add_pattern(&found),
        };
        let pattern = &mut self.patterns[at];
        if pattern
            .spellings
            .iter()
            .any(|s| s.brand == brand && s.exact.is_none())
        {
            return;
        }
        let is_short = found.norm.chars().count() < MIN_FOLDED_CHARS && found.norm.is_ascii();
        pattern.spellings.push(Spelling {
            brand,
            is_flagged,
            is_product: via == Via::Product,
            words: found.words,
            has_space: found.has_space,
            exact: is_short.then(|| form.to_owned()),
            is_small: form.starts_with(char::is_lowercase),
            capitals: form
                .chars()
                .skip(1)
                .any(char::is_uppercase)
                .then(|| form.to_owned()),
        });
        self.count += 1;
    }

    fn add_pattern(&mut self, found: &Key) -> usize {
        let at = self.patterns.len();
        let common = if found.words == 1 {
            COMMON_WORDS.get(&found.norm)
        } else {
            None
        };
        self.patterns.push(Pattern {
            spellings: Vec::new(),
            common: common.cloned().unwrap_or_default(),
        });
        self.keys.push(found.norm.clone());
        self.by_key.insert(found.norm.clone(), at);
        at
    }

    fn phrases(
        &self,
        brands: &[Brand],
        list: impl Fn(&Brand) -> &Vec<String>,
    ) -> (PhraseSet, Vec<BrandPhrase>) {
        let mut keys = Vec::new();
        let mut owners = Vec::new();
        for (place, brand) in brands.iter().enumerate() {
            for phrase in list(brand) {
                let norm = key(phrase).norm;
                let is_name = |at: usize| self.patterns[at].spellings.iter().any(|s| s.brand == place);
                let holds_name = self
                    .keys
                    .iter()
                    .enumerate()
                    .any(|(at, name)| is_name(at) && norm.contains(name.as_str()));
                owners.push(BrandPhrase {
                    brand: place,
                    holds_name,
                });
                keys.push(norm);
            }
        }
        (PhraseSet::from_keys(keys), owners)
    }
}

/// Returns the label of a domain that may be a name.
fn domain_label(domain: &str) -> Option<&str> {
    let registrable = psl::domain_str(domain)?;
    let label = registrable.split('.').next()?;
    (label.chars().count() >= MIN_LABEL_CHARS && !label.starts_with("xn--")).then_some(label)
}

/// A language in which a name is an ordinary word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommonWord {
    pub(crate) language: &'static str,
    /// The word in lower case, with its accents: `über` is one, `Uber` is none.
    pub(crate) word: String,
    /// Whether the word is always written with a capital, so that a capital shows nothing.
    pub(crate) has_capital: bool,
}

/// Ordinary words by normal form.
static COMMON_WORDS: LazyLock<HashMap<String, Vec<CommonWord>>> = LazyLock::new(|| {
    let mut words: HashMap<String, Vec<CommonWord>> = HashMap::new();
    for entry in sections(include_str!("../data/common_words.txt")) {
        for word in entry.text.split_whitespace() {
            words.entry(key(word).norm).or_default().push(CommonWord {
                language: entry.section,
                word: word.to_lowercase(),
                has_capital: entry.section == "de" || word.starts_with(char::is_uppercase),
            });
        }
    }
    words
});
