//! The tools, and what every call of one needs: its caller, the engine, a place and a unit of its quotas.

use std::sync::{Arc, OnceLock};

use rmcp::{
    ErrorData, RoleServer,
    model::{ProtocolVersion, ServerConfig},
    service::RequestContext,
};
use searchwright_contract::{Code, Effect, Problem};
use searchwright_engine::{Credential, Endpoint, Failure, Invocation};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    cards,
    catalogue::{self, Entry},
    lists::{Insertion, KeptLists},
    pledge::{Declined, Pledge},
};
use crate::{
    app::App,
    http::{operations, outgoing::Places, panics::caught},
};

/// Parts of an answer that do not pass through the protocol, in the extensions of its request.
#[derive(Debug, Default)]
pub(super) struct AnswerParts {
    /// Places of the request, which its answer keeps.
    pub(super) places: OnceLock<Places>,
    /// JSON that is put into the answer when the protocol has written it.
    pub(super) insertion: OnceLock<Insertion>,
}

/// The tools, and what they work on.
#[derive(Clone)]
pub(super) struct Tools {
    pub(super) app: Arc<App>,
    /// Made when the first client asks: megabytes that an installation without one does without.
    tools: Arc<OnceLock<Vec<Entry>>>,
    pub(super) lists: Arc<KeptLists>,
    pub(super) config: Arc<ServerConfig>,
    pub(super) declined: Arc<Declined>,
}

impl Tools {
    /// The tools of an installation.
    pub(super) fn new(app: Arc<App>, config: ServerConfig) -> Self {
        Self {
            app,
            tools: Arc::default(),
            lists: Arc::default(),
            config: Arc::new(config),
            declined: Arc::default(),
        }
    }

    pub(super) fn all(&self) -> &[Entry] {
        self.tools
            .get_or_init(|| catalogue::entries(&self.app.engine.endpoints))
    }

    pub(super) fn entry(&self, name: &str) -> Option<&Entry> {
        self.all().iter().find(|entry| entry.name() == name)
    }

    /// Returns an operation of the table.
    pub(super) fn operation(&self, name: &str) -> Option<&Endpoint> {
        self.app
            .engine
            .endpoints
            .iter()
            .find(|endpoint| endpoint.meta.name == name)
    }

    /// Returns the id of the project of a key, or of the only one that is open to a token.
    pub(super) async fn only_project(&self, caller: &Caller) -> Result<Value, Failure> {
        if let Credential::Key(key) = &caller.credential {
            return Ok(key.project.project.id.into());
        }
        let me = self
            .operation("me.get")
            .ok_or_else(|| Problem::not_found("credential"))?;
        let me = self.invoke(me, Map::new(), caller).await?.unwrap_or_default();
        match me["projects"].as_array().map(Vec::as_slice) {
            Some([project]) => Ok(project["id"].clone()),
            _ => {
                Err(Problem::fault("/projectId", "required", "says which project; me_get lists them").into())
            }
        }
    }

    /// Calls an endpoint; `None` is an answer without a body.
    pub(super) async fn invoke(
        &self,
        endpoint: &Endpoint,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Option<Value>, Failure> {
        self.invoke_as(endpoint, arguments, caller, None, false).await
    }

    /// Calls an endpoint for a person who agreed, once for the nonce of a question.
    pub(super) async fn invoke_as(
        &self,
        endpoint: &Endpoint,
        arguments: Map<String, Value>,
        caller: &Caller,
        nonce: Option<Uuid>,
        consented: bool,
    ) -> Result<Option<Value>, Failure> {
        let invocation = Invocation {
            credential: caller.credential.clone(),
            arguments: Value::Object(arguments),
            if_match: None,
            idempotency_key: nonce.map(|nonce| format!("mcp-consent-{nonce}")),
            consented,
        };
        let reply = caught(operations::invoke(&self.app, endpoint, invocation)).await?;
        if reply.replayed {
            let used = "this confirmation was used before; call again without requestState";
            return Err(Problem::new(Code::ConfirmationRequired, used).into());
        }
        Ok(match reply.body.as_slice() {
            [] => None,
            body => Some(serde_json::from_slice(body).unwrap_or_default()),
        })
    }

    /// Takes the places of a request, which are held until its answer is written, and a unit of its quotas.
    pub(super) async fn enter(&self, effect: Effect, caller: &Caller) -> Result<Places, Failure> {
        let places = self.take_places(effect.writes(), caller).await;
        operations::limit(&self.app, effect.runs(), &caller.credential)
            .await
            .map_err(|refusal| refusal.failure)?;
        places
    }

    pub(super) async fn take_places(&self, changes: bool, caller: &Caller) -> Result<Places, Failure> {
        let place = operations::enter(&self.app, changes).await?;
        let places = Places::new(place, operations::enter_as(&self.app, &caller.credential).await?);
        let _ = caller.parts.places.set(places.clone());
        Ok(places)
    }
}

/// Caller of a tool, with what a person agreed to and the place of the answer.
pub(super) struct Caller {
    pub(super) credential: Credential,
    /// Digest of the call.
    pub(super) call: String,
    /// Consent that came with the call.
    pub(super) pledge: Option<Pledge>,
    /// Whether the client can ask a person.
    pub(super) asks: bool,
    /// Whether the client follows what runs long as a task.
    pub(super) follows_tasks: bool,
    /// Whether the client shows cards.
    pub(super) shows_cards: bool,
    pub(super) parts: Arc<AnswerParts>,
}

impl Caller {
    pub(super) fn from_context(context: &RequestContext<RoleServer>) -> Result<Self, ErrorData> {
        let none = || ErrorData::internal_error("the request carries no place for its answer", None);
        let is_new = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        let capabilities = context.client_capabilities().filter(|_| is_new);
        let follows_tasks = capabilities
            .as_ref()
            .is_some_and(|capabilities| capabilities.supports_tasks());
        let shows_cards = capabilities.as_ref().is_some_and(cards::are_shown);
        let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
        // a client that names neither form nor address means forms
        let has_forms = elicitation.is_some_and(|asks| asks.form.is_some() || asks.url.is_none());
        Ok(Self {
            credential: credential_of(context)?.clone(),
            call: String::new(),
            pledge: None,
            asks: has_forms,
            follows_tasks,
            shows_cards,
            parts: extension::<Arc<AnswerParts>>(context).ok_or_else(none)?.clone(),
        })
    }
}

/// Returns an extension of the request over HTTP.
pub(super) fn extension<T: Send + Sync + 'static>(context: &RequestContext<RoleServer>) -> Option<&T> {
    let parts = context.extensions.get::<http::request::Parts>()?;
    parts.extensions.get::<T>()
}

/// Returns the credential of a request.
pub(super) fn credential_of(context: &RequestContext<RoleServer>) -> Result<&Credential, ErrorData> {
    extension(context).ok_or_else(|| ErrorData::internal_error("the request carries no credential", None))
}
