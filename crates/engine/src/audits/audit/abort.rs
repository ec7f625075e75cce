//! Ends of an audit without a result: failed, given up, or cancelled.

use searchwright_contract::{
    Instant,
    audits::{Audit, AuditError, AuditStatus},
    events::EventType,
    ids::JobId,
};
use searchwright_site::{
    crawl::{Ending, Termination},
    fetch::FetchError,
    graph::State,
    origin::Origin,
    robots::TOKEN,
};
use searchwright_store::{
    Result, Tx,
    access::ProjectScope,
    audits, events, issues,
    jobs::{JobEnd, LeasedJob},
};
use serde_json::json;

use super::{
    super::{analysis, failure::AuditFailure},
    audit_ref,
};
use crate::{Engine, jobs::Job};

/// Returns the reason for which a crawl that ended has no result, with a message for the owner; `None` if it has one. A crawl that
/// was cut after it saw pages has a partial result.
pub(super) fn failure(ending: &Ending) -> Option<(AuditFailure, String)> {
    let home = ending.origin.home;
    let said = match ending.index.status(home) {
        Some(status) => format!("its start page answered {status}"),
        None => "its start page gave no answer".to_owned(),
    };
    let message = match ending.termination {
        Termination::RobotsUnreachable => without_robots(&ending.origin),
        Termination::Blocked if ending.index.state(home) == State::Blocked => format!(
            "{}/robots.txt forbids this crawler ({TOKEN}) every page that is known, and not the search engines: nothing is known of \
             them; allow it there",
            ending.origin.root
        ),
        Termination::Blocked if ending.answered == 0 && ending.index.status(home) == Some(401) => format!(
            "the site asks for a user name and a password: {said}; give the server a login of it (--site-login or \
             SEARCHWRIGHT_SITE_LOGIN, https://USER:PASSWORD@HOST), or check the one that it has"
        ),
        Termination::Blocked if ending.answered == 0 => format!(
            "the site refuses the crawler: {said}, and no other page was shown; let the crawler's user agent or address through \
             the site's firewall and rate limits"
        ),
        Termination::HostUnavailable if ending.answered == 0 => format!(
            "the site does not answer: {said}, and no other page was shown; check its address and that it may be reached from here"
        ),
        _ => return None,
    };
    Some((AuditFailure::Crawl(ending.termination), message))
}

/// Returns the message of an audit that is not resumed again: the reason, what is kept of it, and how to go on.
pub(super) fn given_up(crashes: i64, fetched: u64, has_previous: bool) -> String {
    let again = if has_previous {
        "which asks for the pages that the last one with results read only if they have changed"
    } else {
        "which begins anew"
    };
    format!(
        "the process ended {crashes} times while this audit ran, after which it is not resumed again; of its {fetched} fetched pages nothing is \
         shown, and what audits before it found is kept; see in the log why the process ended, and start another audit, {again}"
    )
}

/// Returns the message for a robots.txt that could not be fetched: the cause, and what to do.
fn without_robots(origin: &Origin) -> String {
    let (root, file) = (&origin.root, &origin.robots);
    let asked = format!("{root}/robots.txt");
    let led = match &*file.url {
        same if *same == *asked => String::new(),
        // the target is chosen by the site, so it is not put into a text of this program
        _ => "it leads elsewhere, ".to_owned(),
    };
    let host = root.strip_prefix("https://");
    let (cause, advice) = match (&file.error, file.status) {
        (Some(FetchError::Certificate(fault)), _) => (
            format!("the site's certificate is not valid ({})", fault.code()),
            "renew it".to_owned(),
        ),
        (Some(error @ (FetchError::Tls | FetchError::Connect)), _) if let Some(host) = host => (
            error.to_string(),
            format!("check that the site is up; if it has no https, name it as http://{host}"),
        ),
        (Some(error @ FetchError::Dns), _) => (error.to_string(), "check the site's address".to_owned()),
        (Some(error @ FetchError::Denied), _) => (
            error.to_string(),
            "private addresses are reached only where the operator allows it".to_owned(),
        ),
        (Some(error), _) => (error.to_string(), "check that the site is up".to_owned()),
        (None, Some(429)) => (
            "status 429".to_owned(),
            "let the crawler through the site's rate limit, or try later".to_owned(),
        ),
        (None, status) => (
            format!("status {}", status.unwrap_or_default()),
            "check that the site is up".to_owned(),
        ),
    };
    format!("{asked} could not be fetched, which forbids crawling (RFC 9309): {led}{cause}; {advice}")
}

/// Ends the audit of a job that will not be run again, in the transaction that ends the job under its lease.
pub(crate) async fn abort(
    engine: &Engine,
    tx: &mut Tx,
    leased: &LeasedJob,
    end: &JobEnd,
    failure: AuditFailure,
    now: Instant,
) -> Result<()> {
    let scope = leased.scope;
    let Some(audit) = of_job(tx, scope, leased.id).await? else {
        return Ok(());
    };
    let (status, outcome) = match end {
        JobEnd::Failed(problem) => {
            let code = failure.code().to_owned();
            let error = AuditError {
                code: code.clone(),
                message: problem.detail.clone(),
            };
            (
                AuditStatus::Failed,
                audits::AuditOutcome {
                    termination: Some(code),
                    error: Some(error),
                    ..Default::default()
                },
            )
        }
        _ => (AuditStatus::Cancelled, cancelled()),
    };
    let code = outcome.error.as_ref().map(|e| e.code.clone());
    if audits::finish(tx, scope, audit.id, status, outcome, now).await? && status == AuditStatus::Failed {
        let data = json!({ "auditId": audit.id, "version": audit.version + 1, "error": code });
        events::insert(tx, scope, engine.clock.id(), EventType::AuditFailed, &data, now).await?;
    }
    rescore(engine, tx, scope, &audit, now).await
}

/// Queues a rescore of the previous audit, so that what an audit without a result found on its pages counts there.
async fn rescore(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    audit: &Audit,
    now: Instant,
) -> Result<()> {
    if audit.status != AuditStatus::Queued && audit.previous_audit_id.is_some() {
        Job::Rescore
            .enqueue_once(tx, scope, engine.clock.id(), now)
            .await?;
    }
    Ok(())
}

/// Cancels the audit of a job that no worker holds: none has taken it, or the one that had was stopped. What the audit changed
/// by then is recorded in the histories of issues.
pub(crate) async fn withdraw(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    job: JobId,
    now: Instant,
) -> Result<()> {
    let Some(audit) = of_job(tx, scope, job).await? else {
        return Ok(());
    };
    if audit.status != AuditStatus::Queued {
        for issue in issues::list_ids(tx, scope).await? {
            let event = engine.clock.id();
            analysis::record_history(tx, scope, audit_ref(&audit), issue, event, now).await?;
        }
    }
    audits::finish(tx, scope, audit.id, AuditStatus::Cancelled, cancelled(), now).await?;
    rescore(engine, tx, scope, &audit, now).await
}

/// Returns the active audit of a job.
async fn of_job(tx: &mut Tx, scope: ProjectScope, job: JobId) -> Result<Option<Audit>> {
    let audit = audits::find_active(tx, scope).await?;
    Ok(audit.filter(|audit| audit.job_id == job))
}

fn cancelled() -> audits::AuditOutcome {
    audits::AuditOutcome {
        termination: Some("cancelled".to_owned()),
        ..audits::AuditOutcome::default()
    }
}

#[cfg(test)]
mod tests {
    use searchwright_site::{fetch::Fault, well_known::WellKnownFile};

    use super::*;

    #[test]
    fn what_is_left_of_an_audit_that_is_given_up_is_told() {
        let [first, second] = [false, true].map(|again| given_up(4, 7, again));
        assert!(first.contains("ended 4 times") && first.contains("its 7 fetched pages"));
        assert!(first.ends_with("begins anew") && second.ends_with("only if they have changed"));
    }

    #[test]
    fn what_became_of_robots_txt_is_told() {
        let says = |root: &str, url: &str, status, error| {
            let robots = WellKnownFile {
                url: url.into(),
                status,
                error,
                ..WellKnownFile::default()
            };
            without_robots(&Origin {
                root: root.into(),
                robots,
                ..Origin::default()
            })
        };
        let (root, at) = ("https://example.com", "https://example.com/robots.txt");
        let plain = ("http://example.com", "http://example.com/robots.txt");
        let inside = "http://10.0.0.1/robots.txt";
        for (said, cause, advice) in [
            (says(root, at, Some(500), None), "status 500", "is up"),
            (says(root, at, Some(429), None), "status 429", "rate limit"),
            (
                says(root, at, None, Some(FetchError::Timeout)),
                "timed out",
                "is up",
            ),
            (
                says(root, at, None, Some(FetchError::Dns)),
                "does not resolve",
                "address",
            ),
            (
                says(root, inside, None, Some(FetchError::Denied)),
                "it leads elsewhere, address not allowed",
                "operator",
            ),
            (
                says(root, at, None, Some(FetchError::Tls)),
                "TLS failed",
                "as http://example.com",
            ),
            (
                says(root, at, None, Some(FetchError::Connect)),
                "could not connect",
                "as http://example.com",
            ),
            (
                says(root, at, None, Some(FetchError::Certificate(Fault::Expired))),
                "(expired)",
                "renew",
            ),
        ] {
            let begin = "https://example.com/robots.txt could not be fetched";
            assert!(
                said.starts_with(begin) && said.contains(cause) && said.contains(advice),
                "{said}"
            );
            assert_eq!(said.contains("it leads"), cause.contains("it leads"), "{said}");
        }
        let said = says(plain.0, plain.1, None, Some(FetchError::Connect));
        assert!(said.starts_with(plain.1) && !said.contains("https"), "{said}");
    }
}
