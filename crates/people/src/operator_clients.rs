//! OAuth clients that the operator creates: programs with a secret, which may also look tokens up (RFC 7662).

use searchwright_contract::{Code, Problem};
use searchwright_identity::redirects;
use searchwright_store::{
    Tx, account_activity,
    oauth_clients::{self, ClientKind, OauthClient},
};
use uuid::Uuid;

use crate::{AccountEntry, People};
use searchwright_engine::{
    admin::check_name,
    secrets::{self, SecretKind},
};
use searchwright_failure::{Failure, Result, fault};

/// A client that was created. Its secret is shown only now.
#[derive(Clone, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CreatedClient {
    /// `client_id`.
    pub client_id: String,
    /// `client_secret`.
    pub client_secret: String,
    /// Name.
    pub name: String,
}

impl std::fmt::Debug for CreatedClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CreatedClient({})", self.client_id)
    }
}

impl People {
    /// Creates a client with a secret. Without redirect URIs it can only look tokens up.
    pub async fn create_oauth_client(&self, name: &str, redirect_uris: Vec<String>) -> Result<CreatedClient> {
        let name = check_name(name, 64)?;
        for (index, uri) in redirect_uris.iter().enumerate() {
            if let Some(why) = redirects::fault(uri) {
                return Err(fault(&format!("/redirectUris/{index}"), "invalid", why));
            }
        }
        let (now, secret) = (self.clock.now(), secrets::generate(SecretKind::ClientSecret)?);
        let client = OauthClient {
            id: self.clock.id::<Uuid>().to_string(),
            kind: ClientKind::Created,
            name: name.clone(),
            redirect_uris,
            may_refresh: true,
            secret_digest: Some(secrets::digest(&secret)),
            fresh_until: None,
            consented_at: None,
            created_at: now,
        };
        let created = CreatedClient {
            client_id: client.id.clone(),
            client_secret: secret,
            name,
        };
        let mut entry = AccountEntry::new("client.created", None, "").with_detail("operator");
        entry.client = Some(&created.client_id);
        let entry = self.account_activity(entry, now);
        let work = async move |tx: &mut Tx| {
            oauth_clients::save(tx, &client).await?;
            account_activity::insert(tx, entry).await
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(created)
    }

    /// Returns the clients that the operator created, as ids and names.
    pub async fn created_oauth_clients(&self) -> Result<Vec<OauthClient>> {
        Ok(oauth_clients::list_created(&mut self.db.read().await?).await?)
    }

    /// Deletes a client that the operator created. Its tokens end.
    pub async fn delete_oauth_client(&self, id: &str) -> Result<()> {
        let now = self.clock.now();
        let mut entry = AccountEntry::new("client.deleted", None, "").with_detail("operator");
        entry.client = Some(id);
        let (entry, id) = (self.account_activity(entry, now), id.to_owned());
        let work = async move |tx: &mut Tx| {
            if !oauth_clients::delete_created(tx, &id).await? {
                return Err(
                    Problem::new(Code::NotFound, "the operator created no client with this id").into(),
                );
            }
            account_activity::insert(tx, entry).await?;
            Ok::<_, Failure>(())
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(self.db.credentials_changed().await?)
    }
}
