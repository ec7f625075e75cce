//! Failed requests and look-ups that found nothing: decides the next step and its time.

use std::time::Duration;

use searchwright_contract::{integrations::IntegrationError, posts::PublicationState};
use searchwright_publishing::{Trouble, Why, vendors};
use searchwright_store::integrations;
use serde_json::Value;

use super::{
    CREATE, FIRST_RETRY_MILLIS, LOOKUP_WAITS_MILLIS, MAX_ATTEMPTS, MISSED_FOR, MISSES, OUTAGE_MILLIS,
    OUTAGE_WAITS_MILLIS, View, error,
    outcome::{failed, refused},
    problem, record_outcome, save,
};
use crate::jobs::{JobContext, JobError};

/// Longest `Retry-After` of a provider that is followed.
const MAX_PAUSE: Duration = Duration::from_hours(1);
/// Milliseconds for which a provider may postpone an attempt in total.
const MAX_PATIENCE: i64 = 24 * 3_600_000;

/// Handles a failed request. The next step depends on whether it may have been carried out.
pub(super) async fn troubled(
    job: &JobContext,
    mut view: View,
    connection: &integrations::IntegrationRecord,
    trouble: &Trouble,
) -> Result<Value, JobError> {
    record_outcome(&job.engine, job.leased.scope, connection, Some(trouble))
        .await
        .map_err(JobError::from)?;
    let now = job.engine.clock.now();
    if let Trouble::Refused { why: Why::Schema, .. } = trouble {
        // The missing fields are determined when somebody asks for the fields.
        let (record, missing) = (connection.clone(), ["fieldMap".to_owned()]);
        job.write_fenced(move |tx, scope| {
            Box::pin(async move { integrations::update_missing(tx, scope, &record, &missing, now).await })
        })
        .await?;
    }
    view.published.last_error = Some(error(trouble, now));
    let detail = match trouble {
        Trouble::Refused { said: Some(said), .. } => format!("{trouble}: {said}"),
        _ => trouble.to_string(),
    };
    let is_open = view.attempt.sent.is_some();
    let word = match trouble {
        Trouble::Unclear { .. } => "unclear",
        Trouble::NotNow { .. } => "not_now",
        Trouble::Refused { .. } => "refused",
    };
    view.attempt.add_evidence(word, detail, now);
    match trouble {
        Trouble::Unclear { .. } => uncertain(job, view, 0).await,
        // Without a look-up at the provider nothing is concluded.
        Trouble::NotNow { after, .. } if is_open => uncertain(job, view, after.map_or(0, asked)).await,
        Trouble::Refused { .. } if is_open && view.attempt.sent.as_deref() == Some(CREATE) => {
            uncertain(job, view, 0).await
        }
        Trouble::NotNow { after, .. } => {
            let waited = now.millis() - view.attempt.created_at.millis();
            let is_over = if view.is_scheduled {
                waited >= OUTAGE_MILLIS
            } else {
                job.leased.attempt >= MAX_ATTEMPTS || waited > MAX_PATIENCE
            };
            if is_over {
                return refused(job, view, trouble).await;
            }
            let own = if view.is_scheduled {
                // ever longer, so that a provider that comes back is not met by many posts at once
                let (shortest, longest) = OUTAGE_WAITS_MILLIS;
                (waited / 2).clamp(shortest, longest)
            } else {
                job.backoff(FIRST_RETRY_MILLIS)
            };
            // A provider that asks for less, `Retry-After: 0` among it, is not asked without a pause.
            let asked = after.map(asked).filter(|asked| *asked > own);
            let wait = asked.unwrap_or(own);
            view.attempt.state = PublicationState::Pending;
            view.attempt.next_check_at = Some(now.plus_millis(wait));
            save(job, &view).await?;
            Err(if asked.is_some() || view.is_scheduled {
                JobError::Wait(wait)
            } else {
                JobError::Retry(FIRST_RETRY_MILLIS)
            })
        }
        Trouble::Refused { .. } => refused(job, view, trouble).await,
    }
}

/// Returns the milliseconds that a provider asked for, at most [`MAX_PAUSE`]: one header must not delay a post for days.
fn asked(after: Duration) -> i64 {
    after.min(MAX_PAUSE).as_millis() as i64
}

/// Handles an unknown outcome: the post is looked up again after a while, and in the end left to a person.
async fn uncertain(job: &JobContext, mut view: View, at_least: i64) -> Result<Value, JobError> {
    let now = job.engine.clock.now();
    view.attempt.state = PublicationState::Uncertain;
    let wait = LOOKUP_WAITS_MILLIS
        .get(view.attempt.checks as usize)
        .copied()
        .map(|wait| wait.max(at_least));
    view.attempt.checks += 1;
    view.attempt.next_check_at = wait.map(|wait| now.plus_millis(wait));
    save(job, &view).await?;
    Err(match wait {
        Some(wait) => JobError::Wait(wait),
        None => JobError::Uncertain(problem(
            "uncertain",
            "it could not be determined whether the post is at the provider; check there, then publish again, which repeats the search",
        )),
    })
}

/// Handles a look-up that did not find what was sent.
pub(super) async fn missed(job: &JobContext, mut view: View) -> Result<Value, JobError> {
    let now = job.engine.clock.now();
    let attempt = &mut view.attempt;
    attempt.misses += 1;
    let first = *attempt.first_missed_at.get_or_insert(now);
    let can_look = vendors::find(view.published.provider).is_some_and(|vendor| vendor.capabilities.lookup);
    if can_look && attempt.misses >= MISSES && now.millis() - first.millis() >= MISSED_FOR {
        let why = IntegrationError {
            code: "not_carried_out".to_owned(),
            detail: "the response was lost and the post is not there: it was searched for several times over more than ten minutes; publish it again".to_owned(),
            provider_message: None,
            at: now,
        };
        return failed(job, view, why).await;
    }
    uncertain(job, view, 0).await
}

/// Handles an attempt whose connection was removed meanwhile: it failed if nothing was sent, else its outcome stays unknown.
pub(super) async fn disconnected(job: &JobContext, mut view: View) -> Result<Value, JobError> {
    let gone = Trouble::because(Why::Credential, "the provider was disconnected in the meantime");
    if view.attempt.sent.is_none() {
        return refused(job, view, &gone).await;
    }
    let now = job.engine.clock.now();
    view.published.last_error = Some(error(&gone, now));
    view.attempt.add_evidence(
        "disconnected",
        "the provider was disconnected in the meantime".to_owned(),
        now,
    );
    (view.attempt.state, view.attempt.next_check_at) = (PublicationState::Uncertain, None);
    save(job, &view).await?;
    Err(JobError::Uncertain(problem(
        "uncertain",
        "it cannot be determined whether the post is at the provider while that is not connected; connect it again, then publish again, which repeats the search",
    )))
}
