//! Keywords: what people search for, and what is known of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, Head, Instant, Patch, actions::AllowedActions};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $text)] $variant,)* }

        impl $name {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// As on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                Self::ALL.iter().copied().find(|v| v.as_str() == text).ok_or_else(|| {
                    let known: Vec<&str> = Self::ALL.iter().map(|v| v.as_str()).collect();
                    format!("is not one of {}", known.join(", "))
                })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
pub(crate) use words;

words! {
    /// What a searcher wants.
    Intent {
        /// To know something.
        Informational = "informational",
        /// To reach a known place.
        Navigational = "navigational",
        /// To compare before buying.
        Commercial = "commercial",
        /// To buy or act.
        Transactional = "transactional",
    }
}
words! {
    /// Where a keyword stands.
    KeywordStatus {
        /// Found, nobody has looked at it.
        New = "new",
        /// Accepted for use.
        Approved = "approved",
        /// Scheduled for a post.
        Planned = "planned",
        /// A post is being written.
        InProgress = "in_progress",
        /// A post is live.
        Published = "published",
        /// Not wanted.
        Rejected = "rejected",
        /// Kept for the record.
        Archived = "archived",
    }
}
words! {
    /// Why a measured value is missing.
    MissingReason {
        /// Nobody has measured it yet.
        NotMeasured = "not_measured",
        /// No provider is configured that could.
        NoProvider = "no_provider",
        /// The provider failed.
        ProviderError = "provider_error",
        /// A limit stopped it.
        Capped = "capped",
        /// It has no meaning here.
        NotApplicable = "not_applicable",
    }
}
words! {
    /// Where a keyword came from.
    KeywordSource {
        /// A caller added it.
        Manual = "manual",
    }
}
words! {
    /// Order of a list of keywords, highest or newest first.
    KeywordSort {
        /// When it was added.
        Created = "created",
        /// Monthly searches; unknown last.
        SearchVolume = "searchVolume",
        /// Difficulty; unknown last.
        KeywordDifficulty = "keywordDifficulty",
    }
}

/// Lists the keywords of a project, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListKeywords {
    /// The project.
    #[arg(
        long = "project",
        env = "SEARCHWRIGHT_PROJECT",
        default_value = "",
        hide_default_value = true
    )]
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
    pub project_id: String,
    /// Only keywords of this status.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<KeywordStatus>,
    /// Only keywords of this intent.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<Intent>,
    /// Only keywords that contain this text, whatever the case.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 200))]
    pub q: Option<String>,
    /// Order; `created` unless given.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<KeywordSort>,
    /// Keywords per page; 25 unless given.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<u8>,
    /// `nextCursor` of the page before, with the same filters.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub cursor: Option<String>,
}

/// Adds a keyword.
///
/// The text is unique per language and country of the project: a second one answers
/// `409 already_exists` with `existingId`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateKeyword {
    /// The project.
    #[arg(
        long = "project",
        env = "SEARCHWRIGHT_PROJECT",
        default_value = "",
        hide_default_value = true
    )]
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
    pub project_id: String,
    /// The text, at most 200 characters.
    #[schemars(length(min = 1, max = 200), example = &"standing desk")]
    pub keyword: String,
    /// Searches per month; leave out when unknown.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000), example = 2400)]
    pub search_volume: Option<i64>,
    /// Difficulty, 0 (easy) to 100; leave out when unknown.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100), example = 31)]
    pub keyword_difficulty: Option<i64>,
    /// What a searcher wants.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"commercial")]
    pub intent: Option<Intent>,
    /// Language, BCP 47; the project's unless given.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 35))]
    pub language: Option<String>,
    /// Country, ISO 3166-1 alpha-2; the project's unless given.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 2))]
    pub country: Option<String>,
}

/// Returns one keyword.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GetKeyword {
    /// The project.
    #[arg(
        long = "project",
        env = "SEARCHWRIGHT_PROJECT",
        default_value = "",
        hide_default_value = true
    )]
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
    pub project_id: String,
    /// The keyword.
    #[schemars(example = &"01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10")]
    pub keyword_id: String,
}

/// Changes the members that are named; `null` clears those that may be empty.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateKeyword {
    /// The project.
    #[arg(
        long = "project",
        env = "SEARCHWRIGHT_PROJECT",
        default_value = "",
        hide_default_value = true
    )]
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
    pub project_id: String,
    /// The keyword.
    #[schemars(example = &"01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10")]
    pub keyword_id: String,
    /// Where it stands.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<KeywordStatus>,
    /// Searches per month; `null` when unknown.
    #[arg(long, default_value = "", value_parser = patch_integer, hide_default_value = true)]
    #[serde(default, skip_serializing_if = "Patch::is_absent")]
    #[schemars(range(min = 0, max = 1_000_000_000), example = 2400)]
    pub search_volume: Patch<i64>,
    /// Difficulty, 0 (easy) to 100; `null` when unknown.
    #[arg(long, default_value = "", value_parser = patch_integer, hide_default_value = true)]
    #[serde(default, skip_serializing_if = "Patch::is_absent")]
    #[schemars(range(min = 0, max = 100), example = 31)]
    pub keyword_difficulty: Patch<i64>,
    /// What a searcher wants; `null` when unknown.
    #[arg(long, default_value = "", value_parser = patch_intent, hide_default_value = true)]
    #[serde(default, skip_serializing_if = "Patch::is_absent")]
    pub intent: Patch<Intent>,
}

fn patch_integer(text: &str) -> Result<Patch<i64>, std::num::ParseIntError> {
    if text.is_empty() {
        Ok(Patch::Absent)
    } else {
        text.parse()
    }
}

fn patch_intent(text: &str) -> Result<Patch<Intent>, String> {
    if text.is_empty() {
        Ok(Patch::Absent)
    } else {
        text.parse()
    }
}

/// Deletes a keyword.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, clap::Args)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeleteKeyword {
    /// The project.
    #[arg(
        long = "project",
        env = "SEARCHWRIGHT_PROJECT",
        default_value = "",
        hide_default_value = true
    )]
    #[schemars(example = &"01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
    pub project_id: String,
    /// The keyword.
    #[schemars(example = &"01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10")]
    pub keyword_id: String,
}

/// A keyword. Unknown figures are `null`, never 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Keyword {
    /// Identifier (UUIDv7).
    #[schemars(example = &"01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10")]
    pub id: String,
    /// The text, as it was added.
    #[schemars(example = &"standing desk")]
    pub keyword: String,
    /// Searches per month.
    #[schemars(example = 2400)]
    pub search_volume: Option<i64>,
    /// Why `searchVolume` is `null`; `null` when it is known.
    pub search_volume_status: Option<MissingReason>,
    /// Difficulty, 0 (easy) to 100.
    #[schemars(example = 31)]
    pub keyword_difficulty: Option<i64>,
    /// Why `keywordDifficulty` is `null`; `null` when it is known.
    pub keyword_difficulty_status: Option<MissingReason>,
    /// What a searcher wants; `null` when unknown.
    #[schemars(example = &"commercial")]
    pub intent: Option<Intent>,
    /// Language, BCP 47.
    #[schemars(example = &"en")]
    pub language: String,
    /// Country, ISO 3166-1 alpha-2; `null` for all.
    pub country: Option<String>,
    /// Where it stands.
    pub status: KeywordStatus,
    /// Where it came from.
    pub source: KeywordSource,
    /// Counts changes; part of the `ETag`.
    #[schemars(example = 1)]
    pub version: i64,
    /// When it was added.
    pub created_at: Instant,
    /// When it last changed.
    pub updated_at: Instant,
    /// What the caller may do with it now.
    pub allowed_actions: AllowedActions,
}

impl Answer for Keyword {
    fn head(&self) -> Head {
        Head {
            etag: Some(format!("{}-{}", self.id, self.version)),
            location: Some(format!("keywords/{}", self.id)),
            ..Head::default()
        }
    }
}
