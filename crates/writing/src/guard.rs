//! Bounds on HTML that are checked before a tree is built of it.
//!
//! A tree builder takes time that grows with the square of the depth: 200,000 nested `div` are minutes. So
//! depth is bounded first, in one pass over the tags.
//!
//! The bound is sound, not exact: an element counts as open until its end tag comes while nothing else is open
//! within it. A tree builder closes elements on more occasions than that, and on these too. Elements whose
//! content is not HTML would part the two; they are renamed before.

use super::{
    html::{Piece, is_void},
    markdown::Refused,
};

/// Most elements open at once.
pub(crate) const MAX_DEPTH: usize = 256;
/// Most nodes that the tree may have.
const MAX_NODES: usize = 500_000;

/// Open elements, and counts of formatting elements and nodes, while the tags are read.
#[derive(Default)]
pub(crate) struct Depth {
    open: Vec<String>,
    formatting: usize,
    nodes: usize,
}

/// Elements a tree builder opens anew wherever a block was closed before them (HTML 13.2.4.3).
fn is_formatting(name: &str) -> bool {
    matches!(
        name,
        "a" | "b"
            | "big"
            | "code"
            | "em"
            | "font"
            | "i"
            | "nobr"
            | "s"
            | "small"
            | "strike"
            | "strong"
            | "tt"
            | "u"
    )
}

impl Depth {
    /// Counts one piece; an error if a bound is exceeded.
    pub fn see(&mut self, piece: &Piece) -> Result<(), Refused> {
        self.nodes += 1 + self.formatting;
        match piece {
            Piece::Open { name, .. } if !is_void(name) => {
                // end tags that people leave out: the next of its kind ends it
                let ends = matches!(
                    name.as_str(),
                    "li" | "p" | "dt" | "dd" | "tr" | "td" | "th" | "option"
                );
                if !(ends && self.open.last() == Some(name)) {
                    self.formatting += usize::from(is_formatting(name));
                    self.open.push(name.clone());
                }
            }
            Piece::Close(name) if self.open.last() == Some(name) => {
                self.formatting -= usize::from(is_formatting(name));
                self.open.pop();
            }
            _ => {}
        }
        if self.open.len() > MAX_DEPTH {
            Err(Refused::TooDeep)
        } else if self.nodes > MAX_NODES {
            Err(Refused::TooManyElements)
        } else {
            Ok(())
        }
    }
}
