//! How an audit ends that has no result.

use searchwright_contract::{
    Instant,
    audits::{Audit, AuditError, AuditStatus},
    events::EventType,
};
use searchwright_site::{
    crawl::{Ending, Termination},
    fetch::FetchError,
};
use searchwright_store::{
    Result, Tx,
    access::ProjectScope,
    audits, events, issues,
    jobs::{End, Leased},
};
use serde_json::json;
use uuid::Uuid;

use super::{super::analysis, began};
use crate::Engine;

/// Why a crawl that ended is no result. One that saw pages before it was cut is a partial one.
pub(super) fn failure(ending: &Ending) -> Option<AuditError> {
    let error = |message: &str| AuditError {
        code: ending.termination.code().to_owned(),
        message: message.to_owned(),
    };
    let fault = match &ending.origin.robots.error {
        Some(FetchError::Certificate(fault)) => Some(*fault),
        _ => None,
    };
    match (ending.termination, fault) {
        (Termination::RobotsUnreachable, Some(fault)) => Some(error(&format!(
            "robots.txt could not be fetched, which forbids crawling (RFC 9309): the site's certificate is not valid ({}); renew it",
            fault.code()
        ))),
        (Termination::RobotsUnreachable, None) => Some(error(
            "robots.txt could not be fetched, which forbids crawling (RFC 9309); check that the site is up",
        )),
        (Termination::HostUnavailable, _) if ending.progress.fetched == 0 => Some(error(
            "the site does not answer; check its address and that it may be reached from here",
        )),
        _ => None,
    }
}

/// Ends the audit of a job that will not be run again, in the transaction that ends the job under its lease.
pub(in crate::jobs) async fn over(
    tx: &mut Tx,
    leased: &Leased,
    end: &End,
    event: Uuid,
    now: Instant,
) -> Result<()> {
    let scope = leased.scope;
    let Some((audit, id)) = of_job(tx, scope, leased.id).await? else {
        return Ok(());
    };
    let (status, outcome) = match end {
        End::Failed(problem) => {
            let word = problem
                .extra
                .get("auditError")
                .and_then(serde_json::Value::as_str)
                .unwrap_or("internal_error");
            let error = AuditError {
                code: word.to_owned(),
                message: problem.detail.clone(),
            };
            (
                AuditStatus::Failed,
                audits::Outcome {
                    termination: Some(word.to_owned()),
                    error: Some(error),
                    ..Default::default()
                },
            )
        }
        _ => (AuditStatus::Cancelled, cancelled()),
    };
    let code = outcome.error.as_ref().map(|e| e.code.clone());
    if audits::finish(tx, scope, id, status, outcome, now).await? && status == AuditStatus::Failed {
        let data = json!({ "auditId": audit.id, "version": audit.version + 1, "error": code });
        events::write(tx, scope, event, EventType::AuditFailed, &data, now).await?;
    }
    Ok(())
}

/// An audit whose job was stopped while no worker held it: before one took it, or since the one that did was stopped. What it
/// changed by then is told.
pub(crate) async fn withdraw(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    job: Uuid,
    now: Instant,
) -> Result<()> {
    let Some((audit, id)) = of_job(tx, scope, job).await? else {
        return Ok(());
    };
    if audit.status != AuditStatus::Queued {
        for issue in issues::ids(tx, scope).await? {
            let event = engine.clock.id();
            analysis::tell(tx, scope, (id, began(&audit)), (issue, event), now).await?;
        }
    }
    audits::finish(tx, scope, id, AuditStatus::Cancelled, cancelled(), now).await?;
    Ok(())
}

/// The audit that a job carries out.
async fn of_job(tx: &mut Tx, scope: ProjectScope, job: Uuid) -> Result<Option<(Audit, Uuid)>> {
    let audit = audits::active(tx, scope).await?;
    let audit = audit.filter(|audit| audit.job_id == job.to_string());
    Ok(audit.map(|audit| {
        let id = Uuid::try_parse(&audit.id).unwrap_or_default();
        (audit, id)
    }))
}

fn cancelled() -> audits::Outcome {
    audits::Outcome {
        termination: Some("cancelled".to_owned()),
        ..audits::Outcome::default()
    }
}
