//! The stack of open elements: enough of tree construction in the HTML standard (13.2.6) to know which element a text
//! belongs to when end tags are missing, as in most lists and tables, or come in the wrong order.

use crate::html::tags::Tag;

/// Maximum number of elements examined to find one that a start tag closes.
const LOOK_FOR_START: usize = 64;
/// Maximum number of elements examined to find the one that an end tag closes. Real pages need a handful; without a
/// bound, a hostile page would take quadratic time.
const LOOK_FOR_END: usize = 256;

/// The stack of open elements.
#[derive(Debug)]
pub(super) struct OpenElements {
    stack: Vec<Tag>,
    counts: [u32; Tag::COUNT],
    deepest: usize,
}

impl Default for OpenElements {
    fn default() -> Self {
        Self {
            stack: Vec::with_capacity(64),
            counts: [0; Tag::COUNT],
            deepest: 0,
        }
    }
}

impl OpenElements {
    /// Whether an element of this name is open.
    pub fn has(&self, tag: Tag) -> bool {
        self.counts[tag as usize] > 0
    }

    /// Returns the greatest depth so far.
    pub fn deepest(&self) -> u32 {
        u32::try_from(self.deepest).unwrap_or(u32::MAX)
    }

    /// Returns the number of open elements.
    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Returns the innermost open element.
    pub fn innermost(&self) -> Option<Tag> {
        self.stack.last().copied()
    }

    pub fn push(&mut self, tag: Tag) {
        self.stack.push(tag);
        self.counts[tag as usize] += 1;
        self.deepest = self.deepest.max(self.stack.len());
    }

    pub fn pop(&mut self) -> Option<Tag> {
        let tag = self.stack.pop()?;
        self.counts[tag as usize] -= 1;
        Some(tag)
    }

    /// Returns how many elements, from the innermost, a start tag closes before it opens its own.
    pub fn closed_by_start(&self, tag: Tag) -> usize {
        let item = match tag {
            Tag::Li => self.find(|t| t == Tag::Li, ends_list),
            Tag::Dd | Tag::Dt => self.find(|t| matches!(t, Tag::Dd | Tag::Dt), ends_list),
            Tag::Td | Tag::Th => self.find(
                |t| matches!(t, Tag::Td | Tag::Th),
                |t| matches!(t, Tag::Tr | Tag::Table | Tag::Template),
            ),
            Tag::Tr => self.find(
                |t| t == Tag::Tr,
                |t| matches!(t, Tag::Table | Tag::Template) || is_group(t),
            ),
            Tag::Tbody | Tag::Thead | Tag::Tfoot => {
                self.find(is_group, |t| matches!(t, Tag::Table | Tag::Template))
            }
            Tag::Option | Tag::Optgroup => usize::from(self.stack.last() == Some(&Tag::Option)),
            Tag::A => usize::from(self.stack.last() == Some(&Tag::A)),
            _ if tag.heading_level().is_some() => {
                usize::from(self.stack.last().is_some_and(|t| t.heading_level().is_some()))
            }
            _ => 0,
        };
        if tag.closes_paragraph() && self.has(Tag::P) {
            item.max(self.find(|t| t == Tag::P, Tag::is_barrier))
        } else {
            item
        }
    }

    fn find(&self, wanted: impl Fn(Tag) -> bool, stops: impl Fn(Tag) -> bool) -> usize {
        for (i, tag) in self.stack.iter().rev().take(LOOK_FOR_START).enumerate() {
            if wanted(*tag) {
                return i + 1;
            }
            if stops(*tag) {
                return 0;
            }
        }
        0
    }

    /// Returns how many elements, from the innermost, an end tag closes; 0 if it closes none.
    pub fn closed_by_end(&self, tag: Tag) -> usize {
        let heading = tag.heading_level().is_some();
        if !heading && !self.has(tag) || matches!(tag, Tag::Body | Tag::Html) {
            return 0;
        }
        let table = is_group(tag) || matches!(tag, Tag::Table | Tag::Tr | Tag::Td | Tag::Th | Tag::Caption);
        for (i, open) in self.stack.iter().rev().take(LOOK_FOR_END).enumerate() {
            if *open == tag || heading && open.heading_level().is_some() {
                return i + 1;
            }
            let stops = if tag == Tag::Template {
                // a template ends with everything in it
                false
            } else if table {
                matches!(open, Tag::Table | Tag::Template | Tag::Html)
            } else if tag.is_special() || tag.closes_paragraph() {
                open.is_barrier()
            } else {
                open.is_special()
            };
            if stops {
                return 0;
            }
        }
        0
    }
}

fn ends_list(tag: Tag) -> bool {
    tag.is_special() && !matches!(tag, Tag::Address | Tag::Div | Tag::P)
}

fn is_group(tag: Tag) -> bool {
    matches!(tag, Tag::Tbody | Tag::Thead | Tag::Tfoot)
}

#[cfg(test)]
mod tests {
    use super::{OpenElements, Tag};

    /// Returns the elements open after these tags, outermost first.
    fn open(source: &str) -> String {
        let mut open = OpenElements::default();
        for word in source.split(' ') {
            let end = word.strip_prefix('/');
            let tag = Tag::from_name(end.unwrap_or(word).as_bytes());
            let close = if end.is_some() {
                open.closed_by_end(tag)
            } else {
                open.closed_by_start(tag)
            };
            for _ in 0..close {
                open.pop();
            }
            if end.is_none() {
                open.push(tag);
            }
        }
        open.stack.iter().map(|t| t.name()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn missing_end_tags_are_understood() {
        for (source, expected) in [
            ("ul li li a", "ul li a"),
            ("p b p", "p"),
            ("p span div", "div"),
            ("ul li ul li", "ul li ul li"),
            ("table tr td p td", "table tr td"),
            ("table tr td tr", "table tr"),
            ("dl dt dd dt", "dl dt"),
            ("h2 /h3", ""),
            ("div nav /div", ""),
            ("nav /span", "nav"),
            ("span nav /span", "span nav"),
            ("div table td /div", "div table td"),
            ("p table p /p", "table"),
            ("p button p", "p button p"),
            ("body div /body", "body div"),
            ("table tr td template td tr td", "table tr td template td tr td"),
            ("table tr td template tr td p /template", "table tr td"),
        ] {
            assert_eq!(open(source), expected, "{source}");
        }
    }
}
