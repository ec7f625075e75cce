//! Parts of URLs as written, without parsing.

/// Returns the part of an absolute URL after its scheme.
fn after_scheme(url: &str) -> Option<&str> {
    // a search for `://` would take as long as everything else
    let usual = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    usual.or_else(|| Some(url.split_once("://")?.1))
}

/// Returns the end of the authority that a text begins with.
fn end_of_authority(text: &str) -> Option<usize> {
    text.bytes().position(|byte| matches!(byte, b'/' | b'?' | b'#'))
}

/// Returns path and query of an absolute URL, without its fragment.
pub(super) fn path_and_query(url: &str) -> &str {
    let after = after_scheme(url).unwrap_or(url);
    let rest = end_of_authority(after).map_or("/", |at| &after[at..]);
    rest.split('#').next().unwrap_or_default()
}

/// Returns host and port of an absolute or protocol-relative URL.
pub(super) fn authority(url: &str) -> &str {
    let after = url
        .strip_prefix("//")
        .or_else(|| after_scheme(url))
        .unwrap_or_default();
    let end = end_of_authority(after).unwrap_or(after.len());
    let authority = &after[..end];
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

/// Returns the host of an absolute URL.
pub(super) fn host(url: &str) -> &str {
    let authority = authority(url);
    if authority.starts_with('[') {
        return authority.split_inclusive(']').next().unwrap_or_default();
    }
    authority.split(':').next().unwrap_or_default()
}

/// Returns the registrable domain of a host, as far as possible without the public suffix list: the last two labels,
/// three below suffixes such as `co.uk`, one more than the shared domains where anyone can have a site.
pub(super) fn registrable(host: &str) -> &str {
    const SHARED: [&str; 18] = [
        "github.io",
        "gitlab.io",
        "netlify.app",
        "vercel.app",
        "pages.dev",
        "herokuapp.com",
        "web.app",
        "firebaseapp.com",
        "blogspot.com",
        "wordpress.com",
        "azurewebsites.net",
        "cloudfront.net",
        "s3.amazonaws.com",
        "myshopify.com",
        "wixsite.com",
        "webflow.io",
        "notion.site",
        "ghost.io",
    ];
    const SECOND: [&str; 12] = [
        "ac", "co", "com", "edu", "go", "gov", "gob", "gouv", "ne", "net", "or", "org",
    ];
    if host.starts_with('[') || host.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return host;
    }
    let below = |suffix: &&str| {
        let at = host.len().checked_sub(suffix.len() + 1)?;
        let (before, end) = host.as_bytes().split_at(at);
        let same = end[0] == b'.' && end[1..].eq_ignore_ascii_case(suffix.as_bytes());
        same.then(|| before.iter().rposition(|b| *b == b'.').map_or(0, |dot| dot + 1))
    };
    if let Some(start) = SHARED.iter().find_map(below) {
        return host.get(start..).unwrap_or(host);
    }
    let dots: Vec<usize> = host.rmatch_indices('.').map(|(at, _)| at).take(3).collect();
    let labels = match (dots.first(), dots.get(1)) {
        (Some(last), Some(second))
            if host.len() - last == 3 && SECOND.contains(&&host[second + 1..*last]) =>
        {
            3
        }
        _ => 2,
    };
    dots.get(labels - 1).map_or(host, |at| &host[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::{host, path_and_query, registrable};

    #[test]
    fn parts_of_urls() {
        assert_eq!(path_and_query("https://e.example/a?b#c"), "/a?b");
        assert_eq!(path_and_query("https://e.example"), "/");
        assert_eq!(host("http://u@E.example:8080/x"), "E.example");
        assert_eq!(host("http://[::1]:80/x"), "[::1]");
        assert_eq!(host("//e.example:80/x?u=https://f.example/"), "e.example");
        assert_eq!(host("/x"), "");
    }

    #[test]
    fn registrable_parts() {
        for (host, part) in [
            ("www.example.com", "example.com"),
            ("a.b.example.co.uk", "example.co.uk"),
            ("example.com", "example.com"),
            ("co.uk", "co.uk"),
            ("localhost", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
            ("www.gov.uk", "www.gov.uk"),
            ("alice.github.io", "alice.github.io"),
            ("www.alice.GitHub.io", "alice.GitHub.io"),
            ("github.io", "github.io"),
            ("a.notgithub.io", "notgithub.io"),
            ("files.s3.amazonaws.com", "files.s3.amazonaws.com"),
            ("aws.amazonaws.com", "amazonaws.com"),
            ("ü.web.app", "ü.web.app"),
        ] {
            assert_eq!(registrable(host), part);
        }
    }
}
