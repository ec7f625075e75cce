//! JSON-LD and microdata as a list of objects.

mod extent;
mod unknown_names;

use std::{borrow::Cow, sync::LazyLock};

use hashbrown::{HashMap, HashSet};
use serde_json::Value;

use super::evidence::with;
use crate::{
    json::{Json, Object},
    json_ld,
    page::{HtmlFacts, OBJECTS, cut},
};

pub(super) use extent::Extent;
use unknown_names::{UnknownNames, find_unknown};

/// One object of the page's structured data.
#[derive(Clone, Debug)]
pub(super) struct Item<'h> {
    /// Types without their vocabulary.
    pub types: Vec<Cow<'h, str>>,
    /// Properties of the object.
    pub properties: Object<'h>,
    /// Whether the object is not nested in another one.
    pub is_top: bool,
    /// Whether the object comes from microdata.
    pub is_microdata: bool,
    /// Whether its missing properties are certainly missing.
    pub extent: Extent,
}

/// Types of organizations.
const ORGANIZATIONS: &str = include_str!("../../data/organizations.txt");

/// Types of local businesses, and of all organizations.
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

/// Whether a type is an organization.
pub(super) fn is_organization(name: &str) -> bool {
    KINDS[1].contains(name)
}

/// Whether a type is a local business.
pub(super) fn is_local_business(name: &str) -> bool {
    KINDS[0].contains(name)
}

/// Types that Google treats as articles.
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

/// Maximum nesting depth of objects that are examined.
const MAX_DEPTH: usize = 4;
/// Properties that name the owner of a page, or whose objects do.
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

/// Objects of the page's JSON-LD and microdata, parsed once for all checks.
#[derive(Debug, Default)]
pub(super) struct Markup<'h> {
    /// Top-level objects of all blocks, including those in `@graph` and the main entity of a page; those of JSON-LD
    /// come before those of microdata. Objects with the same `@id` are merged.
    pub items: Vec<Item<'h>>,
    /// Nested objects that name the owner of the page. They may be incomplete.
    pub nested: Vec<Item<'h>>,
    /// Whether some blocks were too large to keep.
    pub unread: bool,
    /// Names that schema.org does not define.
    pub unknown: Vec<Value>,
}

/// Reads all blocks of valid JSON, and all microdata objects.
pub(super) fn markup(html: &HtmlFacts) -> Markup<'_> {
    let mut markup = Markup::default();
    let mut unknown = UnknownNames::default();
    for block in html
        .json_ld
        .iter()
        .filter(|block| block.error.is_none() && !block.source.is_empty())
    {
        if let Some(value) = json_ld::read(&block.source) {
            find_unknown(&value, &mut unknown);
            collect(value, &mut markup.items, 0);
        }
    }
    for object in html.objects.iter().flat_map(|objects| &objects.list) {
        let first = markup.items.len();
        if let Some(value) = Json::parse(&object.source) {
            collect(value, &mut markup.items, 0);
        }
        for item in markup.items.iter_mut().skip(first) {
            item.is_microdata = true;
            item.extent = if object.is_whole {
                Extent::Whole
            } else {
                Extent::Unsure
            };
        }
    }
    markup.unknown = unknown.list;
    markup.unread = html.cut_lists() & cut::MARKUP != 0;
    let mut nested = Vec::new();
    for item in &markup.items {
        let first = nested.len();
        look_within(&item.properties, false, &mut nested, 0);
        for (inner, _) in nested.iter_mut().skip(first) {
            (inner.is_microdata, inner.extent) = (item.is_microdata, item.extent);
        }
    }
    merge(&mut markup.items, nested, &mut markup.nested);
    if html.objects.is_some() {
        extent::settle(html, &mut markup);
    }
    markup
}

/// Finds the main entity of an object, and the objects that name its owner.
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
            // a mere reference to an object described elsewhere has a name and a URL at most
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
                        is_microdata: false,
                        extent: Extent::Whole,
                    },
                    is_main,
                ));
            }
            if depth < MAX_DEPTH {
                look_within(properties, !is_main, found, depth + 1);
            }
        }
    }
}

/// Merges objects with the same `@id`; of nested objects, main entities become items too.
fn merge<'h>(items: &mut Vec<Item<'h>>, nested: Vec<(Item<'h>, bool)>, rest: &mut Vec<Item<'h>>) {
    let mut known: HashMap<Cow<'h, str>, (bool, usize)> = HashMap::new();
    let top = std::mem::take(items).into_iter().map(|item| (item, true));
    for (item, is_item) in top.chain(nested) {
        let id = item.id();
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
        Json::Array(values) if depth < MAX_DEPTH => values
            .into_iter()
            .for_each(|value| collect(value, found, depth + 1)),
        Json::Object(mut properties) if depth < MAX_DEPTH && found.len() < OBJECTS => {
            if let Some(graph) = properties.remove("@graph") {
                collect(graph, found, depth + 1);
            }
            let types = types(&properties);
            // an object without a type may extend one of another block
            if !types.is_empty() || properties.len() > 1 && properties.get("@id").is_some() {
                found.push(Item {
                    types,
                    properties,
                    is_top: true,
                    is_microdata: false,
                    extent: Extent::Whole,
                });
            }
        }
        _ => {}
    }
}

/// Returns the types of an object without their vocabulary.
pub(super) fn types<'h>(properties: &Object<'h>) -> Vec<Cow<'h, str>> {
    fn last(name: &str) -> &str {
        name.rsplit(['/', '#', ':']).next().unwrap_or_default()
    }
    let name = |value: &Json<'h>| value.part(last);
    let named = properties.get("@type").map_or(&[][..], Json::each);
    named.iter().filter_map(name).collect()
}

impl<'h> Item<'h> {
    /// Returns the `@id`, unless it is a blank node, which is local to its block.
    pub fn id(&self) -> Option<Cow<'h, str>> {
        let id = self.properties.get("@id")?.part(str::trim)?;
        (!id.is_empty() && !id.starts_with("_:")).then_some(id)
    }

    /// Adds the properties of another description of the same object; a nested mention does not decide on the type.
    fn add(&mut self, other: Self) {
        if other.is_top || self.types.is_empty() {
            for name in other.types {
                if !self.types.contains(&name) {
                    self.types.push(name);
                }
            }
        }
        self.extent = self.extent.max(other.extent);
        for (name, value) in other.properties {
            if !self.says(&name) {
                self.properties.put(name, value);
            }
        }
    }

    pub fn is(&self, name: &str) -> bool {
        self.types.iter().any(|t| t == name)
    }

    /// Returns the first article type.
    pub fn article(&self) -> Option<&str> {
        let mut types = self.types.iter().map(|name| &**name);
        types.find(|name| ARTICLES.contains(name))
    }

    pub fn is_article(&self) -> bool {
        self.article().is_some()
    }

    /// Whether a property exists and is not empty.
    pub fn says(&self, name: &str) -> bool {
        self.properties.get(name).is_some_and(says_something)
    }

    /// Whether a property exists, or may exist because the object may be incomplete.
    pub fn has(&self, name: &str) -> bool {
        self.extent != Extent::Whole || self.says(name)
    }

    /// Adds the syntax of the object to evidence, if that is not JSON-LD.
    pub fn located(&self, evidence: Value) -> Value {
        if self.is_microdata {
            with(evidence, "syntax", "microdata")
        } else {
            evidence
        }
    }

    /// Returns a property that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.properties.get(name)?.as_str()
    }
}

/// Whether a value is neither null nor empty.
pub(super) fn says_something(value: &Json<'_>) -> bool {
    match value {
        Json::Null => false,
        Json::String(text) => !text.trim().is_empty(),
        Json::Array(values) => values.iter().any(says_something),
        Json::Object(properties) => !properties.is_empty(),
        Json::Bool | Json::Number(_) => true,
    }
}

/// Whether the page declares itself an article, in any syntax.
pub(super) fn is_article(html: &HtmlFacts, items: &[Item<'_>]) -> bool {
    items.iter().any(Item::is_article)
        || html.item_types.iter().any(|name| ARTICLES.contains(&&**name))
        || html
            .metas
            .iter()
            .any(|meta| &*meta.name == "og:type" && &*meta.content == "article")
}

#[cfg(test)]
mod tests;
