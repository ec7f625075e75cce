//! The schema: made once, by whoever comes first, and left alone when it is not ours.

use std::collections::BTreeSet;

use searchwright_contract::issues::OccurrenceState;
use searchwright_store::{Db, Error, Param, Settings, issues, occurrences, page_names, sql};
use uuid::Uuid;

use crate::{
    harness::{Place, id, later, now},
    issues::{audit_pages, seen, summary},
};

on_both!(
    from_nothing,
    by_four_at_once,
    newer_than_the_program,
    altered,
    rows_become_leaves,
    names_become_leaves,
);

/// Every migration there is, by the folder of its files.
fn all() -> Vec<u32> {
    let names = |folder: &str| -> BTreeSet<String> {
        let path = format!("{}/migrations/{folder}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    };
    let sqlite = names("sqlite");
    assert_eq!(
        sqlite,
        names("postgres"),
        "both folders hold files of the same names"
    );
    sqlite
        .iter()
        .map(|name| name.split_once('_').unwrap().0.parse().unwrap())
        .collect()
}

async fn from_nothing(place: &Place) {
    let db = place.open().await;
    let refused = db.check_schema().await;
    assert!(
        matches!(&refused, Err(Error::Schema(why)) if why.contains("has not run")),
        "{refused:?}"
    );
    assert_eq!(db.migrate().await.unwrap(), all());
    db.check_schema().await.unwrap();
    assert_eq!(db.migrate().await.unwrap(), [] as [u32; 0]);
    db.ready().await.unwrap();
}

async fn by_four_at_once(place: &Place) {
    let start = std::sync::Arc::new(tokio::sync::Barrier::new(4));
    let starting: Vec<_> = (0..4)
        .map(|_| {
            let (settings, start) = (place.settings.clone(), start.clone());
            tokio::spawn(async move {
                start.wait().await;
                let db = Db::open(&settings).await.unwrap();
                let ran = db.migrate().await.unwrap();
                db.check_schema().await.unwrap();
                ran
            })
        })
        .collect();
    let mut ran = Vec::new();
    for one in starting {
        ran.extend(one.await.unwrap());
    }
    assert_eq!(ran, all(), "each migration ran once");
}

async fn newer_than_the_program(place: &Place) {
    let db = place.store().await.db;
    commit!(db, |tx| sql(
        "INSERT INTO schema_migrations (number, name, checksum) VALUES (9999, '9999_future', 'x')"
    )
    .run(tx)
    .await)
    .unwrap();
    refuses(place, "9999").await;
}

async fn altered(place: &Place) {
    let db = place.store().await.db;
    commit!(db, |tx| sql(
        "UPDATE schema_migrations SET checksum = 'x' WHERE number = 1"
    )
    .run(tx)
    .await)
    .unwrap();
    refuses(place, "0001_base").await;
}

/// Another start refuses the schema and names the migration.
async fn refuses(place: &Place, name: &str) {
    let db = place.open().await;
    for refused in [db.migrate().await.map(drop), db.check_schema().await] {
        assert!(
            matches!(&refused, Err(Error::Schema(why)) if why.contains(name)),
            "{refused:?}"
        );
    }
}

/// Occurrences as they were kept before migration 28, which is run again on them: one has everything that one can have, and there
/// are more than a leaf holds.
async fn names_become_leaves(place: &Place) {
    let store = place.store().await;
    let (scope, audit, newer) = (store.project().await, id(), id());
    let pages: Vec<Uuid> = (0..20).map(|_| id()).collect();
    let url = |page: &Uuid| format!("https://example.com/{page}");
    let seen_all = pages.iter().map(|page| seen(*page, &url(page), Some(200)));
    audit_pages(&store, scope, audit, seen_all.collect(), Vec::new()).await;
    let (uuid, integer) = match store.db.name() {
        "postgres" => ("UUID", "BIGINT"),
        _ => ("BLOB", "INTEGER"),
    };
    let before = format!(
        "DROP TABLE page_name_leaves;
         DELETE FROM schema_migrations WHERE number = 29;
         CREATE TABLE page_names (project_id {uuid} NOT NULL, audit_id {uuid} NOT NULL, key {integer} NOT NULL, page_id {uuid} NOT NULL,
           PRIMARY KEY (project_id, audit_id, key, page_id))"
    );
    for statement in before.split(';') {
        let statement: &'static str = statement.to_owned().leak();
        commit!(store.db, |tx| sql(statement).run(tx).await).unwrap();
    }
    // more names than one leaf has, as large as hashes are, some of them of several pages
    let key = |n: i64| (n - 150).wrapping_mul(61_489_146_912_365_173);
    let name = |n: i64| (0..1 + n % 3).map(move |of| (n, (n + of) as usize % 20));
    let rows = (0..300).flat_map(name);
    let rows: Vec<Vec<Param>> = rows
        .map(|(n, of)| vec![audit.into(), key(n).into(), pages[of].into()])
        .chain([vec![newer.into(), key(7).into(), pages[0].into()]])
        .collect();
    commit!(store.db, |tx| sql(
        "INSERT INTO page_names (project_id, audit_id, key, page_id) VALUES ($1, $2, $3, $4)"
    )
    .bind(scope.project())
    .run_each(tx, rows)
    .await)
    .unwrap();
    assert_eq!(place.open().await.migrate().await.unwrap(), [29]);
    let mut tx = store.read().await;
    for n in 0..300 {
        let found = page_names::called(&mut tx, scope, audit, key(n)).await.unwrap();
        let mut expected: Vec<String> = name(n).map(|(_, of)| url(&pages[of])).collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "{n}");
        let other = page_names::called(&mut tx, scope, audit, key(n) + 1).await;
        assert_eq!(other.unwrap(), [""; 0]);
    }
    let found = page_names::called(&mut tx, scope, newer, key(7)).await.unwrap();
    assert_eq!(found, [url(&pages[0])]);
}

async fn rows_become_leaves(place: &Place) {
    let store = place.store().await;
    let (scope, issue, other) = (store.project().await, id(), id());
    let pages: Vec<Uuid> = (0..300).map(|_| id()).collect();
    let seen_all = pages
        .iter()
        .map(|page| seen(*page, &format!("https://example.com/{page}"), Some(200)))
        .collect();
    audit_pages(&store, scope, id(), seen_all, Vec::new()).await;
    let is_postgres = store.db.name() == "postgres";
    let (blob, text, json, flag) = if is_postgres {
        ("UUID", "TIMESTAMPTZ", "JSONB", "BOOLEAN")
    } else {
        ("BLOB", "TEXT", "TEXT", "INTEGER")
    };
    let before = format!(
        "DROP TABLE occurrence_leaves;
         DELETE FROM schema_migrations WHERE number = 28;
         CREATE TABLE occurrences (project_id {blob} NOT NULL, issue_id {blob} NOT NULL, page_id {blob} NOT NULL, state TEXT NOT NULL, evidence {json} NOT NULL,
           first_seen_audit_id {blob} NOT NULL, last_seen_audit_id {blob} NOT NULL, checked_at {text} NOT NULL, resolved_at {text}, resolution TEXT,
           reopen_count INTEGER NOT NULL, stale {flag} NOT NULL, done_at {text}, done_by TEXT, note TEXT, ignored_until {text}, reopen_reason TEXT,
           recheck_id {blob}, recheck_outcome TEXT, rechecked_at {text}, was TEXT, changed_at {text}, PRIMARY KEY (project_id, issue_id, page_id))"
    );
    for statement in before.split(';') {
        let statement: &'static str = statement.to_owned().leak();
        commit!(store.db, |tx| sql(statement).run(tx).await).unwrap();
    }
    let (first, last, recheck, until) = (id(), id(), id(), later(9));
    let rows = pages.iter().map(|page| vec![issue.into(), (*page).into()]);
    let rows: Vec<Vec<Param>> = rows.chain([vec![other.into(), pages[0].into()]]).collect();
    let marked = pages[129];
    commit!(store.db, |tx| {
        sql("INSERT INTO occurrences (project_id, first_seen_audit_id, last_seen_audit_id, checked_at, stale, state, evidence, reopen_count, issue_id, page_id)
             VALUES ($1, $2, $3, $4, $5, 'open', '{\"length\": 4}', 0, $6, $7)")
        .bind(scope.project())
        .bind(first)
        .bind(last)
        .bind(now())
        .bind(true)
        .run_each(tx, rows)
        .await?;
        sql("UPDATE occurrences SET state = 'ignored', note = 'as agreed', ignored_until = $3, reopen_count = 2, reopen_reason = 'recurred',
               recheck_id = $4, recheck_outcome = 'still_present', rechecked_at = $3, was = 'reopened', changed_at = $3, stale = $5
             WHERE project_id = $1 AND page_id = $2")
        .bind(scope.project())
        .bind(marked)
        .bind(until)
        .bind(recheck)
        .bind(false)
        .run(tx)
        .await
    })
    .unwrap();
    let again = place.open().await;
    assert_eq!(again.migrate().await.unwrap(), [28]);
    let mut tx = store.read().await;
    let open = occurrences::list(&mut tx, scope, issue, None, None, 1_000)
        .await
        .unwrap();
    let expected: Vec<String> = pages
        .iter()
        .filter(|page| **page != marked)
        .map(Uuid::to_string)
        .collect();
    assert!(open.iter().map(|of| &of.page_id).eq(&expected));
    let of = &open[0];
    assert_eq!(
        (
            of.first_seen_audit_id.as_str(),
            of.last_seen_audit_id.as_str(),
            of.last_checked_at,
            of.stale
        ),
        (first.to_string().as_str(), last.to_string().as_str(), now(), true)
    );
    assert_eq!(of.evidence, serde_json::json!({ "length": 4 }));
    let ignored = occurrences::list(&mut tx, scope, issue, Some(OccurrenceState::Ignored), None, 9)
        .await
        .unwrap();
    let [of] = &ignored[..] else { panic!("{ignored:?}") };
    assert_eq!(of.page_id, marked.to_string());
    assert_eq!(
        (
            of.ignored_reason.as_deref(),
            of.ignored_until,
            of.reopen_count,
            of.stale
        ),
        (Some("as agreed"), Some(until), 2, false)
    );
    let recheck_seen = of.last_recheck.as_ref().unwrap();
    assert_eq!(
        (recheck_seen.id.as_str(), recheck_seen.checked_at),
        (recheck.to_string().as_str(), until)
    );
    assert_eq!(
        occurrences::list(&mut tx, scope, other, None, None, 9)
            .await
            .unwrap()
            .len(),
        1
    );
    drop(tx);
    let woken = commit!(store.db, |tx| {
        issues::announce(tx, scope, vec![summary(issue, 1.0)], now()).await?;
        occurrences::wake(tx, until).await
    });
    assert_eq!(woken.unwrap(), [scope]);
    let states = occurrences::states(&mut store.read().await, scope, &[(issue, marked)]).await;
    assert_eq!(states.unwrap(), [Some(OccurrenceState::Open)]);
}

/// Only SQLite: a PostgreSQL database has no owner.
#[tokio::test]
async fn a_database_of_another_program_is_left_alone() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("other.sqlite");
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch("CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('mine')")
        .unwrap();
    let refused = Db::open(&Settings::Sqlite(path.clone())).await;
    assert!(
        matches!(&refused, Err(Error::Schema(why)) if why.contains("another program")),
        "{refused:?}"
    );
    other
        .execute_batch("DROP TABLE notes; PRAGMA application_id = 7")
        .unwrap();
    assert!(matches!(
        Db::open(&Settings::Sqlite(path)).await,
        Err(Error::Schema(_))
    ));
}
