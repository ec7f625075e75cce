//! Requests of a public OAuth client: metadata, codes, refresh tokens, device codes (RFC 8414, 6749, 8628).

use serde::Deserialize;

use crate::{Client, ClientError};

/// `client_id` of this program.
pub const CLIENT_ID: &str = "cli";

/// Addresses of the authorization server.
#[derive(Clone, Debug, Deserialize)]
pub struct ServerMetadata {
    /// Issuer; responses name it (RFC 9207).
    pub issuer: String,
    /// Page on which a person decides.
    pub authorization_endpoint: String,
    /// Endpoint for tokens.
    pub token_endpoint: String,
    /// Endpoint to give tokens back.
    pub revocation_endpoint: String,
    /// Endpoint that begins a device authorization.
    pub device_authorization_endpoint: String,
    /// Resources for which it signs people in (RFC 9728 section 4): the HTTP API and MCP.
    #[serde(default)]
    pub protected_resources: Vec<String>,
}

impl ServerMetadata {
    /// Returns the URL of MCP: the resource of this server that is not the HTTP API.
    pub fn mcp_url(&self) -> Option<&str> {
        let mut resources = self.protected_resources.iter();
        resources
            .find(|resource| !resource.ends_with("/v1"))
            .map(String::as_str)
    }
}

/// Tokens of a grant.
#[derive(Clone, Deserialize)]
pub struct TokenSet {
    /// Access token.
    pub access_token: String,
    /// Refresh token.
    pub refresh_token: Option<String>,
    /// Seconds for which the access token is valid.
    pub expires_in: i64,
    /// Scopes, separated by spaces.
    #[serde(default)]
    pub scope: String,
}

impl std::fmt::Debug for TokenSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenSet({})", self.scope)
    }
}

/// A device authorization that has begun.
#[derive(Clone, Debug, Deserialize)]
pub struct DeviceAuthorization {
    /// Code with which the tokens are asked for.
    pub device_code: String,
    /// Code that the person enters.
    pub user_code: String,
    /// Page on which it is entered.
    pub verification_uri: String,
    /// Address of the page with the code filled in.
    pub verification_uri_complete: String,
    /// Seconds for which the codes are valid.
    pub expires_in: u64,
    /// Seconds between two polls.
    pub interval: u64,
}

/// A refusal of the token endpoint (RFC 6749 section 5.2).
#[derive(Clone, Debug, Deserialize, thiserror::Error)]
#[error("{error_description} ({error})")]
pub struct TokenError {
    /// Code.
    pub error: String,
    /// Explanation.
    #[serde(default)]
    pub error_description: String,
}

impl Client {
    /// Returns the metadata of the authorization server of this server.
    pub async fn server_metadata(&self) -> Result<ServerMetadata, ClientError> {
        let origin = self.root.trim_end_matches("/v1");
        let url = format!("{origin}/.well-known/oauth-authorization-server");
        let body = self.plain(self.http.get(&url), &url).await?;
        serde_json::from_slice(&body.1).map_err(|e| ClientError::Unexpected(e.to_string()))
    }

    /// Returns the URL of MCP: the resource of this server that is not the HTTP API.
    pub async fn mcp_url(&self) -> Result<Option<String>, ClientError> {
        Ok(self.server_metadata().await?.mcp_url().map(str::to_owned))
    }

    /// Sends a form to an OAuth endpoint. The inner error is a refusal.
    pub async fn send_form<T: serde::de::DeserializeOwned>(
        &self,
        url: &str,
        form: &[(&str, &str)],
    ) -> Result<Result<T, TokenError>, ClientError> {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let request = self
            .http
            .post(url)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body);
        let (status, body) = self.plain(request, url).await?;
        let unexpected = |e: serde_json::Error| ClientError::Unexpected(e.to_string());
        if status == 200 {
            return serde_json::from_slice(&body).map(Ok).map_err(unexpected);
        }
        serde_json::from_slice(&body).map(Err).map_err(unexpected)
    }

    async fn plain(
        &self,
        request: reqwest::RequestBuilder,
        url: &str,
    ) -> Result<(u16, Vec<u8>), ClientError> {
        let unreachable = |e: reqwest::Error| ClientError::Unreachable {
            url: url.to_owned(),
            cause: e.to_string(),
        };
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status().as_u16();
        Ok((status, response.bytes().await.map_err(unreachable)?.to_vec()))
    }
}
