//! Source files of the crates that the rules hold for, and the documents.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// Members of the workspace outside `crates/` that the rules hold for as well.
const TOOLS: [&str; 2] = ["conformance", "xtask"];

/// A source file that is no test.
#[derive(Clone, Debug)]
pub(super) struct SourceFile {
    /// Path from the root of the workspace.
    pub(super) path: String,
    /// Path of its module below the crate; empty for the root of the crate.
    pub(super) module: Vec<String>,
    pub(super) text: String,
}

/// The source files of a crate.
#[derive(Clone, Debug)]
pub(super) struct SourceCrate {
    /// Name of its folder.
    pub(super) name: String,
    /// True for a crate of the product, below `crates/`.
    pub(super) is_product: bool,
    pub(super) files: Vec<SourceFile>,
}

impl SourceFile {
    /// A file from its path below `src` and its text.
    pub(super) fn new(source_folder: &str, path: &str, text: impl Into<String>) -> Self {
        let mut module: Vec<String> = path
            .trim_end_matches(".rs")
            .split('/')
            .map(str::to_owned)
            .collect();
        module.pop_if(|name| matches!(name.as_str(), "mod" | "lib" | "main"));
        Self {
            path: format!("{source_folder}/{path}"),
            module,
            text: text.into(),
        }
    }
}

/// Loads the crates below `crates/`, sorted by name, and the tools.
pub(super) fn load_crates(root: &Path) -> Result<Vec<SourceCrate>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(root.join("crates")).context("cannot read crates/")? {
        let path = entry?.path();
        if path.join("src").is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    folders.extend(TOOLS.map(|tool| root.join(tool)));
    folders.iter().map(|folder| load_crate(root, folder)).collect()
}

fn load_crate(root: &Path, folder: &Path) -> Result<SourceCrate> {
    let name = folder
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let relative = folder.strip_prefix(root)?;
    let source_folder = format!("{}/src", relative.display());
    let mut files = Vec::new();
    let mut folders = vec![folder.join("src")];
    while let Some(current) = folders.pop() {
        let entries = fs::read_dir(&current).with_context(|| format!("cannot read {}", current.display()))?;
        for entry in entries {
            let path: PathBuf = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Some(below) = path.strip_prefix(folder.join("src"))?.to_str()
                && below.ends_with(".rs")
                && !is_test(below)
            {
                let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                let text = String::from_utf8_lossy(&text).into_owned();
                files.push(SourceFile::new(&source_folder, below, text));
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(SourceCrate {
        name,
        is_product: relative.starts_with("crates"),
        files,
    })
}

/// True for the path of a file below `src` that has nothing but tests.
fn is_test(path: &str) -> bool {
    path.ends_with("tests.rs") || path.split('/').rev().skip(1).any(|folder| folder == "tests")
}

/// Sizes of the documents in the root of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Documents {
    /// Words of ARCHITECTURE.md, split at white space.
    pub(super) architecture_words: usize,
    /// Lines of README.md.
    pub(super) readme_lines: usize,
}

impl Documents {
    /// Counts the words and lines of both documents.
    pub(super) fn load(root: &Path) -> Result<Self> {
        let read =
            |name: &str| fs::read_to_string(root.join(name)).with_context(|| format!("cannot read {name}"));
        Ok(Self {
            architecture_words: read("ARCHITECTURE.md")?.split_whitespace().count(),
            readme_lines: read("README.md")?.lines().count(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Documents, SourceFile, load_crates};

    #[test]
    fn module_follows_from_the_path() {
        let module = |path: &str| SourceFile::new("crates/a/src", path, "").module.join("::");
        assert_eq!(module("lib.rs"), "");
        assert_eq!(module("jobs/mod.rs"), "jobs");
        assert_eq!(module("jobs/audit.rs"), "jobs::audit");
    }

    #[test]
    fn crates_are_loaded_without_their_tests() {
        let root = tempfile::tempdir().unwrap();
        for path in [
            "crates/b/src/lib.rs",
            "crates/a/src/lib.rs",
            "crates/a/src/jobs/audit.rs",
            "crates/a/src/jobs/audit_tests.rs",
            "crates/a/src/jobs/tests/audit.rs",
            "crates/a/src/jobs/query.sql",
            "crates/a/tests/a.rs",
            "conformance/src/main.rs",
            "xtask/src/main.rs",
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let crates = load_crates(root.path()).unwrap();
        let names: Vec<_> = crates
            .iter()
            .map(|one| (one.name.as_str(), one.is_product))
            .collect();
        assert_eq!(
            names,
            [("a", true), ("b", true), ("conformance", false), ("xtask", false)]
        );
        let files: Vec<_> = crates[0].files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(files, ["crates/a/src/jobs/audit.rs", "crates/a/src/lib.rs"]);
    }

    #[test]
    fn documents_are_counted_in_words_and_lines() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("ARCHITECTURE.md"), "# Crates\n\none  two\nthree").unwrap();
        std::fs::write(root.path().join("README.md"), "a\n\nb\n").unwrap();
        let expected = Documents {
            architecture_words: 5,
            readme_lines: 3,
        };
        assert_eq!(Documents::load(root.path()).unwrap(), expected);
    }
}
