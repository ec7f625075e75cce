//! Names by `aria-labelledby`: the texts of other elements, which may come later.

use std::borrow::Cow;

use hashbrown::HashMap;
use searchwright_text as text;

use super::{Reader, TEXT};
use crate::html::{
    attributes::Attributes,
    entities::{self, In},
    tokenizer::{TextKind, Token, Tokenizer},
};

/// Maximum number of links and headings that are named by other elements.
const MAX_LABELLED: usize = 200;
/// Maximum number of ids per name.
const IDS: usize = 8;

/// Place of what has to be named.
#[derive(Clone, Copy, Debug)]
pub(super) enum Labelled {
    /// Index of a link.
    Link(usize),
    /// Index of a heading.
    Heading(usize),
}

/// Maximum number of elements that name others and are open at the same time.
const OPEN: usize = 8;

/// Text of an element that names others.
#[derive(Default)]
struct LabelText {
    text: String,
    seen: bool,
}

/// An element that names others, while it is open.
struct OpenLabel {
    id: String,
    name: String,
    /// Number of open elements of its name, itself included.
    depth: usize,
}

impl Reader<'_, '_> {
    /// Remembers that a link or heading without a name may get one from other elements.
    pub(super) fn await_label(&mut self, place: Labelled, ids: Box<str>) {
        if !ids.is_empty() && self.labelled.len() < MAX_LABELLED {
            self.labelled.push((place, ids));
        }
    }

    /// Names the links and headings whose name is the text of other elements, by a second pass over the document, which
    /// few pages need.
    pub(super) fn name_labelled(&mut self) {
        if self.labelled.is_empty() {
            return;
        }
        let labelled = std::mem::take(&mut self.labelled);
        let ids = |ids: &str| {
            let ids = entities::decode(ids, In::Attribute).into_owned();
            let ids = ids.split_ascii_whitespace().take(IDS).map(str::to_owned);
            ids.collect::<Vec<_>>()
        };
        let labelled: Vec<_> = labelled
            .into_iter()
            .map(|(place, of)| (place, ids(&of)))
            .collect();
        let mut texts: HashMap<String, LabelText> = HashMap::new();
        for id in labelled.iter().flat_map(|(_, ids)| ids) {
            texts.entry(id.clone()).or_default();
        }
        collect(self.html, &mut texts);
        for (place, ids) in labelled {
            let words = ids
                .iter()
                .filter_map(|id| texts.get(id))
                .map(|label| &*label.text);
            let name = text::squeeze(&words.collect::<Vec<_>>().join(" "));
            match place {
                _ if name.is_empty() => {}
                Labelled::Link(place) => self.out.links.name(place, text::cut(&name, 80), 0),
                Labelled::Heading(place) => {
                    if let Some(heading) = self.out.headings.get_mut(place) {
                        heading.text = text::cut(&name, TEXT).into();
                    }
                }
            }
        }
    }
}

/// Collects the texts of the elements with these ids, alternative texts of images included.
fn collect(html: &str, texts: &mut HashMap<String, LabelText>) {
    let mut open: Vec<OpenLabel> = Vec::new();
    let mut tokens = Tokenizer::new(html);
    while let Some(token) = tokens.next() {
        match token {
            Token::Start(start) => {
                let attributes = Attributes(tokens.attributes());
                for label in &mut open {
                    label.depth += usize::from(!start.empty && start.name.eq_ignore_ascii_case(&label.name));
                }
                // the first element with an id counts
                let id = attributes.get("id").map(Cow::into_owned);
                let label = id.as_deref().and_then(|id| texts.get_mut(id));
                if let Some(label) = label.filter(|label| !label.seen)
                    && open.len() < OPEN
                {
                    label.seen = true;
                    open.push(OpenLabel {
                        id: id.unwrap_or_default(),
                        name: start.name.to_owned(),
                        depth: 1,
                    });
                }
                if !open.is_empty() {
                    let alt = ["alt", "aria-label"]
                        .into_iter()
                        .find_map(|name| attributes.get(name));
                    add(&open, texts, alt.as_deref().unwrap_or_default());
                }
                open.pop_if(|label| start.empty && label.depth == 1 && id_is(attributes, &label.id));
            }
            Token::End(tag) => {
                for label in open
                    .iter_mut()
                    .filter(|label| label.name.eq_ignore_ascii_case(tag.name()))
                {
                    label.depth -= 1;
                }
                open.retain(|label| label.depth > 0);
            }
            Token::Text(text, TextKind::Data | TextKind::Escapable(_)) if !open.is_empty() => {
                add(&open, texts, &entities::decode(text, In::Text));
            }
            Token::Text(..) | Token::Doctype(_) => {}
        }
    }
}

fn id_is(attributes: Attributes<'_, '_>, id: &str) -> bool {
    attributes.get("id").as_deref() == Some(id)
}

fn add(open: &[OpenLabel], texts: &mut HashMap<String, LabelText>, text: &str) {
    for label in open {
        if let Some(label) = texts.get_mut(&label.id)
            && label.text.len() < TEXT
            && !text.is_empty()
        {
            label.text.push_str(text::cut(text, TEXT));
            label.text.push(' ');
        }
    }
}
