//! Questions of the server to the person behind a client, in the revisions of MCP in which a server without sessions cannot ask.
//!
//! A program on standard input and output has one client, so it can pass a question on. The call that lacks a consent is repeated in
//! the revision in which the server answers with its question; the person's answer goes back with the state that the server sealed,
//! which remains the only authority. Nothing is agreed to here.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};

use super::message::{META_VERSION, Message, STATELESS};

/// Revisions with a handshake in which a client can be asked, from the first to the one after the last.
const ASKED: std::ops::Range<&str> = "2025-06-18"..STATELESS;
/// Questions that are open at once. Further calls are told where a person can act.
const MAX_OPEN: usize = 8;
/// Beginning of the ids of questions.
const ID: &str = "searchwright-consent-";
/// Request that asks.
const ELICIT: &str = "elicitation/create";

/// Questions to one client.
#[derive(Debug, Default)]
pub struct Questions(Mutex<Client>);

#[derive(Debug, Default)]
struct Client {
    /// Name and version of a client that can ask its person.
    asks: Option<Value>,
    /// Number of the last question.
    last: u64,
    open: HashMap<String, oneshot::Sender<Option<Value>>>,
    is_gone: bool,
}

/// Answer of the server to a call that is repeated.
#[derive(Debug)]
pub enum Repeated {
    /// The answer to the call.
    Done(Vec<u8>),
    /// Questions, by name, and the state that goes back with their answers.
    Asked(Vec<(String, Value)>, Value),
}

impl Questions {
    fn client(&self) -> MutexGuard<'_, Client> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns from the first message whether the client can ask.
    pub fn learn(&self, message: &Message) {
        let params = message.params();
        let asks = &params["capabilities"]["elicitation"];
        // a client that names neither form nor address means forms
        let has_forms = asks.is_object() && (asks.get("form").is_some() || asks.get("url").is_none());
        self.client().asks = has_forms.then(|| params["clientInfo"].clone());
    }

    /// Returns a call in the form in which the server asks, if its answer is that a person has to confirm it.
    pub fn repeat(&self, message: &Message, agreed: Option<&str>, answer: &[u8]) -> Option<Message> {
        let is_asked = agreed.is_some_and(|agreed| ASKED.contains(&agreed))
            && message.method() == Some("tools/call")
            && message.params()["_meta"].get(META_VERSION).is_none();
        let info = self.client().asks.clone().filter(|_| is_asked)?;
        if !lacks_consent(answer) {
            return None;
        }
        let mut call: Value = serde_json::from_slice(&message.bytes()).ok()?;
        let params = call["params"].as_object_mut()?;
        let meta = params.entry("_meta").or_insert_with(|| json!({}));
        let meta = meta.as_object_mut()?;
        meta.insert(META_VERSION.to_owned(), STATELESS.into());
        for (name, value) in [
            ("clientCapabilities", json!({ "elicitation": { "form": {} } })),
            ("clientInfo", info),
        ] {
            meta.insert(format!("io.modelcontextprotocol/{name}"), value);
        }
        Message::read(call.to_string().into_bytes()).ok()
    }

    /// Asks the person behind the client. `None` if nobody answers, or the client cannot ask after all.
    pub async fn ask(
        &self,
        questions: Vec<(String, Value)>,
        out: &mpsc::Sender<Vec<u8>>,
    ) -> Option<Map<String, Value>> {
        let mut answers = Map::new();
        for (name, question) in questions {
            answers.insert(name, self.ask_one(&question, out).await?);
        }
        Some(answers)
    }

    async fn ask_one(&self, question: &Value, out: &mpsc::Sender<Vec<u8>>) -> Option<Value> {
        if question["method"] != ELICIT {
            return None;
        }
        let asked = &question["params"];
        let params = json!({ "message": asked["message"], "requestedSchema": asked["requestedSchema"] });
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut client = self.client();
            if client.is_gone || client.open.len() >= MAX_OPEN {
                return None;
            }
            client.last += 1;
            let id = format!("{ID}{}", client.last);
            client.open.insert(id.clone(), answer);
            id
        };
        let open = OpenQuestion {
            questions: self,
            id,
            out,
        };
        let request = json!({ "jsonrpc": "2.0", "id": open.id, "method": ELICIT, "params": params });
        out.send(request.to_string().into_bytes()).await.ok()?;
        answered.await.ok().flatten()
    }

    /// Takes a message that answers a question; `false` if it is none.
    pub fn take_answer(&self, message: &Message) -> bool {
        if message.method().is_some() {
            return false;
        }
        let Ok(answer) = serde_json::from_slice::<Value>(&message.bytes()) else {
            return false;
        };
        let Some(id) = answer["id"].as_str().filter(|id| id.starts_with(ID)) else {
            return false;
        };
        let result = &answer["result"];
        let result = result["action"].is_string().then(|| result.clone());
        // one that comes too late answers nothing
        if let Some(waiting) = self.client().open.remove(id) {
            let _ = waiting.send(result);
        }
        true
    }

    /// Gives up what was asked: the client is gone.
    pub fn close(&self) {
        let mut client = self.client();
        client.is_gone = true;
        client.open.clear();
    }
}

/// Question that waits for its answer. A client is told when it no longer matters.
struct OpenQuestion<'a> {
    questions: &'a Questions,
    id: String,
    out: &'a mpsc::Sender<Vec<u8>>,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        if self.questions.client().open.remove(&self.id).is_some() {
            let params = json!({ "requestId": self.id, "reason": "the call was given up" });
            let given_up = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            let _ = self.out.try_send(given_up.to_string().into_bytes());
        }
    }
}

impl Repeated {
    /// Reads an answer to a call that was repeated.
    pub fn read(answer: Vec<u8>) -> Self {
        let Ok(mut message) = serde_json::from_slice::<Value>(&answer) else {
            return Self::Done(answer);
        };
        let Some(result) = message["result"].as_object_mut() else {
            return Self::Done(answer);
        };
        // a member that the client's revision does not have
        match result.remove("resultType") {
            Some(kind) if kind == "input_required" => {
                let requests = result.remove("inputRequests");
                let requests = match requests {
                    Some(Value::Object(requests)) => requests.into_iter().collect(),
                    _ => Vec::new(),
                };
                Self::Asked(requests, result.remove("requestState").unwrap_or_default())
            }
            _ => Self::Done(message.to_string().into_bytes()),
        }
    }
}

/// Returns a call with the answers to the questions about it.
pub fn answered(call: &Message, answers: Map<String, Value>, state: Value) -> Option<Message> {
    let mut call: Value = serde_json::from_slice(&call.bytes()).ok()?;
    let params = call["params"].as_object_mut()?;
    params.insert("inputResponses".to_owned(), answers.into());
    params.insert("requestState".to_owned(), state);
    Message::read(call.to_string().into_bytes()).ok()
}

/// Returns whether a call was refused because a person has to confirm it, and may on the dashboard.
fn lacks_consent(answer: &[u8]) -> bool {
    let Ok(answer) = serde_json::from_slice::<Value>(answer) else {
        return false;
    };
    let text = answer["result"]["content"][0]["text"].as_str();
    let problem = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let is_refused = answer["result"]["isError"] == true;
    problem.is_some_and(|problem| {
        is_refused && problem["code"] == "confirmation_required" && problem["url"].is_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &Value) -> Message {
        Message::read(value.to_string().into_bytes()).unwrap()
    }

    fn refused(code: &str) -> Vec<u8> {
        let problem = json!({ "code": code, "url": "https://seo.example/projects/1/posts/2" });
        let result = json!({ "isError": true, "content": [{ "type": "text", "text": problem.to_string() }] });
        json!({ "jsonrpc": "2.0", "id": 5, "result": result })
            .to_string()
            .into_bytes()
    }

    fn client(capabilities: &Value) -> Questions {
        let questions = Questions::default();
        questions.learn(&read(
            &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": { "protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": { "name": "t" } } }),
        ));
        questions
    }

    #[test]
    fn a_call_is_repeated_for_a_client_that_can_ask_where_a_consent_lacks() {
        let call = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call",
            "params": { "name": "posts_publish", "arguments": { "postId": "2" }, "_meta": { "progressToken": 9 } } });
        let questions = client(&json!({ "elicitation": {} }));
        let lacking = refused("confirmation_required");
        for revision in ["2025-06-18", "2025-11-25"] {
            let again = questions.repeat(&read(&call), Some(revision), &lacking).unwrap();
            let meta = &again.params()["_meta"];
            assert_eq!(
                (&meta["progressToken"], &meta[META_VERSION]),
                (&json!(9), &json!(STATELESS))
            );
            assert_eq!(again.params()["arguments"], json!({ "postId": "2" }));
            assert_eq!(again.key(), "5");
        }
        let none = |questions: &Questions, call: &Value, revision, answer: &[u8]| {
            let again = questions.repeat(&read(call), revision, answer);
            assert!(again.is_none(), "{again:?}");
        };
        none(&questions, &call, Some("2025-03-26"), &lacking);
        none(&questions, &call, Some(STATELESS), &lacking);
        none(&questions, &call, None, &lacking);
        none(
            &questions,
            &call,
            Some("2025-11-25"),
            &refused("agent_autonomy_required"),
        );
        none(
            &questions,
            &call,
            Some("2025-11-25"),
            b"{\"result\":{\"content\":[]}}",
        );
        let mut other = call.clone();
        other["method"] = "prompts/get".into();
        none(&questions, &other, Some("2025-11-25"), &lacking);
        for capabilities in [
            json!({}),
            json!({ "elicitation": { "url": {} } }),
            json!({ "elicitation": true }),
        ] {
            none(&client(&capabilities), &call, Some("2025-11-25"), &lacking);
        }
    }

    #[tokio::test]
    async fn a_question_ends_with_its_answer_its_call_or_its_client() {
        let questions = client(&json!({ "elicitation": { "form": {}, "url": {} } }));
        let (out, mut said) = mpsc::channel(8);
        let question = || {
            let params = json!({ "mode": "form", "message": "Publish?", "requestedSchema": { "type": "object", "properties": {} } });
            vec![(
                "consent".to_owned(),
                json!({ "method": ELICIT, "params": params }),
            )]
        };
        let heard = |line: Option<Vec<u8>>| serde_json::from_slice::<Value>(&line.unwrap()).unwrap();
        let answer = |id: &Value, member: &str, value: Value| {
            read(&json!({ "jsonrpc": "2.0", "id": id, member: value }))
        };

        for (member, value, expected) in [
            (
                "result",
                json!({ "action": "decline" }),
                Some(json!({ "consent": { "action": "decline" } })),
            ),
            ("error", json!({ "code": -32601 }), None),
            ("result", json!({}), None),
        ] {
            let client = async {
                let request = heard(said.recv().await);
                assert_eq!(request["params"].as_object().unwrap().len(), 2, "{request}");
                assert!(!questions.take_answer(&answer(&json!("other"), "result", json!({}))));
                assert!(questions.take_answer(&answer(&request["id"], member, value)));
                request["id"].clone()
            };
            let (answers, id) = tokio::join!(questions.ask(question(), &out), client);
            assert_eq!(answers.map(Value::from), expected);
            let late = answer(&id, "result", json!({ "action": "accept" }));
            assert!(
                questions.take_answer(&late),
                "it answers nothing, and is not for the server"
            );
        }

        let request = tokio::select! {
            answers = questions.ask(question(), &out) => panic!("{answers:?}"),
            request = said.recv() => heard(request),
        };
        assert_eq!(
            heard(said.recv().await)["params"]["requestId"],
            request["id"],
            "given up"
        );

        let client = async {
            said.recv().await;
            questions.close();
        };
        let (answers, ()) = tokio::join!(questions.ask(question(), &out), client);
        assert_eq!(answers, None);
        assert_eq!(questions.ask(question(), &out).await, None, "nobody is there");
    }
}
