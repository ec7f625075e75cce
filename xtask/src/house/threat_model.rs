//! Rule for docs/threat-model.md: it has every row of the threat model once and in order, and each names files and tests that
//! exist. A row whose test was renamed or deleted is a defence that nobody proves any more.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};

/// The document.
const FILE: &str = "docs/threat-model.md";
/// Rows of the threat model.
const ROWS: usize = 47;
/// Mark between the file of a test and its name.
const OF_TEST: &str = ".rs::";

/// One row: the text below its heading.
struct ThreatRow<'a> {
    number: usize,
    text: &'a str,
}

/// Fails with every row that is missing and every name that leads nowhere.
pub(super) fn check(root: &Path) -> Result<()> {
    let path = root.join(FILE);
    let document = fs::read_to_string(&path).with_context(|| format!("cannot read {FILE}"))?;
    let rows = split_rows(&document);
    let mut faults = Vec::new();
    let numbers: Vec<usize> = rows.iter().map(|row| row.number).collect();
    if numbers != (1..=ROWS).collect::<Vec<_>>() {
        faults.push(format!(
            "{FILE}: its rows are {numbers:?}, not 1 to {ROWS} in order"
        ));
    }
    for row in &rows {
        let spans = code_spans(row.text);
        let tests = spans.iter().filter_map(|span| span.split_once(OF_TEST));
        let mut count = 0;
        for (file, name) in tests {
            count += 1;
            if let Some(fault) = find_test(root, &format!("{file}.rs"), name)? {
                faults.push(format!("{FILE}: row {}: {fault}", row.number));
            }
        }
        if count == 0 {
            faults.push(format!("{FILE}: row {} names no test", row.number));
        }
        for file in spans.iter().filter(|span| is_path(span)) {
            if !root.join(file).exists() {
                faults.push(format!("{FILE}: row {}: there is no {file}", row.number));
            }
        }
    }
    ensure!(
        faults.is_empty(),
        "{}\nName the tests that show the defence now, or write them.",
        faults.join("\n")
    );
    Ok(())
}

/// Rows of the document, by headings such as `### 7. Secrets in logs`.
fn split_rows(document: &str) -> Vec<ThreatRow<'_>> {
    let mut rows = Vec::new();
    for part in document.split("\n### ").skip(1) {
        let text = part.split("\n## ").next().unwrap_or(part);
        if let Some((number, _)) = text.split_once(". ")
            && let Ok(number) = number.parse()
        {
            rows.push(ThreatRow { number, text });
        }
    }
    rows
}

/// Texts between backticks.
fn code_spans(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// True for the path of a file or folder below the root.
fn is_path(span: &str) -> bool {
    let roots = [
        "crates/",
        "conformance/",
        "xtask/",
        "docs/",
        "packaging/",
        "fuzz/",
    ];
    !span.contains("::")
        && !span.contains(char::is_whitespace)
        && roots.iter().any(|root| span.starts_with(root))
}

/// Reason why a file has no test of this name, if it has none.
fn find_test(root: &Path, file: &str, name: &str) -> Result<Option<String>> {
    let path = root.join(file);
    if !path.is_file() {
        return Ok(Some(format!("there is no {file}")));
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {file}"))?;
    Ok((!is_test(&text, name)).then(|| format!("{file} has no test {name}")))
}

/// True where a function of this name is marked as a test, or is run on both databases.
fn is_test(text: &str, name: &str) -> bool {
    let mut lists = text.split("on_both!").skip(1);
    let is_listed = |list: &str| {
        let end = list.find([')', '}']).unwrap_or(list.len());
        list[..end].split([',', '(', '{']).any(|word| word.trim() == name)
    };
    let Some((before, _)) = text.split_once(&format!("fn {name}(")) else {
        return false;
    };
    let mut attributes = before
        .lines()
        .rev()
        .skip(usize::from(!before.ends_with('\n')))
        .take_while(|line| line.trim_start().starts_with(['#', '/']));
    lists.any(is_listed) || attributes.any(|line| line.contains("test]") || line.contains("test("))
}

#[cfg(test)]
mod tests {
    use super::{check, is_test};

    /// A document of all rows, in which one has another text.
    fn document(number: usize, text: &str) -> String {
        let rows = (1..=super::ROWS).map(|row| {
            let good = "Tests: `crates/a/tests/a.rs::one_test`";
            format!(
                "### {row}. Title\n\n{}\n\n",
                if row == number { text } else { good }
            )
        });
        format!(
            "# Threats\n\n{}## Known limits\n\n`crates/none`\n",
            rows.collect::<String>()
        )
    }

    fn fault(document: &str) -> Option<String> {
        let root = tempfile::tempdir().unwrap();
        for folder in ["crates/a/tests", "docs"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let tests = "on_both!(\n    listed,\n);\nasync fn listed(d: &str) {}\n#[test]\nfn one_test() {}\nfn helper() {}\n";
        std::fs::write(root.path().join("crates/a/tests/a.rs"), tests).unwrap();
        std::fs::write(root.path().join("docs/threat-model.md"), document).unwrap();
        check(root.path()).err().map(|error| error.to_string())
    }

    #[test]
    fn rows_whose_tests_exist_pass() {
        assert_eq!(
            fault(&document(1, "`crates/a/tests/a.rs::listed`, `crates/a`")),
            None
        );
    }

    #[test]
    fn rows_without_their_tests_are_named() {
        for (text, words) in [
            ("nothing", "row 7 names no test"),
            (
                "`crates/a/tests/a.rs::gone`",
                "row 7: crates/a/tests/a.rs has no test gone",
            ),
            ("`crates/a/tests/a.rs::helper`", "has no test helper"),
            ("`crates/b.rs::one_test`", "there is no crates/b.rs"),
            (
                "`crates/a/tests/a.rs::one_test` and `crates/a/src/b.rs`",
                "row 7: there is no crates/a/src/b.rs",
            ),
        ] {
            let fault = fault(&document(7, text)).unwrap();
            assert!(fault.contains(words), "{text}: {fault}");
        }
        let missing = document(1, "x").replacen("### 2. ", "### 3. ", 1);
        assert!(fault(&missing).unwrap().contains("its rows are [1, 3, 3, 4"));
    }

    #[test]
    fn tests_are_known_by_their_attribute_or_their_list() {
        let text = "on_both! {\n    both,\n}\nasync fn both() {}\n#[tokio::test]\n/// Says why.\nasync fn single() {}\n    #[test]\n    fn inner() {}\n\nfn plain() {}";
        for name in ["both", "single", "inner"] {
            assert!(is_test(text, name), "{name}");
        }
        assert!(!is_test(text, "plain") && !is_test(text, "bot"));
    }
}
