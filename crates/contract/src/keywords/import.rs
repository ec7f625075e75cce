//! Import of keywords from files of other tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::KeywordStatus;
use crate::{Answer, Head, declare::operation, ids::KeywordId, jobs::Job, words::words};

operation! {
    /// Imports keywords from a file: of Semrush, Ahrefs, Google Keyword Planner or Search Console, or a list of your own.
    ///
    /// Encoding, delimiter, header and format are detected; exports of Google may be in the language of your account, and
    /// that of Search Console may be its ZIP archive. A list has one keyword on each line, or columns with the names of the
    /// API (`keyword,searchVolume,keywordDifficulty`). A row adds a keyword, or updates the keyword with the same text; values
    /// that the file lacks stay unchanged. An invalid row does not affect the others. Over HTTP the file may be sent as the
    /// body (`Content-Type: text/csv`, with `charset` if it is known). At most 16 MiB and 100,000 rows.
    ImportKeywords {
        project;
        /// The file: its text, or a `data:` URL (RFC 2397) with its bytes in base64 and, if it is known, their `charset`.
        #[schemars(length(min = 1, max = 16_777_216), example = &"Keyword,Volume,Keyword Difficulty\nstanding desk,2400,31\n")]
        file file: String,
        /// Language (BCP 47) of keywords for which the file has none; defaults to the project's.
        #[schemars(length(min = 2, max = 35))]
        language: Option<String>,
        /// Country (ISO 3166-1 alpha-2) of keywords for which the file has none; defaults to the project's.
        #[schemars(length(min = 2, max = 2))]
        country: Option<String>,
        /// Status of added keywords; default `new`.
        status: Option<KeywordStatus>,
        /// Whether to only tell what would come of each row: nothing is added or changed. At most 50 rows of each outcome
        /// are listed.
        dry_run: Option<bool>,
    }
}

words! {
    /// Outcome of a row.
    RowOutcome {
        /// A keyword was added.
        Created = "created",
        /// A keyword was updated.
        Updated = "updated",
        /// All values were already known.
        Unchanged = "unchanged",
        /// An earlier row of the file has the same text, and this one adds nothing.
        Duplicate = "duplicate",
        /// The row is invalid; see `code` and `detail`.
        Failed = "failed",
    }
}

/// Result of an import.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// Detected format.
    #[schemars(example = &"semrush_keywords")]
    pub format: String,
    /// Whether it was a dry run, so that nothing was stored.
    #[serde(default)]
    pub dry_run: bool,
    /// Rows read, without the header.
    pub rows: u64,
    /// Keywords added.
    pub created: u64,
    /// Keywords updated.
    pub updated: u64,
    /// Rows without new values.
    pub unchanged: u64,
    /// Rows with the same text as an earlier row.
    pub duplicates: u64,
    /// Invalid rows.
    pub failed: u64,
    /// Outcomes of single rows: invalid rows first, at most 1,000 in total.
    pub outcomes: Vec<ImportedRow>,
    /// Number of rows not listed in `outcomes`.
    pub more_outcomes: u64,
    /// Job that clusters the keywords; `null` if nothing changed, or if too many jobs are waiting.
    #[serde(default)]
    pub job: Option<Job>,
}

/// Outcome of one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportedRow {
    /// Line of the file on which the row begins, from 1.
    pub line: u64,
    /// Outcome.
    pub outcome: RowOutcome,
    /// Id of the keyword that was added or that has the same text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub keyword_id: Option<KeywordId>,
    /// Machine-readable kind of fault.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// Header of the faulty column.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<String>,
    /// Human-readable explanation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

impl Answer for Imported {
    const DRY_RUN: bool = true;

    fn head(&self) -> Head {
        Head {
            is_dry_run: self.dry_run,
            ..Head::default()
        }
    }
}
