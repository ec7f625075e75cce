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
    Task,
};
use searchwright_contract::{Code, Problem};
use searchwright_engine::{Credential, Endpoint, Failure};
use searchwright_store::seal::SealContext;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{
    pledge::Pledge,
    questions::is_asked,
    tools::{Caller, Tools},
};

/// Member of a refusal with what a card shows; it goes into the metadata of the answer.
pub(super) const CARD: &str = "card";
/// Name of the question among those of a result.
const QUESTION: &str = "consent";
/// Milliseconds for which a question can be answered.
const LASTS_MILLIS: i64 = 600_000;

/// Outcome of a question.
#[derive(Debug)]
pub(super) enum Returned {
    Accepted(Pledge),
    /// No consent, and what the person did instead.
    Declined(&'static str),
    /// The state is not one of this call, too old, or was answered before.
    Invalid,
}

/// A call that ends without an answer.
pub(super) enum Stop {
    Failed(Failure),
    /// A person is asked.
    Asked(Box<InputRequiredResult>),
    /// A job has begun, which the client follows as a task.
    Started(Box<Task>),
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
            Some(action) => {
                self.declined.add(pledge.nonce);
                Returned::Declined(match action {
                    "decline" => "the person declined; nothing was done",
                    _ => "the person closed the question without an answer; nothing was done",
                })
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
        Ok((digest(&question.words) == pledge.question).then_some(pledge.nonce))
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
        let question = if is_asked(endpoint) && (caller.asks || caller.shows_cards) {
            Some(self.question(endpoint, arguments, caller).await)
        } else {
            None
        };
        let question = match question {
            Some(question) if caller.asks => {
                return match question.and_then(|question| self.ask(&question.words, caller)) {
                    Ok(asked) => Stop::Asked(Box::new(asked)),
                    Err(failure) => Stop::Failed(failure),
                };
            }
            // why there is no question, the person sees on the dashboard
            question => question.and_then(Result::ok),
        };
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
        let mut problem = Problem::new(
            Code::ConfirmationRequired,
            "a person has to confirm this; no argument stands for that",
        )
        .hint(hint)
        .with("url", url)
        .with("action", action);
        if let Some(question) = question {
            // not among what a model reads: others may have written the title
            problem = problem.with(CARD, question.card());
        }
        problem.into()
    }

    fn ask(&self, question: &str, caller: &Caller) -> Result<InputRequiredResult, Failure> {
        let engine = &self.app.engine;
        let pledge = Pledge {
            nonce: engine.clock.id(),
            expires_at: engine.clock.now().plus_millis(LASTS_MILLIS),
            question: digest(question),
        };
        let pledge = serde_json::to_vec(&pledge).unwrap_or_default();
        let sealed = engine
            .keyring
            .seal(place(&caller.credential, &caller.call), &pledge)?;
        let form = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: question.to_owned(),
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
}
