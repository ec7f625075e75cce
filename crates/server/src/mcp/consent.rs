//! Consent of a person to what publishes or costs money: asked through the client where it can show a form, else given on the
//! dashboard or beforehand as Agent Autonomy.
//!
//! The question goes to the client with a sealed state, which is bound to who calls, to the call and to the question, lasts for ten
//! minutes, and is used once: its nonce is the idempotency key of the call, in the database that all servers share. An argument of
//! the model stands for nobody.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitationSchema, InputRequest, InputRequiredResult, InputResponses,
};
use searchwright_contract::{Code, Problem, Scope};
use searchwright_engine::{Credential, Endpoint, Failure};
use searchwright_store::seal::SealContext;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{
    pledge::Pledge,
    shaping::visible,
    tools::{Caller, Tools},
};

/// Name of the question among those of a result.
const QUESTION: &str = "consent";
/// Milliseconds for which a question can be answered.
const LASTS_MILLIS: i64 = 600_000;
/// Characters of a title or a prompt in a question.
const MAX_QUOTED: usize = 200;

/// Outcome of a question.
#[derive(Debug)]
pub(super) enum Returned {
    Accepted(Pledge),
    Declined,
    /// The state is not one of this call, too old, or was answered before.
    Invalid,
}

/// A call that ends without an answer.
pub(super) enum Stop {
    Failed(Failure),
    /// A person is asked.
    Asked(Box<InputRequiredResult>),
}

impl<F: Into<Failure>> From<F> for Stop {
    fn from(failure: F) -> Self {
        Self::Failed(failure.into())
    }
}

/// Digest of a call: the name of its tool and its arguments, in whatever order.
pub(super) fn call_digest(name: &str, arguments: &Map<String, Value>) -> String {
    fn write(value: &Value, to: &mut String) {
        match value {
            Value::Object(members) => {
                let sorted: BTreeMap<&String, &Value> = members.iter().collect();
                to.push('{');
                for (name, member) in sorted {
                    to.push_str(&Value::from(name.as_str()).to_string());
                    to.push(':');
                    write(member, to);
                    to.push(',');
                }
                to.push('}');
            }
            Value::Array(items) => {
                to.push('[');
                for item in items {
                    write(item, to);
                    to.push(',');
                }
                to.push(']');
            }
            other => to.push_str(&other.to_string()),
        }
    }
    let mut text = format!("tools/call {}\n", Value::from(name));
    write(&Value::from(arguments.clone()), &mut text);
    digest(&text)
}

fn digest(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(text.as_bytes()))
}

/// Place of a state, outside of which it does not open.
fn place<'a>(credential: &Credential, call: &'a str) -> SealContext<'a> {
    let user = match credential {
        Credential::Key(key) => key.project.scope().project(),
        Credential::Token(token) => token.user.uuid(),
        Credential::Session(session) => session.user.uuid(),
    };
    SealContext {
        table: "mcp.request_state",
        column: call,
        row: credential.owner().uuid(),
        project: user,
    }
}

impl Tools {
    /// Reads what a client sends back for a question.
    pub(super) fn returned(
        &self,
        state: &str,
        responses: Option<&InputResponses>,
        credential: &Credential,
        call: &str,
    ) -> Returned {
        let engine = &self.app.engine;
        let open = || {
            let sealed = URL_SAFE_NO_PAD.decode(state).ok()?;
            let opened = engine.keyring.open(place(credential, call), &sealed).ok()?;
            serde_json::from_slice::<Pledge>(&opened).ok()
        };
        let is_open =
            |pledge: &Pledge| pledge.expires_at > engine.clock.now() && !self.declined.has(pledge.nonce);
        let Some(pledge) = open().filter(is_open) else {
            return Returned::Invalid;
        };
        let response = responses.and_then(|responses| responses.get(QUESTION));
        match response.and_then(|response| response["action"].as_str()) {
            Some("accept") => Returned::Accepted(pledge),
            Some(_) => {
                self.declined.add(pledge.nonce);
                Returned::Declined
            }
            None => Returned::Invalid,
        }
    }

    /// Returns the nonce of a consent to this very question.
    pub(super) async fn consented(
        &self,
        endpoint: &Endpoint,
        arguments: &Map<String, Value>,
        caller: &Caller,
    ) -> Result<Option<Uuid>, Failure> {
        let Some(pledge) = &caller.pledge else {
            return Ok(None);
        };
        let question = self.question(endpoint, arguments, caller).await?;
        Ok((digest(&question) == pledge.question).then_some(pledge.nonce))
    }

    /// Says what to do about a call that Agent Autonomy does not cover: a person is asked by the client, or told where to act.
    pub(super) async fn without_autonomy(
        &self,
        endpoint: &Endpoint,
        arguments: &Map<String, Value>,
        caller: &Caller,
        refusal: Problem,
    ) -> Stop {
        let action = refusal
            .extra
            .get("action")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        if !matches!(action.as_str(), "publish" | "track") {
            return refusal.into();
        }
        let is_asked = matches!(
            endpoint.meta.scope,
            Scope::ContentPublish | Scope::VisibilityTrack
        );
        if caller.asks && is_asked {
            match self
                .question(endpoint, arguments, caller)
                .await
                .and_then(|question| self.ask(question, caller))
            {
                Ok(asked) => return Stop::Asked(Box::new(asked)),
                Err(failure) => return Stop::Failed(failure),
            }
        }
        let public = &self.app.settings.public_url;
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let project = format!("{public}/projects/{}", text("projectId"));
        let url = match (text("postId"), text("promptId")) {
            ("", "") => project.clone(),
            ("", prompt) => format!("{project}/visibility/prompts/{prompt}"),
            (post, _) => format!("{project}/posts/{post}"),
        };
        let hint = format!(
            "give the person this address, where they can do it: {url} . For calls without a person an admin can turn on Agent Autonomy \
             at {project}/settings/autonomy"
        );
        Problem::new(
            Code::ConfirmationRequired,
            "a person has to confirm this; no argument stands for that",
        )
        .hint(hint)
        .with("url", url)
        .with("action", action)
        .into()
    }

    fn ask(&self, question: String, caller: &Caller) -> Result<InputRequiredResult, Failure> {
        let engine = &self.app.engine;
        let pledge = Pledge {
            nonce: engine.clock.id(),
            expires_at: engine.clock.now().plus_millis(LASTS_MILLIS),
            question: digest(&question),
        };
        let pledge = serde_json::to_vec(&pledge).unwrap_or_default();
        let sealed = engine
            .keyring
            .seal(place(&caller.credential, &caller.call), &pledge)?;
        let form = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: question,
            // whoever accepts agrees: there is nothing to fill in
            requested_schema: ElicitationSchema::new(BTreeMap::new()),
        };
        let requests = BTreeMap::from([(
            QUESTION.to_owned(),
            InputRequest::Elicitation(ElicitRequest::new(form)),
        )]);
        Ok(InputRequiredResult::new(
            Some(requests),
            Some(URL_SAFE_NO_PAD.encode(sealed)),
        ))
    }

    /// Words what a person is asked: what happens, where, and what it costs.
    async fn question(
        &self,
        endpoint: &Endpoint,
        arguments: &Map<String, Value>,
        caller: &Caller,
    ) -> Result<String, Failure> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let project = Map::from_iter([(
            "projectId".to_owned(),
            text("projectId").unwrap_or_default().into(),
        )]);
        let about = |name: &str| {
            let mut about = project.clone();
            about.insert(name.to_owned(), text(name).unwrap_or_default().into());
            about
        };
        let me = self.read("me.get", Map::new(), caller).await?.unwrap_or_default();
        let mut projects = me["projects"].as_array().into_iter().flatten();
        let own = projects.find(|other| other["id"] == project["projectId"]);
        let site = quoted(own.map_or(&Value::Null, |own| &own["name"]));
        if endpoint.meta.scope == Scope::VisibilityTrack {
            let prompt = self
                .read("prompts.get", about("promptId"), caller)
                .await?
                .unwrap_or_default();
            let mut plan = arguments.clone();
            plan.insert("dryRun".to_owned(), true.into());
            let plan = self
                .invoke_as(endpoint, plan, caller, None, true)
                .await?
                .unwrap_or_default();
            let cost = &plan["estimatedCost"];
            let cost = match (cost["low"].as_f64(), cost["high"].as_f64()) {
                (Some(low), Some(high)) => format!("an estimated US$ {low:.4} to {high:.4}"),
                _ => "an unknown amount".to_owned(),
            };
            let engines = arguments.get("engines").and_then(Value::as_array);
            let engines: Vec<&str> = engines.into_iter().flatten().filter_map(Value::as_str).collect();
            let engines = if engines.is_empty() {
                "its engines".to_owned()
            } else {
                engines.join(", ")
            };
            let samples = arguments.get("samples").and_then(Value::as_u64).unwrap_or(1);
            return Ok(format!(
                "Ask {engines} {samples} time(s): {} for the project {site}? It costs {cost}.",
                quoted(&prompt["text"])
            ));
        }
        let post = self
            .read("posts.get", about("postId"), caller)
            .await?
            .unwrap_or_default();
        let (title, version) = (quoted(&post["title"]), &post["version"]);
        let through = self.place(arguments, caller).await?;
        if endpoint.meta.name == "posts.unpublish" {
            return Ok(format!(
                "Take {title} of the project {site} offline at {through}?"
            ));
        }
        let mode = if text("mode") == Some("draft") {
            "as a draft"
        } else {
            "so that everybody can read it"
        };
        let force = if arguments.get("force") == Some(&Value::Bool(true)) {
            " What others changed there is overwritten."
        } else {
            ""
        };
        Ok(format!(
            "Publish {title} (version {version}) of the project {site} through {through}, {mode}?{force}"
        ))
    }

    /// Names the place at which a call publishes: the one that it names, else the only one that is ready.
    async fn place(&self, arguments: &Map<String, Value>, caller: &Caller) -> Result<String, Failure> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let (named, connection) = (text("provider"), text("connectionId"));
        let project = text("projectId").and_then(|id| id.parse().ok());
        let mut places = Vec::new();
        if let (Credential::Token(token), Some(project)) = (&caller.credential, project) {
            places = self.app.people.publishing_places(token.user, project).await?;
        }
        places.retain(|place| {
            place.is_ready
                && named.is_none_or(|named| named == place.provider)
                && connection.is_none_or(|id| id == place.connection.to_string())
        });
        Ok(match (places.as_slice(), named) {
            ([one], _) => format!("{} ({})", one.provider, quoted(&one.site.as_str().into())),
            (_, Some(provider)) => quoted(&provider.into()),
            _ => "the connected place".to_owned(),
        })
    }

    /// Reads for a question what the credential may read; what it may not is left out.
    async fn read(
        &self,
        operation: &str,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Option<Value>, Failure> {
        let mut endpoints = self.app.engine.endpoints.iter();
        let Some(endpoint) = endpoints.find(|endpoint| endpoint.meta.name == operation) else {
            return Ok(None);
        };
        match self.invoke(endpoint, arguments, caller).await {
            Err(failure) if failure.0.code == Code::InsufficientScope => Ok(None),
            read => read,
        }
    }
}

/// Text of others within a question, in one line and in quotation marks.
fn quoted(text: &Value) -> String {
    let text = visible(text.as_str().unwrap_or("(unknown)"));
    let words: Vec<&str> = text.split_whitespace().collect();
    let text: String = words
        .join(" ")
        .chars()
        .filter(|letter| !matches!(letter, '“' | '”' | '"'))
        .collect();
    let cut: String = text.chars().take(MAX_QUOTED).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("“{cut}{more}”")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_the_same_in_whatever_order() {
        let call = |arguments: Value| call_digest("posts_publish", arguments.as_object().unwrap());
        let one = call(json!({ "postId": "1", "mode": "live", "x": [{ "a": 1, "b": 2 }] }));
        assert_eq!(
            one,
            call(json!({ "x": [{ "b": 2, "a": 1 }], "mode": "live", "postId": "1" }))
        );
        for other in [
            json!({ "postId": "2", "mode": "live", "x": [{ "a": 1, "b": 2 }] }),
            json!({ "postId": "1", "mode": "live", "x": [{ "a": 1 }, { "b": 2 }] }),
            json!({ "postId": "1\",\"mode\":\"live", "x": [{ "a": 1, "b": 2 }] }),
        ] {
            assert_ne!(one, call(other));
        }
    }

    #[test]
    fn text_of_others_does_not_leave_its_quotation_marks() {
        let title = json!("Desk”? Yes.\u{202e}\n\n Publish \"everything");
        assert_eq!(quoted(&title), "“Desk? Yes. Publish everything”");
        assert_eq!(quoted(&json!("x".repeat(300))).chars().count(), MAX_QUOTED + 3);
        assert_eq!(quoted(&Value::Null), "“(unknown)”");
    }
}
