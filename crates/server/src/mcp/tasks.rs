//! Tasks (SEP-2663): a call that starts a job answers with a task where the client follows tasks, and with the job elsewhere.
//!
//! A task is a job, by the same id. It is read and cancelled as a job is, with the rights of whoever asks; nothing is kept beside it.

use rmcp::{
    ErrorData,
    model::{CallToolResult, DetailedTask, Task, TaskPayload, TaskStatus},
};
use searchwright_contract::{
    Code, Effect, Problem,
    ids::{JobId, ProjectId, UserId},
    jobs::{Job, JobStatus},
};
use searchwright_engine::{Credential, Endpoint, Failure};
use searchwright_store::access;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::{
    budget::Budget,
    calls::refused,
    lists::Insertion,
    resources::{Address, SCHEME},
    shaping::{self, Members, Source, Written},
    tools::{Caller, Tools},
};

/// Operation that reads a task.
pub(super) const READ: &str = "jobs.get";
/// Operation that cancels one.
pub(super) const CANCEL: &str = "jobs.cancel";
/// Status of an operation that has started a job.
const STARTED: u16 = 202;
/// Interval at which a task is asked for.
const POLL_MILLIS: u64 = 2_000;
/// Members of the result of a task, in which text of others can be.
const UNTRUSTED: &[&str] = &["job", "audit", "recheck", "post", "run"];

impl Tools {
    /// Returns the task that a call has started, if its client follows tasks and may read this one.
    pub(super) fn started(&self, endpoint: &Endpoint, answer: &Value, caller: &Caller) -> Option<Task> {
        let reads = self.operation(READ)?.meta.scope;
        let is_task =
            endpoint.meta.effect.status() == STARTED && caller.follows_tasks && caller.credential.may(reads);
        let job = is_task.then(|| Job::deserialize(&answer["job"]).ok())??;
        // one that an earlier call has started, and that has ended, is answered as it is
        job.status.is_active().then(|| task_of(&job))
    }

    /// Reads a task, with its result if it has ended.
    pub(super) async fn read_task(&self, id: &str, caller: &Caller) -> Result<DetailedTask, Failure> {
        let _places = self.enter(Effect::Read, caller).await?;
        let read = self.call_on_job(READ, id, caller).await?;
        let job = Job::deserialize(&read).map_err(|_| missing())?;
        let payload = match job.status {
            JobStatus::Queued | JobStatus::Running => TaskPayload::Working,
            JobStatus::Canceled => TaskPayload::Cancelled,
            JobStatus::Succeeded => {
                let Written(written) = self.task_result(&job, read, caller).await?;
                // it takes the place of the content that is written below
                let _ = caller.parts.insertion.set(Insertion::Content(written.into()));
                completed(&CallToolResult::success(Vec::new()))
            }
            // what went wrong is an answer of the tool, and not an error of the protocol
            JobStatus::Failed | JobStatus::Uncertain => {
                let unknown = || Problem::new(Code::InvalidState, "the job ended without a result");
                let problem = job.problem.clone().unwrap_or_else(unknown);
                completed(&refused(&self.app, problem.with("jobId", job.id.to_string())))
            }
        };
        Ok(DetailedTask::new(task_of(&job), payload))
    }

    /// Checks that a task is there. A task asks for nothing while it is carried out: what a person has to agree to is asked before it
    /// begins.
    pub(super) async fn check_task(&self, id: &str, caller: &Caller) -> Result<(), Failure> {
        let _places = self.enter(Effect::Read, caller).await?;
        self.call_on_job(READ, id, caller).await.map(drop)
    }

    /// Cancels a task; one that has ended stays as it is.
    pub(super) async fn cancel_job_of_task(&self, id: &str, caller: &Caller) -> Result<(), Failure> {
        let _places = self.enter(Effect::Read, caller).await?;
        match self.call_on_job(CANCEL, id, caller).await {
            Err(failure) if failure.0.code == Code::InvalidState => Ok(()),
            done => done.map(drop),
        }
    }

    /// Carries out an operation on the job that is a task.
    async fn call_on_job(&self, operation: &str, id: &str, caller: &Caller) -> Result<Value, Failure> {
        let endpoint = self.operation(operation).ok_or_else(missing)?;
        let project = match &caller.credential {
            Credential::Key(key) => key.project.project.id,
            Credential::Token(token) => self.project_of_job(token.user, id).await?,
            Credential::Session(session) => self.project_of_job(session.user, id).await?,
        };
        let arguments = Map::from_iter([
            ("projectId".to_owned(), project.to_string().into()),
            ("jobId".to_owned(), id.into()),
        ]);
        Ok(self
            .invoke(endpoint, arguments, caller)
            .await?
            .unwrap_or_default())
    }

    /// Finds the project of a job among those of a person: a task names its id alone.
    async fn project_of_job(&self, user: UserId, id: &str) -> Result<ProjectId, Failure> {
        let job = JobId::parse(id).map_err(|_| missing())?;
        let mut tx = self.app.engine.db.read().await?;
        let project = access::find_project_of_job(&mut tx, user, job).await?;
        Ok(project.ok_or_else(missing)?)
    }

    /// Writes what the call would have answered had it waited: the job, and what it worked on.
    async fn task_result(&self, job: &Job, read: Value, caller: &Caller) -> Result<Written, Failure> {
        let mut answer = Map::from_iter([("job".to_owned(), read)]);
        for (name, path) in &job.links {
            let address = format!("{SCHEME}{}", path.trim_start_matches('/'));
            let Some(address) = Address::read(&self.app.engine.endpoints, &address) else {
                continue;
            };
            // what the caller may not read, or is gone, is left out
            if let Ok(Some(record)) = self.invoke(address.endpoint, address.arguments, caller).await {
                answer.insert(name.clone(), record);
            }
        }
        let room = Budget::take(&mut Map::new())?.room();
        let members = Members {
            all: None,
            chosen: None,
        };
        let answer = Value::from(answer);
        let whole = shaping::whole_record(&answer, members, UNTRUSTED, &Source::Nowhere);
        Ok(if whole.fits(room) {
            whole
        } else {
            shaping::small_record(&answer, members, UNTRUSTED, &Source::Nowhere, room)
        })
    }
}

/// Words a refusal as an error of the protocol.
pub(super) fn refusal(failure: Failure) -> ErrorData {
    let problem = *failure.0;
    match problem.code {
        // what another project has is not told apart from what nobody has
        Code::NotFound | Code::ProjectForbidden => {
            ErrorData::invalid_params("there is no such task for this credential", None)
        }
        code => {
            let words = format!("{}: {}", code.as_str(), problem.detail);
            let data = json!({ "code": code.as_str(), "retryable": problem.retryable });
            if problem.status < 500 {
                ErrorData::invalid_request(words, Some(data))
            } else {
                ErrorData::internal_error(words, Some(data))
            }
        }
    }
}

fn missing() -> Problem {
    Problem::not_found("task")
}

fn completed(result: &CallToolResult) -> TaskPayload {
    let result = match serde_json::to_value(result) {
        Ok(Value::Object(result)) => result,
        _ => Map::new(),
    };
    TaskPayload::Completed { result }
}

/// Returns a job as a task. Jobs are kept, so a task has no end of life.
fn task_of(job: &Job) -> Task {
    let status = match job.status {
        JobStatus::Queued | JobStatus::Running => TaskStatus::Working,
        JobStatus::Canceled => TaskStatus::Cancelled,
        JobStatus::Succeeded | JobStatus::Failed | JobStatus::Uncertain => TaskStatus::Completed,
    };
    let updated = job.finished_at.or(job.started_at).unwrap_or(job.created_at);
    Task::new(
        job.id.to_string(),
        status,
        job.created_at.to_string(),
        updated.to_string(),
    )
    .with_status_message(message(job))
    .with_poll_interval_ms(POLL_MILLIS)
}

/// Says in one line what a job does and how far it is. Texts of its progress are left out, since others may have written them.
fn message(job: &Job) -> String {
    let mut message = format!("{} {}", job.kind.replace('_', " "), job.status.as_str());
    let progress = job.progress.as_ref().and_then(Value::as_object);
    for (name, value) in progress
        .into_iter()
        .flatten()
        .filter(|(_, value)| value.is_number())
    {
        message.push_str(&format!(", {name} {value}"));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(status: &str, progress: &Value) -> Job {
        serde_json::from_value(json!({ "id": "01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a", "type": "publish_post", "status": status,
            "attempt": 1, "createdAt": "2026-11-21T10:00:00.000Z", "startedAt": "2026-11-21T10:00:05.000Z", "finishedAt": null,
            "runAfter": null, "progress": progress, "result": null, "problem": null, "links": {}, "allowedActions": {} }))
        .unwrap()
    }

    #[test]
    fn a_task_says_how_far_its_job_is() {
        let running = task_of(&job(
            "running",
            &json!({ "done": 3, "of": 9, "url": "https://a.example/\nIgnore" }),
        ));
        assert_eq!(
            running.status_message.as_deref(),
            Some("publish post running, done 3, of 9")
        );
        let wire = serde_json::to_value(&running).unwrap();
        assert_eq!(
            (&wire["status"], &wire["lastUpdatedAt"], &wire["ttlMs"]),
            (
                &json!("working"),
                &json!("2026-11-21T10:00:05.000Z"),
                &Value::Null
            )
        );
        assert!(wire.as_object().unwrap().contains_key("ttlMs"));
    }

    #[test]
    fn whatever_a_job_did_the_call_is_complete() {
        for (status, task) in [
            ("queued", TaskStatus::Working),
            ("succeeded", TaskStatus::Completed),
            ("failed", TaskStatus::Completed),
            ("uncertain", TaskStatus::Completed),
            ("canceled", TaskStatus::Cancelled),
        ] {
            assert_eq!(task_of(&job(status, &Value::Null)).status, task, "{status}");
        }
    }
}
