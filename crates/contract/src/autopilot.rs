//! Settings of the autopilot, one record per project.

use std::{borrow::Cow, convert::Infallible, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Fault, Head, Instant, actions::AllowedActions, declare::operation, ids::ProjectId, words::words,
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

operation! {
    /// Changes the given settings of the autopilot.
    ///
    /// To enable it takes an integration that is ready and a keyword with status `approved` and no live post, else the
    /// answer is `409 invalid_state` with `missing`: `integration`, `keyword` or both.
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
    }
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
