//! Redirect URIs: which a client may register, and which requested one belongs to a registered one.

use url::{Host, Url};

/// Longest redirect URI in bytes.
const MAX_BYTES: usize = 2_000;
/// Private-use schemes without a dot that well-known clients use.
const KNOWN_SCHEMES: [&str; 4] = ["cursor", "vscode", "vscode-insiders", "claude"];

/// Returns the reason for which a redirect URI may not be registered.
pub fn fault(uri: &str) -> Option<&'static str> {
    if uri.len() > MAX_BYTES {
        return Some("is longer than 2000 bytes");
    }
    if uri
        .chars()
        .any(|c| c.is_whitespace() || c.is_control() || c == '\\' || !c.is_ascii())
    {
        return Some("has characters that a URI cannot have");
    }
    let Ok(url) = Url::parse(uri) else {
        return Some("is not an absolute URI");
    };
    if url.fragment().is_some() {
        return Some("has a fragment");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Some("has a user name or a password");
    }
    match url.scheme() {
        "https" if url.host().is_some() => None,
        "http" if is_loopback(&url) => None,
        "http" => Some("has to use https, except on the loopback interface"),
        scheme if scheme.contains('.') || KNOWN_SCHEMES.contains(&scheme) => None,
        _ => Some("has a scheme that is not accepted"),
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.octets() == [127, 0, 0, 1],
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Returns whether a redirect URI leads to a program on the person's own machine.
pub fn is_on_loopback(uri: &str) -> bool {
    loopback_parts(uri).is_some()
}

/// Host and rest of an `http` URI on the loopback interface, without its port; compared as text, so that no two spellings of
/// one URI are equal.
fn loopback_parts(uri: &str) -> Option<(&str, &str)> {
    let rest = uri.strip_prefix("http://")?;
    let host = ["127.0.0.1", "[::1]", "localhost"]
        .into_iter()
        .find(|host| rest.starts_with(host))?;
    let rest = &rest[host.len()..];
    let (port, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let is_port = match port.strip_prefix(':') {
        Some(digits) => digits.parse::<u16>().is_ok() && digits.bytes().all(|b| b.is_ascii_digit()),
        None => port.is_empty(),
    };
    is_port.then_some((host, rest))
}

/// Returns whether a requested redirect URI is the registered one: the same text, except for the port on the loopback interface
/// (RFC 8252 section 7.3).
pub fn matches(registered: &str, requested: &str) -> bool {
    registered == requested
        || matches!(
            (loopback_parts(registered), loopback_parts(requested)),
            (Some(known), Some(asked)) if known == asked
        )
}

/// Appends parameters to the query of a redirect URI.
pub fn with_parameters(uri: &str, parameters: &[(&str, &str)]) -> String {
    let encoded = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(parameters)
        .finish();
    let separator = match uri.split_once('?') {
        None => "?",
        Some((_, "")) => "",
        Some(_) => "&",
    };
    format!("{uri}{separator}{encoded}")
}

/// Returns the host of a redirect URI, or the scheme of one without.
pub fn host(uri: &str) -> String {
    let Ok(url) = Url::parse(uri) else {
        return String::new();
    };
    match url.host_str() {
        Some(host) if !host.is_empty() && matches!(url.scheme(), "http" | "https") => host.to_owned(),
        _ => format!("{}:", url.scheme()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_redirects_are_registered() {
        for good in [
            "https://claude.ai/api/mcp/auth_callback",
            "https://chatgpt.com/connector_platform_oauth_redirect",
            "http://127.0.0.1/callback",
            "http://127.0.0.1:54321/cb?x=1",
            "http://localhost/callback",
            "http://[::1]:8080/",
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "vscode://vscode.github-authentication/did-authenticate",
            "com.example.app:/oauth",
        ] {
            assert_eq!(fault(good), None, "{good}");
        }
        for bad in [
            "",
            "callback",
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "blob:https://x.example/1",
            "vbscript:x",
            "http://example.com/cb",
            "http://127.0.0.2/cb",
            "http://localhost.evil.example/cb",
            "https://x.example/cb#f",
            "https://user@x.example/cb",
            "https://x.example/c b",
            "https://x.example\\@evil.example/",
            "https://x.example/\u{e4}",
        ] {
            assert!(fault(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn redirects_are_compared_as_text() {
        let https = "https://app.example/cb";
        assert!(matches(https, https));
        for other in [
            "https://app.example/cb/",
            "https://app.example./cb",
            "https://app.example:443/cb",
            "https://app.example:8443/cb",
            "https://APP.example/cb",
            "https://app.example/c%62",
            "https://app.example%2Fcb",
            "https://x@app.example/cb",
            "https://app.example.evil.example/cb",
            "https://app.example/cb?x",
            "http://app.example/cb",
        ] {
            assert!(!matches(https, other), "{other}");
        }
        let loopback = "http://127.0.0.1/cb";
        for same in ["http://127.0.0.1:1/cb", "http://127.0.0.1:65535/cb"] {
            assert!(matches(loopback, same) && matches(same, loopback), "{same}");
        }
        for other in [
            "http://127.0.0.1:65536/cb",
            "http://127.0.0.1:+1/cb",
            "http://127.0.0.1:1/cb2",
            "http://127.0.0.1:1@evil.example/cb",
            "http://127.0.0.1.evil.example/cb",
            "http://localhost:1/cb",
            "https://127.0.0.1:1/cb",
        ] {
            assert!(!matches(loopback, other), "{other}");
        }
    }

    #[test]
    fn parameters_are_appended() {
        let add = |uri| with_parameters(uri, &[("code", "a&b"), ("state", "x y")]);
        assert_eq!(
            add("https://a.example/cb"),
            "https://a.example/cb?code=a%26b&state=x+y"
        );
        assert_eq!(
            add("https://a.example/cb?"),
            "https://a.example/cb?code=a%26b&state=x+y"
        );
        assert_eq!(
            add("https://a.example/cb?p=1"),
            "https://a.example/cb?p=1&code=a%26b&state=x+y"
        );
        assert_eq!(host("https://a.example:1/cb"), "a.example");
        assert_eq!(host("cursor://x/y"), "cursor:");
    }
}
