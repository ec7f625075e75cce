//! axum over rusqlite: reads run in place on a connection of the thread, writes are collected by one
//! writer that commits them in groups and only then answers.

use std::{
    cell::RefCell,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use anyhow::{Context, Result, anyhow};
use axum::{
    Router,
    body::{Body, Bytes},
    extract,
    http::{Response, StatusCode},
    routing::get,
};
use rusqlite::{Connection, OpenFlags, Row, params};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::{
    answer,
    keyword::{Details, Keyword, NewKeyword, PROJECT, Page, ROWS, Rest, prepared},
};

/// The product's table with its keys and indexes, and below the product's own statements: what they
/// cost belongs to both sides.
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS keywords (
        project_id BLOB NOT NULL, id BLOB NOT NULL, keyword TEXT NOT NULL, normalized TEXT NOT NULL,
        language TEXT NOT NULL, country TEXT NOT NULL, search_volume INTEGER, keyword_difficulty INTEGER,
        intent TEXT, status TEXT NOT NULL, source TEXT NOT NULL, version INTEGER NOT NULL,
        created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
        intent_source TEXT, intent_confidence REAL, intent_reason TEXT, score INTEGER, cluster_id BLOB,
        is_cluster_head INTEGER NOT NULL DEFAULT 0, details TEXT, PRIMARY KEY (project_id, id)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX IF NOT EXISTS keywords_by_text ON keywords (project_id, language, country, normalized);
    CREATE INDEX IF NOT EXISTS keywords_by_volume
        ON keywords (project_id, (coalesce(search_volume, -1)), id, status, intent);
    CREATE INDEX IF NOT EXISTS keywords_by_difficulty
        ON keywords (project_id, (coalesce(keyword_difficulty, -1)), id, status, intent);
    CREATE INDEX IF NOT EXISTS keywords_by_score
        ON keywords (project_id, (coalesce(score, -1)), id, status, intent);
    CREATE INDEX IF NOT EXISTS keywords_by_status ON keywords (project_id, status, id);
    CREATE INDEX IF NOT EXISTS keywords_by_intent ON keywords (project_id, intent, id);
    CREATE INDEX IF NOT EXISTS keywords_by_cluster ON keywords (project_id, cluster_id, id) WHERE cluster_id IS NOT NULL;";

const LIST: &str = "SELECT id, keyword, search_volume, keyword_difficulty, intent, language, country, status,
        source, version, created_at, updated_at,
        intent_source, intent_confidence, intent_reason, score, cluster_id, is_cluster_head, details
    FROM keywords WHERE project_id = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3";

const ONE: &str = "SELECT id, keyword, search_volume, keyword_difficulty, intent, language, country, status,
        source, version, created_at, updated_at,
        intent_source, intent_confidence, intent_reason, score, cluster_id, is_cluster_head, details
    FROM keywords WHERE project_id = ?1 AND id = ?2";

const INSERT: &str = "INSERT INTO keywords (project_id, id, keyword, normalized, language, country,
        search_volume, keyword_difficulty, intent, status, source, version, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

/// Most writes in one transaction, as in the product.
const GROUP: usize = 128;

thread_local! {
    static READER: RefCell<Option<Connection>> = const { RefCell::new(None) };
}

/// A write and where its outcome goes.
struct Write {
    keyword: Keyword,
    done: oneshot::Sender<Result<Keyword>>,
}

#[derive(Debug)]
struct Shared {
    file: PathBuf,
    writes: mpsc::Sender<Write>,
}

/// Runs the server; fills the table first when it is empty.
pub fn serve(listen: SocketAddr, file: &Path) -> Result<()> {
    super::serve(listen, async { router(file) })
}

fn router(file: &Path) -> Result<Router> {
    let connection = open_writer(file)?;
    prepare(&connection)?;
    let (writes, queue) = mpsc::channel(1_024);
    thread::spawn(move || write(&connection, queue));
    let shared = Arc::new(Shared {
        file: file.to_owned(),
        writes,
    });
    Ok(Router::new()
        .route("/keywords", get(list).post(create))
        .route("/keywords/{id}", get(one))
        .with_state(shared))
}

fn open_writer(file: &Path) -> Result<Connection> {
    let connection = Connection::open(file)?;
    connection
        .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000;")?;
    connection.execute_batch(SCHEMA)?;
    Ok(connection)
}

fn prepare(connection: &Connection) -> Result<()> {
    let there: i64 = connection.query_row("SELECT count(*) FROM keywords", [], |row| row.get(0))?;
    if there > 0 {
        return Ok(());
    }
    connection.execute_batch("BEGIN IMMEDIATE")?;
    for index in 0..ROWS {
        insert(connection, &prepared(index).into_keyword())?;
    }
    Ok(connection.execute_batch("COMMIT")?)
}

type State = extract::State<Arc<Shared>>;

async fn list(extract::State(shared): State, uri: axum::http::Uri) -> Response<Body> {
    let limit = uri
        .query()
        .and_then(|query| query.strip_prefix("limit="))
        .and_then(|limit| limit.parse().ok());
    let page = read(&shared.file, |connection| {
        let limit: i64 = limit.unwrap_or(25);
        let mut statement = connection.prepare_cached(LIST)?;
        // one more than asked for tells whether there is a next page
        let rows = statement.query_map(
            params![PROJECT.into_bytes(), Uuid::max().into_bytes(), limit + 1],
            keyword,
        )?;
        let mut data = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        let more = data.len() as i64 > limit;
        data.truncate(limit as usize);
        Ok(Page {
            next_cursor: data.last().filter(|_| more).map(|last| last.id.to_string()),
            data,
        })
    });
    answer(StatusCode::OK, page)
}

async fn one(extract::State(shared): State, extract::Path(id): extract::Path<Uuid>) -> Response<Body> {
    let found = read(&shared.file, |connection| {
        Ok(connection
            .prepare_cached(ONE)?
            .query_row(params![PROJECT.into_bytes(), id.into_bytes()], keyword)?)
    });
    answer(StatusCode::OK, found)
}

async fn create(extract::State(shared): State, body: Bytes) -> Response<Body> {
    let created = async {
        let keyword = NewKeyword::parse(&body)?.into_keyword();
        let (done, outcome) = oneshot::channel();
        shared
            .writes
            .send(Write { keyword, done })
            .await
            .map_err(|_| anyhow!("the writer has ended"))?;
        outcome.await.context("the writer has ended")?
    };
    answer(StatusCode::CREATED, created.await)
}

/// Runs a read in place, on a connection that stays with the thread.
fn read<T>(file: &Path, query: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
    READER.with_borrow_mut(|reader| {
        if let Some(connection) = reader {
            return query(connection);
        }
        let connection = Connection::open_with_flags(
            file,
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        query(reader.insert(connection))
    })
}

/// The bare group commit: takes what is waiting, one savepoint each, one commit, then the answers.
fn write(connection: &Connection, mut queue: mpsc::Receiver<Write>) {
    while let Some(first) = queue.blocking_recv() {
        let mut group = vec![first];
        while let (true, Ok(next)) = (group.len() < GROUP, queue.try_recv()) {
            group.push(next);
        }
        let outcomes = commit(connection, &group);
        for (write, outcome) in group.into_iter().zip(outcomes) {
            // a caller that went away needs no answer
            let _ = write.done.send(outcome.map(|()| write.keyword));
        }
    }
}

fn commit(connection: &Connection, group: &[Write]) -> Vec<Result<()>> {
    let whole = || -> Result<Vec<Result<()>>> {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let mut outcomes = Vec::with_capacity(group.len());
        for write in group {
            connection.prepare_cached("SAVEPOINT one")?.execute([])?;
            let outcome = insert(connection, &write.keyword);
            if outcome.is_err() {
                connection.prepare_cached("ROLLBACK TO one")?.execute([])?;
            }
            connection.prepare_cached("RELEASE one")?.execute([])?;
            outcomes.push(outcome);
        }
        connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(outcomes)
    };
    whole().unwrap_or_else(|error| {
        let _ = connection.execute_batch("ROLLBACK");
        group
            .iter()
            .map(|_| Err(anyhow!("the group failed: {error:#}")))
            .collect()
    })
}

fn insert(connection: &Connection, keyword: &Keyword) -> Result<()> {
    let (k, normalized) = (keyword, keyword.keyword.to_lowercase());
    connection.prepare_cached(INSERT)?.execute(params![
        k.project_id.into_bytes(),
        k.id.into_bytes(),
        k.keyword,
        normalized,
        k.language,
        k.country,
        k.search_volume,
        k.keyword_difficulty,
        k.intent,
        k.status,
        k.source,
        k.version,
        k.created_at,
        k.updated_at
    ])?;
    Ok(())
}

fn keyword(row: &Row<'_>) -> rusqlite::Result<Keyword> {
    Ok(Keyword {
        id: Uuid::from_bytes(row.get(0)?),
        project_id: PROJECT,
        keyword: row.get(1)?,
        search_volume: row.get(2)?,
        keyword_difficulty: row.get(3)?,
        intent: row.get(4)?,
        language: row.get(5)?,
        country: row.get(6)?,
        status: row.get(7)?,
        source: row.get(8)?,
        version: row.get(9)?,
        created_at: row.get(10)?,
        updated_at: row.get(11)?,
        rest: Rest {
            intent_source: row.get(12)?,
            intent_confidence: row.get(13)?,
            intent_reason: row.get(14)?,
            score: row.get::<_, Option<i64>>(15)?.map(|score| score as f64 / 1000.0),
            cluster_id: row.get::<_, Option<[u8; 16]>>(16)?.map(Uuid::from_bytes),
            is_cluster_head: row.get(17)?,
            details: Details::parse(row.get_ref(18)?.as_str_or_null()?).unwrap_or_default(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{Write, commit, open_writer, prepared};
    use tokio::sync::oneshot;

    fn new(index: usize) -> Write {
        Write {
            keyword: prepared(index).into_keyword(),
            done: oneshot::channel().0,
        }
    }

    #[test]
    fn one_bad_write_does_not_spoil_its_group() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("baseline.db");
        let connection = open_writer(&file).unwrap();
        let outcomes = commit(&connection, &[new(1), new(1), new(2)]);
        assert_eq!(
            outcomes.iter().map(Result::is_ok).collect::<Vec<_>>(),
            [true, false, true]
        );
        let other = open_writer(&file).unwrap();
        let there: i64 = other
            .query_row("SELECT count(*) FROM keywords", [], |row| row.get(0))
            .unwrap();
        assert_eq!(there, 2);
    }

    #[test]
    fn commits_are_durable_ones() {
        let folder = tempfile::tempdir().unwrap();
        let connection = open_writer(&folder.path().join("baseline.db")).unwrap();
        let pragma = |name: &str| -> String {
            connection
                .query_row(
                    &format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}"),
                    [],
                    |row| row.get(0),
                )
                .unwrap()
        };
        assert_eq!(
            (pragma("journal_mode"), pragma("synchronous")),
            ("wal".to_owned(), "2".to_owned())
        );
    }
}
