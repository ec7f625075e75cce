//! Keywords: what people search for, and what is known of it.

mod import;
mod record;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, Head, declare::operation, words::words};

pub use import::{ImportKeywords, Imported, ImportedRow, RowOutcome};
pub use record::{Cannibalisation, Keyword, KeywordDetails, KeywordOrigin, TrendMonth, VolumeRange};

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
    /// How it is known that parts of a site compete with each other.
    CannibalisationReason {
        /// Search Console shows several pages for it in turn: 50 times or more in 90 days, two pages or more with a
        /// tenth each, and none with four fifths.
        SearchConsole = "search_console",
        /// Several pages that may be found have it as their title or first heading.
        SamePages = "same_pages",
        /// Several posts aim at it.
        SamePosts = "same_posts",
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

operation! {
    /// Finds keywords: in the project's own pages, its sitemap, brand data, competitors' pages and patterns of questions,
    /// and where the operator has set an account, in Search Console, Google Ads, DataForSEO, a search box and a language model.
    ///
    /// Begins a job. Keywords come with the status `new` and with where they were found, and are put in clusters. Figures
    /// come from accounts only and stay `null` until there are some; a model gives candidates, never figures. The result
    /// tells of each account: `asked`, `would_ask`, `no_provider`, `no_seeds`, `provider_error`, `capped`, `uncertain`. Pages
    /// are those of the last audit.
    GenerateKeywords {
        project;
        /// Terms to ask about; products of the brand data or what the pages are about unless given.
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
        /// Only find them: the job's result holds them, nothing is added or counted, and no account is asked.
        dry_run: Option<bool>,
    }
}

operation! {
    /// Asks the account's provider for figures of keywords that the project has: searches, difficulty, price of a click.
    ///
    /// Begins a job, whose result tells of each keyword: `updated`, `would_ask`, `unknown_keyword`, `unknown_to_provider`, `no_provider`,
    /// `provider_error`, `capped`, `uncertain`. A failure never changes a stored value. It may cost money at the provider.
    RefreshKeywordMetrics {
        project;
        /// Texts of keywords, at most 1,000.
        #[schemars(length(min = 1, max = 1000), inner(length(min = 1, max = 200)), example = ["standing desk"])]
        keywords: Vec<String>,
        /// Language of the keywords, BCP 47; the project's unless given.
        #[schemars(length(min = 2, max = 35))]
        language: Option<String>,
        /// Country, ISO 3166-1 alpha-2; the project's unless given.
        #[schemars(length(min = 2, max = 2))]
        country: Option<String>,
        /// Ask nobody: the result tells which keywords would be asked about, and whom.
        dry_run: Option<bool>,
        /// US dollars; no further request begins once this much is spent.
        #[schemars(range(min = 0, max = 10_000))]
        max_cost: Option<f64>,
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
