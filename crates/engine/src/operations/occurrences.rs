//! Changes to occurrences by callers: done, undone, ignored, open again.

use searchwright_contract::{
    Code, Instant, Scope,
    actions::{AllowedActions, Permission},
    ids::IssueId,
    issues::OccurrenceState::{self, Done, Ignored, Open, RecheckPending, Reopened, Resolved, StillPresent},
    occurrences::{
        IgnoreOccurrences, MarkDone, MarkOutcome, Marked, Marking, Pair, UndoDone, UnignoreOccurrences,
    },
};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    issues,
    occurrences::{self, Actor, OccurrenceKey, StateChange},
    projects,
};

use super::rechecks;
use crate::{
    Engine,
    call::{Call, fault},
    endpoint::Handle,
    failure::Result,
    jobs::Job,
};

/// Change of an occurrence that a caller requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Done,
    Undo,
    Ignore,
    Unignore,
}

/// The state that comes of a wish: itself where nothing is to be done, or why it cannot be.
fn next(state: OccurrenceState, wish: Wish) -> std::result::Result<OccurrenceState, &'static str> {
    match (wish, state) {
        (Wish::Done, Open | Reopened | StillPresent | Done) => Ok(Done),
        // It is proven already, or about to be.
        (Wish::Done, Resolved | RecheckPending) => Ok(state),
        (Wish::Done, Ignored) => Err("occurrence_ignored"),
        (Wish::Undo, Done) => Ok(Open),
        (Wish::Undo, RecheckPending) => Err("recheck_pending"),
        (Wish::Undo, Open | Reopened | StillPresent) => Ok(state),
        (Wish::Undo, Resolved | Ignored) => Err("invalid_state"),
        (Wish::Ignore, Open | Done | RecheckPending | Reopened | StillPresent | Ignored) => Ok(Ignored),
        (Wish::Ignore, Resolved) => Err("invalid_state"),
        (Wish::Unignore, Ignored) => Ok(Open),
        (Wish::Unignore, state) => Ok(state),
    }
}

/// Returns the actions of the caller on an occurrence in this state: all that are not refused, also those without an effect.
pub(super) fn actions(call: &Call, state: OccurrenceState) -> AllowedActions {
    let write = call.permission(Scope::AuditsWrite);
    let recheck = match state {
        // The recheck that is under way is answered.
        RecheckPending => None,
        state => rechecks::refusal(Some(state)).map(|(code, _)| code),
    };
    let refusal = |wish| next(state, wish).err();
    let all = [
        ("done", refusal(Wish::Done)),
        ("undo", refusal(Wish::Undo)),
        ("ignore", refusal(Wish::Ignore)),
        ("unignore", refusal(Wish::Unignore)),
        ("recheck", recheck),
    ];
    let mut actions = AllowedActions::default();
    for (name, refused) in all {
        let permission = match (&write, refused) {
            (Permission::Yes(_), Some(code)) => Permission::no(code, format!("the occurrence is {state}")),
            _ => write.clone(),
        };
        actions = actions.with(name, permission);
    }
    actions
}

/// An occurrence that a pair names.
pub(super) struct NamedOccurrence {
    pub(super) key: OccurrenceKey,
    pub(super) state: OccurrenceState,
    version: String,
}

impl NamedOccurrence {
    /// Returns whether it has changed since the version that the caller has read.
    pub(super) fn has_changed(&self, pair: &Pair) -> bool {
        pair.if_version
            .as_ref()
            .is_some_and(|version| *version != self.version)
    }
}

/// Returns the occurrences that pairs name, in their order; `None` for a pair that names none of the project.
pub(super) async fn find_named(
    tx: &mut Tx,
    scope: ProjectScope,
    pairs: &[Pair],
) -> Result<Vec<Option<NamedOccurrence>>> {
    let key = |pair: &Pair| Some((pair.issue_id.parse().ok()?, pair.page_id.parse().ok()?));
    let keys: Vec<Option<OccurrenceKey>> = pairs.iter().map(key).collect();
    let valid: Vec<OccurrenceKey> = keys.iter().copied().flatten().collect();
    let mut versions = occurrences::find_versions(tx, scope, &valid).await?.into_iter();
    let named = keys.into_iter().map(|key| {
        let key = key?;
        let (state, version) = versions.next().flatten()?;
        Some(NamedOccurrence { key, state, version })
    });
    Ok(named.collect())
}

async fn mark(
    call: &Call,
    tx: &mut Tx,
    pairs: &[Pair],
    wish: Wish,
    note: Option<String>,
    until: Option<Instant>,
) -> Result<Marking> {
    let scope = call.scope()?;
    // Nothing changes between the check of `ifVersion` and the change.
    projects::lock(tx, scope).await?;
    let named = find_named(tx, scope, pairs).await?;
    let keys: Vec<Option<OccurrenceKey>> = named
        .iter()
        .map(|named| named.as_ref().map(|named| named.key))
        .collect();
    let mut states: Vec<Option<OccurrenceState>> = named
        .iter()
        .map(|named| named.as_ref().map(|named| named.state))
        .collect();
    let (mut marking, mut changes) = (
        Marking {
            changed: 0,
            refused: 0,
            items: Vec::new(),
        },
        Vec::new(),
    );
    for (at, (pair, named)) in pairs.iter().zip(&named).enumerate() {
        // A pair that is named twice stands where its first naming has taken it.
        let first = keys.iter().position(|key| *key == keys[at]).unwrap_or(at);
        let mut item = Marked {
            issue_id: pair.issue_id.clone(),
            page_id: pair.page_id.clone(),
            outcome: MarkOutcome::Refused,
            state: states[first],
            code: None,
        };
        let wished = named.as_ref().zip(states[first]);
        match wished.map(|(named, state)| (named, state, next(state, wish))) {
            None => item.code = Some("not_found".to_owned()),
            Some((named, ..)) if named.has_changed(pair) => {
                item.code = Some(Code::PreconditionFailed.as_str().to_owned());
            }
            Some((_, _, Err(code))) => item.code = Some(code.to_owned()),
            Some((named, from, Ok(to))) => {
                let again = from == to && !(wish == Wish::Ignore && first == at);
                item.outcome = if again {
                    MarkOutcome::Unchanged
                } else {
                    MarkOutcome::Changed
                };
                item.state = Some(to);
                if !again {
                    changes.push(StateChange {
                        key: named.key,
                        from,
                        to,
                    });
                    states[first] = Some(to);
                }
            }
        }
        match item.outcome {
            MarkOutcome::Changed => marking.changed += 1,
            MarkOutcome::Refused => marking.refused += 1,
            MarkOutcome::Unchanged => {}
        }
        marking.items.push(item);
    }
    let (id, name) = match call.credential.user() {
        Some(user) => (format!("user:{}", user.id), user.name),
        None => (
            format!("key:{}", call.credential.owner()),
            call.credential.name().to_owned(),
        ),
    };
    let actor = Actor {
        id,
        name,
        note,
        at: call.now,
    };
    occurrences::change_states(tx, scope, &changes, until, &actor).await?;
    let mut touched: Vec<IssueId> = changes.iter().map(|change| change.key.0).collect();
    touched.sort_unstable();
    touched.dedup();
    // An audit that is being analysed has written occurrences, but not yet every issue; it counts them all at its end.
    let known: Vec<IssueId> = issues::list_ids(tx, scope).await?;
    for issue in touched.into_iter().filter(|issue| known.contains(issue)) {
        issues::recount(tx, scope, issue).await?;
    }
    if matches!(wish, Wish::Ignore | Wish::Unignore) && !changes.is_empty() {
        Job::Rescore
            .enqueue_once(tx, scope, call.engine.clock.id(), call.now)
            .await?;
    }
    Ok(marking)
}

impl Handle<MarkDone> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: MarkDone) -> Result<Marking> {
        mark(call, tx, &operation.occurrences, Wish::Done, operation.note, None).await
    }
}

impl Handle<UndoDone> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: UndoDone) -> Result<Marking> {
        mark(call, tx, &operation.occurrences, Wish::Undo, operation.note, None).await
    }
}

impl Handle<IgnoreOccurrences> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: IgnoreOccurrences) -> Result<Marking> {
        if operation.until.is_some_and(|until| until <= call.now) {
            return Err(fault("/until", "in_the_past", "has to lie in the future"));
        }
        mark(
            call,
            tx,
            &operation.occurrences,
            Wish::Ignore,
            operation.note,
            operation.until,
        )
        .await
    }
}

impl Handle<UnignoreOccurrences> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: UnignoreOccurrences) -> Result<Marking> {
        mark(
            call,
            tx,
            &operation.occurrences,
            Wish::Unignore,
            operation.note,
            None,
        )
        .await
    }
}
