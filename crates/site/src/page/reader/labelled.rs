//! Names by `aria-labelledby`: the texts of other elements, which may come later.

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

/// Text of an element that names others.
#[derive(Default)]
struct LabelText {
    text: String,
    /// Name of the element and number of elements of that name open in it, while it is open.
    open: Option<(String, usize)>,
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
        let labelled: Vec<_> = labelled.into_iter().map(|(place, of)| (place, ids(&of))).collect();
        let mut texts: HashMap<String, LabelText> = HashMap::new();
        for id in labelled.iter().flat_map(|(_, ids)| ids) {
            texts.entry(id.clone()).or_default();
        }
        collect(self.html, &mut texts);
        for (place, ids) in labelled {
            let words = ids.iter().filter_map(|id| texts.get(id)).map(|label| &*label.text);
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
    let mut tokens = Tokenizer::new(html);
    while let Some(token) = tokens.next() {
        match token {
            Token::Start(start) => {
                let attributes = Attributes(tokens.attributes());
                let alt = ["alt", "aria-label"].into_iter().find_map(|name| attributes.get(name));
                for label in texts.values_mut() {
                    if let Some((name, depth)) = &mut label.open {
                        *depth += usize::from(!start.empty && start.name.eq_ignore_ascii_case(name));
                        add(&mut label.text, alt.as_deref().unwrap_or_default());
                    }
                }
                let id = attributes.get("id");
                let label = id.and_then(|id| texts.get_mut(&*id));
                // the first element with an id counts
                if let Some(label) = label.filter(|label| label.open.is_none() && label.text.is_empty()) {
                    add(&mut label.text, alt.as_deref().unwrap_or_default());
                    label.open = (!start.empty).then(|| (start.name.to_owned(), 1));
                }
            }
            Token::End(tag) => {
                for label in texts.values_mut() {
                    let ends = |(name, _): &(String, usize)| name.eq_ignore_ascii_case(tag.name());
                    if let Some((_, depth)) = label.open.as_mut().filter(|open| ends(open)) {
                        *depth -= 1;
                    }
                    label.open.take_if(|(_, depth)| *depth == 0);
                }
            }
            Token::Text(text, TextKind::Data | TextKind::Escapable(_)) => {
                let open = texts.values_mut().filter(|label| label.open.is_some());
                open.for_each(|label| add(&mut label.text, &entities::decode(text, In::Text)));
            }
            Token::Text(..) | Token::Doctype(_) => {}
        }
    }
}

fn add(to: &mut String, text: &str) {
    if to.len() < TEXT && !text.is_empty() {
        to.push_str(text::cut(text, TEXT));
        to.push(' ');
    }
}
