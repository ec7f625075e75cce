//! Client ID Metadata Documents (draft-ietf-oauth-client-id-metadata-document): the id of a client is the URL of a document
//! that describes it. Fetched only for a person who is signed in, through the guarded client, without redirects.

use bytes::Bytes;
use http::header;
use searchwright_contract::Instant;
use searchwright_outbound::Purpose;
use searchwright_store::oauth_clients::{ClientKind, OauthClient};
use url::Url;

use super::{
    OauthError,
    clients::{Metadata, invalid},
};
use crate::{Engine, failure::Result};

/// Largest document in bytes.
const MAX_BYTES: usize = 5 << 10;
/// Time in which it has to arrive.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);
/// Bounds of the time for which a document is not fetched again.
const MIN_FRESH_MILLIS: i64 = 5 * 60_000;
const MAX_FRESH_MILLIS: i64 = 24 * 3_600_000;

/// Returns whether a `client_id` is the URL of a document.
pub fn is_document_url(id: &str) -> bool {
    id.starts_with("https://") || id.starts_with("http://")
}

/// Checks that a `client_id` may name a document: https, with a path, in normal form.
fn check_url(id: &str, allows_http: impl Fn(&Url) -> bool) -> Result<Url, String> {
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
fn read(id: &str, body: &[u8]) -> Result<Metadata, OauthError> {
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
fn fresh_millis(cache_control: &str) -> i64 {
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

impl Engine {
    /// Fetches the document of a client. The inner error says in plain words why it cannot be used.
    pub(super) async fn fetch_client_document(
        &self,
        id: &str,
        now: Instant,
    ) -> Result<std::result::Result<OauthClient, String>> {
        let is_named = |url: &Url| {
            let mut allowed = self.allow.iter();
            allowed.any(|allow| allow.purpose == Purpose::ClientMetadata && allow.names(url))
        };
        let url = match check_url(id, is_named) {
            Ok(url) => url,
            Err(why) => return Ok(Err(why)),
        };
        let client = self.publishing()?.outbound.for_purpose(Purpose::ClientMetadata);
        let request = http::Request::get(url.as_str())
            .header(header::ACCEPT, "application/json")
            .body(Bytes::new());
        let Ok(request) = request else {
            return Ok(Err("the client_id cannot be fetched".to_owned()));
        };
        let response = match tokio::time::timeout(TIMEOUT, client.send(request, MAX_BYTES)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Ok(Err(format!("the document could not be fetched: {error}"))),
            Err(_) => return Ok(Err("the document did not arrive within 5 seconds".to_owned())),
        };
        if response.status != 200 {
            return Ok(Err(format!(
                "the document was answered with status {}; only 200 is accepted",
                response.status
            )));
        }
        if response.cut.is_some() {
            return Ok(Err(
                "the document is larger than 5 KiB, or it ended early".to_owned()
            ));
        }
        let checked = read(id, &response.body).and_then(|metadata| Ok((metadata.name()?, metadata)));
        let (name, metadata) = match checked {
            Ok(checked) => checked,
            Err(error) => {
                return Ok(Err(format!(
                    "the document is not acceptable: {}",
                    error.description
                )));
            }
        };
        let cache_control = response.headers.get(header::CACHE_CONTROL);
        let fresh = fresh_millis(cache_control.and_then(|v| v.to_str().ok()).unwrap_or_default());
        Ok(Ok(OauthClient {
            id: id.to_owned(),
            kind: ClientKind::Document,
            name,
            may_refresh: metadata.may_refresh(),
            redirect_uris: metadata.redirect_uris,
            secret_digest: None,
            fresh_until: Some(now.plus_millis(fresh)),
            consented_at: None,
            created_at: now,
        }))
    }
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
        read(ID, all.to_string().as_bytes())
    }

    #[test]
    fn documents_of_known_clients_are_accepted() {
        // Members that the documents of ChatGPT (plural auth methods), Claude (a further grant) and Claude Code (loopback
        // redirects without a port) have.
        for change in [
            json!({}),
            json!({ "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"] }),
            json!({ "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer"] }),
            json!({ "redirect_uris": ["http://localhost/callback", "http://127.0.0.1/callback"], "application_type": "native" }),
            json!({ "redirect_uris": ["cursor://anysphere.cursor-mcp/oauth/callback"], "logo_uri": "https://agent.example/logo.svg" }),
        ] {
            assert!(document(change.clone()).is_ok(), "{change}");
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
