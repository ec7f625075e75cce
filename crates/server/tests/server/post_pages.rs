//! Pages that posts were published as: two for one keyword compete.

use searchwright_store::sql;
use serde_json::json;
use uuid::Uuid;

use crate::{
    audited::{audit, bench, occurrence, pair, recheck, say},
    harness::Bench,
};

on_both!(two_pages_for_one_keyword_compete,);

/// Writes to the database what publishing a post writes.
async fn publish(bench: &Bench, post: &str, url: &str) {
    let (project, post, url) = (bench.project, Uuid::try_parse(post).unwrap(), url.to_owned());
    let written = bench.server.app.engine.db.write(move |tx| {
        Box::pin(async move {
            sql("UPDATE posts SET published_url = $3 WHERE project_id = $1 AND id = $2")
                .bind(project)
                .bind(post)
                .bind(url)
                .execute(tx)
                .await
        })
    });
    assert_eq!(written.await.unwrap(), 1);
}

async fn two_pages_for_one_keyword_compete(database: &str) {
    let (bench, _) = bench(database).await;
    let home = bench.get("P/audits/current").await.json()["startUrl"]
        .as_str()
        .unwrap()
        .to_owned();
    let keyword = bench.keyword("oak desk").await;
    let mut posts = Vec::new();
    for path in ["a", "b?utm_source=feed"] {
        let post = bench
            .post("P/posts", json!({ "title": path, "keywordId": keyword }))
            .await
            .json();
        let id = post["id"].as_str().unwrap().to_owned();
        publish(&bench, &id, &format!("{home}{path}")).await;
        posts.push(id);
    }
    audit(&bench).await;
    for (on, with) in [("/a", "b"), ("/b", "a")] {
        let found = occurrence(&bench, "cannibalisation", on).await;
        assert_eq!(
            found["evidence"],
            json!({ "urls": [format!("{home}{with}")], "total": 1, "keyword": "oak desk" })
        );
    }
    let claim = pair(&occurrence(&bench, "cannibalisation", "/a").await);
    say(&bench, "done", std::slice::from_ref(&claim)).await;
    assert_eq!(recheck(&bench).await["counts"]["stillPresent"], 1);
    publish(&bench, &posts[1], &format!("{home}elsewhere")).await;
    say(&bench, "done", &[claim]).await;
    assert_eq!(recheck(&bench).await["counts"]["resolved"], 1);
}
