//! Forms in which pages show values.

use searchwright_contract::{
    audits::{AuditStatus, AuditTrigger},
    issues::{OccurrenceState, Severity},
};

/// A number of things, as pages get it from records.
pub(crate) trait Amount {
    /// The number.
    fn amount(self) -> u64;
}

macro_rules! amounts {
    ($($kind:ty),*) => {
        $(impl Amount for $kind {
            fn amount(self) -> u64 {
                self as u64
            }
        })*
    };
}
amounts!(u16, u32, u64, usize);

// Templates pass references.
impl<A: Amount + Copy> Amount for &A {
    fn amount(self) -> u64 {
        (*self).amount()
    }
}

/// A share or a score, as pages get it from records.
pub(crate) trait Share {
    /// The value.
    fn share(self) -> f64;
}

impl Share for f64 {
    fn share(self) -> f64 {
        self
    }
}

impl<S: Share + Copy> Share for &S {
    fn share(self) -> f64 {
        (*self).share()
    }
}

/// A number with thousands separated by a thin space.
pub(crate) fn number(value: impl Amount) -> String {
    let digits = value.amount().to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A change with its sign; a minus sign for what fell.
pub(crate) fn change(value: i64) -> String {
    match value {
        0 => "no change".to_owned(),
        ..0 => format!("\u{2212}{}", number(value.unsigned_abs())),
        _ => format!("+{}", number(value.unsigned_abs())),
    }
}

/// A share of 0 to 100 with one decimal, without it where it is zero.
pub(crate) fn percent(value: impl Share) -> String {
    let rounded = (value.share() * 10.0).round() / 10.0;
    format!("{rounded}\u{202f}%")
}

/// A size in bytes.
pub(crate) fn bytes(value: impl Amount) -> String {
    let value = value.amount();
    match value {
        0..1_000 => format!("{value} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", value as f64 / 1e3),
        _ => format!("{:.1} MB", value as f64 / 1e6),
    }
}

/// An amount of money of which millionths are known.
pub(crate) fn dollars(micros: i64) -> String {
    let amount = micros as f64 / 1e6;
    if micros != 0 && micros.abs() < 10_000 {
        format!("${amount:.4}")
    } else {
        format!("${amount:.2}")
    }
}

/// One or many of something.
pub(crate) fn count(value: impl Amount, one: &str, many: &str) -> String {
    let value = value.amount();
    if value == 1 {
        format!("1 {one}")
    } else {
        format!("{} {many}", number(value))
    }
}

/// A text that others wrote, cut to what a table has room for.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let mut letters = text.chars().filter(|c| !is_hidden(*c));
    let mut short: String = letters.by_ref().take(most).collect();
    if letters.next().is_some() {
        short.push('\u{2026}');
    }
    short
}

/// A text that others wrote, cut so that it takes at most twice as many bytes in a page as it may have characters. Some
/// characters take five of them.
pub(crate) fn cut_on_page(text: &str, most: usize) -> String {
    let mut left = 2 * most;
    let fits = text.chars().take_while(|c| {
        let bytes = bytes_on_page(*c);
        let is_room = bytes <= left;
        left = left.saturating_sub(bytes);
        is_room
    });
    let letters = fits.count().min(most);
    cut(text, letters)
}

/// Bytes of a character in a page.
pub(crate) const fn bytes_on_page(c: char) -> usize {
    match c {
        '&' | '<' | '>' | '"' | '\'' => 5,
        _ => c.len_utf8(),
    }
}

/// A text that others wrote, without the characters that change the direction or cannot be seen.
pub(crate) fn plain(text: &str) -> String {
    text.chars().filter(|c| !is_hidden(*c)).collect()
}

const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Path and query of a URL, which say more in a table of one website than its host.
pub(crate) fn path_of(url: &str) -> String {
    let path = url
        .split_once("://")
        .and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..]));
    cut(path.unwrap_or(url), 300)
}

/// A word of the contract as people write it: `not_measured` is "not measured".
pub(crate) fn words(code: &str) -> String {
    code.replace(['_', '-'], " ")
}

/// A word of the contract at the beginning of a line.
pub(crate) fn heading(code: &str) -> String {
    let text = words(code);
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    first + letters.as_str()
}

/// Title of a category of checks.
pub(crate) fn category(code: &str) -> String {
    match code {
        "ai" => "AI assistants".to_owned(),
        other => heading(other),
    }
}

/// Name of a severity.
pub(crate) fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "Error",
        Severity::Warning => "Warning",
        Severity::Notice => "Notice",
    }
}

/// State of an occurrence with the class of its mark.
pub(crate) fn state(state: OccurrenceState) -> (&'static str, &'static str) {
    match state {
        OccurrenceState::Open => ("warning", "Open"),
        OccurrenceState::Done => ("off", "Marked as done"),
        OccurrenceState::RecheckPending => ("run", "Being rechecked"),
        OccurrenceState::Resolved => ("good", "Resolved"),
        OccurrenceState::StillPresent => ("error", "Still present"),
        OccurrenceState::Reopened => ("error", "Reopened"),
        OccurrenceState::Ignored => ("off", "Ignored"),
    }
}

/// Status of an audit with the class of its mark.
pub(crate) fn audit_status(status: AuditStatus) -> (&'static str, &'static str) {
    match status {
        AuditStatus::Queued => ("off", "Waiting"),
        AuditStatus::Crawling => ("run", "Crawling"),
        AuditStatus::Analyzing => ("run", "Analysing"),
        AuditStatus::Completed => ("good", "Complete"),
        AuditStatus::Partial => ("warning", "Partial"),
        AuditStatus::Failed => ("error", "Failed"),
        AuditStatus::Cancelled => ("off", "Cancelled"),
    }
}

/// Trigger of an audit.
pub(crate) fn trigger(trigger: AuditTrigger) -> &'static str {
    match trigger {
        AuditTrigger::Manual => "by hand",
        AuditTrigger::Scheduled => "scheduled",
        AuditTrigger::Autopilot => "autopilot",
    }
}

/// Sentence about the end of a crawl that left something out; `None` if it covered everything.
pub(crate) fn termination(code: &str) -> Option<&'static str> {
    Some(match code {
        "complete" => return None,
        "max_pages" => {
            "It stopped at its limit of pages: known URLs were left out, and the score rests on the others."
        }
        "max_depth" => "Pages deeper than the limit of click depth were left out.",
        "max_query_variants" => "Of paths with very many query strings only some variants were fetched.",
        "max_duration" => "It stopped at its limit of time: known URLs were left out.",
        "max_bytes" => "It stopped at its limit of data: known URLs were left out.",
        "blocked" => {
            "The site refused most pages (401, 403, 429, 451 or a firewall). Allow the crawler by its user agent, or give it a login."
        }
        "host_unavailable" => {
            "The site did not answer: most pages, or ten in a row, gave no answer or an error of the server."
        }
        "robots_unreachable" => {
            "robots.txt could not be read, so nothing may be fetched. It has to answer with 200 or 404."
        }
        "cancelled" => "It was cancelled.",
        _ => "It ended before every known URL was covered.",
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_a_page_has_to_escape_is_cut_sooner() {
        use super::cut_on_page;
        assert_eq!(cut_on_page("/a", 10), "/a");
        assert_eq!(
            cut_on_page(&"a".repeat(11), 10),
            format!("{}\u{2026}", "a".repeat(10))
        );
        assert_eq!(cut_on_page(&"&".repeat(11), 10), "&&&&\u{2026}");
        assert_eq!(
            cut_on_page(&"\u{65e5}".repeat(11), 10),
            format!("{}\u{2026}", "\u{65e5}".repeat(6))
        );
    }

    use super::*;

    #[test]
    fn values_are_shown_as_people_write_them() {
        assert_eq!(number(0u64), "0");
        assert_eq!(number(1_234_567u64), "1\u{202f}234\u{202f}567");
        assert_eq!(change(-7), "\u{2212}7");
        assert_eq!(change(12), "+12");
        assert_eq!(percent(94.0), "94\u{202f}%");
        assert_eq!(percent(94.54), "94.5\u{202f}%");
        assert_eq!(bytes(20_480u64), "20.5 kB");
        assert_eq!(heading("not_measured"), "Not measured");
    }

    #[test]
    fn texts_of_others_are_cut_and_lose_what_cannot_be_seen() {
        assert_eq!(cut("ab\u{202e}cd", 3), "abc\u{2026}");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(path_of("https://example.com/a?b=c"), "/a?b=c");
        assert_eq!(path_of("https://example.com"), "https://example.com");
        assert_eq!(path_of("mailto:x"), "mailto:x");
    }
}
