//! Hosts that only a private network knows.

use url::{Host, Url};

/// Endings of names that no public DNS server resolves (RFC 6761, RFC 6762, RFC 8375, and names in common use).
const PRIVATE_ENDS: [&str; 9] = [
    ".localhost",
    ".local",
    ".test",
    ".internal",
    ".intranet",
    ".lan",
    ".home",
    ".corp",
    ".home.arpa",
];

/// Whether the host of an absolute URL is a private address or a private name, so that it is seen by nobody outside.
pub(crate) fn is_private(url: &str) -> bool {
    let parsed = Url::parse(url).ok();
    match parsed.as_ref().and_then(Url::host) {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            // a name without a dot is known to its own network only
            !name.contains('.') || PRIVATE_ENDS.iter().any(|end| name.ends_with(end))
        }
        Some(host) => is_private_address(&host),
        None => false,
    }
}

/// Whether a host is written as an address that is not reached from the internet.
pub(crate) fn is_private_address(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(_) => false,
        Host::Ipv4(ip) => is_private_v4(*ip),
        Host::Ipv6(ip) => ip.to_ipv4_mapped().map_or_else(
            || ip.is_loopback() || ip.is_unspecified() || ip.is_unique_local() || ip.is_unicast_link_local(),
            is_private_v4,
        ),
    }
}

fn is_private_v4(ip: std::net::Ipv4Addr) -> bool {
    // 100.64.0.0/10 is shared by the customers of a provider (RFC 6598)
    let [first, second, ..] = ip.octets();
    let is_shared = first == 100 && second & 0xc0 == 64;
    ip.is_private() || ip.is_loopback() || ip.is_link_local() || ip.is_unspecified() || is_shared
}

#[cfg(test)]
mod tests {
    use super::is_private;

    #[test]
    fn private_hosts_are_known_by_address_and_name() {
        for url in [
            "http://localhost:8000/",
            "http://app.localhost/",
            "http://127.3.2.1/",
            "http://10.0.0.7/a",
            "http://172.16.0.1",
            "http://192.168.1.2:81",
            "http://169.254.0.1",
            "http://100.64.1.1",
            "http://0.0.0.0:80",
            "http://[::1]:8080/",
            "http://[::ffff:10.0.0.1]/",
            "http://[fd12::1]/",
            "http://[fe80::1]/",
            "http://shop.test/",
            "http://shop.local./",
            "http://wiki.internal/",
            "http://nas.lan",
            "http://router.home.arpa",
            "http://buildserver/",
        ] {
            assert!(is_private(url), "{url}");
        }
        for url in [
            "https://example.com/",
            "http://172.32.0.1/",
            "http://100.128.0.1/",
            "http://8.8.8.8/",
            "http://[2001:db8::1]/",
            "https://latest.example/",
            "https://local.example/",
            "not a url",
        ] {
            assert!(!is_private(url), "{url}");
        }
    }
}
