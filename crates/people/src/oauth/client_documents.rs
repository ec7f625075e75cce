//! Client ID metadata documents, fetched only for a person who is signed in, through the guarded client, without redirects.

use bytes::Bytes;
use http::header;
use searchwright_contract::Instant;
use searchwright_identity::oauth::client_metadata::{check_url, fresh_millis, read_document};
use searchwright_outbound::Purpose;
use searchwright_store::oauth_clients::{ClientKind, OauthClient};
use url::Url;

use crate::People;
use searchwright_failure::Result;

/// Largest document in bytes.
const MAX_BYTES: usize = 5 << 10;
/// Time in which it has to arrive.
const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

impl People {
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
        let checked = read_document(id, &response.body).and_then(|metadata| Ok((metadata.name()?, metadata)));
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
