//! Durability: a write that was answered survives reopening, and `kill -9` at any moment.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::PathBuf,
    process::{Command, Stdio},
};

use searchwright_store::{Db, Settings, admin, sql};

use crate::harness::{Place, Store};

on_both!(answered_write_survives_reopening, answered_write_survives_kill,);

const TARGET: &str = "SEARCHWRIGHT_TEST_WRITE_TO";
const ROUNDS: usize = 20;

async fn answered_write_survives_reopening(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    store.db.close().await;
    let refused = commit!(store.db, |tx| admin::insert_meta(tx, "late", vec![1]).await);
    assert!(refused.is_err(), "a closed database takes nothing");
    let again = Store {
        db: place.open().await,
    };
    again.db.check_schema().await.unwrap();
    let found = searchwright_store::projects::get(&mut again.read().await, scope).await;
    assert_eq!(found.unwrap().id, scope.project().into());
}

async fn answered_write_survives_kill(place: &Place) {
    let store = place.store().await;
    let target = match &place.settings {
        Settings::Sqlite(path) => path.display().to_string(),
        Settings::Postgres { url, .. } => url.clone(),
    };
    let mut acknowledged = 0;
    for round in 0..ROUNDS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "durability::writes_until_it_is_killed",
                "--ignored",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(TARGET, &target)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut names: Vec<String> = Vec::new();
        while names.len() < 5 + 9 * round {
            let line = lines.next().unwrap().unwrap();
            names.extend(line.strip_prefix("done ").map(str::to_owned));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // What was in the pipe had been acknowledged too; a line cut short counts for nothing.
        names.extend(
            lines
                .map_while(Result::ok)
                .filter_map(|l| Some(l.strip_prefix("done ")?.strip_suffix('.')?.to_owned() + ".")),
        );
        let mut tx = store.read().await;
        for name in &names {
            let found = admin::get_meta(&mut tx, name).await.unwrap();
            assert!(
                found.is_some(),
                "round {round}: {name} was acknowledged and is gone"
            );
        }
        acknowledged += names.len();
    }
    assert!(acknowledged >= (0..ROUNDS).map(|round| 5 + 9 * round).sum());
    if let Settings::Sqlite(_) = place.settings {
        let whole: String = sql("PRAGMA integrity_check")
            .fetch_one(&mut store.read().await, |c| c.take())
            .await
            .unwrap();
        assert_eq!(whole, "ok");
    }
}

/// The child process of [`answered_write_survives_kill`]: writes from several tasks, and prints a row once it is durable.
#[test]
#[ignore = "a process of its own, started by the test that kills it"]
fn writes_until_it_is_killed() {
    let target = std::env::var(TARGET).unwrap();
    let settings = if target.starts_with("postgres") {
        Settings::Postgres {
            url: target,
            connections: 8,
        }
    } else {
        Settings::Sqlite(PathBuf::from(target))
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let db = Db::open(&settings).await.unwrap();
        let process = std::process::id();
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let db = db.clone();
                tokio::spawn(async move {
                    for n in 0.. {
                        let name = format!("{process}-{writer}-{n}.");
                        let row = name.clone();
                        commit!(db, |tx| admin::insert_meta(tx, &row, vec![7; 100]).await).unwrap();
                        // One call, so that lines of different tasks do not mix.
                        std::io::stdout()
                            .write_all(format!("done {name}\n").as_bytes())
                            .unwrap();
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
    });
}
