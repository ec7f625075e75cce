//! Revocation (RFC 7009) and introspection (RFC 7662).

use searchwright_contract::ids::{CredentialId, UserId};
use searchwright_store::{Tx, account_activity, oauth_clients::OauthClient, oauth_grants, oauth_tokens};
use serde_json::{Value, json};

use super::{OauthCode, OauthError};
use crate::{AccountEntry, People};
use searchwright_engine::secrets::{self, SecretKind};
use searchwright_failure::Result;

impl People {
    /// Revokes a token of a client: a refresh token with all tokens of its grant. Unknown tokens and those of other clients are
    /// left alone, and not told apart.
    pub async fn revoke_token(&self, client: &OauthClient, token: &str, address: &str) -> Result<()> {
        let (digest, now) = (secrets::digest(token), self.clock.now());
        let is_access = secrets::is_well_formed(SecretKind::AccessToken, token);
        let entry = AccountEntry {
            action: "token.revoked",
            user: None,
            client: Some(&client.id),
            address,
            detail: None,
        };
        let (mut entry, id) = (self.account_activity(entry, now), client.id.clone());
        let work = async move |tx: &mut Tx| {
            if is_access {
                let found = oauth_tokens::find_grant_of_access(tx, &digest).await?;
                if found.is_some_and(|(_, client)| client == id) {
                    oauth_tokens::delete_access(tx, &digest).await?;
                    account_activity::insert(tx, entry).await?;
                }
                return Ok::<_, searchwright_store::Error>(());
            }
            let Some(found) = oauth_tokens::find_refresh(tx, &digest).await? else {
                return Ok(());
            };
            let grant = oauth_grants::lock(tx, found.grant).await?;
            if let Some(grant) = grant.filter(|grant| grant.client == id)
                && oauth_grants::revoke(tx, grant.id, "the client revoked it", now).await?
            {
                entry.user = Some(grant.user);
                "grant.revoked".clone_into(&mut entry.action);
                account_activity::insert(tx, entry).await?;
            }
            Ok(())
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        self.db.credentials_changed().await?;
        Ok(())
    }

    /// Revokes a grant on behalf of its person. Returns `false` if it is not theirs, or was revoked before.
    pub async fn revoke_grant(&self, user: UserId, grant: CredentialId, address: &str) -> Result<bool> {
        let now = self.clock.now();
        let entry = AccountEntry {
            action: "grant.revoked",
            user: Some(user),
            client: None,
            address,
            detail: Some("on the account page"),
        };
        let mut entry = self.account_activity(entry, now);
        let work = async move |tx: &mut Tx| {
            let found = oauth_grants::lock(tx, grant).await?;
            let Some(found) = found.filter(|found| found.user == user) else {
                return Ok::<_, searchwright_store::Error>(false);
            };
            let is_revoked = oauth_grants::revoke(tx, grant, "the person revoked it", now).await?;
            if is_revoked {
                entry.client = Some(found.client);
                account_activity::insert(tx, entry).await?;
            }
            Ok(is_revoked)
        };
        let is_revoked = self.db.write(move |tx| Box::pin(work(tx))).await?;
        self.db.credentials_changed().await?;
        Ok(is_revoked)
    }

    /// Returns what a confidential client may know of an access token.
    pub async fn introspect(
        &self,
        client: &OauthClient,
        token: &str,
    ) -> Result<std::result::Result<Value, OauthError>> {
        if client.secret_digest.is_none() {
            let why = "introspection is for clients that authenticate with a secret";
            return Ok(Err(OauthError::new(OauthCode::InvalidClient, why)));
        }
        let inactive = json!({ "active": false });
        if !secrets::is_well_formed(SecretKind::AccessToken, token) {
            return Ok(Ok(inactive));
        }
        let now = self.clock.now();
        let found =
            oauth_tokens::find_access(&mut self.db.read().await?, &secrets::digest(token), now).await?;
        Ok(Ok(match found.filter(|token| token.expires_at > now) {
            None => inactive,
            Some(token) => {
                let scopes: Vec<&str> = token.scopes.iter().map(|scope| scope.as_str()).collect();
                json!({
                    "active": true, "client_id": token.client, "sub": token.user, "aud": token.resource,
                    "scope": scopes.join(" "), "exp": token.expires_at.millis() / 1_000, "token_type": "Bearer",
                })
            }
        }))
    }
}
