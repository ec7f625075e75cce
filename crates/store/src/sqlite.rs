//! Embedded SQLite: one writer thread with group commit, and a pool of readers.
//!
//! A durable commit costs an fsync. Transactions that arrive while a commit is under way share the next
//! one: each but the first runs as a savepoint, one COMMIT covers them all, and only then are the callers
//! answered.

mod announced;
pub(crate) mod bounded;
mod checkpoints;
pub(crate) mod connection;
pub(crate) mod disk;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use futures_util::FutureExt as _;
use rusqlite::{Connection, config::DbConfig};
use tokio::sync::{oneshot, watch};

use announced::Announced;
use connection::{ConnectionPool, PooledConnection, connect};
use disk::Disk;

use crate::{
    error::{Error, Result, take_full},
    migrations,
    transaction::{BoxFuture, Tx, TxConnection},
};

/// Maximum number of transactions per commit.
const MAX_PER_COMMIT: usize = 128;
/// Maximum time spent gathering transactions for one commit.
const MAX_GATHER: Duration = Duration::from_millis(2);
/// Time to wait for further transactions when the last commit carried more.
const STRAGGLER_WAIT: Duration = Duration::from_micros(150);
/// Maximum number of waiting transactions; one more is refused as overload.
const MAX_QUEUED: usize = 1024;
/// First SQLite version without the WAL-reset corruption (sqlite.org, 2026-03-13).
const MIN_VERSION: i32 = 3_051_003;
/// Said of the database once it is unknown what of a commit is on the disk.
const BROKEN: &str = "a commit did not reach the disk for certain; a restart reads what is there";
/// Changes of rows after which the statistics are looked at; then whenever there were as many again. Without them SQLite takes a
/// table for small, and reads all of it.
const CHANGES_PER_LOOK: u64 = 1_000;
/// Analyses every table that has ten times the rows of its statistics, or a tenth, from a sample.
const RENEW_STATISTICS: &str = "PRAGMA optimize = 0x10012";
pub(crate) const APPLICATION_ID: i64 = 0x5357_5247; // "SWRG"

#[derive(Debug)]
pub(crate) struct Sqlite {
    path: PathBuf,
    readers: ConnectionPool,
    queue: Mutex<Option<SyncSender<Work>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    /// Whether it is unknown what of a commit is on the disk.
    broken: watch::Sender<bool>,
    disk: Arc<Disk>,
    /// Changes of credentials that this process made.
    own_changes: AtomicU64,
    announced: Announced,
}

/// A transaction of a caller. It runs inside the commit under way, and returns a closure that is called with
/// the outcome of that commit. It gets `None`, and does not run, when no transaction could begin.
type Work = Box<dyn FnOnce(Option<(&mut Tx, Undo)>) -> Answer + Send>;
type Answer = Box<dyn FnOnce(Result<(), CommitFailed>) + Send>;

/// The means by which work that fails is rolled back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Undo {
    /// Rolls the transaction back and begins another: nothing else is in it. A savepoint would keep a copy of
    /// every page that is changed.
    Transaction,
    /// Rolls back to the savepoint before the work.
    Savepoint,
}

/// Reason why a commit failed, told to each transaction it carried.
#[derive(Clone, Debug)]
enum CommitFailed {
    Full,
    /// Another transaction of the group failed in a way that ended the whole SQLite transaction.
    Aborted,
    Unavailable(String),
}

impl From<CommitFailed> for Error {
    fn from(failed: CommitFailed) -> Self {
        match failed {
            CommitFailed::Full => Self::Full,
            CommitFailed::Aborted => Self::Overloaded,
            CommitFailed::Unavailable(why) => Self::Unavailable(why),
        }
    }
}

impl Sqlite {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        if rusqlite::version_number() < MIN_VERSION {
            return Err(Error::Schema(format!(
                "SQLite {} can corrupt its log; 3.51.3 or later is needed",
                rusqlite::version()
            )));
        }
        disk::keep_private(path);
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
        checkpoints::start(&mut writer, path, checkpoints::LIMITS)?;
        let (sender, receiver) = sync_channel(MAX_QUEUED);
        let (broken, disk) = (watch::Sender::new(false), Arc::new(Disk::new(path)));
        let readers = ConnectionPool::default();
        let thread = {
            let (broken, disk, readers) = (broken.clone(), disk.clone(), readers.clone());
            std::thread::Builder::new()
                .name("sqlite-writer".to_owned())
                .spawn(move || commit_in_groups(writer, &receiver, &readers, &broken, &disk))
                .map_err(|e| Error::Unavailable(e.to_string()))?
        };
        Ok(Self {
            path: path.to_owned(),
            readers,
            queue: Mutex::new(Some(sender)),
            writer: Mutex::new(Some(thread)),
            broken,
            disk,
            own_changes: AtomicU64::new(0),
            announced: Announced::new(path.with_extension("keys")),
        })
    }

    pub(crate) fn reader(&self) -> Result<PooledConnection> {
        self.readers.get(&self.path)
    }

    pub(crate) fn snapshot(&self) -> Result<PooledConnection> {
        let connection = connect(&self.path, false)?;
        connection.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema")?;
        Ok(PooledConnection::unpooled(connection))
    }

    pub(crate) fn migrate(&self, before: impl FnOnce() -> Result<()>) -> Result<Vec<u32>> {
        migrations::run_sqlite(&mut connect(&self.path, true)?, before)
    }

    pub(crate) fn check_schema(&self) -> Result<()> {
        migrations::check_sqlite(self.reader()?.get()?)
    }

    pub(crate) async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'a> FnOnce(&'a mut Tx) -> BoxFuture<'a, Result<T, E>> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let boxed: Work = Box::new(move |tx| {
            let done = tx.map(|(tx, undo)| run_work(tx, undo, work));
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
        if *self.broken.borrow() {
            return Err(Error::Unavailable(BROKEN.to_owned()));
        }
        self.disk
            .obstacle()
            .map_or(Ok(()), |why| Err(Error::Unavailable(why)))
    }

    /// Ends once it is unknown what of a commit is on the disk.
    pub(crate) async fn until_broken(&self) {
        // The sender is ours, and so never gone.
        let _ = self.broken.subscribe().wait_for(|broken| *broken).await;
    }

    pub(crate) fn keep_reserve(&self) {
        self.disk.keep_reserve();
    }

    /// Number of changes of credentials: those of this process at once, and those that the operator's commands made in other
    /// processes a moment later.
    pub(crate) fn credential_generation(&self) -> u64 {
        self.own_changes.load(Ordering::Acquire) + self.announced.count(Instant::now())
    }

    /// The change is committed: an announcement that fails must not make it look failed. Other processes then learn of it when
    /// their entries end.
    pub(crate) fn credentials_changed(&self) {
        self.own_changes.fetch_add(1, Ordering::AcqRel);
        if let Err(error) = self.announced.add() {
            tracing::warn!(%error, "a change of credentials was not announced; other processes notice it within 2 seconds");
        }
    }

    pub(crate) fn close(&self) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = writer.join();
        }
    }
}

fn run_work<T, E, F>(tx: &mut Tx, undo: Undo, work: F) -> Result<T, E>
where
    E: From<Error>,
    F: for<'a> FnOnce(&'a mut Tx) -> BoxFuture<'a, Result<T, E>>,
{
    if undo == Undo::Savepoint {
        execute(tx, "SAVEPOINT work").map_err(E::from)?;
    }
    // The futures of the store are ready at once on SQLite, so one poll completes the work.
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(tx).now_or_never()));
    let done = match done {
        Ok(Some(done)) => done,
        Ok(None) => Err(E::from(Error::Defect(
            "a write transaction waited for something else than the store".to_owned(),
        ))),
        Err(_) => Err(E::from(Error::Defect("a write transaction panicked".to_owned()))),
    };
    if done.is_err() && is_aborted(tx) {
        return done;
    }
    match (undo, done.is_err()) {
        (Undo::Transaction, false) => {}
        (Undo::Transaction, true) => {
            execute(tx, "ROLLBACK").map_err(E::from)?;
            execute(tx, "BEGIN IMMEDIATE").map_err(E::from)?;
        }
        (Undo::Savepoint, failed) => {
            if failed {
                execute(tx, "ROLLBACK TO work").map_err(E::from)?;
            }
            execute(tx, "RELEASE work").map_err(E::from)?;
        }
    }
    done
}

fn execute(tx: &Tx, text: &'static str) -> Result<()> {
    let TxConnection::Sqlite(connection) = &tx.connection else {
        return Ok(());
    };
    connection.get()?.prepare_cached(text)?.raw_execute()?;
    Ok(())
}

/// A full disk or a failed read ends the whole transaction, not only the statement (sqlite.org/lang_transaction).
fn is_aborted(tx: &Tx) -> bool {
    match &tx.connection {
        TxConnection::Sqlite(connection) => connection.get().is_ok_and(Connection::is_autocommit),
        TxConnection::Postgres(_) => false,
    }
}

fn commit_in_groups(
    connection: Connection,
    queue: &Receiver<Work>,
    readers: &ConnectionPool,
    broken: &watch::Sender<bool>,
    disk: &Disk,
) {
    let mut tx = Tx {
        connection: TxConnection::Sqlite(PooledConnection::unpooled(connection)),
    };
    let mut answers = Vec::with_capacity(MAX_PER_COMMIT);
    let mut last = 1;
    let mut next_look = CHANGES_PER_LOOK;
    while let Ok(first) = queue.recv() {
        if *broken.borrow() {
            first(None)(Err(CommitFailed::Unavailable(BROKEN.to_owned())));
            continue;
        }
        if disk.refuses() {
            first(None)(Err(CommitFailed::Full));
            continue;
        }
        let begun = Instant::now();
        let changes = changes(&tx);
        take_full();
        let outcome = match execute(&tx, "BEGIN IMMEDIATE") {
            Ok(()) => {
                answers.push(first(Some((&mut tx, Undo::Transaction))));
                gather_group(&mut tx, queue, &mut answers, begun, last);
                last = answers.len();
                commit(&tx, broken)
            }
            Err(error) => {
                answers.push(first(None));
                Err(commit_failure(&error))
            }
        };
        if take_full() {
            disk.filled();
        } else if outcome.is_ok() && self::changes(&tx) > changes {
            disk.wrote();
        }
        // Callers are answered only now, when the commit has reached the disk or failed.
        for answer in answers.drain(..) {
            answer(outcome.clone());
        }
        if let TxConnection::Sqlite(connection) = &tx.connection
            && let Ok(connection) = connection.get()
            && connection.total_changes() >= next_look
        {
            next_look = 2 * connection.total_changes();
            match connection.execute_batch(RENEW_STATISTICS) {
                Ok(()) => readers.renew(),
                Err(error) => tracing::warn!(%error, "the statistics could not be renewed"),
            }
        }
    }
    if let TxConnection::Sqlite(connection) = &tx.connection
        && let Ok(connection) = connection.get()
    {
        if *broken.borrow() {
            // The log stays as it is: the next start reads of it what is whole.
            let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
            return;
        }
        let _ = connection.pragma_update(None, "wal_checkpoint", "truncate");
        let _ = connection.execute_batch(RENEW_STATISTICS);
    }
}

/// Rows that the writer has changed so far.
fn changes(tx: &Tx) -> u64 {
    match &tx.connection {
        TxConnection::Sqlite(connection) => connection.get().map_or(0, Connection::total_changes),
        TxConnection::Postgres(_) => 0,
    }
}

fn gather_group(tx: &mut Tx, queue: &Receiver<Work>, answers: &mut Vec<Answer>, begun: Instant, last: usize) {
    // Work after an abort would begin a transaction of its own, and be durable before the group commits.
    while answers.len() < MAX_PER_COMMIT && begun.elapsed() < MAX_GATHER && !is_aborted(tx) {
        let next = match queue.try_recv() {
            Ok(next) => next,
            Err(TryRecvError::Disconnected) => return,
            // Callers answered by the last commit are about to write again: a commit for each would cost an fsync each.
            Err(TryRecvError::Empty) if answers.len() < last => match queue.recv_timeout(STRAGGLER_WAIT) {
                Ok(next) => next,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            },
            Err(TryRecvError::Empty) => return,
        };
        answers.push(next(Some((tx, Undo::Savepoint))));
    }
}

fn commit(tx: &Tx, broken: &watch::Sender<bool>) -> Result<(), CommitFailed> {
    if is_aborted(tx) {
        return Err(CommitFailed::Aborted);
    }
    let Err(error) = execute(tx, "COMMIT") else {
        return Ok(());
    };
    let _ = execute(tx, "ROLLBACK");
    if matches!(error, Error::Unavailable(_)) {
        // After a failed fsync it is unknown which pages reached the disk.
        broken.send_replace(true);
    }
    tracing::error!(%error, "commit failed");
    Err(commit_failure(&error))
}

fn commit_failure(error: &Error) -> CommitFailed {
    match error {
        Error::Full => CommitFailed::Full,
        other => CommitFailed::Unavailable(other.to_string()),
    }
}
