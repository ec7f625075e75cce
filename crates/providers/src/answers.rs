//! Answer engines: what assistants and answer pages say to a question, with the sources they name. One file per vendor.
//!
//! A question goes out verbatim, without a system prompt, a history or a temperature: a tracked answer is the one that
//! anybody would get. What comes back is data from outside and is never an instruction. It is bounded: see [`MAX_TEXT_CHARS`]
//! and the other limits of this module. A question is never asked twice here.

mod anthropic;
mod api;
mod chat;
mod dataforseo;
mod draft;
mod gemini;
mod links;
mod openai;
mod perplexity;
mod responses;
mod tariff;
mod xai;

pub(super) use xai::ADDRESS as XAI_ADDRESS;

use std::{fmt, time::Duration};

use async_trait::async_trait;
use searchwright_outbound::Guarded;
use serde_json::Value;

use super::{
    Credentials, Provider,
    error::{ProviderError, Usage, Why},
};
pub use tariff::Estimate;

/// Longest question, in characters. A vendor may take less.
pub const MAX_QUESTION_CHARS: usize = 2_000;
/// Longest text of an answer that is kept, in characters; a longer one is cut and marked.
pub const MAX_TEXT_CHARS: usize = 200_000;
/// Most citations, and most search queries, of an answer that are kept.
pub const MAX_CITATIONS: usize = 1_000;
/// Longest vendor's answer that is kept as it came, in bytes of JSON; see [`EngineAnswer::raw`].
pub const MAX_RAW_BYTES: usize = 256 * 1024;
/// Time for a question, follow-up requests included.
const MAX_ASK: Duration = Duration::from_secs(120);

/// An engine, as reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineName {
    /// OpenAI's ChatGPT.
    ChatGpt,
    /// Anthropic's Claude.
    Claude,
    /// Google's Gemini.
    Gemini,
    /// Perplexity.
    Perplexity,
    /// The AI Overview on Google's result page.
    GoogleAiOverview,
    /// Google's AI Mode.
    GoogleAiMode,
    /// xAI's Grok.
    Grok,
    /// Any other server with an interface like OpenAI's.
    Custom,
}

impl EngineName {
    /// Stable word of the engine.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ChatGpt => "chatgpt",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
            Self::Perplexity => "perplexity",
            Self::GoogleAiOverview => "google_ai_overview",
            Self::GoogleAiMode => "google_ai_mode",
            Self::Grok => "grok",
            Self::Custom => "custom",
        }
    }
}

/// Place at which an engine is asked. Answers of different surfaces differ too much to be counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Surface {
    /// The vendor's interface for programs.
    Api,
    /// A page of search results.
    Serp,
    /// The page or app that people use.
    ConsumerUi,
}

impl Surface {
    /// Stable word of the surface.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Serp => "serp",
            Self::ConsumerUi => "consumer_ui",
        }
    }
}

/// Rule by which an engine searches the web.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Retrieval {
    /// The engine decides.
    Auto,
    /// It has to search.
    Forced,
    /// It cannot search.
    None,
}

impl Retrieval {
    /// Stable word of the rule.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Forced => "forced",
            Self::None => "none",
        }
    }
}

/// Identity of a series of answers, without the model that served them, which only the answer knows. A change of any member
/// starts a new series.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EngineKey {
    /// Engine.
    pub engine: EngineName,
    /// Place at which it is asked.
    pub surface: Surface,
    /// Rule of its searches.
    pub retrieval: Retrieval,
    /// Model that is asked for; `None` where there is no choice.
    pub model: Option<String>,
    /// Version of the search tool; `None` without one.
    pub tool_version: Option<String>,
    /// Effort of reasoning that is asked for; `None` for the model's default.
    pub effort: Option<String>,
    /// Amount of search results the model reads; `None` for the vendor's default.
    pub context_size: Option<String>,
}

/// A question to an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Prompt, sent as it is.
    pub text: String,
    /// Language of the person who asks, BCP 47; used where an engine takes one.
    pub language: String,
    /// Country of the person who asks, ISO 3166-1 alpha-2; used where [`AnswerEngine::location_control`] holds.
    pub country: Option<String>,
    /// City of the person who asks; used beside a country where the vendor takes one.
    pub city: Option<String>,
}

/// Outcome of a question that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerStatus {
    /// A whole answer.
    Ok,
    /// A content filter or the model stopped it.
    Refused,
    /// An answer without text.
    Empty,
    /// The result page shows no AI Overview.
    NoOverview,
    /// Cut by a limit of tokens or rounds; charged, and in no rate.
    Incomplete,
}

impl AnswerStatus {
    /// Stable word of the outcome.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Refused => "refused",
            Self::Empty => "empty",
            Self::NoOverview => "no_overview",
            Self::Incomplete => "incomplete",
        }
    }
}

/// A web page that an answer names, as the engine wrote it. Only http and https addresses with a host are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawCitation {
    /// Address.
    pub url: String,
    /// Title, if the engine gives one.
    pub title: Option<String>,
    /// Whether the engine puts it at a place of the text, and not only in a list beside it.
    pub inline: bool,
    /// Whether the answer cites it; one that is not cited was retrieved only.
    pub cited: bool,
    /// First character of the part of [`EngineAnswer::text`] that it supports, counted from 0.
    pub start: Option<usize>,
    /// Character after the last one of that part.
    pub end: Option<usize>,
}

/// Kind of a part that is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsideKind {
    /// An advertisement.
    Sponsored,
    /// A card of a product.
    ProductCard,
    /// Search suggestions that Google wants shown beside a grounded answer; the text is HTML from outside.
    SearchSuggestions,
}

impl AsideKind {
    /// Stable word of the kind.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sponsored => "sponsored",
            Self::ProductCard => "product_card",
            Self::SearchSuggestions => "search_suggestions",
        }
    }
}

/// A part that an engine shows beside its answer and that counts in no rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside {
    /// Kind of the part.
    pub kind: AsideKind,
    /// Its text.
    pub text: String,
    /// Page it leads to.
    pub url: Option<String>,
}

/// Answer of an engine. What the vendor does not say is `None`, never 0.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineAnswer {
    /// Outcome.
    pub status: AnswerStatus,
    /// Text, in Markdown where the engine writes it; at most [`MAX_TEXT_CHARS`].
    pub text: String,
    /// Whether the text was longer.
    pub is_cut: bool,
    /// Pages it cites, in the order of the text, and then pages that were retrieved and are not cited.
    pub citations: Vec<RawCitation>,
    /// Queries the engine searched for.
    pub fanout_queries: Vec<String>,
    /// Whether the engine searched the web.
    pub search_performed: Option<bool>,
    /// Searches that are charged.
    pub searches: Option<u32>,
    /// Model that answered, as the vendor names it.
    pub served_model: Option<String>,
    /// Advertisements and cards, which are not in the text where the vendor separates them.
    pub asides: Vec<Aside>,
    /// Tokens and price.
    pub usage: Usage,
    /// Time from the question to the answer.
    pub latency: Duration,
    /// The vendor's answer, without what is encrypted and with long texts cut; if it still is longer than
    /// [`MAX_RAW_BYTES`], only its short members and `truncated: true`.
    pub raw: Value,
}

/// An engine that answers questions.
#[async_trait]
pub trait AnswerEngine: Send + Sync + fmt::Debug {
    /// Identity of the series its answers belong to.
    fn key(&self) -> &EngineKey;

    /// The provider's word.
    fn provider(&self) -> &'static str;

    /// Range of the cost of asking a prompt `samples` times.
    fn estimate(&self, prompt: &str, samples: u32) -> Estimate;

    /// Whether it answers as it would in the country of the question. Otherwise the location is not controlled.
    fn location_control(&self) -> bool;

    /// Asks a question, once. An answer that is refused, empty or cut is an answer; an error has none.
    async fn ask(&self, question: &Question) -> Result<EngineAnswer, ProviderError>;
}

/// Makes the engines of an account.
pub(super) fn engines(
    client: &Guarded,
    provider: Provider,
    account: &Credentials,
) -> Result<Vec<Box<dyn AnswerEngine>>, ProviderError> {
    let engine = match provider {
        Provider::OpenAi => openai::engine(client, account)?,
        Provider::Anthropic => anthropic::engine(client, account)?,
        Provider::Gemini => gemini::engine(client, account)?,
        Provider::Perplexity => perplexity::engine(client, account)?,
        Provider::Xai => xai::engine(client, account)?,
        Provider::DataForSeo => return dataforseo::engines(client, account),
        _ => return Err(ProviderError::refused(Why::Unsupported)),
    };
    Ok(vec![Box::new(engine)])
}

/// Refuses a question that nothing can be said to, or that is too long, before it is charged.
fn check(question: &Question, max_chars: usize) -> Result<(), ProviderError> {
    let is_empty = question.text.trim().is_empty();
    if is_empty || question.text.chars().count() > max_chars {
        return Err(ProviderError::refused(Why::Request));
    }
    Ok(())
}
