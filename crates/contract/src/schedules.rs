//! Schedules: what runs at which times of the week.

use crate::words::words;

words! {
    /// What a schedule runs.
    ScheduleKind {
        /// Posts of the autopilot.
        Posts = "posts",
        /// Audits.
        Audits = "audits",
        /// Runs of all active prompts.
        Visibility = "visibility",
        /// Metrics of keywords.
        Metrics = "metrics",
    }
}
words! {
    /// Outcome of a slot of a schedule.
    SlotOutcome {
        /// Its work was started.
        Started = "started",
        /// Nothing was started, because the same work was running.
        AlreadyRunning = "already_running",
        /// Nothing was started, because there is nothing to do.
        NothingToDo = "nothing_to_do",
        /// Its work could not be started; the detail says why.
        Failed = "failed",
        /// Nobody was there to start it for a day or longer.
        SkippedMissed = "skipped_missed",
    }
}
