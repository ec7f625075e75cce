//! A project in a file: complete, without secrets, and once in a database.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use searchwright_backups::{TransferError, export, import};
use searchwright_contract::ids::WorkspaceId;
use searchwright_store::{Db, sql, transfer, workspaces};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::{Bench, Kind, OTHER, PROJECT, SECRET, clock, run};

pub async fn exported(db: &Db, project: Uuid) -> String {
    let mut file = Vec::new();
    let done = export(db, project, "0.1.0", clock().now(), &mut file)
        .await
        .unwrap();
    let text = String::from_utf8(file).unwrap();
    let rows: u64 = done.rows.values().sum();
    assert_eq!(text.lines().count() as u64, rows + 2);
    text
}

pub async fn read(db: &Db, file: &str) -> Result<searchwright_backups::ImportOutcome, TransferError> {
    import(db, &clock(), None, &mut file.as_bytes()).await
}

/// Rows of a file by table.
fn rows(file: &str) -> BTreeMap<String, Vec<Value>> {
    let mut rows: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in file.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if let Some(table) = line["table"].as_str() {
            rows.entry(table.to_owned()).or_default().push(line["row"].take());
        }
    }
    rows
}

async fn arrives_whole(bench: &Bench, from: Kind, to: Kind) {
    let (source, target) = (bench.filled(from).await, bench.empty(to).await);
    let file = exported(&source, PROJECT).await;
    let header: Value = serde_json::from_str(file.lines().next().unwrap()).unwrap();
    assert_eq!(header["project"]["id"], json!(PROJECT));
    assert!(!file.contains(&OTHER.to_string()), "of one project alone");
    let outcome = read(&target, &file).await.unwrap();
    assert_eq!((outcome.id, outcome.resumed_after), (PROJECT, 0));

    let again = exported(&target, PROJECT).await;
    let (mut before, mut after) = (rows(&file), rows(&again));
    // what a place of its own changes
    let workspace = transferred_workspace(&target).await;
    assert_ne!(workspace, Uuid::max());
    before.get_mut("projects").unwrap()[0]["workspace_id"] = json!(workspace);
    for table in ["posts", "schedules", "webhooks", "integrations", "jobs"] {
        let (was, is) = (before.remove(table).unwrap(), after.remove(table).unwrap());
        assert_eq!(was.len(), is.len(), "{table}");
        for (was, is) in was.iter().zip(&is) {
            let same = |name: &str| assert_eq!(was[name], is[name], "{table}.{name}");
            match table {
                "posts" => {
                    same("content");
                    same("published_hash");
                    let is_scheduled = was["status"] == "scheduled";
                    let status = if is_scheduled {
                        &json!("draft")
                    } else {
                        &was["status"]
                    };
                    assert_eq!(&is["status"], status);
                    assert_eq!(is["scheduled_at"].is_null(), is_scheduled);
                }
                "schedules" => {
                    same("time");
                    assert_eq!((&is["enabled"], &is["due_at"]), (&json!(false), &json!(null)));
                }
                "webhooks" => {
                    same("target_url");
                    assert_eq!(is["disabled_reason"], "imported");
                }
                "integrations" => {
                    same("site_key");
                    assert_eq!(
                        (&is["status"], &is["secret"]),
                        (&json!("not_connected"), &json!(null))
                    );
                }
                _ => {
                    same("payload");
                    assert_eq!(is["lease_owner"], json!(null));
                }
            }
        }
    }
    assert_eq!(before, after);
    assert!(before.len() > 35, "{}", before.len());

    assert!(matches!(
        read(&target, &file).await,
        Err(TransferError::Taken(PROJECT))
    ));
}

pub async fn transferred_workspace(db: &Db) -> Uuid {
    sql("SELECT workspace_id FROM projects WHERE id = $1")
        .bind(PROJECT)
        .fetch_one(&mut db.read().await.unwrap(), |c| c.take())
        .await
        .unwrap()
}

#[test]
fn project_arrives_whole_on_sqlite() {
    run(&[Kind::Sqlite], async |bench| {
        arrives_whole(bench, Kind::Sqlite, Kind::Sqlite).await
    });
}

#[test]
fn project_arrives_whole_on_postgres() {
    run(&[Kind::Postgres], async |bench| {
        arrives_whole(bench, Kind::Sqlite, Kind::Postgres).await;
        arrives_whole(bench, Kind::Postgres, Kind::Sqlite).await;
    });
}

#[test]
fn file_has_no_secret() {
    run(&[Kind::Sqlite], async |bench| {
        let db = bench.filled(Kind::Sqlite).await;
        let file = exported(&db, PROJECT).await;
        let rows = rows(&file);
        for table in ["integrations", "webhooks"] {
            for row in &rows[table] {
                for (name, value) in row.as_object().unwrap() {
                    let text = value.to_string();
                    assert!(!text.contains(&STANDARD.encode(SECRET)[..20]), "{table}.{name}");
                }
            }
        }
        for table in [
            "api_keys",
            "webhook_secrets",
            "providers",
            "notice_chats",
            "share_links",
            "users",
            "sessions",
        ] {
            assert!(!rows.contains_key(table), "{table}");
        }
        let header: Value = serde_json::from_str(file.lines().next().unwrap()).unwrap();
        assert_eq!(header["leftOut"]["webhook_secrets"], "secrets");
    });
}

#[test]
fn project_comes_into_the_workspace_that_is_named() {
    run(&[Kind::Sqlite], async |bench| {
        let file = exported(&bench.filled(Kind::Sqlite).await, PROJECT).await;
        let db = bench.empty(Kind::Sqlite).await;
        let named = WorkspaceId::from(Uuid::from_u128(99));
        db.write(move |tx| {
            Box::pin(async move { workspaces::create(tx, named, "Oak", clock().now()).await })
        })
        .await
        .unwrap();
        import(&db, &clock(), Some(named), &mut file.as_bytes())
            .await
            .unwrap();
        assert_eq!(transferred_workspace(&db).await, named.uuid());
    });
}

#[test]
fn changed_file_is_refused_with_its_line() {
    run(&[Kind::Sqlite], async |bench| {
        let file = exported(&bench.filled(Kind::Sqlite).await, PROJECT).await;
        let db = bench.empty(Kind::Sqlite).await;
        let second = |from: &str, to: &str| {
            let mut lines: Vec<String> = file.lines().map(str::to_owned).collect();
            lines[1] = lines[1].replace(from, to);
            lines.join("\n")
        };
        let other = OTHER.to_string();
        for (changed, line, word) in [
            ("{}".to_owned(), 1, "kind"),
            ("PK\u{3}\u{4}".to_owned(), 1, "searchwright export"),
            (
                file.replacen("\"format\":1", "\"format\":2", 1),
                1,
                "same version",
            ),
            (file.replacen("\"schema\":", "\"schema\":9", 1), 1, "same version"),
            (second("\"projects\"", "\"nothing\""), 2, "no table"),
            (second("\"projects\"", "\"api_keys\""), 2, "api_keys"),
            (second("\"domain\":", "\"domains\":"), 2, "domain"),
            (
                second(&PROJECT.to_string(), &other),
                2,
                "not the project of the file",
            ),
            (second("\"version\":9", "\"version\":\"9\",\"x\":9"), 2, "version"),
            (
                second("{\"table\"", "{\"end\":{\"rows\":{}},\"table\""),
                2,
                "neither",
            ),
        ] {
            match read(&db, &changed).await {
                Err(TransferError::Line { line: at, why }) => {
                    assert!(at == line && why.contains(word), "line {at}: {why}");
                }
                other => panic!("{word}: {other:?}"),
            }
        }
        // a row fewer than the end says
        let fewer: Vec<&str> = file
            .lines()
            .filter(|line| !line.contains("\"table\":\"spend\""))
            .collect();
        assert!(matches!(
            read(&db, &fewer.join("\n")).await,
            Err(TransferError::CutShort(_))
        ));
    });
}

#[test]
fn work_under_way_holds_an_export_up() {
    run(&[Kind::Sqlite], async |bench| {
        let db = bench.filled(Kind::Sqlite).await;
        db.write(|tx| {
            Box::pin(async move {
                sql("UPDATE publish_attempts SET finished_at = NULL WHERE project_id = $1 AND id = $2")
                    .bind(PROJECT)
                    .bind(Uuid::from_u128(1))
                    .execute(tx)
                    .await?;
                sql("UPDATE jobs SET status = 'running', kind = 'audit' WHERE project_id = $1 AND id = $2")
                    .bind(PROJECT)
                    .bind(Uuid::from_u128(1))
                    .execute(tx)
                    .await
            })
        })
        .await
        .unwrap();
        let refused = export(&db, PROJECT, "0", clock().now(), &mut Vec::new()).await;
        assert!(
            matches!(&refused, Err(TransferError::UnderWay(kinds)) if kinds == "audit, publish_post"),
            "{refused:?}"
        );
        export(&db, OTHER, "0", clock().now(), &mut Vec::new())
            .await
            .unwrap();
        let none = export(&db, Uuid::nil(), "0", clock().now(), &mut Vec::new()).await;
        assert!(matches!(none, Err(TransferError::NoProject(_))));
        assert!(transfer::find_table("rate_limits").is_some());
    });
}
