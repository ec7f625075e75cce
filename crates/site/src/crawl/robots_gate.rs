//! Permission to fetch from an origin, by its robots.txt.

use super::fetch_task::FetchTask;
use crate::{fetch::FetchError, robots::Policy};

/// Rules of an origin, or the tasks that wait for them.
pub(super) enum RobotsGate {
    Asking(Vec<FetchTask>),
    Known(Policy),
    /// Nobody is there who could forbid anything.
    Absent(FetchError),
}
