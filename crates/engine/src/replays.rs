//! Stored answers by `Idempotency-Key`: a request that is repeated with the same key gets the same answer and runs once.

use searchwright_contract::{Answer as _, Code, Head, Instant, Meta, Operation, Problem};
use searchwright_store::{Tx, access::ProjectScope, idempotency, seal::SealContext};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{
    Engine,
    call::Credential,
    endpoint::Reply,
    failure::{Result, defect},
};

/// Hours a key is remembered; 30 days where it started work.
const REMEMBERED_HOURS: i64 = 48;

/// Returns the key under which the answer is stored.
pub(crate) fn slot(meta: &Meta, credential: &Credential, key: String) -> idempotency::IdempotencyKey {
    idempotency::IdempotencyKey {
        owner: credential.owner(),
        route: meta.name,
        key,
    }
}

/// Returns the SHA-256 of an operation and its arguments. Members are sorted first, as in RFC 8785, because their order has no
/// meaning.
pub(crate) fn fingerprint(meta: &Meta, arguments: &Value) -> Vec<u8> {
    let mut canonical = arguments.clone();
    canonical.sort_all_objects();
    Sha256::digest(format!("{}{canonical}", meta.name)).to_vec()
}

/// Returns whether an error is stored for its key: errors of the operation itself are, and the same request gets them again.
/// Errors about the caller (401, 403), a missing record (404) or the moment (429, 5xx) are not stored.
pub(crate) const fn is_remembered(code: Code) -> bool {
    matches!(
        code,
        Code::AlreadyExists
            | Code::InvalidState
            | Code::ProviderNotConfigured
            | Code::PreconditionFailed
            | Code::ValidationFailed
    )
}

/// Returns the seal context of a stored answer that has a secret.
fn place(scope: ProjectScope, slot: &idempotency::IdempotencyKey) -> SealContext<'static> {
    SealContext {
        table: "idempotency",
        column: "body",
        row: slot.owner.uuid(),
        project: scope.project(),
    }
}

/// The stored answer to an earlier request with the same key.
pub(crate) async fn replay<O: Operation>(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    slot: &idempotency::IdempotencyKey,
    fingerprint: &[u8],
    now: Instant,
) -> Result<Option<Reply>> {
    let Some(stored) = idempotency::find(tx, scope, slot, now).await? else {
        return Ok(None);
    };
    if stored.fingerprint != fingerprint {
        return Err(Problem::new(
            Code::IdempotencyKeyReused,
            "this Idempotency-Key was sent with another request",
        )
        .hint("use a new key for a new request")
        .into());
    }
    let head: [Option<String>; 2] =
        serde_json::from_value(stored.head).map_err(|e| defect("stored answer", e))?;
    let [etag, location] = head;
    let retry_after = (stored.status == 202).then_some(5);
    let body = if O::Answer::SECRET && stored.status < 300 {
        engine.keyring.open(place(scope, slot), &stored.body)?
    } else {
        stored.body
    };
    Ok(Some(Reply {
        status: stored.status,
        head: Head {
            etag,
            location,
            retry_after,
            ..Head::default()
        },
        body,
        replayed: true,
    }))
}

/// Keeps an answer for the next request with the same key.
pub(crate) async fn keep<O: Operation>(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    slot: &idempotency::IdempotencyKey,
    fingerprint: Vec<u8>,
    reply: &Reply,
    now: Instant,
) -> Result<()> {
    let hours = if O::META.effect.runs() {
        30 * 24
    } else {
        REMEMBERED_HOURS
    };
    let head = serde_json::json!([reply.head.etag, reply.head.location]);
    let body = if O::Answer::SECRET && reply.status < 300 {
        engine.keyring.seal(place(scope, slot), &reply.body)?
    } else {
        reply.body.clone()
    };
    let stored = idempotency::StoredResponse {
        fingerprint,
        status: reply.status,
        head,
        body,
    };
    if idempotency::insert(tx, scope, slot, stored, now, now.plus_millis(hours * 3_600_000)).await? {
        return Ok(());
    }
    // Another request with this key committed between our look and our write; ours must not take effect.
    Err(Problem::new(
        Code::IdempotencyInProgress,
        "a request with this Idempotency-Key is being carried out",
    )
    .after(1)
    .into())
}
