//! Places for the assessment of long texts, which takes seconds of a core.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use searchwright_store::access::ProjectScope;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

use crate::failure::{Result, defect};

/// Places for half of the cores, so that the others serve. A project takes one at a time: it waits for itself before it waits
/// for others.
#[derive(Debug)]
pub(crate) struct Places {
    all: Arc<Semaphore>,
    projects: Mutex<HashMap<Uuid, Arc<Semaphore>>>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    _of_project: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

impl Default for Places {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            all: Arc::new(Semaphore::new(cores.div_ceil(2))),
            projects: Mutex::default(),
        }
    }
}

impl Places {
    /// Waits for a place.
    pub(crate) async fn take(&self, scope: ProjectScope) -> Result<Place> {
        let own = {
            let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
            // nobody waits for, or has, the place of a project that only this table knows
            projects.retain(|_, place| Arc::strong_count(place) > 1);
            let new = || Arc::new(Semaphore::new(1));
            projects.entry(scope.project()).or_insert_with(new).clone()
        };
        let closed = |e| defect("places", e);
        Ok(Place {
            _of_project: own.acquire_owned().await.map_err(closed)?,
            _of_all: self.all.clone().acquire_owned().await.map_err(closed)?,
        })
    }
}
