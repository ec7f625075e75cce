//! One call: who makes it, what it may touch, and what handlers need while it lasts.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    str::FromStr,
    sync::Arc,
};

use searchwright_contract::{
    Code, Instant, List, Operation, Problem, Scope,
    actions::{AllowedActions, Permission},
    activity::CredentialKind,
    ids::{CredentialId, ProjectId},
    integrations::Fields,
    keywords::Imported,
    list::DEFAULT_LIMIT,
    opportunities::Opportunity,
    people::{Role, UserRef},
    visibility::Overview,
};
use searchwright_store::{
    Error, Tx,
    access::{self, KeyAccess, ProjectAccess, ProjectScope, RecordKind},
    oauth_tokens::TokenAccess,
    sessions::Session,
};
use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

use searchwright_tracking::{RunPlan, recording::AnalysedAnswers, reports::ReadReport};

pub use crate::failure::fault;
use crate::{Engine, failure::Result, posts::settling::Settled};

/// A credential that has been verified.
#[derive(Clone, Debug)]
pub enum Credential {
    /// A project-bound API key.
    Key(Arc<KeyAccess>),
    /// An OAuth access token.
    Token(Arc<TokenAccess>),
    /// A person who is signed in to the dashboard, and may do what their role in the project permits.
    Session(Arc<Session>),
}

impl Credential {
    /// Returns the project, if the credential may access it now. Malformed, unknown and foreign ids are not told apart.
    pub async fn find_project(
        &self,
        engine: &Engine,
        project_id: &str,
    ) -> Result<Option<Arc<ProjectAccess>>> {
        let user = match self {
            Self::Key(key) => return Ok(key.find_project(project_id)),
            Self::Token(token) => token.user,
            Self::Session(session) => session.user,
        };
        let id = ProjectId::parse(project_id).ok();
        let Some(id) = id.filter(|id| id.to_string() == project_id) else {
            return Ok(None);
        };
        // Before the look: a change announced after it is then noticed by the next call.
        let (generation, key) = (engine.db.credential_generation(), (user, id));
        let known = generation
            .and_then(|generation| engine.memberships.find(&key, generation, engine.clock.steady()));
        if known.is_some() {
            return Ok(known);
        }
        let found = access::find_project_of_user(&mut engine.db.read().await?, user, id).await?;
        let found = found.map(Arc::new);
        if let (Some(found), Some(generation)) = (&found, generation) {
            engine
                .memberships
                .store(key, found.clone(), generation, engine.clock.steady());
        }
        Ok(found)
    }

    /// Returns the id to which rate limits and idempotency keys are charged: the key, the grant of a token, or the session.
    pub fn owner(&self) -> CredentialId {
        match self {
            Self::Key(key) => key.key.id,
            Self::Token(token) => token.grant,
            Self::Session(session) => session.id.uuid().into(),
        }
    }

    /// Kind of the credential in the activity log.
    pub(crate) const fn kind(&self) -> CredentialKind {
        match self {
            Self::Key(_) => CredentialKind::ApiKey,
            Self::Token(_) => CredentialKind::OauthToken,
            Self::Session(_) => CredentialKind::Session,
        }
    }

    /// Label of the key, name of the client, or name of the person.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Key(key) => &key.key.name,
            Self::Token(token) => &token.client_name,
            Self::Session(session) => &session.user_name,
        }
    }

    /// Person on whose behalf the caller acts.
    pub(crate) fn user(&self) -> Option<UserRef> {
        match self {
            Self::Key(_) => None,
            Self::Token(token) => Some(UserRef {
                id: token.user,
                name: token.user_name.clone(),
            }),
            Self::Session(session) => Some(UserRef {
                id: session.user,
                name: session.user_name.clone(),
            }),
        }
    }

    /// Returns the problem of a token that was not granted this scope, whatever the role of its person. A client can ask for more.
    pub fn lacks_scope(&self, scope: Scope) -> Option<Problem> {
        match self {
            Self::Token(token) if !is_granted(&token.scopes, scope) => {
                Some(lacks(scope, format!("this needs the scope {}", scope.as_str())))
            }
            _ => None,
        }
    }

    /// Returns whether it may call operations with this scope, as far as that does not depend on a project.
    pub fn may(&self, scope: Scope) -> bool {
        match self {
            Self::Key(key) => key.permits(scope),
            Self::Token(token) => is_granted(&token.scopes, scope),
            Self::Session(_) => true,
        }
    }

    /// Returns the problem that an operation with this scope meets in this project, if it is refused.
    pub(crate) fn refusal(&self, project: Option<&ProjectAccess>, scope: Scope) -> Option<Problem> {
        match self {
            Self::Key(key) if key.permits(scope) => None,
            Self::Key(key) if key.key.read_only && scope.writes() => {
                Some(lacks(scope, "this key is read-only".to_owned()))
            }
            Self::Token(token) if !is_granted(&token.scopes, scope) => {
                Some(lacks(scope, format!("this needs the scope {}", scope.as_str())))
            }
            Self::Token(_) | Self::Session(_) => {
                let role = project.and_then(|project| project.role)?;
                (!role.permits(scope)).then(|| role_too_low(role, scope))
            }
            Self::Key(_) => Some(lacks(scope, format!("this needs the scope {}", scope.as_str()))),
        }
    }
}

fn is_granted(scopes: &[Scope], needed: Scope) -> bool {
    matches!(needed, Scope::Any | Scope::OfRecord) || scopes.iter().any(|scope| scope.grants(needed))
}

fn lacks(scope: Scope, detail: String) -> Problem {
    let problem = Problem::new(Code::InsufficientScope, detail);
    match scope.as_str() {
        "" => problem,
        scope => problem.with("scope", scope),
    }
}

fn role_too_low(role: Role, scope: Scope) -> Problem {
    let needed = Role::for_scope(scope);
    let detail = format!("the user is {role} in the workspace of this project, this needs {needed}");
    Problem::new(Code::InsufficientRole, detail)
        .hint("ask an owner or admin of the workspace for another role")
        .with("role", role.as_str())
        .with("neededRole", needed.as_str())
}

/// Context of a handler besides its transaction and its arguments.
#[derive(Debug)]
pub struct Call {
    /// The service.
    pub engine: Arc<Engine>,
    /// Credential of the caller, verified.
    pub credential: Credential,
    /// The project of the path, where there is one.
    pub(crate) project: Option<Arc<ProjectAccess>>,
    /// Entity tags of `If-Match`, without quotes; `*` matches any.
    pub if_match: Option<Vec<String>>,
    /// Whether a person was asked for this very call and agreed.
    pub(crate) consented: bool,
    /// Time at which the call began.
    pub now: Instant,
    /// Result of [`Handle::prepare`](crate::endpoint::Handle::prepare).
    pub(crate) prepared: Prepared,
}

/// Results that were obtained before the transaction was opened: answers of other services, and long computations.
#[derive(Debug, Default)]
pub enum Prepared {
    /// The operation asks nobody.
    #[default]
    Nothing,
    /// The site that is connected.
    Site(ConnectSite),
    /// Fields of a provider.
    Fields(Fields),
    /// Answers that were analysed.
    Answers(Box<AnalysedAnswers>),
    /// Engines that a run asks.
    Run(Box<RunPlan>),
    /// An overview of visibility.
    Overview(Box<Overview>),
    /// Next steps for more visibility.
    Opportunities(Vec<Opportunity>),
    /// A file of keywords that was imported.
    Import(Box<ImportedFile>),
    /// A post that was assessed.
    Post(Box<Settled>),
    /// A report that was parsed.
    Report(Box<ReadReport>),
}

/// A file that was imported, but for the clusters of its keywords.
#[derive(Clone, Debug)]
pub struct ImportedFile {
    pub(crate) imported: Imported,
    /// Languages of keywords that were added or changed.
    pub(crate) changed_languages: BTreeSet<String>,
}

/// A site that is connected to a provider.
#[derive(Debug)]
pub struct ConnectSite {
    /// URL of the site.
    pub url: String,
    /// Page at the provider on which its owner agrees, with `{token}` and `{own}` to be replaced; `None` where an account is
    /// entered on a page of this server.
    pub consent_page: Option<String>,
}

impl Call {
    /// The project of the path.
    pub fn project(&self) -> Result<&ProjectAccess> {
        self.project
            .as_deref()
            .ok_or_else(|| crate::failure::defect("no project", "the operation has none in its path"))
    }

    /// Scope of the project of the path.
    pub fn scope(&self) -> Result<ProjectScope> {
        Ok(self.project()?.scope())
    }

    /// Parses the id of a child record; 404 if it is not a UUID.
    pub fn child<I: FromStr>(&self, kind: RecordKind, id: &str) -> Result<I> {
        id.parse().map_err(|_| Problem::not_found(kind.name()).into())
    }

    /// Maps a missing child to its error: 403 if it belongs to another project, else 404.
    pub async fn or_missing<T>(
        &self,
        tx: &mut Tx,
        kind: RecordKind,
        id: impl Into<Uuid>,
        found: Result<T, Error>,
    ) -> Result<T> {
        match found {
            Ok(value) => Ok(value),
            Err(Error::Missing) if access::exists_in_any_project(tx, kind, id.into()).await? => {
                Err(forbidden().into())
            }
            Err(Error::Missing) => Err(Problem::not_found(kind.name()).into()),
            Err(other) => Err(other.into()),
        }
    }

    /// Refuses a change to a record that is not the one the caller read.
    pub fn check_match(&self, id: impl Display, version: i64) -> Result<()> {
        let tag = format!("{id}-{version}");
        match &self.if_match {
            Some(tags) if !tags.iter().any(|t| *t == tag || t == "*") => Err(Problem::new(
                Code::PreconditionFailed,
                "the record has changed since it was read",
            )
            .hint("read it again, look at what changed, and repeat with its ETag")
            .with("currentVersion", version)
            .into()),
            _ => Ok(()),
        }
    }

    /// The page of a list from one row more than it holds.
    pub fn page<O: Operation, T, P: Serialize>(
        &self,
        operation: &O,
        limit: u32,
        mut rows: Vec<T>,
        place: impl Fn(&T) -> P,
    ) -> Result<List<T>> {
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next_cursor = match rows.last().filter(|_| more) {
            Some(last) => Some(self.engine.cursors.seal(operation, &place(last))?),
            None => None,
        };
        Ok(List {
            data: rows,
            next_cursor,
        })
    }

    /// The place a list goes on from.
    pub fn after<O: Operation, P: DeserializeOwned>(
        &self,
        operation: &O,
        cursor: Option<&str>,
    ) -> Result<Option<P>> {
        self.engine.cursors.open(operation, cursor)
    }

    /// Returns the problem that an action with this scope meets, if the caller may not perform it.
    pub(crate) fn refusal(&self, scope: Scope) -> Option<Problem> {
        self.credential.refusal(self.project.as_deref(), scope)
    }

    /// Returns whether the credential of the caller allows an action that needs this scope.
    pub fn permission(&self, scope: Scope) -> Permission {
        match self.refusal(scope) {
            None => Permission::Yes(true),
            Some(problem) => Permission::no(problem.code.as_str(), problem.detail),
        }
    }

    /// The usual two actions on a record.
    pub fn change_and_delete(&self, scope: Scope) -> AllowedActions {
        let permission = self.permission(scope);
        AllowedActions(BTreeMap::from([
            ("update".into(), permission.clone()),
            ("delete".into(), permission),
        ]))
    }
}

/// The one answer to a project that is unknown, malformed or somebody else's.
pub fn forbidden() -> Problem {
    Problem::new(
        Code::ProjectForbidden,
        "this project is not accessible with this credential",
    )
    .hint("me.get lists the accessible projects; do not guess ids")
}

/// Rows of a page.
pub fn limit(limit: Option<u8>) -> u32 {
    limit.unwrap_or(DEFAULT_LIMIT).into()
}
