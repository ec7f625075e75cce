//! Every operation against every kind of credential, at the API and as tools. The operations come from the table, so that a new
//! one is covered when it is added; the expected answers follow from the rules of the contract, written down here once more.

use futures_util::future::join_all;
use searchwright_contract::{
    Meta, Method, Scope,
    ids::{UserId, WorkspaceId},
    people::Role,
};
use searchwright_engine::{
    Endpoint,
    admin::Grant,
    secrets::{self, SecretKind},
};
use searchwright_server::people::operator::NewUser;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::{
    browser::Browser,
    harness::{Answer, Bench, Call},
    mcp::send_at,
    oauth::{Agent, post_form, register},
    people::PASSWORD,
};

on_both!(
    every_operation_answers_every_credential_by_the_rules,
    every_tool_answers_every_credential_by_the_rules,
    members_that_the_server_decides_are_refused,
    records_of_other_projects_cannot_be_named,
);

const HOUR: i64 = 3_600_000;

/// Holder of a credential.
enum Holder {
    /// Nobody: there is none in `Authorization`.
    Nobody,
    /// Nobody: it is refused with this code.
    Refused(&'static str),
    /// A key of the project, or of another one.
    Key {
        scopes: Vec<String>,
        is_read_only: bool,
        is_own: bool,
    },
    /// A token of a person with this role in the workspace of the project, or of somebody who is no member of it.
    Token { scopes: Vec<String>, role: Option<Role> },
}

/// A credential, as it is presented.
struct Presented {
    name: String,
    header: Option<(&'static str, String)>,
    holder: Holder,
}

/// Answer that the contract demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Refused(u16, &'static str),
    LetIn,
}

/// Address that an access token is made for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Audience {
    Api,
    Mcp,
}

/// Scope that the contract demands; empty where any credential will do.
fn needed(meta: &Meta) -> &'static str {
    match meta.name {
        // the schedule of this kind is the one that is asked for here
        "schedules.update" => "audits:write",
        _ => meta.scope.as_str(),
    }
}

/// A write scope implies reading the same resource, and nothing else implies anything.
fn holds(scopes: &[String], needed: &str) -> bool {
    let implied = |held: &String| {
        held.strip_suffix(":write")
            .is_some_and(|resource| needed.strip_suffix(":read") == Some(resource))
    };
    needed.is_empty() || scopes.iter().any(|held| held == needed || implied(held))
}

/// Viewers read. Editors work on content. Integrations, webhooks and the autopilot are for admins and owners.
fn is_for_role(role: Role, meta: &Meta) -> bool {
    let for_admins = ["integrations:write", "webhooks:write", "autopilot:write"];
    match role {
        Role::Viewer => !meta.effect.writes(),
        Role::Editor => !for_admins.contains(&needed(meta)),
        Role::Admin | Role::Owner => true,
    }
}

/// Actions for which agents need a person, beforehand or now.
fn needs_a_person(meta: &Meta) -> bool {
    ["content:publish", "visibility:track", "autopilot:write"].contains(&needed(meta))
}

/// The rules, in the order in which the contract checks them: credential, project, scope, role, autonomy.
fn verdict(meta: &Meta, holder: &Holder) -> Verdict {
    use Verdict::Refused;
    match holder {
        Holder::Nobody => Refused(401, "unauthenticated"),
        Holder::Refused(code) => Refused(401, code),
        Holder::Key { is_own: false, .. } if meta.in_project() => Refused(403, "project_forbidden"),
        Holder::Token { role: None, .. } if meta.in_project() => Refused(403, "project_forbidden"),
        Holder::Key {
            is_read_only: true, ..
        } if meta.effect.writes() => Refused(403, "insufficient_scope"),
        Holder::Key { scopes, .. } | Holder::Token { scopes, .. } if !holds(scopes, needed(meta)) => {
            Refused(403, "insufficient_scope")
        }
        Holder::Key { .. } => Verdict::LetIn,
        Holder::Token { .. } if meta.name == "project.get" => Refused(403, "project_not_selected"),
        Holder::Token { role, .. } => match role {
            Some(role) if !is_for_role(*role, meta) => Refused(403, "insufficient_role"),
            Some(_) if needs_a_person(meta) => Refused(403, "agent_autonomy_required"),
            _ => Verdict::LetIn,
        },
    }
}

/// Everybody who may come, for one of the two doors.
struct Crowd<'a> {
    bench: &'a Bench,
    audience: Audience,
    all: Vec<Presented>,
}

fn scopes(passes: impl Fn(&Scope) -> bool) -> Vec<String> {
    let chosen = Scope::ALL.iter().filter(|scope| passes(scope));
    chosen.map(|scope| scope.as_str().to_owned()).collect()
}

impl<'a> Crowd<'a> {
    async fn gather(bench: &'a Bench, audience: Audience) -> Self {
        let mut crowd = Self {
            bench,
            audience,
            all: Vec::new(),
        };
        crowd.add_keys().await;
        crowd.add_tokens().await;
        crowd.add_forgeries();
        crowd
    }

    fn add(&mut self, name: &str, bearer: &str, holder: Holder) {
        self.all.push(Presented {
            name: name.to_owned(),
            header: Some(("authorization", format!("Bearer {bearer}"))),
            holder,
        });
    }

    async fn add_keys(&mut self) {
        let grant = |scopes: &[String], read_only, lifetime_millis| Grant {
            scopes: scopes.to_vec(),
            read_only,
            lifetime_millis,
        };
        let own = |scopes, is_read_only| Holder::Key {
            scopes,
            is_read_only,
            is_own: true,
        };
        let (bench, every) = (self.bench, scopes(|_| true));
        let project = bench.project;
        self.add("key", &bench.key, own(every.clone(), false));
        for scope in &every {
            let one = vec![scope.clone()];
            let (_, key) = bench.grant(project, grant(&one, false, None)).await;
            self.add(&format!("key with {scope}"), &key, own(one, false));
        }
        let (_, key) = bench.grant(project, grant(&[], true, None)).await;
        self.add("read-only key", &key, own(every.clone(), true));
        let (_, foreign) = bench.neighbour().await;
        let foreign_holder = Holder::Key {
            scopes: every,
            is_read_only: false,
            is_own: false,
        };
        self.add("key of another project", &foreign, foreign_holder);
        let (id, revoked) = bench.grant(project, grant(&[], false, None)).await;
        assert!(bench.server.app.engine.revoke_key(id).await.unwrap());
        self.add("revoked key", &revoked, Holder::Refused("invalid_token"));
        let (_, expired) = bench.grant(project, grant(&[], false, Some(HOUR))).await;
        self.add("expired key", &expired, Holder::Refused("token_expired"));
    }

    /// Signs in a new person with this role in a workspace; the person, the workspace and a client of theirs.
    async fn person(
        &self,
        name: &str,
        role: Role,
        workspace: Option<WorkspaceId>,
    ) -> (UserId, WorkspaceId, Agent<'a>) {
        let email = format!("{name}@example.com");
        let new = NewUser {
            email: email.clone(),
            name: name.to_owned(),
            password: Some(PASSWORD.to_owned()),
            role: Some(role),
            workspace,
        };
        let made = self.bench.server.app.people.create_user(new).await.unwrap();
        let browser = Browser::new(self.bench);
        browser.sign_in(&email, PASSWORD).await;
        let client = register(self.bench, json!({})).await.json()["client_id"]
            .as_str()
            .unwrap()
            .to_owned();
        let agent = Agent {
            bench: self.bench,
            browser,
            client,
        };
        (made.id, made.workspace_id, agent)
    }

    async fn tokens(&self, agent: &Agent<'_>, scopes: &[String], audience: Audience) -> Value {
        let settings = &self.bench.server.app.settings;
        let resource = match audience {
            Audience::Api => settings.base_url(),
            Audience::Mcp => settings.mcp_url.clone(),
        };
        let asked = [("scope", scopes.join(" ")), ("resource", resource)];
        let asked: Vec<(&str, &str)> = asked.iter().map(|(name, value)| (*name, &**value)).collect();
        let tokens = agent.tokens(&asked).await;
        let granted = tokens["scope"].as_str().unwrap().split(' ').count();
        assert_eq!(granted, scopes.len(), "all that was asked for: {tokens}");
        tokens
    }

    async fn add_tokens(&mut self) {
        let (bench, audience) = (self.bench, self.audience);
        let people = &bench.server.app.people;
        let text = |tokens: &Value, name: &str| tokens[name].as_str().unwrap().to_owned();
        let every = scopes(|_| true);
        let (_, workspace, root) = self.person("root", Role::Owner, None).await;

        let expired = self.tokens(&root, &every, audience).await;
        bench.clock.advance(HOUR);
        let expired = text(&expired, "access_token");
        self.add("expired token", &expired, Holder::Refused("token_expired"));

        // Scopes are granted to an owner; the role is what it is at the moment of the call.
        for role in [Role::Viewer, Role::Editor, Role::Admin, Role::Owner] {
            let (user, _, agent) = self.person(role.as_str(), Role::Owner, None).await;
            let tokens = self.tokens(&agent, &every, audience).await;
            people.set_member(workspace, user, role).await.unwrap();
            let holder = Holder::Token {
                scopes: every.clone(),
                role: Some(role),
            };
            self.add(
                &format!("token of {role}"),
                &text(&tokens, "access_token"),
                holder,
            );
        }
        let consequential =
            |scope: &Scope| scope.as_str().starts_with("content:") || *scope == Scope::VisibilityTrack;
        for (name, some) in [
            ("reading", scopes(|scope| !scope.writes())),
            ("writing", scopes(|scope| scope.writes() && !consequential(scope))),
            ("spending and publishing", scopes(consequential)),
            ("projects only", scopes(|scope| *scope == Scope::ProjectsRead)),
        ] {
            let tokens = self.tokens(&root, &some, audience).await;
            let holder = Holder::Token {
                scopes: some,
                role: Some(Role::Owner),
            };
            self.add(
                &format!("token for {name}"),
                &text(&tokens, "access_token"),
                holder,
            );
        }

        // People who belong elsewhere, nowhere any more, or are locked out.
        let elsewhere = people.create_workspace("Elsewhere").await.unwrap().id;
        let (_, _, stranger) = self.person("stranger", Role::Owner, Some(elsewhere)).await;
        let (former, _, leaver) = self.person("former", Role::Editor, None).await;
        let (disabled, _, locked) = self.person("disabled", Role::Owner, None).await;
        for (name, agent) in [("stranger", &stranger), ("removed member", &leaver)] {
            let tokens = self.tokens(agent, &every, audience).await;
            let holder = Holder::Token {
                scopes: every.clone(),
                role: None,
            };
            self.add(
                &format!("token of a {name}"),
                &text(&tokens, "access_token"),
                holder,
            );
        }
        people.remove_member(workspace, former).await.unwrap();
        let tokens = self.tokens(&locked, &every, audience).await;
        people.set_user_disabled(disabled, true).await.unwrap();
        self.add(
            "token of a disabled person",
            &text(&tokens, "access_token"),
            Holder::Refused("invalid_token"),
        );

        // Secrets of the same people that open nothing here.
        let (other, here) = match audience {
            Audience::Api => (Audience::Mcp, Audience::Api),
            Audience::Mcp => (Audience::Api, Audience::Mcp),
        };
        let tokens = self.tokens(&root, &every, other).await;
        self.add(
            "token for the other address",
            &text(&tokens, "access_token"),
            Holder::Refused("invalid_token"),
        );
        let tokens = self.tokens(&root, &every, here).await;
        self.add(
            "refresh token",
            &text(&tokens, "refresh_token"),
            Holder::Refused("invalid_token"),
        );
        let form = [
            ("token", &*text(&tokens, "access_token")),
            ("client_id", &*root.client),
        ];
        assert_eq!(post_form(bench, "/oauth/revoke", &form).await.status, 200);
        self.add(
            "revoked token",
            &text(&tokens, "access_token"),
            Holder::Refused("invalid_token"),
        );
        let session = root.browser.cookie.borrow().clone().unwrap();
        self.add("session as token", &session, Holder::Refused("invalid_token"));
        self.all.push(Presented {
            name: "session cookie".to_owned(),
            header: Some(("cookie", format!("__Host-session={session}"))),
            holder: Holder::Nobody,
        });
    }

    fn add_forgeries(&mut self) {
        self.all.push(Presented {
            name: "nothing".to_owned(),
            header: None,
            holder: Holder::Nobody,
        });
        for kind in [SecretKind::ApiKey, SecretKind::AccessToken, SecretKind::Share] {
            let unknown = secrets::generate(kind).unwrap();
            self.add(
                &format!("unknown {kind:?}"),
                &unknown,
                Holder::Refused("invalid_token"),
            );
        }
        let mut mistyped = self.bench.key.clone().into_bytes();
        mistyped[20] = if mistyped[20] == b'a' { b'b' } else { b'a' };
        let mistyped = String::from_utf8(mistyped).unwrap();
        self.add("mistyped key", &mistyped, Holder::Refused("invalid_token"));
        self.add("no token at all", "x", Holder::Refused("invalid_token"));
    }
}

/// Path below the versioned root, with the bench's project and records that nobody has.
fn path(bench: &Bench, meta: &Meta) -> String {
    let mut path = meta.path.replace("{projectId}", &bench.project.to_string());
    for name in meta.path_parameters().filter(|name| *name != "projectId") {
        path = path.replace(&format!("{{{name}}}"), &of_parameter(name));
    }
    path
}

fn of_parameter(name: &str) -> String {
    match name {
        "kind" => "audits".to_owned(),
        "number" => "1".to_owned(),
        _ => Uuid::max().to_string(),
    }
}

/// A call of the operation without a credential.
fn call<'a>(bench: &'a Bench, meta: &Meta) -> Call<'a> {
    let call = bench.call(meta.method.as_str(), &path(bench, meta)).no_key();
    match meta.method {
        Method::GET | Method::DELETE => call,
        Method::POST | Method::PATCH => call.json(&json!({})),
    }
}

async fn every_operation_answers_every_credential_by_the_rules(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let crowd = Crowd::gather(&bench, Audience::Api).await;
    let mut outcomes = std::collections::BTreeSet::new();
    for endpoint in bench.endpoints() {
        let meta = &endpoint.meta;
        let calls = crowd.all.iter().map(async |presented| {
            let call = call(&bench, meta);
            let call = match &presented.header {
                Some((name, value)) => call.header(name, value),
                None => call,
            };
            (presented, call.send().await)
        });
        for (presented, answer) in join_all(calls).await {
            let expected = verdict(meta, &presented.holder);
            outcomes.insert(format!("{expected:?}"));
            holds_at_api(meta, presented, &answer, expected);
        }
    }
    assert_eq!(outcomes.len(), 9, "every rule was met: {outcomes:#?}");
}

#[track_caller]
fn holds_at_api(meta: &Meta, presented: &Presented, answer: &Answer, expected: Verdict) {
    let place = format!("{} with {}: {answer:?}", meta.name, presented.name);
    let Verdict::Refused(status, code) = expected else {
        assert!(!matches!(answer.status, 401 | 403), "{place}");
        return assert!(answer.status < 500, "{place}");
    };
    assert_eq!((answer.status, &*answer.code()), (status, code), "{place}");
    let challenge = answer.header("www-authenticate");
    match code {
        "unauthenticated" => assert!(!challenge.unwrap().contains("error="), "{place}"),
        "invalid_token" | "token_expired" => {
            assert!(challenge.unwrap().contains("error=\"invalid_token\""), "{place}");
        }
        "insufficient_scope" => {
            let asked_for = format!("scope=\"{}\"", needed(meta));
            let names_it = challenge.unwrap_or_default().contains(&asked_for);
            assert!(names_it || meta.scope == Scope::OfRecord, "{place}");
        }
        _ => assert_eq!(challenge, None, "another token would not help: {place}"),
    }
    let body = String::from_utf8_lossy(&answer.body);
    assert!(!body.contains("\"data\""), "{place}");
}

async fn every_tool_answers_every_credential_by_the_rules(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let crowd = Crowd::gather(&bench, Audience::Mcp).await;
    for endpoint in bench.endpoints() {
        let meta = &endpoint.meta;
        let request = tool_call(&bench, meta);
        let calls = crowd.all.iter().map(async |presented| {
            let mut headers = vec![("mcp-protocol-version", "2025-11-25")];
            if let Some((name, value)) = &presented.header {
                headers.push((name, value));
            }
            (
                presented,
                send_at(&bench, "?toolsets=all", &headers, &request).await,
            )
        });
        for (presented, answer) in join_all(calls).await {
            holds_at_mcp(meta, presented, &answer, verdict(meta, &presented.holder));
        }
    }
}

fn tool_call(bench: &Bench, meta: &Meta) -> Value {
    let mut arguments = Map::new();
    for name in meta.path_parameters() {
        let value = match name {
            "projectId" => json!(bench.project),
            "number" => json!(1),
            name => json!(of_parameter(name)),
        };
        arguments.insert(name.to_owned(), value);
    }
    let name = meta.name.replace('.', "_");
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments } })
}

#[track_caller]
fn holds_at_mcp(meta: &Meta, presented: &Presented, answer: &Answer, expected: Verdict) {
    let place = format!("{} with {}: {answer:?}", meta.name, presented.name);
    if let Verdict::Refused(401, _) = expected {
        assert_eq!(answer.status, 401, "{place}");
        return assert!(
            !String::from_utf8_lossy(&answer.body).contains("result"),
            "{place}"
        );
    }
    let is_token = matches!(presented.holder, Holder::Token { .. });
    if answer.status == 403 {
        let challenge = answer.header("www-authenticate").unwrap_or_default();
        assert!(
            is_token && challenge.contains("error=\"insufficient_scope\""),
            "{place}"
        );
        return assert_eq!(expected, Verdict::Refused(403, "insufficient_scope"), "{place}");
    }
    assert_eq!(answer.status, 200, "{place}");
    let result = &answer.json()["result"];
    let said = result["content"][0]["text"].as_str().unwrap_or_default();
    let problem: Value = serde_json::from_str(said).unwrap_or_default();
    let (is_refused, code) = (
        result["isError"] == true,
        problem["code"].as_str().unwrap_or_default(),
    );
    match expected {
        Verdict::LetIn => {
            let refusals = [
                "project_forbidden",
                "insufficient_scope",
                "insufficient_role",
                "agent_autonomy_required",
                "confirmation_required",
                "internal_error",
            ];
            assert!(!is_refused || !refusals.contains(&code), "{place}");
        }
        // a person is asked for, once it is clear what for
        Verdict::Refused(_, "agent_autonomy_required") => {
            let asks = match needed(meta) {
                "autopilot:write" => code == "agent_autonomy_required",
                _ => ["confirmation_required", "not_found"].contains(&code),
            };
            assert!(is_refused && asks, "{place}");
        }
        Verdict::Refused(_, expected) => assert!(is_refused && code == expected, "{place}"),
    }
}

/// Members that only the server decides, with values of the right form.
fn decided_by_the_server(bench: &Bench) -> Map<String, Value> {
    let (id, now) = (Uuid::max(), bench.clock.now());
    let members = json!({
        "id": id, "projectId": bench.project, "workspaceId": id, "userId": id, "ownerId": id, "createdBy": id,
        "createdAt": now, "updatedAt": now, "publishedAt": now, "version": 7, "role": "owner", "scopes": ["content:publish"],
        "allowedActions": {}, "consented": true, "confirm": true, "__proto__": {}, "constructor": {},
    });
    members.as_object().unwrap().clone()
}

async fn members_that_the_server_decides_are_refused(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let writes = |endpoint: &&Endpoint| matches!(endpoint.meta.method, Method::POST | Method::PATCH);
    for endpoint in bench.endpoints().iter().filter(writes) {
        let schema = serde_json::to_value((endpoint.input)()).unwrap();
        let in_path: Vec<&str> = endpoint.meta.path_parameters().collect();
        let known = |name: &str| !in_path.contains(&name) && schema["properties"].get(name).is_some();
        for (name, value) in decided_by_the_server(&bench) {
            if known(&name) {
                continue;
            }
            let body = Value::Object(Map::from_iter([(name.clone(), value)]));
            let answer = call(&bench, &endpoint.meta).key(&bench.key).json(&body);
            let answer = answer.send().await;
            let place = format!("{} with {name}: {answer:?}", endpoint.meta.name);
            assert_eq!(answer.status, 422, "{place}");
            let pointer = format!("/{name}");
            let problem = answer.json();
            let mut faults = problem["errors"].as_array().unwrap().iter();
            let is_named = faults.any(|fault| {
                fault["pointer"] == *pointer
                    && ["unknown_field", "read_only"].contains(&fault["code"].as_str().unwrap())
            });
            assert!(is_named, "{place}");
        }
    }
    assert_eq!(
        bench.get("P/jobs").await.json()["data"],
        json!([]),
        "nothing was begun"
    );
}

async fn records_of_other_projects_cannot_be_named(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let (foreign, key) = bench.neighbour().await;
    let made = async |path: &str, body: Value| {
        let path = format!("/projects/{foreign}{path}");
        let answer = bench.call("POST", &path).key(&key).json(&body).send().await;
        assert!(matches!(answer.status, 201 | 202), "{path}: {answer:?}");
        answer.json()
    };
    let keyword = made("/keywords", json!({ "keyword": "their oak" })).await["id"].clone();
    let post = made(
        "/posts",
        json!({ "title": "Their post", "keywordId": keyword.clone() }),
    )
    .await["id"]
        .clone();
    let audit = made("/audits", json!({})).await["audit"]["id"].clone();
    let items = json!({ "items": [{ "name": "Their desk" }] });
    let product = made("/brand/products", items).await["data"][0]["item"]["id"].clone();
    let own = bench.post("P/posts", json!({ "title": "Mine" })).await.json()["id"].clone();
    let cta = json!({ "items": [{ "label": "l", "url": "https://own.example" }] });
    let cta = bench.post("P/brand/ctas", cta).await.json()["data"][0]["item"]["id"].clone();
    let (own, cta) = (own.as_str().unwrap(), cta.as_str().unwrap());
    let pair = json!({ "issue_id": Uuid::max(), "page_id": post });
    for (method, path, body) in [
        (
            "POST",
            "P/posts".to_owned(),
            json!({ "title": "A", "keywordId": keyword }),
        ),
        ("PATCH", format!("P/posts/{own}"), json!({ "keywordId": keyword })),
        (
            "POST",
            "P/brand/ctas".to_owned(),
            json!({ "items": [{ "label": "m", "url": "https://own.example/m", "productId": product }] }),
        ),
        (
            "PATCH",
            format!("P/brand/ctas/{cta}"),
            json!({ "productId": product }),
        ),
        (
            "POST",
            format!("P/posts/{own}/publish"),
            json!({ "provider": "wordpress", "connectionId": post }),
        ),
        ("POST", "P/rechecks".to_owned(), json!({ "occurrences": [pair] })),
    ] {
        let answer = bench.call(method, &path).json(&body).send().await;
        assert!(
            matches!(answer.status, 403 | 404 | 409 | 422),
            "{method} {path} {body}: {answer:?}"
        );
        assert!(
            !String::from_utf8_lossy(&answer.body).contains("Their"),
            "{answer:?}"
        );
    }
    for operation in ["done", "ignore"] {
        let body = json!({ "occurrences": [{ "issue_id": audit, "page_id": post }] });
        let answer = bench.post(&format!("P/occurrences/{operation}"), body).await;
        assert!(
            answer.status >= 400 || answer.json()["changed"] == 0,
            "{answer:?}"
        );
    }
    for path in [
        format!("P/posts?keywordId={}", keyword.as_str().unwrap()),
        format!("P/audits/{0}/diff?against={0}", audit.as_str().unwrap()),
        format!("P/keywords?clusterId={}", post.as_str().unwrap()),
    ] {
        let answer = bench.get(&path).await;
        let shows_nothing = answer.status == 200 && answer.json()["data"] == json!([]);
        assert!(
            shows_nothing || matches!(answer.status, 403 | 404 | 422),
            "{path}: {answer:?}"
        );
    }
    let theirs = bench
        .call(
            "GET",
            &format!("/projects/{foreign}/posts/{}", post.as_str().unwrap()),
        )
        .key(&key);
    assert_eq!(theirs.send().await.json()["version"], 1, "untouched");
}
