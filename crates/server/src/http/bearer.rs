//! The one way to authenticate: `Authorization: Bearer` (RFC 6750). Cookies are not read.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use http::HeaderMap;
use searchwright_contract::{Code, Instant, Problem, ids::CredentialId};
use searchwright_engine::{Credential, Engine, Failure, keys};
use searchwright_store::access::{self, KeyAccess};

/// Milliseconds for which a verified key is cached. On PostgreSQL a revocation takes effect within this time on every
/// replica; on SQLite at once, because a change is announced (`Db::key_generation`).
const BELIEVED_MILLIS: i64 = 2_000;
/// Cached keys, at most.
const MAX_BELIEVED: usize = 10_000;

/// Cached keys by digest, with their validity.
type Believed = HashMap<[u8; 32], (Belief, Arc<KeyAccess>)>;

/// Validity of a cached key: until a time, and while no change of keys is announced.
#[derive(Clone, Copy, Debug)]
struct Belief {
    until: Instant,
    generation: u64,
}

/// Verifies credentials and records their last use.
#[derive(Debug)]
pub struct Gate {
    engine: Arc<Engine>,
    believed: Mutex<Believed>,
    uses: Mutex<HashMap<CredentialId, Instant>>,
}

/// Returns the bearer token of a request.
pub fn token<'a>(headers: &'a HeaderMap, query: Option<&str>) -> Result<&'a str, Problem> {
    let mut values = headers.get_all(http::header::AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        if query.is_some_and(|q| q.split('&').any(|p| p.starts_with("access_token="))) {
            return Err(Problem::new(
                Code::MalformedRequest,
                "a credential in the query is not accepted",
            )
            .hint("send it as Authorization: Bearer …"));
        }
        return Err(Problem::new(Code::Unauthenticated, "no credential was sent")
            .hint("send Authorization: Bearer <API key>"));
    };
    if values.next().is_some() {
        return Err(Problem::new(
            Code::MalformedRequest,
            "two Authorization headers were sent",
        ));
    }
    let invalid = || Problem::new(Code::InvalidToken, "the credential is not valid");
    let text = value.to_str().map_err(|_| invalid())?;
    match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(token.trim()),
        _ => Err(
            Problem::new(Code::Unauthenticated, "the Authorization scheme is not Bearer")
                .hint("send Authorization: Bearer <API key>"),
        ),
    }
}

impl Gate {
    /// A gate in front of this engine.
    pub fn new(engine: Arc<Engine>) -> Self {
        Self {
            engine,
            believed: Mutex::default(),
            uses: Mutex::default(),
        }
    }

    /// The credential behind a token. Unknown and revoked are one answer; only the holder of a genuine
    /// key hears that it expired.
    pub async fn verify(&self, token: &str) -> Result<Credential, Failure> {
        let invalid = || {
            Problem::new(Code::InvalidToken, "the credential is not valid")
                .hint("check that the key was copied whole; make a new one if it was revoked")
        };
        if !keys::is_well_formed(token) {
            return Err(invalid().into());
        }
        let digest = keys::digest(token);
        let now = self.engine.clock.now();
        // Before the look: a change announced after it is then noticed by the next request.
        let generation = self.engine.db.key_generation();
        let access = match self.remembered(&digest, now, generation) {
            Some(access) => access,
            None => {
                let found = access::find_key_by_digest(&mut self.engine.db.read().await?, &digest).await?;
                let access = Arc::new(found.ok_or_else(invalid)?);
                let until = now.plus_millis(BELIEVED_MILLIS);
                self.believe(digest, Belief { until, generation }, &access);
                access
            }
        };
        if access.key.revoked_at.is_some_and(|at| at <= now) {
            return Err(invalid().into());
        }
        if let Some(at) = access.key.expires_at.filter(|at| *at <= now) {
            return Err(
                Problem::new(Code::TokenExpired, format!("the key expired at {at}"))
                    .hint("ask a person for a new key")
                    .into(),
            );
        }
        self.uses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(access.key.id, now);
        Ok(Credential::Key(access))
    }

    fn remembered(&self, digest: &[u8; 32], now: Instant, generation: u64) -> Option<Arc<KeyAccess>> {
        let believed = self.believed.lock().unwrap_or_else(PoisonError::into_inner);
        let (belief, access) = believed.get(digest)?;
        (belief.until > now && belief.generation == generation).then(|| access.clone())
    }

    fn believe(&self, digest: [u8; 32], belief: Belief, access: &Arc<KeyAccess>) {
        let mut believed = self.believed.lock().unwrap_or_else(PoisonError::into_inner);
        if believed.len() >= MAX_BELIEVED {
            believed.clear();
        }
        believed.insert(digest, (belief, access.clone()));
    }

    /// Writes down when keys were last used; called every minute and at shutdown.
    pub async fn flush(&self) {
        let uses: Vec<_> = self
            .uses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .drain()
            .collect();
        if uses.is_empty() {
            return;
        }
        let written = self
            .engine
            .db
            .write(move |tx| Box::pin(async move { access::record_key_uses(tx, uses).await }))
            .await;
        if let Err(error) = written {
            tracing::warn!(%error, "the last use of keys was not written");
        }
    }
}

/// `WWW-Authenticate` of a refusal, where one belongs (RFC 6750 section 3).
pub fn challenge(problem: &Problem) -> Option<String> {
    let error = match problem.code {
        Code::Unauthenticated => return Some("Bearer realm=\"api\"".to_owned()),
        Code::InvalidToken | Code::TokenExpired => "invalid_token",
        Code::InsufficientScope => {
            let scope = problem.extra.get("scope").and_then(serde_json::Value::as_str);
            let scope = scope.map_or_else(String::new, |scope| format!(", scope=\"{scope}\""));
            return Some(format!(
                "Bearer realm=\"api\", error=\"insufficient_scope\"{scope}"
            ));
        }
        _ => return None,
    };
    Some(format!(
        "Bearer realm=\"api\", error=\"{error}\", error_description=\"{}\"",
        problem.title
    ))
}
