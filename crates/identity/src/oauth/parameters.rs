//! Parameters of a request: no parameter may be repeated (RFC 6749 section 3.1), and an empty one counts as absent.

use std::collections::BTreeMap;

use super::{OauthCode, OauthError};

/// Parameters by name.
#[derive(Clone, Debug, Default)]
pub struct Parameters(BTreeMap<String, String>);

impl Parameters {
    /// Parses the form encoding; an error names a parameter that is repeated.
    pub fn parse(text: &[u8]) -> Result<Self, OauthError> {
        let mut all = BTreeMap::new();
        for (name, value) in url::form_urlencoded::parse(text).into_owned() {
            if all.contains_key(&name) {
                let name: String = name
                    .chars()
                    .filter(char::is_ascii_alphanumeric)
                    .take(40)
                    .collect();
                let description = format!("the parameter {name} is repeated");
                return Err(OauthError::new(OauthCode::InvalidRequest, description));
            }
            all.insert(name, value);
        }
        all.retain(|_, value| !value.is_empty());
        Ok(Self(all))
    }

    /// Returns a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns a parameter that is needed.
    pub fn need(&self, name: &'static str) -> Result<&str, OauthError> {
        self.get(name)
            .ok_or_else(|| OauthError::new(OauthCode::InvalidRequest, format!("{name} is missing")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_parameters_are_refused() {
        let parsed = Parameters::parse(b"a=1&b=&c=x%20y").unwrap();
        assert_eq!(
            (parsed.get("a"), parsed.get("b"), parsed.get("c")),
            (Some("1"), None, Some("x y"))
        );
        for text in [&b"a=1&a=1"[..], b"a=&a=1", b"a=1&%61=2"] {
            assert!(Parameters::parse(text).is_err());
        }
        assert!(parsed.need("b").is_err());
    }
}
