//! Metadata of clients (RFC 7591), and client ID metadata documents (draft-ietf-oauth-client-id-metadata-document): the id of a
//! client is then the URL of a document that describes it.

use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::{OauthCode, OauthError};
use crate::redirects;

/// Redirect URIs of a client, at most.
const MAX_REDIRECT_URIS: usize = 10;
/// Characters of a client's name, at most.
pub const MAX_NAME: usize = 64;
/// Bounds of the time for which a document is not fetched again.
const MIN_FRESH_MILLIS: i64 = 5 * 60_000;
const MAX_FRESH_MILLIS: i64 = 24 * 3_600_000;

/// Clients that an installation accepts beside those that its operator creates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientPolicy {
    /// Client ID metadata documents.
    pub documents: DocumentPolicy,
    /// Whether programs may register themselves.
    pub may_register: bool,
}

/// Client ID metadata documents that are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentPolicy {
    /// Documents of any host.
    Any,
    /// Documents of these hosts.
    Hosts(Vec<String>),
    /// None.
    Off,
}

impl Default for ClientPolicy {
    fn default() -> Self {
        Self {
            documents: DocumentPolicy::Any,
            may_register: true,
        }
    }
}

impl DocumentPolicy {
    /// Returns why the document at this URL is not accepted, if it is not.
    pub fn refusal(&self, url: &str) -> Option<&'static str> {
        match self {
            Self::Any => None,
            Self::Off => {
                Some("this server accepts no client ID metadata documents; its operator sets cimd_policy")
            }
            Self::Hosts(hosts) => {
                let host = redirects::host(url);
                let is_listed = hosts.iter().any(|listed| listed.eq_ignore_ascii_case(&host));
                (!is_listed).then_some(
                    "this server accepts documents of listed hosts only; its operator sets cimd_hosts",
                )
            }
        }
    }
}

/// Metadata of a client, in its own words; members that are not listed here are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// URL of the document.
    pub client_id: Option<String>,
    /// Name.
    pub client_name: Option<String>,
    /// Redirect URIs.
    pub redirect_uris: Vec<String>,
    /// Grants that it uses.
    pub grant_types: Option<Vec<String>>,
    /// Its method at the token endpoint.
    pub token_endpoint_auth_method: Option<String>,
    /// Methods that it supports, in documents that give a list.
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// A secret, which has no place in a document.
    pub client_secret: Option<Value>,
}

impl Metadata {
    /// Parses JSON; an error names the member that is not of its type.
    pub fn parse(body: &[u8]) -> Result<Self, OauthError> {
        serde_json::from_slice(body).map_err(|e| invalid(format!("not acceptable JSON: {e}")))
    }

    /// Checks the redirect URIs.
    pub fn check_redirect_uris(&self) -> Result<(), OauthError> {
        let refuse = |why: String| Err(OauthError::new(OauthCode::InvalidRedirectUri, why));
        if self.redirect_uris.is_empty() {
            return refuse("redirect_uris is missing or empty".to_owned());
        }
        if self.redirect_uris.len() > MAX_REDIRECT_URIS {
            return refuse(format!("redirect_uris has more than {MAX_REDIRECT_URIS} entries"));
        }
        for (at, uri) in self.redirect_uris.iter().enumerate() {
            if let Some(why) = redirects::fault(uri) {
                return refuse(format!("redirect_uris[{at}] {why}"));
            }
        }
        Ok(())
    }

    /// Name to be shown; the host of the first redirect URI if the client gives none.
    pub fn name(&self) -> Result<String, OauthError> {
        let name: String = self.client_name.as_deref().unwrap_or_default().trim().to_owned();
        if name.chars().count() > MAX_NAME {
            return Err(invalid(format!(
                "client_name has more than {MAX_NAME} characters"
            )));
        }
        let visible: String = name.chars().filter(|c| !c.is_control()).collect();
        Ok(if visible.is_empty() {
            self.redirect_uris
                .first()
                .map(|uri| redirects::host(uri))
                .unwrap_or_default()
        } else {
            visible
        })
    }

    /// Whether the client uses refresh tokens.
    pub fn may_refresh(&self) -> bool {
        let grants = self.grant_types.as_deref().unwrap_or_default();
        grants.iter().any(|grant| grant == "refresh_token")
    }
}

fn invalid(why: String) -> OauthError {
    OauthError::new(OauthCode::InvalidClientMetadata, why)
}

/// Returns whether a `client_id` is the URL of a document.
pub fn is_document_url(id: &str) -> bool {
    id.starts_with("https://") || id.starts_with("http://")
}

/// Checks that a `client_id` may name a document: https, with a path, in normal form.
pub fn check_url(id: &str, allows_http: impl Fn(&Url) -> bool) -> Result<Url, String> {
    let url = Url::parse(id).map_err(|e| format!("the client_id is not a URL: {e}"))?;
    if url.scheme() != "https" && !allows_http(&url) {
        return Err("the client_id has to be an https URL".to_owned());
    }
    if url.path() == "/" {
        return Err("the client_id has no path".to_owned());
    }
    if url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
        return Err("the client_id has a fragment, a user name or a password".to_owned());
    }
    // Parsing takes dot segments out.
    if url.as_str() != id {
        return Err("the client_id is not in normal form".to_owned());
    }
    Ok(url)
}

/// Reads a document of this URL.
pub fn read_document(id: &str, body: &[u8]) -> Result<Metadata, OauthError> {
    let metadata = Metadata::parse(body)?;
    if metadata.client_id.as_deref() != Some(id) {
        return Err(invalid("its client_id is not the URL of the document".to_owned()));
    }
    if metadata
        .client_name
        .as_deref()
        .is_none_or(|name| name.trim().is_empty())
    {
        return Err(invalid("client_name is missing".to_owned()));
    }
    metadata.check_redirect_uris()?;
    if metadata.client_secret.is_some() {
        return Err(invalid(
            "it carries a client_secret, which everybody can read".to_owned(),
        ));
    }
    let is_symmetric = |method: &str| method.starts_with("client_secret_");
    let only_symmetric = match (
        &metadata.token_endpoint_auth_method,
        &metadata.token_endpoint_auth_methods_supported,
    ) {
        (Some(method), _) => is_symmetric(method),
        (None, Some(methods)) => !methods.is_empty() && methods.iter().all(|method| is_symmetric(method)),
        (None, None) => false,
    };
    if only_symmetric {
        return Err(invalid(
            "it permits only methods with a client secret; none is needed".to_owned(),
        ));
    }
    Ok(metadata)
}

/// Returns the milliseconds for which a document is fresh, by `Cache-Control`.
pub fn fresh_millis(cache_control: &str) -> i64 {
    let directives: Vec<String> = cache_control
        .split(',')
        .map(|directive| directive.trim().to_ascii_lowercase())
        .collect();
    if directives.iter().any(|d| d == "no-store" || d == "no-cache") {
        return MIN_FRESH_MILLIS;
    }
    let seconds = directives
        .iter()
        .find_map(|directive| directive.strip_prefix("max-age=")?.parse::<i64>().ok());
    seconds
        .unwrap_or(0)
        .saturating_mul(1_000)
        .clamp(MIN_FRESH_MILLIS, MAX_FRESH_MILLIS)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ID: &str = "https://agent.example/oauth/client.json";

    fn document(change: Value) -> Result<Metadata, OauthError> {
        let mut all = json!({
            "client_id": ID, "client_name": "Agent", "redirect_uris": ["http://127.0.0.1/callback"],
        });
        for (name, value) in change.as_object().unwrap() {
            all[name] = value.clone();
        }
        read_document(ID, all.to_string().as_bytes())
    }

    /// Documents with the members of those that well-known clients publish, as their users and the makers of other servers
    /// describe them, and the redirect URIs that the clients then ask for.
    fn published() -> [(Value, &'static [&'static str]); 5] {
        [
            // ChatGPT: only the plural form of the methods, with keys.
            (
                json!({
                    "client_id": "https://chatgpt.com/oauth/plugin_1a2b/client.json", "client_name": "ChatGPT",
                    "client_uri": "https://chatgpt.com", "logo_uri": "https://chatgpt.com/logo.png",
                    "redirect_uris": ["https://chatgpt.com/connector/oauth/1a2b"], "response_types": ["code"],
                    "grant_types": ["authorization_code", "refresh_token"],
                    "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"],
                    "jwks_uri": "https://chatgpt.com/oauth/jwks.json", "token_endpoint_auth_signing_alg": "RS256",
                }),
                &["https://chatgpt.com/connector/oauth/1a2b"],
            ),
            // Claude on the web and the desktop: a grant that no server need know, and two hosts.
            (
                json!({
                    "client_id": "https://claude.ai/oauth/mcp-oauth-client-metadata", "client_name": "Claude",
                    "client_uri": "https://claude.ai",
                    "redirect_uris": ["https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"],
                    "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
                    "response_types": ["code"], "token_endpoint_auth_method": "none",
                }),
                &[
                    "https://claude.ai/api/mcp/auth_callback",
                    "https://claude.com/api/mcp/auth_callback",
                ],
            ),
            // Claude Code: loopback redirects without a port, and no application_type.
            (
                json!({
                    "client_id": "https://claude.ai/oauth/claude-code-client-metadata", "client_name": "Claude Code",
                    "client_uri": "https://claude.ai",
                    "redirect_uris": ["http://localhost/callback", "http://127.0.0.1/callback"],
                    "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
                    "token_endpoint_auth_method": "none",
                }),
                &[
                    "http://127.0.0.1:52163/callback",
                    "http://localhost:3118/callback",
                ],
            ),
            // Visual Studio Code: a page that leads back, and a loopback port that may be another one.
            (
                json!({
                    "client_id": "https://vscode.dev/oauth/client-metadata.json", "client_name": "Visual Studio Code",
                    "client_uri": "https://vscode.dev/product", "application_type": "native",
                    "redirect_uris": ["https://vscode.dev/redirect", "http://127.0.0.1:33418/", "http://localhost:33418/"],
                    "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
                    "response_types": ["code"], "token_endpoint_auth_method": "none",
                }),
                &[
                    "https://vscode.dev/redirect",
                    "http://127.0.0.1:33418/",
                    "http://127.0.0.1:60123/",
                ],
            ),
            // Cursor: its own scheme, and in newer versions a fixed loopback port.
            (
                json!({
                    "client_id": "https://cursor.com/oauth/client.json", "client_name": "Cursor",
                    "redirect_uris": ["cursor://anysphere.cursor-mcp/oauth/callback", "http://localhost:8787/callback"],
                    "token_endpoint_auth_method": "none", "scope": "offline_access",
                    "x_unknown": { "nested": [1, null] },
                }),
                &[
                    "cursor://anysphere.cursor-mcp/oauth/callback",
                    "http://localhost:8787/callback",
                ],
            ),
        ]
    }

    #[test]
    fn documents_of_known_clients_are_accepted() {
        for (document, requested) in published() {
            let id = document["client_id"].as_str().unwrap();
            assert_eq!(check_url(id, |_| false).map(String::from).as_deref(), Ok(id));
            let metadata = read_document(id, document.to_string().as_bytes()).unwrap();
            assert_eq!(metadata.name().unwrap(), document["client_name"]);
            for uri in requested {
                let mut registered = metadata.redirect_uris.iter();
                assert!(
                    registered.any(|known| redirects::matches(known, uri)),
                    "{id} {uri}"
                );
            }
            let mut registered = metadata.redirect_uris.iter();
            assert!(!registered.any(|known| redirects::matches(known, "https://evil.example/callback")));
        }
    }

    #[test]
    fn documents_that_cannot_be_trusted_are_refused() {
        for change in [
            json!({ "client_id": "https://agent.example/oauth/client.json/" }),
            json!({ "client_id": null }),
            json!({ "client_name": "  " }),
            json!({ "redirect_uris": [] }),
            json!({ "redirect_uris": ["http://127.0.0.1/cb", "javascript:alert(1)"] }),
            json!({ "client_secret": "x" }),
            json!({ "token_endpoint_auth_method": "client_secret_basic" }),
            json!({ "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"] }),
        ] {
            assert!(document(change.clone()).is_err(), "{change}");
        }
    }

    #[test]
    fn urls_of_documents_are_in_normal_form() {
        let check = |id| check_url(id, |_| false);
        assert!(check(ID).is_ok());
        assert!(check("https://agent.example/client?v=1").is_ok());
        for bad in [
            "http://agent.example/client.json",
            "https://agent.example",
            "https://agent.example/",
            "https://agent.example/a/../client.json",
            "https://agent.example/%2e%2e/client.json",
            "https://AGENT.example/client.json",
            "https://agent.example:443/client.json",
            "https://me@agent.example/client.json",
            "https://agent.example/client.json#x",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn documents_are_fresh_for_bounded_times() {
        assert_eq!(fresh_millis(""), MIN_FRESH_MILLIS);
        assert_eq!(fresh_millis("public, max-age=3600"), 3_600_000);
        assert_eq!(fresh_millis("max-age=99999999999999"), MAX_FRESH_MILLIS);
        assert_eq!(fresh_millis("max-age=3600, no-store"), MIN_FRESH_MILLIS);
    }
}
