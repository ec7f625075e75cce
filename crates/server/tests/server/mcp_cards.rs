//! Cards: what waits for a person is shown by clients that show documents, and decided on the dashboard alone.

use searchwright_contract::people::Role;
use serde_json::{Value, json};

use crate::{
    harness::Bench,
    mcp_tasks::ExtendedClient,
    mcp_toolsets::{problem, token, tokens},
    oauth::Agent,
    publishing::{read, write},
};

on_both!(the_card_of_a_refusal_shows_what_would_be_done,);

const CARD: &str = "ui://searchwright/approval";
const KIND: &str = "text/html;profile=mcp-app";

fn client<'a>(bench: &'a Bench, credential: &'a str, shows: bool) -> ExtendedClient<'a> {
    let extensions = if shows {
        json!({ "io.modelcontextprotocol/ui": { "mimeTypes": [KIND] } })
    } else {
        json!({})
    };
    ExtendedClient {
        bench,
        credential,
        extensions,
    }
}

#[tokio::test]
async fn a_card_is_named_to_clients_that_show_it() {
    let bench = Bench::start().await;
    let token = token(&bench, &[]).await;
    for credential in [&bench.key, &token] {
        let shown = client(&bench, credential, true);
        let plain = client(&bench, credential, false);
        for (query, most) in [("", 3_000), ("?toolsets=all", 12_200)] {
            let listed = async |client: &ExtendedClient<'_>| {
                let answer = client.send_at(query, "tools/list", "", json!({})).await.json();
                answer["result"]["tools"].as_array().unwrap().clone()
            };
            // the one list is not given to who asked for the other
            let (with, without) = (listed(&shown).await, listed(&plain).await);
            assert!(tokens(&with) <= most, "{} tokens", tokens(&with));
            assert!(without.iter().all(|tool| tool.get("_meta").is_none()));
            let carded: Vec<&str> = with
                .iter()
                .filter(|tool| tool["_meta"]["ui"]["resourceUri"] == CARD)
                .map(|tool| tool["name"].as_str().unwrap())
                .collect();
            let expected = ["posts_publish", "posts_unpublish", "prompts_track"];
            let expected = expected
                .into_iter()
                .filter(|name| with.iter().any(|tool| tool["name"] == *name));
            assert_eq!(carded, expected.collect::<Vec<_>>());
            assert!(carded.contains(&"posts_publish"));
        }
        let resources = shown.send("resources/list", "", json!({})).await.json();
        let card = &resources["result"]["resources"][0];
        assert_eq!((&card["uri"], &card["mimeType"]), (&json!(CARD), &json!(KIND)));
        let resources = plain.send("resources/list", "", json!({})).await.json();
        assert_eq!(resources["result"]["resources"], json!([]));

        let read = shown
            .send("resources/read", CARD, json!({ "uri": CARD }))
            .await
            .json();
        let document = &read["result"]["contents"][0];
        assert_eq!(
            (&document["uri"], &document["mimeType"]),
            (&json!(CARD), &json!(KIND))
        );
        let text = document["text"].as_str().unwrap();
        assert!(
            text.starts_with("<!doctype html>") && !text.contains("://"),
            "it loads nothing"
        );
        for (_, domains) in document["_meta"]["ui"]["csp"].as_object().unwrap() {
            assert_eq!(domains, &json!([]));
        }
    }
}

async fn the_card_of_a_refusal_shows_what_would_be_done(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Owner).await;
    let mcp = bench.server.app.settings.mcp_url.clone();
    let scope = "projects:read posts:write content:publish";
    let tokens = agent.tokens(&[("scope", scope), ("resource", &mcp)]).await;
    let token = tokens["access_token"].as_str().unwrap();
    let id = write(&bench, "<b>Oak</b> desks").await;
    let publish = json!({ "projectId": bench.project, "postId": id, "mode": "draft" });

    let refused = client(&bench, token, true)
        .call("posts_publish", publish.clone())
        .await;
    let told = problem(&refused);
    let address = format!(
        "{}/projects/{}/posts/{id}",
        bench.server.app.settings.public_url, bench.project
    );
    assert_eq!(
        (&told["code"], &told["url"]),
        (&json!("confirmation_required"), &json!(address))
    );
    // text of others is no part of what the model reads
    assert!(!told.to_string().contains("Oak"), "{told:#}");
    let card = &refused["_meta"]["searchwright/approval"];
    assert_eq!(card["title"], "Publish a post", "{refused:#}");
    let fact = |name: &str| {
        let facts = card["facts"].as_array().unwrap();
        let found = facts.iter().find(|fact| fact["name"] == name);
        found.map_or(Value::Null, |fact| fact["value"].clone())
    };
    assert_eq!(
        ["Project", "Post", "Version", "Place", "Readers", "Cost"].map(fact),
        [
            json!("Fern & Fir"),
            json!("<b>Oak</b> desks"),
            json!("1"),
            json!("the connected place"),
            json!("nobody yet: a draft"),
            json!("none")
        ]
    );
    let refused = client(&bench, token, false).call("posts_publish", publish).await;
    assert_eq!(problem(&refused)["url"], told["url"]);
    assert_eq!(refused.get("_meta"), None);
    // and there is nothing that the card could answer with
    assert_eq!(read(&bench, &id).await["status"], "draft");
}
