//! Common parts of vendors' replies: text that may be shown, and the wait that `Retry-After` asks for.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, header};

/// Upper bound of an excerpt, in characters.
const MAX_EXCERPT: usize = 300;

/// Returns text of a provider fit to be shown: one line of at most 300 characters without the secrets; `None` when nothing is
/// left.
pub fn excerpt(text: &str, secrets: &[&str]) -> Option<String> {
    let mut text = text.to_owned();
    for secret in secrets.iter().filter(|s| s.len() >= 4) {
        text = text.replace(secret, "[secret]");
    }
    let plain: String = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let cut: String = plain.chars().take(MAX_EXCERPT).collect();
    Some(cut).filter(|t| !t.is_empty())
}

/// Returns the wait that `Retry-After` asks for: seconds, or a date, which is compared with the server's own `Date`.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|v: &HeaderValue| v.to_str().ok());
    let after = text(header::RETRY_AFTER)?.trim();
    if let Ok(seconds) = after.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let instant = |text: &str| jiff::fmt::rfc2822::parse(text).ok().map(|z| z.timestamp());
    let wait = instant(after)?.as_second() - instant(text(header::DATE)?)?.as_second();
    u64::try_from(wait).ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use http::HeaderName;

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(n, v)| (HeaderName::from_static(n), HeaderValue::from_static(v)))
            .collect()
    }

    #[test]
    fn a_providers_words_are_cut_flattened_and_without_the_secret() {
        assert_eq!(
            excerpt("Incorrect API key:\n sk-4711\u{7}!", &["sk-4711", ""]).unwrap(),
            "Incorrect API key: [secret] !"
        );
        assert_eq!(excerpt(" \n", &[]), None);
        assert_eq!(excerpt(&"é".repeat(999), &[]).unwrap().chars().count(), 300);
    }

    #[test]
    fn retry_after_is_read_in_both_forms() {
        let wait = |pairs: &[_]| retry_after(&headers(pairs)).map(|d| d.as_secs());
        assert_eq!(wait(&[("retry-after", " 120 ")]), Some(120));
        let date = ("date", "Wed, 21 Oct 2015 07:27:30 GMT");
        assert_eq!(
            wait(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"), date]),
            Some(30)
        );
        assert_eq!(
            wait(&[("retry-after", "Wed, 21 Oct 2015 07:27:00 GMT"), date]),
            None
        );
        for bad in ["soon", "-5", ""] {
            assert_eq!(wait(&[("retry-after", bad), date]), None, "{bad}");
        }
    }
}
