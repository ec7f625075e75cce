//! Attributes that any element may have.

use memchr::memmem;
use searchwright_text as text;

use super::{IDS, Reader};
use crate::html::{
    attributes::Attributes,
    entities::{self, In},
    inline_style,
    tags::Tag,
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
    /// `aria-labelledby`, as written.
    pub labelled_by: Option<&'a str>,
    /// Readers from whom the element is concealed.
    pub concealed: Concealed,
    /// Whether the element is beside the content: navigation or a sidebar.
    pub beside: Beside,
}

/// Readers from whom an element is concealed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::page) enum Concealed {
    /// From nobody.
    #[default]
    No,
    /// From assistive technology: it is only seen.
    Unheard,
    /// From everybody, until a script shows it.
    Unseen,
}

/// Mark of an element beside the content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Beside {
    #[default]
    No,
    /// By its role.
    Role,
    /// By its class or id, which layouts also give to an element around everything.
    Name,
}

/// Whether a class or an id is that of a sidebar: `sidebar`, `sidebar-left`, `sphinxsidebar`, but not `with-sidebar`.
fn names_sidebar(names: &str) -> bool {
    const WORD: &str = "sidebar";
    // most names contain no such word
    if memmem::find(names.as_bytes(), b"idebar").is_none() {
        return false;
    }
    let mut names = names
        .split_ascii_whitespace()
        .filter(|name| name.len() >= WORD.len());
    names.any(|name| {
        let name = name.to_ascii_lowercase();
        let around = ["with", "has", "no-", "without"];
        (name.starts_with(WORD) || name.ends_with(WORD)) && !around.iter().any(|word| name.contains(word))
    })
}

impl<'a> Reader<'a, '_> {
    /// Reads the attributes that any element may have.
    pub(super) fn common_attributes(
        &mut self,
        tag: Tag,
        attributes: Attributes<'_, 'a>,
    ) -> ElementLabels<'a> {
        let mut said = ElementLabels::default();
        let mut is_open = false;
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
                    said.named_beside(attribute.value);
                    self.spa_root |= matches!(attribute.value, "root" | "app" | "__next" | "__nuxt");
                    if self.out.id_hashes.len() < IDS && !attribute.value.is_empty() {
                        let id = entities::decode(attribute.value, In::Attribute);
                        self.out.id_hashes.push(text::hash(id.as_bytes()));
                    }
                }
                4 if is("role") && first(2) => {
                    let role = attribute.value.trim();
                    said.is_main = role.eq_ignore_ascii_case("main");
                    let roles = ["navigation", "complementary", "search"];
                    if roles.iter().any(|beside| role.eq_ignore_ascii_case(beside)) {
                        said.beside = Beside::Role;
                    }
                }
                4 => is_open |= is("open"),
                5 if is("class") => said.named_beside(attribute.value),
                5 if is("style") && inline_style::hides(attribute.value) => said.conceal(Concealed::Unseen),
                5 if is("inert") => said.conceal(Concealed::Unheard),
                6 if is("hidden") && !attribute.value.eq_ignore_ascii_case("until-found") => {
                    said.conceal(Concealed::Unseen);
                }
                7 if is("popover") => said.conceal(Concealed::Unseen),
                11 if is("aria-hidden") && attribute.value.trim().eq_ignore_ascii_case("true") => {
                    said.conceal(Concealed::Unheard);
                }
                15 if is("aria-labelledby") => {
                    said.labelled_by = Some(attribute.value).filter(|ids| !ids.trim().is_empty());
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
        if tag == Tag::Dialog && !is_open {
            said.conceal(Concealed::Unseen);
        }
        // a whole page that is hidden waits for a script, like all pages of its framework
        if matches!(tag, Tag::Html | Tag::Body | Tag::Main) || said.is_main {
            (said.concealed, said.beside) = (Concealed::No, Beside::No);
        }
        said
    }
}

impl ElementLabels<'_> {
    fn conceal(&mut self, concealed: Concealed) {
        self.concealed = self.concealed.max(concealed);
    }

    fn named_beside(&mut self, names: &str) {
        if self.beside == Beside::No && names_sidebar(names) {
            self.beside = Beside::Name;
        }
    }
}
