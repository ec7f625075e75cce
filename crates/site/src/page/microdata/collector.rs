//! Collects microdata objects and their properties by the HTML standard (5.2): objects are nested as their elements
//! are.
//!
//! Checks mostly report properties that an object lacks. If it is uncertain what belongs to an object, the object is
//! marked, and nothing counts as missing there.

use searchwright_text as text;

use super::{
    Object, Objects,
    json_ld::{CollectedItem, PropertyValue},
    of_schema_org,
};
use crate::{html::tags::Tag, page::OBJECTS};

/// Maximum nesting depth of objects.
const MAX_DEPTH: usize = 16;
/// Maximum number of values kept of all objects.
const VALUES: usize = 5_000;
/// Maximum number of names of one value.
const NAMES: usize = 10;
/// Maximum number of characters kept of a text; checks need names and dates.
const TEXT: usize = 300;
/// Maximum number of bytes kept of a text, since one character may have any number of combining marks.
const TEXT_BYTES: usize = 4 * TEXT;
/// Maximum number of bytes kept of all objects.
const MAX_BYTES: usize = 64 << 10;
/// Maximum number of characters kept of a type or a property name.
const NAME: usize = 80;
/// Maximum number of types kept of items that are no objects here.
const ELSEWHERE: usize = 50;

/// Collector of the objects of one page.
#[derive(Debug, Default)]
pub(in crate::page) struct ItemCollector {
    pub(super) items: Vec<CollectedItem>,
    /// Open elements that are objects or whose text is a value, outermost first.
    open: Vec<Element>,
    /// Number of objects that may have ended too early.
    doubtful_before: usize,
    /// Number of objects before the last surplus end tag, by tag.
    surplus: Vec<(Tag, usize)>,
    /// Number of objects when the open ones were last marked doubtful.
    doubted: usize,
    values: usize,
    cut: bool,
    /// Types of items that are no objects here.
    elsewhere: Vec<Box<str>>,
}

#[derive(Debug)]
struct Element {
    /// Number of open elements, including this one.
    depth: usize,
    tag: Tag,
    /// Innermost open object, including this one.
    object: usize,
    /// Number of open objects.
    objects: usize,
    /// Value that the text of the element becomes.
    text: Option<PendingText>,
}

/// A value that is the text of an element.
#[derive(Debug)]
pub(in crate::page) struct PendingText {
    pub names: Vec<Box<str>>,
    /// Position at which the text begins.
    pub mark: usize,
    /// Target of a link whose text is a value too.
    pub url: Option<Box<str>>,
    /// Whether it contains text that is not collected, such as that of a drawing or a script.
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
    /// Whether `itemref` adds other parts of the page.
    pub refers: bool,
}

/// Returns the names in an `itemprop`, without those of other vocabularies.
pub(in crate::page) fn names(names: &str) -> Vec<Box<str>> {
    let names = names.split_ascii_whitespace().filter_map(|name| {
        let name = of_schema_org(name).unwrap_or(name);
        let is_ours = !name.is_empty() && !name.starts_with('@') && !name.contains(':');
        is_ours.then(|| text::cut(name, NAME).into())
    });
    names.take(NAMES).collect()
}

impl ItemCollector {
    /// Whether an object or an awaited text is open.
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Begins an object. If it has property names, it is their value in the enclosing object. `depth` is that of its
    /// element; a void element has none.
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
            // a void element cannot contain properties
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

    /// Adds a property to the innermost open object.
    pub fn add(&mut self, names: Vec<Box<str>>, value: PropertyValue) {
        match self.open.last().map(|element| element.object) {
            Some(object) => self.add_to(object, names, value),
            None => self.belongs_to_nothing(),
        }
    }

    /// Adds a property whose value is the text of an element that begins.
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

    /// Adds types of an item that is no object here, each once.
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

    /// Records that the innermost element contains text that is not collected.
    pub fn other_text(&mut self) {
        if let Some(text) = self.open.last_mut().and_then(|element| element.text.as_mut()) {
            text.is_other = true;
        }
    }

    /// Marks the open objects as doubtful: more properties may belong to them.
    pub fn doubt(&mut self) {
        // the open ones are already marked unless an object began since
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

    /// Records an end tag without a start tag. Another one of its kind may have ended the element of an object too
    /// early.
    pub fn surplus(&mut self, tag: Tag) {
        let before = self.items.len();
        match self.surplus.iter_mut().find(|(of, _)| *of == tag) {
            Some((_, place)) => *place = before,
            None => self.surplus.push((tag, before)),
        }
    }

    /// Whether more properties may belong to an object than are known.
    pub(super) fn is_doubtful(&self, place: usize, thing: &CollectedItem) -> bool {
        let mut surplus = self.surplus.iter();
        thing.is_doubtful
            || place < self.doubtful_before
            || surplus.any(|(tag, before)| *tag == thing.tag && place < *before)
    }

    /// Closes all elements down to a depth. The element at that depth may have an end tag of its own, the others have
    /// none; some elements end reliably without one. `text` returns the text since a mark.
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

    /// Ends the document. Unless it was closed, more may be missing at its end.
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

    /// Returns the objects; nested ones are inside their outer object.
    pub fn finish(self) -> Option<Objects> {
        let mut kept = Objects {
            cut: self.cut,
            ..Objects::default()
        };
        let mut bytes = 0;
        for (place, thing) in self.items.iter().enumerate() {
            // an object without a type is unknown to checks, unless another one refers to its id
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

    /// Handles a property outside any object: a surplus end tag may have ended the object it belongs to.
    fn belongs_to_nothing(&mut self) {
        self.doubtful_before = self.items.len();
    }

    /// Stops collecting.
    fn cut_off(&mut self) {
        if !self.cut {
            self.cut = true;
            self.doubt();
        }
    }
}

/// Cuts a text to the maximum length.
pub(in crate::page) fn short(text: &str) -> Box<str> {
    let text = &text[..text.floor_char_boundary(TEXT_BYTES)];
    text::cut(text, TEXT).into()
}

/// Whether an element ends reliably without its end tag, because authors omit it on purpose. Paragraphs do not, because
/// authors mostly forget that a block ends them.
const fn ends_by_what_follows(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Li | Tag::Dt | Tag::Dd | Tag::Tr | Tag::Td | Tag::Th | Tag::Tbody | Tag::Thead | Tag::Tfoot
    )
}
