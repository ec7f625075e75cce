//! HTML of a post: what is left is allowed, and stays as it is.

use searchwright_writing::{from_html::from_html, markdown::to_html, sanitise::sanitise};

use crate::{fault, policy};

/// Reads one input.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(clean) = sanitise(text, &policy()) else {
        return;
    };
    assert_eq!(fault(&clean), None, "{clean:?}");
    assert_eq!(sanitise(&clean, &policy()).as_deref(), Ok(clean.as_str()));
    if let Ok(markdown) = from_html(&clean, &policy()) {
        to_html(&markdown, &policy()).expect("what was compared can be rendered");
    }
}
