//! Connecting providers, and mappings: by a person on a page, and what becomes of them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    blog::{Blog, PASSWORD, USER},
    publishing::{publish, settled, start, working, write},
};

on_both!(
    a_person_connects_on_a_page_that_works_once,
    a_person_comes_back_from_a_provider_with_a_code,
    a_mapping_whose_fields_are_gone_says_so,
    a_mapping_that_changes_is_no_change_by_others,
);

async fn a_person_connects_on_a_page_that_works_once(database: &str) {
    let (blog, address) = Blog::start().await;
    let bench = working(database, &format!("\"publish={address}\"")).await;
    let body = json!({ "siteUrl": format!("http://{address}") });
    let made = bench
        .post("P/integrations/wordpress/connect-url", body.clone())
        .await;
    assert_eq!(
        (made.status, &made.json()["kind"]),
        (201, &json!("provider")),
        "{made:?}"
    );
    let url = url::Url::parse(made.json()["url"].as_str().unwrap()).unwrap();
    assert_eq!(url.path(), "/wp-admin/authorize-application.php");
    let query: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
    let page = query["success_url"].clone();
    assert!(page.starts_with(&bench.server.app.settings.public_url), "{page}");
    let listed = bench.get("P/integrations").await.json();
    assert_eq!(listed["data"][0]["status"], "pending_authorization");

    // The page itself, for those whom the provider's page does not serve.
    let get = async |url: &str| {
        let answer = bench.http.get(url).send().await.unwrap();
        let policy = answer.headers()["content-security-policy"]
            .to_str()
            .unwrap()
            .to_owned();
        (answer.status().as_u16(), policy, answer.text().await.unwrap())
    };
    let (status, policy, html) = get(&page).await;
    assert!(
        status == 200 && html.contains("Application password") && html.contains(&format!("http://{address}")),
        "{html}"
    );
    assert!(
        policy.starts_with("default-src 'none'") && !html.contains("<script"),
        "{policy}"
    );
    let enter = async |fields: &[(&str, &str)]| bench.enter(&page, fields).await;
    let (status, html) = enter(&[("username", "<b>"), ("password", "canary wrong")]).await;
    assert!(
        status == 502 && html.contains("no longer accepts the credentials"),
        "{status} {html}"
    );
    assert!(
        !html.contains("canary") && !html.contains("<b>") && html.contains("&#60;b&#62;"),
        "{html}"
    );
    let (status, html) = enter(&[("username", USER)]).await;
    assert!(status == 422 && html.contains("aria-invalid"), "{status} {html}");
    // Back from the provider.
    let back = format!(
        "{page}?site_url=http%3A%2F%2F{address}&user_login={USER}&password={}",
        PASSWORD.replace(' ', "+")
    );
    let (status, _, html) = get(&back).await;
    assert!(
        status == 200 && html.contains("Searchwright can publish to WordPress as Ada"),
        "{status} {html}"
    );
    assert_eq!(get(&page).await.0, 404);
    assert_eq!(enter(&[("username", USER), ("password", PASSWORD)]).await.0, 404);
    let listed = bench.get("P/integrations").await.json();
    assert_eq!(listed["data"][0]["status"], "needs_mapping");
    assert_eq!(
        listed["data"][0]["missing"],
        json!(["fieldMap.title", "fieldMap.content"])
    );
    let fields = bench.get("P/integrations/wordpress/fields").await.json();
    assert_eq!(fields["data"][0]["suggestedFor"], "title", "{fields:#}");
    for (map, pointer) in [
        (json!({ "title": "title" }), "/fieldMap/content"),
        (
            json!({ "title": "title", "content": "colour" }),
            "/fieldMap/content",
        ),
    ] {
        let refused = bench
            .post("P/integrations/wordpress/mapping", json!({ "fieldMap": map }))
            .await;
        assert_eq!(
            refused.refuses(422, "validation_failed")["errors"][0]["pointer"],
            pointer
        );
    }
    let wrong = json!({ "collectionId": "shoes", "fieldMap": { "title": "title", "content": "content" } });
    let refused = bench.post("P/integrations/wordpress/mapping", wrong).await;
    assert_eq!(
        refused.refuses(422, "validation_failed")["errors"][0]["pointer"],
        "/collectionId"
    );
    // An hour later a page that nobody used is gone.
    let made = bench
        .post("P/integrations/files/connect-url", json!({}))
        .await
        .json();
    assert_eq!(made["kind"], "dashboard");
    bench.clock.advance(3_600_001);
    assert_eq!(get(made["url"].as_str().unwrap()).await.0, 404);
    bench
        .post("P/integrations/framer/connect-url", json!({}))
        .await
        .refuses(422, "connect_not_supported");
    bench
        .post("P/integrations/paper/connect-url", json!({}))
        .await
        .refuses(404, "not_found");
    assert_eq!(blog.writes(), 0);
}

async fn a_person_comes_back_from_a_provider_with_a_code(database: &str) {
    // Webflow as far as connecting goes.
    let router = axum::Router::new()
        .route(
            "/token",
            axum::routing::post(async |body: String| {
                let body: Value = serde_json::from_str(&body).unwrap();
                let good = body["code"] == "good" && body["client_secret"] == "canary-secret" && body["client_id"] == "app";
                let status = if good { http::StatusCode::OK } else { http::StatusCode::BAD_REQUEST };
                (status, json!({ "access_token": "canary-token" }).to_string())
            }),
        )
        .fallback(async |request: axum::extract::Request| {
            let known = request.headers()["authorization"] == "Bearer canary-token";
            let site = json!({ "id": "s1", "displayName": "Fern", "shortName": "fern", "lastPublished": null, "customDomains": [] });
            let status = if known { http::StatusCode::OK } else { http::StatusCode::UNAUTHORIZED };
            (status, json!({ "sites": [site], "id": "u1", "email": "ada@example.com", "authorization": { "scopes": [] } }).to_string())
        });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    let bench = working(database, &format!("\"publish={address}\"")).await;
    let engine = &bench.server.app.engine;
    let settings = BTreeMap::from([
        ("tokenUrl".to_owned(), format!("http://{address}/token")),
        ("apiUrl".to_owned(), format!("http://{address}")),
    ]);
    engine
        .set_oauth_app("webflow", "app".to_owned(), settings, "canary-secret".to_owned())
        .await
        .unwrap();
    let made = bench
        .post("P/integrations/webflow/connect-url", json!({}))
        .await
        .json();
    assert_eq!(made["kind"], "provider");
    let url = url::Url::parse(made["url"].as_str().unwrap()).unwrap();
    assert_eq!(
        (url.host_str(), url.path()),
        (Some("webflow.com"), "/oauth/authorize")
    );
    let query: BTreeMap<String, String> = url.query_pairs().into_owned().collect();
    assert_eq!(
        (query["client_id"].as_str(), query["response_type"].as_str()),
        ("app", "code")
    );
    let back = async |pairs: &str| {
        let url = format!("{}?{pairs}", query["redirect_uri"]);
        let answer = bench.http.get(url).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let state = &query["state"];
    assert_eq!(back("code=good&state=other").await.0, 404);
    let (status, html) = back(&format!("error=access_denied&state={state}")).await;
    assert!(
        status == 200
            && html.contains("Webflow refused access (access_denied)")
            && html.contains(&format!("action=\"/connect/{state}\"")),
        "{status} {html}"
    );
    let (status, html) = back(&format!("code=bad&state={state}")).await;
    assert!(status == 502 && !html.contains("canary"), "{status} {html}");
    // It hands no token over in an address, so one that is sent is not its.
    let token = [("access_token", "canary-token"), ("state", state.as_str())];
    let (status, html) = bench.enter(&query["redirect_uri"], &token).await;
    assert!(
        status == 502 && html.contains("cannot do this"),
        "{status} {html}"
    );
    let (status, html) = back(&format!("code=good&state={state}")).await;
    assert!(
        status == 200 && html.contains("Webflow is connected"),
        "{status} {html}"
    );
    assert_eq!(back(&format!("code=good&state={state}")).await.0, 404);
    let listed = bench.get("P/integrations").await.json();
    assert_eq!(
        listed["data"][2]["status"], "needs_mapping",
        "{:#}",
        listed["data"][2]
    );
    assert!(!listed.to_string().contains("canary"));
}

async fn a_mapping_whose_fields_are_gone_says_so(database: &str) {
    let (bench, blog) = start(database).await;
    let status = async || {
        let listed = bench.get("P/integrations").await.json();
        (
            listed["data"][0]["status"].clone(),
            listed["data"][0]["missing"].clone(),
        )
    };
    blog.lacks(Some("excerpt"));
    assert_eq!(status().await, (json!("ready"), json!([])), "nobody asked");
    assert_eq!(bench.get("P/integrations/wordpress/fields").await.status, 200);
    assert_eq!(
        status().await,
        (json!("needs_mapping"), json!(["fieldMap.excerpt"]))
    );
    let id = write(&bench, "Oak").await;
    let refused = bench
        .post(
            &format!("P/posts/{id}/publish"),
            json!({ "provider": "wordpress" }),
        )
        .await;
    assert_eq!(
        refused.refuses(409, "provider_not_configured")["missing"],
        json!(["fieldMap.excerpt"])
    );
    // It is back, and so is the mapping.
    blog.lacks(None);
    assert_eq!(bench.get("P/integrations/wordpress/fields").await.status, 200);
    assert_eq!(status().await, (json!("ready"), json!([])));
}

async fn a_mapping_that_changes_is_no_change_by_others(database: &str) {
    let (bench, blog) = start(database).await;
    let id = write(&bench, "Oak").await;
    publish(&bench, &id, json!({})).await;
    settled(&bench, &id).await;
    let map = json!({ "collectionId": "posts", "fieldMap": { "title": "title", "content": "content" } });
    assert_eq!(
        bench.post("P/integrations/wordpress/mapping", map).await.status,
        200
    );
    bench
        .patch(&format!("P/posts/{id}"), json!({ "title": "Elm" }))
        .await;
    publish(&bench, &id, json!({})).await;
    let post = settled(&bench, &id).await;
    assert_eq!(
        (&post["failure"], blog.posts()[0]["title"]["raw"].clone()),
        (&Value::Null, json!("Elm")),
        "{post:#}"
    );
}
