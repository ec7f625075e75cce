//! SARIF 2.1.0 (OASIS): checks are rules, occurrences are results whose place is a URL.

use std::io::{self, Write};

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use searchwright_contract::{
    audits::Audit,
    evidence::in_words,
    issues::{Issue, Occurrence, Severity},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Layout, VERIFY};

use crate::{follow::unseen, json_text::to_json};

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Notice => "note",
    }
}

/// Returns the region in the page's source: the first line that the evidence names, else line 1.
fn region(evidence: &Value) -> Value {
    let mut lists = evidence
        .as_object()
        .into_iter()
        .flat_map(|members| members.values());
    let line = lists.find_map(|list| list.get(0)?.get("line")?.as_u64());
    json!({ "startLine": line.unwrap_or(1) })
}

/// Checks whose lines are those of robots.txt.
const OF_ROBOTS: [&str; 3] = ["robots-invalid", "robots-blocks-all", "ai-content-signal-blocks"];

/// Characters that browsers accept in URLs and that URIs must not have (RFC 3986; SARIF 2.1.0, 3.4.3).
const NO_URI: AsciiSet = CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Returns the URI of the file in which lines are counted: robots.txt for the checks about it, else the page.
fn uri(check: &str, url: &str) -> String {
    let authority = url.find("://").map_or(0, |at| at + 3);
    let path = url[authority..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| authority + at);
    let (origin, rest) = url.split_at(path);
    if OF_ROBOTS.contains(&check) {
        return format!("{origin}/robots.txt");
    }
    format!("{origin}{}", utf8_percent_encode(rest, &NO_URI))
}

/// Returns the fingerprint of an occurrence (SARIF 2.1.0, 3.27.17), the same in every run and project; ids differ in each.
fn fingerprint(check: &str, url: &str) -> String {
    let digest = Sha256::digest(format!("{check}\n{url}"));
    digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the title and the evidence as text. Braces and brackets become parentheses, because in messages they are placeholders
/// and links (SARIF 2.1.0, 3.11.5 and 3.11.6), and evidence has text of the website. The properties hold it unchanged.
fn message(title: &str, evidence: &Value) -> String {
    let text = format!("{title}. {}", in_words(evidence));
    text.replace(['[', '{'], "(").replace([']', '}'], ")")
}

fn rule(issue: &Issue) -> Value {
    json!({
        "id": issue.check_id,
        "shortDescription": { "text": issue.title },
        "fullDescription": { "text": format!("{} {}", issue.description, issue.why_it_matters) },
        "help": { "text": format!("{} {VERIFY} {}", issue.recommendation, issue.how_to_verify) },
        "helpUri": issue.recommendation_source,
        "defaultConfiguration": { "level": level(issue.severity) },
        "properties": { "category": issue.category, "impact": issue.impact },
    })
}

/// Returns the log of an audit, without its results, which are its last member.
fn log(audit: &Audit, issues: &[Issue]) -> Value {
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "searchwright",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": issues.iter().map(rule).collect::<Vec<_>>(),
            } },
            "invocations": [{
                "executionSuccessful": unseen(audit).is_none(),
                "startTimeUtc": audit.started_at,
                "endTimeUtc": audit.finished_at,
            }],
            "properties": {
                "startUrl": audit.start_url,
                "healthScore": audit.health_score,
                "rulesetVersion": audit.ruleset_version,
                "termination": audit.termination,
            },
            "results": [],
        }],
    })
}

/// End of a log after its results.
const END: &[u8] = b"]}]}";

/// Layout of the log.
pub(super) struct Log;

impl Layout for Log {
    fn begin(&self, audit: &Audit, issues: &[Issue], out: &mut dyn Write) -> io::Result<()> {
        let log = to_json(&log(audit, issues))?;
        out.write_all(log.strip_suffix(END).unwrap_or(&log))
    }

    fn begin_issue(&self, _: usize, _: &Issue, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn row(&self, at: usize, issue: &Issue, occurrence: &Occurrence) -> io::Result<Vec<u8>> {
        to_json(&json!({
            "ruleId": issue.check_id,
            "ruleIndex": at,
            "level": level(occurrence.severity),
            "message": { "text": message(&issue.title, &occurrence.evidence) },
            "locations": [{ "physicalLocation": {
                "artifactLocation": { "uri": uri(&issue.check_id, &occurrence.url) },
                "region": region(&occurrence.evidence),
            } }],
            "partialFingerprints": { "checkAndUrl/v1": fingerprint(&issue.check_id, &occurrence.url) },
            "properties": { "state": occurrence.state, "evidence": occurrence.evidence },
        }))
    }

    fn separator(&self, _: bool) -> &'static str {
        ","
    }

    fn end_issue(&self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn end(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(END)?;
        out.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests {
    use searchwright_contract::audits::Audit;
    use serde_json::{Value, json};

    use super::{super::Layout as _, Log};

    /// SARIF 2.1.0, 3.20.14.
    const ID: &str = "01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a";

    #[test]
    fn an_audit_that_saw_hardly_anything_was_no_success() {
        let ended = |status: &str, termination: &str| -> Audit {
            let audit = json!({
                "id": ID, "projectId": ID, "jobId": ID, "status": status, "trigger": "manual",
                "startUrl": "https://example.com/", "config": { "maxPages": 9, "maxDepth": 9 },
                "rulesetVersion": "1.0.0", "normalizationVersion": 1, "requestedAt": "2026-11-21T10:00:00.000Z",
                "progress": { "discovered": 9, "fetched": 9, "queued": 0, "failed": 0, "blocked": 0 },
                "termination": termination, "scoreIsPartial": false, "version": 1, "allowedActions": {},
            });
            serde_json::from_value(audit).unwrap()
        };
        for (status, termination, expected) in [
            ("completed", "complete", true),
            ("partial", "max_pages", true),
            ("partial", "blocked", false),
            ("partial", "host_unavailable", false),
        ] {
            let mut log = Vec::new();
            let audit = ended(status, termination);
            Log.begin(&audit, &[], &mut log).unwrap();
            Log.end(&mut log).unwrap();
            let log: Value = serde_json::from_slice(&log).unwrap();
            let invocation = &log["runs"][0]["invocations"][0];
            assert_eq!(invocation["executionSuccessful"], expected, "{termination}");
        }
    }

    #[test]
    fn places_are_uris() {
        let url = "https://[::1]:8080/list?filter[color]=red|blue&q=ü";
        assert_eq!(
            super::uri("title-long", url),
            "https://[::1]:8080/list?filter%5Bcolor%5D=red%7Cblue&q=%C3%BC"
        );
        for url in [
            "https://example.com",
            "https://example.com/",
            "https://example.com/a?b",
        ] {
            assert_eq!(
                super::uri("robots-invalid", url),
                "https://example.com/robots.txt"
            );
        }
    }

    #[test]
    fn what_was_seen_is_prose() {
        let evidence =
            json!({ "links": [{ "line": 1 }, null], "title": "[Fix](https://evil.example) {0}", "total": 2 });
        assert_eq!(
            super::message("Missing title tag", &evidence),
            "Missing title tag. links: line 1 · none; title: (Fix)(https://evil.example) (0); total: 2"
        );
    }
}
