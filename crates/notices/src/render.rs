//! Notices in plain words, each with the address of the page that shows more.

use searchwright_autopilot::slots::local_time;
use searchwright_contract::issues::Severity;
use uuid::Uuid;

use crate::{
    facts::NoticeFacts,
    kinds::NoticeKind,
    wording::{count, for_chat, one_line, sentence},
};

/// Characters of a text of others in a message.
const MAX_TEXT: usize = 120;
/// Characters of a reason.
const MAX_DETAIL: usize = 400;
/// Characters of a subject.
const MAX_SUBJECT: usize = 140;
/// Issues of an audit that are named.
const MAX_NAMED: usize = 10;
/// Notices of a message that are told in full.
const MAX_SECTIONS: usize = 15;

/// Project of a message.
#[derive(Clone, Debug)]
pub struct ProjectOfMessage {
    /// Name, which people chose.
    pub name: String,
    /// Website.
    pub domain: String,
    /// Address of its pages, `https://host/projects/ID`.
    pub base: String,
    /// Time zone by its name.
    pub zone: String,
}

impl ProjectOfMessage {
    fn label(&self) -> String {
        one_line(&self.name, 60)
    }
}

/// Notice in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Headline, in one line.
    pub headline: String,
    /// More of it.
    pub lines: Vec<String>,
    /// Address of the page that shows it.
    pub link: String,
}

fn titled(text: &str, title: &str) -> String {
    match one_line(title, MAX_TEXT) {
        title if title.is_empty() => format!("{text}, which has no title yet"),
        title => format!("{text}: {title}"),
    }
}

fn posts(facts: &NoticeFacts) -> Vec<String> {
    let named = facts
        .posts
        .iter()
        .map(|post| match one_line(&post.title, MAX_TEXT) {
            title if title.is_empty() => "- a post without a title".to_owned(),
            title => format!("- {title}"),
        });
    let mut lines: Vec<String> = named.collect();
    let more = facts.post_count.saturating_sub(facts.posts.len() as u64);
    if more > 0 {
        lines.push(format!("and {}", count(more, "more", "more")));
    }
    lines
}

fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "Error",
        Severity::Warning => "Warning",
        Severity::Notice => "Notice",
    }
}

fn found(facts: &NoticeFacts) -> (String, Vec<String>) {
    let back = facts.issues.iter().filter(|issue| issue.is_back).count() as u64;
    let new = facts.issues.len() as u64 - back;
    let headline = match (new, back) {
        (new, 0) => format!("The audit found {}", count(new, "new issue", "new issues")),
        (0, back) => format!("{} came back", count(back, "issue", "issues")),
        (new, back) => format!(
            "The audit found {}, and {} came back",
            count(new, "new issue", "new issues"),
            count(back, "other", "others")
        ),
    };
    let by = |severity| {
        let of = facts
            .issues
            .iter()
            .filter(|issue| issue.severity == Some(severity));
        of.count() as u64
    };
    let counts: Vec<String> = [
        (by(Severity::Error), "error", "errors"),
        (by(Severity::Warning), "warning", "warnings"),
        (by(Severity::Notice), "notice", "notices"),
    ]
    .into_iter()
    .filter(|(number, ..)| *number > 0)
    .map(|(number, one, many)| count(number, one, many))
    .collect();
    let mut lines = Vec::new();
    if !counts.is_empty() {
        lines.push(format!("By severity: {}.", counts.join(", ")));
    }
    let mut issues: Vec<_> = facts
        .issues
        .iter()
        .filter(|issue| !issue.title.is_empty())
        .collect();
    issues.sort_by_key(|issue| match issue.severity {
        Some(Severity::Error) => 0,
        Some(Severity::Warning) => 1,
        _ => 2,
    });
    for issue in issues.iter().take(MAX_NAMED) {
        let severity = issue.severity.map_or("", severity_name);
        lines.push(format!(
            "- {severity}: {} ({}{})",
            one_line(&issue.title, MAX_TEXT),
            count(issue.pages, "page", "pages"),
            if issue.is_back { ", came back" } else { "" }
        ));
    }
    if issues.len() > MAX_NAMED {
        lines.push(format!("and {} more", issues.len() - MAX_NAMED));
    }
    if let Some(health) = facts.audit.and_then(|audit| audit.health) {
        let before = facts.audit.and_then(|audit| audit.health_before);
        lines.push(match before {
            Some(before) => format!("Health: {health} of 100, {before} in the audit before."),
            None => format!("Health: {health} of 100."),
        });
    }
    (headline, lines)
}

/// Returns a notice in words; `subject` is the record that its page shows.
pub fn section(kind: NoticeKind, subject: Uuid, facts: &NoticeFacts, project: &ProjectOfMessage) -> Section {
    let page = |rest: &str| format!("{}{rest}", project.base);
    let (headline, lines, link) = match kind {
        NoticeKind::AuditFound => {
            let (headline, lines) = found(facts);
            (headline, lines, page(&format!("/audits/{subject}")))
        }
        NoticeKind::PublicationFailed => {
            let mut lines: Vec<String> = sentence(&facts.detail, MAX_DETAIL).into_iter().collect();
            if facts.post_count > 1 {
                lines.extend(posts(facts));
                let headline = format!(
                    "Publishing failed for {}",
                    count(facts.post_count, "post", "posts")
                );
                (headline, lines, page("/posts?status=failed"))
            } else {
                let what = if facts.is_uncertain {
                    "It is uncertain whether a post was published"
                } else {
                    "Publishing a post failed"
                };
                let id = facts.posts.first().map_or(subject, |post| post.id);
                (titled(what, &facts.name), lines, page(&format!("/posts/{id}")))
            }
        }
        NoticeKind::IntegrationLost => {
            let name = one_line(&facts.name, MAX_TEXT);
            let mut lines =
                vec!["The provider no longer accepts the credentials. Connect it again.".to_owned()];
            let headline = if facts.post_count > 0 {
                lines.push("Publish these again afterwards:".to_owned());
                lines.extend(posts(facts));
                let failed = count(facts.post_count, "post", "posts");
                format!("The connection to {name} is lost, and publishing {failed} failed")
            } else {
                format!("The connection to {name} is lost")
            };
            (headline, lines, page("/integrations"))
        }
        NoticeKind::ApprovalWaits => {
            let lines = facts.until.map(|until| {
                format!(
                    "Without a decision it is published on {}.",
                    local_time(until, &project.zone)
                )
            });
            (
                titled("A post waits for approval", &facts.name),
                lines.into_iter().collect(),
                page(&format!("/approvals/{subject}")),
            )
        }
        NoticeKind::AutopilotPaused => (
            "The autopilot paused itself".to_owned(),
            sentence(&facts.detail, MAX_DETAIL).into_iter().collect(),
            page("/settings/autopilot"),
        ),
        NoticeKind::AuditFailed => (
            "An audit failed".to_owned(),
            sentence(&facts.detail, MAX_DETAIL).into_iter().collect(),
            page(&format!("/audits/{subject}")),
        ),
        NoticeKind::BackupFailed => {
            let mut lines: Vec<String> = sentence(&facts.detail, MAX_DETAIL).into_iter().collect();
            lines.push(
                "It is tried again every 15 minutes. On the server, `searchwright doctor` says more."
                    .to_owned(),
            );
            let headline = "A backup of the server failed".to_owned();
            (headline, lines, page("/settings/notices"))
        }
    };
    Section {
        headline,
        lines,
        link,
    }
}

/// Returns the subject of a message with these notices.
pub fn subject(sections: &[Section], project: &ProjectOfMessage) -> String {
    let text = match sections {
        [one] => one.headline.clone(),
        [first, rest @ ..] => format!("{} (and {} more)", one_line(&first.headline, 80), rest.len()),
        [] => String::new(),
    };
    one_line(&format!("[{}] {text}", project.label()), MAX_SUBJECT)
}

/// Returns the text of a message with these notices.
pub fn text(sections: &[Section], project: &ProjectOfMessage) -> String {
    let mut text = format!("{} ({})\n", project.label(), one_line(&project.domain, 120));
    for section in sections.iter().take(MAX_SECTIONS) {
        text.push('\n');
        text.push_str(&section.headline);
        text.push('\n');
        for line in &section.lines {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(&section.link);
        text.push('\n');
    }
    if let Some(more) = sections.len().checked_sub(MAX_SECTIONS).filter(|more| *more > 0) {
        text.push_str(&format!("\nAnd {more} more: {}/settings/notices\n", project.base));
    }
    text
}

/// Returns the end of a mail: why it came, and how it is stopped.
pub fn foot(project: &ProjectOfMessage, stop: &str) -> String {
    format!(
        "\n-- \nThis is sent to you as a member of this project. Choose what is sent:\n{}/settings/notices\nStop all mail of this project:\n{stop}\n",
        project.base
    )
}

/// Returns the last message of a day on which there are too many.
pub fn last_of_day(project: &ProjectOfMessage, limit: u64) -> (String, String) {
    let subject = one_line(
        &format!("[{}] No more notices today", project.label()),
        MAX_SUBJECT,
    );
    let text = format!(
        "{} ({})\n\nThere are more than {limit} messages today. The rest of the day is on the page only:\n{}/settings/notices\n",
        project.label(),
        one_line(&project.domain, 120),
        project.base
    );
    (subject, text)
}

/// Returns subject and text of a message that a person sends to try it.
pub fn test(project: &ProjectOfMessage) -> (String, String) {
    let text = format!(
        "{} ({})\n\nThis is a test. Notices of this project arrive here.\n{}/settings/notices\n",
        project.label(),
        one_line(&project.domain, 120),
        project.base
    );
    (format!("[{}] A test", project.label()), text)
}

/// Returns a message as a chat takes it.
pub fn chat(text: &str) -> String {
    for_chat(text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{AuditFigures, FailedPost, FoundIssue};

    fn project() -> ProjectOfMessage {
        ProjectOfMessage {
            name: "Fern & Fir\r\nBcc: x@example.com".to_owned(),
            domain: "example.com".to_owned(),
            base: "https://sw.example/projects/1".to_owned(),
            zone: "Europe/Berlin".to_owned(),
        }
    }

    fn issue(number: u128, severity: Severity, is_back: bool) -> FoundIssue {
        FoundIssue {
            id: Uuid::from_u128(number),
            is_back,
            title: format!("Issue {number}"),
            severity: Some(severity),
            pages: number as u64,
        }
    }

    #[test]
    fn an_audit_is_told_with_counts_by_severity_and_the_worst_first() {
        let facts = NoticeFacts {
            issues: vec![
                issue(1, Severity::Notice, false),
                issue(2, Severity::Error, true),
                issue(3, Severity::Warning, false),
            ],
            audit: Some(AuditFigures {
                health: Some(81),
                health_before: Some(90),
            }),
            ..NoticeFacts::default()
        };
        let section = section(NoticeKind::AuditFound, Uuid::from_u128(7), &facts, &project());
        assert_eq!(
            section.headline,
            "The audit found 2 new issues, and 1 other came back"
        );
        assert_eq!(
            section.lines,
            [
                "By severity: 1 error, 1 warning, 1 notice.",
                "- Error: Issue 2 (2 pages, came back)",
                "- Warning: Issue 3 (3 pages)",
                "- Notice: Issue 1 (1 page)",
                "Health: 81 of 100, 90 in the audit before.",
            ]
        );
        assert!(
            section
                .link
                .ends_with("/audits/00000000-0000-0000-0000-000000000007")
        );
    }

    #[test]
    fn a_message_is_one_subject_and_plain_lines_whatever_titles_hold() {
        let facts = NoticeFacts {
            name: "<!channel>\r\nX-Evil: 1\u{202e}".to_owned(),
            detail: "line\none\u{0}".to_owned(),
            posts: vec![FailedPost {
                id: Uuid::from_u128(3),
                title: "x".to_owned(),
            }],
            post_count: 1,
            ..NoticeFacts::default()
        };
        let failed = section(
            NoticeKind::PublicationFailed,
            Uuid::from_u128(3),
            &facts,
            &project(),
        );
        let sections = vec![failed; 20];
        let subject = subject(&sections, &project());
        assert!(
            subject.starts_with(
                "[Fern & Fir Bcc: x@example.com] Publishing a post failed: <!channel> X-Evil: 1"
            )
        );
        assert!(subject.ends_with("(and 19 more)") && !subject.contains(['\r', '\n', '\u{202e}']));
        let text = text(&sections, &project());
        assert!(
            text.contains("Line one.\n") && text.contains("And 5 more: "),
            "{text}"
        );
        let chat = chat(&text);
        assert!(chat.contains("&lt;!channel&gt;") && !chat.contains('<'));
        assert!(chat.contains("Fern &amp; Fir"));
    }

    #[test]
    fn approvals_say_what_happens_without_a_decision() {
        let facts = NoticeFacts {
            until: Some(searchwright_contract::Instant::from_millis(1_795_255_200_000)),
            ..NoticeFacts::default()
        };
        let waits = section(NoticeKind::ApprovalWaits, Uuid::nil(), &facts, &project());
        assert_eq!(
            waits.headline,
            "A post waits for approval, which has no title yet"
        );
        assert!(waits.lines[0].contains("published on") && waits.lines[0].contains("+01:00"));
    }
}
