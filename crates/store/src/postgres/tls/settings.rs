//! The settings `sslmode` and `sslrootcert` of a connection URL, which are taken out of it: the client knows no more than three modes.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;

use super::Mode;

/// Authorities by which the server's certificate is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Roots {
    /// Those of this machine, or of `SSL_CERT_FILE` and `SSL_CERT_DIR`.
    System,
    /// Those of a file.
    File(PathBuf),
}

/// Settings as they are written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Given {
    mode: Option<String>,
    root: Option<String>,
}

/// Settings as they are meant.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TlsSettings {
    pub mode: Mode,
    /// `None` checks no certificate.
    pub roots: Option<Roots>,
}

impl Given {
    fn keep(&mut self, key: &str, value: &str) -> bool {
        let place = match key {
            "sslmode" => &mut self.mode,
            "sslrootcert" => &mut self.root,
            _ => return false,
        };
        *place = Some(value.to_owned());
        true
    }

    /// Applies the rules of libpq, except that `verify-ca` and `verify-full` without a file check by the authorities of the system.
    pub(super) fn resolve(self) -> Result<TlsSettings, String> {
        let is_system = self.root.as_deref() == Some("system");
        let mode = match self.mode.as_deref() {
            None if is_system => Mode::VerifyFull,
            None => Mode::Prefer,
            Some("disable") => Mode::Disable,
            Some("allow") => Mode::Allow,
            Some("prefer") => Mode::Prefer,
            Some("require") => Mode::Require,
            Some("verify-ca") => Mode::VerifyCa,
            Some("verify-full") => Mode::VerifyFull,
            Some(other) => {
                return Err(format!(
                    "sslmode {other:?} is none of disable, allow, prefer, require, verify-ca and verify-full"
                ));
            }
        };
        if is_system && mode != Mode::VerifyFull {
            return Err("sslrootcert=system goes with sslmode=verify-full alone".to_owned());
        }
        let verifies = mode >= Mode::VerifyCa;
        let roots = match self.root.filter(|root| !root.is_empty()) {
            _ if mode == Mode::Disable => None,
            Some(root) if root != "system" => {
                let file = PathBuf::from(root);
                if !verifies && !file.exists() {
                    None
                } else {
                    Some(Roots::File(file))
                }
            }
            None if own_roots().is_some() => own_roots().map(Roots::File),
            _ => verifies.then_some(Roots::System),
        };
        Ok(TlsSettings { mode, roots })
    }
}

/// The file that libpq reads where none is named.
fn own_roots() -> Option<PathBuf> {
    let file = PathBuf::from(std::env::var_os("HOME")?).join(".postgresql/root.crt");
    file.exists().then_some(file)
}

/// Takes the settings of TLS out of a URL, or out of the form of `key=value`.
pub(super) fn take(text: &str) -> Result<(String, Given), String> {
    let mut given = Given::default();
    if !text.contains("://") {
        return take_pairs(text, given);
    }
    let Some((place, query)) = text.split_once('?') else {
        return Ok((text.to_owned(), given));
    };
    let mut rest = Vec::new();
    for pair in query.split('&') {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = percent_decode_str(value)
            .decode_utf8()
            .map_err(|_| format!("{key} is not UTF-8"))?;
        if !given.keep(key, &value) {
            rest.push(pair);
        }
    }
    let rest = if rest.is_empty() {
        place.to_owned()
    } else {
        format!("{place}?{}", rest.join("&"))
    };
    Ok((rest, given))
}

/// The form of `key=value`: a value may stand in single quotes, and a backslash takes the next character as it is.
fn take_pairs(text: &str, mut given: Given) -> Result<(String, Given), String> {
    let mut rest = String::new();
    let mut at = text.trim_start();
    while !at.is_empty() {
        let (key, after) = at
            .split_once('=')
            .ok_or_else(|| "a setting has no value".to_owned())?;
        let after = after.trim_start();
        let is_quoted = after.starts_with('\'');
        let (mut value, mut escaped, mut end) = (String::new(), false, None);
        for (place, c) in after.char_indices().skip(usize::from(is_quoted)) {
            match c {
                _ if escaped => {
                    value.push(c);
                    escaped = false;
                }
                '\\' => escaped = true,
                '\'' if is_quoted => {
                    end = Some(place + 1);
                    break;
                }
                c if c.is_whitespace() && !is_quoted => {
                    end = Some(place);
                    break;
                }
                c => value.push(c),
            }
        }
        let end = match end {
            Some(end) => end,
            None if is_quoted => return Err("a quoted value has no end".to_owned()),
            None => after.len(),
        };
        if !given.keep(key.trim(), &value) {
            rest.push_str(&format!("{}={} ", key.trim(), &after[..end]));
        }
        at = after[end..].trim_start();
    }
    Ok((rest, given))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(url: &str) -> Result<(Mode, Option<Roots>), String> {
        let (_, given) = take(url)?;
        let settings = given.resolve()?;
        Ok((settings.mode, settings.roots))
    }

    #[test]
    fn settings_of_tls_are_taken_out() {
        for (text, rest, mode, root) in [
            ("postgres://h/d", "postgres://h/d", None, None),
            (
                "postgres://h/d?sslmode=verify-ca",
                "postgres://h/d",
                Some("verify-ca"),
                None,
            ),
            (
                "postgres://h/d?a=b&sslrootcert=%2Fetc%2Fmy%20ca.pem&sslmode=verify-full&c=d%26",
                "postgres://h/d?a=b&c=d%26",
                Some("verify-full"),
                Some("/etc/my ca.pem"),
            ),
            (
                "host=h dbname = d sslmode=allow",
                "host=h dbname=d ",
                Some("allow"),
                None,
            ),
            (
                r"sslrootcert='/a b\'c' password='x y\\' sslmode = require",
                r"password='x y\\' ",
                Some("require"),
                Some("/a b'c"),
            ),
        ] {
            let given = Given {
                mode: mode.map(str::to_owned),
                root: root.map(str::to_owned),
            };
            assert_eq!(take(text), Ok((rest.to_owned(), given)), "{text}");
        }
        for text in ["host", "host='x", "host=h sslmode"] {
            assert!(take(text).is_err(), "{text}");
        }
    }

    #[test]
    fn modes_are_those_of_libpq() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let named = file.path().to_str().unwrap();
        let roots = Some(Roots::File(file.path().to_owned()));
        let with = |query: &str| resolved(&format!("postgres://h/d?{query}"));
        assert_eq!(with("").unwrap().0, Mode::Prefer);
        assert_eq!(
            with("sslrootcert=system"),
            Ok((Mode::VerifyFull, Some(Roots::System)))
        );
        assert_eq!(
            with(&format!("sslmode=require&sslrootcert={named}")),
            Ok((Mode::Require, roots))
        );
        assert_eq!(
            with("sslmode=require&sslrootcert=/no/such/file"),
            Ok((Mode::Require, None))
        );
        assert_eq!(
            with("sslmode=verify-ca&sslrootcert=/no/such/file"),
            Ok((Mode::VerifyCa, Some(Roots::File("/no/such/file".into()))))
        );
        assert_eq!(with("sslmode=disable"), Ok((Mode::Disable, None)));
        assert!(
            with("sslmode=require&sslrootcert=system")
                .unwrap_err()
                .contains("verify-full")
        );
        assert!(with("sslmode=on").unwrap_err().contains("verify-ca"));
    }
}
