//! What the ledger knows of an issue on a page, and how it changes: the state machine, in one place.

use searchwright_contract::{Instant, issues::OccurrenceState, rechecks::RecheckOutcome};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::leaf::defect;
use crate::{
    Result,
    issues::Newest,
    occurrences::{Actor, short_hash},
};

/// An issue on a page. Stored by place: a new member comes last and needs a new form of the leaf.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) state: OccurrenceState,
    /// What was seen, JSON text.
    pub(crate) evidence: String,
    pub(crate) first_seen: Uuid,
    pub(crate) last_seen: Uuid,
    #[serde(with = "millis")]
    pub(crate) checked_at: Instant,
    /// Nothing could be told of it last time.
    pub(crate) stale: bool,
    pub(crate) reopen_count: u32,
    pub(crate) reopen_reason: Option<String>,
    #[serde(with = "optional_millis")]
    pub(crate) resolved_at: Option<Instant>,
    pub(crate) resolution: Option<String>,
    #[serde(with = "optional_millis")]
    pub(crate) done_at: Option<Instant>,
    pub(crate) done_by: Option<String>,
    /// What who marked it said.
    pub(crate) note: Option<String>,
    #[serde(with = "optional_millis")]
    pub(crate) ignored_until: Option<Instant>,
    pub(crate) recheck_id: Option<Uuid>,
    pub(crate) recheck_outcome: Option<RecheckOutcome>,
    #[serde(with = "optional_millis")]
    pub(crate) rechecked_at: Option<Instant>,
    /// The state before the last change by an audit.
    pub(crate) was: Option<OccurrenceState>,
    #[serde(with = "optional_millis")]
    pub(crate) changed_at: Option<Instant>,
}

/// Serde of an instant as milliseconds since the Unix epoch.
mod millis {
    use searchwright_contract::Instant;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(at: &Instant, to: S) -> Result<S::Ok, S::Error> {
        at.millis().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Instant, D::Error> {
        i64::deserialize(from).map(Instant::from_millis)
    }
}

/// The same for an instant that may be missing.
mod optional_millis {
    use searchwright_contract::Instant;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(at: &Option<Instant>, to: S) -> Result<S::Ok, S::Error> {
        at.map(Instant::millis).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Instant>, D::Error> {
        Ok(Option::<i64>::deserialize(from)?.map(Instant::from_millis))
    }
}

impl Entry {
    pub(super) fn new(evidence: String, audit: Uuid, now: Instant) -> Self {
        Self {
            state: OccurrenceState::Open,
            evidence,
            first_seen: audit,
            last_seen: audit,
            checked_at: now,
            stale: false,
            reopen_count: 0,
            reopen_reason: None,
            resolved_at: None,
            resolution: None,
            done_at: None,
            done_by: None,
            note: None,
            ignored_until: None,
            recheck_id: None,
            recheck_outcome: None,
            rechecked_at: None,
            was: None,
            changed_at: None,
        }
    }

    /// Another one for whatever is another.
    pub(crate) fn version(&self) -> Result<String> {
        Ok(short_hash(&postcard::to_stdvec(self).map_err(defect)?))
    }

    /// Neither over nor lived with.
    pub(crate) const fn is_active(&self) -> bool {
        !matches!(self.state, OccurrenceState::Resolved | OccurrenceState::Ignored)
    }

    /// Whether an audit has yet to say what became of it. One that is lived with stays what it is, whatever that is.
    pub(crate) fn is_unseen(&self, audit: Uuid) -> bool {
        self.state != OccurrenceState::Resolved && self.last_seen != audit
    }

    /// Somebody says something of it. Whether it was in the state they took it for.
    pub(crate) fn mark(
        &mut self,
        from: OccurrenceState,
        to: OccurrenceState,
        until: Option<Instant>,
        actor: &Actor,
    ) -> bool {
        if self.state != from {
            return false;
        }
        let is_done = to == OccurrenceState::Done;
        let is_said = is_done || to == OccurrenceState::Ignored;
        self.done_at = is_done.then_some(actor.at);
        self.done_by = is_done.then(|| actor.name.clone());
        self.note = actor.note.clone().filter(|_| is_said);
        self.ignored_until = until;
        self.was = None;
        self.state = to;
        true
    }

    /// A recheck is to prove it. Whether there is a claim to prove.
    pub(crate) fn await_proof(&mut self) -> bool {
        let is_claimed = self.state == OccurrenceState::Done;
        if is_claimed {
            self.state = OccurrenceState::RecheckPending;
        }
        is_claimed
    }

    /// What a recheck found out.
    pub(crate) fn prove(&mut self, proof: Proof) -> bool {
        if self.state != OccurrenceState::RecheckPending {
            return false;
        }
        self.state = proof.to;
        self.recheck_id = Some(proof.recheck);
        self.recheck_outcome = Some(proof.outcome);
        self.rechecked_at = Some(proof.at);
        self.resolution = proof.resolution.map(str::to_owned);
        self.resolved_at = proof.resolution.map(|_| proof.at);
        if let Some(evidence) = proof.evidence {
            self.evidence = evidence;
        }
        if self.state != OccurrenceState::Done {
            self.checked_at = proof.at;
            self.stale = false;
        }
        true
    }

    /// Looked for by an audit and over.
    pub(crate) fn resolve(&mut self, why: &str, now: Instant) {
        self.was = Some(self.state);
        self.changed_at = Some(now);
        self.state = OccurrenceState::Resolved;
        self.resolved_at = Some(now);
        self.resolution = Some(why.to_owned());
        self.checked_at = now;
        self.stale = false;
    }

    /// Opens it if it was ignored until then.
    pub(crate) fn wake(&mut self, now: Instant) -> bool {
        let wakes = self.state == OccurrenceState::Ignored && self.ignored_until.is_some_and(|at| at <= now);
        if wakes {
            self.state = OccurrenceState::Open;
            self.note = None;
            self.ignored_until = None;
        }
        wakes
    }
}

/// What a recheck found out of a claim.
#[derive(Clone, Debug)]
pub(crate) struct Proof {
    pub(crate) recheck: Uuid,
    pub(crate) to: OccurrenceState,
    pub(crate) outcome: RecheckOutcome,
    pub(crate) resolution: Option<&'static str>,
    /// JSON text.
    pub(crate) evidence: Option<String>,
    pub(crate) at: Instant,
}

/// An audit finds it, or a recheck of its page does. Whether that changes anything: what was proven later than what was seen
/// stays proven. It is open again where it was resolved, or marked as done before what was seen was.
pub(crate) fn find(
    known: &mut Option<Entry>,
    evidence: String,
    audit: Uuid,
    newest: Newest,
    now: Instant,
) -> bool {
    let Some(entry) = known else {
        *known = Some(Entry::new(evidence, audit, now));
        return true;
    };
    let is_resolved = entry.state == OccurrenceState::Resolved;
    if is_resolved && entry.resolved_at.is_some_and(|at| at > newest.proof) {
        return false;
    }
    let is_claimed = matches!(
        entry.state,
        OccurrenceState::Done | OccurrenceState::RecheckPending
    );
    if is_resolved || is_claimed && entry.done_at.is_none_or(|at| at <= newest.claim) {
        let why = if is_resolved { "recurred" } else { "still_present" };
        entry.reopen_reason = Some(why.to_owned());
        entry.reopen_count += u32::from(is_resolved);
        entry.was = Some(entry.state);
        entry.changed_at = Some(now);
        entry.state = OccurrenceState::Reopened;
    }
    entry.resolved_at = None;
    entry.resolution = None;
    entry.evidence = evidence;
    entry.checked_at = now;
    entry.stale = false;
    entry.last_seen = entry.last_seen.max(audit);
    true
}
