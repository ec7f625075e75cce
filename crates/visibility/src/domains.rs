//! Domains of websites: parsing, and the owners they belong to.

use url::{Host, Url};

/// Parses a website's domain: a host, or http(s), host and port without a path. Returns its canonical spelling; the
/// error is the fault.
pub fn read(domain: &str) -> Result<String, String> {
    let carries_scheme = domain.contains("://");
    let url = parse(domain).map_err(|e| format!("is not a domain: {e}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("is neither http nor https".to_owned());
    }
    if !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some()
        || url.fragment().is_some()
        || url.path() != "/"
    {
        return Err("has more than scheme, host and port; leave the rest out".to_owned());
    }
    let host = url.host_str().ok_or("has no host")?;
    let port = url.port().map(|p| format!(":{p}")).unwrap_or_default();
    Ok(if carries_scheme {
        format!("{}://{host}{port}", url.scheme())
    } else {
        format!("{host}{port}")
    })
}

fn parse(domain: &str) -> Result<Url, url::ParseError> {
    if domain.contains("://") {
        Url::parse(domain)
    } else {
        Url::parse(&format!("https://{domain}"))
    }
}

/// Returns the URL at which the crawl of a domain begins: https unless the domain carries a scheme.
pub fn start_url(domain: &str) -> String {
    let whole = if domain.contains("://") {
        domain.to_owned()
    } else {
        format!("https://{domain}")
    };
    Url::parse(&whole).map_or(whole, String::from)
}

/// Returns the owner of a domain: its registrable part by the public suffix list, or host and port where
/// nothing is registered, as for an IP address or `localhost`.
pub fn owner(domain: &str) -> String {
    let Ok(url) = parse(domain) else {
        return domain.to_owned();
    };
    if let Some(Host::Domain(name)) = url.host()
        && let Some(registrable) = psl::domain_str(name.trim_end_matches('.'))
    {
        return registrable.to_owned();
    }
    url.authority().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{owner, read};

    #[test]
    fn one_spelling() {
        for (text, domain) in [
            ("Example.COM", "example.com"),
            ("HTTP://127.0.0.1:8099/", "http://127.0.0.1:8099"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("example.com:8443", "example.com:8443"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(domain));
        }
        for bad in [
            "",
            "ftp://example.com",
            "example.com/path",
            "a@example.com",
            "exa mple.com",
            "https://example.com?q",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn owners() {
        for (domain, of) in [
            ("www.example.com", "example.com"),
            ("https://shop.example.co.uk", "example.co.uk"),
            ("a.b.example.co.jp.", "example.co.jp"),
            ("oak.github.io", "oak.github.io"),
            ("www.oak.github.io", "oak.github.io"),
            ("www.xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("http://127.0.0.1:8099", "127.0.0.1:8099"),
            ("[::1]:80", "[::1]:80"),
            ("localhost", "localhost"),
        ] {
            assert_eq!(owner(domain), of, "{domain}");
        }
    }
}
