//! Attributes that any element may have.

use searchwright_text as text;

use super::{IDS, Reader};
use crate::html::{
    attributes::Attributes,
    entities::{self, In},
};

/// Results of the attributes of an element.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ElementLabels<'a> {
    /// `aria-label` or `title`, as written.
    pub label: Option<&'a str>,
    /// Whether the element is excluded from snippets.
    pub nosnippet: bool,
    /// Whether the element is the main text, like a `<main>`.
    pub is_main: bool,
    /// Whether the element has microdata attributes.
    pub is_item: bool,
}

impl<'a> Reader<'a, '_> {
    /// Reads the attributes that any element may have.
    pub(super) fn common_attributes(&mut self, attributes: Attributes<'_, 'a>) -> ElementLabels<'a> {
        let mut said = ElementLabels::default();
        // the first attribute of a name counts
        let mut seen = 0_u8;
        let mut first = |bit: u8| {
            let is_first = seen & bit == 0;
            seen |= bit;
            is_first
        };
        for attribute in attributes.0 {
            let is = |name: &str| attribute.name.eq_ignore_ascii_case(name);
            match attribute.name.len() {
                2 if is("id") && first(1) => {
                    self.spa_root |= matches!(attribute.value, "root" | "app" | "__next" | "__nuxt");
                    if self.out.id_hashes.len() < IDS && !attribute.value.is_empty() {
                        let id = entities::decode(attribute.value, In::Attribute);
                        self.out.id_hashes.push(text::hash(id.as_bytes()));
                    }
                }
                4 if is("role") && first(2) => {
                    said.is_main = attribute.value.trim().eq_ignore_ascii_case("main");
                }
                5 if is("title") => said.label = said.label.or(Some(attribute.value)),
                10 if is("aria-label") && first(64) => {
                    said.label = Some(attribute.value)
                        .filter(|label| !label.is_empty())
                        .or(said.label);
                }
                6 if is("typeof") && first(4) => {
                    self.item_type(attribute.value);
                    self.no_object(attribute.value);
                }
                8 if is("itemtype") && first(8) => {
                    self.item_type(attribute.value);
                    self.names.types(attribute.value);
                    said.is_item = true;
                }
                8 if is("itemprop") && first(16) => {
                    self.names.properties(attribute.value);
                    said.is_item = true;
                }
                9 if is("itemscope") && first(32) => {
                    self.out.microdata = true;
                    self.names.object();
                    said.is_item = true;
                }
                14 => said.nosnippet |= is("data-nosnippet"),
                _ => {}
            }
        }
        said
    }
}
