//! The URL of a chat's incoming webhook, as a person enters it.

use searchwright_outbound::{AllowOutbound, Purpose, denied};
use url::{Host, Url};

/// Characters of the URL that are shown, to recognise it by.
const SHOWN: usize = 4;
/// Characters of a URL.
const MAX_URL: usize = 2_048;

/// Reads the URL of a chat; an error says what is wrong with it. The addresses of its host are checked on every request.
pub(crate) fn read(text: &str, allow: &[AllowOutbound]) -> Result<Url, &'static str> {
    let url = Url::parse(text.trim()).map_err(|_| "The address of the chat is not a URL.")?;
    if text.len() > MAX_URL {
        return Err("The address of the chat is too long.");
    }
    let is_allowed = allow
        .iter()
        .any(|allow| allow.purpose == Purpose::Webhook && allow.names(&url));
    match url.scheme() {
        "https" => {}
        "http" if is_allowed => {}
        _ => return Err("The address of the chat has to begin with https://."),
    }
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err("The address of the chat must not have a user, a password or a fragment (#).");
    }
    let address = match url.host() {
        Some(Host::Ipv4(address)) => Some(address.into()),
        Some(Host::Ipv6(address)) => Some(address.into()),
        Some(Host::Domain(_)) => None,
        None => return Err("The address of the chat has no host."),
    };
    let is_local =
        matches!(url.host(), Some(Host::Domain(name)) if name.trim_end_matches('.') == "localhost");
    if !is_allowed && (is_local || address.is_some_and(|address| denied(address).is_some())) {
        return Err("The address of the chat may not be reached from this server.");
    }
    Ok(url)
}

/// Returns what is shown of a URL: its host and its last characters.
pub(crate) fn shown(url: &Url) -> String {
    let letters: Vec<char> = url.path().chars().collect();
    // A short path would be shown whole.
    let end: String = match letters.len() {
        length if length >= 3 * SHOWN => letters[length - SHOWN..].iter().collect(),
        _ => String::new(),
    };
    format!("{}/\u{2026}{end}", url.host_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_public_https_address_is_taken() {
        let good = read(" https://hooks.slack.com/services/T00/B00/XYZW12345 ", &[]).unwrap();
        assert_eq!(shown(&good), "hooks.slack.com/\u{2026}2345");
        assert_eq!(
            shown(&read("https://hooks.example/abcd", &[]).unwrap()),
            "hooks.example/\u{2026}"
        );
        for bad in [
            "",
            "hooks.slack.com/x",
            "http://hooks.slack.com/x",
            "ftp://hooks.slack.com/x",
            "https://user:pass@hooks.slack.com/x",
            "https://127.0.0.1/x",
            "https://localhost/x",
            "https://[::1]/x",
            "https://hooks.slack.com/x#y",
        ] {
            assert!(read(bad, &[]).is_err(), "{bad}");
        }
        let allow = ["webhook=127.0.0.1:9000".parse().unwrap()];
        assert!(read("http://127.0.0.1:9000/x", &allow).is_ok());
        assert!(read("http://127.0.0.1:9001/x", &allow).is_err());
    }
}
