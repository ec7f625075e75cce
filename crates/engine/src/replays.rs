//! Stored answers by `Idempotency-Key`: a request that is repeated with the same key gets the same answer and runs once.
//!
//! Nothing is looked up or written before a request runs: its answer is stored at the end of its own transaction, which the unique
//! key lets only one of the requests with this key commit. Any other is rolled back or fails by itself, and then finds the answer.

use searchwright_contract::{Answer as _, Code, Head, Instant, Meta, Operation, Problem};
use searchwright_store::{Error, Tx, access::ProjectScope, idempotency, seal::SealContext};
use serde_json::Value;

use crate::{
    Engine,
    call::Credential,
    endpoint::Reply,
    failure::{Failure, Result, defect, keyed::Undone},
};

/// Hours a key is remembered; 30 days where it started work.
const REMEMBERED_HOURS: i64 = 48;

/// A request with a key.
#[derive(Clone, Debug)]
pub(crate) struct KeyedRequest {
    slot: idempotency::IdempotencyKey,
    /// SHA-256 of the operation and its arguments.
    fingerprint: Vec<u8>,
}

impl KeyedRequest {
    pub(crate) fn new(meta: &Meta, credential: &Credential, key: String, arguments: &Value) -> Self {
        let slot = idempotency::IdempotencyKey {
            owner: credential.owner(),
            route: meta.name,
            key,
        };
        Self {
            fingerprint: idempotency::fingerprint(slot.route, arguments),
            slot,
        }
    }

    /// Returns the seal context of a stored answer that has a secret.
    fn place(&self, scope: ProjectScope) -> SealContext<'static> {
        SealContext {
            table: "idempotency",
            column: "body",
            row: self.slot.owner.uuid(),
            project: scope.project(),
        }
    }

    /// The stored answer to an earlier request with the same key.
    pub(crate) async fn replay<O: Operation>(
        &self,
        engine: &Engine,
        scope: ProjectScope,
        now: Instant,
    ) -> Result<Option<Reply>> {
        let mut tx = engine.db.read().await?;
        let Some(stored) = idempotency::find(&mut tx, scope, &self.slot, now).await? else {
            return Ok(None);
        };
        if stored.fingerprint != self.fingerprint {
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
            engine.keyring.open(self.place(scope), &stored.body)?
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

    /// Keeps an answer for the next request with the same key, at the end of the transaction.
    pub(crate) async fn keep<O: Operation>(
        &self,
        engine: &Engine,
        tx: &mut Tx,
        scope: ProjectScope,
        reply: &Reply,
        now: Instant,
    ) -> Result<(), Undone> {
        let hours = if O::META.effect.runs() {
            30 * 24
        } else {
            REMEMBERED_HOURS
        };
        let body = if O::Answer::SECRET && reply.status < 300 {
            engine
                .keyring
                .seal(self.place(scope), &reply.body)
                .map_err(Failure::from)?
        } else {
            reply.body.clone()
        };
        let stored = idempotency::StoredResponse {
            fingerprint: self.fingerprint.clone(),
            status: reply.status,
            head: serde_json::json!([reply.head.etag, reply.head.location]),
            body,
        };
        let expires_at = now.plus_millis(hours * 3_600_000);
        Ok(idempotency::insert(tx, scope, &self.slot, stored, expires_at, engine.clock.id()).await?)
    }

    /// Makes room for an answer where there is one that has expired.
    pub(crate) async fn forget_expired(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
        now: Instant,
    ) -> Result<(), Error> {
        idempotency::delete_if_expired(tx, scope, &self.slot, now).await
    }
}
