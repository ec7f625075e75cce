//! Declarations of a `style` attribute.

/// Values by which a size is left to the content of the element.
const OPEN: [&str; 10] = [
    "auto",
    "initial",
    "unset",
    "inherit",
    "revert",
    "revert-layer",
    "min-content",
    "max-content",
    "fit-content",
    "",
];

/// Returns the value of a property, as written; the last declaration counts. Strings and functions with a semicolon do not
/// occur in the properties that are looked up.
pub(crate) fn declared<'s>(style: &'s str, name: &str) -> Option<&'s str> {
    let mut values = style.split(';').filter_map(|declaration| {
        let (property, value) = declaration.split_once(':')?;
        let value = value.split('!').next().unwrap_or_default().trim();
        property.trim().eq_ignore_ascii_case(name).then_some(value)
    });
    values.next_back()
}

fn is(style: &str, name: &str, value: &str) -> bool {
    declared(style, name).is_some_and(|written| written.eq_ignore_ascii_case(value))
}

/// Whether an element is not shown.
pub(crate) fn hides(style: &str) -> bool {
    is(style, "display", "none") || is(style, "visibility", "hidden")
}

/// Whether an element has no place in the flow of the page, so that its size moves nothing.
pub(crate) fn is_out_of_flow(style: &str) -> bool {
    ["absolute", "fixed"]
        .iter()
        .any(|value| is(style, "position", value))
}

/// Whether one of these properties, which mean the same, has a value that does not depend on the content.
pub(crate) fn sets_size(style: &str, names: [&str; 2]) -> bool {
    let sets = |value: &str| !OPEN.iter().any(|open| value.eq_ignore_ascii_case(open));
    names.iter().any(|name| declared(style, name).is_some_and(sets))
}

#[cfg(test)]
mod tests {
    use super::{declared, hides, sets_size};

    #[test]
    fn the_last_declaration_counts() {
        let style = "color:red; WIDTH : 10px;width: 20px !important;height:";
        assert_eq!(declared(style, "width"), Some("20px"));
        assert!(sets_size(style, ["width", "inline-size"]) && !sets_size(style, ["height", "block-size"]));
        assert!(hides("a:b;Display: NONE") && !hides("display:block") && !hides("--display:none"));
        assert!(!sets_size("max-width:100%;min-height:3em", ["width", "height"]));
    }
}
