//! The `Host` of a request (RFC 9112, 3.2): servers on the way choose by it, so there is one and it is a host.

use std::net::Ipv6Addr;

use http::{HeaderMap, Version, header};

/// Checks it; the error is the explanation.
pub(super) fn check(version: Version, headers: &HeaderMap) -> Result<(), &'static str> {
    let mut hosts = headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        // HTTP/2 has `:authority`, and HTTP/1.0 had neither.
        (None, _) if version != Version::HTTP_11 => Ok(()),
        (None, _) => Err("the Host header is missing"),
        (Some(_), Some(_)) => Err("there are two Host headers"),
        (Some(host), None) if host.to_str().is_ok_and(is_host) => Ok(()),
        (Some(_), None) => Err("the Host header is not a host"),
    }
}

/// Returns whether this is `uri-host [":" port]` with a host in it (RFC 3986, 3.2.2).
fn is_host(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((address, port)) if address.parse::<Ipv6Addr>().is_ok() => ("", port),
            _ => return false,
        },
        None => {
            let end = text.find(':').unwrap_or(text.len());
            if end == 0 {
                return false;
            }
            text.split_at(end)
        }
    };
    let is_port = match port.strip_prefix(':') {
        Some(digits) => {
            digits.is_empty() || digits.bytes().all(|b| b.is_ascii_digit()) && digits.parse::<u16>().is_ok()
        }
        None => port.is_empty(),
    };
    is_port && is_name(host)
}

fn is_name(host: &str) -> bool {
    let bytes = host.as_bytes();
    bytes.iter().enumerate().all(|(at, byte)| match byte {
        b'%' => bytes
            .get(at + 1..at + 3)
            .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)),
        byte => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(byte),
    })
}

#[cfg(test)]
mod tests {
    use super::is_host;

    #[test]
    fn a_host_is_a_name_or_an_address_with_or_without_a_port() {
        for good in [
            "x",
            "example.com",
            "example.com:8787",
            "example.com:",
            "127.0.0.1:0",
            "[::1]",
            "[2001:db8::7]:443",
            "under_score.example",
            "caf%C3%A9.example",
        ] {
            assert!(is_host(good), "{good}");
        }
        for bad in [
            "",
            ":80",
            "a b",
            "a/b",
            "user@host",
            "http://x",
            "x:port",
            "x:99999",
            "x:1:2",
            "x:+1",
            "[::1",
            "[x]",
            "::1",
            "x, y",
            "a%zz",
            "a?b",
            "a#b",
            "a\\b",
        ] {
            assert!(!is_host(bad), "{bad}");
        }
    }
}
