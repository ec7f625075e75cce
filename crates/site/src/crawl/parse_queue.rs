//! Small pages that wait to be parsed by one of the tasks that fetched them: handing a page to another thread costs
//! more than parsing it. Pages that arrived together are parsed in a row, because the code of the parser is larger than
//! the first-level caches, and the code of the HTTP client would evict it after every page.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{fetch_task::FetchTask, parse_job::ParseJob};

/// Maximum number of pages parsed in a row.
const TOGETHER: usize = 16;
/// Maximum number of their bytes, unless a single page has more: about two milliseconds, in which the thread does
/// nothing else.
const MAX_BYTES: usize = 384 * 1024;

/// A queue in which every `put` is followed by a `take` of the same task, so that no page is left behind.
#[derive(Debug, Default)]
pub(super) struct ParseQueue(Mutex<Vec<(FetchTask, ParseJob)>>);

impl ParseQueue {
    pub(super) fn put(&self, work: FetchTask, job: ParseJob) {
        self.waiting().push((work, job));
    }

    /// Takes some of the waiting pages, oldest first; empty if other tasks have taken all.
    pub(super) fn take(&self) -> Vec<(FetchTask, ParseJob)> {
        let mut waiting = self.waiting();
        let mut bytes = 0;
        let some = waiting.iter().take(TOGETHER).take_while(|(_, job)| {
            let is_first = bytes == 0;
            bytes += job.response.body.len();
            is_first || bytes <= MAX_BYTES
        });
        let some = some.count();
        waiting.drain(..some).collect()
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<(FetchTask, ParseJob)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;
    use crate::{
        fetch::Response,
        page::{At, UrlId},
        urls::UrlTable,
    };

    /// Returns the numbers of pages taken at a time, given their sizes in bytes.
    fn taken(sizes: &[usize]) -> Vec<usize> {
        let (desk, url) = (ParseQueue::default(), Url::parse("https://example.com/").unwrap());
        let mut table = UrlTable::new(1);
        let id = table.add_url(&url).unwrap();
        for (i, size) in (0..).zip(sizes) {
            let work = FetchTask {
                id: UrlId(i),
                url: url.clone(),
                host: 0,
                attempts: 1,
                hops: 0,
            };
            let job = ParseJob {
                response: Response::new(200, &[], &vec![b'x'; *size]),
                url: url.clone(),
                at: At::default(),
                urls: table.page(id),
            };
            desk.put(work, job);
        }
        let mut next = 0;
        let takes = sizes.iter().map(|_| {
            let some = desk.take();
            assert!(
                some.iter()
                    .zip(next..)
                    .all(|((work, _), id)| work.id == UrlId(id))
            );
            next += some.len() as u32;
            some.len()
        });
        let takes = takes.collect();
        assert_eq!(next as usize, sizes.len());
        takes
    }

    #[test]
    fn as_many_takes_as_puts_leave_nothing() {
        assert_eq!(taken(&[1]), [1]);
        assert_eq!(taken(&[20_000; 17])[..3], [16, 1, 0]);
        assert_eq!(taken(&[200 * 1024; 3]), [1, 1, 1]);
        assert_eq!(taken(&[MAX_BYTES + 1, 1, MAX_BYTES, 1]), [1, 1, 1, 1]);
        assert_eq!(taken(&[100, MAX_BYTES - 100, 1]), [2, 1, 0]);
    }
}
