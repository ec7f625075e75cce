//! Keywords that one page can answer share a cluster, also those that a file brought.

use serde_json::{Value, json};

use crate::{harness::Bench, post_generation::until_ended};

on_both!(
    what_a_file_brings_is_clustered,
    one_clustering_of_a_language_waits,
);

async fn import(bench: &Bench, rows: &str) {
    let file = format!("Keyword,Intent,Volume,Keyword Difficulty,CPC (USD)\n{rows}");
    let taken = bench.post("P/keywords/import", json!({ "file": file })).await;
    assert_eq!(taken.status, 200, "{taken:?}");
    let jobs = bench.get("P/jobs").await.json();
    assert_eq!(jobs["data"][0]["type"], "cluster_keywords", "{jobs:#}");
    let job = until_ended(bench, jobs["data"][0]["id"].as_str().unwrap()).await;
    assert_eq!(job["status"], "succeeded", "{job:#}");
}

async fn what_a_file_brings_is_clustered(database: &str) {
    let bench = Bench::on(database, &["worker.jobs=1"]).await;
    let alike = "best standing desk,Commercial,900,20,1\nbest standing desks,Commercial,2400,20,1\n";
    import(&bench, &format!("{alike}monitor arm,Commercial,10,20,1\n")).await;
    let keyword = async |text: &str| -> Value {
        let all = bench.get("P/keywords").await.json();
        let mut all = all["data"].as_array().unwrap().iter();
        all.find(|k| k["keyword"] == text).unwrap().clone()
    };
    let (one, head, alone) = (
        keyword("best standing desk").await,
        keyword("best standing desks").await,
        keyword("monitor arm").await,
    );
    let cluster = one["clusterId"].as_str().unwrap();
    assert_eq!(
        (&head["clusterId"], &head["isClusterHead"]),
        (&json!(cluster), &json!(true))
    );
    assert_eq!(
        (&one["isClusterHead"], &one["version"]),
        (&json!(false), &json!(2))
    );
    assert_eq!(
        (&alone["clusterId"], &alone["version"]),
        (&Value::Null, &json!(1))
    );
    let of_cluster = bench.get(&format!("P/keywords?clusterId={cluster}")).await.json();
    assert_eq!(of_cluster["data"].as_array().unwrap().len(), 2);

    import(&bench, "standing desk best,Commercial,50,20,1\n").await;
    assert_eq!(keyword("standing desk best").await["clusterId"], cluster);
    assert_eq!(
        keyword("best standing desk").await["version"],
        2,
        "what stays is not written"
    );
}

async fn one_clustering_of_a_language_waits(database: &str) {
    let bench = Bench::on(database, &[]).await;
    for (language, n) in [("en", 1), ("en", 2), ("de", 3)] {
        let file = format!("Keyword,Volume,Keyword Difficulty\nkeyword {n},10,5\n");
        let taken = bench
            .post("P/keywords/import", json!({ "file": file, "language": language }))
            .await;
        assert_eq!(taken.status, 200, "{taken:?}");
    }
    let jobs = bench.get("P/jobs").await.json();
    let types: Vec<&Value> = jobs["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| &job["type"])
        .collect();
    assert_eq!(types, ["cluster_keywords"; 2], "{jobs:#}");
}
