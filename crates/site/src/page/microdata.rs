//! Names in microdata that schema.org does not have.

use serde::{Deserialize, Serialize};

use crate::{
    text,
    vocabulary::{is_property, is_type},
};

/// Names kept of either kind.
const MOST: usize = 20;
/// Characters kept of a name.
const NAME: usize = 80;

/// Such names, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strange {
    /// Of types.
    pub types: Vec<Box<str>>,
    /// Of properties.
    pub properties: Vec<Box<str>>,
}

impl Strange {
    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty() && self.properties.is_empty()
    }
}

/// What is gathered from one page.
///
/// Which object a property belongs to is not followed: on pages with objects of other vocabularies, or without a type,
/// nothing is said of properties.
#[derive(Debug, Default)]
pub(super) struct Microdata {
    strange: Strange,
    objects: u32,
    of_schema_org: u32,
}

impl Microdata {
    /// An element with `itemscope`.
    pub fn object(&mut self) {
        self.objects += 1;
    }

    /// The value of `itemtype`: types of one vocabulary, as URLs.
    pub fn types(&mut self, types: &str) {
        let is_ours = |url: &str| {
            let rest = url.split_once("://").map_or("", |(_, rest)| rest);
            let rest = rest.strip_prefix("www.").unwrap_or(rest);
            rest.strip_prefix("schema.org/")
                .map(|name| name.trim_end_matches('/').to_owned())
        };
        let names: Option<Vec<String>> = types.split_ascii_whitespace().map(is_ours).collect();
        let Some(names) = names.filter(|names| !names.is_empty()) else {
            return;
        };
        self.of_schema_org += 1;
        for name in names.iter().filter(|name| !is_type(name)) {
            note(&mut self.strange.types, name);
        }
    }

    /// The value of `itemprop`; a name with a colon or a dot is of another vocabulary.
    pub fn properties(&mut self, names: &str) {
        if self.of_schema_org == 0 {
            return;
        }
        for name in names.split_ascii_whitespace() {
            if !name.contains([':', '.']) && !is_property(name) {
                note(&mut self.strange.properties, name);
            }
        }
    }

    pub fn finish(mut self) -> Strange {
        if self.of_schema_org < self.objects {
            self.strange.properties.clear();
        }
        self.strange
    }
}

fn note(names: &mut Vec<Box<str>>, name: &str) {
    let name = text::cut(name, NAME);
    if names.len() < MOST && !names.iter().any(|known| &**known == name) {
        names.push(name.into());
    }
}
