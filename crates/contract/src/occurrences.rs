//! Marking of occurrences: as fixed, as not fixed, or as accepted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, Instant, declare::operation, issues::OccurrenceState, words::words};

/// An occurrence: an issue on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Id of the issue.
    #[schemars(length(max = 100), example = &"5b7c1d0e-3f6a-5b8e-9c4d-2a1f0e9d8c7b")]
    pub issue_id: String,
    /// Id of the page.
    #[schemars(length(max = 100), example = &"8d1f6a4c-2b3e-5f70-a1b2-c3d4e5f60718")]
    pub page_id: String,
    /// `version` of the occurrence that was read; the pair is refused if the occurrence has changed since.
    #[serde(rename = "ifVersion", default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100), example = &"60303ae22b998861")]
    pub if_version: Option<String>,
}

operation! {
    /// Marks occurrences as fixed on the site, at most 100 per call.
    ///
    /// A mark is not proof: start one recheck after marking everything. Every item has its own outcome; a refused
    /// item does not affect the others.
    MarkDone {
        project;
        /// The fixed occurrences, at most 100, and no others.
        #[schemars(length(min = 1, max = 100))]
        json occurrences: Vec<Pair>,
        /// Description of the fix.
        #[schemars(length(min = 1, max = 1000))]
        note: Option<String>,
    }
}

operation! {
    /// Reverts the mark as fixed: the occurrences are open again.
    UndoDone {
        project;
        /// The occurrences, at most 100.
        #[schemars(length(min = 1, max = 100))]
        json occurrences: Vec<Pair>,
        /// Reason.
        #[schemars(length(min = 1, max = 1000))]
        note: Option<String>,
    }
}

operation! {
    /// Ignores occurrences: they are left out of the lists and the score, until `until` if given.
    IgnoreOccurrences {
        project;
        /// The occurrences, at most 100.
        #[schemars(length(min = 1, max = 100))]
        json occurrences: Vec<Pair>,
        /// Reason.
        #[schemars(length(min = 1, max = 1000))]
        note: Option<String>,
        /// Time at which they are open again; default never.
        until: Option<Instant>,
    }
}

operation! {
    /// Reopens ignored occurrences.
    UnignoreOccurrences {
        project;
        /// The occurrences, at most 100.
        #[schemars(length(min = 1, max = 100))]
        json occurrences: Vec<Pair>,
        /// Reason.
        #[schemars(length(min = 1, max = 1000))]
        note: Option<String>,
    }
}

words! {
    /// Outcome of one item of a batch.
    MarkOutcome {
        /// Its state changed.
        Changed = "changed",
        /// It already was in that state.
        Unchanged = "unchanged",
        /// Refused; see `code`.
        Refused = "refused",
    }
}

/// Outcome of one item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Marked {
    /// Id of the issue.
    pub issue_id: String,
    /// Id of the page.
    pub page_id: String,
    /// Outcome.
    pub outcome: MarkOutcome,
    /// Current state; `null` if the project has no such occurrence.
    pub state: Option<OccurrenceState>,
    /// Reason of the refusal: `not_found`, `precondition_failed` (the occurrence has changed since `ifVersion`),
    /// `occurrence_ignored`, `recheck_pending` or `invalid_state`; `null` unless refused.
    pub code: Option<String>,
}

/// Outcome of a batch, item by item in the given order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Marking {
    /// Number of items whose state changed.
    #[schemars(example = 3)]
    pub changed: u32,
    /// Number of items that were refused.
    #[schemars(example = 0)]
    pub refused: u32,
    /// Outcomes of all items.
    pub items: Vec<Marked>,
}

impl Answer for Marking {}
