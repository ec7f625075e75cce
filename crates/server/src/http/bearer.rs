//! The one way to authenticate: `Authorization: Bearer` (RFC 6750). Cookies are not read.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use http::HeaderMap;
use searchwright_contract::{Code, Instant, Problem, ids::CredentialId};
use searchwright_engine::{
    Credential, Engine, Failure,
    identity::verified_cache::VerifiedCache,
    secrets::{self, SecretKind},
};
use searchwright_people::oauth;
use searchwright_store::{access, oauth_grants, oauth_tokens};

use crate::app::App;

/// A protected resource: where a credential is presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// HTTP API.
    Api,
    /// MCP.
    Mcp,
}

impl Door {
    /// Audience that a token needs here.
    fn resource(self, app: &App) -> &str {
        match self {
            Self::Api => &app.resources.api,
            Self::Mcp => &app.resources.mcp,
        }
    }

    /// URL of the metadata of the resource (RFC 9728).
    fn metadata_url(self, app: &App) -> String {
        let resource = self.resource(app);
        let path = url::Url::parse(resource).map_or(0, |url| url.path().trim_end_matches('/').len());
        let (origin, path) = resource.split_at(resource.len() - path);
        format!("{origin}/.well-known/oauth-protected-resource{path}")
    }
}

/// Verifies credentials and records their last use.
#[derive(Debug)]
pub struct Gate {
    engine: Arc<Engine>,
    /// Verified credentials by digest. A change that is announced counts at once; where announcements are not heard, none is kept.
    verified: VerifiedCache<[u8; 32], Credential>,
    key_uses: Uses,
    grant_uses: Uses,
}

/// Last use by id of the key or the grant.
type Uses = Mutex<HashMap<CredentialId, Instant>>;

fn take_uses(uses: &Uses) -> Vec<(CredentialId, Instant)> {
    uses.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .drain()
        .collect()
}

/// Returns the bearer token of a request.
pub fn token<'a>(headers: &'a HeaderMap, query: Option<&str>) -> Result<&'a str, Problem> {
    let mut values = headers.get_all(http::header::AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        if query.is_some_and(|q| q.split('&').any(|p| p.starts_with("access_token="))) {
            return Err(misplaced("a credential in the query is not accepted")
                .hint("send it as Authorization: Bearer …"));
        }
        return Err(Problem::new(Code::Unauthenticated, "no credential was sent")
            .hint("send Authorization: Bearer <API key or OAuth access token>"));
    };
    if values.next().is_some() {
        return Err(misplaced("two Authorization headers were sent"));
    }
    let invalid = || Problem::new(Code::InvalidToken, "the credential is not valid");
    let text = value.to_str().map_err(|_| invalid())?;
    match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(token.trim()),
        _ => Err(
            Problem::new(Code::Unauthenticated, "the Authorization scheme is not Bearer")
                .hint("send Authorization: Bearer <API key or OAuth access token>"),
        ),
    }
}

fn misplaced(detail: &str) -> Problem {
    Problem {
        misplaced_credential: true,
        ..Problem::new(Code::MalformedRequest, detail)
    }
}

impl Gate {
    /// A gate in front of this engine.
    pub fn new(engine: Arc<Engine>) -> Self {
        Self {
            engine,
            verified: VerifiedCache::default(),
            key_uses: Uses::default(),
            grant_uses: Uses::default(),
        }
    }

    /// Returns the credential of a bearer token. Unknown and revoked are one answer; only the holder of a genuine one hears
    /// that it expired.
    pub async fn verify(&self, token: &str, app: &App, door: Door) -> Result<Credential, Failure> {
        let invalid = || {
            Problem::new(Code::InvalidToken, "the credential is not valid")
                .hint("check that it was copied whole; make a new key or sign in again if it was revoked")
        };
        let is_key = secrets::is_well_formed(SecretKind::ApiKey, token);
        if !is_key && !secrets::is_well_formed(SecretKind::AccessToken, token) {
            return Err(invalid().into());
        }
        let digest = secrets::digest(token);
        let now = self.engine.clock.now();
        // Before the look: a change announced after it is then noticed by the next request.
        let generation = self.engine.db.credential_generation();
        let steady = self.engine.clock.steady();
        let known = generation.and_then(|generation| self.verified.find(&digest, generation, steady));
        let credential = match known {
            Some(credential) => credential,
            None => {
                let found = self.find(&digest, is_key, now).await?.ok_or_else(invalid)?;
                if let Some(generation) = generation {
                    self.verified.store(digest, found.clone(), generation, steady);
                }
                found
            }
        };
        match &credential {
            Credential::Key(access) => {
                if access.key.revoked_at.is_some() {
                    return Err(invalid().into());
                }
                if let Some(at) = access.key.expires_at.filter(|at| *at <= now) {
                    let expired = Problem::new(Code::TokenExpired, format!("the key expired at {at}"));
                    return Err(expired.hint("ask a person for a new key").into());
                }
                record(&self.key_uses, access.key.id, now);
            }
            Credential::Token(access) => {
                if access.resource != door.resource(app) {
                    let detail = format!("this token is for {}, not for this address", access.resource);
                    return Err(Problem::new(Code::InvalidToken, detail)
                        .hint(format!("ask for a token with resource={}", door.resource(app)))
                        .into());
                }
                if access.expires_at <= now {
                    let detail = format!("the token expired at {}", access.expires_at);
                    return Err(Problem::new(Code::TokenExpired, detail)
                        .hint("use the refresh token to get a new one")
                        .into());
                }
                record(&self.grant_uses, access.grant, now);
            }
            Credential::Session(_) => {}
        }
        Ok(credential)
    }

    async fn find(
        &self,
        digest: &[u8; 32],
        is_key: bool,
        now: Instant,
    ) -> Result<Option<Credential>, Failure> {
        let mut tx = self.engine.db.read().await?;
        Ok(if is_key {
            let found = access::find_key_by_digest(&mut tx, digest).await?;
            found.map(|access| Credential::Key(Arc::new(access)))
        } else {
            let found = oauth_tokens::find_access(&mut tx, digest, now).await?;
            found.map(|access| Credential::Token(Arc::new(access)))
        })
    }

    /// Stores when credentials were last used; called every minute and at shutdown.
    pub async fn flush(&self) {
        let (keys, grants) = (take_uses(&self.key_uses), take_uses(&self.grant_uses));
        if keys.is_empty() && grants.is_empty() {
            return;
        }
        let written = self
            .engine
            .db
            .write(move |tx| {
                Box::pin(async move {
                    access::record_key_uses(tx, keys).await?;
                    oauth_grants::record_uses(tx, grants).await
                })
            })
            .await;
        if let Err(error) = written {
            tracing::warn!(%error, "the last use of credentials was not stored");
        }
    }
}

fn record(uses: &Uses, id: CredentialId, now: Instant) {
    uses.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(id, now);
}

/// `WWW-Authenticate` of a refusal, where one belongs (RFC 6750 section 3, RFC 9728 section 5.1).
pub fn challenge(app: &App, door: Door, problem: &Problem) -> Option<String> {
    let metadata = door.metadata_url(app);
    let (error, scope) = match problem.code {
        Code::Unauthenticated => {
            return Some(format!(
                "Bearer realm=\"api\", resource_metadata=\"{metadata}\", scope=\"{}\"",
                oauth::read_scopes().join(" ")
            ));
        }
        Code::InvalidToken | Code::TokenExpired => ("invalid_token", None),
        Code::InsufficientScope => {
            let scope = problem.extra.get("scope").and_then(serde_json::Value::as_str);
            ("insufficient_scope", scope)
        }
        _ if problem.misplaced_credential => ("invalid_request", None),
        _ => return None,
    };
    let scope = scope.map_or_else(String::new, |scope| format!(", scope=\"{scope}\""));
    Some(format!(
        "Bearer realm=\"api\", error=\"{error}\", error_description=\"{}\"{scope}, resource_metadata=\"{metadata}\"",
        problem.title
    ))
}
