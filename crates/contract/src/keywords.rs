//! Keywords: what people search for, and what is known of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, Head, Instant, actions::AllowedActions, declare::operation, words::words};

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

operation! {
    /// Lists the keywords of a project, newest first.
    ListKeywords {
        project;
        /// Only keywords of this status.
        status: Option<KeywordStatus>,
        /// Only keywords of this intent.
        intent: Option<Intent>,
        /// Only keywords that contain this text, whatever the case.
        #[schemars(length(min = 1, max = 200))]
        q: Option<String>,
        /// Order; `created` unless given.
        sort: Option<KeywordSort>,
        /// Keywords per page; 25 unless given.
        #[schemars(range(min = 1, max = 100))]
        limit: Option<u8>,
        /// `nextCursor` of the page before, with the same filters.
        #[schemars(length(max = 512))]
        cursor: Option<String>,
    }
}

operation! {
    /// Adds a keyword.
    ///
    /// The text is unique per language and country of the project: a second one answers
    /// `409 already_exists` with `existingId`.
    CreateKeyword {
        project;
        /// The text, at most 200 characters.
        #[schemars(length(min = 1, max = 200), example = &"standing desk")]
        keyword: String,
        /// Searches per month; leave out when unknown.
        #[schemars(range(min = 0, max = 1_000_000_000), example = 2400)]
        search_volume: Option<i64>,
        /// Difficulty, 0 (easy) to 100; leave out when unknown.
        #[schemars(range(min = 0, max = 100), example = 31)]
        keyword_difficulty: Option<i64>,
        /// What a searcher wants.
        #[schemars(example = &"commercial")]
        intent: Option<Intent>,
        /// Language, BCP 47; the project's unless given.
        #[schemars(length(min = 2, max = 35))]
        language: Option<String>,
        /// Country, ISO 3166-1 alpha-2; the project's unless given.
        #[schemars(length(min = 2, max = 2))]
        country: Option<String>,
    }
}

operation! {
    /// Returns one keyword.
    GetKeyword {
        project;
        /// The keyword.
        #[schemars(example = &"01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10")]
        keyword_id: String,
    }
}

operation! {
    /// Changes the members that are named; `null` clears those that may be empty.
    UpdateKeyword {
        project;
        /// The keyword.
        #[schemars(example = &"01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10")]
        keyword_id: String,
        /// Where it stands.
        status: Option<KeywordStatus>,
        /// Searches per month; `null` when unknown.
        #[schemars(range(min = 0, max = 1_000_000_000), example = 2400)]
        search_volume: Patch<i64>,
        /// Difficulty, 0 (easy) to 100; `null` when unknown.
        #[schemars(range(min = 0, max = 100), example = 31)]
        keyword_difficulty: Patch<i64>,
        /// What a searcher wants; `null` when unknown.
        intent: Patch<Intent>,
    }
}

operation! {
    /// Deletes a keyword.
    DeleteKeyword {
        project;
        /// The keyword.
        #[schemars(example = &"01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10")]
        keyword_id: String,
    }
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
