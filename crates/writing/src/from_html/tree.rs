//! Sanitised HTML as a tree.

use super::has_end;
use crate::html::Piece;

/// A node.
#[derive(Debug)]
pub enum Node<'a> {
    /// Text as it stands.
    Text(&'a str),
    /// An element: its start tag and what is in it.
    Element {
        name: &'a str,
        tag: &'a Piece,
        children: Vec<Node<'a>>,
    },
}

impl<'a> Node<'a> {
    /// Name of an element, nothing for text.
    pub fn name(&self) -> &'a str {
        match self {
            Self::Text(_) => "",
            Self::Element { name, .. } => name,
        }
    }

    /// Value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        match self {
            Self::Text(_) => None,
            Self::Element { tag, .. } => tag.attribute(name),
        }
    }

    /// Names of its attributes.
    pub fn attributes(&self) -> impl Iterator<Item = &'a str> {
        let attributes: &[(String, String)] = match self {
            Self::Element {
                tag: Piece::Open { attributes, .. },
                ..
            } => attributes,
            _ => &[],
        };
        attributes.iter().map(|(name, _)| name.as_str())
    }

    /// Child nodes; none of a text.
    pub fn children(&self) -> &[Node<'a>] {
        match self {
            Self::Text(_) => &[],
            Self::Element { children, .. } => children,
        }
    }

    /// Whether it is text of nothing but white space.
    pub fn is_blank(&self) -> bool {
        matches!(self, Self::Text(text) if text.trim_ascii().is_empty())
    }
}

/// The nodes at the top. Sanitised HTML closes what it opens, in order.
pub fn build(pieces: &[Piece]) -> Vec<Node<'_>> {
    let mut open: Vec<(&str, &Piece, Vec<Node<'_>>)> = Vec::new();
    let mut top = Vec::new();
    for piece in pieces {
        let node = match piece {
            Piece::Text(text) => Node::Text(text),
            Piece::Open { name, .. } if has_end(name) => {
                open.push((name, piece, Vec::new()));
                continue;
            }
            Piece::Open { name, .. } => Node::Element {
                name,
                tag: piece,
                children: Vec::new(),
            },
            Piece::Close(_) => match open.pop() {
                Some((name, tag, children)) => Node::Element { name, tag, children },
                None => continue,
            },
        };
        match open.last_mut() {
            Some((_, _, children)) => children.push(node),
            None => top.push(node),
        }
    }
    top
}
