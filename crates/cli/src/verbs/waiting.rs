//! `--wait`: the end of what an operation has started is waited for and printed.

use searchwright_contract::{
    Effect, Meta, Operation,
    audits::{AuditStarted, AuditStatus, GetCurrentAudit},
    columns::Columns,
    jobs::{GetJob, Job, JobStatus},
    operation::answer_schema,
    rechecks::StartRecheck,
};
use serde_json::Value;

use crate::{
    Client,
    exit::{CliError, Exit},
    follow::{self, FailOn},
    output::{OutputArgs, Printer, write_note},
    proof,
};

/// Returns the columns of what is printed in the end.
pub(super) fn columns(meta: &Meta, own: fn() -> Option<Columns>) -> Option<Columns> {
    if meta.name == "audits.start" {
        Columns::of_record(answer_schema::<GetCurrentAudit>().as_value())
    } else if meta.name == StartRecheck::META.name || meta.effect == Effect::Import {
        own()
    } else {
        Columns::of_record(answer_schema::<GetJob>().as_value())
    }
}

/// Waits for an audit.
pub(super) async fn audit(
    client: &Client,
    started: Value,
    fail_on: Option<FailOn>,
    printer: &Printer,
) -> Result<Exit, CliError> {
    let started: AuditStarted = serde_json::from_value(started).map_err(failed)?;
    if started.already_running {
        write_note("an audit is running already; following it");
    }
    let id = started.audit.id;
    let goes_on = || {
        CliError::new(Exit::Interrupted, "interrupted: the audit goes on").hint(format!(
            "follow it with `searchwright audits start --wait`, or look with `searchwright audits get {id}`; `searchwright audits cancel {id}` ends it"
        ))
    };
    let audit = follow::audit(client, started.audit, goes_on).await;
    let audit = audit.map_err(|error| {
        with_way(
            error,
            &format!("the audit continues: searchwright audits get {id}"),
        )
    })?;
    let answer = serde_json::to_value(&audit).map_err(failed)?;
    printer.print(GetCurrentAudit::META.name, &answer)?;
    match audit.status {
        AuditStatus::Failed | AuditStatus::Cancelled => Ok(Exit::Failed),
        _ => fail_on.map_or(Ok(Exit::Done), |fail_on| fail_on.exit(&audit)),
    }
}

/// Waits for a recheck and says what it has proven.
pub(super) async fn recheck(
    client: &Client,
    project: &str,
    mut answer: Value,
    output: &OutputArgs,
    printer: &Printer,
) -> Result<Exit, CliError> {
    if answer["alreadyRunning"] == true {
        write_note("a recheck is running already; following it");
    }
    let job: Job = serde_json::from_value(answer["job"].take()).map_err(failed)?;
    let id = answer["recheck"]["id"].as_str().unwrap_or_default().to_owned();
    let way = format!("searchwright rechecks get {id}");
    let job = follow_job(client, project, job, "recheck", &way).await?;
    let recheck = proof::whole(client, project, &id).await?;
    if output.is_for_people() {
        let titles = proof::titles(client, project).await?;
        proof::write(&mut std::io::stdout().lock(), &recheck, &titles)?;
    } else {
        answer["job"] = serde_json::to_value(&job).map_err(failed)?;
        answer["recheck"] = serde_json::to_value(&recheck).map_err(failed)?;
        printer.print(StartRecheck::META.name, &answer)?;
    }
    ended(job).map(|_| proof::exit(&recheck))
}

/// Waits for the job that an operation has started, and prints it, together with the answer of an import.
pub(super) async fn job(
    client: &Client,
    meta: &Meta,
    project: &str,
    mut answer: Value,
    printer: &Printer,
) -> Result<Exit, CliError> {
    let job: Job = serde_json::from_value(answer["job"].take()).map_err(failed)?;
    let way = format!("searchwright jobs get {}", job.id);
    let job = follow_job(client, project, job, "job", &way).await?;
    let shown = serde_json::to_value(&job).map_err(failed)?;
    if meta.effect == Effect::Import {
        answer["job"] = shown;
    } else {
        answer = shown;
    }
    printer.print(meta.name, &answer)?;
    ended(job)
}

async fn follow_job(
    client: &Client,
    project: &str,
    job: Job,
    what: &str,
    way: &str,
) -> Result<Job, CliError> {
    let id = job.id;
    let goes_on = || {
        CliError::new(Exit::Interrupted, format!("interrupted: the {what} goes on")).hint(format!(
            "follow it with `{way}`; `searchwright jobs cancel {id}` ends it"
        ))
    };
    let followed = follow::job(client, project, job, goes_on).await;
    followed.map_err(|error| with_way(error, &format!("the {what} continues: {way}")))
}

/// Adds how to go on to an error that does not say so.
fn with_way(error: CliError, way: &str) -> CliError {
    if error.exit == Exit::Interrupted {
        return error;
    }
    let hint = error
        .hint
        .as_ref()
        .map_or_else(|| way.to_owned(), |hint| format!("{hint}; {way}"));
    error.hint(hint)
}

/// Exit code of a job that has ended; the error says why it failed.
fn ended(job: Job) -> Result<Exit, CliError> {
    let way = format!("`searchwright jobs get {}` shows what it did", job.id);
    match (job.status, job.problem) {
        (JobStatus::Succeeded, _) => Ok(Exit::Done),
        (_, Some(problem)) => {
            let hint = problem.hint.clone().unwrap_or(way);
            Err(CliError::new(Exit::Failed, problem.to_string()).hint(hint))
        }
        (status, None) => {
            Err(CliError::new(Exit::Failed, format!("the job is {}", status.as_str())).hint(way))
        }
    }
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::new(Exit::Failed, error.to_string())
}
