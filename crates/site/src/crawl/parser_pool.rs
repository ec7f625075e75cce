//! Threads that parse pages: parsing takes about a millisecond at a time, too long for the threads that poll sockets.
//! The crawler bounds the queue by starting no fetch while it is long.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use tokio::sync::mpsc;

use super::{
    event::CrawlEvent,
    parse_job::{ParseJob, read},
};
use crate::page::Limits;

#[derive(Default)]
struct Queue {
    jobs: VecDeque<ParseJob>,
    closed: bool,
}

struct Shared {
    queue: Mutex<Queue>,
    filled: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<ParseJob> {
        let mut queue = self.lock();
        loop {
            if queue.closed {
                return None;
            }
            if let Some(job) = queue.jobs.pop_front() {
                return Some(job);
            }
            queue = self.filled.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Parser threads of one crawl; they end when the pool is dropped.
pub(super) struct ParserPool {
    shared: Arc<Shared>,
}

impl ParserPool {
    /// Starts as many threads as there are cores, at most eight. Parsed pages go to `out`.
    pub(super) fn start(limits: Limits, out: &mpsc::Sender<CrawlEvent>) -> std::io::Result<Self> {
        let readers = Self {
            shared: Arc::new(Shared {
                queue: Mutex::default(),
                filled: Condvar::new(),
            }),
        };
        let threads = thread::available_parallelism().map_or(2, usize::from).min(8);
        for _ in 0..threads {
            let (shared, out) = (readers.shared.clone(), out.clone());
            thread::Builder::new().name("page-reader".into()).spawn(move || {
                while let Some(job) = shared.take() {
                    if out
                        .blocking_send(CrawlEvent::Read(Box::new(read(job, &limits))))
                        .is_err()
                    {
                        return;
                    }
                }
            })?;
        }
        Ok(readers)
    }

    pub(super) fn push(&self, job: ParseJob) {
        self.shared.lock().jobs.push_back(job);
        self.shared.filled.notify_one();
    }
}

impl Drop for ParserPool {
    fn drop(&mut self) {
        let mut queue = self.shared.lock();
        queue.closed = true;
        queue.jobs.clear();
        self.shared.filled.notify_all();
    }
}
