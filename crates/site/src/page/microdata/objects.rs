//! Objects of a page's microdata, as they are kept.

use serde::{Deserialize, Serialize};

/// Objects of a page's microdata, and what is known of those that are none of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objects {
    /// Those that stand in no other, in their order.
    pub list: Vec<Object>,
    /// There are more than are kept.
    pub cut: bool,
    /// Types that the page names of what is not in the list: in RDFa, on elements that are no objects.
    pub elsewhere: Vec<Box<str>>,
}

impl Objects {
    /// Everything that belongs to each is known.
    pub(crate) fn are_whole(&self) -> bool {
        self.list.iter().all(|object| object.is_whole)
    }
}

/// One object, with all that stand in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// As JSON-LD writes it, types without their vocabulary: `{"@type":["Product"],"name":"x"}`. Texts are cut to 300
    /// characters, a property that says something of which it is not known what is `true`.
    pub source: Box<str>,
    /// Everything that belongs to it is known. Where its tags are not closed as they were opened, or `itemref` names other
    /// parts of the page, more may belong to it.
    pub is_whole: bool,
}
