//! What people and agents say of occurrences: fixed, not fixed after all, accepted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, Instant, declare::operation, issues::OccurrenceState, words::words};

/// An issue on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The issue.
    #[schemars(length(max = 100), example = &"5b7c1d0e-3f6a-5b8e-9c4d-2a1f0e9d8c7b")]
    pub issue_id: String,
    /// The page.
    #[schemars(length(max = 100), example = &"8d1f6a4c-2b3e-5f70-a1b2-c3d4e5f60718")]
    pub page_id: String,
    /// `version` of the occurrence that was read: where it is another one now, the pair is refused.
    #[serde(rename = "ifVersion", default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100), example = &"60303ae22b998861")]
    pub if_version: Option<String>,
}

operation! {
    /// Marks occurrences as fixed on the site, at most 100 per call.
    ///
    /// A claim counts for nothing until it is proven: start one recheck after all is marked. Every item has an outcome
    /// of its own; those that are at fault stop no other.
    MarkDone {
        project;
        /// The occurrences that were fixed, and no others.
        #[schemars(length(min = 1, max = 100))]
        json occurrences: Vec<Pair>,
        /// What was done.
        #[schemars(length(min = 1, max = 1000))]
        note: Option<String>,
    }
}

operation! {
    /// Takes back that occurrences are fixed: they are open again.
    UndoDone {
        project;
        /// The occurrences, at most 100.
        #[schemars(length(min = 1, max = 100))]
        json occurrences: Vec<Pair>,
        /// Why.
        #[schemars(length(min = 1, max = 1000))]
        note: Option<String>,
    }
}

operation! {
    /// Accepts occurrences as they are: they leave the lists and the score, until `until` if that is given.
    IgnoreOccurrences {
        project;
        /// The occurrences, at most 100.
        #[schemars(length(min = 1, max = 100))]
        json occurrences: Vec<Pair>,
        /// Why.
        #[schemars(length(min = 1, max = 1000))]
        note: Option<String>,
        /// When they are open again; never unless given.
        until: Option<Instant>,
    }
}

operation! {
    /// Opens ignored occurrences again.
    UnignoreOccurrences {
        project;
        /// The occurrences, at most 100.
        #[schemars(length(min = 1, max = 100))]
        json occurrences: Vec<Pair>,
        /// Why.
        #[schemars(length(min = 1, max = 1000))]
        note: Option<String>,
    }
}

words! {
    /// What became of one item of a batch.
    MarkOutcome {
        /// Its state is another now.
        Changed = "changed",
        /// It was so already.
        Unchanged = "unchanged",
        /// It cannot be; see `code`.
        Refused = "refused",
    }
}

/// What became of one item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Marked {
    /// The issue.
    pub issue_id: String,
    /// The page.
    pub page_id: String,
    /// What became of it.
    pub outcome: MarkOutcome,
    /// Where it stands now; `null` when the project has no such occurrence.
    pub state: Option<OccurrenceState>,
    /// Why it was refused: `not_found`, `precondition_failed` (not in the `ifVersion` that was read), `occurrence_ignored`,
    /// `recheck_pending` or `invalid_state`.
    pub code: Option<String>,
}

/// The outcome of a batch, item by item in the order they were given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Marking {
    /// Items whose state is another now.
    #[schemars(example = 3)]
    pub changed: u32,
    /// Items that were refused.
    #[schemars(example = 0)]
    pub refused: u32,
    /// Every item.
    pub items: Vec<Marked>,
}

impl Answer for Marking {}
