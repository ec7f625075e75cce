//! Names defined by schema.org.

use std::sync::LazyLock;

use hashbrown::HashSet;

const NAMES: &str = include_str!("../data/schema-org.txt");

/// Types, and properties.
static KNOWN: LazyLock<[HashSet<&'static str>; 2]> = LazyLock::new(|| {
    let (types, properties) = NAMES.split_once("[properties]").unwrap_or_default();
    let names = |part: &'static str| {
        let lines = part.lines().filter(|line| !line.starts_with(['#', '[']));
        lines.flat_map(str::split_ascii_whitespace).collect()
    };
    [names(types), names(properties)]
});

/// Whether a name is a type.
pub(crate) fn is_type(name: &str) -> bool {
    KNOWN[0].contains(name)
}

/// Whether a name is a property, also with `-input` or `-output` for actions.
pub(crate) fn is_property(name: &str) -> bool {
    let plain = name
        .strip_suffix("-input")
        .or_else(|| name.strip_suffix("-output"))
        .unwrap_or(name);
    KNOWN[1].contains(plain)
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, is_property};

    #[test]
    fn the_vocabulary_is_there() {
        let [types, properties] = &*KNOWN;
        assert!(types.len() > 900 && properties.len() > 1_500);
        for name in [
            "Product",
            "FAQPage",
            "SpeakableSpecification",
            "3DModel",
            "Text",
            "EntryPoint",
        ] {
            assert!(types.contains(name), "{name}");
        }
        for name in ["headline", "query", "acceptedAnswer", "sameAs"] {
            assert!(properties.contains(name) && !types.contains(name), "{name}");
        }
        assert!(is_property("query-input") && !is_property("Query"));
    }
}
