//! Events are read in their order, and what they tell is collected by cause.

use std::collections::HashMap;

use searchwright_contract::{
    Clock, Instant,
    audits::Audit,
    events::{Event, EventType},
    ids::AuditId,
};
use searchwright_notices::{
    facts::{AuditFigures, NoticeFacts},
    rules::{self, Cause, Known, KnownAudit, KnownFailure, Lookup, LostConnection, NoticeStep},
    timing::{COLLECT_MILLIS, HOLD_MILLIS, OLD_MILLIS, RETELL_MILLIS},
};
use searchwright_store::{
    Error, Tx,
    access::ProjectScope,
    audits, events,
    notices::{
        self, NewNotice, NoticeRecord,
        facts::{self as stored, LostIntegration},
    },
    posts,
};
use serde_json::Value;

use super::Notices;

/// Projects looked at in one turn.
const PROJECTS: u32 = 50;
/// Events read in one transaction.
const EVENTS: u32 = 200;
/// Posts with an uncertain outcome that are looked at.
const UNCERTAIN: u32 = 500;

impl Notices {
    /// Reads the events that were not read.
    pub(super) async fn collect(&self, now: Instant) -> Result<(), Error> {
        let projects = notices::list_unread(&mut self.db().read().await?, PROJECTS).await?;
        for scope in projects {
            let clock = self.clock().clone();
            let read = self
                .db()
                .write(move |tx| Box::pin(async move { read_events(tx, scope, &clock, now).await }));
            if let Err(error) = read.await {
                tracing::warn!(%error, project = %scope.project(), "the events of a project were not read for notices");
            }
        }
        Ok(())
    }

    /// Looks for posts about which it is not known whether their provider has them, which no event tells.
    pub(super) async fn look_for_uncertain(&self, now: Instant) -> Result<(), Error> {
        let found = stored::list_uncertain(&mut self.db().read().await?, UNCERTAIN).await?;
        for post in found {
            let cause = rules::uncertain(post.id, post.title.as_deref().unwrap_or_default());
            let (id, project) = (self.clock().id(), post.scope.project());
            let begun = self
                .db()
                .write(move |tx| {
                    Box::pin(async move {
                        // Under the lock, so that two processes do not begin it both.
                        notices::lock_head(tx, post.scope).await?;
                        let (kind, scope) = (cause.kind.as_str(), post.scope);
                        match notices::find_standing(tx, scope, kind, &cause.key).await? {
                            Some(_) => Ok::<_, Error>(()),
                            None => begin(tx, scope, id, cause, now).await,
                        }
                    })
                })
                .await;
            if let Err(error) = begun {
                tracing::warn!(%error, %project, "an uncertain publication was not collected");
            }
        }
        Ok(())
    }
}

async fn read_events(tx: &mut Tx, scope: ProjectScope, clock: &Clock, now: Instant) -> Result<(), Error> {
    let position = notices::lock_head(tx, scope).await?;
    // Before the events: what is visible now is visible below.
    let newest = notices::newest_position(tx, scope).await?;
    let read = events::list_after(tx, scope, position, None, EVENTS).await?;
    let Some(last) = read.last().map(|event| event.position) else {
        return notices::set_head(tx, scope, newest).await;
    };
    let mut audits = HashMap::new();
    for positioned in read {
        let event = positioned.event;
        // After a long downtime, nobody is told of what happened before it.
        if event.timestamp < now.plus_millis(-OLD_MILLIS) {
            continue;
        }
        let known = look_up(tx, scope, &event, &mut audits).await?;
        for step in rules::read(&event, known) {
            apply(tx, scope, clock, step, now).await?;
        }
    }
    notices::set_head(tx, scope, last).await
}

fn lost(found: LostIntegration) -> LostConnection {
    LostConnection {
        id: found.id,
        provider: found.provider,
    }
}

/// Reads what has to be known beside an event. A record that is gone is not known.
async fn look_up(
    tx: &mut Tx,
    scope: ProjectScope,
    event: &Event,
    known_audits: &mut HashMap<AuditId, Option<KnownAudit>>,
) -> Result<Known, Error> {
    let mut known = Known::default();
    match rules::lookup(event) {
        None => {}
        Some(Lookup::Post(id)) => {
            known.connection = stored::find_connection_of_post(tx, scope, id).await?;
            if event.kind == EventType::PostPublishFailed {
                let post = missing_as_none(posts::get(tx, scope, id).await)?;
                let failure = post.and_then(|record| record.post.summary.failure);
                known.failure = failure.map(|failure| KnownFailure {
                    code: failure.code,
                    detail: failure.detail,
                });
                known.lost = stored::find_lost_of_post(tx, scope, id).await?.map(lost);
            }
        }
        Some(Lookup::Connection(id)) => known.lost = stored::find_lost(tx, scope, id).await?.map(lost),
        Some(Lookup::Audit(id)) => {
            known.audit = match known_audits.get(&id) {
                Some(audit) => audit.clone(),
                None => {
                    let audit = match missing_as_none(audits::get(tx, scope, id).await)? {
                        Some(audit) => Some(known_audit(tx, scope, audit).await?),
                        None => None,
                    };
                    known_audits.insert(id, audit.clone());
                    audit
                }
            };
        }
    }
    Ok(known)
}

async fn known_audit(tx: &mut Tx, scope: ProjectScope, audit: Audit) -> Result<KnownAudit, Error> {
    Ok(KnownAudit {
        trigger: audit.trigger,
        figures: AuditFigures {
            health: audit.health_score,
            health_before: stored::find_health_before(tx, scope, audit.id).await?,
        },
        error: audit.error.map(|error| error.message).unwrap_or_default(),
    })
}

fn missing_as_none<T>(found: Result<T, Error>) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Error::Missing) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) async fn apply(
    tx: &mut Tx,
    scope: ProjectScope,
    clock: &Clock,
    step: NoticeStep,
    now: Instant,
) -> Result<(), Error> {
    match step {
        NoticeStep::Tell(cause) => {
            let standing = notices::find_standing(tx, scope, cause.kind.as_str(), &cause.key).await?;
            match standing {
                Some(notice) if goes_on(&notice, now) => {
                    let mut facts = facts_of(&notice);
                    facts.add(cause.facts);
                    notices::add(tx, scope, notice.id, encoded(&facts)?).await
                }
                Some(notice) => {
                    notices::end(tx, scope, notice.id, now).await?;
                    begin(tx, scope, clock.id(), *cause, now).await
                }
                None => begin(tx, scope, clock.id(), *cause, now).await,
            }
        }
        NoticeStep::Release(subject, figures) => {
            for notice in notices::list_untold_of(tx, scope, subject).await? {
                let mut facts = facts_of(&notice);
                facts.audit = Some(figures);
                let due = now.plus_millis(COLLECT_MILLIS);
                notices::make_due(tx, scope, notice.id, encoded(&facts)?, due).await?;
            }
            Ok(())
        }
        NoticeStep::End(subject) => notices::end_all_of(tx, scope, subject, now).await,
    }
}

/// Returns whether an event belongs to a notice that stands. One that was told long ago is told again.
fn goes_on(notice: &NoticeRecord, now: Instant) -> bool {
    notice
        .told_at
        .is_none_or(|told| now < told.plus_millis(RETELL_MILLIS))
}

async fn begin(
    tx: &mut Tx,
    scope: ProjectScope,
    id: uuid::Uuid,
    cause: Cause,
    now: Instant,
) -> Result<(), Error> {
    let wait = if cause.is_held {
        HOLD_MILLIS
    } else {
        COLLECT_MILLIS
    };
    let new = NewNotice {
        id,
        kind: cause.kind.as_str(),
        cause: cause.key,
        subject: cause.subject,
        facts: encoded(&cause.facts)?,
        due_at: now.plus_millis(wait),
    };
    notices::insert(tx, scope, new, now).await
}

/// Facts of a notice; those that an older version wrote and this one cannot read are none.
pub(super) fn facts_of(notice: &NoticeRecord) -> NoticeFacts {
    serde_json::from_value(notice.facts.clone()).unwrap_or_default()
}

fn encoded(facts: &NoticeFacts) -> Result<Value, Error> {
    serde_json::to_value(facts).map_err(|error| Error::Defect(error.to_string()))
}
