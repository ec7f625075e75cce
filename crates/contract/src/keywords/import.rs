//! Keywords from files of other tools, and what became of each row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::KeywordStatus;
use crate::{Answer, declare::operation, jobs::Job, words::words};

operation! {
    /// Takes keywords from a file of another tool: Semrush, Ahrefs, Google Keyword Planner or Search Console.
    ///
    /// Encoding, delimiter, header and format are found by themselves. A row adds a keyword or updates the one
    /// that has its text; a value that the file does not give stays as it is. A broken row costs itself only. Over
    /// HTTP the file may be the body itself (`Content-Type: text/csv`). At most 16 MiB and 100,000 rows.
    ImportKeywords {
        project;
        /// The file: its text, or a `data:` URL (RFC 2397) with its bytes in base64.
        #[schemars(length(min = 1, max = 16_777_216), example = &"Keyword,Volume,Keyword Difficulty\nstanding desk,2400,31\n")]
        file file: String,
        /// Language of the keywords, BCP 47; the project's unless given.
        #[schemars(length(min = 2, max = 35))]
        language: Option<String>,
        /// Country, ISO 3166-1 alpha-2, where the file names none; the project's unless given.
        #[schemars(length(min = 2, max = 2))]
        country: Option<String>,
        /// Status of keywords that are new; `new` unless given.
        status: Option<KeywordStatus>,
    }
}

words! {
    /// What became of a row.
    RowOutcome {
        /// A keyword was added.
        Created = "created",
        /// A keyword learnt something.
        Updated = "updated",
        /// All of it was known.
        Unchanged = "unchanged",
        /// An earlier row of the file has the same text and says as much.
        Duplicate = "duplicate",
        /// The row is broken; see `code` and `detail`.
        Failed = "failed",
    }
}

/// What became of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// The format that was recognised.
    #[schemars(example = &"semrush_keywords")]
    pub format: String,
    /// Rows read, the header apart.
    pub rows: u64,
    /// Keywords added.
    pub created: u64,
    /// Keywords that learnt something.
    pub updated: u64,
    /// Rows that said nothing new.
    pub unchanged: u64,
    /// Rows whose text an earlier row had.
    pub duplicates: u64,
    /// Broken rows.
    pub failed: u64,
    /// Rows one by one: the broken ones first, at most 1,000 in all.
    pub outcomes: Vec<ImportedRow>,
    /// Rows beyond those in `outcomes`.
    pub more_outcomes: u64,
    /// The work that follows: putting the keywords in clusters. `null` where nothing changed, or where too much waits
    /// already.
    #[serde(default)]
    pub job: Option<Job>,
}

/// What became of one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportedRow {
    /// Line of the file on which the row begins, from 1.
    pub line: u64,
    /// What became of it.
    pub outcome: RowOutcome,
    /// The keyword it made or met.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub keyword_id: Option<String>,
    /// Kind of fault.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// Header of the column to blame.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<String>,
    /// What was found.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

impl Answer for Imported {}
