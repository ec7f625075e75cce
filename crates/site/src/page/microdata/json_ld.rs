//! Writes microdata objects as JSON-LD.

use std::collections::BTreeMap;

use super::ItemCollector;
use crate::html::tags::Tag;

/// Value of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::page) enum PropertyValue {
    Text(Box<str>),
    /// URL of a link, an image or the like, as opposed to a text.
    Url(Box<str>),
    /// A linked person or organization: URL and text of the link. By the standard only the URL counts, but the name is
    /// shown on the page.
    Named(Box<str>, Box<str>),
    /// Another object, by its index.
    Object(usize),
    /// A value that is not read.
    Something,
}

/// One object while the page is read.
#[derive(Debug)]
pub(super) struct CollectedItem {
    /// Element of the object.
    pub tag: Tag,
    pub types: Vec<Box<str>>,
    pub id: Option<Box<str>>,
    pub properties: Vec<(Box<str>, PropertyValue)>,
    /// Whether it is the value of a property of another object.
    pub is_value: bool,
    /// Whether more properties may belong to it than are known.
    pub is_doubtful: bool,
}

impl CollectedItem {
    pub const fn new(tag: Tag) -> Self {
        Self {
            tag,
            types: Vec::new(),
            id: None,
            properties: Vec::new(),
            is_value: false,
            is_doubtful: false,
        }
    }

    fn says_something(&self) -> bool {
        !self.types.is_empty() || self.id.is_some() || !self.properties.is_empty()
    }
}

/// Number of values per property that are compared, so that values repeated by templates are written once.
const MAX_COMPARED: usize = 8;

impl ItemCollector {
    /// Appends an object with all nested ones to `out`; returns whether each of them is complete, or `None` if `out`
    /// got longer than `most` bytes.
    pub(super) fn write(&self, place: usize, out: &mut String, most: usize) -> Option<bool> {
        let thing = self.items.get(place)?;
        let mut is_whole = !self.is_doubtful(place, thing);
        out.push('{');
        if !thing.types.is_empty() {
            let types: Vec<String> = thing.types.iter().map(|name| quoted(name)).collect();
            out.push_str(&format!("\"@type\":[{}],", types.join(",")));
        }
        if let Some(id) = &thing.id {
            out.push_str(&format!("\"@id\":{},", quoted(id)));
        }
        let mut properties = BTreeMap::<&str, Vec<&PropertyValue>>::new();
        for (name, value) in &thing.properties {
            let values = properties.entry(name).or_default();
            if !values.iter().take(MAX_COMPARED).any(|known| *known == value) {
                values.push(value);
            }
        }
        for (name, values) in properties {
            out.push_str(&quoted(name));
            out.push(':');
            let is_list = values.len() > 1;
            if is_list {
                out.push('[');
            }
            for value in values {
                is_whole &= self.write_value(value, out, most)?;
                out.push(',');
            }
            if is_list {
                end(out, "],");
            }
        }
        end(out, "}");
        (out.len() <= most).then_some(is_whole)
    }

    fn write_value(&self, value: &PropertyValue, out: &mut String, most: usize) -> Option<bool> {
        if out.len() > most {
            return None;
        }
        match value {
            PropertyValue::Text(text) => out.push_str(&quoted(text)),
            PropertyValue::Url(url) => out.push_str(&format!("{{\"@id\":{}}}", quoted(url))),
            PropertyValue::Named(url, name) => {
                out.push_str(&format!("{{\"url\":{},\"name\":{}}}", quoted(url), quoted(name)));
            }
            PropertyValue::Object(place) => {
                let thing = self.items.get(*place)?;
                if thing.says_something() {
                    return self.write(*place, out, most);
                }
                out.push_str("true");
                return Some(!self.is_doubtful(*place, thing));
            }
            PropertyValue::Something => out.push_str("true"),
        }
        Some(true)
    }
}

/// Replaces a trailing comma by an end.
fn end(out: &mut String, end: &str) {
    if out.ends_with(',') {
        out.pop();
    }
    out.push_str(end);
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
