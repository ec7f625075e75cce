//! Requests of known clients, one by one: those that shake hands, those that discover, and those that try the one and then the
//! other. Sequences and headers are those that their servers have logged.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use crate::{
    blog::Blog,
    harness::{Answer, Bench},
    publishing::connect_blog,
    wire::Wire,
};

on_both!(a_client_that_hangs_up_within_a_call_gives_its_place_back,);

const BOTH: &str = "application/json, text/event-stream";
const NEWEST: &str = "2026-07-28";

/// Time in which a hang-up is noticed: less than the 15 seconds that a CMS has to answer, after which a place is free in any case.
const HANG_UP: Duration = Duration::from_secs(10);

/// A client by the headers that it sends with every request.
struct Client<'a> {
    bench: &'a Bench,
    headers: Vec<(&'a str, String)>,
}

impl<'a> Client<'a> {
    fn new(bench: &'a Bench, accept: &str) -> Self {
        let headers = vec![
            ("authorization", format!("Bearer {}", bench.key)),
            ("accept", accept.to_owned()),
            ("content-type", "application/json".to_owned()),
        ];
        Self { bench, headers }
    }

    async fn send(&self, method: Method, more: &[(&str, &str)], body: &str) -> Answer {
        let url = format!("http://{}/mcp", self.bench.server.addresses.mcp);
        let mut request = self.bench.http.request(method, url);
        let own = self.headers.iter().map(|(name, value)| (*name, value.as_str()));
        for (name, value) in own.chain(more.iter().copied()) {
            request = request.header(name, value);
        }
        let response = request.body(body.to_owned()).send().await.unwrap();
        Answer {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response.bytes().await.unwrap().to_vec(),
        }
    }

    async fn post(&self, more: &[(&str, &str)], body: &str) -> Answer {
        self.send(Method::POST, more, body).await
    }

    /// A request of the revision without a handshake.
    async fn modern(&self, method: &str, name: Option<&str>, mut params: Value) -> Answer {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": NEWEST,
            "io.modelcontextprotocol/clientInfo": { "name": "openai-mcp", "version": "1.0.0" },
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        });
        let mut headers = vec![("mcp-protocol-version", NEWEST), ("mcp-method", method)];
        headers.extend(name.map(|name| ("mcp-name", name)));
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.post(&headers, &request.to_string()).await
    }
}

/// Hosted connectors: the first request names no version in its headers, a session is sent back that none was given for, the stream is
/// tried, and the session is ended. Some accept anything, or name the two types the other way round.
#[tokio::test]
async fn a_hosted_connector_shakes_hands_and_works() {
    let bench = Bench::start().await;
    bench.keyword("standing desk").await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        for accept in [
            "*/*",
            BOTH,
            "text/event-stream, application/json",
            "application/json,text/event-stream;q=0.9,*/*;q=0.1",
            "application/json",
        ] {
            let client = Client::new(&bench, accept);
            let told = format!("{version} {accept}");
            let hello = format!(
                r#"{{"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"Anthropic/ClaudeAI","version":"1.0.0"}}}},"jsonrpc":"2.0","id":0}}"#
            );
            let hello = client.post(&[], &hello).await;
            assert_eq!(hello.status, 200, "{told}: {hello:?}");
            assert_eq!(hello.header("content-type"), Some("application/json"), "{told}");
            assert_eq!(hello.header("mcp-session-id"), None, "{told}");
            let hello = hello.json();
            assert_eq!(
                (&hello["id"], &hello["result"]["protocolVersion"]),
                (&json!(0), &json!(version)),
                "{told}"
            );
            let session = [
                ("mcp-protocol-version", version),
                ("mcp-session-id", "7e0c-none-was-given"),
            ];
            // the next may come from another machine, which knows of no session and of no version
            for headers in [&session[..], &session[..1], &[]] {
                let noted = client
                    .post(
                        headers,
                        r#"{"method":"notifications/initialized","jsonrpc":"2.0"}"#,
                    )
                    .await;
                assert_eq!((noted.status, noted.body.len()), (202, 0), "{told}: {noted:?}");
                let stream = client
                    .send(
                        Method::GET,
                        &[headers, &[("accept", "text/event-stream")]].concat(),
                        "",
                    )
                    .await;
                assert_eq!(stream.status, 405, "{told}: {stream:?}");
                assert!(
                    stream.header("allow").is_some_and(|allow| allow.contains("POST")),
                    "{told}: {stream:?}"
                );
                let tools = client
                    .post(headers, r#"{"method":"tools/list","jsonrpc":"2.0","id":1}"#)
                    .await;
                assert_eq!(tools.status, 200, "{told}: {tools:?}");
                assert!(
                    tools.json()["result"]["tools"].as_array().unwrap().len() > 10,
                    "{told}"
                );
                for list in ["prompts/list", "resources/list", "resources/templates/list"] {
                    let listed = client
                        .post(
                            headers,
                            &format!(r#"{{"jsonrpc":"2.0","id":"{list}","method":"{list}","params":{{}}}}"#),
                        )
                        .await;
                    assert_eq!(
                        (listed.status, &listed.json()["id"]),
                        (200, &json!(list)),
                        "{told}"
                    );
                    assert!(listed.json()["result"].is_object(), "{told}: {list}");
                }
                let called = client
                    .post(headers, r#"{"method":"tools/call","params":{"name":"keywords_list","arguments":{},"_meta":{"progressToken":2}},"jsonrpc":"2.0","id":2}"#)
                    .await
                    .json();
                assert_eq!(called["result"]["isError"], false, "{told}: {called:#}");
                assert!(called.to_string().contains("standing desk"), "{told}");
                let ended = client.send(Method::DELETE, headers, "").await;
                assert_eq!(ended.status, 405, "{told}: {ended:?}");
            }
        }
    }
}

/// A client that asks for a revision which nobody knows gets one that the server knows, and may take it or leave.
#[tokio::test]
async fn an_unknown_revision_is_answered_with_a_known_one() {
    let bench = Bench::start().await;
    let client = Client::new(&bench, BOTH);
    for version in ["1.0", "2099-01-01", NEWEST] {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "claude-code", "version": "2.0.73" } } });
        let hello = client.post(&[], &hello.to_string()).await;
        assert_eq!(hello.status, 200, "{version}: {hello:?}");
        assert_eq!(
            hello.json()["result"]["protocolVersion"],
            "2025-11-25",
            "{version}"
        );
    }
    // in the headers of a later request there is nothing to choose
    let list = r#"{"method":"tools/list","jsonrpc":"2.0","id":1}"#;
    for version in ["1.0", "2099-01-01", "x"] {
        let refused = client.post(&[("mcp-protocol-version", version)], list).await;
        assert_eq!(refused.status, 400, "{version}: {refused:?}");
    }
}

/// A client that discovers first, and reads by `search` and `fetch`.
#[tokio::test]
async fn a_client_discovers_and_researches() {
    let bench = Bench::start().await;
    bench.keyword("standing desk").await;
    let client = Client::new(&bench, BOTH);
    let found = client.modern("server/discover", None, json!({})).await;
    assert_eq!(found.status, 200, "{found:?}");
    let found = found.json()["result"].clone();
    assert!(
        found["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!(NEWEST)),
        "{found:#}"
    );
    assert!(found["instructions"].as_str().unwrap().contains("me_get"));
    let tools = client.modern("tools/list", None, json!({})).await.json()["result"]["tools"].clone();
    let tools = tools.as_array().unwrap();
    // without a hint a tool counts as one that writes, and a person is asked each time
    for tool in tools {
        for hint in [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ] {
            assert!(tool["annotations"][hint].is_boolean(), "{}: {hint}", tool["name"]);
        }
    }
    for name in ["search", "fetch"] {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{name}");
    }
    let call = async |name: &str, arguments: Value| {
        let called = client
            .modern(
                "tools/call",
                Some(name),
                json!({ "name": name, "arguments": arguments }),
            )
            .await;
        assert_eq!(called.status, 200, "{name}: {called:?}");
        let result = called.json()["result"].clone();
        // what these clients read is the text
        serde_json::from_str::<Value>(result["content"][0]["text"].as_str().unwrap()).unwrap()
    };
    let found = call("search", json!({ "query": "standing" })).await;
    let first = &found["results"][0];
    assert_eq!(first["title"], "standing desk", "{found:#}");
    assert!(first["url"].as_str().unwrap().starts_with("http"), "{found:#}");
    let read = call("fetch", json!({ "id": first["id"] })).await;
    for member in ["id", "title", "text", "url", "metadata"] {
        assert!(!read[member].is_null(), "{member}: {read:#}");
    }
}

/// A client that meets the other revision learns it from an answer that it can tell from an outage, and then works in its own.
#[tokio::test]
async fn a_client_falls_back_and_goes_on() {
    let bench = Bench::start().await;
    let client = Client::new(&bench, BOTH);
    // methods of the revisions with a handshake, in the one without
    for method in ["ping", "logging/setLevel", "roots/list"] {
        let refused = client.modern(method, None, json!({ "level": "info" })).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]["code"]),
            (404, &json!(-32601)),
            "{method}: {refused:?}"
        );
    }
    // methods of the one without a handshake, in those with one
    let old = [("mcp-protocol-version", "2025-11-25")];
    for method in ["server/discover", "subscriptions/listen"] {
        let request = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": {} });
        for headers in [&old[..], &[]] {
            let refused = client.post(headers, &request.to_string()).await;
            let said = refused.json();
            assert!(
                refused.status < 500 && refused.status != 401,
                "{method}: {refused:?}"
            );
            assert!(said["error"]["code"].is_i64(), "{method}: {refused:?}");
        }
    }
    // a version that is not known is told with those that are
    let mut unknown = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2027-01-01",
        "io.modelcontextprotocol/clientInfo": { "name": "x", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    } } });
    let headers = [
        ("mcp-protocol-version", "2027-01-01"),
        ("mcp-method", "server/discover"),
    ];
    let refused = client.post(&headers, &unknown.to_string()).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]["code"]),
        (400, &json!(-32022)),
        "{refused:?}"
    );
    assert!(
        refused.json()["error"]["data"]["supported"]
            .as_array()
            .unwrap()
            .contains(&json!(NEWEST)),
        "{refused:?}"
    );
    // the header says one version, and the body another
    unknown["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(NEWEST);
    let headers = [
        ("mcp-protocol-version", "2025-11-25"),
        ("mcp-method", "server/discover"),
    ];
    let lying = client.post(&headers, &unknown.to_string()).await;
    assert_eq!(
        (lying.status, &lying.json()["error"]["code"]),
        (400, &json!(-32020)),
        "{lying:?}"
    );
    // and then either of them works
    assert_eq!(
        client.modern("server/discover", None, json!({})).await.status,
        200
    );
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } } });
    assert_eq!(
        client.post(&[], &hello.to_string()).await.json()["result"]["protocolVersion"],
        "2025-06-18"
    );
}

/// Requests that a client takes back or that go too deep end as such, and do nothing.
#[tokio::test]
async fn what_is_taken_back_or_too_deep_does_nothing() {
    let bench = Bench::start().await;
    let client = Client::new(&bench, BOTH);
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    for body in [
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"keywords_create","arguments":{{"keyword":{deep}}}}}}}"#
        ),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"keywords_create","arguments":{deep}}}}}"#
        ),
        deep.clone(),
    ] {
        let refused = client.post(&[], &body).await;
        assert!(
            (400..500).contains(&refused.status) || refused.json()["result"]["isError"] == true,
            "{refused:?}"
        );
    }
    let nested = (0..40).fold(json!("x"), |inner, _| json!([inner]));
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "keywords_create", "arguments": { "keyword": "x", "more": nested } } });
    let refused = client.post(&[], &body.to_string()).await;
    assert!(
        (400..500).contains(&refused.status) || refused.json()["result"]["isError"] == true,
        "{refused:?}"
    );
    let long = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "keywords_create", "arguments": { "keyword": "x".repeat(900_000) } } });
    let refused = client.post(&[], &long.to_string()).await.json();
    assert_eq!(refused["result"]["isError"], true);
    assert!(
        refused.to_string().len() < 4_000,
        "what was sent is not sent back"
    );
    // of a request that is not under way, or that another machine has
    for id in [json!(1), json!("nobody"), Value::Null] {
        let taken_back = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id, "reason": "the person stopped" } });
        let noted = client.post(&[], &taken_back.to_string()).await;
        assert!(matches!(noted.status, 202 | 400), "{noted:?}");
    }
    assert!(bench.keywords().await.is_empty());
}

/// A call that asks a CMS which never answers: each client hangs up, and the only place of the key is free for the next one.
async fn a_client_that_hangs_up_within_a_call_gives_its_place_back(database: &str) {
    let (blog, address) = Blog::start().await;
    let allowed = format!("allow_outbound=[\"publish={address}\"]");
    let bench = Bench::on(database, &["limits.concurrent_per_credential=1", &allowed]).await;
    connect_blog(&bench, &address).await;
    blog.hangs(true);
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "tools_read", "arguments": { "name": "integrations_fields", "arguments": { "provider": "wordpress" } },
    } });
    let (body, key) = (call.to_string(), &bench.key);
    let mcp = bench.server.addresses.mcp;
    for count in 1..=3 {
        let mut client = Wire::open(mcp).await;
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {mcp}\r\nauthorization: Bearer {key}\r\naccept: {BOTH}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        assert!(client.send(head.as_bytes()).await);
        blog.until_unanswered(count).await;
        drop(client);
        let free = async {
            loop {
                let next = bench.get("P/keywords").await;
                if next.status == 200 {
                    break;
                }
                assert!(matches!(next.status, 429 | 503), "{next:?}");
            }
        };
        let freed = tokio::time::timeout(HANG_UP, free).await;
        assert!(freed.is_ok(), "the call went on without its client");
    }
    blog.hangs(false);
    let client = Client::new(&bench, BOTH);
    let told = client.post(&[], &body).await.json();
    assert_eq!(told["result"]["isError"], false, "{told}");
}
