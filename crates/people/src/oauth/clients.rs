//! Clients: the command line, those that registered themselves (RFC 7591), and those that publish a metadata document.

use searchwright_identity::oauth::client_metadata::{Metadata, is_document_url};
use searchwright_store::{
    Tx, account_activity,
    activity::RETENTION_DAYS,
    oauth_clients::{self, ClientKind, OauthClient},
    oauth_devices, oauth_grants, oauth_requests, oauth_tokens,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

use super::{OauthCode, OauthError};
use crate::{AccountEntry, People};
use searchwright_engine::secrets;
use searchwright_failure::{Result, defect};

/// `client_id` of the command line.
pub const CLI: &str = "cli";
/// Registered clients, at most.
const MAX_REGISTERED: u64 = 10_000;
/// Time after which a client without a consent is deleted.
const UNUSED_MILLIS: i64 = 7 * 24 * 3_600_000;
/// Time for which grants that ended are kept, as long as the log that names them.
const KEPT_MILLIS: i64 = RETENTION_DAYS * 24 * 3_600_000;

/// A client that was not found, or whose document is not acceptable.
#[derive(Debug)]
pub enum ClientError {
    /// No client has this id.
    Unknown,
    /// The document cannot be used, for this reason.
    Document(String),
}

impl People {
    /// Returns a client; its metadata document is fetched if `may_fetch` and it is not fresh.
    pub(super) async fn find_client(
        &self,
        id: &str,
        may_fetch: bool,
    ) -> Result<std::result::Result<OauthClient, ClientError>> {
        if id.len() > 2_000 {
            return Ok(Err(ClientError::Unknown));
        }
        if id == CLI {
            return self.built_in_client().await.map(Ok);
        }
        let now = self.clock.now();
        let stored = oauth_clients::find(&mut self.db.read().await?, id).await?;
        if !is_document_url(id) {
            return Ok(stored.ok_or(ClientError::Unknown));
        }
        if let Some(why) = self.accounts().clients.documents.refusal(id) {
            return Ok(Err(ClientError::Document(why.to_owned())));
        }
        match stored {
            Some(client) if !may_fetch || client.fresh_until.is_some_and(|until| until > now) => {
                Ok(Ok(client))
            }
            None if !may_fetch => Ok(Err(ClientError::Unknown)),
            stored => {
                let mut client = match self.fetch_client_document(id, now).await? {
                    Ok(client) => client,
                    Err(why) => return Ok(Err(ClientError::Document(why))),
                };
                client.consented_at = stored.and_then(|stored| stored.consented_at);
                let saved = client.clone();
                self.db
                    .write(move |tx| Box::pin(async move { oauth_clients::save(tx, &saved).await }))
                    .await?;
                Ok(Ok(client))
            }
        }
    }

    async fn built_in_client(&self) -> Result<OauthClient> {
        if let Some(client) = oauth_clients::find(&mut self.db.read().await?, CLI).await? {
            return Ok(client);
        }
        let client = OauthClient {
            id: CLI.to_owned(),
            kind: ClientKind::BuiltIn,
            name: "Searchwright command line".to_owned(),
            redirect_uris: vec!["http://127.0.0.1/callback".to_owned()],
            may_refresh: true,
            secret_digest: None,
            fresh_until: None,
            consented_at: None,
            created_at: self.clock.now(),
        };
        let saved = client.clone();
        self.db
            .write(move |tx| Box::pin(async move { oauth_clients::save(tx, &saved).await }))
            .await?;
        Ok(client)
    }

    /// Registers a client (RFC 7591) and returns the answer. Identical registrations get the same id.
    pub async fn register_client(
        &self,
        body: &[u8],
        address: &str,
    ) -> Result<std::result::Result<Value, OauthError>> {
        if !self.accounts().clients.may_register {
            let why = "this server registers no clients; use a client ID metadata document, or ask its operator for a client_id";
            return Ok(Err(OauthError::new(OauthCode::InvalidClientMetadata, why)));
        }
        let checked = Metadata::parse(body).and_then(|metadata| {
            metadata.check_redirect_uris()?;
            Ok((metadata.name()?, metadata))
        });
        let (name, metadata) = match checked {
            Ok(checked) => checked,
            Err(error) => return Ok(Err(error)),
        };
        let now = self.clock.now();
        let client = OauthClient {
            id: self.clock.id::<Uuid>().to_string(),
            kind: ClientKind::Registered,
            name,
            may_refresh: metadata.may_refresh(),
            redirect_uris: metadata.redirect_uris,
            secret_digest: None,
            fresh_until: None,
            consented_at: None,
            created_at: now,
        };
        let identity = serde_json::to_vec(&json!([client.name, client.redirect_uris, client.may_refresh]))
            .map_err(|e| defect("registration", e))?;
        let fingerprint: [u8; 32] = Sha256::digest(identity).into();
        let entry = self.account_activity(
            AccountEntry {
                action: "client.registered",
                user: None,
                client: Some(&client.id),
                address,
                detail: Some(&client.name),
            },
            now,
        );
        let work = async move |tx: &mut Tx| {
            if oauth_clients::count_registered(tx).await? >= MAX_REGISTERED {
                return Ok::<_, searchwright_store::Error>(None);
            }
            let stored = oauth_clients::register(tx, &client, &fingerprint).await?;
            if stored.id == client.id {
                account_activity::insert(tx, entry).await?;
            }
            Ok(Some(stored))
        };
        let stored = self.db.write(move |tx| Box::pin(work(tx))).await?;
        let Some(stored) = stored else {
            let why =
                "too many clients are registered; those that nobody consented to are deleted after 7 days";
            return Ok(Err(OauthError::new(OauthCode::TemporarilyUnavailable, why)));
        };
        let mut grants = vec!["authorization_code"];
        if stored.may_refresh {
            grants.push("refresh_token");
        }
        Ok(Ok(json!({
            "client_id": stored.id,
            "client_id_issued_at": stored.created_at.millis() / 1_000,
            "client_name": stored.name,
            "redirect_uris": stored.redirect_uris,
            "grant_types": grants,
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        })))
    }

    /// Returns the client that authenticates at an endpoint for clients: a public one by its id, a confidential one by its secret.
    pub async fn authenticate_client(
        &self,
        id: &str,
        secret: Option<&str>,
    ) -> Result<std::result::Result<OauthClient, OauthError>> {
        let refuse = |why: &str| Ok(Err(OauthError::new(OauthCode::InvalidClient, why)));
        let Ok(client) = self.find_client(id, false).await? else {
            return refuse("there is no such client; it may have been deleted: register again");
        };
        match (client.secret_digest, secret) {
            (None, _) => Ok(Ok(client)),
            (Some(stored), Some(secret)) if bool::from(stored.ct_eq(&secrets::digest(secret))) => {
                Ok(Ok(client))
            }
            (Some(_), _) => refuse("the client secret is missing or wrong"),
        }
    }

    /// Deletes clients that never got a consent, expired requests, devices and tokens, and grants that ended long ago.
    pub async fn delete_expired_authorizations(&self) -> Result<()> {
        let now = self.clock.now();
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    oauth_requests::delete_expired(tx, now).await?;
                    oauth_devices::delete_expired(tx, now).await?;
                    oauth_tokens::delete_expired(tx, now).await?;
                    oauth_grants::delete_ended(tx, now.plus_millis(-KEPT_MILLIS)).await?;
                    oauth_clients::delete_unused(tx, now.plus_millis(-UNUSED_MILLIS)).await
                })
            })
            .await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(value: &Value) -> Metadata {
        Metadata::parse(value.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn metadata_is_checked() {
        let good = parse(&json!({
            "client_name": "  Agent\u{7}  ", "redirect_uris": ["http://127.0.0.1/cb"], "grant_types": ["authorization_code", "refresh_token", "urn:x"],
            "unknown": { "member": 1 },
        }));
        assert!(good.check_redirect_uris().is_ok());
        assert_eq!(
            (good.name().unwrap().as_str(), good.may_refresh()),
            ("Agent", true)
        );
        let nameless = parse(&json!({ "redirect_uris": ["https://a.example/cb"] }));
        assert_eq!(
            (nameless.name().unwrap().as_str(), nameless.may_refresh()),
            ("a.example", false)
        );
        for bad in [
            json!({}),
            json!({ "redirect_uris": [] }),
            json!({ "redirect_uris": ["javascript:alert(1)"] }),
            json!({ "redirect_uris": ["https://a.example/cb", "http://a.example/cb"] }),
            json!({ "redirect_uris": vec!["https://a.example/cb"; 11] }),
        ] {
            assert!(parse(&bad).check_redirect_uris().is_err(), "{bad}");
        }
        assert!(parse(&json!({ "client_name": "x".repeat(65) })).name().is_err());
        assert!(Metadata::parse(b"[").is_err());
        assert!(Metadata::parse(br#"{"redirect_uris": "https://a.example"}"#).is_err());
    }
}
