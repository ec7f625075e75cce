//! Own numbers: reports of Bing and Google on the pages in their assistants' answers, and sums of access logs. They stand beside the
//! rates of tracked prompts and are never mixed into them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, Instant, declare::operation, visibility::Period, words::words};

words! {
    /// Format of a report.
    ReportFormat {
        /// AI Performance of Bing Webmaster Tools: citations by day, page and grounding query.
        BingAiPerformance = "bing_ai_performance",
        /// Generative AI report of Google Search Console: impressions by day, page, country and device.
        SearchConsoleAi = "search_console_ai",
        /// Daily sums of an access log, as `searchwright logs import` writes them.
        AccessLog = "access_log",
    }
}
words! {
    /// Purpose of an agent's visits.
    VisitPurpose {
        /// Collects text for the training of models.
        Training = "training",
        /// Builds an index for search.
        Search = "search",
        /// Fetches a page that a person asks about.
        User = "user",
    }
}
words! {
    /// Unit of a vendor's numbers.
    ReportUnit {
        /// Citations, as the vendor counts them.
        Citations = "citations",
        /// Impressions, as the vendor counts them.
        Impressions = "impressions",
    }
}

operation! {
    /// Imports a report of Bing Webmaster Tools (AI Performance) or Google Search Console (generative AI), or the sums of an access log.
    ///
    /// Encoding (UTF-8, UTF-16 with a byte order mark), delimiter and format are detected from the file. A row replaces the
    /// stored one about the same day or period and the same page, query, country, device or agent, so that a file may be
    /// imported twice. Rows that are faulty, or about another website, are skipped and listed. Tables without dates, such as
    /// the pages of Search Console, need `from` and `to`: the first and last day that were selected in the report. Over HTTP a
    /// file with dates may be sent as the body (`Content-Type: text/csv`). At most 16 MiB and 100,000 rows.
    ImportReport {
        project;
        /// The file: its text, or a `data:` URL (RFC 2397) with its bytes in base64.
        #[schemars(length(min = 1, max = 16_777_216), example = &"Date,Citations,Cited Pages\n2026-11-27,14,5\n")]
        file file: String,
        /// Format; detected from the header by default.
        format: Option<ReportFormat>,
        /// First day of the period, for a table without dates.
        #[schemars(length(min = 10, max = 10), example = &"2026-11-01")]
        from: Option<String>,
        /// Last day of the period, inclusive.
        #[schemars(length(min = 10, max = 10), example = &"2026-11-28")]
        to: Option<String>,
    }
}

/// Result of the import of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportedReport {
    /// Format.
    pub format: ReportFormat,
    /// Rows read, without the header.
    pub rows: u64,
    /// Rows that were new.
    pub added: u64,
    /// Rows that replaced another number.
    pub replaced: u64,
    /// Rows whose number was stored already.
    pub unchanged: u64,
    /// Rows that were skipped.
    pub skipped: u64,
    /// The first skipped rows, at most 100.
    pub skipped_rows: Vec<SkippedReportRow>,
    /// First day of the rows; `null` if all were skipped.
    pub from: Option<String>,
    /// Last day of the rows.
    pub to: Option<String>,
}

impl Answer for ImportedReport {}

/// A row of a report that was skipped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkippedReportRow {
    /// Line of the file, from 1.
    pub line: u64,
    /// Machine-readable reason.
    #[schemars(example = &"other_domain")]
    pub code: String,
    /// Header of the column.
    pub column: Option<String>,
    /// Human-readable explanation.
    pub detail: String,
}

operation! {
    /// Returns the own numbers of a period: what Bing and Google report, and visits and referrals in access logs.
    ///
    /// They are counts of their vendors, not samples, and stand beside the rates of the overview. A source from which nothing was
    /// imported is `null`, and so is a day without data.
    GetReports {
        project;
        /// Period up to today; default `28d`. Not beside `from` and `to`.
        period: Option<Period>,
        /// First day, with `to`; at most 400 days.
        #[schemars(length(min = 10, max = 10), example = &"2026-11-01")]
        from: Option<String>,
        /// Last day, inclusive, with `from`.
        #[schemars(length(min = 10, max = 10), example = &"2026-11-28")]
        to: Option<String>,
        /// Rows of each table, largest first, 1 to 100; default 20.
        #[schemars(range(min = 1, max = 100))]
        top: Option<u8>,
    }
}

/// Own numbers of a period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reports {
    /// The period.
    pub period: ReportPeriod,
    /// AI Performance of Bing Webmaster Tools; `null` until a report is imported.
    pub bing_ai_performance: Option<VendorReport>,
    /// Generative AI report of Google Search Console; `null` until a report is imported.
    pub search_console_ai: Option<VendorReport>,
    /// Visits of agents and referrals from assistants; `null` until a log is imported.
    pub access_log: Option<AccessLogReport>,
}

impl Answer for Reports {}

/// Days from a first to a last one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportPeriod {
    /// First day.
    #[schemars(example = &"2026-11-01")]
    pub from: String,
    /// Last day.
    #[schemars(example = &"2026-11-28")]
    pub to: String,
}

/// Numbers of a vendor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VendorReport {
    /// Unit of all amounts.
    pub unit: ReportUnit,
    /// Meaning of the numbers, and what they do not say.
    pub meaning: String,
    /// Newest day with data, in or outside of the period.
    pub newest_day: Option<String>,
    /// Time of the last import.
    pub imported_at: Instant,
    /// Sum of the days with data; `null` if no day of the period has any.
    pub total: Option<u64>,
    /// Days with data.
    pub days_with_data: u64,
    /// Mean number of cited pages a day, over the days that have it.
    pub average_cited_pages: Option<f64>,
    /// One row per day; days without data are `null`.
    pub days: Vec<ReportDay>,
    /// Pages; `null` without data.
    pub pages: Option<ReportTable>,
    /// Grounding queries; `null` without data.
    pub queries: Option<ReportTable>,
    /// Countries; `null` without data.
    pub countries: Option<ReportTable>,
    /// Kinds of devices; `null` without data.
    pub devices: Option<ReportTable>,
}

/// Numbers of a day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportDay {
    /// The day, as the vendor reports it.
    #[schemars(example = &"2026-11-28")]
    pub date: String,
    /// Amount.
    pub amount: Option<u64>,
    /// Pages that were cited.
    pub cited_pages: Option<u64>,
}

/// Amounts by page, query, country or device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportTable {
    /// Number of different values, of which `rows` lists the first.
    pub values: u64,
    /// Sum over all of them. It may differ from the total of the days: vendors leave rare values out and sample queries.
    pub total: u64,
    /// Days that are counted: exports without dates count as a whole, if at least half of their days lie in the period. At most 100
    /// spans.
    pub coverage: Vec<ReportPeriod>,
    /// Values with the largest amounts.
    pub rows: Vec<ReportTableRow>,
}

/// Amount of a page, query, country or device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportTableRow {
    /// The page, query, country or device, as the vendor writes it.
    pub value: String,
    /// Amount.
    pub amount: u64,
}

/// Visits of agents, and referrals from assistants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessLogReport {
    /// Meaning of the numbers, and what they do not say.
    pub meaning: String,
    /// Newest day with data, in or outside of the period.
    pub newest_day: Option<String>,
    /// Time of the last import.
    pub imported_at: Instant,
    /// Visits of agents; `null` if no day of the period has any data.
    pub visits: Option<u64>,
    /// Referrals from assistants: a floor; `null` if no day of the period has any data.
    pub referrals: Option<u64>,
    /// One row per day; days without data are `null`.
    pub days: Vec<LogDay>,
    /// Agents, most visits first.
    pub agents: Vec<AgentVisits>,
    /// Number of pages and agents, of which `pages` lists the first.
    pub page_count: u64,
    /// Pages by agent, most visits first.
    pub pages: Vec<VisitedPage>,
    /// Assistants, most referrals first.
    pub assistants: Vec<AssistantReferrals>,
    /// Pages by assistant, most referrals first.
    pub referred_pages: Vec<ReferredPage>,
}

/// Numbers of a day of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogDay {
    /// The day, in the time zone of the log.
    #[schemars(example = &"2026-11-28")]
    pub date: String,
    /// Visits of agents.
    pub visits: Option<u64>,
    /// Referrals from assistants.
    pub referrals: Option<u64>,
}

/// Visits of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentVisits {
    /// Agent, as its vendor spells it.
    #[schemars(example = &"GPTBot")]
    pub agent: String,
    /// Vendor.
    #[schemars(example = &"OpenAI")]
    pub vendor: Option<String>,
    /// Purpose.
    pub purpose: Option<VisitPurpose>,
    /// Visits.
    pub visits: u64,
    /// Visits that were answered with an error.
    pub errors: Option<u64>,
    /// Visits from addresses that its vendor publishes; `null` where they were not given.
    pub verified: Option<u64>,
    /// Visits from other addresses: the name is forged; `null` where they were not given.
    pub forged: Option<u64>,
}

/// Visits of an agent to a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VisitedPage {
    /// Path, without query.
    pub page: String,
    /// Agent.
    pub agent: String,
    /// Visits.
    pub visits: u64,
}

/// Referrals from an assistant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AssistantReferrals {
    /// Assistant.
    #[schemars(example = &"chatgpt")]
    pub assistant: String,
    /// Referrals.
    pub referrals: u64,
}

/// Referrals from an assistant to a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReferredPage {
    /// Path, without query.
    pub page: String,
    /// Assistant.
    pub assistant: String,
    /// Referrals.
    pub referrals: u64,
}
