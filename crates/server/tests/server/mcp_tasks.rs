//! The tasks extension: what starts a job answers with a task that its client follows, read and cancelled with the rights of whoever
//! asks. Other clients get the job.

use searchwright_contract::people::Role;
use serde_json::{Value, json};

use crate::{
    blog::Blog,
    harness::{Answer, Bench},
    mcp::{call, send_at},
    mcp_toolsets::problem,
    oauth::Agent,
    publishing::{connect_blog, working, write},
};

on_both!(
    a_task_ends_with_the_answer_of_its_call,
    a_task_is_cancelled,
    a_task_is_open_to_who_may_read_its_job,
);

const STATELESS: &str = "2026-07-28";
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// A client that speaks the revision without a handshake, and what it declares.
#[derive(Clone)]
pub struct ExtendedClient<'a> {
    pub bench: &'a Bench,
    pub credential: &'a str,
    pub extensions: Value,
}

impl<'a> ExtendedClient<'a> {
    fn new(bench: &'a Bench) -> Self {
        Self {
            bench,
            credential: &bench.key,
            extensions: json!({ TASKS: {} }),
        }
    }

    fn with(&self, credential: &'a str) -> Self {
        Self {
            credential,
            ..self.clone()
        }
    }

    pub async fn send(&self, method: &str, name: &str, params: Value) -> Answer {
        self.send_at("", method, name, params).await
    }

    pub async fn send_at(&self, query: &str, method: &str, name: &str, mut params: Value) -> Answer {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": { "extensions": self.extensions },
        });
        let bearer = format!("Bearer {}", self.credential);
        let headers = [
            ("authorization", bearer.as_str()),
            ("mcp-protocol-version", STATELESS),
            ("mcp-method", method),
            ("mcp-name", name),
        ];
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        send_at(self.bench, query, &headers, &request).await
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.send("tools/call", tool, params).await.json()["result"].clone()
    }

    async fn about(&self, method: &str, task: &Value) -> Value {
        let id = task["taskId"].as_str().unwrap();
        self.send(method, id, json!({ "taskId": id, "inputResponses": {} }))
            .await
            .json()
    }

    async fn get(&self, task: &Value) -> Value {
        self.about("tasks/get", task).await["result"].clone()
    }

    async fn ended(&self, task: &Value) -> Value {
        loop {
            let read = self.get(task).await;
            if read["status"] != "working" {
                return read;
            }
            tokio::task::yield_now().await;
        }
    }
}

fn is_task(started: &Value) {
    assert_eq!(
        (&started["resultType"], &started["status"]),
        (&json!("task"), &json!("working")),
        "{started:#}"
    );
    for name in ["content", "result", "task", "error"] {
        assert_eq!(started.get(name), None, "{started:#}");
    }
    assert_eq!(started.get("ttlMs"), Some(&Value::Null));
    assert!(started["pollIntervalMs"].is_u64() && started["createdAt"].is_string());
}

async fn a_task_ends_with_the_answer_of_its_call(database: &str) {
    let (blog, address) = Blog::start().await;
    let bench = working(database, &format!("\"publish={address}\"")).await;
    connect_blog(&bench, &address).await;
    let client = ExtendedClient::new(&bench);
    let id = write(&bench, "Oak").await;

    let task = client.call("posts_publish", json!({ "postId": id })).await;
    is_task(&task);
    let ended = client.ended(&task).await;
    assert_eq!(
        (
            &ended["resultType"],
            &ended["status"],
            &ended["result"]["isError"]
        ),
        (&json!("complete"), &json!("completed"), &json!(false)),
        "{ended:#}"
    );
    let done = &ended["result"]["structuredContent"];
    assert_eq!(
        (&done["job"]["status"], &done["post"]["status"]),
        (&json!("succeeded"), &json!("published")),
        "{ended:#}"
    );
    assert_eq!(done["job"]["id"], task["taskId"]);
    let text: Value = serde_json::from_str(ended["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text, done, "clients read one of the two");
    assert!(done["untrusted"].as_array().unwrap().contains(&json!("post")));
    // its end is no reason to refuse to cancel it, or to hear of it again
    for method in ["tasks/cancel", "tasks/update"] {
        let told = client.about(method, &task).await;
        assert_eq!(told["result"], json!({ "resultType": "complete" }), "{method}");
    }
    assert_eq!(client.get(&task).await["status"], "completed");

    // what went wrong is an answer of the tool
    let second = write(&bench, "Pine").await;
    blog.change_password();
    let by_name = json!({ "name": "posts_publish", "arguments": { "postId": second } });
    let task = client.call("tools_change", by_name).await;
    is_task(&task);
    let ended = client.ended(&task).await;
    assert_eq!(ended["status"], "completed", "{ended:#}");
    let problem = problem(&ended["result"]);
    assert_eq!(problem["jobId"], task["taskId"], "{problem:#}");
    assert_eq!(problem["code"], "provider_error", "{problem:#}");
    assert_eq!(ended.get("error"), None);
}

async fn a_task_is_cancelled(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let client = ExtendedClient::new(&bench);
    let task = client.call("audits_start", json!({ "maxPages": 3 })).await;
    is_task(&task);
    assert_eq!(task["statusMessage"], "audit queued");
    let again = client.call("audits_start", json!({ "maxPages": 3 })).await;
    assert_eq!(again["taskId"], task["taskId"], "the audit that is running");
    let read = client.get(&task).await;
    assert_eq!(
        (&read["resultType"], &read["status"], &read["taskId"]),
        (&json!("complete"), &json!("working"), &task["taskId"]),
        "{read:#}"
    );
    let canceled = client.about("tasks/cancel", &task).await;
    assert_eq!(canceled["result"], json!({ "resultType": "complete" }));
    let read = client.get(&task).await;
    assert_eq!((&read["status"], read.get("result")), (&json!("cancelled"), None));
    let again = client.about("tasks/cancel", &task).await;
    assert_eq!(again["result"], json!({ "resultType": "complete" }));
}

async fn a_task_is_open_to_who_may_read_its_job(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let (_, other) = bench.neighbour().await;
    let reader = bench.key_for(bench.project, &["projects:read"]).await;
    let agent = Agent::new(&bench, Role::Admin).await;
    let mcp = bench.server.app.settings.mcp_url.clone();
    let token = async |scopes: &str| {
        let tokens = agent.tokens(&[("scope", scopes), ("resource", &mcp)]).await;
        tokens["access_token"].as_str().unwrap().to_owned()
    };
    let writer = token("audits:write").await;
    let member = token("projects:read audits:write").await;
    let client = ExtendedClient::new(&bench);
    let task = client.call("audits_start", json!({})).await;
    is_task(&task);
    let methods = ["tasks/get", "tasks/update", "tasks/cancel"];
    // another project has no such task, as nobody has one that was never begun
    let foreign = client.with(&other);
    for method in methods {
        let unknown = json!({ "taskId": "01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a" });
        for (who, task) in [
            (&foreign, &task),
            (&client, &unknown),
            (&client, &json!({ "taskId": "x" })),
        ] {
            let refused = who.about(method, task).await;
            assert_eq!(refused["error"]["code"], -32602, "{method}: {refused:#}");
        }
    }
    let reading = client.with(&reader);
    assert_eq!(reading.get(&task).await["status"], "working");
    let refused = reading.about("tasks/cancel", &task).await;
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("insufficient_scope"),
        "{refused:#}"
    );

    // a person's agent finds it among the projects of the person
    let project = json!({ "projectId": bench.project });
    let agent = client.with(&member);
    assert_eq!(
        agent.call("audits_start", project.clone()).await["taskId"],
        task["taskId"]
    );
    assert_eq!(agent.get(&task).await["status"], "working");
    let lost = agent
        .about(
            "tasks/get",
            &json!({ "taskId": "01936f31-5f0b-7a01-9d3c-6f5e4d3c2b1a" }),
        )
        .await;
    assert_eq!(lost["error"]["code"], -32602, "{lost:#}");
    // who could not read the task gets the job, and learns which scope is missing
    let blind = client.with(&writer);
    let started = blind.call("audits_start", project).await;
    assert_eq!(
        started["structuredContent"]["job"]["id"], task["taskId"],
        "{started:#}"
    );
    let id = task["taskId"].as_str().unwrap();
    let challenged = blind.send("tasks/get", id, json!({ "taskId": id })).await;
    assert_eq!(challenged.status, 403);
    assert!(
        challenged
            .header("www-authenticate")
            .unwrap()
            .contains("projects:read")
    );
}

#[tokio::test]
async fn who_does_not_follow_tasks_gets_the_job() {
    let bench = Bench::start().await;
    let client = ExtendedClient {
        extensions: json!({}),
        ..ExtendedClient::new(&bench)
    };
    let started = client.call("audits_start", json!({})).await;
    assert_eq!(started["resultType"], "complete");
    let job = started["structuredContent"]["job"]["id"].as_str().unwrap();
    let task = json!({ "taskId": job });
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let refused = client.about(method, &task).await;
        assert_eq!(refused["error"]["code"], -32021, "{method}: {refused:#}");
        let missing = &refused["error"]["data"]["requiredCapabilities"]["extensions"];
        assert_eq!(missing, &json!({ TASKS: {} }), "{refused:#}");
    }
    // whatever starts no job is answered as ever
    let client = ExtendedClient::new(&bench);
    let plan = client.call("keywords_create", json!({ "keyword": "desk" })).await;
    assert_eq!(plan["structuredContent"]["keyword"], "desk");

    let found = client.send("server/discover", "", json!({})).await.json();
    assert_eq!(
        found["result"]["capabilities"]["extensions"][TASKS],
        json!({}),
        "{found:#}"
    );
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": { "extensions": { TASKS: {} } },
        "clientInfo": { "name": "t", "version": "1" } });
    let hello = call(&bench, "initialize", hello).await;
    assert_eq!(
        hello["result"]["capabilities"]["extensions"].get(TASKS),
        None,
        "{hello:#}"
    );
}
