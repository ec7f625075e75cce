//! Threads that read pages: parsing takes a millisecond at a time, which the threads that wait for
//! sockets do not have. The queue is bounded by the crawl, which starts no fetch while it is long.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use tokio::sync::mpsc;
use url::Url;

use super::run::Event;
use crate::{
    fetch::{Cut, Response, Validators},
    page::{self, At, Limits, Outcome, PageFacts},
    urls::PageUrls,
};

/// An answer to be read.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) response: Response,
    pub(super) url: Url,
    pub(super) at: At,
    pub(super) urls: PageUrls,
}

/// A page that was read. Its ids are provisional until the table adopts them.
#[derive(Debug)]
pub(super) struct ReadPage {
    pub(super) facts: PageFacts,
    pub(super) urls: PageUrls,
    /// Bytes of the body, to know how much is still queued.
    pub(super) held: usize,
}

/// Reads an answer, here and now.
pub(super) fn read(job: Job, limits: &Limits) -> ReadPage {
    let Job {
        response,
        url,
        at,
        mut urls,
    } = job;
    let held = response.body.len();
    let facts = or_cut(&url, at, response.status, || {
        page::read(&response, &url, at, &mut urls, limits)
    });
    ReadPage { facts, urls, held }
}

/// A page that the reader stumbles over must not stop the crawl.
fn or_cut(url: &Url, at: At, status: u16, read: impl FnOnce() -> PageFacts) -> PageFacts {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        tracing::error!(url = url.as_str(), "reading a page panicked");
        PageFacts {
            // so that nothing is taken for proven
            cut: Some(Cut::Size),
            ..PageFacts::without_answer(url, at, Outcome::Status(status))
        }
    })
}

/// What an earlier crawl read is read of the page again, after a 304.
pub(super) fn still(
    facts: PageFacts,
    known: &Validators,
    answer: &Response,
    url: &Url,
    at: At,
    mut urls: PageUrls,
) -> ReadPage {
    let facts = or_cut(url, at, 200, || {
        page::unchanged(facts, known, answer, url, at, &mut urls)
    });
    ReadPage { facts, urls, held: 0 }
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
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

    fn take(&self) -> Option<Job> {
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

/// The threads of one crawl; they end when this is dropped.
pub(super) struct Readers {
    shared: Arc<Shared>,
}

impl Readers {
    /// Starts as many threads as there are cores, at most eight. Pages read go to `out`.
    pub(super) fn start(limits: Limits, out: &mpsc::Sender<Event>) -> std::io::Result<Self> {
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
                        .blocking_send(Event::Read(Box::new(read(job, &limits))))
                        .is_err()
                    {
                        return;
                    }
                }
            })?;
        }
        Ok(readers)
    }

    pub(super) fn push(&self, job: Job) {
        self.shared.lock().jobs.push_back(job);
        self.shared.filled.notify_one();
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        let mut queue = self.shared.lock();
        queue.closed = true;
        queue.jobs.clear();
        self.shared.filled.notify_all();
    }
}
