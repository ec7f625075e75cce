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
        /// Texts of the project's own pages.
        SiteContent = "site_content",
        /// An address in the sitemap.
        Sitemap = "sitemap",
        /// Products, questions and competitors of the brand data.
        BrandData = "brand_data",
        /// What a search box completes.
        Autocomplete = "autocomplete",
        /// A question or comparison built from a term by a pattern of the language.
        QuestionPattern = "question_pattern",
        /// Titles and headings of competitors' pages.
        CompetitorPage = "competitor_page",
        /// Google Search Console.
        Gsc = "gsc",
        /// Google Ads.
        GoogleAds = "google_ads",
        /// DataForSEO.
        Dataforseo = "dataforseo",
        /// An export of Semrush.
        CsvSemrush = "csv_semrush",
        /// An export of Ahrefs.
        CsvAhrefs = "csv_ahrefs",
        /// An export of Google Keyword Planner.
        CsvGkp = "csv_gkp",
        /// An export of Google Search Console.
        CsvGsc = "csv_gsc",
        /// A language model: a candidate, never a figure.
        Llm = "llm",
    }
}
words! {
    /// Who says what a searcher wants.
    IntentSource {
        /// A caller.
        Manual = "manual",
        /// A provider or a file of another tool.
        Provider = "provider",
        /// Rules on the words of the keyword.
        Rules = "rules",
    }
}
words! {
    /// Competition of advertisers, in words.
    CompetitionLevel {
        /// Few.
        Low = "low",
        /// Some.
        Medium = "medium",
        /// Many.
        High = "high",
    }
}
words! {
    /// Order of a list of keywords, highest or newest first.
    KeywordSort {
        /// When it was added.
        Created = "created",
        /// Worth by all that is known; unknown last.
        Score = "score",
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
        /// Only keywords of this cluster.
        #[schemars(length(max = 64))]
        cluster_id: Option<String>,
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
    /// Who says so: a caller before a provider before the rules.
    pub intent_source: Option<IntentSource>,
    /// How sure the rules are, 0 to 1; `null` when they did not decide.
    #[schemars(example = 0.9)]
    pub intent_confidence: Option<f64>,
    /// Which rule decided.
    #[schemars(example = &"\"best\" compares")]
    pub intent_reason: Option<String>,
    /// Worth by all that is known, 0 to 100: relevance, searches, difficulty and intent, missing parts left out.
    #[schemars(example = 63.5)]
    pub score: Option<f64>,
    /// Keywords that one page can answer share a cluster; `null` when alone.
    pub cluster_id: Option<String>,
    /// The one that stands for its cluster: most searched, then shortest.
    pub is_cluster_head: bool,
    /// What other tools and providers say of it.
    #[serde(flatten)]
    pub details: KeywordDetails,
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

/// What other tools and providers say of a keyword. What none has said is `null`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct KeywordDetails {
    /// What a searcher may want besides.
    pub secondary_intents: Vec<Intent>,
    /// Likeness to what the project's pages are about, 0 to 1; `null` for keywords that were not found there.
    pub relevance: Option<f64>,
    /// Searches per month where only a bucket is known.
    pub volume_range: Option<VolumeRange>,
    /// Whose scale `keywordDifficulty` is on; scales differ and are never averaged.
    pub difficulty_source: Option<KeywordSource>,
    /// Price of a click on an ad, in `currency`.
    pub cpc: Option<f64>,
    /// Currency of prices, ISO 4217.
    pub currency: Option<String>,
    /// Competition of advertisers, 0 to 1. Not difficulty.
    pub competition: Option<f64>,
    /// The same in words.
    pub competition_level: Option<CompetitionLevel>,
    /// Searches by month, oldest first, at most 24.
    pub trend: Vec<TrendMonth>,
    /// Twelve months that the tool does not name, oldest first, each as a share of the best one.
    pub trend_relative: Vec<f64>,
    /// Broader keyword this one belongs to.
    pub parent_topic: Option<String>,
    /// What else the page of results shows.
    pub serp_features: Vec<String>,
    /// Position of the site among the results, from 1.
    pub position: Option<f64>,
    /// Page of the site that ranks.
    pub ranking_url: Option<String>,
    /// Clicks to the site, in the export's period.
    pub clicks: Option<i64>,
    /// How often the site was shown, in the export's period. Not a search volume.
    pub impressions: Option<i64>,
    /// The keyword that this one differs from in word order, inflection or year only.
    pub variant_of: Option<String>,
    /// Everywhere it was found, the first first.
    pub sources: Vec<KeywordOrigin>,
    /// When figures were last learnt.
    pub metrics_updated_at: Option<Instant>,
}

/// Bounds of a number of searches per month, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VolumeRange {
    /// At least.
    pub min: i64,
    /// At most.
    pub max: i64,
}

/// Searches in one month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrendMonth {
    /// `YYYY-MM`.
    pub month: String,
    /// Searches.
    pub value: i64,
}

/// A place where a keyword was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeywordOrigin {
    /// Kind of place.
    pub source: KeywordSource,
    /// Address, file line or member of the brand data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What was found there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Searches per month it gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_volume: Option<i64>,
    /// Difficulty it gives, on its own scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyword_difficulty: Option<i64>,
    /// When.
    pub at: Instant,
}

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

operation! {
    /// Finds keywords: in the project's own pages, its sitemap, brand data, competitors' pages and patterns of questions.
    ///
    /// Begins a job. Keywords come with the status `new` and with where they were found; figures stay `null` until
    /// they are imported or measured. Pages are those of the last audit.
    GenerateKeywords {
        project;
        /// Terms to ask questions about.
        #[schemars(length(max = 20), inner(length(min = 1, max = 200)))]
        seeds: Option<Vec<String>>,
        /// Where to look; everywhere unless given.
        #[schemars(length(min = 1, max = 15))]
        sources: Option<Vec<KeywordSource>>,
        /// Keywords wanted, at most; 50 unless given.
        #[schemars(range(min = 1, max = 200), example = 50)]
        count: Option<u32>,
        /// Language, BCP 47; the project's unless given.
        #[schemars(length(min = 2, max = 35))]
        language: Option<String>,
        /// Country, ISO 3166-1 alpha-2; the project's unless given.
        #[schemars(length(min = 2, max = 2))]
        country: Option<String>,
        /// Only find them: the job's result holds them, and nothing is added or counted.
        dry_run: Option<bool>,
    }
}

/// Work on keywords that was started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeywordsStarted {
    /// The work; follow it at `jobs/{jobId}`.
    pub job: crate::jobs::Job,
}

impl Answer for KeywordsStarted {
    fn head(&self) -> Head {
        Head {
            location: Some(format!("jobs/{}", self.job.id)),
            ..Head::default()
        }
    }
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
