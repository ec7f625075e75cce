//! The catalogue as a document: `docs/checks.md`.

use std::fmt::Write as _;

use super::{Category, Check, RULESET_VERSION, RecheckMode, Severity, Thresholds, registry};

impl Category {
    /// Returns the title of the category.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Crawlability => "Crawlability",
            Self::Indexability => "Indexability",
            Self::Links => "Links",
            Self::Redirects => "Redirects",
            Self::Content => "Content and duplicates",
            Self::Titles => "Titles and descriptions",
            Self::Headings => "Headings",
            Self::Images => "Images",
            Self::International => "International",
            Self::StructuredData => "Structured data",
            Self::Performance => "Performance",
            Self::Security => "Security",
            Self::Mobile => "Mobile",
            Self::Social => "Social cards",
            Self::Sitemaps => "Sitemaps and robots.txt",
            Self::Ai => "AI readiness",
        }
    }
}

impl RecheckMode {
    /// Returns the sentence about the verification of a fix.
    pub const fn verification(self) -> &'static str {
        match self {
            Self::Page => "A recheck fetches the page again.",
            Self::Targets => "A recheck fetches the page again, and the URLs named in the evidence.",
            Self::Snapshot => {
                "A recheck fetches the page again and compares it with the other pages as of the last audit."
            }
            Self::Site => "A recheck fetches robots.txt, the sitemaps and the home page again.",
            Self::Audit => "Only another audit can verify the fix.",
        }
    }
}

const fn severity(check: &Check) -> &'static str {
    match (check.severity, check.scored) {
        (Severity::Error, _) => "error",
        (Severity::Warning, true) => "warning",
        (Severity::Warning, false) => "warning, not scored",
        (Severity::Notice, _) => "notice",
    }
}

/// Escapes the names of HTML elements, so that Markdown does not render them.
/// Puts tags and other code of a text between backticks, so that readers see it and nothing takes it for markup.
fn mark_code(text: &str) -> String {
    const CODE: [[&str; 2]; 3] = [["<", ">"], ["{{", "}}"], ["[object Object", "]"]];
    let mut marked = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while !rest.is_empty() {
        let code = CODE
            .iter()
            .filter(|[start, _]| rest.starts_with(start))
            .find_map(|[_, end]| rest.get(..rest.find(end)? + end.len()));
        if let Some(code) = code {
            marked.push('`');
            marked.push_str(code);
            marked.push('`');
            rest = rest.get(code.len()..).unwrap_or_default();
        } else {
            let next = rest.chars().next().map_or(0, char::len_utf8);
            let (letter, after) = rest.split_at(next);
            marked.push_str(letter);
            rest = after;
        }
    }
    marked
}

/// Section about the order of issues; see `score::impact`.
const ORDER: &str = "
## Order of issues

Issues are listed by `impact`, a number from 0 to 100, in the order in which a professional would mend them: what keeps pages out of search or breaks them for visitors comes first, and a notice never stands above an error or a warning.

| Impact | Severity | Consequence |
|---:|---|---|
| 80–100 | error, warning | keeps pages out of search |
| 60–80 | error, warning | breaks something for visitors |
| 40–60 | error, warning | weakens pages in results |
| 20–40 | error, warning | advice |
| 15–20 | notice | keeps pages out of search |
| 10–15 | notice | breaks something for visitors |
| 5–10 | notice | weakens pages in results |
| 0–5 | notice | advice |

Within its band an issue stands at w · d(s), at least 0.02 of the height: w is 1 for errors and notices and 0.3 for warnings; s is the share of the site's internal PageRank that the affected pages have (a URL without one, such as an error, counts as 0.0005, and a problem of the site as a whole as 1); d(s) = 1 + log10(1.1 · s / (s + 0.1)) / 4. So ten times as many pages add a quarter of the band, and from a tenth of the site on more pages add next to nothing: then it is the template, which is one cause and is mended once. `siteWide` of an issue says so where at least 90 % of the pages have the problem.
";

/// Returns the catalogue in Markdown.
pub fn markdown() -> String {
    let of = |severity| {
        registry()
            .iter()
            .filter(|check| check.severity == severity)
            .count()
    };
    let mut page = format!(
        "# Checks\n\nRuleset {RULESET_VERSION}: {} checks, of which {} are errors, {} warnings and {} notices. Every page starts with a score of 100: each error \
         halves it, each warning reduces it by 5 %, and notices do not count. The operator can change severities and [thresholds](#thresholds) \
         for a project with `searchwright admin checks set`.\n\nGenerated from the registry in `crates/site/src/checks`; do not edit.\n",
        registry().len(),
        of(Severity::Error),
        of(Severity::Warning),
        of(Severity::Notice),
    );
    for category in Category::ALL {
        let _ = write!(page, "\n## {}\n", category.title());
        for check in registry().iter().filter(|check| check.category == category) {
            let _ = write!(
                page,
                "\n### {}\n\n`{}` · {} · {}\n\n{}\n\n**Why it matters:** {}\n\n**What to do:** {}\n\n**How to verify:** {} **Source:** <{}>\n",
                check.title,
                check.id,
                severity(check),
                check.consequence().phrase(),
                mark_code(check.description),
                mark_code(check.why_it_matters),
                mark_code(check.recommendation),
                check.recheck_mode().verification(),
                check.source,
            );
        }
    }
    page + ORDER + &thresholds()
}

/// Returns the table of thresholds.
fn thresholds() -> String {
    let mut table = "\n## Thresholds\n\nThe numbers in the conditions of the checks. `searchwright admin checks set --project ID NAME=VALUE` changes one for a project, from its next audit on; `admin checks reset` restores the default.\n\n\
                     | Threshold | Default | Lowest | Highest | Unit | Check and meaning |\n|---|---:|---:|---:|---|---|\n"
        .to_owned();
    for threshold in Thresholds::ALL {
        let _ = writeln!(
            table,
            "| `{}` | {} | {} | {} | {} | {} |",
            threshold.name(),
            threshold.default,
            threshold.least,
            threshold.most,
            threshold.unit,
            threshold.about,
        );
    }
    table
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_is_committed() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/checks.md");
        let page = super::markdown();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &page).unwrap();
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            page == committed,
            "docs/checks.md is not what the registry says: run the tests once with UPDATE_DOCS=1"
        );
    }
}
