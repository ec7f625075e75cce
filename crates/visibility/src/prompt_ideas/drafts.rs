//! Drafts: templates filled with material, each kind in turn.

use std::{collections::HashMap, sync::LazyLock};

use searchwright_text::{primary, squeeze};

use super::{IdeaKind, IdeaMaterial, IdeaSource, LANGUAGES, NamedRecord, ProductMaterial, PromptIdea};
use crate::{lists::sections, prompts::PromptClass};

/// Records of a kind that are used.
const MAX_RECORDS: usize = 200;
/// Use cases and features of a product that are used, each.
const MAX_FACETS: usize = 4;
/// Maximum length of a part that is filled in, in characters.
const MAX_PART_CHARS: usize = 120;
/// Maximum length of a topic in characters.
const MAX_TOPIC_CHARS: usize = 50;

/// Templates by language and kind of material.
static TEMPLATES: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut all: HashMap<&str, Vec<&str>> = HashMap::new();
    for entry in sections(include_str!("../../data/prompt_templates.txt")) {
        all.entry(entry.section).or_default().push(entry.text);
    }
    all
});

/// First words of questions by language.
static QUESTION_WORDS: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut all: HashMap<&str, Vec<&str>> = HashMap::new();
    for entry in sections(include_str!("../../data/question_words.txt")) {
        all.entry(entry.section)
            .or_default()
            .extend(entry.text.split_whitespace());
    }
    all
});

/// A part of a template with its text.
type Part<'p> = (&'static str, &'p str);

/// Material to be filled into the templates of a kind.
struct Filling {
    kind: &'static str,
    parts: Vec<(&'static str, String)>,
    source: IdeaSource,
    topic: Option<String>,
}

/// Returns the templates of a language for a kind of material.
pub(super) fn templates(language: &str, kind: &str) -> &'static [&'static str] {
    TEMPLATES
        .get(&*format!("{language} {kind}"))
        .map_or(&[], Vec::as_slice)
}

/// Returns the drafts of all kinds in turn; `None` if the language has no templates.
pub(super) fn draft_all(material: &IdeaMaterial) -> Option<impl Iterator<Item = PromptIdea>> {
    let language = primary(&material.language);
    if !LANGUAGES.contains(&&*language) {
        return None;
    }
    let category = material.category.as_deref().and_then(clean);
    let context = DraftContext {
        language,
        brand: clean(&material.brand),
        category,
    };
    let queues = [
        context.category_fillings(),
        context.product_fillings(&material.products),
        context.question_fillings(&material.keywords, IdeaKind::Keyword),
        context.question_fillings(&material.faqs, IdeaKind::Faq),
        context.competitor_fillings(&material.competitors),
        context.brand_fillings(),
    ];
    let drafts: Vec<Vec<PromptIdea>> = queues
        .into_iter()
        .map(|fillings| draft(&context.language, &fillings))
        .collect();
    Some(in_turn(drafts))
}

struct DraftContext {
    language: String,
    brand: Option<String>,
    category: Option<String>,
}

impl DraftContext {
    fn category_fillings(&self) -> Vec<Filling> {
        let filling = |category: &String| Filling {
            kind: "category",
            parts: vec![("category", category.clone())],
            source: IdeaSource {
                kind: IdeaKind::Category,
                id: None,
                name: category.clone(),
            },
            topic: topic(category),
        };
        self.category.iter().map(filling).collect()
    }

    /// The first use case, audience and feature of each product, then the second, and so on.
    fn product_fillings(&self, products: &[ProductMaterial]) -> Vec<Filling> {
        let of_product = |product: &ProductMaterial| -> Vec<Filling> {
            let own = product.category.as_deref().and_then(clean);
            let Some(category) = own.or_else(|| self.category.clone()) else {
                return Vec::new();
            };
            let filling = |kind: &'static str, facet: Option<&String>| {
                let mut parts = vec![("category", category.clone())];
                if let Some(facet) = facet {
                    parts.push((kind, clean(facet)?));
                }
                Some(Filling {
                    kind,
                    parts,
                    source: IdeaSource {
                        kind: IdeaKind::Product,
                        id: Some(product.id.clone()),
                        name: product.name.clone(),
                    },
                    topic: topic(&category),
                })
            };
            let facets = |kind, facets: &[String]| -> Vec<Filling> {
                let facets = facets.iter().filter_map(|facet| filling(kind, Some(facet)));
                facets.take(MAX_FACETS).collect()
            };
            let audience: Vec<Filling> = product
                .audience
                .iter()
                .filter_map(|audience| filling("audience", Some(audience)))
                .collect();
            let plain: Vec<Filling> = filling("category", None).into_iter().collect();
            let kinds = vec![
                facets("use", &product.use_cases),
                audience,
                facets("feature", &product.features),
                plain,
            ];
            in_turn(kinds).collect()
        };
        in_turn(products.iter().take(MAX_RECORDS).map(of_product).collect()).collect()
    }

    fn question_fillings(&self, records: &[NamedRecord], kind: IdeaKind) -> Vec<Filling> {
        let filling = |record: &NamedRecord| {
            let text = clean(&record.name)?;
            let part = if kind == IdeaKind::Faq || self.is_question(&text) {
                "question"
            } else {
                "keyword"
            };
            let own_topic = record.topic.as_deref().and_then(topic);
            let fallback = || match kind {
                IdeaKind::Keyword => topic(&text),
                _ => self.category.as_deref().and_then(topic),
            };
            Some(Filling {
                kind: part,
                topic: own_topic.or_else(fallback),
                parts: vec![(part, text)],
                source: IdeaSource {
                    kind,
                    id: Some(record.id.clone()),
                    name: record.name.clone(),
                },
            })
        };
        records.iter().take(MAX_RECORDS).filter_map(filling).collect()
    }

    fn is_question(&self, text: &str) -> bool {
        let first = text.split_whitespace().next().unwrap_or_default().to_lowercase();
        let words = QUESTION_WORDS.get(&*self.language);
        words.is_some_and(|words| words.contains(&&*first))
    }

    fn competitor_fillings(&self, competitors: &[NamedRecord]) -> Vec<Filling> {
        let mut all = Vec::new();
        for kind in ["competitor", "versus"] {
            for record in competitors.iter().take(MAX_RECORDS) {
                let Some(name) = clean(&record.name) else { continue };
                let mut parts = vec![("competitor", name.clone())];
                if kind == "versus" {
                    let Some(brand) = &self.brand else { continue };
                    parts.push(("brand", brand.clone()));
                }
                all.push(Filling {
                    kind,
                    parts,
                    topic: topic(self.category.as_deref().unwrap_or(&name)),
                    source: IdeaSource {
                        kind: IdeaKind::Competitor,
                        id: Some(record.id.clone()),
                        name,
                    },
                });
            }
        }
        all
    }

    fn brand_fillings(&self) -> Vec<Filling> {
        let (Some(brand), Some(category)) = (&self.brand, &self.category) else {
            return Vec::new();
        };
        vec![Filling {
            kind: "brand",
            parts: vec![("brand", brand.clone()), ("category", category.clone())],
            source: IdeaSource {
                kind: IdeaKind::Brand,
                id: None,
                name: brand.clone(),
            },
            topic: topic(category),
        }]
    }
}

/// Fills templates: first one of each filling, then another of each, so that neighbours differ.
fn draft(language: &str, fillings: &[Filling]) -> Vec<PromptIdea> {
    let most = fillings
        .iter()
        .map(|filling| templates(language, filling.kind).len())
        .max();
    let mut drafts = Vec::new();
    for pass in 0..most.unwrap_or(0) {
        for (place, filling) in fillings.iter().enumerate() {
            let of_kind = templates(language, filling.kind);
            if pass >= of_kind.len() {
                continue;
            }
            let parts: Vec<Part<'_>> = filling
                .parts
                .iter()
                .map(|(name, text)| (*name, text.as_str()))
                .collect();
            drafts.push(PromptIdea {
                text: fill(of_kind[(pass + place) % of_kind.len()], &parts),
                source: filling.source.clone(),
                topic: filling.topic.clone(),
                class: PromptClass::NonBranded,
            });
        }
    }
    drafts
}

/// Fills in the parts of a template, in one pass: what is filled in is never read as a template.
pub(super) fn fill(template: &str, parts: &[Part<'_>]) -> String {
    let mut text = String::with_capacity(template.len() + 64);
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        text.push_str(before);
        let (name, after) = behind.split_once('}').unwrap_or((behind, ""));
        let part = parts.iter().find(|(known, _)| *known == name);
        text.push_str(part.map_or("", |(_, part)| part));
        rest = after;
    }
    text.push_str(rest);
    text
}

/// Returns a text as a part of a sentence: one line, without the signs that end a sentence; `None` if it is too long or empty.
fn clean(text: &str) -> Option<String> {
    let plain: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let plain = squeeze(&plain);
    let is_end = |c: char| matches!(c, '.' | '!' | '?' | ';' | ':' | ',' | '¿' | '¡') || c.is_whitespace();
    let plain = plain.trim_matches(is_end).to_owned();
    (!plain.is_empty() && plain.chars().count() <= MAX_PART_CHARS).then_some(plain)
}

fn topic(text: &str) -> Option<String> {
    let text = clean(text)?;
    (text.chars().count() <= MAX_TOPIC_CHARS).then_some(text)
}

/// The first of each, then the second of each, and so on.
fn in_turn<T>(lists: Vec<Vec<T>>) -> impl Iterator<Item = T> {
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let mut next = 0;
    std::iter::from_fn(move || {
        for _ in 0..lists.len() {
            let turn = next % lists.len();
            next += 1;
            if let Some(item) = lists[turn].next() {
                return Some(item);
            }
        }
        None
    })
}
