//! Permission to fetch from an origin, by its robots.txt.

use super::fetch_task::FetchTask;
use crate::{fetch::FetchError, robots::Policy};

/// Rules of an origin, or the tasks that wait for its robots.txt.
pub(super) enum RobotsGate {
    Asking(Vec<FetchTask>),
    Known(Policy),
    /// No server responds there that could forbid anything.
    Absent(FetchError),
}
