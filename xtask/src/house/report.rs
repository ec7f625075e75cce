//! Table of the counts, and the crates over their limits with every place and the way out.

use std::io::Write;

use anyhow::{Result, ensure};

use super::{
    limits::{
        self, CrateLimits, MAX_ARCHITECTURE_WORDS, MAX_README_LINES, MAX_RING_FILES, QUESTION_COMMENT_PERCENT,
    },
    rings::{self, RingFile},
    source::{Documents, SourceCrate},
    text_rules::{self, Finding, TextFindings},
};

/// Places of one rule and crate that are shown.
const MAX_SHOWN: usize = 40;

/// Everything found in a crate.
struct CrateFindings {
    name: String,
    is_product: bool,
    text: TextFindings,
    rings: Vec<Vec<RingFile>>,
}

/// A count that is compared with its limit.
struct Count<'a> {
    /// Crate or document.
    subject: &'a str,
    /// Rule in the plural, such as "vague names".
    rule: &'static str,
    /// Name of the limit in `limits.rs`.
    limit_name: &'static str,
    count: usize,
    limit: usize,
    /// Count that is allowed without a limit.
    goal: usize,
    places: Vec<String>,
    /// Advice that repairs a place.
    advice: &'static str,
}

/// Writes the table to `output`; fails with every place of a rule that is over its limit.
pub(super) fn check(crates: &[SourceCrate], documents: &Documents, output: &mut impl Write) -> Result<()> {
    let found: Vec<CrateFindings> = crates.iter().map(CrateFindings::find).collect();
    writeln!(output, "{}{}", table(&found), summary(&found, documents))?;
    let mut counts: Vec<Count<'_>> = found
        .iter()
        .flat_map(|one| one.counts(&limits::find(&one.name)))
        .collect();
    counts.extend(document_counts(documents));
    for count in &counts {
        if let Some(hint) = count.hint() {
            eprintln!("{hint}");
        }
    }
    let faults: Vec<String> = counts.iter().filter_map(Count::fault).collect();
    ensure!(
        faults.is_empty(),
        "{}\nLimits are in xtask/src/house/limits.rs. They move along with code that moves to another crate, and otherwise only go \
         down.",
        faults.join("\n")
    );
    Ok(())
}

/// Describes every ring of more than `over` files.
pub(super) fn list_rings(crates: &[SourceCrate], over: usize) -> String {
    let mut text = String::new();
    for source in crates {
        for ring in rings::find(source) {
            if ring.len() > over {
                text.push_str(&format!("{}: ring of {} files\n", source.name, ring.len()));
                text.push_str(&(ring_lines(&ring).join("\n") + "\n"));
            }
        }
    }
    text
}

impl CrateFindings {
    fn find(source: &SourceCrate) -> Self {
        Self {
            name: source.name.clone(),
            is_product: source.is_product,
            text: text_rules::find(source),
            rings: rings::find(source),
        }
    }

    /// Rings of more than [`MAX_RING_FILES`] files.
    fn large_rings(&self) -> impl Iterator<Item = &Vec<RingFile>> {
        self.rings.iter().filter(|ring| ring.len() > MAX_RING_FILES)
    }

    fn counts<'a>(&'a self, limits: &CrateLimits) -> [Count<'a>; 5] {
        let text = &self.text;
        let places = |findings: &[Finding]| findings.iter().map(place).collect();
        let repeated = text.repeated_types.values().flatten();
        [
            Count {
                subject: &self.name,
                rule: "doc comments that begin with a question word",
                limit_name: "question_comments",
                count: text.question_comments.len(),
                limit: limits.question_comments,
                goal: question_comment_goal(text.doc_comments),
                places: places(&text.question_comments),
                advice: "begin with a noun or with a verb in the third person: \"Returns …\", \"A page that …\"",
            },
            Count {
                subject: &self.name,
                rule: "vague function names",
                limit_name: "vague_names",
                count: text.vague_names.len(),
                limit: limits.vague_names,
                goal: 0,
                places: places(&text.vague_names),
                advice: "name the function by a verb and its object, a constructor new, from_… or parse, a look-up find or get, \
                         and a query load",
            },
            Count {
                subject: &self.name,
                rule: "names that several types have",
                limit_name: "repeated_types",
                count: text.repeated_types.len(),
                limit: limits.repeated_types,
                goal: 0,
                places: repeated.map(place).collect(),
                advice: "give each type a name that is unique in the crate: RobotsGate, not Gate",
            },
            Count {
                subject: &self.name,
                rule: "tuple parameters",
                limit_name: "tuple_parameters",
                count: text.tuple_parameters.len(),
                limit: limits.tuple_parameters,
                goal: 0,
                places: places(&text.tuple_parameters),
                advice: "pass the values one by one, or as a struct if they belong together",
            },
            Count {
                subject: &self.name,
                rule: "files in large rings",
                limit_name: "ring_files",
                count: self.large_rings().map(Vec::len).sum(),
                limit: limits.ring_files,
                goal: 0,
                places: self.large_rings().flat_map(|ring| ring_lines(ring)).collect(),
                advice: "move what both sides need into a module below them; `cargo xtask house --rings` shows the names on each edge",
            },
        ]
    }
}

/// Most doc comments of so many whose share is lower than [`QUESTION_COMMENT_PERCENT`].
fn question_comment_goal(doc_comments: usize) -> usize {
    (doc_comments * QUESTION_COMMENT_PERCENT).saturating_sub(1) / 100
}

fn document_counts(documents: &Documents) -> [Count<'static>; 2] {
    [
        Count {
            subject: "ARCHITECTURE.md",
            rule: "words",
            limit_name: "MAX_ARCHITECTURE_WORDS",
            count: documents.architecture_words,
            limit: MAX_ARCHITECTURE_WORDS,
            goal: 0,
            places: Vec::new(),
            advice: "keep the map here and move details to the heads of modules and to docs/design",
        },
        Count {
            subject: "README.md",
            rule: "lines",
            limit_name: "MAX_README_LINES",
            count: documents.readme_lines,
            limit: MAX_README_LINES,
            goal: 0,
            places: Vec::new(),
            advice: "keep the first session here and move details to docs",
        },
    ]
}

impl Count<'_> {
    /// Description of the places and of the way out, if the count is over the limit.
    fn fault(&self) -> Option<String> {
        let Self {
            subject,
            rule,
            count,
            advice,
            ..
        } = self;
        let limit = self.limit.max(self.goal);
        if *count <= limit {
            return None;
        }
        let mut lines: Vec<String> = self.places.iter().take(MAX_SHOWN).cloned().collect();
        if self.places.len() > MAX_SHOWN {
            lines.push(format!("… and {} more", self.places.len() - MAX_SHOWN));
        }
        lines.push(format!(
            "{subject}: {count} {rule}, at most {limit} are allowed. {advice}"
        ));
        Some(lines.join("\n"))
    }

    /// Advice to lower a limit that is no longer needed in full.
    fn hint(&self) -> Option<String> {
        let needed = if self.count <= self.goal { 0 } else { self.count };
        (needed < self.limit).then(|| {
            format!(
                "{}: {} can go down from {} to {needed} in xtask/src/house/limits.rs",
                self.subject, self.limit_name, self.limit
            )
        })
    }
}

/// File, line and word.
fn place(finding: &Finding) -> String {
    format!("{}:{}: {}", finding.path, finding.line, finding.word)
}

/// One line for each edge of a ring.
fn ring_lines(ring: &[RingFile]) -> Vec<String> {
    let mut lines = Vec::new();
    for file in ring {
        for (module, dependency) in &file.uses {
            let names: Vec<&str> = dependency.names.iter().map(String::as_str).collect();
            let names = if names.is_empty() {
                String::new()
            } else {
                format!(" {{{}}}", names.join(", "))
            };
            lines.push(format!(
                "{}:{}: {} -> {module}{names}",
                file.path, dependency.line, file.module
            ));
        }
    }
    lines
}

fn table(found: &[CrateFindings]) -> String {
    let mut table = format!(
        "{:<14}{:>6}{:>17}{:>7}{:>10}{:>8}  rings\n",
        "crate", "docs", "question words", "vague", "repeated", "tuples"
    );
    let mut line = |name: &str, crates: &[&CrateFindings], rings: &str| {
        let sum =
            |count: fn(&TextFindings) -> usize| -> usize { crates.iter().map(|one| count(&one.text)).sum() };
        let docs = sum(|text| text.doc_comments);
        let questions = sum(|text| text.question_comments.len());
        let row = format!(
            "{name:<14}{docs:>6}{questions:>8} ({:>4.1} %){:>7}{:>10}{:>8}  {rings}",
            percent(questions, docs),
            sum(|text| text.vague_names.len()),
            sum(|text| text.repeated_types.len()),
            sum(|text| text.tuple_parameters.len()),
        );
        table.push_str(row.trim_end());
        table.push('\n');
    };
    for one in found {
        let sizes: Vec<String> = one.rings.iter().map(|ring| ring.len().to_string()).collect();
        line(&one.name, &[one], &sizes.join(" "));
    }
    line("all", &found.iter().collect::<Vec<_>>(), "");
    table
}

/// Totals of the product's crates, by the narrow patterns.
fn summary(found: &[CrateFindings], documents: &Documents) -> String {
    let product = || found.iter().filter(|one| one.is_product).map(|one| &one.text);
    let docs = product().map(|text| text.doc_comments).sum();
    let questions = product().map(|text| text.question_comments.len()).sum();
    format!(
        "product: question-word comments {:.1} %, vague names {}, repeated types {}, tuple parameters {}, ARCHITECTURE {} words, \
         README {} lines",
        percent(questions, docs),
        product().map(|text| text.narrow.vague_names).sum::<usize>(),
        product().map(|text| text.narrow.repeated_types).sum::<usize>(),
        product().map(|text| text.narrow.tuple_parameters).sum::<usize>(),
        documents.architecture_words,
        documents.readme_lines
    )
}

fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    100.0 * part as f64 / whole as f64
}

#[cfg(test)]
mod tests {
    use super::{Count, CrateFindings, question_comment_goal, summary, table};
    use crate::house::{
        limits::{self, CrateLimits},
        source::{Documents, SourceCrate, SourceFile},
    };

    fn found(files: &[(&str, &str)]) -> CrateFindings {
        CrateFindings::find(&SourceCrate {
            name: "no such crate".to_owned(),
            is_product: true,
            files: files
                .iter()
                .map(|(path, text)| SourceFile::new("crates/a/src", path, *text))
                .collect(),
        })
    }

    fn faults(found: &CrateFindings, limits: &CrateLimits) -> Vec<String> {
        found.counts(limits).iter().filter_map(Count::fault).collect()
    }

    #[test]
    fn faults_name_the_line_and_the_way_out() {
        // the colon is put in later, so that this line breaks no rule itself
        let text = "/// Returns it.\nfn of(\n    (a, b)@ (u8, u8),\n) {}\n".replace('@', ":");
        let found = found(&[("lib.rs", &text)]);
        let faults = faults(&found, &limits::find("no such crate"));
        assert_eq!(faults.len(), 2);
        assert!(
            faults[0]
                .starts_with("crates/a/src/lib.rs:2: of\nno such crate: 1 vague function names, at most 0")
        );
        assert!(
            faults[1].starts_with("crates/a/src/lib.rs:3: (a, b)\n") && faults[1].contains("as a struct")
        );
    }

    #[test]
    fn limit_allows_its_count_and_asks_to_be_lowered_below() {
        let found = found(&[("lib.rs", "fn of() {}\nfn by() {}\n")]);
        let limits = |vague_names| CrateLimits {
            vague_names,
            ..limits::find("no such crate")
        };
        assert_eq!(faults(&found, &limits(1)).len(), 1);
        assert!(faults(&found, &limits(2)).is_empty());
        let hints = |limits: &CrateLimits| -> Vec<String> {
            found.counts(limits).iter().filter_map(Count::hint).collect()
        };
        assert!(hints(&limits(2)).is_empty());
        assert_eq!(
            hints(&limits(3)),
            ["no such crate: vague_names can go down from 3 to 2 in xtask/src/house/limits.rs"]
        );
    }

    #[test]
    fn share_of_question_comments_stays_below_the_goal() {
        assert_eq!(question_comment_goal(0), 0);
        assert_eq!(question_comment_goal(25), 0);
        assert_eq!(question_comment_goal(26), 1);
        assert_eq!(question_comment_goal(100), 3);
        let text = format!("/// What\n\n{}", "/// Returns\n\n".repeat(25));
        let goals = limits::find("no such crate");
        assert!(faults(&found(&[("lib.rs", &text)]), &goals).is_empty());
        let text = text.replacen("Returns", "How", 1);
        assert_eq!(faults(&found(&[("lib.rs", &text)]), &goals).len(), 1);
    }

    #[test]
    fn ring_of_five_files_is_a_fault_and_one_of_four_is_none() {
        let ring = |files: &[&str]| {
            let texts: Vec<(String, String)> = files
                .iter()
                .zip(files.iter().cycle().skip(1))
                .map(|(file, next)| (format!("{file}.rs"), format!("use crate::{next}::N;")))
                .collect();
            let texts: Vec<(&str, &str)> = texts
                .iter()
                .map(|(path, text)| (path.as_str(), text.as_str()))
                .collect();
            faults(&found(&texts), &limits::find("no such crate"))
        };
        assert!(ring(&["a", "b", "c", "d"]).is_empty());
        let faults = ring(&["a", "b", "c", "d", "e"]);
        assert!(
            faults[0].starts_with("crates/a/src/a.rs:1: a -> b {N}\n"),
            "{}",
            faults[0]
        );
        assert!(faults[0].contains("no such crate: 5 files in large rings"));
    }

    #[test]
    fn table_and_summary_have_the_counts() {
        let found = [found(&[
            ("a.rs", "/// What\nstruct New;\nfn of() {}\nuse crate::b;"),
            ("b.rs", "/// Returns\nenum New {}\nuse crate::a;"),
        ])];
        let table = table(&found);
        let rows: Vec<Vec<&str>> = table
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(rows[1][3..], ["2", "1", "(50.0", "%)", "1", "1", "0", "2"]);
        assert_eq!(rows[2], ["all", "2", "1", "(50.0", "%)", "1", "1", "0"]);
        let documents = Documents {
            architecture_words: 900,
            readme_lines: 170,
        };
        assert_eq!(
            summary(&found, &documents),
            "product: question-word comments 50.0 %, vague names 1, repeated types 1, tuple parameters 0, ARCHITECTURE 900 words, \
             README 170 lines"
        );
    }
}
