//! Logins of websites behind HTTP Basic authentication (RFC 7617), such as a staging site.

use std::{fmt, net::IpAddr, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::HeaderValue;
use percent_encoding::percent_decode_str;
use url::{Host, Origin, Url};

/// A login for one website. It is sent to that scheme, host and port only.
#[derive(Clone)]
pub struct SiteLogin {
    origin: Origin,
    header: HeaderValue,
}

impl SiteLogin {
    /// Returns the value of `Authorization` for a URL of the website.
    pub(crate) fn header_for(&self, url: &Url) -> Option<&HeaderValue> {
        (url.origin() == self.origin).then_some(&self.header)
    }
}

impl fmt::Debug for SiteLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SiteLogin")
            .field(&self.origin.ascii_serialization())
            .finish()
    }
}

/// Fault of a login. Never holds any of its text, which is a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SiteLoginFault {
    /// No URL of the form.
    #[error(
        "is not https://USER:PASSWORD@HOST, with signs such as @ : / , of user and password percent-encoded"
    )]
    Form,
    /// It would be sent in clear text.
    #[error(
        "has to be https://, because a password is sent with each request; http:// only on private addresses"
    )]
    ClearText,
}

fn is_private(host: &Host<&str>) -> bool {
    let address = match host {
        Host::Domain(name) => return *name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => IpAddr::V4(*address),
        Host::Ipv6(address) => IpAddr::V6(*address),
    };
    match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_private(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local(),
    }
}

impl FromStr for SiteLogin {
    type Err = SiteLoginFault;

    fn from_str(text: &str) -> Result<Self, SiteLoginFault> {
        let url = Url::parse(text).map_err(|_| SiteLoginFault::Form)?;
        let host = url.host().ok_or(SiteLoginFault::Form)?;
        let is_whole_site = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let password = url.password().ok_or(SiteLoginFault::Form)?;
        if !matches!(url.scheme(), "http" | "https") || !is_whole_site || url.username().is_empty() {
            return Err(SiteLoginFault::Form);
        }
        if url.scheme() == "http" && !is_private(&host) {
            return Err(SiteLoginFault::ClearText);
        }
        let decoded = |text: &str| percent_decode_str(text).collect::<Vec<u8>>();
        let user = decoded(url.username());
        if user.contains(&b':') {
            return Err(SiteLoginFault::Form);
        }
        let both = [user, decoded(password)].join(&b':');
        let value = format!("Basic {}", STANDARD.encode(both));
        let mut header = HeaderValue::from_str(&value).map_err(|_| SiteLoginFault::Form)?;
        header.set_sensitive(true);
        Ok(Self {
            origin: url.origin(),
            header,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(login: &str, url: &str) -> Option<String> {
        let login: SiteLogin = login.parse().unwrap();
        let value = login.header_for(&Url::parse(url).unwrap())?;
        Some(value.to_str().unwrap().to_owned())
    }

    #[test]
    fn it_goes_to_its_own_site_only() {
        // the example of RFC 7617 section 2
        let login = "https://Aladdin:open%20sesame@staging.example.com";
        let sent = Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==".to_owned());
        assert_eq!(header(login, "https://staging.example.com/a?b"), sent);
        assert_eq!(header(login, "https://staging.example.com:443/"), sent);
        for other in [
            "http://staging.example.com/",
            "https://example.com/",
            "https://a.staging.example.com/",
            "https://staging.example.com:8443/",
        ] {
            assert_eq!(header(login, other), None, "{other}");
        }
    }

    #[test]
    fn faults_and_debug_do_not_tell_the_password() {
        for (text, fault) in [
            ("staging.example.com", SiteLoginFault::Form),
            ("https://staging.example.com", SiteLoginFault::Form),
            ("https://canary@staging.example.com", SiteLoginFault::Form),
            ("https://:canary@staging.example.com", SiteLoginFault::Form),
            ("https://a:canary@staging.example.com/path", SiteLoginFault::Form),
            ("https://a%3Ab:canary@staging.example.com", SiteLoginFault::Form),
            ("ftp://a:canary@staging.example.com", SiteLoginFault::Form),
            ("http://a:canary@staging.example.com", SiteLoginFault::ClearText),
        ] {
            let found = text.parse::<SiteLogin>().unwrap_err();
            assert_eq!(found, fault, "{text}");
            assert!(!format!("{found} {found:?}").contains("canary"));
        }
        for private in [
            "http://a:canary@127.0.0.1:8080",
            "http://a:canary@10.1.2.3",
            "http://a:canary@localhost",
        ] {
            let login: SiteLogin = private.parse().unwrap();
            assert!(!format!("{login:?}").contains("canary"), "{login:?}");
        }
    }
}
