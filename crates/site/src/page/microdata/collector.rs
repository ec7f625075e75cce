//! Collects objects and their properties by the HTML standard's section on microdata (5.2): objects stand in each other as
//! their elements do.
//!
//! Checks say above all what an object lacks. So where it cannot be told for sure what belongs to an object,
//! that is noted, and nothing is said to be missing there.

use searchwright_text as text;

use super::{
    Object, Objects,
    json_ld::{CollectedItem, PropertyValue},
    of_schema_org,
};
use crate::{html::tags::Tag, page::OBJECTS};

/// Objects that are open within each other.
const MAX_DEPTH: usize = 16;
/// Values kept of all objects.
const VALUES: usize = 5_000;
/// Names that one value may have.
const NAMES: usize = 10;
/// Characters kept of a text; checks want names and dates.
const TEXT: usize = 300;
/// Bytes of it: one character may have any number of marks.
const TEXT_BYTES: usize = 4 * TEXT;
/// Bytes kept of all objects.
const MAX_BYTES: usize = 64 << 10;
/// Characters kept of a type or the name of a property.
const NAME: usize = 80;
/// Types kept of what is no object here.
const ELSEWHERE: usize = 50;

/// Objects gathered while one page is read.
#[derive(Debug, Default)]
pub(in crate::page) struct ItemCollector {
    pub(super) items: Vec<CollectedItem>,
    /// Open elements that are objects or whose text is a value, outermost first.
    open: Vec<Element>,
    /// Objects before this one may have ended too early.
    doubtful_before: usize,
    /// Elements with such an end tag too many, by tag.
    surplus: Vec<(Tag, usize)>,
    /// Objects there were when those that were open became doubtful last.
    doubted: usize,
    values: usize,
    cut: bool,
    /// Types of what is no object here.
    elsewhere: Vec<Box<str>>,
}

#[derive(Debug)]
struct Element {
    /// Number of elements open with it.
    depth: usize,
    tag: Tag,
    /// The innermost object that is open here, itself included.
    object: usize,
    /// Number of open objects.
    objects: usize,
    /// Value that its text is to become.
    text: Option<PendingText>,
}

/// A value that is the text of an element.
#[derive(Debug)]
pub(in crate::page) struct PendingText {
    pub names: Vec<Box<str>>,
    /// Beginning of the text.
    pub mark: usize,
    /// Target of a link whose text is wanted too.
    pub url: Option<Box<str>>,
    /// There is text in it which is not gathered: of a drawing, of a script.
    is_other: bool,
}

impl PendingText {
    pub fn new(names: Vec<Box<str>>, mark: usize, url: Option<Box<str>>) -> Self {
        Self {
            names,
            mark,
            url,
            is_other: false,
        }
    }
}

/// Attributes of an object.
#[derive(Debug, Default)]
pub(in crate::page) struct ItemAttributes<'t> {
    pub types: &'t str,
    pub id: Option<&'t str>,
    /// Other parts of the page belong to it.
    pub refers: bool,
}

/// The names in an `itemprop`; those of other vocabularies are left out.
pub(in crate::page) fn names(names: &str) -> Vec<Box<str>> {
    let names = names.split_ascii_whitespace().filter_map(|name| {
        let name = of_schema_org(name).unwrap_or(name);
        let is_ours = !name.is_empty() && !name.starts_with('@') && !name.contains(':');
        is_ours.then(|| text::cut(name, NAME).into())
    });
    names.take(NAMES).collect()
}

impl ItemCollector {
    /// Elements are open that matter here.
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// An object begins. It is the value of properties of the one around it if it has such names; `depth` is that of its
    /// element, which a void one does not have.
    pub fn begin(
        &mut self,
        names: Option<Vec<Box<str>>>,
        told: &ItemAttributes<'_>,
        tag: Tag,
        depth: Option<usize>,
    ) {
        let outer = self.open.last().map(|element| (element.object, element.objects));
        let objects = outer.map_or(0, |(_, objects)| objects) + 1;
        if self.cut || self.items.len() >= OBJECTS || objects > MAX_DEPTH {
            self.cut_off();
            return;
        }
        let types = told.types.split_ascii_whitespace();
        let types: Vec<&str> = types.take(NAMES).collect();
        let ours = types.iter().filter_map(|url| of_schema_org(url));
        let place = self.items.len();
        let thing = CollectedItem {
            types: ours.map(|name| text::cut(name, NAME).into()).collect(),
            id: told.id.filter(|id| !id.is_empty()).map(short),
            // a void element has no room for what it would need
            is_doubtful: told.refers || depth.is_none() && names.is_none(),
            ..CollectedItem::new(tag)
        };
        let is_in_nothing = outer.is_some_and(|(outer, _)| self.items[outer].types.is_empty());
        if thing.types.is_empty() || names.is_some() && is_in_nothing {
            self.elsewhere(told.types);
        }
        self.items.push(thing);
        match (names, outer) {
            (Some(names), Some((outer, _))) => {
                self.items[place].is_value = true;
                self.add_to(outer, names, PropertyValue::Object(place));
            }
            (Some(_), None) => {
                self.belongs_to_nothing();
                self.items[place].is_doubtful = true;
            }
            (None, _) => {}
        }
        if let Some(depth) = depth {
            self.open.push(Element {
                depth,
                tag,
                object: place,
                objects,
                text: None,
            });
        }
    }

    /// A property of the object around it.
    pub fn add(&mut self, names: Vec<Box<str>>, value: PropertyValue) {
        match self.open.last().map(|element| element.object) {
            Some(object) => self.add_to(object, names, value),
            None => self.belongs_to_nothing(),
        }
    }

    /// A property whose value is the text of an element that begins.
    pub fn await_text(&mut self, awaited: PendingText, tag: Tag, depth: usize) {
        let Some(around) = self.open.last() else {
            self.belongs_to_nothing();
            return;
        };
        let (object, objects) = (around.object, around.objects);
        if self.cut || self.open.len() >= VALUES {
            self.cut_off();
            return;
        }
        self.open.push(Element {
            depth,
            tag,
            object,
            objects,
            text: Some(awaited),
        });
    }

    /// Types of what is no object here, each once.
    pub fn elsewhere(&mut self, types: &str) {
        for name in types.split_ascii_whitespace() {
            let name = name.rsplit(['/', '#', ':']).next().unwrap_or_default();
            let name = text::cut(name, NAME);
            let is_known = self.elsewhere.iter().any(|known| **known == *name);
            if self.elsewhere.len() < ELSEWHERE && !name.is_empty() && !is_known {
                self.elsewhere.push(name.into());
            }
        }
    }

    /// There is text in the innermost element that nobody gathers.
    pub fn other_text(&mut self) {
        if let Some(text) = self.open.last_mut().and_then(|element| element.text.as_mut()) {
            text.is_other = true;
        }
    }

    /// More may belong to the objects that are open than is known.
    pub fn doubt(&mut self) {
        // those that are open have been doubted already unless one began since
        if self.doubted == self.items.len() {
            return;
        }
        self.doubted = self.items.len();
        for element in &self.open {
            if element.text.is_none() {
                self.items[element.object].is_doubtful = true;
            }
        }
    }

    /// An end tag ends nothing. One of its kind may have been too many before, so that the element of an object ended early.
    pub fn surplus(&mut self, tag: Tag) {
        let before = self.items.len();
        match self.surplus.iter_mut().find(|(of, _)| *of == tag) {
            Some((_, place)) => *place = before,
            None => self.surplus.push((tag, before)),
        }
    }

    /// More may belong to an object than is known.
    pub(super) fn is_doubtful(&self, place: usize, thing: &CollectedItem) -> bool {
        let mut surplus = self.surplus.iter();
        thing.is_doubtful
            || place < self.doubtful_before
            || surplus.any(|(tag, before)| *tag == thing.tag && place < *before)
    }

    /// All elements end down to one at this depth. That one ends by its own end tag or not, the others without; the end of
    /// some is told by what follows as well. `text` gives the text that awaits its end.
    pub fn close_down_to<'t>(
        &mut self,
        depth: usize,
        by_end_tag: bool,
        text: impl Fn(Tag, usize) -> &'t str,
    ) {
        while let Some(element) = self.open.pop_if(|element| element.depth >= depth) {
            let is_clear = by_end_tag && element.depth == depth || ends_by_what_follows(element.tag);
            match element.text {
                None if is_clear => {}
                None => {
                    self.items[element.object].is_doubtful = true;
                    self.doubt();
                }
                Some(awaited) => {
                    let said = text(element.tag, awaited.mark);
                    if awaited.is_other {
                        self.other_text();
                    }
                    let value = match awaited.url {
                        Some(url) => PropertyValue::Named(url, short(said)),
                        None if said.is_empty() && awaited.is_other => PropertyValue::Something,
                        None => PropertyValue::Text(short(said)),
                    };
                    self.add_to(element.object, awaited.names, value);
                }
            }
        }
    }

    /// The document ends. Whether it was closed tells if anything may be missing behind.
    pub fn leave_document<'t>(&mut self, is_closed: bool, text: impl Fn(usize) -> &'t str) {
        let of_document = |element: &Element| is_closed && matches!(element.tag, Tag::Html | Tag::Body);
        let inner = self.open.iter().find(|element| !of_document(element));
        let depth = inner.map_or(usize::MAX, |element| element.depth);
        self.close_down_to(depth, false, |_, mark| text(mark));
        while let Some(element) = self.open.last() {
            let depth = element.depth;
            self.close_down_to(depth, true, |_, mark| text(mark));
        }
    }

    /// Finishes the objects. Those within others are in those.
    pub fn finish(self) -> Option<Objects> {
        let mut kept = Objects {
            cut: self.cut,
            ..Objects::default()
        };
        let mut bytes = 0;
        for (place, thing) in self.items.iter().enumerate() {
            // what has no type is nothing that checks know, unless another object goes on with it
            if thing.is_value || thing.types.is_empty() && thing.id.is_none() {
                continue;
            }
            let mut source = String::new();
            let Some(is_whole) = self.write(place, &mut source, MAX_BYTES - bytes) else {
                kept.cut = true;
                continue;
            };
            bytes += source.len();
            kept.list.push(Object {
                source: source.into(),
                is_whole,
            });
        }
        kept.elsewhere = self.elsewhere;
        (kept.cut || !kept.list.is_empty()).then_some(kept)
    }

    fn add_to(&mut self, object: usize, names: Vec<Box<str>>, value: PropertyValue) {
        self.values += names.len();
        if self.cut || self.values > VALUES {
            self.cut_off();
            return;
        }
        if let Some(thing) = self.items.get_mut(object) {
            let properties = names.into_iter().map(|name| (name, value.clone()));
            thing.properties.extend(properties);
        }
    }

    /// A property stands in no object: an end tag too many may have ended the one that it was meant for.
    fn belongs_to_nothing(&mut self) {
        self.doubtful_before = self.items.len();
    }

    /// No more is kept.
    fn cut_off(&mut self) {
        if !self.cut {
            self.cut = true;
            self.doubt();
        }
    }
}

/// Shortens a text to what is kept.
pub(in crate::page) fn short(text: &str) -> Box<str> {
    let text = &text[..text.floor_char_boundary(TEXT_BYTES)];
    text::cut(text, TEXT).into()
}

/// End tags of such elements may be left out, and nobody means anything else by it. Paragraphs are not among them: that a
/// block ends one is mostly forgotten.
const fn ends_by_what_follows(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Li | Tag::Dt | Tag::Dd | Tag::Tr | Tag::Td | Tag::Th | Tag::Tbody | Tag::Thead | Tag::Tfoot
    )
}
