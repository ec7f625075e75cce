//! Publishes a post at a provider, or unpublishes it. The next step is decided by `publishing/decide.rs` from what the provider
//! has. This module stores what is about to be sent before it is sent, and the outcome after.
//!
//! An interrupted attempt resumes by looking the post up at the provider. While an answer is lost, the job waits between
//! look-ups.

mod abort;
pub(super) mod held;
mod item;

mod outcome;
mod setback;

use std::time::Duration;

pub(super) use abort::{abort, withdraw};
use searchwright_contract::{
    Code, Problem,
    events::EventType,
    ids::AttemptId,
    integrations::{IntegrationError, Readiness},
    posts::{Post, PublicationState},
};
use searchwright_publishing::{
    Aim, Before, Cause, Change, Connection, Known, Marker, Next, Publisher, Remote, Sent, Trouble, Wanted,
    Why, decide, secrets, vendors,
};
use searchwright_store::{
    access::ProjectScope,
    autopilot_runs, integrations, posts, projects,
    publications::{self, PublicationAttempt, PublicationRecord as Published},
};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::{JobContext, JobError};
use crate::{
    Engine, connect,
    failure::Result,
    posts::attempts::{DRAFT, GONE},
};

/// Milliseconds between look-ups after an answer was lost.
const LOOKUP_WAITS_MILLIS: [i64; 6] = [5_000, 30_000, 120_000, 600_000, 3_600_000, 21_600_000];
/// Look-ups that find nothing, and milliseconds between the first and the last of them, after which the post cannot be there.
const MISSES: u32 = 3;
const MISSED_FOR: i64 = 600_000;
/// Attempts of a request that certainly was not carried out.
const MAX_ATTEMPTS: i64 = 4;
/// Maximum time from the start of the write that announces a request until the request is sent; far below the length of a
/// lease.
const FRESH: Duration = Duration::from_secs(15);
/// Milliseconds until the first repeat.
const FIRST_RETRY_MILLIS: i64 = 5_000;
/// Milliseconds for which a scheduled post waits for a provider that is down: less than from one slot of a daily schedule to the
/// next, on a day with 23 hours too.
const OUTAGE_MILLIS: i64 = 20 * 3_600_000;
/// Shortest and longest time between two tries meanwhile.
const OUTAGE_WAITS_MILLIS: (i64, i64) = (10_000, 900_000);

/// Stored state that a step works on.
struct View {
    attempt: PublicationAttempt,
    published: Published,
    post: Post,
    connection: Option<integrations::IntegrationRecord>,
    /// Whether a schedule began it.
    is_scheduled: bool,
}

/// Opens the publisher of a stored connection.
pub(crate) async fn opened(
    engine: &Engine,
    scope: ProjectScope,
    record: &integrations::IntegrationRecord,
    delivery: uuid::Uuid,
) -> Result<std::result::Result<Box<dyn Publisher>, Trouble>> {
    let Some(vendor) = vendors::find(record.provider) else {
        return Ok(Err(Trouble::refused(Why::Unsupported)));
    };
    let secret =
        integrations::find_secret(&mut engine.db.read().await?, scope, &engine.keyring, record.id).await?;
    let connection = Connection {
        settings: record.settings.clone(),
        secrets: secret
            .map(|text| secrets(text.expose_secret()))
            .unwrap_or_default(),
        site: record.site_id.clone(),
        collection: record.collection_id.clone(),
        map: record.field_map.clone(),
    };
    engine.publisher(scope, vendor, connection, delivery)
}

/// Converts trouble to the error that is shown at its integration.
pub(crate) fn error(trouble: &Trouble, at: searchwright_contract::Instant) -> IntegrationError {
    IntegrationError {
        code: trouble.word().to_owned(),
        detail: trouble.to_string(),
        provider_message: match trouble {
            Trouble::Refused { said, .. } => said.clone(),
            _ => None,
        },
        at,
    }
}

/// Stores the outcome of a request at its connection, and writes an event if the connection can no longer be used. Of a connection
/// that was changed since `record` was read, such as one with new credentials, it says nothing.
pub(crate) async fn record_outcome(
    engine: &Engine,
    scope: ProjectScope,
    record: &integrations::IntegrationRecord,
    trouble: Option<&Trouble>,
) -> Result<()> {
    let now = engine.clock.now();
    let status = match trouble {
        None => None,
        Some(Trouble::Refused {
            why: Why::Credential, ..
        }) => Some(Readiness::ReauthorizationRequired),
        Some(Trouble::NotNow {
            cause: Cause::ImageUnreachable | Cause::Busy,
            ..
        }) => return Ok(()),
        // The refusal concerns one post or one field, not the connection.
        Some(Trouble::Refused {
            why: Why::Missing | Why::Conflict | Why::Invalid | Why::TooLarge | Why::Unsupported | Why::Schema,
            ..
        }) => return Ok(()),
        Some(_) => Some(Readiness::Error),
    };
    if trouble.is_none() && record.status == Readiness::Ready && record.last_error.is_none() {
        return Ok(());
    }
    let noted = status.zip(trouble.map(|trouble| error(trouble, now)));
    let (id, provider, event) = (record.id, record.provider, engine.clock.id());
    let version = record.version;
    let lost = status == Some(Readiness::ReauthorizationRequired);
    engine
        .db
        .write(move |tx| {
            Box::pin(async move {
                projects::lock(tx, scope).await?;
                let current = integrations::find(tx, scope, id).await?;
                if current.is_none_or(|current| current.version != version) {
                    return Ok(());
                }
                let is_new = integrations::record_outcome(tx, scope, id, noted, now).await?;
                if lost && is_new {
                    let kind = EventType::IntegrationDisconnected;
                    connect::announce(tx, scope, event, kind, provider, id, now).await?;
                }
                Ok::<(), searchwright_store::Error>(())
            })
        })
        .await?;
    engine.happened.notify_one();
    Ok(())
}

/// Runs an attempt, or resumes it.
pub(super) async fn run(
    job: JobContext,
    attempt_id: AttemptId,
    is_scheduled: bool,
) -> Result<Value, JobError> {
    let interrupted = job.clone();
    tokio::select! {
        reason = interrupted.interrupted() => Err(reason),
        done = carry_out(&job, attempt_id, is_scheduled) => done,
    }
}

async fn carry_out(job: &JobContext, attempt_id: AttemptId, is_scheduled: bool) -> Result<Value, JobError> {
    let mut view = load(job, attempt_id).await?;
    view.is_scheduled = is_scheduled;
    if view.attempt.finished_at.is_some() || view.attempt.job != job.leased.id {
        return Ok(result(&view));
    }
    if view.is_unchanged() {
        return outcome::unchanged(job, view).await;
    }
    let Some(connection) = view.connection.clone() else {
        return setback::disconnected(job, view).await;
    };
    if view.attempt.state == PublicationState::Sending {
        view.attempt.state = PublicationState::Uncertain;
        view.attempt.add_evidence(
            "interrupted",
            "it was being sent when the server stopped".to_owned(),
            job.engine.clock.now(),
        );
        save(job, &view).await?;
    }
    let publisher = match opened(&job.engine, job.leased.scope, &connection, attempt_id.uuid())
        .await
        .map_err(JobError::from)?
    {
        Ok(publisher) => publisher,
        Err(trouble) => return setback::troubled(job, view, &connection, &trouble).await,
    };
    let next = match look(job, &mut view, &*publisher).await {
        Ok(next) => next,
        Err(trouble) => return setback::troubled(job, view, &connection, &trouble).await,
    };
    let change = match next {
        Next::Send(change) => change,
        Next::Done(remote) => return outcome::done(job, view, &remote).await,
        Next::Absent => return outcome::absent(job, view).await,
        Next::Wait => return setback::missed(job, view).await,
        Next::Refuse(reason) => return outcome::stopped(job, view, reason).await,
    };
    match send(job, &mut view, &connection, &*publisher, &change).await {
        Ok(remote) => outcome::done(job, view, &remote).await,
        Err(Stop::Trouble(trouble)) => setback::troubled(job, view, &connection, &trouble).await,
        Err(Stop::Job(error)) => Err(error),
    }
}

/// Reason for which a step ended early.
enum Stop {
    Trouble(Trouble),
    Job(JobError),
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl From<JobError> for Stop {
    fn from(error: JobError) -> Self {
        Self::Job(error)
    }
}

/// Looks the post up at the provider, and decides the next step.
async fn look(job: &JobContext, view: &mut View, publisher: &dyn Publisher) -> Result<Next, Trouble> {
    let marker = view.marker();
    let slug = view.post.summary.slug.clone();
    let known = view.published.external_id.clone();
    let wanted = Wanted {
        id: known.as_deref(),
        marker: &marker,
        slug: &slug,
    };
    let found = publisher.find(&wanted).await?;
    let seen: Vec<String> = found.iter().map(|remote| remote.id.clone()).collect();
    view.attempt.add_evidence(
        if seen.is_empty() { "absent" } else { "found" },
        (!seen.is_empty()).then(|| seen.join(", ")),
        job.engine.clock.now(),
    );
    if view.attempt.sent.is_none() && found.is_empty() {
        view.attempt.was_absent = true;
    }
    Ok(view.decide(&marker, &found))
}

/// Stores what is about to be sent, and sends it.
async fn send(
    job: &JobContext,
    view: &mut View,
    connection: &integrations::IntegrationRecord,
    publisher: &dyn Publisher,
    change: &Change,
) -> Result<Remote, Stop> {
    let now = job.engine.clock.now();
    let picture = match change {
        Change::Unpublish(_) => None,
        _ => item::picture(job, view, connection, publisher).await?,
    };
    let item = item::build(view, picture, now);
    let (sent, what) = match change {
        Change::Create => (CREATE, "sending"),
        Change::Update(_) | Change::Unpublish(_) => (CHANGE, "changing"),
    };
    let before = view.attempt.sent.replace(sent.to_owned());
    view.attempt.state = PublicationState::Sending;
    view.attempt.add_evidence(what, None, now);
    let asked = tokio::time::Instant::now();
    save(job, view).await?;
    if asked.elapsed() > FRESH {
        // The process was stalled, and another worker may hold the lease by now: it finds what was stored, and looks the post up.
        return Err(JobError::Lost.into());
    }
    let answer = match change {
        Change::Create => publisher.create(&item).await,
        Change::Update(remote) => publisher.update(remote, &item).await,
        Change::Unpublish(remote) => publisher.unpublish(remote).await,
    };
    answer.map_err(|trouble| {
        // A request that certainly was not carried out is undone in the attempt.
        if !matches!(trouble, Trouble::Unclear { .. }) {
            view.attempt.sent = before;
        }
        trouble.into()
    })
}

const CREATE: &str = "create";
const CHANGE: &str = "change";

impl View {
    fn marker(&self) -> Marker {
        Marker::new(self.attempt.post.uuid(), &self.attempt.content_hash)
    }

    fn aim(&self) -> Aim {
        match self.attempt.aim.as_str() {
            GONE => Aim::Gone,
            DRAFT => Aim::Draft,
            _ => Aim::Live,
        }
    }

    /// Returns whether the provider has the post as it is here, so that nothing has to be sent.
    fn is_unchanged(&self) -> bool {
        let published = &self.published;
        let is_same = published.content_hash.as_ref() == Some(&self.attempt.content_hash);
        !self.attempt.force
            && self.attempt.sent.is_none()
            && published.last_error.is_none()
            && published.external_id.is_some()
            && is_same
            && match self.aim() {
                Aim::Live => published.is_live,
                Aim::Draft => !published.is_live && self.post.summary.published_at.is_none(),
                Aim::Gone => false,
            }
    }

    fn decide(&self, marker: &Marker, found: &[Remote]) -> Next {
        let vendor = vendors::find(self.published.provider);
        let before = Before {
            sent: self.attempt.sent.as_deref().map(|sent| match sent {
                CREATE => Sent::Create,
                _ => Sent::Change,
            }),
            was_absent: self.attempt.was_absent,
            force: self.attempt.force,
            recreate: self.attempt.recreate,
            marks: vendor.is_some_and(|vendor| vendor.marks),
            repeats: vendor.is_some_and(|vendor| vendor.repeats),
        };
        let known = Known {
            id: self.published.external_id.clone(),
            version: self.published.external_version.clone(),
        };
        decide(self.aim(), marker, &self.post.summary.slug, &known, before, found)
    }
}

async fn load(job: &JobContext, attempt_id: AttemptId) -> Result<View, JobError> {
    let scope = job.leased.scope;
    let mut tx = job.engine.db.read().await?;
    let attempt = publications::get_attempt(&mut tx, scope, attempt_id).await?;
    let connection = integrations::find(&mut tx, scope, attempt.connection).await?;
    let record = posts::get(&mut tx, scope, attempt.post).await?;
    let published = publications::find(&mut tx, scope, attempt.post, attempt.connection).await?;
    let published = published.ok_or(searchwright_store::Error::Missing)?;
    Ok(View {
        attempt,
        published,
        post: record.post,
        connection,
        is_scheduled: false,
    })
}

/// Stores the attempt, and with it the state of the publication.
async fn save(job: &JobContext, view: &View) -> Result<(), JobError> {
    let (attempt, mut published) = (view.attempt.clone(), view.published.clone());
    published.state = attempt.state;
    let now = job.engine.clock.now();
    job.write_fenced(move |tx, scope| {
        Box::pin(async move {
            projects::lock(tx, scope).await?;
            // A run of the autopilot says why its post is not published yet.
            autopilot_runs::look_again(tx, scope).await?;
            publications::update_attempt(tx, scope, &attempt).await?;
            publications::upsert(tx, scope, &published, now).await
        })
    })
    .await
}

fn result(view: &View) -> Value {
    json!({
        "postId": view.attempt.post,
        "provider": view.published.provider,
        "state": view.published.state,
        "externalId": view.published.external_id,
        "url": view.published.external_url,
    })
}

/// Converts a refusal to the problem of the job.
fn problem(code: &str, detail: &str) -> Box<Problem> {
    Box::new(Problem::new(Code::ProviderError, detail).with("reason", code))
}
