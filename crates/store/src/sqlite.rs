//! Embedded SQLite: one writer that commits in groups, readers apart.
//!
//! A durable commit costs an fsync. Transactions that wait while one is under way share the next: each
//! but the first runs as a savepoint, one COMMIT covers them all, and only then is each answered.

mod checkpoints;
mod connection;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use futures_util::FutureExt as _;
use rusqlite::Connection;
use tokio::sync::oneshot;

use connection::connect;

use crate::{
    db::{Boxed, On, Tx},
    error::{Error, Result},
    migrations,
};

/// Transactions per commit, at most.
const MOST_PER_COMMIT: usize = 128;
/// Time spent gathering transactions for one commit, at most.
const LONGEST_GATHER: Duration = Duration::from_millis(2);
/// How long to wait for stragglers when the last commit carried more.
const STRAGGLERS: Duration = Duration::from_micros(150);
/// Transactions waiting, at most; one more is refused as overload.
const QUEUE: usize = 1024;
/// The first version without the WAL-reset corruption (sqlite.org, 2026-03-13).
const OLDEST_SAFE: i32 = 3_051_003;
const APPLICATION_ID: i64 = 0x5357_5247; // "SWRG"

#[derive(Debug)]
pub(crate) struct Sqlite {
    path: PathBuf,
    readers: Arc<Mutex<Vec<Connection>>>,
    queue: Mutex<Option<SyncSender<Work>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    broken: Arc<AtomicBool>,
}

/// A connection that goes back to the pool when dropped.
#[derive(Debug)]
pub(crate) struct Reader {
    connection: Option<Connection>,
    home: Option<Arc<Mutex<Vec<Connection>>>>,
}

impl Reader {
    pub(crate) fn get(&self) -> Result<&Connection> {
        self.connection
            .as_ref()
            .ok_or_else(|| Error::Defect("the connection has been given back".to_owned()))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let (Some(connection), Some(home)) = (self.connection.take(), &self.home) {
            home.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(connection);
        }
    }
}

/// Runs inside the commit under way; what it returns is called with the outcome of that commit.
/// Without a transaction, because none could begin, it does not run.
type Work = Box<dyn FnOnce(Option<(&mut Tx, Undo)>) -> Answer + Send>;
type Answer = Box<dyn FnOnce(Result<(), CommitFailed>) + Send>;

/// How work that fails is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Undo {
    /// Nothing else is in the transaction: it begins anew. A savepoint would keep a copy of every page it changes.
    Transaction,
    /// To the savepoint before it.
    Savepoint,
}

/// Why a commit failed, for each of those it carried.
#[derive(Clone, Debug)]
enum CommitFailed {
    Full,
    /// A neighbour's failure took the whole transaction along.
    Cut,
    Unavailable(String),
}

impl From<CommitFailed> for Error {
    fn from(failed: CommitFailed) -> Self {
        match failed {
            CommitFailed::Full => Self::Full,
            CommitFailed::Cut => Self::Overloaded,
            CommitFailed::Unavailable(why) => Self::Unavailable(why),
        }
    }
}

impl Sqlite {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        if rusqlite::version_number() < OLDEST_SAFE {
            return Err(Error::Schema(format!(
                "SQLite {} can corrupt its log; 3.51.3 or later is needed",
                rusqlite::version()
            )));
        }
        let mut writer = connect(path, true)?;
        let found: i64 = writer.query_row("PRAGMA application_id", [], |r| r.get(0))?;
        let tables: i64 = writer.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
        if found != APPLICATION_ID {
            if found != 0 || tables > 0 {
                return Err(Error::Schema(format!(
                    "{} is another program's database",
                    path.display()
                )));
            }
            writer.pragma_update(None, "application_id", APPLICATION_ID)?;
        }
        checkpoints::beside(&mut writer, path, checkpoints::LIMITS)?;
        let (sender, receiver) = sync_channel(QUEUE);
        let broken = Arc::new(AtomicBool::new(false));
        let thread = {
            let broken = broken.clone();
            std::thread::Builder::new()
                .name("sqlite-writer".to_owned())
                .spawn(move || commit_in_groups(writer, &receiver, &broken))
                .map_err(|e| Error::Unavailable(e.to_string()))?
        };
        Ok(Self {
            path: path.to_owned(),
            readers: Arc::default(),
            queue: Mutex::new(Some(sender)),
            writer: Mutex::new(Some(thread)),
            broken,
        })
    }

    pub(crate) fn reader(&self) -> Result<Reader> {
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connect(&self.path, false)?,
        };
        Ok(Reader {
            connection: Some(connection),
            home: Some(self.readers.clone()),
        })
    }

    pub(crate) fn migrate(&self) -> Result<Vec<u32>> {
        migrations::run_sqlite(&mut connect(&self.path, true)?, &self.path)
    }

    pub(crate) fn check_schema(&self) -> Result<()> {
        migrations::check_sqlite(self.reader()?.get()?)
    }

    pub(crate) async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'a> FnOnce(&'a mut Tx) -> Boxed<'a, Result<T, E>> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let boxed: Work = Box::new(move |tx| {
            let done = tx.map(|(tx, undo)| attempt(tx, undo, work));
            Box::new(move |commit| {
                let _ = answer.send(match (done, commit) {
                    (Some(Ok(value)), Ok(())) => Ok(value),
                    (Some(Err(error)), _) => Err(error),
                    (_, Err(failed)) => Err(E::from(failed.into())),
                    (None, Ok(())) => Err(E::from(Error::Defect("a commit without its work".to_owned()))),
                });
            })
        });
        let sent = {
            let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            match queue.as_ref().map(|q| q.try_send(boxed)) {
                Some(Ok(())) => Ok(()),
                Some(Err(TrySendError::Full(_))) => Err(Error::Overloaded),
                Some(Err(TrySendError::Disconnected(_))) | None => {
                    Err(Error::Unavailable("the writer has ended".to_owned()))
                }
            }
        };
        sent.map_err(E::from)?;
        answered
            .await
            .map_err(|_| E::from(Error::Unavailable("the writer has ended".to_owned())))?
    }

    pub(crate) fn ready(&self) -> Result<()> {
        if self.broken.load(Ordering::Acquire) {
            return Err(Error::Unavailable(
                "a commit did not reach the disk; restart the server".to_owned(),
            ));
        }
        Ok(())
    }

    /// The length of a file beside the database: one byte per change. A `stat` costs a tenth of a look at the
    /// key, and sees what the operator's commands in other processes did.
    pub(crate) fn key_generation(&self) -> u64 {
        std::fs::metadata(self.path.with_extension("keys")).map_or(0, |file| file.len())
    }

    pub(crate) fn keys_changed(&self) -> Result<()> {
        std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.path.with_extension("keys"))
            .and_then(|mut file| file.write_all(b"."))
            .map_err(|e| Error::Unavailable(e.to_string()))
    }

    pub(crate) fn close(&self) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = writer.join();
        }
    }
}

fn attempt<T, E, F>(tx: &mut Tx, undo: Undo, work: F) -> Result<T, E>
where
    E: From<Error>,
    F: for<'a> FnOnce(&'a mut Tx) -> Boxed<'a, Result<T, E>>,
{
    if undo == Undo::Savepoint {
        step(tx, "SAVEPOINT work").map_err(E::from)?;
    }
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(tx).now_or_never()));
    let done = match done {
        Ok(Some(done)) => done,
        Ok(None) => Err(E::from(Error::Defect(
            "a write transaction waited for something else than the store".to_owned(),
        ))),
        Err(_) => Err(E::from(Error::Defect("a write transaction panicked".to_owned()))),
    };
    if done.is_err() && is_cut(tx) {
        return done;
    }
    match (undo, done.is_err()) {
        (Undo::Transaction, false) => {}
        (Undo::Transaction, true) => {
            step(tx, "ROLLBACK").map_err(E::from)?;
            step(tx, "BEGIN IMMEDIATE").map_err(E::from)?;
        }
        (Undo::Savepoint, failed) => {
            if failed {
                step(tx, "ROLLBACK TO work").map_err(E::from)?;
            }
            step(tx, "RELEASE work").map_err(E::from)?;
        }
    }
    done
}

fn step(tx: &Tx, text: &'static str) -> Result<()> {
    let On::Sqlite(connection) = &tx.on else {
        return Ok(());
    };
    connection.get()?.prepare_cached(text)?.raw_execute()?;
    Ok(())
}

/// A full disk or a failed read ends the whole transaction, not only the statement (sqlite.org/lang_transaction).
fn is_cut(tx: &Tx) -> bool {
    match &tx.on {
        On::Sqlite(connection) => connection.get().is_ok_and(Connection::is_autocommit),
        On::Postgres(_) => false,
    }
}

fn commit_in_groups(connection: Connection, queue: &Receiver<Work>, broken: &AtomicBool) {
    let mut tx = Tx {
        on: On::Sqlite(Reader {
            connection: Some(connection),
            home: None,
        }),
    };
    let mut answers = Vec::with_capacity(MOST_PER_COMMIT);
    let mut last = 1;
    while let Ok(first) = queue.recv() {
        let begun = Instant::now();
        let outcome = match step(&tx, "BEGIN IMMEDIATE") {
            Ok(()) => {
                answers.push(first(Some((&mut tx, Undo::Transaction))));
                gather(&mut tx, queue, &mut answers, begun, last);
                last = answers.len();
                commit(&tx, broken)
            }
            Err(error) => {
                answers.push(first(None));
                Err(failed(&error))
            }
        };
        for answer in answers.drain(..) {
            answer(outcome.clone());
        }
    }
    if let On::Sqlite(connection) = &tx.on
        && let Ok(connection) = connection.get()
    {
        let _ = connection.pragma_update(None, "wal_checkpoint", "truncate");
        let _ = connection.execute_batch("PRAGMA optimize");
    }
}

fn gather(tx: &mut Tx, queue: &Receiver<Work>, answers: &mut Vec<Answer>, begun: Instant, last: usize) {
    // Work after a cut would begin a transaction of its own, and be durable before anybody decided so.
    while answers.len() < MOST_PER_COMMIT && begun.elapsed() < LONGEST_GATHER && !is_cut(tx) {
        let next = match queue.try_recv() {
            Ok(next) => next,
            Err(TryRecvError::Disconnected) => return,
            // Those answered by the last commit are about to come back: a commit for each alone would cost an fsync each.
            Err(TryRecvError::Empty) if answers.len() < last => match queue.recv_timeout(STRAGGLERS) {
                Ok(next) => next,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            },
            Err(TryRecvError::Empty) => return,
        };
        answers.push(next(Some((tx, Undo::Savepoint))));
    }
}

fn commit(tx: &Tx, broken: &AtomicBool) -> Result<(), CommitFailed> {
    if is_cut(tx) {
        return Err(CommitFailed::Cut);
    }
    let Err(error) = step(tx, "COMMIT") else {
        return Ok(());
    };
    let _ = step(tx, "ROLLBACK");
    if matches!(error, Error::Unavailable(_)) {
        // After a failed fsync nothing is known of what reached the disk.
        broken.store(true, Ordering::Release);
    }
    tracing::error!(%error, "commit failed");
    Err(failed(&error))
}

fn failed(error: &Error) -> CommitFailed {
    match error {
        Error::Full => CommitFailed::Full,
        other => CommitFailed::Unavailable(other.to_string()),
    }
}
