//! Packages that must never be in `Cargo.lock`, found without any tool: the part of `deny.toml` that decides
//! what the program links, checked in every test run because cargo-deny is not on every machine.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

/// TLS and cryptography that would bring a C build or the system's library: rustls with ring only.
const BANNED: [&str; 6] = [
    "openssl",
    "openssl-sys",
    "native-tls",
    "hyper-tls",
    "aws-lc-rs",
    "aws-lc-sys",
];

/// Crates whose second copy is a fault: an old bundled SQLite beside the new one, types of the HTTP
/// stack that do not fit each other.
const SINGLE: [&str; 10] = [
    "axum",
    "http",
    "hyper",
    "libsqlite3-sys",
    "reqwest",
    "rusqlite",
    "rustls",
    "schemars",
    "tokio",
    "tokio-postgres",
];

/// Reads the text of a `Cargo.lock` and names every banned or doubled package.
pub fn check(lock: &str) -> Result<()> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut name = None;
    for line in lock.lines() {
        if let Some(value) = quoted(line, "name = ") {
            name = Some(value);
        } else if let (Some(value), Some(name)) = (quoted(line, "version = "), name.take()) {
            versions.entry(name).or_default().push(value);
        }
    }
    if versions.is_empty() {
        bail!("Cargo.lock names no package");
    }
    let banned = BANNED
        .iter()
        .filter(|name| versions.contains_key(*name))
        .map(|name| format!("{name} is banned"));
    let doubled = SINGLE.iter().filter_map(|name| match versions.get(name) {
        Some(found) if found.len() > 1 => Some(format!(
            "{name} is there in {} versions: {}",
            found.len(),
            found.join(", ")
        )),
        _ => None,
    });
    let faults: Vec<String> = banned.chain(doubled).collect();
    if faults.is_empty() {
        Ok(())
    } else {
        bail!("Cargo.lock: {}", faults.join("; "))
    }
}

fn quoted<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?.strip_prefix('"')?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::check;

    const GOOD: &str = "version = 4\n\n[[package]]\nname = \"axum\"\nversion = \"0.8.9\"\ndependencies = [\n \"openssl-probe\",\n]\n\n\
                        [[package]]\nname = \"openssl-probe\"\nversion = \"0.2.0\"\n";

    #[test]
    fn a_clean_file_passes() {
        check(GOOD).unwrap();
    }

    #[test]
    fn banned_and_doubled_packages_are_named() {
        let bad = format!(
            "{GOOD}\n[[package]]\nname = \"native-tls\"\nversion = \"0.2.1\"\n\n[[package]]\nname = \"axum\"\nversion = \"0.7.0\"\n"
        );
        let error = check(&bad).unwrap_err().to_string();
        assert!(
            error.contains("native-tls is banned")
                && error.contains("axum is there in 2 versions: 0.8.9, 0.7.0"),
            "{error}"
        );
    }

    #[test]
    fn an_empty_file_is_no_success() {
        assert!(check("").is_err());
    }
}
