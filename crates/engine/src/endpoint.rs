//! The table made callable: one `fn` pointer per operation, so that neither the doors nor the compiler
//! know eighty types.

use std::{future::Future, pin::Pin, sync::Arc};

use schemars::Schema;
use searchwright_contract::{
    Answer as _, Effect, Head, Instant, Meta, Operation, Problem, activity, answers, approvals, audits,
    autopilot, brand, competitors, ctas, diffs, engine_status, events, faqs, integrations, issues, jobs,
    json::find_nul,
    keywords, me, names, occurrences,
    operation::{answer_schema, input_schema},
    operations, opportunities, pages, posts, products, projects, prompt_ideas, prompts, rechecks, reports,
    runs, schedules,
    shape::Shape,
    usage, visibility, webhooks,
};
use searchwright_store::{
    Tx,
    access::{ProjectAccess, ProjectScope},
    activity as activities,
};
use serde_json::Value;

use crate::{
    Engine, autonomy,
    call::{Call, Credential, Prepared, forbidden},
    failure::{
        Failure, Result, defect, is_change_meanwhile,
        keyed::{Undone, in_progress, is_remembered},
    },
    replays::KeyedRequest,
};

/// Handler of one operation. It runs inside a transaction: a read transaction for [`Effect::Read`], else a write
/// transaction that commits when the handler returns `Ok`. It awaits nothing but the store.
pub trait Handle<O: Operation> {
    /// Whether there is something to prepare. A repeated request with the same key is then answered before it.
    const PREPARES: bool = false;

    /// Asks other services for data the handler needs, before its transaction is opened; the handler finds the answer in
    /// `Call::prepared`.
    fn prepare(_call: &Call, _operation: &O) -> impl Future<Output = Result<Prepared>> + Send {
        async { Ok(Prepared::Nothing) }
    }

    /// Runs the operation.
    fn handle(call: &Call, tx: &mut Tx, operation: O) -> impl Future<Output = Result<O::Answer>> + Send;
}

/// Times that a call is carried out, when what it has read changes before it commits.
const MAX_RUNS: u32 = 6;

/// Times that a request with a key is carried out, when others take its key or one that has expired is in its way.
const MAX_KEYED_RUNS: u32 = 3;

/// A call being carried out.
type Running = Pin<Box<dyn Future<Output = Result<Reply>> + Send>>;

/// One operation, ready to be called.
pub struct Endpoint {
    /// Its row of the table.
    pub meta: Meta,
    /// Schema of its input, compiled.
    pub shape: Shape,
    /// Its description, the rustdoc of its struct.
    pub description: String,
    /// Schema of its input; built on demand, because the few callers that need it need it once.
    pub input: fn() -> Schema,
    /// Schema of its answer.
    pub answer: fn() -> Schema,
    /// It answers with pages of a list.
    pub list: bool,
    /// A dry run of it answers with 200.
    pub dry_run: bool,
    run: fn(Arc<Engine>, CheckedCall) -> Running,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.meta.name)
    }
}

/// A call as a door passes it on.
#[derive(Debug)]
pub struct Invocation {
    /// Credential of the caller, verified.
    pub credential: Credential,
    /// Path, query and body in one object.
    pub arguments: Value,
    /// Entity tags of `If-Match`, without quotes.
    pub if_match: Option<Vec<String>>,
    /// `Idempotency-Key`.
    pub idempotency_key: Option<String>,
    /// Whether a person was asked for this very call and agreed, which stands for Agent Autonomy.
    pub consented: bool,
}

/// An answer as a door sends it.
#[derive(Clone, Debug)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Values of headers; `location` is below the versioned root.
    pub head: Head,
    /// JSON.
    pub body: Vec<u8>,
    /// It is the stored answer to an earlier request with the same key.
    pub replayed: bool,
}

struct CheckedCall {
    call: Call,
    arguments: Value,
    keyed: Option<KeyedRequest>,
}

impl Engine {
    /// Returns the project of a call that the credential may make.
    async fn admit(
        &self,
        meta: &Meta,
        credential: &Credential,
        arguments: &Value,
        consented: bool,
    ) -> Result<Option<Arc<ProjectAccess>>> {
        let project = self.enter(meta, credential, arguments).await?;
        if let Some(problem) = credential.refusal(project.as_deref(), meta.scope) {
            return Err(problem.into());
        }
        if let Some(project) = project.as_ref().filter(|_| !consented) {
            autonomy::check(self, credential, project, meta.scope).await?;
        }
        Ok(project)
    }

    /// Calls an endpoint: project, scope, arguments, effect, in this order.
    pub async fn invoke(self: &Arc<Self>, endpoint: &Endpoint, invocation: Invocation) -> Result<Reply> {
        let Invocation {
            credential,
            mut arguments,
            if_match,
            idempotency_key,
            consented,
        } = invocation;
        let meta = &endpoint.meta;
        let admitted = self.admit(meta, &credential, &arguments, consented).await;
        let project = admitted.inspect_err(|failure| self.record_denial(meta, &credential, &failure.0))?;
        if let Some(pointer) = find_nul(&arguments).filter(|pointer| {
            // in a path it names nothing, which is told below
            !meta
                .path_parameters()
                .any(|name| pointer.strip_prefix('/') == Some(name))
        }) {
            return Err(Problem::fault(&pointer, "not_allowed", "contains U+0000; leave it out").into());
        }
        let faults = endpoint.shape.faults(&arguments);
        if !faults.is_empty() {
            return Err(Problem::faults(faults).into());
        }
        endpoint.shape.drop_absent(&mut arguments);
        let keyed = idempotency_key
            .filter(|_| meta.effect.writes())
            .map(|key| KeyedRequest::new(meta, &credential, key, &arguments));
        let call = Call {
            engine: self.clone(),
            credential,
            project,
            if_match,
            consented,
            now: self.clock.now(),
            prepared: Prepared::Nothing,
        };
        let reply = (endpoint.run)(
            self.clone(),
            CheckedCall {
                call,
                arguments,
                keyed,
            },
        )
        .await?;
        if meta.effect.runs() {
            self.wake.notify_one();
        }
        if meta.effect.writes() {
            self.happened.notify_one();
        }
        Ok(reply)
    }

    async fn enter(
        &self,
        meta: &Meta,
        credential: &Credential,
        arguments: &Value,
    ) -> Result<Option<Arc<ProjectAccess>>> {
        if !meta.in_project() {
            return Ok(None);
        }
        let id = arguments.get("projectId").and_then(Value::as_str);
        let found = credential.find_project(self, id.unwrap_or_default()).await?;
        Ok(Some(found.ok_or_else(forbidden)?))
    }
}

fn run<O>(engine: Arc<Engine>, checked: CheckedCall) -> Running
where
    O: Operation,
    Engine: Handle<O>,
{
    Box::pin(async move {
        let CheckedCall {
            mut call,
            arguments,
            mut keyed,
        } = checked;
        let mut subject = O::META
            .path_parameters()
            .filter(|name| *name != "projectId")
            .last()
            .and_then(|name| Some(arguments.get(name)?.as_str()?.to_owned()));
        let mut operation: O =
            serde_json::from_value(arguments).map_err(|e| Problem::fault("", "invalid", e.to_string()))?;
        let prepares = <Engine as Handle<O>>::PREPARES;
        // bodies with many new records are not copied: what they make was not read before
        let runs_once = !prepares && matches!(O::META.effect, Effect::Create | Effect::Import);
        if let Some(keyed) = keyed.as_ref().filter(|_| prepares)
            && let Some(reply) = keyed.replay::<O>(&engine, call.scope()?, call.now).await?
        {
            return Ok(reply);
        }
        let mut left = MAX_RUNS;
        loop {
            if prepares {
                call.prepared = Engine::prepare(&call, &operation).await?;
            }
            if !O::META.effect.writes() {
                let mut tx = engine.db.read().await?;
                return reply::<O>(Engine::handle(&call, &mut tx, operation).await?);
            }
            left -= 1;
            if left == 0 || runs_once {
                return write::<O>(&engine, Arc::new(call), operation, subject, keyed).await;
            }
            let shared = Arc::new(call);
            let again = (operation.clone(), subject.clone(), keyed.clone());
            let done = write::<O>(&engine, shared.clone(), operation, subject, keyed).await;
            call = match (done, Arc::into_inner(shared)) {
                (Err(failure), Some(call)) if is_change_meanwhile(&failure) => call,
                (done, _) => return done,
            };
            (operation, subject, keyed) = again;
        }
    })
}

/// Carries a change out, or answers it from what is stored under its key.
async fn write<O>(
    engine: &Arc<Engine>,
    call: Arc<Call>,
    operation: O,
    subject: Option<String>,
    keyed: Option<KeyedRequest>,
) -> Result<Reply>
where
    O: Operation,
    Engine: Handle<O>,
{
    let Some(keyed) = keyed else {
        return engine
            .db
            .write(move |tx| Box::pin(async move { change::<O>(&call, tx, operation, subject).await }))
            .await;
    };
    let (scope, now) = (call.scope()?, call.now);
    for run in 0..MAX_KEYED_RUNS {
        let request = keyed.clone();
        let (call, operation, subject) = (call.clone(), operation.clone(), subject.clone());
        let work = async move |tx: &mut Tx| -> Result<Reply, Undone> {
            if run > 0 {
                request.forget_expired(tx, scope, now).await?;
            }
            let reply = change::<O>(&call, tx, operation, subject).await?;
            request.keep::<O>(&call.engine, tx, scope, &reply, now).await?;
            Ok(reply)
        };
        let refused = match engine.db.write(move |tx| Box::pin(work(tx))).await {
            Ok(reply) => return Ok(reply),
            Err(Undone::Failed(failure)) if failure.0.status >= 500 => return Err(failure),
            Err(Undone::Failed(failure)) => Some(failure),
            Err(Undone::KeyTaken) => None,
        };
        // An operation that was carried out before fails, or does not, for whatever reason: what counts is its first answer.
        if let Some(reply) = keyed.replay::<O>(engine, scope, now).await? {
            return Ok(reply);
        }
        let Some(failure) = refused else { continue };
        if !is_remembered(failure.0.code) {
            return Err(failure);
        }
        match keep_refusal::<O>(engine, scope, &keyed, &failure, now).await {
            Ok(()) => return Err(failure),
            Err(Undone::Failed(failure)) => return Err(failure),
            Err(Undone::KeyTaken) => {}
        }
    }
    Err(in_progress())
}

/// Keeps a refusal for the next request with the same key.
async fn keep_refusal<O: Operation>(
    engine: &Arc<Engine>,
    scope: ProjectScope,
    keyed: &KeyedRequest,
    failure: &Failure,
    now: Instant,
) -> Result<(), Undone> {
    let refused = Reply {
        status: failure.0.status,
        head: Head::default(),
        body: serde_json::to_vec(&failure.0).map_err(|e| defect("answer", e))?,
        replayed: false,
    };
    let (engine, keyed) = (engine.clone(), keyed.clone());
    let db = engine.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            keyed.forget_expired(tx, scope, now).await?;
            keyed.keep::<O>(&engine, tx, scope, &refused, now).await
        })
    })
    .await
}

/// Carries a change out and notes who made it: here and nowhere else, so that no handler can forget. The
/// subject is the record the path names, else the one that was made or the job that was started.
async fn change<O>(call: &Call, tx: &mut Tx, operation: O, subject: Option<String>) -> Result<Reply>
where
    O: Operation,
    Engine: Handle<O>,
{
    if let Some(project) = &call.project {
        autonomy::consume(call, tx, project, O::META.scope).await?;
    }
    let answer = Engine::handle(call, tx, operation).await?;
    let changes = !answer.head().is_dry_run && !answer.head().is_under_way;
    if let Some(project) = call.project.as_ref().filter(|_| changes) {
        let made = || Some(answer.head().location?.rsplit('/').next()?.to_owned());
        let entry = activities::NewActivity {
            id: call.engine.clock.id(),
            action: O::META.name,
            subject: subject.or_else(made),
            kind: call.credential.kind(),
            credential: call.credential.owner(),
            name: call.credential.name().to_owned(),
            user: call.credential.user(),
        };
        activities::insert(tx, project.scope(), entry, call.now).await?;
    }
    reply::<O>(answer)
}

fn reply<O: Operation>(answer: O::Answer) -> Result<Reply> {
    let mut head = answer.head();
    let status = if head.is_dry_run {
        200
    } else {
        O::META.effect.status()
    };
    if O::META.effect != Effect::Create && !O::META.effect.runs() {
        head.location = None;
    }
    let body = if status == 204 {
        Vec::new()
    } else {
        serde_json::to_vec(&answer).map_err(|e| defect("answer", e))?
    };
    Ok(Reply {
        status,
        head,
        body,
        replayed: false,
    })
}

macro_rules! endpoints {
    ($($module:ident::$op:ident => $name:literal $method:ident $path:literal -> $answer:ty, $scope:ident, $effect:ident, $reach:ident, [$($error:ident),*];)*) => {
        /// The table, in its order.
        pub fn all() -> Result<Vec<Endpoint>> {
            Ok(vec![$(endpoint::<$module::$op>()?,)*])
        }
    };
}
operations!(endpoints);

fn endpoint<O>() -> Result<Endpoint>
where
    O: Operation,
    Engine: Handle<O>,
{
    let input = input_schema::<O>();
    let shape = Shape::compile(&input).map_err(|e| defect("schema", format!("{}: {e}", O::META.name)))?;
    let description = input.get("description").and_then(Value::as_str);
    Ok(Endpoint {
        meta: O::META,
        shape,
        description: description.unwrap_or_default().to_owned(),
        input: input_schema::<O>,
        answer: answer_schema::<O>,
        list: O::Answer::LIST,
        dry_run: O::Answer::DRY_RUN,
        run: run::<O>,
    })
}
