//! OAuth: registration, consent, tokens, what a token may do, and what has to be refused.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use searchwright_contract::people::{AutonomyAction, Role};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    browser::{Browser, Page},
    harness::{Answer, Bench},
    people::{PASSWORD, person},
};

on_both!(
    agent_connects_and_acts_within_scope_role_and_membership,
    redirects_cannot_be_turned_elsewhere,
    faults_of_a_client_are_shown_to_the_person,
    codes_are_redeemed_once,
    refresh_tokens_rotate_and_reuse_ends_the_family,
    two_refreshes_at_once_leave_one_live_token,
    revoked_tokens_are_refused_at_once,
    token_of_one_resource_does_not_open_the_other,
    autonomy_gates_agents_and_its_cap_holds,
    device_is_connected_by_its_code,
    identical_registrations_are_one,
    consent_that_is_sent_twice_leads_back_twice,
    consent_says_where_posts_go_and_what_may_be_spent,
    missing_scope_at_mcp_is_a_challenge,
    client_with_a_secret_looks_tokens_up,
);

const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const REDIRECT: &str = "http://127.0.0.1:4321/cb";

pub fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

/// A client with its person.
pub struct Agent<'a> {
    pub bench: &'a Bench,
    pub browser: Browser<'a>,
    pub client: String,
}

impl<'a> Agent<'a> {
    /// Registers a client, and signs in a person with this role.
    pub async fn new(bench: &'a Bench, role: Role) -> Self {
        person(bench, "ann@example.com", role).await;
        let browser = Browser::new(bench);
        browser.sign_in("ann@example.com", PASSWORD).await;
        let client = register(bench, json!({})).await.json()["client_id"]
            .as_str()
            .unwrap()
            .to_owned();
        Self {
            bench,
            browser,
            client,
        }
    }

    pub fn request(&self, change: &[(&str, &str)]) -> String {
        let challenge = challenge(VERIFIER);
        let mut all = vec![
            ("response_type", "code"),
            ("client_id", &*self.client),
            ("redirect_uri", REDIRECT),
            ("code_challenge", &*challenge),
            ("code_challenge_method", "S256"),
            ("scope", "projects:read keywords:write"),
            ("state", "x y&z"),
        ];
        for (name, value) in change {
            all.retain(|(known, _)| known != name);
            if !value.is_empty() {
                all.push((name, value));
            }
        }
        let query = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(all)
            .finish();
        format!("/oauth/authorize?{query}")
    }

    pub async fn decide(&self, page: &Page, decision: &str) -> Page {
        assert_eq!(page.status, 200, "{}", page.text);
        let (request, csrf) = (page.field("request"), page.field("csrf"));
        let scopes = page.ticked("scope");
        let mut form = vec![("request", &*request), ("csrf", &*csrf), ("decision", decision)];
        form.extend(scopes.iter().map(|scope| ("scope", scope.as_str())));
        self.browser.send("/oauth/authorize", &form).await
    }

    /// Parameters with which the person is sent back.
    pub async fn consent(&self, change: &[(&str, &str)]) -> std::collections::BTreeMap<String, String> {
        let page = self.browser.open(&self.request(change)).await;
        let back = self.decide(&page, "allow").await;
        assert_eq!(back.status, 303, "{}", back.text);
        parameters(&back)
    }

    pub async fn redeem(&self, code: &str, change: &[(&str, &str)]) -> Answer {
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("client_id", &*self.client),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ];
        for (name, value) in change {
            form.retain(|(known, _)| known != name);
            form.push((name, value));
        }
        post_form(self.bench, "/oauth/token", &form).await
    }

    pub async fn tokens(&self, change: &[(&str, &str)]) -> Value {
        let back = self.consent(change).await;
        let resource: Vec<_> = change
            .iter()
            .copied()
            .filter(|(name, _)| *name == "resource")
            .collect();
        let answer = self.redeem(&back["code"], &resource).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        answer.json()
    }

    pub async fn refresh(&self, token: &Value) -> Answer {
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", token.as_str().unwrap()),
            ("client_id", &*self.client),
        ];
        post_form(self.bench, "/oauth/token", &form).await
    }

    pub async fn status(&self, token: &Value) -> u16 {
        let me = self
            .bench
            .call("GET", "/me")
            .key(token.as_str().unwrap())
            .send()
            .await;
        me.status
    }
}

fn parameters(back: &Page) -> std::collections::BTreeMap<String, String> {
    let location = url::Url::parse(back.location.as_ref().unwrap()).unwrap();
    location.query_pairs().into_owned().collect()
}

pub async fn register(bench: &Bench, change: Value) -> Answer {
    let mut body = json!({
        "client_name": "Agent", "redirect_uris": ["http://127.0.0.1/cb"], "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
    });
    for (name, value) in change.as_object().unwrap() {
        body[name] = value.clone();
    }
    post(bench, "/oauth/register", "application/json", body.to_string()).await
}

async fn post(bench: &Bench, path: &str, media: &str, body: String) -> Answer {
    let url = format!("http://{}{path}", bench.server.addresses.api);
    let response = bench
        .http
        .post(url)
        .header("content-type", media)
        .body(body)
        .send()
        .await
        .unwrap();
    Answer {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        body: response.bytes().await.unwrap().to_vec(),
    }
}

pub async fn post_form(bench: &Bench, path: &str, form: &[(&str, &str)]) -> Answer {
    let body = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(form)
        .finish();
    post(bench, path, "application/x-www-form-urlencoded", body).await
}

#[track_caller]
fn refused(answer: &Answer, status: u16, error: &str) {
    assert_eq!(
        (answer.status, answer.json()["error"].as_str()),
        (status, Some(error)),
        "{answer:?}"
    );
}

async fn agent_connects_and_acts_within_scope_role_and_membership(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Editor).await;
    let page = agent.browser.open(&agent.request(&[])).await;
    for text in ["not verified", "127.0.0.1", "keywords:write", "Fern &#38; Fir"] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(
        !policy.contains("form-action") && policy.contains("frame-ancestors 'none'"),
        "{policy}"
    );
    let tokens = agent.tokens(&[]).await;
    let access = tokens["access_token"].as_str().unwrap();
    assert_eq!(
        (tokens["token_type"].as_str(), tokens["expires_in"].as_i64()),
        (Some("Bearer"), Some(3_600))
    );
    assert_eq!(tokens["scope"], "projects:read keywords:write");
    let call = |method: &str, path: &str| bench.call(method, path).key(access);
    let me = call("GET", "/me").send().await.json();
    assert_eq!(me["authorization"]["user"]["name"], "Ann");
    assert_eq!(me["projects"][0]["id"], bench.project.to_string());
    assert_eq!(me["projects"][0]["role"], "editor");
    assert_eq!(me["projects"][0]["agentAutonomy"]["publish"]["enabled"], false);
    assert_eq!((&me["apiKey"], &me["project"]), (&Value::Null, &Value::Null));
    call("GET", "/project")
        .send()
        .await
        .refuses(403, "project_not_selected");
    let list = call("GET", "/projects").send().await.json();
    assert_eq!(list["data"][0]["id"], bench.project.to_string());
    let (neighbour, _) = bench.neighbour().await;
    let added = call("POST", "P/keywords")
        .json(&json!({ "keyword": "by oauth" }))
        .send()
        .await;
    assert_eq!(added.status, 201, "{added:?}");
    let lacking = call("GET", "P/posts").send().await;
    lacking.refuses(403, "insufficient_scope");
    let challenge = lacking.header("www-authenticate").unwrap();
    assert!(
        challenge.contains("scope=\"posts:read\"") && challenge.contains("resource_metadata=\"http"),
        "{challenge}"
    );
    // The log names person and client.
    let log = bench.get("P/activity").await.json();
    assert_eq!(log["data"][0]["credential"]["type"], "oauth");
    assert_eq!(log["data"][0]["credential"]["name"], "Agent");
    assert_eq!(log["data"][0]["user"]["name"], "Ann");
    // Unknown, malformed and foreign projects are one answer.
    let people = &bench.server.app.people;
    let other = people.create_workspace("Elsewhere").await.unwrap().id;
    let foreign = people
        .create_project_in(Some(other), "Far", "example.net")
        .await
        .unwrap()
        .id;
    let answers = [
        foreign.to_string(),
        "00000000-0000-7000-8000-000000000000".to_owned(),
        "no-uuid".to_owned(),
    ];
    let mut bodies = Vec::new();
    for id in &answers {
        let answer = call("GET", &format!("/projects/{id}")).send().await;
        answer.refuses(403, "project_forbidden");
        assert_eq!(answer.header("www-authenticate"), None);
        bodies.push(answer.without_request_id());
    }
    assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]), "{bodies:?}");
    // Roles and memberships count at the moment of the request.
    let user = people.find_user("ann@example.com").await.unwrap();
    people.set_member(other, user, Role::Viewer).await.unwrap();
    assert_eq!(
        call("GET", &format!("/projects/{foreign}")).send().await.status,
        200
    );
    let writes = call("POST", &format!("/projects/{foreign}/keywords"))
        .json(&json!({ "keyword": "no" }))
        .send()
        .await;
    writes.refuses(403, "insufficient_role");
    assert_eq!(writes.header("www-authenticate"), None);
    let listed = call("GET", "/projects?limit=1").send().await;
    let next = listed.json()["nextCursor"].as_str().unwrap().to_owned();
    let rest = call("GET", &format!("/projects?limit=2&cursor={next}"))
        .send()
        .await
        .json();
    let names: Vec<_> = rest["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Fern & Fir", "Oak"]);
    people.remove_member(other, user).await.unwrap();
    call("GET", &format!("/projects/{foreign}"))
        .send()
        .await
        .refuses(403, "project_forbidden");
    assert_ne!(neighbour, foreign);
}

async fn redirects_cannot_be_turned_elsewhere(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Editor).await;
    for redirect in [
        "",
        "http://127.0.0.1:4321/cb2",
        "http://127.0.0.1:4321@evil.example/cb",
        "http://127.0.0.1.evil.example/cb",
        "https://127.0.0.1/cb",
        "http://localhost:4321/cb",
        "https://evil.example/cb",
        "javascript:alert(1)",
    ] {
        let page = agent
            .browser
            .open(&agent.request(&[("redirect_uri", redirect)]))
            .await;
        assert_eq!((page.status, page.location), (400, None), "{redirect}");
    }
    for client in ["", "nobody", "https://evil.example/client.json"] {
        let page = agent.browser.open(&agent.request(&[("client_id", client)])).await;
        assert_eq!((page.status, page.location), (400, None), "{client}");
    }
    let twice = format!("{}&redirect_uri=https%3A%2F%2Fevil.example", agent.request(&[]));
    assert_eq!(agent.browser.open(&twice).await.status, 400);
    // Also before anybody has signed in.
    let stranger = Browser::new(&bench);
    let page = stranger
        .open(&agent.request(&[("redirect_uri", "https://evil.example/cb")]))
        .await;
    assert_eq!(page.status, 400);
    let page = stranger.open(&agent.request(&[("code_challenge", "")])).await;
    assert!(
        page.text.contains("name=\"password\""),
        "sign-in comes before any redirect"
    );
    let other_port = agent.consent(&[("redirect_uri", "http://127.0.0.1:9/cb")]).await;
    assert_eq!(other_port["state"], "x y&z");
    assert_eq!(other_port["iss"], bench.server.app.settings.public_url);
}

async fn faults_of_a_client_are_shown_to_the_person(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Editor).await;
    for (change, error) in [
        (("response_type", "token"), "unsupported_response_type"),
        (("response_type", ""), "invalid_request"),
        (("code_challenge", ""), "invalid_request"),
        (("code_challenge", "short"), "invalid_request"),
        (("code_challenge_method", "plain"), "invalid_request"),
        (("code_challenge_method", ""), "invalid_request"),
        (("scope", "nonsense"), "invalid_scope"),
        (("resource", "https://evil.example"), "invalid_target"),
    ] {
        let page = agent.browser.open(&agent.request(&[change])).await;
        assert_eq!((page.status, &page.location), (400, &None), "{change:?}");
        assert!(
            page.text.contains(&format!("error={error}")),
            "{change:?}: {}",
            page.text
        );
        assert!(page.text.contains("iss=http"), "{}", page.text);
    }
    let page = agent.browser.open(&agent.request(&[])).await;
    let denied = parameters(&agent.decide(&page, "deny").await);
    assert_eq!(
        (denied["error"].as_str(), denied["state"].as_str()),
        ("access_denied", "x y&z")
    );
    assert!(!denied.contains_key("code"));
    let again = parameters(&agent.decide(&page, "allow").await);
    assert_eq!(again["error"], "access_denied", "decided before");
    // A person may add permissions for a program that asks for few.
    let page = agent
        .browser
        .open(&agent.request(&[("scope", "projects:read")]))
        .await;
    assert!(page.text.contains("Allow more"), "{}", page.text);
    let form = [
        ("request", &*page.field("request")),
        ("csrf", &*page.field("csrf")),
        ("decision", "allow"),
        ("scope", "projects:read"),
        ("scope", "keywords:write"),
        ("scope", "nonsense"),
    ];
    let back = agent.browser.send("/oauth/authorize", &form).await;
    let more = agent.redeem(&parameters(&back)["code"], &[]).await.json();
    assert_eq!(more["scope"], "projects:read keywords:write");
    // And take some away.
    let page = agent.browser.open(&agent.request(&[])).await;
    let form = [
        ("request", &*page.field("request")),
        ("csrf", &*page.field("csrf")),
        ("decision", "allow"),
        ("scope", "projects:read"),
    ];
    let back = parameters(&agent.browser.send("/oauth/authorize", &form).await);
    let tokens = agent.redeem(&back["code"], &[]).await.json();
    assert_eq!(tokens["scope"], "projects:read");
    // Somebody else cannot answer the form.
    person(&bench, "bob@example.com", Role::Viewer).await;
    let page = agent.browser.open(&agent.request(&[])).await;
    let other = Browser::new(&bench);
    other.sign_in("bob@example.com", PASSWORD).await;
    let csrf = other.open("/account").await.field("csrf");
    let form = [
        ("request", &*page.field("request")),
        ("csrf", &*csrf),
        ("decision", "allow"),
        ("scope", "projects:read"),
    ];
    assert_eq!(other.send("/oauth/authorize", &form).await.status, 400);
}

async fn codes_are_redeemed_once(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Editor).await;
    let code = agent.consent(&[]).await["code"].clone();
    let wrong = "x".repeat(43);
    refused(
        &agent.redeem(&code, &[("code_verifier", &wrong)]).await,
        400,
        "invalid_grant",
    );
    refused(
        &agent
            .redeem(&code, &[("redirect_uri", "http://127.0.0.1:1/cb")])
            .await,
        400,
        "invalid_grant",
    );
    refused(
        &agent.redeem(&code, &[("resource", "https://evil.example")]).await,
        400,
        "invalid_target",
    );
    refused(
        &agent.redeem(&code, &[("client_id", "nobody")]).await,
        401,
        "invalid_client",
    );
    let other = register(&bench, json!({ "client_name": "Other" })).await.json()["client_id"].clone();
    refused(
        &agent
            .redeem(&code, &[("client_id", other.as_str().unwrap())])
            .await,
        400,
        "invalid_grant",
    );
    refused(&agent.redeem("swc_x", &[]).await, 400, "invalid_grant");
    refused(
        &agent.redeem(&code, &[("grant_type", "password")]).await,
        400,
        "unsupported_grant_type",
    );
    let tokens = agent.redeem(&code, &[]).await.json();
    assert_eq!(agent.status(&tokens["access_token"]).await, 200);
    refused(
        &agent.redeem(&code, &[("code_verifier", &wrong)]).await,
        400,
        "invalid_grant",
    );
    assert_eq!(
        agent.status(&tokens["access_token"]).await,
        200,
        "a replay with a wrong verifier only fails"
    );
    refused(&agent.redeem(&code, &[]).await, 400, "invalid_grant");
    assert_eq!(
        agent.status(&tokens["access_token"]).await,
        401,
        "a valid replay ends what came of it"
    );
    refused(
        &agent.refresh(&tokens["refresh_token"]).await,
        400,
        "invalid_grant",
    );
    let late = agent.consent(&[]).await["code"].clone();
    bench.clock.advance(60_000);
    refused(&agent.redeem(&late, &[]).await, 400, "invalid_grant");
    let body = format!(
        "grant_type=authorization_code&code={code}&code={code}&client_id={}",
        agent.client
    );
    refused(
        &post(&bench, "/oauth/token", "application/x-www-form-urlencoded", body).await,
        400,
        "invalid_request",
    );
    let json = post(&bench, "/oauth/token", "application/json", "{}".to_owned()).await;
    refused(&json, 415, "invalid_request");
}

async fn refresh_tokens_rotate_and_reuse_ends_the_family(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Editor).await;
    let first = agent.tokens(&[]).await;
    let second = agent.refresh(&first["refresh_token"]).await.json();
    assert_ne!(first["refresh_token"], second["refresh_token"]);
    // The answer was lost: the same token gives another successor, and the unused one ends.
    bench.clock.advance(29_000);
    let again = agent.refresh(&first["refresh_token"]).await.json();
    assert_ne!(again["refresh_token"], second["refresh_token"]);
    refused(
        &agent.refresh(&second["refresh_token"]).await,
        400,
        "invalid_grant",
    );
    let third = agent.refresh(&again["refresh_token"]).await.json();
    assert_eq!(agent.status(&third["access_token"]).await, 200);
    // Its successor was used: whoever presents the first one now has a copy.
    refused(
        &agent.refresh(&first["refresh_token"]).await,
        400,
        "invalid_grant",
    );
    assert_eq!(agent.status(&third["access_token"]).await, 401);
    refused(
        &agent.refresh(&third["refresh_token"]).await,
        400,
        "invalid_grant",
    );
    // After the time for retries, too.
    let first = agent.tokens(&[]).await;
    let second = agent.refresh(&first["refresh_token"]).await.json();
    bench.clock.advance(30_001);
    refused(
        &agent.refresh(&first["refresh_token"]).await,
        400,
        "invalid_grant",
    );
    refused(
        &agent.refresh(&second["refresh_token"]).await,
        400,
        "invalid_grant",
    );
    // Expiry: 1 hour, 30 days idle.
    let tokens = agent.tokens(&[]).await;
    bench.clock.advance(3_600_000);
    let expired = bench
        .call("GET", "/me")
        .key(tokens["access_token"].as_str().unwrap())
        .send()
        .await;
    expired.refuses(401, "token_expired");
    assert!(
        expired
            .header("www-authenticate")
            .unwrap()
            .contains("error=\"invalid_token\"")
    );
    let renewed = agent.refresh(&tokens["refresh_token"]).await.json();
    assert_eq!(agent.status(&renewed["access_token"]).await, 200);
    bench.clock.advance(30 * 24 * 3_600_000);
    refused(
        &agent.refresh(&renewed["refresh_token"]).await,
        400,
        "invalid_grant",
    );
    // Scopes can be narrowed, not widened.
    let agent = Agent {
        browser: Browser::new(&bench),
        ..agent
    };
    agent.browser.sign_in("ann@example.com", PASSWORD).await;
    let tokens = agent.tokens(&[]).await;
    let send = async |scope: &str| {
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", tokens["refresh_token"].as_str().unwrap()),
            ("client_id", &*agent.client),
            ("scope", scope),
        ];
        post_form(&bench, "/oauth/token", &form).await
    };
    refused(
        &send("keywords:write content:publish").await,
        400,
        "invalid_scope",
    );
    let narrowed = send("keywords:read").await.json();
    assert_eq!(narrowed["scope"], "keywords:read");
    // A retry that is refused for its scope leaves the successor in place.
    refused(&send("content:publish").await, 400, "invalid_scope");
    assert_eq!(agent.refresh(&narrowed["refresh_token"]).await.status, 200);
}

async fn two_refreshes_at_once_leave_one_live_token(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Editor).await;
    let first = agent.tokens(&[]).await;
    let token = &first["refresh_token"];
    let (one, two) = tokio::join!(agent.refresh(token), agent.refresh(token));
    assert_eq!((one.status, two.status), (200, 200), "the second is a retry");
    let results = [
        agent.refresh(&one.json()["refresh_token"]).await.status,
        agent.refresh(&two.json()["refresh_token"]).await.status,
    ];
    assert_eq!(
        results.iter().filter(|status| **status == 200).count(),
        1,
        "{results:?}"
    );
}

async fn revoked_tokens_are_refused_at_once(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Editor).await;
    let revoke = async |token: &Value, client: &str| {
        let form = [("token", token.as_str().unwrap()), ("client_id", client)];
        post_form(&bench, "/oauth/revoke", &form).await.status
    };
    let tokens = agent.tokens(&[]).await;
    let other = register(&bench, json!({ "client_name": "Other" })).await.json()["client_id"].clone();
    assert_eq!(
        revoke(&tokens["access_token"], other.as_str().unwrap()).await,
        200
    );
    assert_eq!(
        agent.status(&tokens["access_token"]).await,
        200,
        "of another client"
    );
    assert_eq!(revoke(&json!("swa_unknown"), &agent.client).await, 200);
    assert_eq!(revoke(&tokens["access_token"], &agent.client).await, 200);
    assert_eq!(agent.status(&tokens["access_token"]).await, 401);
    let renewed = agent.refresh(&tokens["refresh_token"]).await.json();
    assert_eq!(revoke(&renewed["refresh_token"], &agent.client).await, 200);
    assert_eq!(
        agent.status(&renewed["access_token"]).await,
        401,
        "a refresh token ends its family"
    );
    // On the account page.
    let tokens = agent.tokens(&[]).await;
    let page = agent.browser.open("/account").await;
    let path = page
        .text
        .split("action=\"")
        .find(|rest| rest.starts_with("/account/applications/"))
        .unwrap();
    let path = path.split('"').next().unwrap();
    agent.browser.send(path, &[("csrf", &page.field("csrf"))]).await;
    assert_eq!(agent.status(&tokens["access_token"]).await, 401);
    // Introspection is for clients with a secret.
    let form = [
        ("token", tokens["access_token"].as_str().unwrap()),
        ("client_id", &*agent.client),
    ];
    refused(
        &post_form(&bench, "/oauth/introspect", &form).await,
        401,
        "invalid_client",
    );
}

async fn token_of_one_resource_does_not_open_the_other(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Editor).await;
    let mcp = bench.server.app.settings.mcp_url.clone();
    let for_mcp = agent.tokens(&[("resource", &mcp)]).await;
    let for_api = agent.tokens(&[]).await;
    let token = |tokens: &Value| tokens["access_token"].as_str().unwrap().to_owned();
    let answer = bench.call("GET", "/me").key(&token(&for_mcp)).send().await;
    answer.refuses(401, "invalid_token");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    let ask = async |token: &str| {
        bench
            .http
            .post(&mcp)
            .header("authorization", format!("Bearer {token}"))
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .header("mcp-protocol-version", "2025-06-18")
            .body(list.to_string())
            .send()
            .await
            .unwrap()
    };
    assert_eq!(ask(&token(&for_mcp)).await.status(), 200);
    let refused = ask(&token(&for_api)).await;
    assert_eq!(refused.status(), 401);
    let challenge = refused.headers()["www-authenticate"].to_str().unwrap().to_owned();
    assert!(
        challenge.contains("/.well-known/oauth-protected-resource/mcp\""),
        "{challenge}"
    );
    let metadata = challenge
        .split("resource_metadata=\"")
        .nth(1)
        .unwrap()
        .trim_end_matches('"');
    let metadata = bench
        .http
        .get(metadata)
        .send()
        .await
        .unwrap()
        .bytes()
        .await
        .unwrap();
    let metadata: Value = serde_json::from_slice(&metadata).unwrap();
    assert_eq!(metadata["resource"], mcp);
    assert_eq!(
        metadata["authorization_servers"][0],
        bench.server.app.settings.public_url
    );
}

async fn autonomy_gates_agents_and_its_cap_holds(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Owner).await;
    let tokens = agent
        .tokens(&[("scope", "projects:read posts:write content:publish")])
        .await;
    let access = tokens["access_token"].as_str().unwrap();
    let made = bench
        .call("POST", "P/posts")
        .key(access)
        .json(&json!({ "title": "Oak" }))
        .send()
        .await;
    let path = format!("P/posts/{}/publish", made.json()["id"].as_str().unwrap());
    let publish = async || {
        bench
            .call("POST", &path)
            .key(access)
            .json(&json!({}))
            .send()
            .await
    };
    let gated = publish().await;
    gated.refuses(403, "agent_autonomy_required");
    assert_eq!(gated.header("www-authenticate"), None);
    let people = &bench.server.app.people;
    let set = async |is_on, cap, lifetime| {
        let action = AutonomyAction::Publish;
        people
            .set_autonomy(bench.project, action, is_on, cap, lifetime)
            .await
            .unwrap();
    };
    set(true, Some(1), Some(60_000)).await;
    // Past the gate: the next refusal is about the post, and takes nothing from the cap.
    for _ in 0..2 {
        publish().await.refuses(409, "invalid_state");
    }
    let project = bench.call("GET", "P").key(access).send().await.json();
    assert_eq!(project["agentAutonomy"]["publish"]["dailyCap"], 1);
    bench.clock.advance(60_000);
    publish().await.refuses(403, "agent_autonomy_required");
    set(true, None, None).await;
    publish().await.refuses(409, "invalid_state");
    set(false, None, None).await;
    publish().await.refuses(403, "agent_autonomy_required");
    // An API key acts within its scopes.
    bench.post(&path, json!({})).await.refuses(409, "invalid_state");
    // The cap holds for calls at the same time.
    let tokens = agent.tokens(&[("scope", "autopilot:write")]).await;
    let access = tokens["access_token"].as_str().unwrap();
    let action = AutonomyAction::Autopilot;
    people
        .set_autonomy(bench.project, action, true, Some(2), None)
        .await
        .unwrap();
    let change = async || {
        let call = bench.call("PATCH", "P/autopilot").key(access);
        call.json(&json!({ "publish_interval_days": 3 })).send().await
    };
    let answers = futures_util::future::join_all((0..5).map(|_| change())).await;
    let done = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(done, 2, "{answers:?}");
    bench.clock.advance(24 * 3_600_000);
    let tokens = agent.refresh(&tokens["refresh_token"]).await.json();
    let next_day = bench
        .call("PATCH", "P/autopilot")
        .key(tokens["access_token"].as_str().unwrap());
    let next_day = next_day.json(&json!({ "publish_interval_days": 4 })).send().await;
    assert_eq!(next_day.status, 200, "{next_day:?}");
}

async fn device_is_connected_by_its_code(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Editor).await;
    refused(
        &post_form(&bench, "/oauth/device", &[("client_id", &agent.client)]).await,
        400,
        "unauthorized_client",
    );
    let form = [("client_id", "cli"), ("scope", "projects:read content:publish")];
    let begun = post_form(&bench, "/oauth/device", &form).await.json();
    let poll = async || {
        let form = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("device_code", begun["device_code"].as_str().unwrap()),
            ("client_id", "cli"),
        ];
        post_form(&bench, "/oauth/token", &form).await
    };
    refused(&poll().await, 400, "authorization_pending");
    refused(&poll().await, 400, "slow_down");
    let code = begun["user_code"].as_str().unwrap();
    let page = agent.browser.open(&format!("/device?user_code={code}")).await;
    assert_eq!(page.field("user_code"), code);
    let csrf = page.field("csrf");
    for wrong in ["BCDF-GHJK", "", "x"] {
        let page = agent
            .browser
            .send("/device", &[("csrf", &csrf), ("user_code", wrong)])
            .await;
        assert_eq!(page.status, 422);
    }
    let page = agent
        .browser
        .send("/device", &[("csrf", &csrf), ("user_code", &code.to_lowercase())])
        .await;
    assert!(page.text.contains("127.0.0.1"), "{}", page.text);
    refused(&poll().await, 400, "slow_down");
    let allow = [("csrf", &*csrf), ("user_code", code), ("decision", "allow")];
    assert_eq!(agent.browser.send("/device", &allow).await.status, 200);
    let tokens = poll().await;
    assert_eq!(tokens.status, 200, "{tokens:?}");
    assert_eq!(
        tokens.json()["scope"],
        "projects:read",
        "publishing is never granted to a device"
    );
    assert_eq!(agent.status(&tokens.json()["access_token"]).await, 200);
    refused(&poll().await, 400, "invalid_grant");
    // Guessing is limited.
    for _ in 0..3 {
        agent
            .browser
            .send("/device", &[("csrf", &csrf), ("user_code", "BCDF-GHJK")])
            .await;
    }
    let page = agent
        .browser
        .send("/device", &[("csrf", &csrf), ("user_code", "BCDF-GHJK")])
        .await;
    assert_eq!(page.status, 429);
}

async fn identical_registrations_are_one(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let id = async |change| {
        let answer = register(&bench, change).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()["client_id"].clone()
    };
    let first = id(json!({})).await;
    assert_eq!(
        first,
        id(json!({ "logo_uri": "https://agent.example/logo.png" })).await
    );
    assert_ne!(first, id(json!({ "client_name": "Other" })).await);
    for change in [
        json!({ "redirect_uris": ["javascript:alert(1)"] }),
        json!({ "redirect_uris": [] }),
        json!({ "redirect_uris": ["http://evil.example/cb"] }),
    ] {
        refused(&register(&bench, change).await, 400, "invalid_redirect_uri");
    }
    refused(
        &register(&bench, json!({ "client_name": "x".repeat(65) })).await,
        400,
        "invalid_client_metadata",
    );
    refused(
        &post(&bench, "/oauth/register", "application/json", "[".to_owned()).await,
        400,
        "invalid_client_metadata",
    );
    // Nobody consented: after a week it is gone, and the client is told to register again.
    bench.clock.advance(8 * 24 * 3_600_000);
    bench
        .server
        .app
        .people
        .delete_expired_authorizations()
        .await
        .unwrap();
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", "x"),
        ("client_id", first.as_str().unwrap()),
    ];
    refused(
        &post_form(&bench, "/oauth/token", &form).await,
        401,
        "invalid_client",
    );
}

async fn consent_that_is_sent_twice_leads_back_twice(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Owner).await;
    let page = agent.browser.open(&agent.request(&[])).await;
    let (first, second) = tokio::join!(agent.decide(&page, "allow"), agent.decide(&page, "allow"));
    assert_eq!((first.status, second.status), (303, 303), "{}", second.text);
    // A browser follows the last answer; here the order is not known. One code is live, and it is one grant.
    let third = agent.decide(&page, "allow").await;
    let code = parameters(&third)["code"].clone();
    for replaced in [&first, &second] {
        refused(
            &agent.redeem(&parameters(replaced)["code"], &[]).await,
            400,
            "invalid_grant",
        );
    }
    let tokens = agent.redeem(&code, &[]).await;
    assert_eq!(tokens.status, 200, "{tokens:?}");
    let late = agent.decide(&page, "allow").await;
    assert_eq!(late.status, 400);
    assert!(late.text.contains("answered before"), "{}", late.text);
    assert_eq!(agent.status(&tokens.json()["access_token"]).await, 200);
    let account = agent.browser.open("/account").await;
    assert_eq!(account.text.matches("/revoke\"").count(), 1, "{}", account.text);
    // Going back and declining takes back what was allowed.
    let page = agent.browser.open(&agent.request(&[])).await;
    let allowed = agent.decide(&page, "allow").await;
    let declined = agent.decide(&page, "deny").await;
    assert_eq!(parameters(&declined)["error"], "access_denied");
    refused(
        &agent.redeem(&parameters(&allowed)["code"], &[]).await,
        400,
        "invalid_grant",
    );
    // Declined stays declined.
    let page = agent.browser.open(&agent.request(&[])).await;
    for decision in ["deny", "deny", "allow"] {
        let back = agent.decide(&page, decision).await;
        assert_eq!(parameters(&back)["error"], "access_denied", "{decision}");
    }
}

async fn missing_scope_at_mcp_is_a_challenge(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Owner).await;
    let mcp = bench.server.app.settings.mcp_url.clone();
    let ask = async |token: &Value, tool: &str| {
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "arguments": { "projectId": bench.project, "keyword": "ferns" }, "name": tool },
        });
        let sent = bench
            .http
            .post(&mcp)
            .header("authorization", format!("Bearer {}", token.as_str().unwrap()))
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .header("mcp-protocol-version", "2025-11-25")
            .body(call.to_string());
        sent.send().await.unwrap()
    };
    let few = agent
        .tokens(&[("resource", &mcp), ("scope", "projects:read")])
        .await;
    let listed = bench
        .http
        .post(&mcp)
        .header(
            "authorization",
            format!("Bearer {}", few["access_token"].as_str().unwrap()),
        )
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .body(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
        .send()
        .await
        .unwrap();
    let listed: Value = serde_json::from_slice(&listed.bytes().await.unwrap()).unwrap();
    let tools = listed["result"]["tools"].as_array().unwrap();
    let takes = |name: &str| {
        tools
            .iter()
            .find(|tool| tool["name"] == name)
            .map(|tool| &tool["inputSchema"])
    };
    assert!(takes("keywords_create").is_none() && takes("projects_list").is_some());
    assert!(takes("project_get").is_none(), "always refused to a token");
    let of_job = takes("jobs_get").unwrap();
    assert_eq!(of_job["required"], json!(["jobId"]));
    assert_eq!(
        of_job["properties"]["projectId"]["type"], "string",
        "a token may have several projects"
    );
    let refused = ask(&few["access_token"], "keywords_create").await;
    assert_eq!(refused.status(), 403);
    let challenge = refused.headers()["www-authenticate"].to_str().unwrap().to_owned();
    for part in [
        "error=\"insufficient_scope\"",
        "scope=\"keywords:write\"",
        "/.well-known/oauth-protected-resource/mcp",
    ] {
        assert!(challenge.contains(part), "{challenge}");
    }
    let more = agent
        .tokens(&[("resource", &mcp), ("scope", "projects:read keywords:write")])
        .await;
    assert_eq!(ask(&more["access_token"], "keywords_create").await.status(), 200);
    assert_eq!(bench.keywords().await, ["ferns"]);
    // The person sees what was refused, once.
    for _ in 0..3 {
        let refused = bench
            .call("POST", "P/keywords")
            .json(&json!({ "keyword": "moss" }));
        let reader = agent.tokens(&[("scope", "projects:read")]).await;
        let token = reader["access_token"].as_str().unwrap().to_owned();
        refused
            .key(&token)
            .send()
            .await
            .refuses(403, "insufficient_scope");
    }
    let account = agent.browser.open("/account").await;
    assert_eq!(
        account.text.matches("insufficient_scope keywords.create").count(),
        1,
        "{}",
        account.text
    );
    // A tool that does not exist is the protocol's to refuse.
    assert_eq!(ask(&few["access_token"], "nothing").await.status(), 200);
}

async fn client_with_a_secret_looks_tokens_up(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let mut agent = Agent::new(&bench, Role::Owner).await;
    let token = agent.tokens(&[]).await["access_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let people = &bench.server.app.people;
    assert!(
        people
            .create_oauth_client("x", vec!["http://a.example/cb".to_owned()])
            .await
            .is_err()
    );
    let created = people
        .create_oauth_client("Gateway", vec![REDIRECT.to_owned()])
        .await
        .unwrap();
    let look = async |secret: &str| {
        let form = [
            ("token", &*token),
            ("client_id", &*created.client_id),
            ("client_secret", secret),
        ];
        post_form(&bench, "/oauth/introspect", &form).await
    };
    let found = look(&created.client_secret).await.json();
    assert_eq!(
        (&found["active"], &found["client_id"]),
        (&json!(true), &json!(agent.client)),
        "{found}"
    );
    refused(&look("swx_wrong").await, 401, "invalid_client");
    let public = [("token", &*token), ("client_id", &*agent.client)];
    refused(
        &post_form(&bench, "/oauth/introspect", &public).await,
        401,
        "invalid_client",
    );
    // It connects people too, and needs its secret for their tokens.
    agent.client = created.client_id.clone();
    let page = agent.browser.open(&agent.request(&[])).await;
    assert!(
        page.text.contains("The operator of this server set up"),
        "{}",
        page.text
    );
    let code = agent.consent(&[]).await["code"].clone();
    refused(&agent.redeem(&code, &[]).await, 401, "invalid_client");
    let tokens = agent
        .redeem(&code, &[("client_secret", &created.client_secret)])
        .await;
    assert_eq!(tokens.status, 200, "{tokens:?}");
    bench.clock.advance(8 * 86_400_000);
    people.delete_expired_authorizations().await.unwrap();
    assert_eq!(look(&created.client_secret).await.status, 200, "it stays");
    people.delete_oauth_client(&created.client_id).await.unwrap();
    refused(&look(&created.client_secret).await, 401, "invalid_client");
    assert!(people.delete_oauth_client(&agent.client).await.is_err());
}

async fn consent_says_where_posts_go_and_what_may_be_spent(database: &str) {
    let (bench, blog) = crate::publishing::start(database).await;
    let engine = &bench.server.app.engine;
    engine
        .set_budget(bench.project, "openai", Some(20_000_000))
        .await
        .unwrap();
    engine
        .set_daily_budget(bench.project, Some(2_500_000))
        .await
        .unwrap();
    let agent = Agent::new(&bench, Role::Owner).await;
    let page = agent
        .browser
        .open(&agent.request(&[("scope", "content:publish")]))
        .await;
    for said in [
        "publishes at wordpress (127.0.0.1",
        "openai up to $20.00 a month, $0.00 spent",
        "at most $2.50 a day in all",
    ] {
        assert!(page.text.contains(said), "{said}: {}", page.text);
    }
    drop(blog);
}
