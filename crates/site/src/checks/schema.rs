//! JSON-LD as a list of objects.

use serde_json::{Map, Value};

use super::vocabulary;
use crate::page::HtmlFacts;

/// One object of the page's JSON-LD.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Types without their vocabulary.
    pub types: Vec<String>,
    /// Its properties.
    pub properties: Map<String, Value>,
}

/// Types that are articles to Google.
const ARTICLES: [&str; 8] = [
    "Article",
    "BlogPosting",
    "NewsArticle",
    "TechArticle",
    "ScholarlyArticle",
    "Report",
    "LiveBlogPosting",
    "AnalysisNewsArticle",
];

/// Objects kept of one page.
const MOST: usize = 200;

/// What the page's JSON-LD says: read once for all checks.
#[derive(Debug, Default)]
pub(super) struct Markup {
    /// The top-level objects of all blocks, those in `@graph` included.
    pub items: Vec<Item>,
    /// Names that schema.org does not have.
    pub unknown: Vec<Value>,
}

/// Reads all blocks that are JSON.
pub(super) fn markup(html: &HtmlFacts) -> Markup {
    let mut markup = Markup::default();
    for block in html
        .json_ld
        .iter()
        .filter(|block| block.error.is_none() && !block.source.is_empty())
    {
        if let Ok(value) = serde_json::from_str(&block.source) {
            vocabulary::look(&value, &mut markup.unknown);
            collect(value, &mut markup.items, 0);
        }
    }
    markup
}

fn collect(value: Value, found: &mut Vec<Item>, depth: usize) {
    match value {
        Value::Array(values) if depth < 4 => values
            .into_iter()
            .for_each(|value| collect(value, found, depth + 1)),
        Value::Object(mut properties) if depth < 4 && found.len() < MOST => {
            if let Some(graph) = properties.remove("@graph") {
                collect(graph, found, depth + 1);
            }
            let types = types(&properties);
            if !types.is_empty() {
                found.push(Item { types, properties });
            }
        }
        _ => {}
    }
}

/// Types of an object without their vocabulary.
pub(super) fn types(properties: &Map<String, Value>) -> Vec<String> {
    let name = |value: &Value| {
        value
            .as_str()
            .map(|name| name.rsplit(['/', '#', ':']).next().unwrap_or_default().to_owned())
    };
    match properties.get("@type") {
        Some(Value::Array(names)) => names.iter().filter_map(name).collect(),
        Some(value) => name(value).into_iter().collect(),
        None => Vec::new(),
    }
}

impl Item {
    pub fn is(&self, name: &str) -> bool {
        self.types.iter().any(|t| t == name)
    }

    pub fn is_article(&self) -> bool {
        ARTICLES.iter().any(|name| self.is(name))
    }

    /// The property is there and says something.
    pub fn has(&self, name: &str) -> bool {
        self.properties.get(name).is_some_and(says_something)
    }

    /// A property that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.properties.get(name)?.as_str()
    }
}

/// Neither null nor empty.
pub(super) fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(values) => values.iter().any(says_something),
        Value::Object(properties) => !properties.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// The page says that it is an article, in any of the ways there are.
pub(super) fn is_article(html: &HtmlFacts, items: &[Item]) -> bool {
    items.iter().any(Item::is_article)
        || html.item_types.iter().any(|name| ARTICLES.contains(&&**name))
        || html
            .metas
            .iter()
            .any(|meta| &*meta.name == "og:type" && &*meta.content == "article")
}
