//! Schedules: what runs at which times of the week.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Head, Instant,
    actions::AllowedActions,
    autopilot::{Weekday, WeekdayInputs},
    declare::operation,
    ids::ProjectId,
    words::words,
};

words! {
    /// Work that a schedule starts.
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

operation! {
    /// Lists the schedules of a project: when audits, runs of prompts, refreshes of metrics and posts of the autopilot come next,
    /// and what became of the last.
    ///
    /// Those of which the caller may read the results: `audits` needs `audits:read`, `visibility` `visibility:read`, `metrics`
    /// `keywords:read`, `posts` `autopilot:read`.
    ListSchedules {
        project;
    }
}

operation! {
    /// Changes the given settings of a schedule.
    ///
    /// Needs the scope that starts the same work: `audits:write` for `audits`, `visibility:track` for `visibility`,
    /// `content:generate` for `metrics`. `posts` is changed by `autopilot.update`. What is missing to turn it on is named in
    /// `missing` of `409 invalid_state`: `engine`, `prompts`, `max_cost` and `price` for `visibility`, `provider` for `metrics`.
    UpdateSchedule {
        project;
        /// `audits`, `visibility` or `metrics`.
        #[schemars(example = &"audits")]
        kind: String,
        /// Whether it is on.
        enabled: Option<bool>,
        /// Minimum number of calendar days from one slot to the next.
        #[serde(rename = "interval_days")]
        #[schemars(range(min = 1, max = 90), example = 7)]
        interval_days: Option<u8>,
        /// Days with slots: 0 to 7, where 0 and 7 are Sunday and 1 is Monday, or English names such as `mon` or `monday` in any
        /// case, each day once; `null` for every day.
        weekdays: Patch<WeekdayInputs>,
        /// Local time of day, `HH:MM`. On a day on which the clocks are put forward over it, it moves forward with them; of a
        /// time that comes twice, the first is meant.
        #[schemars(length(max = 5), example = &"09:00")]
        time: Option<String>,
        /// IANA name of a time zone; `null` for that of the project.
        #[schemars(length(max = 64), example = &"Europe/Berlin")]
        timezone: Patch<String>,
        /// Answers per prompt and engine of a run, 1 to 5; only of `visibility`.
        #[schemars(range(min = 1, max = 5))]
        samples: Option<u8>,
        /// Most that the work of one slot may cost, in US dollars; only of `visibility`, which needs it, and of `metrics`.
        #[serde(rename = "max_cost")]
        #[schemars(range(min = 0, max = 10_000), example = 0.5)]
        max_cost: Patch<f64>,
    }
}

/// The schedules of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Schedules {
    /// One of each kind that the caller may read.
    pub data: Vec<Schedule>,
    /// Always `null`.
    pub next_cursor: Option<String>,
    /// State of what starts them.
    pub scheduler: SchedulerStatus,
}

impl Answer for Schedules {}

/// State of the ticks that start what is due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SchedulerStatus {
    /// Time of the last tick of the process that answers; `null` before the first, and always where it runs no jobs.
    pub last_tick_at: Option<Instant>,
    /// Seconds from one tick to the next, up to 3 more.
    #[schemars(example = 15)]
    pub interval_seconds: u32,
}

/// A schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Schedule {
    /// Id of the project.
    #[serde(rename = "projectId")]
    pub project_id: ProjectId,
    /// Work that it starts.
    pub kind: ScheduleKind,
    /// Whether it is on.
    pub enabled: bool,
    /// Minimum number of calendar days from one slot to the next. It counts from the last slot that was started.
    #[schemars(range(min = 1, max = 90), example = 7)]
    pub interval_days: u8,
    /// Days with slots, sorted: 0 for Sunday to 6 for Saturday; `null` for every day.
    #[schemars(example = [1, 4])]
    pub weekdays: Option<Vec<u8>>,
    /// English names of the days with slots, in the same order; all seven for every day.
    #[schemars(example = ["monday", "thursday"])]
    pub weekday_names: Vec<Weekday>,
    /// Local time of day, `HH:MM`.
    #[schemars(example = &"09:00")]
    pub time: String,
    /// IANA name of the time zone; `null` for that of the project.
    #[schemars(example = &"Europe/Berlin")]
    pub timezone: Option<String>,
    /// Answers per prompt and engine of a run; `null` for kinds that have none.
    pub samples: Option<u8>,
    /// Most that the work of one slot may cost, in US dollars.
    pub max_cost: Option<f64>,
    /// Time of the next slot; `null` while it is off.
    pub next_at: Option<Instant>,
    /// Time of the last slot that was used or skipped.
    pub last_at: Option<Instant>,
    /// Outcome of that slot: `started`, `already_running`, `nothing_to_do`, `failed` or `skipped_missed`; of `posts` that of a
    /// run of the autopilot. What was started has its own outcome.
    #[schemars(example = &"started")]
    pub last_outcome: Option<String>,
    /// Reason of the outcome, where there is more to say.
    pub last_detail: Option<String>,
    /// Seconds for which the next slot has been due, if no process has used it within 30 seconds.
    pub late_by: Option<u64>,
    /// Version number, incremented by every change; 0 before the first. Part of the `ETag`.
    #[schemars(example = 1)]
    pub version: i64,
    /// Time of the last change by a caller; `null` before the first.
    #[serde(rename = "updatedAt")]
    pub updated_at: Option<Instant>,
    /// Actions that the caller may perform now. `enable` is to set `enabled` to `true`.
    #[serde(rename = "allowedActions")]
    pub allowed_actions: AllowedActions,
}

impl Answer for Schedule {
    fn head(&self) -> Head {
        Head {
            etag: Some(format!("{}-{}-{}", self.project_id, self.kind, self.version)),
            ..Head::default()
        }
    }
}
