//! Providers whose own page sends people back without a code: a token that only a script can read, and an installed app.

use std::collections::BTreeMap;

use axum::{extract::Request, routing::post};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::StatusCode;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{harness::Bench, publishing::working};

on_both!(
    a_person_comes_back_from_contentful_with_a_token_that_a_script_sends,
    a_person_comes_back_from_wix_with_an_installation,
);

const FORM: &str = "application/x-www-form-urlencoded";

/// A server with an application of this provider, whose interface is `router`.
async fn with_app(database: &str, provider: &str, router: axum::Router) -> (Bench, String) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    let bench = working(database, &format!("\"publish={address}\"")).await;
    let engine = &bench.server.app.engine;
    let secret = || "canary-secret".to_owned();
    let wrong = BTreeMap::from([("tokenUrl".to_owned(), format!("http://{address}/token"))]);
    let refused = engine.set_oauth_app(provider, "app".to_owned(), wrong, secret());
    assert!(refused.await.is_err(), "no code is exchanged");
    let settings = BTreeMap::from([("apiUrl".to_owned(), format!("http://{address}"))]);
    engine
        .set_oauth_app(provider, "app".to_owned(), settings, secret())
        .await
        .unwrap();
    (bench, format!("http://{address}"))
}

/// The provider's page that a new link leads to.
async fn sent_to(bench: &Bench, provider: &str) -> (url::Url, BTreeMap<String, String>) {
    let path = format!("P/integrations/{provider}/connect-url");
    let made = bench.post(&path, json!({})).await.json();
    assert_eq!(made["kind"], "provider", "{made}");
    let url = url::Url::parse(made["url"].as_str().unwrap()).unwrap();
    let query = url.query_pairs().into_owned().collect();
    (url, query)
}

async fn listed(bench: &Bench, provider: &str) -> Value {
    let all = bench.get("P/integrations").await.json();
    assert!(!all.to_string().contains("canary"), "{all}");
    let found = all["data"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["provider"] == provider);
    found.unwrap().clone()
}

async fn answered(request: reqwest::RequestBuilder) -> (u16, String) {
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    let html = answer.text().await.unwrap();
    assert!(!html.contains("canary"), "{html}");
    (status, html)
}

async fn a_person_comes_back_from_contentful_with_a_token_that_a_script_sends(database: &str) {
    let router = axum::Router::new().fallback(async |request: Request| {
        let known = request.headers()["authorization"] == "Bearer canary-token";
        let status = if known {
            StatusCode::OK
        } else {
            StatusCode::UNAUTHORIZED
        };
        let space = json!({ "sys": { "id": "s1" }, "name": "Fern" });
        (
            status,
            json!({ "items": [space], "message": "canary-wrong is no token" }).to_string(),
        )
    });
    let (bench, _) = with_app(database, "contentful", router).await;
    let (url, query) = sent_to(&bench, "contentful").await;
    assert_eq!(
        (url.host_str(), url.path()),
        (Some("be.contentful.com"), "/oauth/authorize")
    );
    assert_eq!(
        (
            query["response_type"].as_str(),
            query["scope"].as_str(),
            query["client_id"].as_str()
        ),
        ("token", "content_management_manage", "app")
    );
    let (callback, state) = (&query["redirect_uri"], query["state"].as_str());

    // No server sees what stands behind the #. The one script is allowed by its digest, and nothing else is.
    let answer = bench.http.get(callback).send().await.unwrap();
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    let (policy, cache) = (header("content-security-policy"), header("cache-control"));
    assert_eq!(
        (header("referrer-policy").as_str(), cache.as_str()),
        ("same-origin", "no-store")
    );
    let html = answer.text().await.unwrap();
    let script = html
        .split("<script>")
        .nth(1)
        .unwrap()
        .split("</script>")
        .next()
        .unwrap();
    let digest = STANDARD.encode(Sha256::digest(script));
    assert!(
        policy.ends_with(&format!("; script-src 'sha256-{digest}'")),
        "{policy}"
    );
    assert!(
        policy.starts_with("default-src 'none';") && policy.contains("form-action 'self'"),
        "{policy}"
    );
    assert!(
        html.contains("<noscript>") && html.matches("<script").count() == 1,
        "{html}"
    );

    let send = |fields: &[(&str, &str)], headers: &[(&str, &str)]| {
        let body: String = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        let mut request = bench.http.post(callback).header("content-type", FORM).body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        answered(request)
    };
    let good = [("access_token", "canary-token"), ("error", ""), ("state", state)];
    // A page of somebody else, who would have it connect their own space.
    let own = &bench.server.app.settings.public_url;
    for headers in [
        &[("origin", "https://evil.example")][..],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site"), ("origin", own)],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "none")],
    ] {
        let (status, html) = send(&good, headers).await;
        assert!(
            status == 403 && html.contains("not sent by a page of this server"),
            "{status} {html}"
        );
    }
    for state in ["", "other", "canary-token"] {
        assert_eq!(
            send(&[("access_token", "canary-token"), ("state", state)], &[])
                .await
                .0,
            404
        );
    }
    assert_eq!(send(&[("access_token", "canary-token")], &[]).await.0, 404);
    let (status, html) = send(
        &[("access_token", ""), ("error", "access_denied"), ("state", state)],
        &[],
    )
    .await;
    assert!(
        status == 200
            && html.contains("Contentful refused access (access_denied).")
            && html.contains("management token"),
        "{status} {html}"
    );
    let (status, html) = send(&[("error", "<b>"), ("state", state)], &[]).await;
    assert!(
        status == 200 && html.contains("refused access.") && !html.contains("&#60;b"),
        "{status} {html}"
    );
    let (status, html) = send(&[("access_token", ""), ("state", state)], &[]).await;
    assert!(status == 422 && html.contains("is needed"), "{status} {html}");
    let (status, html) = send(&[("access_token", "canary-wrong"), ("state", state)], &[]).await;
    assert!(
        status == 502 && html.contains("no longer accepts the credentials"),
        "{status} {html}"
    );
    // In an address a token is none: it would stand in what servers and proxies write down.
    let asked = bench
        .http
        .get(format!("{callback}?access_token=canary-token&state={state}"));
    let (status, html) = answered(asked).await;
    assert!(
        status == 502 && html.contains("it sent nobody back with a token"),
        "{status} {html}"
    );
    assert_eq!(
        listed(&bench, "contentful").await["status"],
        "pending_authorization"
    );
    // A link of another provider.
    let files = bench
        .post("P/integrations/files/connect-url", json!({}))
        .await
        .json();
    let other = files["url"]
        .as_str()
        .unwrap()
        .rsplit('/')
        .next()
        .unwrap()
        .to_owned();
    let (status, html) = send(&[("access_token", "canary-token"), ("state", &other)], &[]).await;
    assert!(
        status == 409 && html.contains("no application is registered"),
        "{status} {html}"
    );

    let (status, html) = send(&good, &[("sec-fetch-site", "same-origin"), ("origin", own)]).await;
    assert!(
        status == 200 && html.contains("Searchwright can publish to Contentful as Fern"),
        "{status} {html}"
    );
    assert_eq!(send(&good, &[]).await.0, 404);
    assert_eq!(listed(&bench, "contentful").await["status"], "needs_mapping");
    // An hour later.
    let (_, query) = sent_to(&bench, "contentful").await;
    bench.clock.advance(3_600_001);
    assert_eq!(
        send(
            &[("access_token", "canary-token"), ("state", &query["state"])],
            &[]
        )
        .await
        .0,
        404
    );
}

/// Signs the data of an installation as Wix does.
fn signed(data: &Value, secret: &str) -> String {
    let data = URL_SAFE_NO_PAD.encode(data.to_string());
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(data.as_bytes());
    format!("{}.{data}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}

async fn a_person_comes_back_from_wix_with_an_installation(database: &str) {
    let router = axum::Router::new()
        .route(
            "/oauth2/token",
            post(async |body: String| {
                let body: Value = serde_json::from_str(&body).unwrap();
                let good = body["grant_type"] == "client_credentials"
                    && body["client_id"] == "app"
                    && body["client_secret"] == "canary-secret"
                    && body["instance_id"] == "i-1";
                let status = if good {
                    StatusCode::OK
                } else {
                    StatusCode::BAD_REQUEST
                };
                (
                    status,
                    json!({ "access_token": "canary-token", "message": format!("{} is wrong", body["client_secret"]) })
                        .to_string(),
                )
            }),
        )
        .fallback(async |request: Request| {
            let headers = request.headers();
            let known = headers["authorization"] == "canary-token" && !headers.contains_key("wix-site-id");
            let status = if known {
                StatusCode::OK
            } else {
                StatusCode::UNAUTHORIZED
            };
            (
                status,
                json!({ "draftPosts": [{ "id": "p1", "memberId": "m-1" }] }).to_string(),
            )
        });
    let (bench, api) = with_app(database, "wix", router).await;
    let (url, query) = sent_to(&bench, "wix").await;
    assert_eq!(
        (url.host_str(), url.path()),
        (Some("www.wix.com"), "/app-installer")
    );
    assert_eq!((query.len(), query["appId"].as_str()), (2, "app"));
    let back = &query["postInstallationUrl"];
    assert!(back.contains("/connect/callback?state="), "{back}");

    let come = async |back: &str, signed: &str| {
        let url = format!("{back}&appId=app&tenantId=site-1&instanceId=i-1&signedInstance={signed}");
        answered(bench.http.get(url)).await
    };
    let good = signed(&json!({ "instanceId": "i-1", "uid": "u" }), "canary-secret");
    assert_eq!(come(&back.replace("state=", "state=0"), &good).await.0, 404);
    // It was not installed, or whoever says so is not Wix.
    let (status, html) = answered(bench.http.get(back)).await;
    assert!(
        status == 502 && html.contains("nobody back with an installation"),
        "{status} {html}"
    );
    for bad in [
        "",
        "canary.canary",
        &signed(&json!({ "instanceId": "i-1" }), "guessed"),
        &signed(&json!({ "instanceId": "i-2" }), "canary-secret"),
        &signed(&json!({ "instanceId": "i-1", "aid": "visitor" }), "canary-secret"),
    ] {
        let (status, html) = come(back, bad).await;
        assert!(
            status == 502 && html.contains("does not carry its signature"),
            "{status} {html}"
        );
    }
    // Who wants to do without Wix needs the app's secret.
    let page = back.replace("callback?state=", "");
    let entered = format!("siteId=site-1&key=guessed&memberId=m-1&clientId=app&instanceId=i-1&apiUrl={api}");
    let posted = bench.http.post(&page).header("content-type", FORM).body(entered);
    let (status, html) = answered(posted).await;
    assert!(
        status == 502 && html.contains("no longer accepts the credentials") && !html.contains("guessed"),
        "{status} {html}"
    );
    let (_, html) = answered(bench.http.get(&page)).await;
    assert!(html.contains("API key") && !html.contains("instanceId"), "{html}");
    assert_eq!(listed(&bench, "wix").await["status"], "pending_authorization");

    let (status, html) = come(back, &good).await;
    assert!(
        status == 200 && html.contains("Searchwright can publish to Wix"),
        "{status} {html}"
    );
    assert_eq!(come(back, &good).await.0, 404);
    let connected = listed(&bench, "wix").await;
    assert_eq!(connected["status"], "needs_mapping", "{connected}");
    // Each opening gets a token of its own.
    let fields = bench.get("P/integrations/wix/fields").await;
    assert_eq!(
        (fields.status, &fields.json()["siteId"]),
        (200, &json!("site-1")),
        "{fields:?}"
    );
}
