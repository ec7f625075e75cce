//! Rules that one line of source text decides: first words of doc comments, names of functions and types, tuple parameters.

use std::collections::BTreeMap;

use super::source::SourceCrate;

/// Words that no doc comment begins with.
const QUESTION_WORDS: [&str; 7] = ["What", "Where", "How", "Who", "Why", "When", "Which"];

/// Function names that say nothing.
const VAGUE_NAMES: [&str; 7] = ["of", "note", "tell", "by", "give", "leave", "take_in"];

/// A line that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) path: String,
    /// Line of the file, from 1.
    pub(super) line: usize,
    /// The word or name that breaks the rule.
    pub(super) word: String,
}

/// Findings of a crate.
#[derive(Clone, Debug, Default)]
pub(super) struct TextFindings {
    /// Number of doc comments, of any number of lines each.
    pub(super) doc_comments: usize,
    pub(super) question_comments: Vec<Finding>,
    pub(super) vague_names: Vec<Finding>,
    /// Declarations by the name that they share.
    pub(super) repeated_types: BTreeMap<String, Vec<Finding>>,
    pub(super) tuple_parameters: Vec<Finding>,
    pub(super) narrow: NarrowCounts,
}

/// Counts by narrower patterns: without declarations behind `pub(in …)`, without traits, unions and aliases, and without
/// signatures of several lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NarrowCounts {
    pub(super) vague_names: usize,
    pub(super) repeated_types: usize,
    pub(super) tuple_parameters: usize,
}

/// Applies the rules to every line of a crate.
pub(super) fn find(source: &SourceCrate) -> TextFindings {
    let mut findings = TextFindings::default();
    let mut structs: BTreeMap<&str, usize> = BTreeMap::new();
    let mut types: BTreeMap<&str, Vec<Finding>> = BTreeMap::new();
    for file in &source.files {
        let mut is_in_comment = false;
        for (index, line) in file.text.lines().enumerate() {
            let finding = |word: &str| Finding {
                path: file.path.clone(),
                line: index + 1,
                word: word.to_owned(),
            };
            if let Some(comment) = doc_comment(line) {
                if !is_in_comment && !comment.trim().is_empty() {
                    findings.doc_comments += 1;
                    if let Some(word) = question_word(comment) {
                        findings.question_comments.push(finding(word));
                    }
                }
                is_in_comment = true;
                continue;
            }
            is_in_comment = false;
            let is_path_visible = line.trim_start().starts_with("pub(in ");
            if let Some(name) = function_name(line)
                && VAGUE_NAMES.contains(&name)
            {
                findings.vague_names.push(finding(name));
                findings.narrow.vague_names += usize::from(!is_path_visible);
            }
            if let Some(pattern) = tuple_after_fn(line) {
                findings.narrow.tuple_parameters += 1;
                findings.tuple_parameters.push(finding(pattern));
            } else if let Some(pattern) = tuple_parameter(line.trim_start()) {
                findings.tuple_parameters.push(finding(pattern));
            }
            if let Some(name) = declared_name(without_visibility(line.trim_start()), &["struct", "enum"]) {
                *structs.entry(name).or_default() += usize::from(!is_path_visible);
                types.entry(name).or_default().push(finding(name));
            } else if let Some(name) = declared_name(without_visibility(line), &["trait", "union", "type"]) {
                types.entry(name).or_default().push(finding(name));
            }
        }
    }
    findings.narrow.repeated_types = structs.values().filter(|count| **count > 1).count();
    findings.repeated_types = types
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| (name.to_owned(), places))
        .collect();
    findings
}

/// Text of a line of a doc comment.
fn doc_comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?.strip_prefix(['/', '!'])?;
    Some(text.strip_prefix(' ').unwrap_or(text))
}

/// The question word that a text begins with.
fn question_word(text: &str) -> Option<&str> {
    let word = leading_word(text);
    QUESTION_WORDS.contains(&word).then_some(word)
}

/// Letters, digits and underscores at the beginning of a text.
fn leading_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// A line without its `pub` or `pub(…)`.
fn without_visibility(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("pub") else {
        return line;
    };
    let rest = rest
        .strip_prefix('(')
        .and_then(|scope| scope.split_once(')'))
        .map_or(rest, |(_, rest)| rest);
    rest.strip_prefix(' ').unwrap_or(line)
}

/// Name of the function that a line declares.
fn function_name(line: &str) -> Option<&str> {
    let line = without_visibility(line.trim_start());
    let line = line.strip_prefix("const ").unwrap_or(line);
    let line = line.strip_prefix("async ").unwrap_or(line);
    declared_name(line, &["fn"])
}

/// Name after one of these keywords at the beginning of a line.
fn declared_name<'a>(line: &'a str, keywords: &[&str]) -> Option<&'a str> {
    let (keyword, rest) = line.split_once(' ')?;
    let name = leading_word(rest);
    (keywords.contains(&keyword) && !name.is_empty()).then_some(name)
}

/// Pattern of a tuple parameter in a signature that stands on one line.
fn tuple_after_fn(line: &str) -> Option<&str> {
    line.match_indices("fn ").find_map(|(start, keyword)| {
        let rest = &line[start + keyword.len()..];
        if leading_word(rest).is_empty() {
            return None;
        }
        let signature = rest.split('{').next()?;
        signature
            .match_indices('(')
            .find_map(|(start, _)| tuple_parameter(&signature[start..]))
    })
}

/// Pattern `(a, b)` that a text begins with, when the type after it is a tuple as well.
fn tuple_parameter(text: &str) -> Option<&str> {
    let (names, rest) = text.strip_prefix('(')?.split_once(')')?;
    let is_tuple = names.contains(", ")
        && names
            .split(", ")
            .all(|name| !name.is_empty() && leading_word(name) == name);
    (is_tuple && rest.starts_with(": (")).then(|| &text[..names.len() + 2])
}

#[cfg(test)]
mod tests {
    use super::{Finding, TextFindings, find};
    use crate::house::source::{SourceCrate, SourceFile};

    fn findings(text: &str) -> TextFindings {
        find(&SourceCrate {
            name: "a".to_owned(),
            is_product: true,
            files: vec![SourceFile::new("crates/a/src", "lib.rs", text)],
        })
    }

    fn words(findings: &[Finding]) -> Vec<(usize, &str)> {
        findings
            .iter()
            .map(|finding| (finding.line, finding.word.as_str()))
            .collect()
    }

    #[test]
    fn first_line_of_a_doc_comment_decides() {
        let found = findings(
            "//! What it is.\n//! How it works.\n\n/// Returns it.\n/// When it is there.\nfn a() {}\n// Why not\n    /// Who asks\n///\n/// Where\n",
        );
        assert_eq!(found.doc_comments, 3);
        assert_eq!(words(&found.question_comments), [(1, "What"), (8, "Who")]);
    }

    #[test]
    fn longer_words_are_no_question_words() {
        let found = findings("/// Whoever asks\n\n/// Whether it is\n\n/// When_it\n");
        assert_eq!(found.doc_comments, 3);
        assert!(found.question_comments.is_empty());
    }

    #[test]
    fn vague_functions_are_found_with_any_qualifier() {
        let found = findings(
            "fn of() {}\n    pub(super) const async fn note(&self) {}\npub(in crate::a) fn take_in() {}\nfn offer() {}\nlet of = by();\n",
        );
        assert_eq!(
            words(&found.vague_names),
            [(1, "of"), (2, "note"), (3, "take_in")]
        );
        assert_eq!(found.narrow.vague_names, 2);
    }

    #[test]
    fn types_with_one_name_are_found_in_modules_and_functions() {
        let found = findings(
            "pub(crate) struct New {\n}\nmod a {\n    enum New {}\n    type Error = ();\n}\ntrait Read {}\ntype Read = ();\nimpl A {\n    type Error = ();\n}\nstruct Once;\n",
        );
        assert_eq!(found.narrow.repeated_types, 1);
        let names: Vec<_> = found.repeated_types.keys().collect();
        assert_eq!(names, ["New", "Read"]);
        assert_eq!(words(&found.repeated_types["New"]), [(1, "New"), (4, "New")]);
    }

    #[test]
    fn tuple_parameters_are_found_in_short_and_long_signatures() {
        // the colon is put in later, so that these lines break no rule themselves
        let text = "fn a(x: u8, (b, c)@ (u8, u8)) {}\nfn d(\n    (e, f)@ (Uuid, Uuid),\n) {}\n\
                    fn g(pair: (u8, u8)) { let (h, i)@ (u8, u8) = pair; }\n    let (j, k)@ (u8, u8) = pair;\n";
        let found = findings(&text.replace('@', ":"));
        assert_eq!(words(&found.tuple_parameters), [(1, "(b, c)"), (3, "(e, f)")]);
        assert_eq!(found.narrow.tuple_parameters, 1);
    }
}
