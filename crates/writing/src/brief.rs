//! A brief: what to write a post from, put together of what the project knows. Nothing in it is made up, and
//! every fact says where it is known from.

mod angle;
mod markdown;
mod nouns;
mod places;
mod spelling;

use std::collections::HashSet;

pub use angle::{Angle, Named, Subject, angle};
pub use markdown::{address, plain};
use searchwright_contract::{
    Instant, brand::Profile, ctas::Cta, faqs::Faq, keywords::Intent, products::Product,
};
use searchwright_keywords::{
    normalize,
    words::{Lexicon, primary, tokens},
};
use serde::{Deserialize, Serialize};

use super::{
    document::Document,
    rivals::{self, Rival},
};

/// Share of the topic's words that something has to hold to be about it.
const MIN_RELEVANCE: f64 = 0.5;
/// Questions, products, pages and calls to action of a brief.
const MAX_QUESTIONS: usize = 6;
const MAX_PRODUCTS: usize = 3;
const MAX_PAGES: usize = 8;
const MAX_CTAS: usize = 2;
/// Most headings of a page in a brief.
const MAX_HEADINGS: usize = 5;
/// Words a post has where nothing says how long it is to be.
pub const WORDS: (u32, u32) = (900, 1_600);
/// Source of facts of the brand data that name no page.
const BRAND_DATA: &str = "brand data";

/// A page of the site as its last audit saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnPage {
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Its headings below the first.
    pub headings: Vec<String>,
    /// The beginning of its text.
    pub text: String,
}

/// Everything the project knows that a brief is made of.
#[derive(Clone, Debug)]
pub struct Material {
    /// Keyword, or the title of a post without one.
    pub topic: String,
    /// Search intent, if known.
    pub intent: Option<Intent>,
    /// Further keywords.
    pub secondary: Vec<String>,
    /// BCP 47.
    pub language: String,
    /// Profile of the brand.
    pub profile: Option<Profile>,
    /// Products, by id.
    pub products: Vec<(String, Product)>,
    /// Questions with answers.
    pub faqs: Vec<Faq>,
    /// Calls to action.
    pub ctas: Vec<Cta>,
    /// Competitors with what is known of them.
    pub rivals: Vec<Rival>,
    /// Pages of the site.
    pub pages: Vec<OwnPage>,
    /// Questions about the topic that are asked elsewhere, such as keywords of its cluster.
    pub questions: Vec<String>,
    /// Current time.
    pub now: Instant,
}

/// A fact and its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Plain text.
    pub text: String,
    /// Address, or `brand data`.
    pub source: String,
}

/// A part of the outline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Heading of the section.
    pub heading: String,
    /// Facts for the section; empty if they have to be found out.
    pub facts: Vec<Fact>,
}

/// A link to be set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkTo {
    /// Address that the link leads to.
    pub url: String,
    /// Text of the link, or title of the page it leads to.
    pub title: String,
    /// Text beside it.
    pub text: Option<String>,
}

/// Basis on which a post is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Brief {
    /// Topic of the post.
    pub topic: String,
    /// Title that suits the topic.
    #[serde(default)]
    pub title: String,
    /// Search intent.
    pub intent: Option<Intent>,
    /// Further keywords.
    pub secondary_keywords: Vec<String>,
    /// BCP 47.
    pub language: String,
    /// Words, from and to.
    pub words: (u32, u32),
    /// Name of the brand and what it is.
    pub brand: Option<String>,
    /// Tone of the brand's texts.
    pub tone: Option<String>,
    /// Phrases its texts must not hold.
    pub banned_phrases: Vec<String>,
    /// The parts, in order.
    pub sections: Vec<Section>,
    /// Links to set: pages near the topic, the nearest first, then those of products.
    pub links: Vec<LinkTo>,
    /// Texts of the pages near the topic, the nearest first.
    pub pages: Vec<Fact>,
    /// Calls to action.
    pub ctas: Vec<LinkTo>,
}

/// The stems of a topic, to measure which share of it a text covers.
struct Topic {
    lexicon: Lexicon,
    stems: HashSet<String>,
}

impl Topic {
    fn new(topic: &str, language: &str) -> Self {
        let lexicon = Lexicon::for_language(language);
        let normalized = normalize(topic);
        let stems = lexicon
            .content_stems(&normalized)
            .into_iter()
            .map(Into::into)
            .collect();
        Self { lexicon, stems }
    }

    /// Share of the topic's words in the text.
    fn share(&self, text: &str) -> f64 {
        let normalized = normalize(text);
        let words: Vec<String> = tokens(&normalized)
            .map(|word| self.lexicon.stem(word).into_owned())
            .collect();
        let found = self.stems.iter().filter(|stem| words.contains(stem)).count();
        found as f64 / self.stems.len().max(1) as f64
    }

    /// The items that are about the topic, the nearest first, at most so many.
    fn nearest<'a, T>(&self, items: &'a [T], most: usize, text: impl Fn(&T) -> String) -> Vec<&'a T> {
        let mut ranked: Vec<(f64, &T)> = items
            .iter()
            .map(|item| (self.share(&text(item)), item))
            .filter(|(share, _)| *share >= MIN_RELEVANCE)
            .collect();
        ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        ranked.into_iter().take(most).map(|(_, item)| item).collect()
    }
}

/// Returns a predicate for pages of the site that are near a topic: a cheap first test of each, before all are
/// compared.
pub fn is_near(topic: &str, language: &str) -> impl Fn(&OwnPage) -> bool {
    let topic = Topic::new(topic, language);
    move |page| topic.share(&page_text(page)) >= MIN_RELEVANCE
}

fn page_text(page: &OwnPage) -> String {
    format!("{} {} {}", page.title, page.headings.join(" "), page.text)
}

/// Puts a brief together.
pub fn brief(material: &Material) -> Brief {
    let topic = Topic::new(&material.topic, &material.language);
    let spelt = spelt(material);
    let angle = angle(&Subject {
        topic: &spelt,
        language: &material.language,
        intent: material.intent,
        named: named(material),
    });
    let mut sections = questions(material, &topic, &angle);
    let products = topic.nearest(&material.products, MAX_PRODUCTS, |(_, product)| {
        let category = product.category.as_deref().unwrap_or_default();
        let description = product.description.as_deref().unwrap_or_default();
        format!(
            "{} {category} {description} {}",
            product.name,
            product.use_cases.join(" ")
        )
    });
    let labels = markdown::labels(&material.language);
    sections.extend(
        products
            .iter()
            .map(|(_, product)| product_section(product, labels)),
    );
    sections.extend(rivals::sections(&material.rivals, &material.topic));
    let pages = topic.nearest(&material.pages, MAX_PAGES, page_text);
    if !pages.is_empty() {
        sections.push(pages_section(&spelt, &pages, labels));
    }
    let about: Vec<&str> = products.iter().map(|(id, _)| id.as_str()).collect();
    let profile = material.profile.as_ref();
    Brief {
        topic: material.topic.clone(),
        title: angle.title,
        intent: material.intent,
        secondary_keywords: material.secondary.clone(),
        language: material.language.clone(),
        words: WORDS,
        brand: profile.map(|profile| match &profile.category {
            Some(category) => format!("{} ({category})", profile.name),
            None => profile.name.clone(),
        }),
        tone: profile.and_then(|profile| profile.tone.clone()),
        banned_phrases: profile.map_or_else(Vec::new, |profile| profile.banned_phrases.clone()),
        sections,
        pages: pages
            .iter()
            .map(|page| Fact {
                text: one_line(&page_text(page)),
                source: page.url.clone(),
            })
            .collect(),
        links: links(&pages, &products),
        ctas: ctas(material, &about),
    }
}

/// Pages near the topic, then those of products that are not among them.
fn links(pages: &[&OwnPage], products: &[&(String, Product)]) -> Vec<LinkTo> {
    let link = |url: &str, title: &str| LinkTo {
        url: url.to_owned(),
        title: title.to_owned(),
        text: None,
    };
    let mut links: Vec<LinkTo> = pages.iter().map(|page| link(&page.url, &page.title)).collect();
    for (_, product) in products {
        if let Some(url) = &product.url
            && !links.iter().any(|link| link.url == *url)
        {
            links.push(link(url, &product.name));
        }
    }
    links
}

/// Returns the topic as the project spells it.
fn spelt(material: &Material) -> String {
    let pages = material.pages.iter().flat_map(|page| {
        let headings = page.headings.iter().map(String::as_str);
        [page.title.as_str(), page.text.as_str()]
            .into_iter()
            .chain(headings)
    });
    let products = material.products.iter().flat_map(|(_, product)| {
        let described = [product.category.as_deref(), product.description.as_deref()];
        [product.name.as_str()]
            .into_iter()
            .chain(described.into_iter().flatten())
    });
    let faqs = material
        .faqs
        .iter()
        .flat_map(|faq| [faq.question.as_str(), faq.answer.as_str()]);
    spelling::respell(
        &material.topic,
        &material.language,
        pages.chain(products).chain(faqs),
    )
}

/// Returns whether the topic is the name of a product, of the brand or of a competitor.
fn named(material: &Material) -> Option<Named> {
    let brand = material.profile.iter().map(|profile| profile.name.as_str());
    let products = material.products.iter().map(|(_, product)| product.name.as_str());
    let rivals = material.rivals.iter().map(Rival::name);
    let topic = normalize(&material.topic);
    let is_topic = |name: &str| normalize(name) == topic;
    if products.into_iter().any(is_topic) {
        return Some(Named::Product);
    }
    brand.chain(rivals).any(is_topic).then_some(Named::Company)
}

/// The brand's own answers first, then what else is asked.
fn questions(material: &Material, topic: &Topic, angle: &Angle) -> Vec<Section> {
    let spoken = |language: &Option<String>| {
        language
            .as_ref()
            .is_none_or(|l| primary(l) == primary(&material.language))
    };
    let faqs: Vec<&Faq> = material.faqs.iter().filter(|faq| spoken(&faq.language)).collect();
    let answered = topic.nearest(&faqs, MAX_QUESTIONS, |faq| {
        format!("{} {}", faq.question, faq.answer)
    });
    let mut seen: HashSet<String> = HashSet::new();
    let mut sections: Vec<Section> = Vec::new();
    for faq in answered {
        seen.insert(question_key(&faq.question));
        let answer =
            Document::of_markdown(&faq.answer).map_or_else(|_| faq.answer.clone(), |d| d.plain_text());
        sections.push(Section {
            heading: faq.question.clone(),
            facts: vec![Fact {
                text: one_line(&answer),
                source: faq.source_url.clone().unwrap_or_else(|| BRAND_DATA.to_owned()),
            }],
        });
    }
    let asked = material.questions.iter().map(|question| asked(question));
    for heading in angle.headings.iter().cloned().chain(asked) {
        if sections.len() < MAX_QUESTIONS && seen.insert(question_key(&heading)) {
            sections.push(Section {
                heading,
                facts: Vec::new(),
            });
        }
    }
    sections
}

fn question_key(question: &str) -> String {
    normalize(question.trim_end_matches(['?', ' ']))
}

/// A question as a heading.
fn asked(question: &str) -> String {
    let mut chars = question.trim().trim_end_matches('?').chars();
    let first = chars
        .next()
        .map(|c| c.to_uppercase().to_string())
        .unwrap_or_default();
    format!("{first}{}?", chars.as_str())
}

fn product_section(product: &Product, labels: &markdown::Labels) -> Section {
    let source = product.url.clone().unwrap_or_else(|| BRAND_DATA.to_owned());
    let fact = |text: String| Fact {
        text: one_line(&text),
        source: source.clone(),
    };
    let mut facts = Vec::new();
    facts.extend(product.description.iter().map(|text| fact(text.clone())));
    facts.extend(
        product
            .audience
            .iter()
            .map(|text| fact(labels.audience.replace("{}", text))),
    );
    facts.extend(
        product
            .features
            .iter()
            .chain(&product.differentiators)
            .map(|text| fact(text.clone())),
    );
    facts.extend(
        product
            .price
            .iter()
            .map(|price| fact(format!("{} {}", price.amount, price.currency))),
    );
    Section {
        heading: product.name.clone(),
        facts,
    }
}

/// Section with the pages that the site already has on the topic, so that a writer builds on them and repeats nothing.
fn pages_section(topic: &str, pages: &[&OwnPage], labels: &markdown::Labels) -> Section {
    let facts = pages.iter().map(|page| {
        let headings: Vec<&str> = page
            .headings
            .iter()
            .take(MAX_HEADINGS)
            .map(String::as_str)
            .collect();
        let about = if headings.is_empty() {
            String::new()
        } else {
            format!(": {}", headings.join("; "))
        };
        Fact {
            text: one_line(&format!("{}{about}", page.title)),
            source: page.url.clone(),
        }
    });
    Section {
        heading: angle::capitalised(&labels.own_pages.replace("{}", topic)),
        facts: facts.collect(),
    }
}

fn ctas(material: &Material, products: &[&str]) -> Vec<LinkTo> {
    let suits = |cta: &&Cta| {
        let language = cta.language.as_deref();
        language.is_none_or(|l| primary(l) == primary(&material.language))
            && (cta.intents.is_empty()
                || material
                    .intent
                    .is_some_and(|intent| cta.intents.contains(&intent)))
            && cta.active_from.is_none_or(|from| from <= material.now)
            && cta.active_to.is_none_or(|to| to > material.now)
            && cta.product_id.as_deref().is_none_or(|id| products.contains(&id))
    };
    let mut chosen: Vec<&Cta> = material.ctas.iter().filter(suits).collect();
    chosen.sort_by_key(|cta| std::cmp::Reverse(cta.priority));
    chosen
        .into_iter()
        .take(MAX_CTAS)
        .map(|cta| LinkTo {
            url: cta.url.clone(),
            title: cta.label.clone(),
            text: cta.text.clone(),
        })
        .collect()
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "brief_tests.rs"]
mod tests;
