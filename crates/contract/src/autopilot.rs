//! Settings of the autopilot, one record per project.

use std::{borrow::Cow, convert::Infallible, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Fault, Head, Instant,
    actions::AllowedActions,
    declare::operation,
    ids::{AutopilotRunId, KeywordId, PostId, ProjectId},
    words::words,
};

words! {
    /// Day of the week.
    Weekday {
        /// Sunday, 0.
        Sunday = "sunday",
        /// Monday, 1.
        Monday = "monday",
        /// Tuesday, 2.
        Tuesday = "tuesday",
        /// Wednesday, 3.
        Wednesday = "wednesday",
        /// Thursday, 4.
        Thursday = "thursday",
        /// Friday, 5.
        Friday = "friday",
        /// Saturday, 6.
        Saturday = "saturday",
    }
}

impl Weekday {
    /// Number as in cron: 0 for Sunday to 6 for Saturday.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Returns the weekday of a number of cron: 0 to 7, where 0 and 7 are Sunday.
    pub fn from_number(number: i64) -> Option<Self> {
        let number = if number == 7 { 0 } else { number };
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// Returns the weekday of an English name, whole or its first three letters, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        let is_named = |day: &Self| {
            let whole = day.as_str();
            name.eq_ignore_ascii_case(whole) || whole.get(..3).is_some_and(|s| name.eq_ignore_ascii_case(s))
        };
        Self::ALL.iter().copied().find(is_named)
    }
}

/// A weekday of a request: a number of cron or an English name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WeekdayInput {
    /// Number, 0 to 7.
    Number(i64),
    /// Name, whole or its first three letters.
    Name(String),
}

impl WeekdayInput {
    /// Returns the weekday that is meant.
    pub fn weekday(&self) -> Option<Weekday> {
        match self {
            Self::Number(number) => Weekday::from_number(*number),
            Self::Name(name) => Weekday::from_name(name),
        }
    }
}

impl FromStr for WeekdayInput {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text
            .parse()
            .map_or_else(|_| Self::Name(text.to_owned()), Self::Number))
    }
}

/// Weekdays of a request; on a command line a list with commas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WeekdayInputs(pub Vec<WeekdayInput>);

impl WeekdayInputs {
    /// Returns the weekdays from Sunday on, or the fault of every item that is no weekday or repeats one. `pointer` is
    /// that of the list.
    pub fn weekdays(&self, pointer: &str) -> Result<Vec<Weekday>, Vec<Fault>> {
        let mut weekdays = Vec::new();
        let mut faults = Vec::new();
        for (index, input) in self.0.iter().enumerate() {
            let (code, detail) = match input.weekday() {
                None => (
                    "not_a_weekday",
                    "is neither 0 to 7 nor an English weekday such as mon or monday".to_owned(),
                ),
                Some(day) if weekdays.contains(&day) => {
                    ("duplicate", format!("is {day}, which is given twice"))
                }
                Some(day) => {
                    weekdays.push(day);
                    continue;
                }
            };
            faults.push(Fault {
                pointer: format!("{pointer}/{index}"),
                code: code.to_owned(),
                detail,
            });
        }
        weekdays.sort_unstable();
        if faults.is_empty() {
            Ok(weekdays)
        } else {
            Err(faults)
        }
    }
}

impl FromStr for WeekdayInputs {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        text.split(',')
            .map(|item| item.trim().parse())
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl JsonSchema for WeekdayInputs {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "WeekdayInputs".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "array",
            "items": { "type": ["integer", "string"], "minimum": 0, "maximum": 7, "minLength": 1, "maxLength": 20 },
            "minItems": 1,
            "maxItems": 7,
            "examples": [["mon", "thursday"], [1, 4]]
        })
    }
}

operation! {
    /// Returns the settings of the autopilot.
    ///
    /// A project that has not changed them has the defaults, with version 0.
    GetAutopilot {
        project;
    }
}

words! {
    /// Treatment of posts that are ready.
    AutopilotMode {
        /// They wait as drafts; nothing is scheduled.
        Propose = "propose",
        /// They are scheduled once a person approves them.
        Review = "review",
        /// They are scheduled at once, and held for some hours in which a person may stop them.
        Auto = "auto",
    }
}
words! {
    /// Reason for which the autopilot paused itself.
    PauseReason {
        /// Three runs in a row failed.
        Failures = "failures",
        /// The integration needs a person: its authorization has ended, or none is ready.
        Integration = "integration",
        /// The posts of the month are used up; it goes on with the next month.
        MonthlyCap = "monthly_cap",
        /// Two posts in a row could not be found at their address.
        Unverified = "unverified",
        /// Five posts wait for review.
        ReviewBacklog = "review_backlog",
    }
}

operation! {
    /// Changes the given settings of the autopilot.
    ///
    /// To enable it takes an integration that is ready and a keyword with status `approved` and no live post, else the
    /// answer is `409 invalid_state` with `missing`: `integration`, `keyword` or both. `enabled: true` also ends a pause; posts
    /// whose slot has passed meanwhile are listed in `overdue` and wait for a person. `enabled: false` cancels what is under way
    /// and keeps the drafts.
    UpdateAutopilot {
        project;
        /// Whether it publishes.
        enabled: Option<bool>,
        /// Minimum number of calendar days from one of its publications to the next.
        #[serde(rename = "publish_interval_days")]
        #[schemars(range(min = 1, max = 90), example = 7)]
        publish_interval_days: Option<u8>,
        /// Days on which it publishes: 0 to 7, where 0 and 7 are Sunday and 1 is Monday, or English names such as `mon`
        /// or `monday` in any case, each day once; `null` for every day.
        #[serde(rename = "publish_weekdays")]
        publish_weekdays: Patch<WeekdayInputs>,
        /// Local time at which it publishes, `HH:MM`; default 09:00.
        #[serde(rename = "publish_time")]
        #[schemars(length(min = 5, max = 5), example = &"09:00")]
        publish_time: Option<String>,
        /// Time zone of dates and times, by its IANA name; `null` for that of the project.
        #[schemars(length(min = 1, max = 64), example = &"Europe/Berlin")]
        timezone: Patch<String>,
        /// Treatment of posts that are ready; default `review`.
        mode: Option<AutopilotMode>,
        /// `true` is mode `auto`, `false` is mode `review`.
        #[serde(rename = "auto_publish")]
        auto_publish: Option<bool>,
        /// Hours for which mode `auto` holds a post before it is published; default 24.
        #[serde(rename = "hold_hours")]
        #[schemars(range(min = 0, max = 72), example = 24)]
        hold_hours: Option<u8>,
        /// Days before a slot on which its post is written; default 2.
        #[serde(rename = "lead_days")]
        #[schemars(range(min = 1, max = 14), example = 2)]
        lead_days: Option<u8>,
        /// Content score below which a post is written once more, and then waits for a person; default 60.
        #[serde(rename = "min_score")]
        #[schemars(range(min = 0, max = 100), example = 60)]
        min_score: Option<u8>,
        /// Posts per calendar month; default 12. It cannot be more than three times what the site published in the best of its
        /// last six months.
        #[serde(rename = "monthly_cap")]
        #[schemars(range(min = 1, max = 31), example = 12)]
        monthly_cap: Option<u8>,
        /// Whether the person who last changed a post may not approve it; holds where two members may approve. Default `true`.
        #[serde(rename = "reviewer_other_than_author")]
        reviewer_other_than_author: Option<bool>,
        /// Whether posts become drafts at the provider, which a person publishes there; default `false`.
        #[serde(rename = "draft_only")]
        draft_only: Option<bool>,
        /// Percent of the slots that bring the text of a published post up to date instead of publishing a new post: the oldest
        /// one whose page has new problems or is cited less. Such a change always needs an approval. Default 0.
        #[serde(rename = "refresh_share")]
        #[schemars(range(min = 0, max = 100), example = 25)]
        refresh_share: Option<u8>,
        /// Time until which it pauses; `null` for no pause.
        #[serde(rename = "paused_until")]
        paused_until: Patch<Instant>,
    }
}

operation! {
    /// Returns the next slots with the given settings, and saves nothing.
    ///
    /// Settings that are left out are those of the project. It is assumed that each slot is used. Settings that decide what is
    /// published, and not when, are checked and have no effect.
    PreviewAutopilot {
        project;
        /// Ignored: slots are shown whether it is on or not.
        enabled: Option<bool>,
        /// Minimum number of calendar days from one publication to the next.
        #[serde(rename = "publish_interval_days")]
        #[schemars(range(min = 1, max = 90), example = 7)]
        publish_interval_days: Option<u8>,
        /// Days, as in `PATCH autopilot`; `null` for every day.
        #[serde(rename = "publish_weekdays")]
        publish_weekdays: Patch<WeekdayInputs>,
        /// Local time, `HH:MM`.
        #[serde(rename = "publish_time")]
        #[schemars(length(min = 5, max = 5), example = &"09:00")]
        publish_time: Option<String>,
        /// Time zone, by its IANA name; `null` for that of the project.
        #[schemars(length(min = 1, max = 64), example = &"Europe/Berlin")]
        timezone: Patch<String>,
        /// No effect on slots.
        mode: Option<AutopilotMode>,
        /// No effect on slots.
        #[serde(rename = "auto_publish")]
        auto_publish: Option<bool>,
        /// No effect on slots.
        #[serde(rename = "hold_hours")]
        #[schemars(range(min = 0, max = 72))]
        hold_hours: Option<u8>,
        /// No effect on slots.
        #[serde(rename = "lead_days")]
        #[schemars(range(min = 1, max = 14))]
        lead_days: Option<u8>,
        /// No effect on slots.
        #[serde(rename = "min_score")]
        #[schemars(range(min = 0, max = 100))]
        min_score: Option<u8>,
        /// No effect on slots.
        #[serde(rename = "monthly_cap")]
        #[schemars(range(min = 1, max = 31))]
        monthly_cap: Option<u8>,
        /// No effect on slots.
        #[serde(rename = "reviewer_other_than_author")]
        reviewer_other_than_author: Option<bool>,
        /// No effect on slots.
        #[serde(rename = "draft_only")]
        draft_only: Option<bool>,
        /// No effect on slots.
        #[serde(rename = "refresh_share")]
        #[schemars(range(min = 0, max = 100))]
        refresh_share: Option<u8>,
        /// Local date of the last publication; default that of the project.
        #[serde(rename = "last_publish_date")]
        #[schemars(length(min = 10, max = 10), example = &"2026-11-02")]
        last_publish_date: Option<String>,
        /// Time after which slots are sought; default now.
        after: Option<Instant>,
        /// Number of slots; default 10.
        #[schemars(range(min = 1, max = 60))]
        count: Option<u8>,
        /// Time until which it pauses; `null` for no pause.
        #[serde(rename = "paused_until")]
        paused_until: Patch<Instant>,
    }
}

operation! {
    /// Lists the runs of the autopilot, newest first: one for each slot, with its keyword, its post and its outcome.
    ListAutopilotRuns {
        project;
        /// Only runs with this outcome.
        outcome: Option<AutopilotOutcome>,
        paging;
    }
}

words! {
    /// Outcome of a run of the autopilot.
    AutopilotOutcome {
        /// Its post is being written.
        Preparing = "preparing",
        /// Its post waits for a person.
        AwaitingReview = "awaiting_review",
        /// Its post is scheduled.
        Scheduled = "scheduled",
        /// Its post is on its way to the provider.
        Publishing = "publishing",
        /// Its post is published.
        Published = "published",
        /// No approved keyword was left.
        NoKeyword = "no_keyword",
        /// It failed; `detail` says why and what to do.
        Failed = "failed",
        /// A person rejected its post.
        Rejected = "rejected",
        /// It was canceled, because the autopilot was turned off or the post was archived.
        Canceled = "canceled",
        /// Its slot passed a day or more before anybody could use it.
        SkippedMissed = "skipped_missed",
    }
}

impl AutopilotOutcome {
    /// Returns whether nothing follows.
    pub const fn is_final(self) -> bool {
        !matches!(
            self,
            Self::Preparing | Self::AwaitingReview | Self::Scheduled | Self::Publishing
        )
    }
}

/// Slots of a preview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlotPreview {
    /// The slots, earliest first.
    pub slots: Vec<PreviewSlot>,
}

impl Answer for SlotPreview {}

/// A slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PreviewSlot {
    /// Local date.
    #[schemars(example = &"2026-11-09")]
    pub local_date: String,
    /// Local time. Where the clocks are put forward over the time of the settings, it is later by as much.
    #[schemars(example = &"09:00")]
    pub local_time: String,
    /// Time.
    pub at: Instant,
}

/// A run of the autopilot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AutopilotRun {
    /// Identifier (UUIDv7).
    pub id: AutopilotRunId,
    /// Local date of its slot.
    #[schemars(example = &"2026-11-09")]
    pub slot_date: String,
    /// Time of its slot.
    pub slot_at: Instant,
    /// Outcome, so far.
    pub outcome: AutopilotOutcome,
    /// Reason of the outcome, and what to do.
    pub detail: Option<String>,
    /// Id of the keyword.
    pub keyword_id: Option<KeywordId>,
    /// Reason for which this keyword was chosen.
    pub choice: Option<KeywordChoice>,
    /// The published post that it brings up to date, and why; `null` where a new post is written.
    pub refresh: Option<PostRefresh>,
    /// Id of the post; of a new text for a published post, that of its draft until it is published, then that of the post.
    pub post_id: Option<PostId>,
    /// Whether the post was written a second time.
    pub regenerated: bool,
    /// Public URL of the post.
    pub published_url: Option<String>,
    /// Whether the page was found at its URL, with its title and open to search engines; `null` while it was not looked at.
    pub verified: Option<bool>,
    /// Time of the end; `null` before.
    pub finished_at: Option<Instant>,
    /// Time of the start.
    pub created_at: Instant,
    /// Time of the last change.
    pub updated_at: Instant,
}

/// Reason for which a keyword was chosen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeywordChoice {
    /// Text of the keyword.
    pub keyword: String,
    /// Score of the keyword, 0 to 100; `null` if it has none.
    pub score: Option<f64>,
    /// Points added because its searches peak within 60 days of the slot.
    pub seasonal_bonus: f64,
    /// Searches per month.
    pub search_volume: Option<i64>,
    /// Approved keywords without a post that were compared.
    pub candidates: u32,
    /// Of these, keywords that were left out because pages or posts of the site compete for them.
    pub competing: u32,
    /// Whether keywords with a higher score were passed over because the last post was of their cluster.
    pub cluster_rotated: bool,
}

/// A published post that is brought up to date, and the reasons for which it was chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostRefresh {
    /// Id of the published post.
    pub post_id: PostId,
    /// Its public URL.
    pub url: String,
    /// Time of its first publication.
    pub published_at: Instant,
    /// Errors and warnings of its page that audits have found since the text was published.
    pub new_problems: u32,
    /// Citations of the page by answers of the last 28 days; `null` if the fall is not measured.
    pub citations: Option<u64>,
    /// Citations in the 28 days before.
    pub citations_before: Option<u64>,
    /// Published posts that had a reason to be brought up to date.
    pub candidates: u32,
}

/// A post whose slot passed without a publication.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OverduePost {
    /// Id of the post.
    pub post_id: PostId,
    /// Title of the post.
    pub title: Option<String>,
    /// Time of the slot that passed.
    pub slot_at: Instant,
}

/// The settings of the autopilot of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Autopilot {
    /// Id of the project.
    pub project_id: ProjectId,
    /// Whether it publishes.
    pub enabled: bool,
    /// Minimum number of calendar days from one of its publications to the next.
    #[serde(rename = "publish_interval_days")]
    #[schemars(range(min = 1, max = 90), example = 7)]
    pub publish_interval_days: u8,
    /// Days on which it publishes, sorted: 0 for Sunday to 6 for Saturday; `null` for every day.
    #[serde(rename = "publish_weekdays")]
    #[schemars(example = [1, 4])]
    pub publish_weekdays: Option<Vec<u8>>,
    /// English names of the days on which it publishes, in the same order; all seven for every day.
    #[serde(rename = "publish_weekday_names")]
    #[schemars(example = ["monday", "thursday"])]
    pub publish_weekday_names: Vec<Weekday>,
    /// Local time at which it publishes.
    #[serde(rename = "publish_time")]
    #[schemars(example = &"09:00")]
    pub publish_time: String,
    /// Time zone of dates and times; that of the project unless one was set.
    #[schemars(example = &"Europe/Berlin")]
    pub timezone: String,
    /// Treatment of posts that are ready.
    pub mode: AutopilotMode,
    /// Whether the mode is `auto`.
    #[serde(rename = "auto_publish")]
    pub auto_publish: bool,
    /// Hours for which mode `auto` holds a post before it is published.
    #[serde(rename = "hold_hours")]
    pub hold_hours: u8,
    /// Days before a slot on which its post is written.
    #[serde(rename = "lead_days")]
    pub lead_days: u8,
    /// Content score below which a post is written once more, and then waits for a person.
    #[serde(rename = "min_score")]
    pub min_score: u8,
    /// Posts per local day.
    #[serde(rename = "max_posts_per_day")]
    pub max_posts_per_day: u8,
    /// Posts per calendar month.
    #[serde(rename = "monthly_cap")]
    pub monthly_cap: u8,
    /// Whether the person who last changed a post may not approve it.
    #[serde(rename = "reviewer_other_than_author")]
    pub reviewer_other_than_author: bool,
    /// Whether posts become drafts at the provider.
    #[serde(rename = "draft_only")]
    pub draft_only: bool,
    /// Percent of the slots that bring the text of a published post up to date.
    #[serde(rename = "refresh_share")]
    pub refresh_share: u8,
    /// Time until which it pauses; `null` for no pause.
    #[serde(rename = "paused_until")]
    pub paused_until: Option<Instant>,
    /// Reason for which it paused itself; `null` while it has not.
    #[serde(rename = "paused_reason")]
    pub paused_reason: Option<PauseReason>,
    /// The reason in a sentence, with what to do.
    #[serde(rename = "paused_detail")]
    pub paused_detail: Option<String>,
    /// Failed runs since the last one that did not fail.
    #[serde(rename = "consecutive_failures")]
    pub consecutive_failures: u32,
    /// Time of the next slot; `null` while it is off or paused.
    #[serde(rename = "next_publish_at")]
    pub next_publish_at: Option<Instant>,
    /// Time of its last publication; `null` before the first.
    #[serde(rename = "last_publish_at")]
    pub last_publish_at: Option<Instant>,
    /// Posts whose slot passed without a publication. They wait for a person, and none is published unasked. At most 100.
    pub overdue: Vec<OverduePost>,
    /// Version number, incremented by every change; 0 before the first. Part of the `ETag`.
    #[schemars(example = 1)]
    pub version: i64,
    /// Time of the last change; `null` before the first.
    pub updated_at: Option<Instant>,
    /// Actions that the caller may perform now. `enable` is to set `enabled` to `true`.
    pub allowed_actions: AllowedActions,
}

impl Answer for Autopilot {
    fn head(&self) -> Head {
        Head {
            etag: Some(format!("{}-{}", self.project_id, self.version)),
            ..Head::default()
        }
    }
}

#[cfg(test)]
mod tests;
