//! Keywords: search queries, with their metrics and intent.

mod import;
mod record;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, Head, declare::operation, words::words};

pub use import::{ImportKeywords, Imported, ImportedRow, RowOutcome};
pub use record::{Cannibalisation, Keyword, KeywordDetails, KeywordOrigin, TrendMonth, VolumeRange};

words! {
    /// Search intent.
    Intent {
        /// To learn something.
        Informational = "informational",
        /// To reach a known site or page.
        Navigational = "navigational",
        /// To compare before buying.
        Commercial = "commercial",
        /// To buy or act.
        Transactional = "transactional",
    }
}
words! {
    /// Status of a keyword.
    KeywordStatus {
        /// Found, not reviewed yet.
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
        /// Archived.
        Archived = "archived",
    }
}
words! {
    /// Evidence that parts of a site compete with each other.
    CannibalisationReason {
        /// Search Console shows alternating pages for the keyword: at least 50 impressions in 90 days, at least two
        /// pages with 10 % or more each, and no page with 80 % or more.
        SearchConsole = "search_console",
        /// Several indexable pages have it as their title or first heading.
        SamePages = "same_pages",
        /// Several posts target it.
        SamePosts = "same_posts",
    }
}
words! {
    /// Source of a keyword.
    KeywordSource {
        /// Added by a caller.
        Manual = "manual",
        /// Text of the project's own pages.
        SiteContent = "site_content",
        /// A URL in the sitemap.
        Sitemap = "sitemap",
        /// Products, questions and competitors of the brand data.
        BrandData = "brand_data",
        /// Autocomplete of a search engine.
        Autocomplete = "autocomplete",
        /// A question or comparison built from a term by a language-specific pattern.
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
        /// A language model; it suggests keywords, never figures.
        Llm = "llm",
    }
}
words! {
    /// Source of a search intent.
    IntentSource {
        /// A caller.
        Manual = "manual",
        /// A provider, or a file from another tool.
        Provider = "provider",
        /// Rules about the words of the keyword.
        Rules = "rules",
    }
}
words! {
    /// Level of competition between advertisers.
    CompetitionLevel {
        /// Low.
        Low = "low",
        /// Medium.
        Medium = "medium",
        /// High.
        High = "high",
    }
}
words! {
    /// Sort order of keywords, highest or newest first.
    KeywordSort {
        /// By time of addition.
        Created = "created",
        /// By score; unknown last.
        Score = "score",
        /// By searches per month; unknown last.
        SearchVolume = "searchVolume",
        /// By difficulty; unknown last.
        KeywordDifficulty = "keywordDifficulty",
    }
}

operation! {
    /// Lists the keywords of a project.
    ListKeywords {
        project;
        /// Only keywords with this status.
        status: Option<KeywordStatus>,
        /// Only keywords with this intent.
        intent: Option<Intent>,
        /// Only keywords of the cluster with this id.
        #[schemars(length(max = 64))]
        cluster_id: Option<String>,
        /// Only keywords that contain this text, ignoring case.
        #[schemars(length(min = 1, max = 200))]
        q: Option<String>,
        /// Order; default `created`.
        sort: Option<KeywordSort>,
        /// Keywords per page, 1 to 100; default 25.
        #[schemars(range(min = 1, max = 100))]
        limit: Option<u8>,
        /// `nextCursor` of the previous page, with the same filters.
        #[schemars(length(max = 512))]
        cursor: Option<String>,
    }
}

operation! {
    /// Adds a keyword.
    ///
    /// Keywords are unique per language and country of the project: a duplicate answers `409 already_exists` with
    /// `existingId`.
    CreateKeyword {
        project;
        /// Text of the keyword, at most 200 characters.
        #[schemars(length(min = 1, max = 200), example = &"standing desk")]
        keyword: String,
        /// Searches per month; leave out if unknown.
        #[schemars(range(min = 0, max = 1_000_000_000), example = 2400)]
        search_volume: Option<i64>,
        /// Difficulty, 0 (easy) to 100; leave out if unknown.
        #[schemars(range(min = 0, max = 100), example = 31)]
        keyword_difficulty: Option<i64>,
        /// Search intent.
        #[schemars(example = &"commercial")]
        intent: Option<Intent>,
        /// Language (BCP 47); defaults to the project's.
        #[schemars(length(min = 2, max = 35))]
        language: Option<String>,
        /// Country (ISO 3166-1 alpha-2); defaults to the project's.
        #[schemars(length(min = 2, max = 2))]
        country: Option<String>,
    }
}

operation! {
    /// Returns one keyword.
    GetKeyword {
        project;
        /// Id of the keyword.
        #[schemars(example = &"01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10")]
        keyword_id: String,
    }
}

operation! {
    /// Changes the given fields; `null` clears a nullable field.
    UpdateKeyword {
        project;
        /// Id of the keyword.
        #[schemars(example = &"01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10")]
        keyword_id: String,
        /// Status.
        status: Option<KeywordStatus>,
        /// Searches per month; `null` if unknown.
        #[schemars(range(min = 0, max = 1_000_000_000), example = 2400)]
        search_volume: Patch<i64>,
        /// Difficulty, 0 (easy) to 100; `null` if unknown.
        #[schemars(range(min = 0, max = 100), example = 31)]
        keyword_difficulty: Patch<i64>,
        /// Search intent; `null` if unknown.
        intent: Patch<Intent>,
    }
}

operation! {
    /// Deletes a keyword.
    DeleteKeyword {
        project;
        /// Id of the keyword.
        #[schemars(example = &"01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10")]
        keyword_id: String,
    }
}

operation! {
    /// Finds keywords in the project's own pages, its sitemap, brand data, competitors' pages and question patterns,
    /// and, if the operator has set up an account, in Search Console, Google Ads, DataForSEO, autocomplete and a
    /// language model.
    ///
    /// Starts a job. Keywords are added with status `new` and their sources, and are clustered. Figures come only
    /// from accounts and are `null` until then; a language model suggests keywords, never figures. The job's result
    /// has an outcome per account: `asked`, `would_ask`, `no_provider`, `no_seeds`, `provider_error`, `capped`,
    /// `uncertain`. Pages are those of the last audit.
    GenerateKeywords {
        project;
        /// Seed terms; defaults to the products of the brand data or the topics of the pages.
        #[schemars(length(max = 20), inner(length(min = 1, max = 200)))]
        seeds: Option<Vec<String>>,
        /// Sources to search; default all.
        #[schemars(length(min = 1, max = 15))]
        sources: Option<Vec<KeywordSource>>,
        /// Maximum number of keywords to find; default 50.
        #[schemars(range(min = 1, max = 200), example = 50)]
        count: Option<u32>,
        /// Language (BCP 47); defaults to the project's.
        #[schemars(length(min = 2, max = 35))]
        language: Option<String>,
        /// Country (ISO 3166-1 alpha-2); defaults to the project's.
        #[schemars(length(min = 2, max = 2))]
        country: Option<String>,
        /// Whether to only find keywords: the job's result lists them, nothing is added or counted, and no account is
        /// asked.
        dry_run: Option<bool>,
    }
}

operation! {
    /// Requests figures for keywords of the project from the configured provider: searches, difficulty, cost per
    /// click.
    ///
    /// Starts a job, whose result has an outcome per keyword: `updated`, `would_ask`, `unknown_keyword`,
    /// `unknown_to_provider`, `no_provider`, `provider_error`, `capped`, `uncertain`. A failure never changes a
    /// stored value. The provider may charge for it.
    RefreshKeywordMetrics {
        project;
        /// Texts of the keywords, at most 1,000.
        #[schemars(length(min = 1, max = 1000), inner(length(min = 1, max = 200)), example = ["standing desk"])]
        keywords: Vec<String>,
        /// Language of the keywords (BCP 47); defaults to the project's.
        #[schemars(length(min = 2, max = 35))]
        language: Option<String>,
        /// Country (ISO 3166-1 alpha-2); defaults to the project's.
        #[schemars(length(min = 2, max = 2))]
        country: Option<String>,
        /// Whether to only plan: no provider is asked, and the result lists the keywords and the provider that would
        /// be.
        dry_run: Option<bool>,
        /// Spending limit in US dollars; no further request is sent once it is reached.
        #[schemars(range(min = 0, max = 10_000))]
        max_cost: Option<f64>,
    }
}

/// A started job on keywords.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeywordsStarted {
    /// The job; follow it at `jobs/{jobId}`.
    pub job: crate::jobs::Job,
    /// Step to take first: there is neither an audit nor a seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl Answer for KeywordsStarted {
    fn head(&self) -> Head {
        Head {
            location: Some(format!("jobs/{}", self.job.id)),
            ..Head::default()
        }
    }
}
