//! An entry of the ledger, and the state machine of occurrences.

use searchwright_contract::{
    Instant,
    ids::{AuditId, RecheckId},
    issues::OccurrenceState,
    rechecks::RecheckOutcome,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::defect;
use crate::Result;

/// Instants after which claims and proofs are newer than the findings, and so are not overruled by them.
#[derive(Clone, Copy, Debug)]
pub struct EvidenceCutoff {
    /// For claims that an occurrence is done.
    pub claim: Instant,
    /// For proofs that it is resolved.
    pub proof: Instant,
}

impl EvidenceCutoff {
    /// Creates the cutoff of findings that rest on pages fetched since `began`.
    pub fn from_start(began: Instant) -> Self {
        Self {
            claim: began,
            proof: began,
        }
    }
}

/// Originator of changes of state.
#[derive(Clone, Debug)]
pub struct Actor {
    /// Identifier in the ledger: `key:`, `audit:` or `recheck:` and an id, or `system`.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Note to the change.
    pub note: Option<String>,
    /// Time of the change.
    pub at: Instant,
}

/// Returns the first 8 bytes of a SHA-256 as hexadecimal digits.
pub(crate) fn short_hash(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An occurrence: an issue on a page. Postcard stores fields by position, so a change of the fields needs a new form of the leaf.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) state: OccurrenceState,
    /// Evidence, JSON text.
    pub(crate) evidence: String,
    pub(crate) first_seen: AuditId,
    pub(crate) last_seen: AuditId,
    #[serde(with = "millis")]
    pub(crate) checked_at: Instant,
    /// The last audit could not tell whether it is still there.
    pub(crate) stale: bool,
    pub(crate) reopen_count: u32,
    pub(crate) reopen_reason: Option<String>,
    #[serde(with = "optional_millis")]
    pub(crate) resolved_at: Option<Instant>,
    pub(crate) resolution: Option<String>,
    #[serde(with = "optional_millis")]
    pub(crate) done_at: Option<Instant>,
    pub(crate) done_by: Option<String>,
    /// Note of the person who marked it.
    pub(crate) note: Option<String>,
    #[serde(with = "optional_millis")]
    pub(crate) ignored_until: Option<Instant>,
    pub(crate) recheck_id: Option<RecheckId>,
    pub(crate) recheck_outcome: Option<RecheckOutcome>,
    #[serde(with = "optional_millis")]
    pub(crate) rechecked_at: Option<Instant>,
    /// State before the last change by an audit.
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

/// Serialization of an optional instant as milliseconds.
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
    pub(super) fn new(evidence: String, audit: AuditId, now: Instant) -> Self {
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

    /// Hash of all fields, for conditional changes.
    pub(crate) fn version(&self) -> Result<String> {
        Ok(short_hash(&postcard::to_stdvec(self).map_err(defect)?))
    }

    /// Whether it is neither resolved nor ignored.
    pub(crate) const fn is_active(&self) -> bool {
        !matches!(self.state, OccurrenceState::Resolved | OccurrenceState::Ignored)
    }

    /// Whether it is not resolved, and `audit` has not seen it.
    pub(crate) fn is_unseen(&self, audit: AuditId) -> bool {
        self.state != OccurrenceState::Resolved && self.last_seen != audit
    }

    /// Changes the state on behalf of a person. Returns `false`, and changes nothing, if it is not in the state `from`.
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
        let has_note = is_done || to == OccurrenceState::Ignored;
        self.done_at = is_done.then_some(actor.at);
        self.done_by = is_done.then(|| actor.name.clone());
        self.note = actor.note.clone().filter(|_| has_note);
        self.ignored_until = until;
        self.was = None;
        self.state = to;
        true
    }

    /// Marks it as being rechecked. Returns `false` if it is not done.
    pub(crate) fn begin_recheck(&mut self) -> bool {
        let is_claimed = self.state == OccurrenceState::Done;
        if is_claimed {
            self.state = OccurrenceState::RecheckPending;
        }
        is_claimed
    }

    /// Applies the outcome of a recheck. Returns `false` if none is pending.
    pub(crate) fn apply_proof(&mut self, proof: RecheckProof) -> bool {
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

    /// Marks it as resolved by an audit.
    pub(crate) fn resolve(&mut self, resolution: &str, now: Instant) {
        self.was = Some(self.state);
        self.changed_at = Some(now);
        self.state = OccurrenceState::Resolved;
        self.resolved_at = Some(now);
        self.resolution = Some(resolution.to_owned());
        self.checked_at = now;
        self.stale = false;
    }

    /// Opens it if it was ignored until `now` or earlier. Returns whether it was.
    pub(crate) fn unsnooze(&mut self, now: Instant) -> bool {
        let is_over =
            self.state == OccurrenceState::Ignored && self.ignored_until.is_some_and(|at| at <= now);
        if is_over {
            self.state = OccurrenceState::Open;
            self.note = None;
            self.ignored_until = None;
        }
        is_over
    }
}

/// Outcome of a recheck of an occurrence.
#[derive(Clone, Debug)]
pub(crate) struct RecheckProof {
    pub(crate) recheck: RecheckId,
    pub(crate) to: OccurrenceState,
    pub(crate) outcome: RecheckOutcome,
    pub(crate) resolution: Option<&'static str>,
    /// New evidence, JSON text.
    pub(crate) evidence: Option<String>,
    pub(crate) at: Instant,
}

/// Applies a finding of an audit, or of a recheck of the page, and returns whether anything changed.
///
/// An occurrence that was resolved, or marked as done before the page was fetched, is reopened. One that was resolved after
/// that stays resolved.
pub(crate) fn apply_finding(
    known: &mut Option<Entry>,
    evidence: String,
    audit: AuditId,
    cutoff: EvidenceCutoff,
    now: Instant,
) -> bool {
    let Some(entry) = known else {
        *known = Some(Entry::new(evidence, audit, now));
        return true;
    };
    let is_resolved = entry.state == OccurrenceState::Resolved;
    if is_resolved && entry.resolved_at.is_some_and(|at| at > cutoff.proof) {
        return false;
    }
    let is_claimed = matches!(
        entry.state,
        OccurrenceState::Done | OccurrenceState::RecheckPending
    );
    if is_resolved || is_claimed && entry.done_at.is_none_or(|at| at <= cutoff.claim) {
        let reason = if is_resolved { "recurred" } else { "still_present" };
        entry.reopen_reason = Some(reason.to_owned());
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
