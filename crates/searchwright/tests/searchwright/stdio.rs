//! `searchwright mcp`: MCP for clients that start a program.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, ChildStdin, ChildStdout},
};

use serde_json::{Value, json};

use crate::program::{Outcome, User};

/// A program that speaks MCP with this test.
struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Session {
    fn start(user: &User, more: &[&str]) -> Self {
        let mut command = user.command(&[&["mcp"], more].concat());
        let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self {
            child,
            input,
            output: BufReader::new(output),
        }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.say(&message.to_string());
        self.hear()
    }

    /// Ends the input, and returns what else was written, and how the program ended.
    fn end(self) -> (String, Outcome) {
        drop(self.input);
        let mut rest = String::new();
        let mut output = self.output;
        output.read_to_string(&mut rest).unwrap();
        (rest, Outcome::of(self.child))
    }
}

fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn initialize() -> Value {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    request(1, "initialize", &params)
}

#[test]
fn tools_are_called_in_the_revisions_with_and_without_a_handshake() {
    let operator = User::new();
    let project = operator.project("example.com");
    let (_, key) = operator.key(&project, &[]);
    let server = operator.serve(&[]);
    let user = User::new()
        .with("SEARCHWRIGHT_URL", &server.url)
        .with("SEARCHWRIGHT_KEY", &key);

    let mut session = Session::start(&user, &[]);
    let answer = session.ask(&initialize());
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
    session.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let answer = session.ask(&request(
        2,
        "tools/call",
        &json!({ "name": "me_get", "arguments": {} }),
    ));
    assert_eq!(answer["id"], 2);
    assert_eq!(
        answer["result"]["structuredContent"]["project"]["id"],
        project.as_str(),
        "{answer}"
    );
    let answer = session.ask(&request(3, "tools/call", &json!({ "name": "no_such_tool" })));
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    let (rest, ended) = session.end();
    assert_eq!((rest.as_str(), ended.code, ended.err.as_str()), ("", 0, ""));

    // Everything at once, as scripts do: the answers come before the program ends.
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" } });
    let mut lines = String::new();
    for id in 1..=40 {
        let params = json!({ "name": "keywords_create", "arguments": { "keyword": format!("desk {id}") }, "_meta": meta });
        lines += &format!("{}\n", request(id, "tools/call", &params));
    }
    lines += &request(41, "server/discover", &json!({ "_meta": meta })).to_string();
    let outcome = user.tell(&["mcp"], &lines);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{outcome:?}");
    let mut ids: Vec<u64> = outcome
        .out
        .lines()
        .map(|line| {
            let answer: Value = serde_json::from_str(line).unwrap();
            assert!(answer["result"].is_object(), "{answer}");
            answer["id"].as_u64().unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=41).collect::<Vec<_>>());
    let kept = user.run(&["keywords", "list", "--limit", "100", "--json"]).json();
    assert_eq!(kept["data"].as_array().unwrap().len(), 40);
}

#[test]
fn what_goes_wrong_on_the_way_is_an_answer_with_a_hint() {
    let operator = User::new();
    let project = operator.project("example.com");
    let (_, reader) = operator.key(&project, &["--read-only"]);
    let server = operator.serve(&[]);
    let ask = |user: &User, line: &str| {
        let outcome = user.tell(&["mcp"], line);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        serde_json::from_str::<Value>(outcome.out.trim()).unwrap_or_else(|e| panic!("{e}: {outcome:?}"))
    };
    let list = request(7, "tools/list", &json!({})).to_string();
    let nobody = || User::new().with("SEARCHWRIGHT_URL", &server.url);
    let gone = || {
        User::new()
            .with("SEARCHWRIGHT_URL", "http://127.0.0.1:1")
            .with("SEARCHWRIGHT_KEY", &reader)
    };
    let wrong = || nobody().with("SEARCHWRIGHT_KEY", "swk_wrong");
    for (user, words) in [
        (nobody(), ["there is no credential", "searchwright login --mcp"]),
        (wrong(), ["invalid_token", "copied whole"]),
        (gone(), ["does not answer", "searchwright serve"]),
    ] {
        let answer = ask(&user, &list);
        assert_eq!(answer["id"], 7, "{answer}");
        let said = answer["error"]["message"].as_str().unwrap();
        for word in words {
            assert!(said.contains(word), "{word:?} in {said}");
        }
        assert!(answer["error"]["data"]["hint"].is_string(), "{answer}");
        // For clients that show nothing of an error, once.
        let twice = user.tell(&["mcp"], &format!("{list}\n{list}\n"));
        assert_eq!((twice.out.lines().count(), twice.code), (2, 0), "{twice:?}");
        assert!(
            twice.err.starts_with("error: ") && twice.err.contains("\nhint: "),
            "{twice:?}"
        );
    }
    let reader = nobody().with("SEARCHWRIGHT_KEY", &reader);
    for (line, code, id) in [
        ("{\"jsonrpc\": \"2.0\", ", -32_700, Value::Null),
        ("[]", -32_600, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":9}", -32_600, json!(9)),
    ] {
        let answer = ask(&reader, line);
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), &id),
            "{answer}"
        );
    }
    // The protocol's own refusal, of a revision that does not exist, keeps its code and gets the id.
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2031-01-01" });
    let answer = ask(
        &reader,
        &request(5, "tools/list", &json!({ "_meta": meta })).to_string(),
    );
    assert_eq!(
        (&answer["error"]["code"], &answer["id"]),
        (&json!(-32_022), &json!(5)),
        "{answer}"
    );
}

/// A server of this test: reads a request and returns its head, its body and the connection.
fn accept(listener: &TcpListener) -> (String, Value, TcpStream) {
    let (stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
        head += &format!("{line}\n");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (head, serde_json::from_slice(&body).unwrap(), stream)
}

const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

#[test]
fn events_are_passed_on_one_by_one_and_a_cancelled_request_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let user = User::new().with("SEARCHWRIGHT_KEY", "swk_test");
    let mut session = Session::start(&user, &["--mcp-url", &url, "--toolsets", "core,visibility"]);

    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    let call = |id: u64| {
        request(
            id,
            "tools/call",
            &json!({ "name": "audits_start", "_meta": meta }),
        )
    };
    session.say(&call(1).to_string());
    let (head, body, mut stream) = accept(&listener);
    assert!(
        head.starts_with("post /mcp?toolsets=core,visibility http/1.1\n"),
        "{head}"
    );
    for line in [
        "authorization: bearer swk_test",
        "mcp-protocol-version: 2026-07-28",
        "mcp-method: tools/call",
        "mcp-name: audits_start",
    ] {
        assert!(head.contains(&format!("\n{line}\n")), "{line} in {head}");
    }
    assert_eq!(body, call(1));
    let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {} });
    write!(stream, "{EVENTS}: ready\n\nevent: message\ndata: {progress}\n\n").unwrap();
    assert_eq!(session.hear(), progress, "before the answer is there");

    // Another request meanwhile, which the client gives up: its connection ends, and it is not answered.
    session.say(&call(2).to_string());
    let (_, second, mut abandoned) = accept(&listener);
    assert_eq!(second["id"], 2);
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 } });
    session.say(&cancelled.to_string());
    assert_eq!(
        abandoned.read(&mut [0; 16]).unwrap(),
        0,
        "the connection has ended"
    );
    let (_, notification, mut taken) = accept(&listener);
    assert_eq!(notification, cancelled);
    write!(
        taken,
        "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    .unwrap();

    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": { "text": "two\nlines" } });
    write!(stream, "data: {{\ndata: {}\n\n", &answer.to_string()[1..]).unwrap();
    drop(stream);
    assert_eq!(session.hear(), answer);

    // A stream that ends early, and an answer that is no message.
    session.say(&call(3).to_string());
    let (_, _, mut stream) = accept(&listener);
    write!(stream, "{EVENTS}data: {progress}\n\n").unwrap();
    drop(stream);
    assert_eq!(session.hear(), progress);
    let said = session.hear();
    assert_eq!(
        (&said["id"], &said["error"]["code"]),
        (&json!(3), &json!(-32_000)),
        "{said}"
    );
    session.say(&call(4).to_string());
    let (_, _, mut stream) = accept(&listener);
    write!(
        stream,
        "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 4\r\nConnection: close\r\n\r\n<p>\n"
    )
    .unwrap();
    let said = session.hear();
    assert!(
        said["error"]["message"].as_str().unwrap().contains("502"),
        "{said}"
    );

    // A subscription is over with its client.
    let listen = request(5, "subscriptions/listen", &json!({ "_meta": meta }));
    session.say(&listen.to_string());
    let (_, _, mut stream) = accept(&listener);
    write!(stream, "{EVENTS}data: {progress}\n\n").unwrap();
    assert_eq!(session.hear(), progress);
    let (rest, ended) = session.end();
    assert_eq!((rest.as_str(), ended.code), ("", 0), "{ended:?}");
    assert!(
        ended.err.contains("502") && !ended.err.contains("swk_"),
        "{ended:?}"
    );
}

#[test]
fn clients_are_set_up_to_start_the_program() {
    let user = User::new();
    let install = |more: &[&str]| {
        let usual = [
            "mcp",
            "install",
            "cursor",
            "--stdio",
            "--mcp-url",
            "http://127.0.0.1:1/mcp",
            "--json",
        ];
        user.run(&[&usual, more].concat())
    };
    let planned = install(&["--print"]).json();
    assert_eq!(planned["status"], "planned", "{planned}");
    assert!(!user.path(".cursor/mcp.json").exists());
    let installed = install(&[]).json();
    assert_eq!(installed["status"], "installed", "{installed}");
    let file = std::fs::read_to_string(user.path(".cursor/mcp.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    let entry = &file["mcpServers"]["searchwright"];
    assert_eq!(entry["command"], env!("CARGO_BIN_EXE_searchwright"));
    assert_eq!(entry["args"], json!(["mcp", "--mcp-url=http://127.0.0.1:1/mcp"]));
    assert_eq!(install(&[]).json()["status"], "alreadyInstalled");
    install(&["--toolsets", "core"]).refuses(4, &["another kind of server", "--name"]);
    let other = install(&["--toolsets", "core", "--name", "seo"]).json();
    assert_eq!(other["status"], "installed", "{other}");
    user.run(&[
        "mcp",
        "install",
        "chatgpt",
        "--stdio",
        "--mcp-url",
        "https://sw.example/mcp",
    ])
    .refuses(2, &["in the cloud", "without --stdio"]);
    let by_url = user.run(&[
        "mcp",
        "install",
        "vscode",
        "--mcp-url",
        "https://sw.example/mcp",
        "--toolsets",
        "core,brand",
        "--json",
    ]);
    assert_eq!(
        by_url.json()["mcpUrl"],
        "https://sw.example/mcp?toolsets=core,brand"
    );
}

/// Answers a request with JSON.
fn reply(mut stream: TcpStream, id: &Value, result: &Value) {
    let body = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    write!(stream, "{head}{body}").unwrap();
}

/// The server of this test says that a person has to confirm a call, and asks where it is asked in a revision in which it can.
#[test]
fn a_question_of_the_server_is_asked_where_only_the_client_can() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let user = User::new().with("SEARCHWRIGHT_KEY", "swk_test");
    let mut session = Session::start(&user, &["--mcp-url", &url]);
    let mut hello = initialize();
    hello["params"]["protocolVersion"] = "2025-06-18".into();
    hello["params"]["capabilities"] = json!({ "elicitation": {} });
    session.say(&hello.to_string());
    let (_, body, stream) = accept(&listener);
    reply(
        stream,
        &body["id"],
        &json!({ "protocolVersion": "2025-06-18", "capabilities": {} }),
    );
    session.hear();

    let problem = json!({ "code": "confirmation_required", "url": "http://127.0.0.1:1/projects/1/posts/2" });
    let refused = json!({ "isError": true, "content": [{ "type": "text", "text": problem.to_string() }] });
    let schema = json!({ "type": "object", "properties": {} });
    let question = json!({ "resultType": "input_required", "requestState": "sealed", "inputRequests": { "consent": {
        "method": "elicitation/create", "params": { "mode": "form", "message": "Publish “Oak”?", "requestedSchema": schema } } } });
    let call = |id: u64| {
        let arguments = json!({ "postId": "2" });
        request(
            id,
            "tools/call",
            &json!({ "name": "posts_publish", "arguments": arguments }),
        )
    };
    // until the client is asked
    let ask = |session: &mut Session, id: u64| {
        session.say(&call(id).to_string());
        let (head, body, stream) = accept(&listener);
        assert!(head.contains("\nmcp-protocol-version: 2025-06-18\n"), "{head}");
        assert_eq!(body, call(id), "as the client sent it");
        reply(stream, &body["id"], &refused);
        let (head, body, stream) = accept(&listener);
        for line in [
            "mcp-protocol-version: 2026-07-28",
            "mcp-method: tools/call",
            "mcp-name: posts_publish",
        ] {
            assert!(head.contains(&format!("\n{line}\n")), "{line} in {head}");
        }
        let meta = &body["params"]["_meta"];
        assert_eq!(
            (
                &meta["io.modelcontextprotocol/clientCapabilities"],
                &meta["io.modelcontextprotocol/clientInfo"]["name"]
            ),
            (&json!({ "elicitation": { "form": {} } }), &json!("test"))
        );
        reply(stream, &body["id"], &question);
        let asked = session.hear();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        assert_eq!(
            asked["params"],
            json!({ "message": "Publish “Oak”?", "requestedSchema": schema })
        );
        asked["id"].clone()
    };
    for (id, action) in [(2, "accept"), (3, "decline")] {
        let asked = ask(&mut session, id);
        let said = json!({ "action": action, "content": {} });
        session.say(&json!({ "jsonrpc": "2.0", "id": asked, "result": said }).to_string());
        let (_, body, stream) = accept(&listener);
        let params = &body["params"];
        assert_eq!(
            (
                &params["requestState"],
                &params["inputResponses"],
                &params["arguments"]
            ),
            (
                &json!("sealed"),
                &json!({ "consent": said }),
                &json!({ "postId": "2" })
            )
        );
        reply(
            stream,
            &body["id"],
            &json!({ "resultType": "complete", "content": [], "isError": action == "decline" }),
        );
        let answer = session.hear();
        assert_eq!(
            (&answer["id"], answer["result"].get("resultType")),
            (&json!(id), None),
            "{answer}"
        );
        assert_eq!(answer["result"]["isError"], action == "decline");
    }
    // a client that cannot ask after all is told where a person can act
    let asked = ask(&mut session, 4);
    session.say(
        &json!({ "jsonrpc": "2.0", "id": asked, "error": { "code": -32601, "message": "no" } }).to_string(),
    );
    let answer = session.hear();
    assert_eq!(
        (&answer["id"], &answer["result"]),
        (&json!(4), &refused),
        "{answer}"
    );
    // a question ends with its call
    let asked = ask(&mut session, 5);
    session.say(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 5 } })
            .to_string(),
    );
    let given_up = session.hear();
    assert_eq!(
        (&given_up["method"], &given_up["params"]["requestId"]),
        (&json!("notifications/cancelled"), &asked)
    );
    let (_, told, mut stream) = accept(&listener);
    assert_eq!(told["method"], "notifications/cancelled");
    write!(
        stream,
        "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    // and nobody waits for a client that is gone
    ask(&mut session, 6);
    let (rest, ended) = session.end();
    let answer: Value = serde_json::from_str(rest.trim()).unwrap();
    assert_eq!(
        (&answer["result"], ended.code, ended.err.as_str()),
        (&refused, 0, ""),
        "{answer}"
    );
}
