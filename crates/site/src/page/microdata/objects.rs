//! Microdata objects of a page as they are stored.

use serde::{Deserialize, Serialize};

/// Microdata objects of a page, and types of items that are none of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objects {
    /// Objects that are not nested in another one, in order.
    pub list: Vec<Object>,
    /// Whether there are more objects than are kept.
    pub cut: bool,
    /// Types that the page names outside the listed objects: in RDFa, or on elements that are no objects.
    pub elsewhere: Vec<Box<str>>,
}

impl Objects {
    /// Whether all objects are complete.
    pub(crate) fn are_whole(&self) -> bool {
        self.list.iter().all(|object| object.is_whole)
    }
}

/// One object, with all objects nested in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// The object as JSON-LD, with types without their vocabulary: `{"@type":["Product"],"name":"x"}`. Texts are cut to
    /// 300 characters; a property with a value that is not known is `true`.
    pub source: Box<str>,
    /// Whether all properties of the object are known. If tags are not closed as they were opened, or `itemref` names
    /// other parts of the page, more may belong to it.
    pub is_whole: bool,
}
