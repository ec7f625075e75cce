//! The token endpoint: redeeming codes, and rotating refresh tokens within their family.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use searchwright_contract::{Instant, Scope};
use searchwright_store::{
    Tx, account_activity,
    oauth_clients::OauthClient,
    oauth_grants::{self, Grant},
    oauth_tokens::{self, RefreshToken},
};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::{OFFLINE_ACCESS, OauthCode, OauthError, Resources, parameters::Parameters};
use crate::{AccountEntry, People};
use searchwright_engine::secrets::{self, SecretKind};
use searchwright_failure::Result;

/// Lifetime of an access token.
const ACCESS_MILLIS: i64 = 3_600_000;
/// Time after which a refresh token that is not used expires.
const REFRESH_MILLIS: i64 = 30 * 24 * 3_600_000;
/// Time in which a client that lost the answer may refresh again with the token before.
const RETRY_MILLIS: i64 = 30_000;

/// Answer of the token endpoint (RFC 6749 section 5.1).
#[derive(Clone, Serialize)]
pub struct Tokens {
    access_token: String,
    token_type: &'static str,
    expires_in: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
    scope: String,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tokens({})", self.scope)
    }
}

/// TokenOutcome at the token endpoint.
pub type TokenOutcome = std::result::Result<Tokens, OauthError>;

/// Tokens that are made before a transaction, which may use them.
pub(super) struct FreshTokens {
    access: String,
    refresh: String,
}

impl FreshTokens {
    pub(super) fn generate() -> Result<Self> {
        Ok(Self {
            access: secrets::generate(SecretKind::AccessToken)?,
            refresh: secrets::generate(SecretKind::RefreshToken)?,
        })
    }

    /// Stores the tokens of a grant. `parent` is the refresh token that they replace.
    pub(super) async fn issue(
        self,
        tx: &mut Tx,
        grant: &Grant,
        scopes: String,
        refreshes: bool,
        parent: Option<[u8; 32]>,
        now: Instant,
    ) -> searchwright_store::Result<Tokens> {
        let end = now.plus_millis(ACCESS_MILLIS).min(grant.expires_at);
        oauth_tokens::create_access(tx, &secrets::digest(&self.access), grant.id, &scopes, end).await?;
        if refreshes {
            let token = RefreshToken {
                grant: grant.id,
                parent,
                expires_at: now.plus_millis(REFRESH_MILLIS).min(grant.expires_at),
                used_at: None,
            };
            oauth_tokens::create_refresh(tx, &secrets::digest(&self.refresh), &token).await?;
        }
        Ok(Tokens {
            access_token: self.access,
            token_type: "Bearer",
            expires_in: (end.millis() - now.millis()) / 1_000,
            refresh_token: refreshes.then_some(self.refresh),
            scope: scopes,
        })
    }
}

/// Returns whether a grant gets refresh tokens.
pub(super) fn refreshes(client: &OauthClient, grant: &Grant) -> bool {
    client.may_refresh || grant.scopes.split(' ').any(|scope| scope == OFFLINE_ACCESS)
}

fn refuse(code: OauthCode, why: &str) -> OauthError {
    OauthError::new(code, why)
}

fn invalid_grant(why: &str) -> OauthError {
    refuse(OauthCode::InvalidGrant, why)
}

/// Returns whether `verifier` is the one of a challenge (RFC 7636, S256).
fn is_verifier(verifier: &str, challenge: &str) -> bool {
    let has_form = (43..=128).contains(&verifier.len())
        && verifier
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-._~".contains(&b));
    let made = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
    has_form && bool::from(made.as_bytes().ct_eq(challenge.as_bytes()))
}

impl People {
    /// Redeems an authorization code.
    pub async fn redeem_code(
        &self,
        client: OauthClient,
        parameters: &Parameters,
        resources: &Resources,
        address: &str,
    ) -> Result<TokenOutcome> {
        let redemption = match Redemption::read(parameters, resources) {
            Ok(redemption) => redemption,
            Err(error) => return Ok(Err(error)),
        };
        let (now, fresh) = (self.clock.now(), FreshTokens::generate()?);
        let log = self.token_log(&client, address, now);
        let work = async move |tx: &mut Tx| redemption.carry_out(tx, &client, fresh, log, now).await;
        let outcome = self.db.write(move |tx| Box::pin(work(tx))).await?;
        if outcome.is_err() {
            // A code that was redeemed twice has ended its tokens.
            self.db.credentials_changed().await?;
        }
        Ok(outcome)
    }

    /// Exchanges a refresh token for new tokens.
    pub async fn refresh(
        &self,
        client: OauthClient,
        parameters: &Parameters,
        resources: &Resources,
        address: &str,
    ) -> Result<TokenOutcome> {
        let rotation = match Rotation::read(parameters, resources) {
            Ok(rotation) => rotation,
            Err(error) => return Ok(Err(error)),
        };
        let (now, fresh) = (self.clock.now(), FreshTokens::generate()?);
        let log = self.token_log(&client, address, now);
        let work = async move |tx: &mut Tx| rotation.carry_out(tx, &client, fresh, log, now).await;
        let outcome = self.db.write(move |tx| Box::pin(work(tx))).await?;
        if outcome.is_err() {
            self.db.credentials_changed().await?;
        }
        Ok(outcome)
    }

    fn token_log(
        &self,
        client: &OauthClient,
        address: &str,
        now: Instant,
    ) -> account_activity::AccountActivity {
        let entry = AccountEntry {
            action: "tokens.issued",
            user: None,
            client: Some(&client.id),
            address,
            detail: None,
        };
        self.account_activity(entry, now)
    }
}

/// A request to redeem a code.
struct Redemption {
    code: [u8; 32],
    verifier: String,
    redirect_uri: Option<String>,
    resource: Option<String>,
}

impl Redemption {
    fn read(parameters: &Parameters, resources: &Resources) -> std::result::Result<Self, OauthError> {
        Ok(Self {
            code: secrets::digest(parameters.need("code")?),
            verifier: parameters.need("code_verifier")?.to_owned(),
            redirect_uri: parameters.get("redirect_uri").map(str::to_owned),
            resource: resources.named(parameters)?,
        })
    }

    async fn carry_out(
        self,
        tx: &mut Tx,
        client: &OauthClient,
        fresh: FreshTokens,
        mut log: account_activity::AccountActivity,
        now: Instant,
    ) -> searchwright_store::Result<TokenOutcome> {
        let unknown = || invalid_grant("the code is not valid, or it has expired");
        let Some(found) = oauth_grants::find_code(tx, &self.code).await? else {
            return Ok(Err(unknown()));
        };
        // Of two requests with one code, the second waits here and then sees that it is used.
        let Some(grant) = oauth_grants::lock(tx, found.grant).await? else {
            return Ok(Err(unknown()));
        };
        let Some(code) = oauth_grants::find_code(tx, &self.code).await? else {
            return Ok(Err(unknown()));
        };
        if grant.client != client.id {
            return Ok(Err(unknown()));
        }
        if self
            .redirect_uri
            .as_ref()
            .is_some_and(|asked| *asked != code.redirect_uri)
        {
            return Ok(Err(invalid_grant(
                "redirect_uri is not the one of the authorization request",
            )));
        }
        if !is_verifier(&self.verifier, &code.code_challenge) {
            return Ok(Err(invalid_grant("code_verifier does not belong to the code")));
        }
        if self
            .resource
            .as_ref()
            .is_some_and(|asked| *asked != grant.resource)
        {
            let why = "resource is not the one of the authorization request";
            return Ok(Err(refuse(OauthCode::InvalidTarget, why)));
        }
        log.user = Some(grant.user);
        if code.used_at.is_some() {
            // Whoever redeems it a second time knows the verifier: one of the two is a thief.
            oauth_grants::revoke(tx, grant.id, "the code was redeemed twice", now).await?;
            "oauth.code_reuse_detected".clone_into(&mut log.action);
            account_activity::insert(tx, log).await?;
            return Ok(Err(invalid_grant(
                "the code was used before; its tokens are revoked",
            )));
        }
        if code.expires_at <= now || grant.revoked_at.is_some() {
            return Ok(Err(unknown()));
        }
        oauth_grants::use_code(tx, &self.code, now).await?;
        let (scopes, refreshes) = (grant.scopes.clone(), refreshes(client, &grant));
        log.detail = Some("authorization code".to_owned());
        account_activity::insert(tx, log).await?;
        Ok(Ok(fresh.issue(tx, &grant, scopes, refreshes, None, now).await?))
    }
}

/// A request to exchange a refresh token.
struct Rotation {
    token: [u8; 32],
    resource: Option<String>,
    scope: Option<String>,
}

/// State of a refresh token that was presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presented {
    /// The one live leaf of its family.
    Live,
    /// Used a moment ago; its successor may have been lost on its way.
    Retried,
    /// Used before that: somebody has a copy.
    Reused,
    /// Expired.
    Expired,
}

fn presented(token: &RefreshToken, now: Instant) -> Presented {
    match token.used_at {
        None if token.expires_at <= now => Presented::Expired,
        None => Presented::Live,
        Some(used) if now.millis() - used.millis() <= RETRY_MILLIS => Presented::Retried,
        Some(_) => Presented::Reused,
    }
}

impl Rotation {
    fn read(parameters: &Parameters, resources: &Resources) -> std::result::Result<Self, OauthError> {
        Ok(Self {
            token: secrets::digest(parameters.need("refresh_token")?),
            resource: resources.named(parameters)?,
            scope: parameters.get("scope").map(str::to_owned),
        })
    }

    async fn carry_out(
        self,
        tx: &mut Tx,
        client: &OauthClient,
        fresh: FreshTokens,
        mut log: account_activity::AccountActivity,
        now: Instant,
    ) -> searchwright_store::Result<TokenOutcome> {
        let unknown = || invalid_grant("the refresh token is not valid, or it has expired");
        let Some(found) = oauth_tokens::find_refresh(tx, &self.token).await? else {
            return Ok(Err(unknown()));
        };
        let Some(grant) = oauth_grants::lock(tx, found.grant).await? else {
            return Ok(Err(unknown()));
        };
        // Read again under the lock: a concurrent refresh may have used it.
        let Some(token) = oauth_tokens::find_refresh(tx, &self.token).await? else {
            return Ok(Err(unknown()));
        };
        if grant.client != client.id || grant.revoked_at.is_some() || grant.expires_at <= now {
            return Ok(Err(unknown()));
        }
        log.user = Some(grant.user);
        // What is wrong with the request is said before the family changes.
        if self
            .resource
            .as_ref()
            .is_some_and(|asked| *asked != grant.resource)
        {
            let why = "resource is not the one of the grant";
            return Ok(Err(refuse(OauthCode::InvalidTarget, why)));
        }
        let scopes = match &self.scope {
            None => grant.scopes.clone(),
            Some(asked) => match narrowed(&grant.scopes, asked) {
                Some(scopes) => scopes,
                None => {
                    let why = "scope has to be part of what was granted";
                    return Ok(Err(refuse(OauthCode::InvalidScope, why)));
                }
            },
        };
        let is_reused = match presented(&token, now) {
            Presented::Expired => return Ok(Err(unknown())),
            Presented::Live => false,
            Presented::Retried => {
                // If the successor was used, the answer had arrived, and this is a copy.
                !oauth_tokens::delete_unused_successors(tx, grant.id, &self.token).await?
            }
            Presented::Reused => true,
        };
        if is_reused {
            oauth_grants::revoke(tx, grant.id, "a refresh token was used twice", now).await?;
            "oauth.refresh_reuse_detected".clone_into(&mut log.action);
            account_activity::insert(tx, log).await?;
            return Ok(Err(invalid_grant(
                "the refresh token was used before; all tokens of this grant are revoked, sign in again",
            )));
        }
        if token.used_at.is_none() {
            oauth_tokens::use_refresh(tx, &self.token, now).await?;
        }
        log.detail = Some("refresh token".to_owned());
        account_activity::insert(tx, log).await?;
        Ok(Ok(fresh
            .issue(tx, &grant, scopes, true, Some(self.token), now)
            .await?))
    }
}

/// Returns the asked scopes if all of them were granted.
fn narrowed(granted: &str, asked: &str) -> Option<String> {
    let held: Vec<Scope> = granted.split(' ').filter_map(Scope::parse).collect();
    let wanted: Vec<&str> = asked.split_ascii_whitespace().collect();
    let is_granted = |scope: &&str| match Scope::parse(scope) {
        Some(scope) => held.iter().any(|held| held.grants(scope)),
        None => granted.split(' ').any(|granted| granted == *scope),
    };
    (!wanted.is_empty() && wanted.iter().all(is_granted)).then(|| wanted.join(" "))
}

#[cfg(test)]
mod tests {
    use searchwright_contract::ids::CredentialId;

    use super::*;

    #[test]
    fn verifiers_are_checked() {
        // RFC 7636, appendix B.
        let (verifier, challenge) = (
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        );
        assert!(is_verifier(verifier, challenge));
        assert!(!is_verifier(&verifier.to_lowercase(), challenge));
        assert!(!is_verifier(challenge, challenge), "plain");
        assert!(!is_verifier("", challenge));
    }

    #[test]
    fn scopes_can_only_be_narrowed() {
        let granted = "keywords:write posts:read offline_access";
        assert_eq!(narrowed(granted, "posts:read").as_deref(), Some("posts:read"));
        assert_eq!(
            narrowed(granted, "keywords:read").as_deref(),
            Some("keywords:read")
        );
        assert_eq!(narrowed(granted, "posts:write"), None);
        assert_eq!(narrowed(granted, "nonsense"), None);
        assert_eq!(narrowed(granted, " "), None);
    }

    #[test]
    fn refresh_tokens_are_live_once() {
        let now = Instant::from_millis(1_000_000_000);
        let token = |used: Option<i64>, expires: i64| RefreshToken {
            grant: CredentialId::MIN,
            parent: None,
            expires_at: now.plus_millis(expires),
            used_at: used.map(|ago| now.plus_millis(-ago)),
        };
        assert_eq!(presented(&token(None, 1), now), Presented::Live);
        assert_eq!(presented(&token(None, 0), now), Presented::Expired);
        assert_eq!(presented(&token(Some(RETRY_MILLIS), 1), now), Presented::Retried);
        assert_eq!(
            presented(&token(Some(RETRY_MILLIS + 1), 1), now),
            Presented::Reused
        );
    }
}
