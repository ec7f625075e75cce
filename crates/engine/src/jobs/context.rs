//! State of a running job: the service, its lease, and the signals to stop. The results of a job are written
//! through [`JobContext::write_fenced`], so that a worker that lost its lease writes none.

use std::{sync::Arc, time::Duration};

use searchwright_contract::{Instant, Problem};
use searchwright_providers::ProviderError;
use searchwright_store::{
    BoxFuture, Error, Tx,
    access::ProjectScope,
    jobs::{self, LeaseStatus, LeasedJob},
};
use tokio_util::sync::CancellationToken;

use crate::{
    Engine,
    accounts::Accounts,
    audits::{AuditFailure, CrawlSettings},
    failure::Failure,
};

/// Upper bound of the wait between two attempts.
const MAX_BACKOFF_MILLIS: i64 = 3_600_000;
/// Wait when a provider asks for fewer requests without naming a time.
const RATE_LIMIT_WAIT: Duration = Duration::from_secs(60);
/// Wait before a provider that was not available is asked again.
const UNAVAILABLE_WAIT: Duration = Duration::from_secs(10);

/// The service, the lease and the stop signals of one attempt of a job. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct JobContext {
    pub(crate) engine: Arc<Engine>,
    pub(crate) leased: LeasedJob,
    /// Time of the steady clock at which it began to run.
    pub(crate) since: Instant,
    pub(crate) settings: Arc<CrawlSettings>,
    pub(crate) accounts: Accounts,
    /// Cancelled when a caller asks for the job to be canceled.
    pub(crate) canceled: CancellationToken,
    /// Cancelled when the worker shuts down.
    pub(crate) stopping: CancellationToken,
    /// Cancelled when another job waits for the place of this one. Only a crawl gives way: it goes on where it was saved,
    /// while other work would begin anew, or ask again for what was paid.
    pub(crate) turn_over: CancellationToken,
    /// Cancelled when the lease has expired or belongs to another worker.
    pub(crate) lost: CancellationToken,
}

impl JobContext {
    /// Waits for the first of the three signals to stop and returns its error.
    pub(crate) async fn interrupted(&self) -> JobError {
        tokio::select! {
            biased;
            () = self.lost.cancelled() => JobError::Lost,
            () = self.canceled.cancelled() => JobError::Canceled,
            () = self.stopping.cancelled() => JobError::Released,
        }
    }

    /// Runs a write transaction that commits only while this worker holds the lease.
    pub(crate) async fn write_fenced<T, F>(&self, work: F) -> Result<T, JobError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut Tx, ProjectScope) -> BoxFuture<'a, Result<T, Error>> + Send + 'static,
    {
        let leased = self.leased.clone();
        self.engine
            .db
            .write(move |tx| {
                Box::pin(async move {
                    if !jobs::holds_lease(tx, &leased).await? {
                        return Err(JobError::Lost);
                    }
                    let done = work(tx, leased.scope).await?;
                    if !jobs::keeps_lease(tx, &leased).await? {
                        return Err(JobError::Lost);
                    }
                    Ok(done)
                })
            })
            .await
    }

    /// Runs the write transaction that ends the work: it commits only while this worker holds the lease and nobody has
    /// asked for cancellation. A cancellation that comes later finds the work ended.
    pub(crate) async fn write_unless_canceled<F>(&self, work: F) -> Result<(), JobError>
    where
        F: for<'a> FnOnce(&'a mut Tx, ProjectScope) -> BoxFuture<'a, Result<(), Error>> + Send + 'static,
    {
        let leased = self.leased.clone();
        let status: Result<LeaseStatus, Error> = self
            .engine
            .db
            .write(move |tx| {
                Box::pin(async move {
                    let status = jobs::check_before_commit(tx, &leased).await?;
                    if status == LeaseStatus::Alive {
                        work(tx, leased.scope).await?;
                    }
                    Ok(status)
                })
            })
            .await;
        match status? {
            LeaseStatus::Alive => Ok(()),
            LeaseStatus::Cancel => Err(JobError::Canceled),
            LeaseStatus::Lost => Err(JobError::Lost),
        }
    }

    /// Returns the lease with the time for which the job has run until now, also under earlier leases.
    pub(crate) fn lease_now(&self) -> LeasedJob {
        let mut leased = self.leased.clone();
        leased.ran_millis += self.engine.clock.steady().millis() - self.since.millis();
        leased
    }

    /// Milliseconds until the next attempt: `first`, doubled with each attempt, at most an hour.
    pub(crate) fn backoff(&self, first: i64) -> i64 {
        let factor = 1i64 << self.leased.attempt.clamp(0, 20);
        first.saturating_mul(factor).min(MAX_BACKOFF_MILLIS)
    }
}

/// The reasons for which an attempt of a job did not succeed.
#[derive(Debug)]
pub enum JobError {
    /// Try again after so many milliseconds.
    Retry(i64),
    /// Try again after so many milliseconds without counting an attempt: the cause is outside the job.
    Wait(i64),
    /// The job has failed for good.
    GiveUp(Box<Problem>),
    /// The job was an audit and has failed for good.
    AuditFailed(AuditFailure, Box<Problem>),
    /// The job may have succeeded, and nothing more is done to find out.
    Uncertain(Box<Problem>),
    /// A caller canceled the job; what had to be written has been.
    Canceled,
    /// The worker is shutting down: the job goes back to the queue.
    Released,
    /// The lease belongs to another worker: write nothing more.
    Lost,
}

impl JobError {
    pub(super) fn give_up(failure: Failure) -> Self {
        Self::GiveUp(failure.0)
    }
}

impl From<Failure> for JobError {
    fn from(failure: Failure) -> Self {
        if failure.0.retryable {
            Self::Retry(10_000)
        } else {
            Self::GiveUp(failure.0)
        }
    }
}

impl From<Error> for JobError {
    fn from(error: Error) -> Self {
        Failure::from(error).into()
    }
}

impl From<ProviderError> for JobError {
    fn from(error: ProviderError) -> Self {
        let millis = |after: Duration| i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
        let retry = |after: Duration| Self::Retry(millis(after));
        match &error {
            ProviderError::RateLimited(after) => retry(after.unwrap_or(RATE_LIMIT_WAIT)),
            ProviderError::Unavailable => retry(UNAVAILABLE_WAIT),
            ProviderError::Resting(after) => Self::Wait(millis(*after)),
            ProviderError::NotConfigured(_) | ProviderError::Refused(_) | ProviderError::Uncertain(_) => {
                Self::GiveUp(Box::new(Problem::from(&error)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use searchwright_outbound::excerpt;
    use searchwright_providers::Why;

    use super::*;

    #[test]
    fn each_way_to_fail_decides_what_a_job_does() {
        let of = |error: ProviderError| JobError::from(error);
        assert!(matches!(
            of(ProviderError::RateLimited(Some(Duration::from_secs(7)))),
            JobError::Retry(7_000)
        ));
        assert!(matches!(
            of(ProviderError::RateLimited(None)),
            JobError::Retry(60_000)
        ));
        assert!(matches!(of(ProviderError::Unavailable), JobError::Retry(10_000)));
        assert!(matches!(
            of(ProviderError::Resting(Duration::from_secs(30))),
            JobError::Wait(30_000)
        ));
        let JobError::GiveUp(problem) = of(ProviderError::NotConfigured("language model")) else {
            panic!("retrying does not configure a provider")
        };
        assert_eq!(
            (problem.status, problem.detail.as_str()),
            (409, "no language model is configured")
        );
        let refused = ProviderError::refused_with(Why::Credential, excerpt("bad key", &[]));
        let JobError::GiveUp(problem) = of(refused) else {
            panic!("a no stays a no")
        };
        assert_eq!((problem.status, problem.retryable), (502, false));
        assert_eq!(problem.extra["providerMessage"], "bad key");
        assert!(!problem.detail.contains("bad key"), "{problem:?}");
        let JobError::GiveUp(problem) = of(ProviderError::Uncertain(Box::default())) else {
            panic!("what may have been charged is not repeated")
        };
        assert_eq!(problem.extra["uncertain"], true);
    }
}
