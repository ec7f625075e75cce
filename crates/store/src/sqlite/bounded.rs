//! Reads that are bounded: a statement runs on the thread of its caller for a moment only. One that takes longer is run again
//! on a thread where it holds up nobody, in one of few places, until its deadline, and while its caller waits for it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::available_parallelism,
    time::{Duration, Instant},
};

use rusqlite::{Connection, Row, types::Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use uuid::Uuid;

use super::connection::PooledConnection;
use crate::error::{Error, Result};

/// Time for which a statement may hold up the other tasks of its caller's thread.
const MOMENT: Duration = Duration::from_millis(1);
/// Time that a statement has elsewhere, and that it waits for a place.
const DEADLINE: Duration = Duration::from_secs(10);
/// Steps of SQLite between two looks at the time: about 20 µs.
const STEPS: i32 = 1_000;
/// Maximum number of rows that are passed on together, and of their bytes.
const PORTION: usize = 64;
const PORTION_BYTES: usize = 256 << 10;

/// The places of statements that take longer than a moment.
#[derive(Debug)]
pub(super) struct Places {
    all: Arc<Semaphore>,
    /// One less for each owner, so that no project has all of them.
    of_owners: Mutex<HashMap<Uuid, Arc<Semaphore>>>,
    per_owner: usize,
    deadline: Duration,
}

impl Default for Places {
    fn default() -> Self {
        let count = available_parallelism().map_or(2, |n| n.get().max(2));
        Self {
            all: Arc::new(Semaphore::new(count)),
            of_owners: Mutex::default(),
            per_owner: count - 1,
            deadline: DEADLINE,
        }
    }
}

impl Places {
    /// Waits for a place, in the order of arrival.
    async fn get(&self, owner: Option<Uuid>) -> Result<[Option<OwnedSemaphorePermit>; 2]> {
        let of_owner = owner.map(|owner| {
            let mut owners = self.of_owners.lock().unwrap_or_else(PoisonError::into_inner);
            // An owner that nobody waits or runs for has no reference but this.
            owners.retain(|_, places| Arc::strong_count(places) > 1);
            let made = || Arc::new(Semaphore::new(self.per_owner));
            owners.entry(owner).or_insert_with(made).clone()
        });
        let waited = tokio::time::timeout(self.deadline, async {
            let own = match of_owner {
                Some(places) => Some(places.acquire_owned().await.ok()?),
                None => None,
            };
            Some([own, Some(self.all.clone().acquire_owned().await.ok()?)])
        });
        waited.await.ok().flatten().ok_or(Error::TooSlow)
    }
}

/// A row that has left its statement.
#[derive(Debug)]
pub(crate) struct OwnedRow {
    /// Number of the run of the statement.
    pub(crate) run: usize,
    /// Its columns.
    pub(crate) values: Vec<Value>,
}

/// The way of rows to the caller.
#[derive(Debug)]
pub(crate) struct RowSender {
    portion: Vec<OwnedRow>,
    bytes: usize,
    to: mpsc::Sender<Vec<OwnedRow>>,
    until: Arc<Mutex<Instant>>,
}

impl RowSender {
    /// Passes a row on.
    pub(crate) fn send(&mut self, run: usize, row: &Row<'_>) -> Result<()> {
        let width = row.as_ref().column_count();
        let mut values = Vec::with_capacity(width);
        for index in 0..width {
            let value: Value = row.get_ref(index)?.try_into().map_err(Error::defect)?;
            self.bytes += match &value {
                Value::Text(text) => text.len(),
                Value::Blob(bytes) => bytes.len(),
                _ => 0,
            };
            values.push(value);
        }
        self.portion.push(OwnedRow { run, values });
        if self.portion.len() >= PORTION || self.bytes >= PORTION_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.bytes = 0;
        let begun = Instant::now();
        let sent = self.to.blocking_send(std::mem::take(&mut self.portion));
        // The statement is not slow while its caller is.
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) += begun.elapsed();
        sent.map_err(|_| Error::TooSlow)
    }
}

/// A caller that waits: when it is dropped, its statement ends.
#[derive(Debug, Default)]
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl PooledConnection {
    /// Whether statements are bounded: those of readers, where there is a thread to leave.
    pub(crate) fn is_bounded(&self) -> bool {
        self.pool.is_some() && tokio::runtime::Handle::try_current().is_ok()
    }

    /// Runs a statement for a moment. `None` if that was too short.
    pub(crate) fn run_briefly<T>(&mut self, run: impl FnOnce(&Connection) -> Result<T>) -> Result<Option<T>> {
        let late = Arc::new(AtomicBool::new(false));
        let done = {
            let (late, begun) = (late.clone(), Instant::now());
            self.run_until(run, move || {
                let is_late = begun.elapsed() > MOMENT;
                if is_late {
                    late.store(true, Ordering::Relaxed);
                }
                is_late
            })
        };
        if late.load(Ordering::Relaxed) {
            return Ok(None);
        }
        done.map(Some)
    }

    /// Runs a statement elsewhere and visits its rows here.
    pub(crate) async fn run_elsewhere(
        &mut self,
        owner: Option<Uuid>,
        run: impl FnOnce(&Connection, &mut RowSender) -> Result<()> + Send + 'static,
        mut visit: impl FnMut(OwnedRow) -> Result<()>,
    ) -> Result<()> {
        let Some(pool) = self.pool.clone() else {
            return Err(Error::Defect("a connection without a pool".to_owned()));
        };
        let place = pool.places.get(owner).await?;
        let until = Arc::new(Mutex::new(Instant::now() + pool.places.deadline));
        let mut moved = Self {
            connection: self.connection.take(),
            pool: Some(pool),
            statistics: self.statistics,
        };
        let (to, mut portions) = mpsc::channel(2);
        let mut sender = RowSender {
            portion: Vec::new(),
            bytes: 0,
            to,
            until: until.clone(),
        };
        let waiting = Waiting::default();
        let left = waiting.0.clone();
        let task = tokio::task::spawn_blocking(move || {
            let is_over = move || {
                left.load(Ordering::Relaxed)
                    || Instant::now() > *until.lock().unwrap_or_else(PoisonError::into_inner)
            };
            let done = moved.run_until(
                |connection| {
                    run(connection, &mut sender)?;
                    sender.flush()
                },
                is_over,
            );
            drop((sender, place));
            (moved, done)
        });
        let mut visited = Ok(());
        while let Some(portion) = portions.recv().await {
            visited = portion.into_iter().try_for_each(&mut visit);
            if visited.is_err() {
                break;
            }
        }
        drop(portions);
        let (mut moved, done) = task
            .await
            .map_err(|_| Error::Unavailable("a read ended with its thread".to_owned()))?;
        drop(waiting);
        self.connection = moved.connection.take();
        visited.and(done)
    }

    /// Runs a statement that SQLite interrupts once `is_over`.
    fn run_until<T>(
        &mut self,
        run: impl FnOnce(&Connection) -> Result<T>,
        is_over: impl FnMut() -> bool + Send + 'static,
    ) -> Result<T> {
        self.get_mut()?.progress_handler(STEPS, Some(is_over))?;
        let done = run(self.get()?);
        self.get_mut()?.progress_handler(0, None::<fn() -> bool>)?;
        done
    }

    fn get_mut(&mut self) -> Result<&mut Connection> {
        self.connection
            .as_mut()
            .ok_or_else(|| Error::Defect("the connection has been given back".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        sql,
        sqlite::connection::ConnectionPool,
        transaction::{Tx, TxConnection},
    };

    #[tokio::test]
    async fn a_statement_ends_at_its_deadline() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        drop(super::super::connect(&path, true).unwrap());
        let mut pool = ConnectionPool::default();
        pool.places = Arc::new(Places {
            deadline: Duration::from_millis(20),
            ..Places::default()
        });
        let mut tx = Tx {
            connection: TxConnection::Sqlite(pool.get(&path).unwrap()),
        };
        let endless =
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        let ended = sql(endless).fetch_one(&mut tx, |c| c.take::<i64>()).await;
        assert!(matches!(ended, Err(Error::TooSlow)), "{ended:?}");
        // The connection is as good as before.
        let one = sql("SELECT 1").fetch_one(&mut tx, |c| c.take::<i64>()).await;
        assert_eq!(one.unwrap(), 1);
    }
}
