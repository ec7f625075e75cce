//! The names of the schema.org vocabulary, as the site's checks know them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
};

use anyhow::{Context as _, Result, ensure};

/// File of the names, from the root of the repository.
pub const FILE: &str = "crates/site/data/schema-org.txt";
/// File of the names of organisations.
pub const ORGANIZATIONS: &str = "crates/site/data/organizations.txt";
/// Types of values, which no thing has.
const DATA_TYPES: [&str; 9] = [
    "Boolean", "Date", "DateTime", "Float", "Integer", "Number", "Text", "Time", "URL",
];
const WIDTH: usize = 140;

/// Writes the names that the declarations of the npm package `schema-dts` hold. How many.
pub fn write(declarations: &Path, version: &str) -> Result<usize> {
    let source = fs::read_to_string(declarations).context("cannot read the declarations")?;
    let (types, properties) = names(&source);
    ensure!(
        types.len() > 500 && properties.len() > 1_000,
        "{} types and {} properties are too few: is this schema.d.ts?",
        types.len(),
        properties.len()
    );
    let head = format!(
        "# Types and properties of schema.org, from the declarations of the npm package schema-dts {version} (Apache-2.0).\n\
         # Written by `cargo xtask schema-org`.\n"
    );
    write_lists(FILE, head, [("types", &types), ("properties", &properties)])?;
    let businesses = below("LocalBusiness", &source);
    let others = &below("Organization", &source) - &businesses;
    ensure!(
        businesses.len() > 100 && others.contains("Corporation"),
        "businesses and organisations are not declared as they were"
    );
    let head = format!(
        "# Types of schema.org that are businesses at a place, and the other organisations, from the declarations of the npm\n\
         # package schema-dts {version} (Apache-2.0). Written by `cargo xtask schema-org`.\n"
    );
    let lists = [("businesses", &businesses), ("organizations", &others)];
    write_lists(ORGANIZATIONS, head, lists)?;
    Ok(types.len() + properties.len())
}

fn write_lists(file: &str, head: String, lists: [(&str, &BTreeSet<&str>); 2]) -> Result<()> {
    let mut out = head;
    for (title, names) in lists {
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
    fs::write(file, out)
        .with_context(|| format!("cannot write {file}; run this at the root of the repository"))
}

/// A type and all that are declared to be of it: `export type Name = NameLeaf | Other | …;`.
fn below<'s>(top: &'s str, source: &'s str) -> BTreeSet<&'s str> {
    let unions = source.lines().filter_map(|line| {
        let (name, members) = line.strip_prefix("export type ")?.split_once(" = ")?;
        Some((name, members))
    });
    let unions: BTreeMap<&str, &str> = unions.collect();
    let (mut found, mut next) = (BTreeSet::new(), vec![top]);
    while let Some(name) = next.pop() {
        // neither text nor the address of a type of others
        let is_type = name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.bytes().all(|b| b.is_ascii_alphanumeric());
        if is_type && !name.ends_with("Leaf") && found.insert(name) {
            let members = unions.get(name).into_iter();
            let members = members.flat_map(|members| members.trim_end_matches(';').split(" | "));
            next.extend(members.map(|member| member.trim_matches('"')));
        }
    }
    found
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
    use super::{below, names};

    #[test]
    fn names_are_found_where_they_are_declared() {
        let source = "interface ABase {\n    /** \"no\" */\n    \"offers\"?: X;\n}\nexport type ALeaf = ABase & {\n    \"@type\": \"Product\";\n    \"@type\": \"http://x/Y\";\n};";
        let (types, properties) = names(source);
        assert!(types.contains("Product") && types.contains("Text") && types.len() == 10);
        assert_eq!(properties.into_iter().collect::<Vec<_>>(), ["offers"]);
    }

    #[test]
    fn types_below_a_type_are_found_through_those_between() {
        let source = "export type A = ALeaf | B | \"https://schema.org/AOther\";\nexport type B = BLeaf | C | string;\nexport type D = DLeaf;\nexport type C = CLeaf;";
        let found = below("A", source);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["A", "B", "C"]);
    }
}
