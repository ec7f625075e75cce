//! Consent to what publishes or costs money: a person answers through the client, or acts on the dashboard, or has turned on
//! Agent Autonomy. A model that confirms for itself, or sends back a state that is not its own, changes nothing.

use searchwright_contract::people::{AutonomyAction, Role};
use serde_json::{Map, Value, json};

use crate::{
    blog::Blog,
    harness::{Answer, Bench},
    mcp::{send_at, tool},
    mcp_toolsets::problem,
    oauth::Agent,
    publishing::{connect_blog, read, settled, working, write},
};

on_both!(
    a_person_answers_and_a_post_is_published_once,
    a_state_is_good_for_one_call_of_one_caller,
);

const STATELESS: &str = "2026-07-28";

/// A client whose person is asked, or not.
struct Client<'a> {
    bench: &'a Bench,
    token: String,
    asks: bool,
}

impl<'a> Client<'a> {
    async fn new(bench: &'a Bench, agent: &Agent<'_>, asks: bool) -> Self {
        let mcp = bench.server.app.settings.mcp_url.clone();
        let tokens = agent
            .tokens(&[
                (
                    "scope",
                    "projects:read posts:write visibility:read content:publish visibility:track",
                ),
                ("resource", &mcp),
            ])
            .await;
        let token = tokens["access_token"].as_str().unwrap().to_owned();
        Self { bench, token, asks }
    }

    async fn send(&self, name: &str, arguments: &Value, back: Map<String, Value>) -> Answer {
        let capabilities = if self.asks {
            json!({ "elicitation": { "form": {} } })
        } else {
            json!({})
        };
        let mut params = json!({ "name": name, "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        } });
        params.as_object_mut().unwrap().extend(back);
        let bearer = format!("Bearer {}", self.token);
        let headers = [
            ("authorization", bearer.as_str()),
            ("mcp-protocol-version", STATELESS),
            ("mcp-method", "tools/call"),
            ("mcp-name", name),
        ];
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        send_at(self.bench, "", &headers, &request).await
    }

    async fn call(&self, name: &str, arguments: &Value) -> Value {
        self.send(name, arguments, Map::new()).await.json()
    }

    async fn answer(&self, name: &str, arguments: &Value, state: &Value, action: &str) -> Value {
        let responses = json!({ "consent": { "action": action, "content": {} } });
        let back = Map::from_iter([
            ("requestState".to_owned(), state.clone()),
            ("inputResponses".to_owned(), responses),
        ]);
        self.send(name, arguments, back).await.json()
    }
}

fn state(asked: &Value) -> Value {
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked:#}");
    asked["result"]["requestState"].clone()
}

fn refuses(refused: &Value, code: &str) {
    assert_eq!(problem(&refused["result"])["code"], code, "{refused:#}");
}

async fn blogging(database: &str) -> (Bench, Blog) {
    let (blog, address) = Blog::start().await;
    let bench = working(database, &format!("\"publish={address}\"")).await;
    connect_blog(&bench, &address).await;
    (bench, blog)
}

async fn a_person_answers_and_a_post_is_published_once(database: &str) {
    let (bench, blog) = blogging(database).await;
    let agent = Agent::new(&bench, Role::Owner).await;
    let client = Client::new(&bench, &agent, true).await;
    let id = write(&bench, "Oak” yes.\u{202e} Publish all").await;
    let publish = json!({ "projectId": bench.project, "postId": id });

    let asked = client.call("posts_publish", &publish).await;
    let question = &asked["result"]["inputRequests"]["consent"];
    assert_eq!(question["method"], "elicitation/create", "{asked:#}");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(
        message.contains("“Oak yes. Publish all”") && message.contains("version 1"),
        "{message}"
    );
    let site = blog.base().replace("http://", "");
    assert!(
        message.contains(&format!("through wordpress (“{site}")),
        "it says where, whatever the token may read: {message}"
    );
    assert_eq!(
        read(&bench, &id).await["status"],
        "draft",
        "asking publishes nothing"
    );

    let declined = client
        .answer("posts_publish", &publish, &state(&asked), "decline")
        .await;
    refuses(&declined, "confirmation_required");
    let other = client.call("posts_publish", &publish).await;
    let closed = client
        .answer("posts_publish", &publish, &state(&other), "cancel")
        .await;
    let detail = problem(&closed["result"])["detail"].clone();
    assert!(detail.as_str().unwrap().contains("closed"), "{closed:#}");
    let after_all = client
        .answer("posts_publish", &publish, &state(&asked), "accept")
        .await;
    assert_eq!(after_all["error"]["code"], -32602, "{after_all:#}");

    // the text changes while the person thinks
    let asked = client.call("posts_publish", &publish).await;
    let change = json!({ "content": "Another text.", "ifVersion": 1 });
    assert_eq!(bench.patch(&format!("P/posts/{id}"), change).await.status, 200);
    let again = client
        .answer("posts_publish", &publish, &state(&asked), "accept")
        .await;
    let message = again["result"]["inputRequests"]["consent"]["params"]["message"]
        .as_str()
        .unwrap();
    assert!(message.contains("version 2"), "{message}");
    assert_eq!(read(&bench, &id).await["status"], "draft");

    let state_again = state(&again);
    let accept = || client.answer("posts_publish", &publish, &state_again, "accept");
    let (one, other) = tokio::join!(accept(), accept());
    let is_done = |answer: &&Value| answer["result"]["structuredContent"]["post"]["status"] == "publishing";
    assert_eq!(
        [&one, &other].into_iter().filter(is_done).count(),
        1,
        "a state is used once: {one:#} {other:#}"
    );
    assert_eq!(settled(&bench, &id).await["status"], "published");
    assert_eq!(blog.posts().len(), 1);
    let replayed = client
        .answer("posts_publish", &publish, &state(&again), "accept")
        .await;
    assert!(
        replayed["result"]["isError"] == true || replayed["result"]["resultType"] == "input_required",
        "{replayed:#}"
    );
    assert_eq!(blog.posts().len(), 1);
}

async fn a_state_is_good_for_one_call_of_one_caller(database: &str) {
    let (bench, blog) = blogging(database).await;
    let agent = Agent::new(&bench, Role::Owner).await;
    let client = Client::new(&bench, &agent, true).await;
    let other = Client::new(&bench, &agent, true).await;
    let (id, second) = (write(&bench, "Oak").await, write(&bench, "Pine").await);
    let publish = json!({ "projectId": bench.project, "postId": id });
    let elsewhere = json!({ "projectId": bench.project, "postId": second });
    let state = state(&client.call("posts_publish", &publish).await);
    let text = state.as_str().unwrap();
    let mut forged = text.to_owned().into_bytes();
    let at = forged.len() / 2;
    forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
    let forged = json!(String::from_utf8(forged).unwrap());
    let by_name = json!({ "name": "posts_publish", "arguments": publish });
    for (who, name, arguments, state) in [
        (&client, "posts_publish", &publish, &forged),
        (&client, "posts_publish", &publish, &json!("x")),
        (&client, "posts_publish", &elsewhere, &state),
        (&client, "posts_unpublish", &publish, &state),
        (&client, "tools_change", &by_name, &state),
        (&other, "posts_publish", &publish, &state),
    ] {
        let refused = who.answer(name, arguments, state, "accept").await;
        assert_eq!(
            refused["error"]["code"], -32602,
            "{name} {arguments}: {refused:#}"
        );
    }
    // accepted without a state, or by the model itself
    let back = Map::from_iter([(
        "inputResponses".to_owned(),
        json!({ "consent": { "action": "accept" } }),
    )]);
    let asked = client.send("posts_publish", &publish, back).await.json();
    assert_eq!(asked["result"]["resultType"], "input_required");
    bench.clock.advance(600_001);
    let late = client.answer("posts_publish", &publish, &state, "accept").await;
    assert_eq!(late["error"]["code"], -32602, "{late:#}");
    for id in [&id, &second] {
        assert_eq!(read(&bench, id).await["status"], "draft");
    }
    assert!(blog.posts().is_empty());
    // by way of another tool the question is the same
    let asked = client.call("tools_change", &by_name).await;
    let state = asked["result"]["requestState"].clone();
    let done = client.answer("tools_change", &by_name, &state, "accept").await;
    assert_eq!(done["result"]["isError"], false, "{done:#}");
}

#[tokio::test]
async fn a_client_that_cannot_ask_gets_an_address() {
    let bench = Bench::start().await;
    let agent = Agent::new(&bench, Role::Owner).await;
    let client = Client::new(&bench, &agent, false).await;
    let id = write(&bench, "Oak").await;
    let prompt = bench
        .post("P/visibility/prompts", json!({ "text": "best desk?" }))
        .await
        .json();
    let public = &bench.server.app.settings.public_url;
    let of_project = format!("{public}/projects/{}", bench.project);
    for (name, arguments, address) in [
        (
            "posts_publish",
            json!({ "projectId": bench.project, "postId": id }),
            format!("{of_project}/posts/{id}"),
        ),
        (
            "prompts_track",
            json!({ "projectId": bench.project, "promptId": prompt["id"] }),
            format!(
                "{of_project}/visibility/prompts/{}",
                prompt["id"].as_str().unwrap()
            ),
        ),
    ] {
        let refused = client.call(name, &arguments).await;
        let refused = problem(&refused["result"]);
        assert_eq!(
            (&refused["code"], &refused["url"]),
            (&json!("confirmation_required"), &json!(address)),
            "{name}"
        );
        assert!(refused["hint"].as_str().unwrap().contains(&address));
    }
    // what a model says for itself is not taken
    for word in ["confirm", "confirmed", "consent"] {
        let mut arguments = json!({ "projectId": bench.project, "postId": id });
        arguments[word] = json!(true);
        let refused = client.call("posts_publish", &arguments).await;
        assert_eq!(refused["result"]["isError"], true, "{refused:#}");
    }
    assert_eq!(read(&bench, &id).await["status"], "draft");
    let people = &bench.server.app.people;
    let set = people.set_autonomy(bench.project, AutonomyAction::Publish, true, Some(3), None);
    set.await.unwrap();
    let refused = client
        .call(
            "posts_publish",
            &json!({ "projectId": bench.project, "postId": id }),
        )
        .await;
    refuses(&refused, "provider_not_configured");
    // a key acts within its scopes
    let by_key = tool(&bench, "posts_publish", json!({ "postId": id })).await;
    assert_eq!(problem(&by_key)["code"], "provider_not_configured");
}
