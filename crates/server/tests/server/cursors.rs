//! Lists: walked by cursors that only their own list accepts.

use serde_json::json;

use crate::harness::{Bench, settings};

on_both!(a_list_is_walked_to_its_end,);

async fn fill(bench: &Bench, count: usize) {
    for n in 0..count {
        let body = json!({ "keyword": format!("desk {n}"), "searchVolume": n % 3, "intent": "commercial" });
        assert_eq!(bench.post("P/keywords", body).await.status, 201);
    }
}

async fn a_list_is_walked_to_its_end(database: &str) {
    let bench = Bench::on(database, &["public_url=https://search.example"]).await;
    fill(&bench, 7).await;
    for (query, limits) in [
        ("", [1, 2, 3, 7, 100]),
        ("&sort=searchVolume&intent=commercial&q=desk", [1, 2, 3, 6, 8]),
    ] {
        for limit in limits {
            let (mut texts, mut pages) = (Vec::new(), 0);
            let mut path = format!("P/keywords?limit={limit}{query}");
            loop {
                let page = bench.get(&path).await;
                let list = page.json();
                let data = list["data"].as_array().unwrap();
                assert!(data.len() <= limit);
                texts.extend(data.iter().map(|k| k["keyword"].as_str().unwrap().to_owned()));
                pages += 1;
                let Some(cursor) = list["nextCursor"].as_str() else {
                    assert_eq!(page.header("link"), None);
                    break;
                };
                assert!(cursor.len() <= 512);
                let link = page.header("link").unwrap();
                let target = link
                    .strip_prefix('<')
                    .unwrap()
                    .strip_suffix(">; rel=\"next\"")
                    .unwrap();
                let (root, rest) = target.split_once("/keywords?").unwrap();
                assert_eq!(
                    root,
                    format!("https://search.example/v1/projects/{}", bench.project)
                );
                assert_eq!(
                    rest,
                    format!("limit={limit}{query}&cursor={cursor}"),
                    "the link keeps what was asked"
                );
                path = format!("P/keywords?{rest}");
            }
            assert_eq!(pages, 7_usize.div_ceil(limit).max(1), "no empty page at the end");
            let mut sorted = texts.clone();
            sorted.sort();
            sorted.dedup();
            assert_eq!((texts.len(), sorted.len()), (7, 7));
            if query.is_empty() {
                assert_eq!(texts[0], "desk 6", "newest first");
            } else {
                let volumes: Vec<usize> = texts
                    .iter()
                    .map(|t| t[5..].parse::<usize>().unwrap() % 3)
                    .collect();
                assert!(volumes.is_sorted_by(|a, b| a >= b), "{volumes:?}");
            }
        }
    }
    assert_eq!(
        bench.get("P/keywords").await.json()["data"]
            .as_array()
            .unwrap()
            .len(),
        7,
        "25 unless told otherwise"
    );
}

#[tokio::test]
async fn only_its_own_list_takes_a_cursor() {
    let bench = Bench::start().await;
    let (foreign, foreign_key) = bench.neighbour().await;
    fill(&bench, 3).await;
    let first = bench.get("P/keywords?limit=1&q=desk").await.json();
    let cursor = first["nextCursor"].as_str().unwrap();
    let kept = bench
        .get(&format!("P/keywords?limit=2&q=desk&cursor={cursor}"))
        .await;
    assert_eq!(
        kept.json()["data"].as_array().unwrap().len(),
        2,
        "the size of a page may change on the way"
    );
    for path in [
        format!("P/keywords?cursor={cursor}"),
        format!("P/keywords?q=chair&cursor={cursor}"),
        format!("P/keywords?q=desk&sort=created&cursor={cursor}"),
        format!("P/keywords?q=desk&sort=searchVolume&cursor={cursor}"),
        format!("P/keywords?q=desk&status=approved&cursor={cursor}"),
        format!("P/audits?cursor={cursor}"),
        format!("P/jobs?cursor={cursor}"),
        format!("P/issues?cursor={cursor}"),
        format!("P/pages?q=desk&cursor={cursor}"),
        format!("/projects?cursor={cursor}"),
        "P/keywords?q=desk&cursor=".to_owned(),
        "P/keywords?q=desk&cursor=AAAA".to_owned(),
        "P/keywords?q=desk&cursor=%20".to_owned(),
        format!("P/keywords?q=desk&cursor={cursor}="),
        format!("P/keywords?q=desk&cursor={cursor}A"),
        format!("P/keywords?q=desk&cursor={}", &cursor[1..]),
        format!("P/keywords?q=desk&cursor={}", cursor.to_uppercase()),
    ] {
        let problem = bench.get(&path).await.refuses(400, "invalid_cursor");
        assert!(problem["hint"].is_string());
    }
    for at in 0..cursor.len() {
        let mut tampered = cursor.to_owned().into_bytes();
        tampered[at] = if tampered[at] == b'x' { b'y' } else { b'x' };
        let tampered = String::from_utf8(tampered).unwrap();
        let answer = bench.get(&format!("P/keywords?q=desk&cursor={tampered}")).await;
        answer.refuses(400, "invalid_cursor");
    }
    let elsewhere = bench
        .call(
            "GET",
            &format!("/projects/{foreign}/keywords?q=desk&cursor={cursor}"),
        )
        .key(&foreign_key)
        .send()
        .await;
    elsewhere.refuses(400, "invalid_cursor");
}

#[tokio::test]
async fn a_cursor_outlives_the_process() {
    let bench = Bench::start().await;
    fill(&bench, 3).await;
    let cursor = bench.get("P/keywords?limit=1").await.json()["nextCursor"]
        .as_str()
        .unwrap()
        .to_owned();
    let (folder, key, project, clock) = (
        bench.folder.clone(),
        bench.key.clone(),
        bench.project,
        bench.clock.clone(),
    );
    bench.server.stop().await;
    let again = Bench::open(folder.clone(), settings(&folder, "", &[]), clock).await;
    let rest = again
        .call("GET", &format!("/projects/{project}/keywords?cursor={cursor}"))
        .key(&key)
        .send()
        .await
        .json();
    assert_eq!(
        (rest["data"].as_array().unwrap().len(), &rest["nextCursor"]),
        (2, &json!(null))
    );
}
