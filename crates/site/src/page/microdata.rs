//! Microdata: its objects, and names that schema.org does not define.

mod collector;
mod json_ld;
mod objects;

pub(super) use collector::{ItemAttributes, ItemCollector, PendingText, names, short};
pub(super) use json_ld::PropertyValue;
pub use objects::{Object, Objects};
use searchwright_text as text;
use serde::{Deserialize, Serialize};

use crate::vocabulary::{is_property, is_type};

/// Maximum number of names kept of either kind.
const MAX_NAMES: usize = 20;
/// Maximum number of characters kept of a name.
const NAME: usize = 80;

/// Names that schema.org does not define, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownTerms {
    /// Names of types.
    pub types: Vec<Box<str>>,
    /// Names of properties.
    pub properties: Vec<Box<str>>,
}

impl UnknownTerms {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty() && self.properties.is_empty()
    }
}

/// Collector of unknown names on one page.
///
/// It does not track which object a property belongs to: on pages with objects of other vocabularies or without a type,
/// no property is reported.
#[derive(Debug, Default)]
pub(super) struct NameCollector {
    strange: UnknownTerms,
    objects: u32,
    of_schema_org: u32,
}

impl NameCollector {
    /// Records an element with `itemscope`.
    pub fn object(&mut self) {
        self.objects += 1;
    }

    /// Records an `itemtype`: types of one vocabulary, as URLs.
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

    /// Records an `itemprop`; a name with a colon or a dot belongs to another vocabulary.
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

/// Returns the name of a schema.org URL; `None` for other vocabularies.
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
