//! The names of the schema.org vocabulary, as the site's checks know them.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};

use anyhow::{Context as _, Result, ensure};

/// Where the names go, from the root of the repository.
pub const FILE: &str = "crates/site/data/schema-org.txt";
/// What values are and no thing has.
const DATA_TYPES: [&str; 9] = [
    "Boolean", "Date", "DateTime", "Float", "Integer", "Number", "Text", "Time", "URL",
];
const WIDTH: usize = 140;

/// Writes the names that the declarations of the npm package `schema-dts` hold.
pub fn write(declarations: &Path, version: &str) -> Result<usize> {
    let source = fs::read_to_string(declarations).context("cannot read the declarations")?;
    let (types, properties) = names(&source);
    ensure!(
        types.len() > 500 && properties.len() > 1_000,
        "{} types and {} properties are too few: is this schema.d.ts?",
        types.len(),
        properties.len()
    );
    let mut out = format!(
        "# Types and properties of schema.org, from the declarations of the npm package schema-dts {version} (Apache-2.0).\n\
         # Written by `cargo xtask schema-org`.\n"
    );
    for (title, names) in [("types", &types), ("properties", &properties)] {
        writeln!(out, "[{title}]")?;
        let mut line = String::new();
        for name in names {
            if line.len() + name.len() > WIDTH {
                writeln!(out, "{}", line.trim_end())?;
                line.clear();
            }
            line.push_str(name);
            line.push(' ');
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    fs::write(FILE, out)
        .with_context(|| format!("cannot write {FILE}; run this at the root of the repository"))?;
    Ok(types.len() + properties.len())
}

/// A leaf is declared by its `"@type": "Name"`, a property by `"name"?:` within four spaces.
fn names(source: &str) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let is_name = |name: &&str| name.bytes().all(|b| b.is_ascii_alphanumeric());
    let mut types: BTreeSet<&str> = DATA_TYPES.into();
    let mut properties = BTreeSet::new();
    for line in source.lines().filter_map(|line| line.strip_prefix("    \"")) {
        let (name, rest) = line.split_once('"').unwrap_or_default();
        if name == "@type" {
            let value = rest.split('"').nth(1);
            types.extend(value.filter(is_name));
        } else if rest.starts_with("?:") {
            properties.extend(Some(name).filter(is_name));
        }
    }
    (types, properties)
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn names_are_found_where_they_are_declared() {
        let source = "interface ABase {\n    /** \"no\" */\n    \"offers\"?: X;\n}\nexport type ALeaf = ABase & {\n    \"@type\": \"Product\";\n    \"@type\": \"http://x/Y\";\n};";
        let (types, properties) = names(source);
        assert!(types.contains("Product") && types.contains("Text") && types.len() == 10);
        assert_eq!(properties.into_iter().collect::<Vec<_>>(), ["offers"]);
    }
}
