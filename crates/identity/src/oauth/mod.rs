//! Rules of OAuth 2.1 that need no database: errors, resources, scopes, parameters, and metadata of clients.

pub mod client_metadata;
pub mod parameters;

use searchwright_contract::Scope;

use self::parameters::Parameters;

/// Scope with which a client asks for refresh tokens.
pub const OFFLINE_ACCESS: &str = "offline_access";

/// The protected resources of this server, in canonical form; each token is valid at one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Issuer: origin of the authorization server.
    pub issuer: String,
    /// HTTP API.
    pub api: String,
    /// MCP.
    pub mcp: String,
}

impl Resources {
    /// Returns the canonical form of a requested resource if it is one of this server's; the API's if none is requested.
    pub fn find(&self, requested: Option<&str>) -> Option<&str> {
        let Some(requested) = requested else {
            return Some(&self.api);
        };
        let requested = canonical(requested)?;
        [&self.api, &self.mcp]
            .into_iter()
            .find(|known| **known == requested)
            .map(String::as_str)
    }
}

impl Resources {
    /// Returns the resource that a request to the token endpoint names, if it names one.
    pub fn named(&self, parameters: &Parameters) -> Result<Option<String>, OauthError> {
        let Some(requested) = parameters.get("resource") else {
            return Ok(None);
        };
        let unknown = || OauthError::new(OauthCode::InvalidTarget, "resource is not one of this server");
        self.find(Some(requested))
            .map(|known| Some(known.to_owned()))
            .ok_or_else(unknown)
    }
}

/// Returns a resource identifier in canonical form (RFC 8707): scheme and host in lower case, no default port, no trailing slash.
pub fn canonical(resource: &str) -> Option<String> {
    let url = url::Url::parse(resource).ok()?;
    if url.fragment().is_some() || url.query().is_some() || !url.username().is_empty() {
        return None;
    }
    Some(url.as_str().trim_end_matches('/').to_owned())
}

/// Code of an error of OAuth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OauthCode {
    /// RFC 6749.
    InvalidRequest,
    /// RFC 6749.
    InvalidClient,
    /// RFC 6749.
    InvalidGrant,
    /// RFC 6749.
    UnauthorizedClient,
    /// RFC 6749.
    UnsupportedGrantType,
    /// RFC 6749.
    UnsupportedResponseType,
    /// RFC 6749.
    InvalidScope,
    /// RFC 6749.
    AccessDenied,
    /// RFC 8707.
    InvalidTarget,
    /// RFC 7591.
    InvalidRedirectUri,
    /// RFC 7591.
    InvalidClientMetadata,
    /// RFC 8628.
    AuthorizationPending,
    /// RFC 8628.
    SlowDown,
    /// RFC 8628.
    ExpiredToken,
    /// RFC 6749.
    TemporarilyUnavailable,
}

impl OauthCode {
    /// Text form.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::UnauthorizedClient => "unauthorized_client",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::InvalidScope => "invalid_scope",
            Self::AccessDenied => "access_denied",
            Self::InvalidTarget => "invalid_target",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidClientMetadata => "invalid_client_metadata",
            Self::AuthorizationPending => "authorization_pending",
            Self::SlowDown => "slow_down",
            Self::ExpiredToken => "expired_token",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
        }
    }

    /// HTTP status at the endpoints for clients.
    pub const fn status(self) -> u16 {
        match self {
            Self::InvalidClient => 401,
            Self::TemporarilyUnavailable => 503,
            _ => 400,
        }
    }
}

/// An error of OAuth, as a client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OauthError {
    /// Code.
    pub code: OauthCode,
    /// Explanation for developers; ASCII.
    pub description: String,
}

impl OauthError {
    /// Creates an error.
    pub fn new(code: OauthCode, description: impl Into<String>) -> Self {
        Self {
            code,
            description: description.into(),
        }
    }
}

/// The scopes that a client gets without asking for more: all that only read.
pub fn read_scopes() -> Vec<&'static str> {
    Scope::ALL
        .iter()
        .filter(|scope| !scope.writes())
        .map(|scope| scope.as_str())
        .collect()
}

/// Returns the known scopes of a request, each once and in the order of the table; `offline_access` at the end. The scopes that
/// only read if none is requested.
pub fn known_scopes(requested: Option<&str>) -> Option<String> {
    let Some(requested) = requested.filter(|text| !text.trim().is_empty()) else {
        return Some(read_scopes().join(" "));
    };
    let requested: Vec<&str> = requested.split_ascii_whitespace().collect();
    let mut known: Vec<&str> = Scope::ALL
        .iter()
        .map(|scope| scope.as_str())
        .filter(|scope| requested.contains(scope))
        .collect();
    if known.is_empty() {
        return None;
    }
    if requested.contains(&OFFLINE_ACCESS) {
        known.push(OFFLINE_ACCESS);
    }
    Some(known.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_compared_in_canonical_form() {
        let resources = Resources {
            issuer: "https://sw.example".to_owned(),
            api: "https://sw.example/v1".to_owned(),
            mcp: "https://mcp.sw.example/mcp".to_owned(),
        };
        for (requested, found) in [
            (None, Some("https://sw.example/v1")),
            (Some("https://sw.example/v1"), Some("https://sw.example/v1")),
            (Some("HTTPS://SW.example:443/v1/"), Some("https://sw.example/v1")),
            (
                Some("https://mcp.sw.example/mcp"),
                Some("https://mcp.sw.example/mcp"),
            ),
            (Some("https://mcp.sw.example/mcp#x"), None),
            (Some("https://sw.example"), None),
            (Some("https://evil.example/v1"), None),
            (Some("https://sw.example@evil.example/v1"), None),
            (Some(""), None),
        ] {
            assert_eq!(resources.find(requested), found, "{requested:?}");
        }
    }

    #[test]
    fn unknown_scopes_are_dropped() {
        assert_eq!(
            known_scopes(Some(
                "posts:read nonsense keywords:write posts:read offline_access"
            ))
            .as_deref(),
            Some("keywords:write posts:read offline_access")
        );
        assert_eq!(known_scopes(Some("nonsense offline_access")), None);
        assert!(known_scopes(None).unwrap().contains("projects:read"));
        assert!(!known_scopes(None).unwrap().contains("write"));
    }
}
