//! Visits to repositories under way. Each takes a folder of the disk and the memory of programs, so that few are made at once; a
//! project makes one at a time, and waits for itself before it waits for others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

use crate::error::{Cause, Trouble};

/// Visits at a time.
const MAX_VISITS: usize = 2;
/// Longest wait for the others: less than a caller of the API waits for an answer.
const MAX_WAIT: Duration = Duration::from_secs(15);
/// Delay after which a visit that found no place is tried again.
const RETRY: Duration = Duration::from_secs(10);

/// Places of all visits that a process makes.
#[derive(Debug)]
pub struct Visits {
    all: Arc<Semaphore>,
    projects: Mutex<HashMap<Uuid, Arc<Semaphore>>>,
}

/// A place of a visit, until it is dropped.
#[derive(Debug)]
pub(crate) struct VisitPlace {
    _of_all: OwnedSemaphorePermit,
    _of_project: OwnedSemaphorePermit,
}

impl Default for Visits {
    fn default() -> Self {
        Self {
            all: Arc::new(Semaphore::new(MAX_VISITS)),
            projects: Mutex::default(),
        }
    }
}

impl Visits {
    /// Waits for a place, but not for long.
    pub(crate) async fn enter(&self, project: Uuid) -> Result<VisitPlace, Trouble> {
        let own = {
            let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
            // only this table knows the place of a project that makes no visit
            projects.retain(|_, place| Arc::strong_count(place) > 1);
            let new = || Arc::new(Semaphore::new(1));
            projects.entry(project).or_insert_with(new).clone()
        };
        let entering = async {
            Some(VisitPlace {
                _of_project: own.acquire_owned().await.ok()?,
                _of_all: self.all.clone().acquire_owned().await.ok()?,
            })
        };
        let entered = tokio::time::timeout(MAX_WAIT, entering).await;
        entered.ok().flatten().ok_or(Trouble::NotNow {
            cause: Cause::Busy,
            after: Some(RETRY),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn few_visits_are_made_at_once_and_one_of_a_project() {
        let visits = Visits::default();
        let [one, two, three] = [1, 2, 3].map(Uuid::from_u128);
        let busy = Trouble::NotNow {
            cause: Cause::Busy,
            after: Some(RETRY),
        };
        let first = visits.enter(one).await.unwrap();
        assert_eq!(visits.enter(one).await.unwrap_err(), busy, "it makes one already");
        let _second = visits.enter(two).await.unwrap();
        assert_eq!(visits.enter(three).await.unwrap_err(), busy);
        let (third, ()) = tokio::join!(visits.enter(three), async {
            tokio::time::sleep(MAX_WAIT / 2).await;
            drop(first);
        });
        third.unwrap();
        assert!(visits.enter(one).await.is_ok(), "a place is given back");
        drop(visits.enter(three).await);
        assert!(visits.projects.lock().unwrap().len() <= 3, "none is remembered");
    }
}
