//! One page with charts. Nothing is loaded from anywhere and no script runs; every text of the website is escaped.

use std::{collections::BTreeMap, fmt::Write as _};

use searchwright_contract::{
    audits::Audit,
    evidence::in_words,
    ids::PageId,
    issues::{Issue, Occurrence, Severity},
};

use super::{VERIFY, shown};

/// Pages shown of an issue.
const PAGES: usize = 50;

/// Colours and shapes are those of the pages of the server.
const STYLE: &str = ":root{color-scheme:light dark;--text:light-dark(#171b21,#e7eaee);--muted:light-dark(#56606b,#a4aeb9);--faint:light-dark(#e0e4e9,#2a3139);--accent:light-dark(#1456c4,#8ab4f8)}\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem;color:var(--text);background:light-dark(#f6f7f9,#0f1215)}\
h1{font-size:1.5rem;line-height:1.25;overflow-wrap:anywhere}h2{font-size:1.1rem;margin:2rem 0 .5rem}a{color:var(--accent)}\
.charts,details{background:light-dark(#fff,#171b20);border:1px solid var(--faint);border-radius:8px;padding:1rem 1.1rem}\
.charts{display:flex;flex-wrap:wrap;gap:1rem 2rem;align-items:center}.charts svg{max-width:100%;height:auto}\
.error{color:light-dark(#b3261e,#f5a9a3)}.warning{color:light-dark(#8a5200,#f2c46d)}.notice{color:var(--muted)}\
b[class]::before,span[class]::before{content:'';display:inline-block;width:.7em;height:.7em;margin-right:.4em;background:currentColor;border-radius:50%}\
.error::before{border-radius:1px!important;transform:rotate(45deg)}.warning::before{border-radius:0!important;clip-path:polygon(50% 0,100% 100%,0 100%)}\
details{margin:.6rem 0;padding:.6rem 1rem}summary{cursor:pointer}summary b{margin-right:.6rem}ul{overflow-wrap:anywhere;padding-left:1.2rem}code{font-size:.88em;color:var(--muted)}\
@media print{body{background:#fff}details{break-inside:avoid}}";

/// An issue with the first of its pages.
pub(super) struct Found {
    issue: Issue,
    /// The first occurrences by URL and page.
    first: BTreeMap<(String, PageId), Occurrence>,
    /// Number of occurrences by severity.
    severities: BTreeMap<Severity, usize>,
}

impl Found {
    pub(super) fn new(issue: Issue) -> Self {
        Self {
            issue,
            first: BTreeMap::new(),
            severities: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, occurrence: Occurrence) {
        *self.severities.entry(occurrence.severity).or_default() += 1;
        self.first
            .insert((occurrence.url.clone(), occurrence.page_id), occurrence);
        if self.first.len() > PAGES {
            self.first.pop_last();
        }
    }

    fn count(&self) -> usize {
        self.severities.values().sum()
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(shown(c)),
        }
    }
    escaped
}

const fn colour(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "#c8372d",
        Severity::Warning => "#d99a00",
        Severity::Notice => "#7a8699",
    }
}

/// The score as an arc of a circle.
fn gauge(page: &mut String, score: Option<u8>) {
    let part = f64::from(score.unwrap_or(0)) / 100.0 * 314.2;
    let colour = match score {
        Some(71..) => "#2e7d4f",
        Some(31..) => "#d99a00",
        _ => "#c8372d",
    };
    let text = score.map_or_else(|| "–".to_owned(), |score| score.to_string());
    let _ = write!(
        page,
        "<svg width=\"140\" height=\"140\" viewBox=\"0 0 140 140\" role=\"img\" aria-label=\"Health score {text} of 100\">\
         <circle cx=\"70\" cy=\"70\" r=\"50\" fill=\"none\" stroke=\"#8884\" stroke-width=\"14\"/>\
         <circle cx=\"70\" cy=\"70\" r=\"50\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"14\" stroke-dasharray=\"{part:.1} 314.2\" transform=\"rotate(-90 70 70)\"/>\
         <text x=\"70\" y=\"80\" text-anchor=\"middle\" font-size=\"30\" fill=\"currentColor\">{text}</text></svg>"
    );
}

/// Occurrences by category, one bar each, parted by severity, with the score of the category.
fn bars(page: &mut String, issues: &[Found], scores: &BTreeMap<String, u8>) {
    let mut categories: BTreeMap<&str, BTreeMap<Severity, usize>> = BTreeMap::new();
    for found in issues {
        let of = categories.entry(&found.issue.category).or_default();
        for (severity, count) in &found.severities {
            *of.entry(*severity).or_default() += count;
        }
    }
    let sum = |parts: &BTreeMap<Severity, usize>| parts.values().sum::<usize>();
    let most = categories.values().map(sum).max().unwrap_or(1).max(1);
    let height = categories.len() * 24 + 4;
    let _ = write!(
        page,
        "<svg width=\"520\" height=\"{height}\" viewBox=\"0 0 520 {height}\" role=\"img\" aria-label=\"Findings and score by category\">"
    );
    for (at, (category, parts)) in categories.iter().enumerate() {
        let (y, mut x) = (at * 24, 150.0);
        let name = category.replace('_', " ");
        let _ = write!(
            page,
            "<text x=\"142\" y=\"{}\" text-anchor=\"end\" font-size=\"13\" fill=\"currentColor\">{}</text>",
            y + 16,
            escape(&name)
        );
        for (severity, count) in parts {
            let width = *count as f64 / most as f64 * 240.0;
            let _ = write!(
                page,
                "<rect x=\"{x:.1}\" y=\"{}\" width=\"{:.1}\" height=\"16\" fill=\"{}\"><title>{count} {severity}</title></rect>",
                y + 4,
                width.max(1.0),
                colour(*severity)
            );
            x += width.max(1.0);
        }
        let score = scores.get(*category).map(|score| format!(" · {score} of 100"));
        let _ = write!(
            page,
            "<text x=\"{:.1}\" y=\"{}\" font-size=\"13\" fill=\"currentColor\">{}{}</text>",
            x + 6.0,
            y + 16,
            sum(parts),
            score.unwrap_or_default()
        );
    }
    page.push_str("</svg>");
}

fn issue(page: &mut String, found: &Found) {
    let (issue, count) = (&found.issue, found.count());
    let _ = write!(
        page,
        "<details><summary><b class=\"{0}\">{0}</b>{1} <code>{2}</code> · {3} {4}</summary><p>{5}</p><p><strong>Why it matters:</strong> {6}</p><p><strong>What to do:</strong> {10} {7} <a href=\"{8}\" rel=\"noopener noreferrer\">Source</a></p><p><strong>{VERIFY}</strong> {9}</p><ul>",
        issue.severity,
        escape(&issue.title),
        escape(&issue.check_id),
        count,
        if count == 1 { "page" } else { "pages" },
        escape(&issue.description),
        escape(&issue.why_it_matters),
        escape(&issue.recommendation),
        escape(&issue.recommendation_source),
        escape(&issue.how_to_verify),
        issue
            .site_wide
            .as_ref()
            .map_or_else(String::new, |site_wide| escape(&site_wide.note)),
    );
    for occurrence in found.first.values() {
        // A link only where a browser goes to a page by it.
        let url = escape(&occurrence.url);
        let shown = if occurrence.url.starts_with("https://") || occurrence.url.starts_with("http://") {
            format!("<a href=\"{url}\" rel=\"noopener noreferrer nofollow\">{url}</a>")
        } else {
            url
        };
        let evidence: String = in_words(&occurrence.evidence).chars().take(400).collect();
        // where not all are equally bad
        let less = (occurrence.severity != issue.severity)
            .then(|| format!("<b class=\"{0}\">{0}</b>", occurrence.severity));
        let _ = write!(
            page,
            "<li>{}{shown} <code>{}</code></li>",
            less.unwrap_or_default(),
            escape(&evidence)
        );
    }
    page.push_str("</ul>");
    if count > PAGES {
        let _ = write!(
            page,
            "<p>And {} more; the CSV export lists all of them.</p>",
            count - PAGES
        );
    }
    page.push_str("</details>");
}

pub(super) fn page(audit: &Audit, issues: &[Found]) -> String {
    let start = escape(&audit.start_url);
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta name=\"robots\" content=\"noindex\"><title>Audit of {start}</title><style>{STYLE}</style></head><body><h1>Audit of {start}</h1>"
    );
    let time = audit.finished_at.map(|at| at.to_string()).unwrap_or_default();
    let partial = if audit.score_is_partial {
        " The crawl did not cover all known pages, so the score covers only the pages that were crawled."
    } else {
        ""
    };
    let _ = write!(
        page,
        "<p>{time} · {} URLs fetched, {} without response, {} blocked by robots.txt · crawl ended: {} · ruleset {}.{partial}</p><div class=\"charts\">",
        audit.progress.fetched,
        audit.progress.failed,
        audit.progress.blocked,
        escape(audit.termination.as_deref().unwrap_or("-")),
        escape(&audit.ruleset_version),
    );
    gauge(&mut page, audit.health_score);
    page.push_str("<p>");
    if let Some(totals) = audit.totals {
        let _ = write!(
            page,
            "<span class=\"error\">{} errors</span><br><span class=\"warning\">{} warnings</span><br><span class=\"notice\">{} notices</span><br>in {} issues",
            totals.errors, totals.warnings, totals.notices, totals.issues
        );
    }
    if let Some(changes) = audit.changes {
        let (came, went) = (changes.new + changes.added, changes.removed + changes.missing);
        let _ = write!(page, "<br>{came} new, {went} resolved since the previous audit");
    }
    page.push_str("</p>");
    bars(
        &mut page,
        issues,
        &audit.category_scores.clone().unwrap_or_default(),
    );
    page.push_str("</div><h2>Issues by impact</h2>");
    if issues.is_empty() {
        page.push_str("<p>No issues found.</p>");
    }
    issues.iter().for_each(|found| issue(&mut page, found));
    page.push_str("</body></html>\n");
    page
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn no_text_is_markup() {
        assert_eq!(
            escape("<a href='x' title=\"y\">&\u{202e}</a>"),
            "&lt;a href=&#39;x&#39; title=&quot;y&quot;&gt;&amp;\u{fffd}&lt;/a&gt;"
        );
    }
}
