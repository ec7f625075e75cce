//! Accounts with vendors, budgets and quotas as people set them: secrets go in and never come out.

use axum::{
    Router,
    extract::Request,
    http::{StatusCode, header},
    response::IntoResponse as _,
    routing::get,
};
use searchwright_contract::people::Role;
use serde_json::{Value, json};

use crate::{
    dashboard_audits::{address, signed_in, submit},
    harness::Bench,
    people::PASSWORD,
};

on_both!(
    an_account_is_set_tested_replaced_and_removed,
    an_account_is_not_set_over_another_change_nor_by_those_who_do_not_manage,
    a_refused_account_keeps_all_but_the_secret,
    a_late_form_is_kept_until_the_sign_in_but_for_its_secret,
    budgets_and_quotas_are_set_by_a_person,
);

const KEY: &str = "sk-the-good-one";

/// A server with a list of models, for those with the key.
async fn vendor() -> String {
    let models = get(async |request: Request| {
        let sent = request.headers().get(header::AUTHORIZATION);
        if sent.is_some_and(|sent| sent == &format!("Bearer {KEY}")) {
            return json!({ "object": "list", "data": [] })
                .to_string()
                .into_response();
        }
        let body = json!({ "error": { "message": "Incorrect API key provided" } });
        (StatusCode::UNAUTHORIZED, body.to_string()).into_response()
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let routes: Router = Router::new().route("/v1/models", models);
    tokio::spawn(async move { axum::serve(listener, routes).await });
    address
}

async fn accounts(bench: &Bench) -> Value {
    let engine = &bench.server.app.engine;
    json!(engine.list_providers(bench.project).await.unwrap())
}

async fn an_account_is_set_tested_replaced_and_removed(database: &str) {
    let vendor = vendor().await;
    let allow = format!("allow_outbound=[\"provider={vendor}\"]");
    let bench = Bench::on(database, &[&allow]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Admin).await;
    let path = address(&bench, "/settings/providers");
    let form = format!("{path}?provider=openai");
    let page = ann.open(&form).await;
    assert!(page.text.contains("Ollama"), "{}", page.text);
    let url = format!("http://{vendor}/v1");
    let mut fields = vec![
        ("action", "set"),
        ("provider", "openai"),
        ("seen", ""),
        ("set-model", "oak-1"),
        ("set-baseUrl", &url),
        ("set-inputPrice", "0.5"),
        ("set-outputPrice", "1"),
        ("secret", "sk-the-bad-one"),
    ];
    let saved = submit(&ann, &page, &path, &fields).await;
    assert!(saved.text.contains("The account was saved"), "{}", saved.text);
    assert!(saved.text.contains("model: oak-1") && !saved.text.contains("sk-the"));
    let first = accounts(&bench).await;
    assert_eq!(first[0]["settings"]["inputPrice"], "0.5");
    assert_eq!(first[0]["hasSecret"], json!(true));

    let test = [("action", "test"), ("provider", "openai")];
    let refused = submit(&ann, &saved, &path, &test).await;
    assert_eq!(refused.status, 502, "{}", refused.text);
    assert!(
        refused.text.contains("does not accept the credential"),
        "{}",
        refused.text
    );

    // Another key; what is left empty of the settings goes back to what the vendor has.
    bench.clock.advance(1_000);
    let page = ann.open(&form).await;
    let seen = page.field("seen");
    assert!(page.text.contains("leave empty to keep it") && !page.text.contains("sk-the"));
    fields[2].1 = &seen;
    fields[5].1 = "";
    fields[6].1 = "";
    fields[7].1 = KEY;
    submit(&ann, &page, &path, &fields).await;
    assert!(accounts(&bench).await[0]["settings"]["inputPrice"].is_null());
    let page = ann.open(&path).await;
    let works = submit(&ann, &page, &path, &test).await;
    assert!(
        works.text.contains("The provider knows the account"),
        "{}",
        works.text
    );

    // Without a key the stored one stays.
    bench.clock.advance(1_000);
    let page = ann.open(&form).await;
    let seen = page.field("seen");
    fields[2].1 = &seen;
    fields[3].1 = "oak-2";
    fields[7].1 = "";
    submit(&ann, &page, &path, &fields).await;
    assert_eq!(accounts(&bench).await[0]["settings"]["model"], "oak-2");
    let page = ann.open(&path).await;
    assert!(
        submit(&ann, &page, &path, &test)
            .await
            .text
            .contains("knows the account")
    );

    // Nobody has the stored key sent to an address of his own.
    bench.clock.advance(1_000);
    let page = ann.open(&form).await;
    let seen = page.field("seen");
    let elsewhere = format!("http://{vendor}/elsewhere");
    let mut moved = fields.clone();
    moved[2].1 = &seen;
    moved[4].1 = &elsewhere;
    let refused = submit(&ann, &page, &path, &moved).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    assert!(refused.text.contains("typed again"), "{}", refused.text);
    assert_eq!(accounts(&bench).await[0]["settings"]["baseUrl"], json!(url));

    let remove = [("action", "remove"), ("provider", "openai")];
    let gone = submit(&ann, &page, &path, &remove).await;
    assert!(gone.text.contains("No account is set"), "{}", gone.text);
    assert_eq!(accounts(&bench).await, json!([]));
    let log = bench.get("P/activity").await;
    let log = log.json();
    assert!(!log.to_string().contains("sk-the"));
    let actions: Vec<&str> = log["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|entry| entry["action"].as_str())
        .collect();
    assert_eq!(
        actions,
        [
            "providers.remove",
            "providers.set",
            "providers.set",
            "providers.set"
        ]
    );
}

async fn an_account_is_not_set_over_another_change_nor_by_those_who_do_not_manage(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let path = address(&bench, "/settings/providers");
    let page = ann.open(&format!("{path}?provider=anthropic")).await;
    let fields = [
        ("action", "set"),
        ("provider", "anthropic"),
        ("seen", ""),
        ("set-model", "oak-1"),
        ("secret", "sk-1"),
    ];
    submit(&ann, &page, &path, &fields).await;
    let mut stale = fields;
    stale[3].1 = "oak-2";
    let refused = submit(&ann, &page, &path, &stale).await;
    assert_eq!(refused.status, 412, "{}", refused.text);
    assert!(refused.text.contains("value=\"oak-2\"") && !refused.text.contains("sk-1"));
    assert_eq!(accounts(&bench).await[0]["settings"]["model"], "oak-1");

    for (email, role) in [
        ("ed@example.com", Role::Editor),
        ("vic@example.com", Role::Viewer),
    ] {
        let other = signed_in(&bench, email, role).await;
        let shown = other.open(&format!("{path}?provider=anthropic")).await;
        assert!(!shown.text.contains("<form method=\"post\"") && !shown.text.contains("oak-1"));
        let csrf = other.open("/account").await.field("csrf");
        for action in ["set", "remove", "test", "budget", "quota"] {
            let form = [
                ("csrf", csrf.as_str()),
                ("action", action),
                ("provider", "anthropic"),
                (
                    "of",
                    if action == "quota" {
                        "posts_generated"
                    } else {
                        "all"
                    },
                ),
                ("most", "1"),
                ("secret", "sk-2"),
            ];
            let refused = other.send(&path, &form).await;
            assert_eq!(refused.status, 403, "{action} of {email}: {}", refused.text);
        }
    }
    assert_eq!(accounts(&bench).await[0]["settings"]["model"], "oak-1");
    let usage = bench.get("P/usage").await.json();
    assert!(usage["today"]["budgetMicrosUsd"].is_null());
}

async fn a_refused_account_keeps_all_but_the_secret(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Admin).await;
    let path = address(&bench, "/settings/providers");
    let page = ann.open(&format!("{path}?provider=openai")).await;
    for (fields, said) in [
        (
            vec![("set-baseUrl", "http://u:p@h/")],
            "Model is required for openai",
        ),
        (
            vec![("set-model", "<b>\u{202e}"), ("set-maxTokens", "many")],
            "has to be a number from 16 to 128000",
        ),
        (
            vec![("set-model", "m"), ("secret", "sk 4711")],
            "one line of visible ASCII",
        ),
    ] {
        let mut form = vec![("action", "set"), ("provider", "openai"), ("seen", "")];
        form.extend(&fields);
        let refused = submit(&ann, &page, &path, &form).await;
        assert_eq!(refused.status, 422, "{}", refused.text);
        assert!(refused.text.contains(said), "{said}: {}", refused.text);
        assert!(!refused.text.contains("4711") && !refused.text.contains("<b>"));
        for (name, value) in fields
            .iter()
            .filter(|(name, value)| *name != "secret" && !value.contains('<'))
        {
            assert!(refused.text.contains(&format!("value=\"{value}\"")), "{name}");
        }
    }
    // Of three parts of a secret one is missing.
    let google = [
        ("action", "set"),
        ("provider", "search-console"),
        ("seen", ""),
        ("set-siteUrl", "sc-domain:example.com"),
        ("secret-clientId", "id-4711"),
        ("secret-refreshToken", "token-4711"),
    ];
    let refused = submit(&ann, &page, &path, &google).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text.contains("sc-domain:example.com") && !refused.text.contains("4711"));
    let mut whole = google.to_vec();
    whole.push(("secret-clientSecret", "s-4711"));
    let saved = submit(&ann, &page, &path, &whole).await;
    assert!(saved.text.contains("The account was saved"), "{}", saved.text);
    let unknown = submit(&ann, &page, &path, &[("action", "set"), ("provider", "clippy")]).await;
    assert_eq!(unknown.status, 404);
    // What is free to ask of few vendors is not offered for the others.
    bench.account("perplexity", [].into(), "pplx-1").await;
    let page = ann.open(&path).await;
    assert_eq!(page.text.matches("value=\"test\"").count(), 1, "{}", page.text);
}

async fn a_late_form_is_kept_until_the_sign_in_but_for_its_secret(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Admin).await;
    let path = address(&bench, "/settings/providers");
    let page = ann.open(&format!("{path}?provider=openai")).await;
    bench.clock.advance(15 * 60_000);
    let fields = [
        ("action", "set"),
        ("provider", "openai"),
        ("seen", ""),
        ("set-model", "\"oak\""),
        ("secret", "sk-4711"),
    ];
    let late = submit(&ann, &page, &path, &fields).await;
    assert_eq!(late.status, 403, "{}", late.text);
    assert!(late.text.contains("Confirm that it is you") && late.text.contains("has to be typed again"));
    assert!(!late.text.contains("4711"), "{}", late.text);
    assert!(late.text.contains("&#34;oak&#34;"));
    assert_eq!(accounts(&bench).await, json!([]));
    // In another tab.
    ann.sign_in("ann@example.com", PASSWORD).await;
    let typed = [
        ("csrf", late.field("csrf")),
        ("once", late.field("once")),
        ("action", "set".to_owned()),
        ("provider", "openai".to_owned()),
        ("seen", String::new()),
        ("set-model", "oak".to_owned()),
        ("secret", "sk-4712".to_owned()),
    ];
    let typed: Vec<(&str, &str)> = typed
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let mut done = ann.send(&path, &typed).await;
    if done.status == 403 {
        assert!(!done.text.contains("4712"), "{}", done.text);
        done = submit(&ann, &done, &path, &typed[2..]).await;
    }
    assert!(done.text.contains("The account was saved"), "{}", done.text);
    assert_eq!(accounts(&bench).await[0]["settings"]["model"], "oak");
}

async fn budgets_and_quotas_are_set_by_a_person(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let ann = signed_in(&bench, "ann@example.com", Role::Owner).await;
    let path = address(&bench, "/settings/providers");
    for (action, of, most) in [
        ("budget", "all", "2"),
        ("budget", "openai", "20.50"),
        ("quota", "posts_generated", "30"),
    ] {
        let page = ann.open(&path).await;
        let form = [("action", action), ("of", of), ("most", most)];
        let saved = submit(&ann, &page, &path, &form).await;
        assert!(saved.text.contains("Saved."), "{}", saved.text);
    }
    let usage = bench.get("P/usage").await.json();
    assert_eq!(usage["today"]["budgetMicrosUsd"], json!(2_000_000));
    assert_eq!(usage["spend"][0]["budgetMicrosUsd"], json!(20_500_000));
    let limit = usage["quotas"]
        .as_array()
        .unwrap()
        .iter()
        .find(|quota| quota["metric"] == "posts_generated");
    assert_eq!(limit.unwrap()["limit"], json!(30));
    let page = ann.open(&path).await;
    for (action, of, most) in [
        ("budget", "all", "1,50"),
        ("budget", "clippy", "1"),
        ("quota", "audits", "1"),
        ("quota", "posts_generated", "-1"),
        ("quota", "posts_generated", "few"),
        ("quota", "", "1"),
    ] {
        let form = [("action", action), ("of", of), ("most", most)];
        let refused = submit(&ann, &page, &path, &form).await;
        assert_eq!(refused.status, 422, "{action} {of} {most}: {}", refused.text);
        assert!(refused.text.contains(&format!("value=\"{most}\"")), "{most}");
    }
    let form = [("action", "budget"), ("of", "all"), ("most", "")];
    submit(&ann, &page, &path, &form).await;
    let usage = bench.get("P/usage").await.json();
    assert!(usage["today"]["budgetMicrosUsd"].is_null());
    let log = bench.get("P/activity").await.json();
    assert_eq!(
        (
            &log["data"][0]["action"],
            &log["data"][1]["action"],
            &log["data"][2]["subject"]
        ),
        (&json!("budgets.set"), &json!("quotas.set"), &json!("openai"))
    );
}
