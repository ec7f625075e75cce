//! The HTML that may be in sanitised output, as a browser's parser reads it: the tests' own list, and not the
//! sanitiser's.

use html5ever::{ParseOpts, QualName, local_name, ns, parse_fragment, tendril::TendrilSink};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

const ELEMENTS: &str = "a abbr b blockquote br caption cite code dd del details dfn div dl dt em figcaption \
    figure h1 h2 h3 h4 h5 h6 hr i img input ins kbd li mark ol p pre q rb rp rt rtc ruby s samp small span strong sub summary \
    sup table tbody td tfoot th thead time tr u ul var wbr";
const NAMES: &str = "href title class datetime open src alt width height type checked disabled value \
    start reversed align colspan rowspan scope id lang dir rel";

/// The first thing in it that should not be there.
pub fn fault(html: &str) -> Option<String> {
    let context = QualName::new(None, ns!(html), local_name!("div"));
    let dom = parse_fragment(RcDom::default(), ParseOpts::default(), context, vec![], false).one(html);
    let mut nodes: Vec<Handle> = dom.document.children.borrow()[0].children.borrow().clone();
    while let Some(node) = nodes.pop() {
        nodes.extend(node.children.borrow().iter().cloned());
        match &node.data {
            NodeData::Text { .. } => {}
            NodeData::Element { name, attrs, .. } => {
                if name.ns != ns!(html) || !ELEMENTS.split_whitespace().any(|e| e == &*name.local) {
                    return Some(format!("element {}", name.local));
                }
                for attribute in attrs.borrow().iter() {
                    let (key, value) = (&*attribute.name.local, &*attribute.value);
                    if !NAMES.split_whitespace().any(|n| n == key) {
                        return Some(format!("attribute {key}"));
                    }
                    if matches!(key, "href" | "src")
                        && let Some(scheme) = scheme(value)
                        && !matches!(scheme.as_str(), "http" | "https" | "mailto" | "tel")
                    {
                        return Some(format!("scheme {scheme}"));
                    }
                    if key == "id" && !value.starts_with("user-content-") {
                        return Some(format!("id {value}"));
                    }
                    if key == "type" && value != "checkbox" {
                        return Some(format!("type {value}"));
                    }
                }
            }
            other => return Some(format!("{other:?}")),
        }
    }
    None
}

/// Returns the scheme as a browser finds it: controls and spaces before it, tabs and line breaks in it do not count
/// (URL 4.4).
fn scheme(url: &str) -> Option<String> {
    let bare: String = url
        .trim_start_matches(|c| c <= ' ')
        .chars()
        .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
        .collect();
    let (scheme, _) = bare.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then(|| scheme.to_ascii_lowercase())
}
