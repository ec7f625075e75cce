//! Imports that were cut short: they go on, begin anew with another file, or are removed; nobody sees or changes what is there.

use std::io::{BufReader, Write as _};

use searchwright_backups::{TransferError, discard, export, import, list_unfinished};
use searchwright_store::{
    Db, activity, occurrences, reports, schedules, sql,
    transfer::{
        self, RowSet,
        imports::{self, RemovalStep},
    },
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    harness::{Bench, Kind, OTHER, PROJECT, clock, run},
    projects::{exported, read, transferred_workspace},
};

const DAY_MILLIS: i64 = 86_400_000;

/// A file, and its beginning up to a row that is so large that all rows before it are written at once.
struct ProjectFile {
    whole: String,
    half: String,
}

impl ProjectFile {
    async fn new(source: &Db) -> Self {
        let file = exported(source, PROJECT).await;
        let mut lines: Vec<String> = file.lines().map(str::to_owned).collect();
        let is_answer = |line: &String| line.contains("\"table\":\"answers\"");
        let at = lines.iter().position(is_answer).unwrap();
        let mut large: Value = serde_json::from_str(&lines[at]).unwrap();
        large["row"]["text"] = json!("oak ".repeat(2 << 20));
        lines[at] = large.to_string();
        Self {
            whole: lines.join("\n"),
            half: lines[..at + 2].join("\n"),
        }
    }

    /// The same, exported a day later.
    fn later(&self) -> Self {
        let later = |text: &str| text.replacen("2026-11-21", "2026-11-22", 1);
        Self {
            whole: later(&self.whole),
            half: later(&self.half),
        }
    }

    /// Imports the beginning; the number of rows that are there then.
    async fn begin(&self, db: &Db) -> u64 {
        assert!(matches!(
            read(db, &self.half).await,
            Err(TransferError::CutShort(_))
        ));
        let rows = count_rows(db, PROJECT).await;
        let unfinished = list_unfinished(db).await.unwrap();
        assert_eq!((unfinished.len(), unfinished[0].id), (1, PROJECT));
        assert_eq!(unfinished[0].progress.unwrap().rows, rows);
        rows
    }
}

/// Number of rows of a project in all tables.
async fn count_rows(db: &Db, project: Uuid) -> u64 {
    let mut tx = db.read().await.unwrap();
    let Some(scope) = transfer::find_project(&mut tx, project).await.unwrap() else {
        return 0;
    };
    let mut rows = 0;
    for table in transfer::tables().iter().filter(|table| table.is_of_projects()) {
        let set = RowSet::OfProject(scope);
        rows += transfer::count(&mut tx, table, set).await.unwrap();
    }
    rows
}

/// Number of marks and workspaces of imports.
async fn count_traces(db: &Db) -> i64 {
    sql("SELECT (SELECT count(*) FROM meta WHERE name LIKE 'import:%') + (SELECT count(*) FROM workspaces WHERE id = $1)")
        .bind(Uuid::max())
        .fetch_one(&mut db.read().await.unwrap(), |c| c.take())
        .await
        .unwrap()
}

/// Runs the upkeep that servers do each minute, years later.
async fn run_upkeep(db: &Db) {
    let later = clock().now().plus_millis(3_000 * DAY_MILLIS);
    let woken = db.write(move |tx| {
        Box::pin(async move {
            activity::delete_expired(tx, later).await?;
            schedules::delete_old_slots(tx, later).await?;
            reports::delete_expired(tx, later, 1_000).await?;
            occurrences::unsnooze(tx, later).await
        })
    });
    assert_eq!(woken.await.unwrap(), []);
}

async fn goes_on(bench: &Bench, kind: Kind) {
    let file = ProjectFile::new(&bench.filled(Kind::Sqlite).await).await;
    let db = bench.empty(kind).await;
    let rows = file.begin(&db).await;
    assert_eq!(file.begin(&db).await, rows);
    assert_eq!(
        transferred_workspace(&db).await,
        Uuid::max(),
        "a workspace without members"
    );
    let refused = export(&db, PROJECT, "0", clock().now(), &mut Vec::new()).await;
    assert!(matches!(refused, Err(TransferError::Unfinished(PROJECT))));
    run_upkeep(&db).await;
    assert_eq!(count_rows(&db, PROJECT).await, rows);
    let done = read(&db, &file.whole).await.unwrap();
    assert_eq!((done.resumed_after, done.removed), (rows, 0), "{done:?}");
    assert_ne!(transferred_workspace(&db).await, Uuid::max());
    assert_eq!(count_traces(&db).await, 0);
    assert_eq!(list_unfinished(&db).await.unwrap(), []);
}

async fn begins_anew(bench: &Bench, kind: Kind) {
    let file = ProjectFile::new(&bench.filled(Kind::Sqlite).await).await;
    let db = bench.empty(kind).await;
    let rows = file.begin(&db).await;
    let later = file.later();
    assert_eq!(later.begin(&db).await, rows);
    let done = read(&db, &file.whole).await.unwrap();
    assert_eq!((done.resumed_after, done.removed), (0, rows), "{done:?}");
    assert!(matches!(
        read(&db, &later.whole).await,
        Err(TransferError::Taken(PROJECT))
    ));
}

async fn is_removed(bench: &Bench, kind: Kind) {
    let source = bench.filled(Kind::Sqlite).await;
    let (file, other) = (ProjectFile::new(&source).await, exported(&source, OTHER).await);
    let db = bench.empty(kind).await;
    read(&db, &other).await.unwrap();
    let others = count_rows(&db, OTHER).await;
    let rows = file.begin(&db).await;
    assert_eq!(discard(&db, PROJECT).await.unwrap(), rows);
    assert_eq!((count_rows(&db, PROJECT).await, count_traces(&db).await), (0, 0));
    for whole_or_gone in [PROJECT, OTHER] {
        let refused = discard(&db, whole_or_gone).await;
        assert!(
            matches!(refused, Err(TransferError::NotUnfinished(_))),
            "{refused:?}"
        );
    }

    // a removal that was cut short as well, while the import begins again
    file.begin(&db).await;
    let part = || db.write(|tx| Box::pin(imports::remove_part(tx, PROJECT)));
    assert_eq!(part().await.unwrap(), RemovalStep::Overtaken, "it goes on");
    db.write(|tx| Box::pin(imports::delete_mark(tx, PROJECT)))
        .await
        .unwrap();
    let RemovalStep::Rows(removed) = part().await.unwrap() else {
        panic!("nothing was removed")
    };
    assert_eq!(list_unfinished(&db).await.unwrap()[0].progress, None);
    let done = read(&db, &file.whole).await.unwrap();
    assert_eq!(
        (done.resumed_after, done.removed),
        (0, rows - removed),
        "{done:?}"
    );
    assert_eq!(count_rows(&db, OTHER).await, others);
}

async fn stops_when_removed(bench: &Bench, kind: Kind) {
    let file = ProjectFile::new(&bench.filled(Kind::Sqlite).await).await;
    let db = bench.empty(kind).await;
    let (reader, mut writer) = std::io::pipe().unwrap();
    let (target, runtime) = (db.clone(), tokio::runtime::Handle::current());
    let importing = tokio::task::spawn_blocking(move || {
        runtime.block_on(import(&target, &clock(), None, &mut BufReader::new(reader)))
    });
    let ProjectFile { whole, half } = file;
    let rest = whole[half.len()..].to_owned();
    let mut writer = tokio::task::spawn_blocking(move || {
        writer.write_all(half.as_bytes()).unwrap();
        writer
    })
    .await
    .unwrap();
    while list_unfinished(&db).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    discard(&db, PROJECT).await.unwrap();
    writer.write_all(rest.as_bytes()).unwrap();
    drop(writer);
    let outcome = importing.await.unwrap();
    assert!(
        matches!(outcome, Err(TransferError::Overtaken(PROJECT))),
        "{outcome:?}"
    );
    assert_eq!(count_rows(&db, PROJECT).await, 0);
}

macro_rules! on_both {
    ($($name:ident $sqlite:ident $postgres:ident,)*) => {
        $(
            #[test]
            fn $sqlite() {
                run(&[Kind::Sqlite], async |bench| $name(bench, Kind::Sqlite).await);
            }

            #[test]
            fn $postgres() {
                run(&[Kind::Postgres], async |bench| $name(bench, Kind::Postgres).await);
            }
        )*
    };
}

on_both!(
    goes_on unfinished_import_goes_on_on_sqlite unfinished_import_goes_on_on_postgres,
    begins_anew unfinished_import_of_another_file_begins_anew_on_sqlite unfinished_import_of_another_file_begins_anew_on_postgres,
    is_removed unfinished_import_is_removed_on_sqlite unfinished_import_is_removed_on_postgres,
    stops_when_removed import_stops_when_it_is_removed_on_sqlite import_stops_when_it_is_removed_on_postgres,
);
