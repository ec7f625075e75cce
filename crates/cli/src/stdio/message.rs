//! Messages of JSON-RPC as far as they have to be understood to be passed on.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::exit::{CliError, Exit};

/// Code of a line that is not JSON.
pub const PARSE_ERROR: i64 = -32_700;
/// Code of JSON that is no message.
pub const INVALID_REQUEST: i64 = -32_600;
/// Code of a request that did not reach the server, or that the server refused before the protocol read it.
pub const REFUSED: i64 = -32_000;
/// First revision without a handshake, whose messages say in headers what they ask for.
pub const STATELESS: &str = "2026-07-28";
/// Member of `_meta` with the revision of a message.
pub const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// Kind of a message.
#[derive(Debug, PartialEq)]
pub enum Kind {
    /// A request with its id.
    Request(Value),
    /// A notification, or the client's answer to a request of the server.
    OneWay,
}

/// A message of the client.
#[derive(Debug)]
pub struct Message {
    bytes: Vec<u8>,
    kind: Kind,
    method: Option<String>,
    params: Value,
}

/// Id, code and explanation of a line that is refused.
type Fault = (Value, i64, String);

impl Message {
    /// Reads a line.
    pub fn read(bytes: Vec<u8>) -> Result<Self, Fault> {
        let mut value: Value = serde_json::from_slice(&bytes)
            .map_err(|e| (Value::Null, PARSE_ERROR, format!("the line is not JSON: {e}")))?;
        let invalid = |id: Value, why: &str| Err((id, INVALID_REQUEST, why.to_owned()));
        if value.is_array() {
            return invalid(Value::Null, "several messages in one array are not part of MCP");
        }
        let id = match &value["id"] {
            id @ Value::String(_) => Some(id.clone()),
            Value::Number(id) if id.is_i64() || id.is_u64() => Some(id.clone().into()),
            _ => None,
        };
        let method = value["method"].as_str().map(str::to_owned);
        let is_answer = value.get("result").is_some() || value.get("error").is_some();
        let kind = match (&method, id) {
            (Some(_), Some(id)) => Kind::Request(id),
            (Some(_), None) if value.get("id").is_some() => {
                return invalid(
                    value["id"].take(),
                    "the id of a request has to be a text or an integer",
                );
            }
            (Some(_), None) => Kind::OneWay,
            (None, Some(_)) if is_answer => Kind::OneWay,
            (None, id) => return invalid(id.unwrap_or_default(), "the method is missing"),
        };
        let params = value.get_mut("params").map(Value::take).unwrap_or_default();
        Ok(Self {
            bytes,
            kind,
            method,
            params,
        })
    }

    /// Kind of the message.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Method, unless it is an answer.
    pub fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// Parameters.
    pub fn params(&self) -> &Value {
        &self.params
    }

    /// The message as it was sent.
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.clone()
    }

    /// Text by which a request is known; empty for others.
    pub fn key(&self) -> String {
        match &self.kind {
            Kind::Request(id) => id.to_string(),
            Kind::OneWay => String::new(),
        }
    }

    /// Key of the request that this notification ends.
    pub fn cancels(&self) -> Option<String> {
        let id = self.params.get("requestId")?;
        (self.method() == Some("notifications/cancelled")).then(|| id.to_string())
    }

    /// Headers that repeat what is in the message, for those on the way who do not read it.
    pub fn headers(&self, agreed: Option<&str>) -> Vec<(&'static str, String)> {
        let own = self.params["_meta"][META_VERSION].as_str();
        // The first message names the revision that it wishes for in its own parameters.
        let agreed = agreed.filter(|_| self.method() != Some("initialize"));
        let Some(version) = own.or(agreed) else {
            return Vec::new();
        };
        let mut headers = vec![("mcp-protocol-version", header_text(version))];
        if version < STATELESS {
            return headers;
        }
        if let Some(method) = self.method() {
            headers.push(("mcp-method", header_text(method)));
            if let Some(name) = self.name(method) {
                headers.push(("mcp-name", header_text(name)));
            }
        }
        headers
    }

    /// Name of what a request is about (SEP-2243).
    fn name(&self, method: &str) -> Option<&str> {
        let member = match method {
            "tools/call" | "prompts/get" => "name",
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
            "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
            _ => return None,
        };
        self.params[member].as_str()
    }

    /// Revision that an answer to `initialize` names.
    pub fn agreed_version(&self, answer: &[u8]) -> Option<String> {
        if self.method() != Some("initialize") {
            return None;
        }
        let answer: Value = serde_json::from_slice(answer).ok()?;
        answer["result"]["protocolVersion"].as_str().map(str::to_owned)
    }

    /// Checks that no answer was due.
    pub fn no_answer(&self) -> Result<(), CliError> {
        match self.kind {
            Kind::Request(_) => Err(CliError::new(
                Exit::Failed,
                "the server took the request and did not answer it",
            )
            .hint("check that the URL is that of MCP: `searchwright mcp --mcp-url URL`")),
            Kind::OneWay => Ok(()),
        }
    }

    /// Returns an answer as one line.
    pub fn answer(&self, body: Vec<u8>) -> Result<Vec<u8>, CliError> {
        one_line(body)
    }

    /// Returns whether a message of the server answers this request.
    pub fn is_answered_by(&self, message: &[u8]) -> bool {
        let Kind::Request(id) = &self.kind else {
            return true;
        };
        let head: Option<Head<'_>> = serde_json::from_slice(message).ok();
        head.is_some_and(|head| head.method.is_none() && head.id.as_ref() == Some(id))
    }

    /// Returns a refusal of the server that is of JSON-RPC as one line, with the id of the request, which the server may not have
    /// read.
    pub fn error_of_server(&self, body: &[u8]) -> Option<Vec<u8>> {
        let Kind::Request(id) = &self.kind else {
            return None;
        };
        let mut error: Value = serde_json::from_slice(body).ok()?;
        if !error["error"]["code"].is_i64() {
            return None;
        }
        if error["id"].is_null() {
            error["id"] = id.clone();
        }
        serde_json::to_vec(&error).ok()
    }
}

/// Head of a message of the server.
#[derive(Deserialize)]
struct Head<'a> {
    id: Option<Value>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
}

/// Returns a message of the server as one line. Line breaks in JSON stand between its parts only: in texts they are escaped.
pub fn one_line(mut body: Vec<u8>) -> Result<Vec<u8>, CliError> {
    if !matches!(serde_json::from_slice::<&RawValue>(&body), Ok(value) if value.get().starts_with('{')) {
        return Err(CliError::new(Exit::Failed, "the answer is not a message of MCP")
            .hint("check that the URL is that of MCP: `searchwright mcp --mcp-url URL`"));
    }
    for byte in &mut body {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    Ok(body)
}

/// Returns a JSON-RPC error as one line. The hint is in its words as well: clients show those.
pub fn error_line(id: &Value, code: i64, error: &CliError, mut data: Value) -> Vec<u8> {
    let mut words = error.message.clone();
    if let Some(hint) = &error.hint {
        words.push_str(&format!(" (hint: {hint})"));
        data["hint"] = hint.as_str().into();
    }
    let message =
        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": words, "data": data } });
    message.to_string().into_bytes()
}

/// Text as the value of a header: in Base64 where it would not survive (SEP-2243).
fn header_text(text: &str) -> String {
    let survives = text.bytes().all(|b| (0x20..=0x7e).contains(&b)) && text.trim() == text;
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    if survives && !looks_encoded {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(text))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{INVALID_REQUEST, Kind, Message, PARSE_ERROR};

    fn read(value: &Value) -> Message {
        Message::read(value.to_string().into_bytes()).unwrap()
    }

    #[test]
    fn messages_are_told_apart() {
        let request = read(&json!({ "jsonrpc": "2.0", "id": "a", "method": "ping" }));
        assert_eq!(
            (request.kind(), request.key().as_str()),
            (&Kind::Request(json!("a")), "\"a\"")
        );
        for one_way in [
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 4, "result": {} }),
        ] {
            assert_eq!(read(&one_way).kind(), &Kind::OneWay);
        }
        for (line, code) in [
            ("{\"id\":1", PARSE_ERROR),
            ("[]", INVALID_REQUEST),
            ("3", INVALID_REQUEST),
            ("{\"id\":1}", INVALID_REQUEST),
            ("{\"id\":null,\"method\":\"ping\"}", INVALID_REQUEST),
            ("{\"id\":1.5,\"method\":\"ping\"}", INVALID_REQUEST),
        ] {
            let (_, refused, _) = Message::read(line.as_bytes().to_vec()).unwrap_err();
            assert_eq!(refused, code, "{line}");
        }
    }

    #[test]
    fn headers_say_what_the_message_says() {
        let call = |version: &str, name: &str| {
            read(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": { "name": name, "_meta": { "io.modelcontextprotocol/protocolVersion": version } } }))
        };
        let version = |text: &str| ("mcp-protocol-version", text.to_owned());
        let (method, name) = (("mcp-method", "tools/call".to_owned()), |text: &str| {
            ("mcp-name", text.to_owned())
        });
        assert_eq!(
            call("2026-07-28", "me_get").headers(Some("2025-11-25")),
            [version("2026-07-28"), method.clone(), name("me_get")]
        );
        assert_eq!(
            call("2025-11-25", "me_get").headers(None),
            [version("2025-11-25")]
        );
        assert_eq!(
            call("2026-07-28", "größe").headers(None),
            [version("2026-07-28"), method, name("=?base64?Z3LDtsOfZQ==?=")]
        );
        let initialize = read(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} }));
        assert_eq!(initialize.headers(Some("2025-06-18")), []);
        let listed = read(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
        assert_eq!(listed.headers(Some("2025-06-18")), [version("2025-06-18")]);
        assert_eq!(listed.headers(None), []);
    }

    #[test]
    fn an_answer_is_known_by_its_id() {
        let request = read(&json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" }));
        let is_answered = |value: Value| request.is_answered_by(value.to_string().as_bytes());
        assert!(is_answered(json!({ "id": 7, "result": {} })));
        assert!(!is_answered(json!({ "id": "7", "result": {} })));
        assert!(!is_answered(json!({ "id": 7, "method": "elicitation/create" })));
        let refused = request.error_of_server(b"{\"id\":null,\"error\":{\"code\":-32020,\"message\":\"x\"}}");
        let refused: Value = serde_json::from_slice(&refused.unwrap()).unwrap();
        assert_eq!(refused["id"], 7);
        assert_eq!(request.error_of_server(b"{\"error\":\"invalid_token\"}"), None);
    }
}
