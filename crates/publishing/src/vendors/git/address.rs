//! The address of a repository. It is parsed once, here, so git gets exactly what the guard judged.

use url::{Host, Url};

/// The address of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A folder of this machine.
    Folder(String),
    /// A repository that is reached over the network.
    Remote {
        /// Address as it is passed to git.
        url: String,
        /// Over ssh, else over http or https.
        is_ssh: bool,
        /// Host, as the guard judges it.
        host: Host,
        /// Port.
        port: u16,
    },
}

/// Forms of address that are accepted, for people.
const FORMS: &str = "has to be such as https://github.com/me/blog.git, ssh://git@github.com/me/blog.git or git@github.com:me/blog.git";

impl Address {
    /// Parses an address as a person writes it. The error says, for people, why it is none.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.starts_with('/') {
            return Ok(Self::Folder(text.to_owned()));
        }
        if let Some(path) = text.strip_prefix("file://") {
            // Any other host than this one is nothing that git would ask either.
            return if path.starts_with('/') {
                Ok(Self::Folder(text.to_owned()))
            } else {
                Err(FORMS)
            };
        }
        // The short form of ssh: user@host:path, where the path is as the host reads it.
        let short = text.split_once(':').filter(|_| !text.contains("://"));
        let url = match short {
            Some((place, _)) if !place.contains(['/', '?', '#']) => Url::parse(&format!("ssh://{place}/")),
            Some(_) => return Err(FORMS),
            None => Url::parse(text),
        };
        let mut url = url.map_err(|_| FORMS)?;
        let (is_ssh, usual) = match url.scheme() {
            "https" => (false, 443),
            "http" => (false, 80),
            "ssh" => (true, 22),
            _ => return Err(FORMS),
        };
        if url.password().is_some() || !is_ssh && !url.username().is_empty() {
            return Err("must hold no credentials: user name and token are entered apart");
        }
        let is_plain = |name: &str| {
            let is_part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
            !name.starts_with('-') && name.bytes().all(is_part)
        };
        if url.query().is_some() || url.fragment().is_some() || !is_plain(url.username()) {
            return Err(FORMS);
        }
        let host = Host::parse(url.host_str().unwrap_or_default()).map_err(|_| FORMS)?;
        // It goes into an option of ssh.
        if matches!(&host, Host::Domain(name) if !is_plain(name)) {
            return Err(FORMS);
        }
        let port = url.port().unwrap_or(usual);
        let url = match short {
            Some((_, path)) if !path.is_empty() && !url.username().is_empty() => {
                format!("{}@{host}:{path}", url.username())
            }
            Some(_) => return Err(FORMS),
            None => {
                url.set_host(Some(&host.to_string())).map_err(|_| FORMS)?;
                url.into()
            }
        };
        Ok(Self::Remote {
            url,
            is_ssh,
            host,
            port,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(text: &str) -> Option<(String, bool, String, u16)> {
        match Address::parse(text) {
            Ok(Address::Remote {
                url,
                is_ssh,
                host,
                port,
            }) => Some((url, is_ssh, host.to_string(), port)),
            _ => None,
        }
    }

    #[test]
    fn what_is_judged_is_what_git_is_given() {
        for (text, url, is_ssh, host, port) in [
            (
                "https://example.com/me/blog.git",
                "https://example.com/me/blog.git",
                false,
                "example.com",
                443,
            ),
            (
                "HTTPS://EXAMPLE.com:8443/blog",
                "https://example.com:8443/blog",
                false,
                "example.com",
                8443,
            ),
            (
                "http://0x7f.1/blog",
                "http://127.0.0.1/blog",
                false,
                "127.0.0.1",
                80,
            ),
            (
                "ssh://git@0x7f.1/blog",
                "ssh://git@127.0.0.1/blog",
                true,
                "127.0.0.1",
                22,
            ),
            (
                "ssh://git@Example.com:2222/~me/blog",
                "ssh://git@example.com:2222/~me/blog",
                true,
                "example.com",
                2222,
            ),
            (
                "git@Example.com:me/blog.git",
                "git@example.com:me/blog.git",
                true,
                "example.com",
                22,
            ),
            (
                "git@0x7f.1:/srv/blog.git",
                "git@127.0.0.1:/srv/blog.git",
                true,
                "127.0.0.1",
                22,
            ),
            ("ssh://git@[::1]/blog", "ssh://git@[::1]/blog", true, "[::1]", 22),
        ] {
            let expected = Some((url.to_owned(), is_ssh, host.to_owned(), port));
            assert_eq!(remote(text), expected, "{text}");
        }
    }

    #[test]
    fn only_a_path_is_a_folder() {
        for text in ["/srv/blog.git", "file:///srv/blog.git"] {
            assert_eq!(Address::parse(text), Ok(Address::Folder(text.to_owned())));
        }
        for text in [
            "",
            "blog.git",
            "../blog.git",
            "./a:b",
            "me@a/b@example.com:c",
            "git@example.com:",
            "example.com:blog",
            "-oProxyCommand=id:x",
            "file://other/srv",
            "git://example.com/blog",
            "ftp://example.com/blog",
            "ext::sh -c id",
            "ssh://-oProxyCommand=id/x",
            "ssh://git@a';id;'/x",
            "git@a';id;':x",
            "ssh://-l@example.com/x",
            "https://me:secret@example.com/blog",
            "https://secret@example.com/blog",
            "https://example.com/blog?a=b",
            "https://",
            "https:// /",
        ] {
            assert!(
                Address::parse(text).is_err(),
                "{text}: {:?}",
                Address::parse(text)
            );
        }
    }
}
