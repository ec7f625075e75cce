//! Microdata: its objects, and names in it that schema.org does not have.

mod collector;
mod json_ld;
mod objects;

pub(super) use collector::{ItemAttributes, ItemCollector, PendingText, names, short};
pub(super) use json_ld::PropertyValue;
pub use objects::{Object, Objects};
use searchwright_text as text;
use serde::{Deserialize, Serialize};

use crate::vocabulary::{is_property, is_type};

/// Names kept of either kind.
const MAX_NAMES: usize = 20;
/// Characters kept of a name.
const NAME: usize = 80;

/// Such names, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownTerms {
    /// Of types.
    pub types: Vec<Box<str>>,
    /// Of properties.
    pub properties: Vec<Box<str>>,
}

impl UnknownTerms {
    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty() && self.properties.is_empty()
    }
}

/// Unknown names gathered on one page.
///
/// The object of a property is not followed here: on pages with objects of other vocabularies, or without a type,
/// nothing is said of properties.
#[derive(Debug, Default)]
pub(super) struct NameCollector {
    strange: UnknownTerms,
    objects: u32,
    of_schema_org: u32,
}

impl NameCollector {
    /// An element with `itemscope`.
    pub fn object(&mut self) {
        self.objects += 1;
    }

    /// The value of `itemtype`: types of one vocabulary, as URLs.
    pub fn types(&mut self, types: &str) {
        let names: Option<Vec<&str>> = types.split_ascii_whitespace().map(of_schema_org).collect();
        let Some(names) = names.filter(|names| !names.is_empty()) else {
            return;
        };
        self.of_schema_org += 1;
        for name in names.iter().filter(|name| !is_type(name)) {
            push_unique(&mut self.strange.types, name);
        }
    }

    /// The value of `itemprop`; a name with a colon or a dot is of another vocabulary.
    pub fn properties(&mut self, names: &str) {
        if self.of_schema_org == 0 {
            return;
        }
        for name in names.split_ascii_whitespace() {
            if !name.contains([':', '.']) && !is_property(name) {
                push_unique(&mut self.strange.properties, name);
            }
        }
    }

    pub fn finish(mut self) -> UnknownTerms {
        if self.of_schema_org < self.objects {
            self.strange.properties.clear();
        }
        self.strange
    }
}

/// Name in schema.org of a URL; `None` of other vocabularies.
fn of_schema_org(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    let name = rest.strip_prefix("schema.org/")?;
    Some(name.trim_end_matches('/'))
}

fn push_unique(names: &mut Vec<Box<str>>, name: &str) {
    let name = text::cut(name, NAME);
    if names.len() < MAX_NAMES && !names.iter().any(|known| &**known == name) {
        names.push(name.into());
    }
}
