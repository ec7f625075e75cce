//! JSON-LD as a list of objects.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use serde_json::Value;

use super::vocabulary;
use crate::{
    json::{Json, Object},
    page::{HtmlFacts, OBJECTS, cut},
};

/// One object of the page's JSON-LD.
#[derive(Clone, Debug)]
pub(super) struct Item<'h> {
    /// Types without their vocabulary.
    pub types: Vec<String>,
    /// Its properties.
    pub properties: Object<'h>,
    /// It stands by itself, in no other object.
    pub is_top: bool,
}

/// Types that are organisations.
const ORGANIZATIONS: &str = include_str!("../../data/organizations.txt");

/// Businesses at a place, and all organisations.
static KINDS: LazyLock<[HashSet<&'static str>; 2]> = LazyLock::new(|| {
    let (businesses, others) = ORGANIZATIONS.split_once("[organizations]").unwrap_or_default();
    let names = |part: &'static str| {
        let lines = part.lines().filter(|line| !line.starts_with(['#', '[']));
        lines.flat_map(str::split_ascii_whitespace)
    };
    let businesses: HashSet<_> = names(businesses).collect();
    let all = names(others).chain(businesses.iter().copied()).collect();
    [businesses, all]
});

/// A type that is an organisation.
pub(super) fn is_organization(name: &str) -> bool {
    KINDS[1].contains(name)
}

/// A type that is a business at a place.
pub(super) fn is_local_business(name: &str) -> bool {
    KINDS[0].contains(name)
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

/// Objects within each other that are looked into.
const DEPTH: usize = 4;
/// Properties that name who is behind a page, or whose objects do.
const NAMING: [&str; 8] = [
    "publisher",
    "about",
    "mainEntity",
    "author",
    "creator",
    "copyrightHolder",
    "provider",
    "isPartOf",
];

/// What the page's JSON-LD says: read once for all checks.
#[derive(Debug, Default)]
pub(super) struct Markup<'h> {
    /// The top-level objects of all blocks, those in `@graph` included, and what a page says that it is mainly about. Those
    /// with one `@id` are one.
    pub items: Vec<Item<'h>>,
    /// Objects in those that say who is behind the page. They may be told in part only.
    pub nested: Vec<Item<'h>>,
    /// There is more that was too large to keep.
    pub unread: bool,
    /// Names that schema.org does not have.
    pub unknown: Vec<Value>,
}

/// Reads all blocks that are JSON.
pub(super) fn markup(html: &HtmlFacts) -> Markup<'_> {
    let mut markup = Markup::default();
    let mut unknown = vocabulary::Names::default();
    for block in html
        .json_ld
        .iter()
        .filter(|block| block.error.is_none() && !block.source.is_empty())
    {
        if let Some(value) = Json::parse(&block.source) {
            vocabulary::look(&value, &mut unknown);
            collect(value, &mut markup.items, 0);
        }
    }
    markup.unknown = unknown.list;
    markup.unread = html.cut_lists() & cut::MARKUP != 0;
    let mut nested = Vec::new();
    for item in &markup.items {
        look_within(&item.properties, false, &mut nested, 0);
    }
    merge(&mut markup.items, nested, &mut markup.nested);
    markup
}

/// Finds what an object names as its main subject, and who is behind it.
fn look_within<'h>(outer: &Object<'h>, only_named: bool, found: &mut Vec<(Item<'h>, bool)>, depth: usize) {
    for name in NAMING {
        let Some(value) = outer.get(name) else { continue };
        for value in value.each() {
            let Json::Object(properties) = value else {
                continue;
            };
            if found.len() >= OBJECTS {
                return;
            }
            let types = types(properties);
            // a mere mention of what is described elsewhere has a name and an address at most
            let is_main = !only_named
                && name == "mainEntity"
                && properties
                    .keys()
                    .any(|key| !matches!(key, "@context" | "@type" | "@id" | "name" | "url"));
            if !types.is_empty() {
                let properties = properties.clone();
                found.push((
                    Item {
                        types,
                        properties,
                        is_top: false,
                    },
                    is_main,
                ));
            }
            if depth < DEPTH {
                look_within(properties, !is_main, found, depth + 1);
            }
        }
    }
}

/// Puts together what has one `@id`; of what stands in another object the main subjects become items too.
fn merge<'h>(items: &mut Vec<Item<'h>>, nested: Vec<(Item<'h>, bool)>, rest: &mut Vec<Item<'h>>) {
    let mut known: HashMap<String, (bool, usize)> = HashMap::new();
    let top = std::mem::take(items).into_iter().map(|item| (item, true));
    for (item, is_item) in top.chain(nested) {
        let id = item.id().map(str::to_owned);
        if let Some((of_items, place)) = id.as_ref().and_then(|id| known.get(id)) {
            let list = if *of_items { &mut *items } else { &mut *rest };
            if let Some(same) = list.get_mut(*place) {
                same.add(item);
                continue;
            }
        }
        let list = if is_item { &mut *items } else { &mut *rest };
        if let Some(id) = id {
            known.insert(id, (is_item, list.len()));
        }
        list.push(item);
    }
    items.retain(|item| !item.types.is_empty());
}

fn collect<'h>(value: Json<'h>, found: &mut Vec<Item<'h>>, depth: usize) {
    match value {
        Json::Array(values) if depth < DEPTH => values
            .into_iter()
            .for_each(|value| collect(value, found, depth + 1)),
        Json::Object(mut properties) if depth < DEPTH && found.len() < OBJECTS => {
            if let Some(graph) = properties.remove("@graph") {
                collect(graph, found, depth + 1);
            }
            let types = types(&properties);
            // without a type it may go on with what another block began
            if !types.is_empty() || properties.len() > 1 && properties.get("@id").is_some() {
                found.push(Item {
                    types,
                    properties,
                    is_top: true,
                });
            }
        }
        _ => {}
    }
}

/// Types of an object without their vocabulary.
pub(super) fn types(properties: &Object<'_>) -> Vec<String> {
    let name = |value: &Json<'_>| {
        value
            .as_str()
            .map(|name| name.rsplit(['/', '#', ':']).next().unwrap_or_default().to_owned())
    };
    let named = properties.get("@type").map_or(&[][..], Json::each);
    named.iter().filter_map(name).collect()
}

impl Item<'_> {
    /// Its name among the objects of the page. Blank ones are those of their block.
    fn id(&self) -> Option<&str> {
        let id = self.properties.get("@id")?.as_str()?.trim();
        (!id.is_empty() && !id.starts_with("_:")).then_some(id)
    }

    /// Takes what another description of the same thing says beside; of what kind it is, a mere mention may not decide.
    fn add(&mut self, other: Self) {
        if other.is_top || self.types.is_empty() {
            for name in other.types {
                if !self.types.contains(&name) {
                    self.types.push(name);
                }
            }
        }
        for (name, value) in other.properties {
            if !self.has(&name) {
                self.properties.put(name, value);
            }
        }
    }

    pub fn is(&self, name: &str) -> bool {
        self.types.iter().any(|t| t == name)
    }

    /// Of its types the one that is an article.
    pub fn article(&self) -> Option<&str> {
        let mut types = self.types.iter().map(String::as_str);
        types.find(|name| ARTICLES.contains(name))
    }

    pub fn is_article(&self) -> bool {
        self.article().is_some()
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
pub(super) fn says_something(value: &Json<'_>) -> bool {
    match value {
        Json::Null => false,
        Json::String(text) => !text.trim().is_empty(),
        Json::Array(values) => values.iter().any(says_something),
        Json::Object(properties) => !properties.is_empty(),
        Json::Bool | Json::Number(_) => true,
    }
}

/// The page says that it is an article, in any of the ways there are.
pub(super) fn is_article(html: &HtmlFacts, items: &[Item<'_>]) -> bool {
    items.iter().any(Item::is_article)
        || html.item_types.iter().any(|name| ARTICLES.contains(&&**name))
        || html
            .metas
            .iter()
            .any(|meta| &*meta.name == "og:type" && &*meta.content == "article")
}

#[cfg(test)]
mod tests {
    use super::{ARTICLES, KINDS, Markup, is_local_business, is_organization, markup};
    use crate::page::{HtmlFacts, JsonLd, names_article};

    #[test]
    fn bylines_are_looked_for_on_pages_of_all_articles() {
        assert!(
            ARTICLES
                .iter()
                .all(|name| names_article(&format!("{{\"@type\":\"{name}\"}}")))
        );
        assert!(names_article(r#"{"@type":"\u0041rticle"}"#));
        assert!(!names_article(r#"{"@type":"WebPage"}"#));
    }

    fn read(blocks: &[&str]) -> Markup<'static> {
        let block = |source: &&str| JsonLd {
            source: (*source).into(),
            error: None,
            line: 1,
        };
        markup(Box::leak(Box::new(HtmlFacts {
            json_ld: blocks.iter().map(block).collect(),
            ..HtmlFacts::default()
        })))
    }

    #[test]
    fn the_kinds_are_there() {
        assert!(KINDS[0].len() > 140 && KINDS[1].len() > KINDS[0].len() + 30);
        for name in ["OnlineStore", "Hotel", "Dentist", "NGO", "Organization"] {
            assert!(is_organization(name), "{name}");
        }
        assert!(
            is_local_business("Hotel") && !is_local_business("OnlineStore") && !is_organization("Person")
        );
    }

    #[test]
    fn what_has_one_id_is_one() {
        let markup = read(&[
            r##"[{"@type": "Product", "@id": "#p", "name": "x", "offers": ""}, {"@type": "Thing", "@id": "_:b"}]"##,
            r##"{"@graph": [{"@type": ["Product", "Car"], "@id": "#p", "name": "y", "offers": {"price": 1}}, {"@type": "Thing", "@id": "_:b"}]}"##,
        ]);
        assert_eq!(markup.items.len(), 3);
        let product = &markup.items[0];
        assert_eq!(
            (product.types.join(" "), product.text("name")),
            ("Product Car".to_owned(), Some("x"))
        );
        assert!(product.has("offers") && !markup.unread);
        let markup = read(&[
            r##"[{"@id": "#p", "name": "x"}, {"@id": "#q", "name": "x"}]"##,
            r##"{"@type": "Product", "@id": "#p"}"##,
        ]);
        assert!(markup.items.len() == 1 && markup.items[0].has("name") && markup.items[0].is("Product"));
    }

    #[test]
    fn the_last_of_a_name_counts() {
        let markup = read(&[
            r##"{"@type": "Article", "@id": "#a", "headline": "x", "headline": "", "author": {"@type": "Persn"}, "author": {"@type": "Person"}}"##,
            r##"{"@id": "#a", "headline": "y"}"##,
        ]);
        assert_eq!(markup.items[0].text("headline"), Some("y"));
        assert_eq!(markup.nested.len(), 1);
    }

    #[test]
    fn objects_in_others() {
        let markup = read(&[
            r##"{"@type": "WebPage", "mainEntity": {"@type": "Product", "offers": 1, "mainEntity": {"@type": "Event", "x": 1}, "author": {"@type": "Person"}},
              "isPartOf": {"@type": "WebSite", "publisher": [{"@type": "Organization", "name": "x"}]}}"##,
            r##"{"@type": "WebPage", "mainEntity": {"@type": "Article", "@id": "#a", "name": "x"}, "publisher": {"@type": "Store", "@id": "#s", "logo": 1}}"##,
            r##"{"@type": "Store", "@id": "#s", "name": "x"}"##,
        ]);
        // who is mentioned under the id of the page is no reason to take the page for it
        let mention = read(&[
            r##"[{"@type": "WebPage", "@id": "/", "about": {"@type": "Event", "@id": "/", "name": "x"}}]"##,
        ]);
        assert!(mention.items[0].has("name") && !mention.items[0].is("Event"));
        let names = |items: &[super::Item]| items.iter().map(|item| item.types.join(" ")).collect::<Vec<_>>();
        assert_eq!(
            names(&markup.items),
            ["WebPage", "WebPage", "Store", "Product", "Event"]
        );
        assert!(markup.items[2].has("logo") && markup.items[2].is_top && !markup.items[3].is_top);
        assert_eq!(
            names(&markup.nested),
            ["Person", "WebSite", "Organization", "Article"]
        );
    }

    #[test]
    fn what_was_not_kept_is_known() {
        assert!(read(&["{}", ""]).unread && !read(&["{}"]).unread);
    }
}
