//! DataForSEO, which reads what people see: Google's AI Overview and AI Mode, and the pages of ChatGPT and Gemini.
//!
//! A question needs a country and a language that DataForSEO serves. The city of a question is not taken.

use std::fmt;

use async_trait::async_trait;
use searchwright_outbound::Guarded;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::{
    AnswerEngine, AnswerStatus, Aside, AsideKind, EngineAnswer, EngineKey, EngineName, Estimate, MAX_ASK,
    Question, Retrieval, Surface, check,
    draft::{Draft, Ending, Source, list_of, text_of},
    tariff::Tariff,
};
use crate::{
    Credentials, DataForSeo, Market,
    account::{Account, SCRAPED_ENGINES},
    dataforseo::{ADDRESS, language},
    error::{ProviderError, Why},
};

/// Deepest nesting of elements within an answer.
const MAX_DEPTH: usize = 6;

/// A page that DataForSEO reads.
#[derive(Debug)]
struct Target {
    /// Word of the setting `engines`.
    word: &'static str,
    engine: EngineName,
    surface: Surface,
    path: &'static str,
    /// Longest question, in characters.
    max_chars: usize,
    read: fn(&Value, &mut Draft) -> bool,
}

static TARGETS: [Target; 4] = [
    Target {
        word: SCRAPED_ENGINES[0],
        engine: EngineName::GoogleAiOverview,
        surface: Surface::Serp,
        path: "serp/google/organic/live/advanced",
        max_chars: 700,
        read: read_page,
    },
    Target {
        word: SCRAPED_ENGINES[1],
        engine: EngineName::GoogleAiMode,
        surface: Surface::Serp,
        path: "serp/google/ai_mode/live/advanced",
        max_chars: 700,
        read: read_page,
    },
    Target {
        word: SCRAPED_ENGINES[2],
        engine: EngineName::ChatGpt,
        surface: Surface::ConsumerUi,
        path: "ai_optimization/chat_gpt/llm_scraper/live/advanced",
        max_chars: 2_000,
        read: read_chatgpt,
    },
    Target {
        word: SCRAPED_ENGINES[3],
        engine: EngineName::Gemini,
        surface: Surface::ConsumerUi,
        path: "ai_optimization/gemini/llm_scraper/live/advanced",
        max_chars: 2_000,
        read: read_gemini,
    },
];

struct ScrapedEngine {
    account: DataForSeo,
    target: &'static Target,
    key: EngineKey,
    tariff: Tariff,
}

impl fmt::Debug for ScrapedEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScrapedEngine({:?}, {})", self.account, self.target.word)
    }
}

/// Makes the engines of an account: those it names, else all.
pub(super) fn engines(
    client: &Guarded,
    account: &Credentials,
) -> Result<Vec<Box<dyn AnswerEngine>>, ProviderError> {
    let settings = Account(&account.settings);
    let named = settings.get("engines");
    let is_asked =
        |target: &&Target| named.is_none_or(|named| named.split(',').any(|word| word.trim() == target.word));
    let is_own = settings.base_url(ADDRESS) == ADDRESS;
    let mut all: Vec<Box<dyn AnswerEngine>> = Vec::new();
    for target in TARGETS.iter().filter(is_asked) {
        let is_forced = target.engine == EngineName::ChatGpt && settings.get("retrieval") == Some("forced");
        all.push(Box::new(ScrapedEngine {
            account: DataForSeo::new(client.clone(), account)?,
            target,
            key: EngineKey {
                engine: target.engine,
                surface: target.surface,
                retrieval: if is_forced {
                    Retrieval::Forced
                } else {
                    Retrieval::Auto
                },
                model: None,
                tool_version: None,
                effort: None,
                context_size: None,
            },
            tariff: Tariff::find("dataforseo", target.word, &settings, is_own),
        }));
    }
    Ok(all)
}

impl ScrapedEngine {
    fn task(&self, question: &Question) -> Result<Value, ProviderError> {
        let market = Market {
            language: question.language.clone(),
            country: question.country.clone().unwrap_or_default(),
        };
        let place = market
            .place()?
            .ok_or_else(|| ProviderError::refused(Why::Market))?;
        if market.primary().is_empty() {
            return Err(ProviderError::refused(Why::Market));
        }
        let mut task = json!({
            "keyword": escape(&question.text),
            "location_code": place,
            "language_code": language(&market),
        });
        if self.target.engine == EngineName::GoogleAiOverview {
            // Most overviews come after the page.
            task["load_async_ai_overview"] = true.into();
        }
        if self.key.retrieval == Retrieval::Forced {
            task["force_web_search"] = true.into();
        }
        Ok(task)
    }
}

/// DataForSEO decodes a keyword as it would an address.
fn escape(text: &str) -> String {
    text.replace('%', "%25").replace('+', "%2B")
}

#[async_trait]
impl AnswerEngine for ScrapedEngine {
    fn key(&self) -> &EngineKey {
        &self.key
    }

    fn provider(&self) -> &'static str {
        "dataforseo"
    }

    fn estimate(&self, _: &str, samples: u32) -> Estimate {
        self.tariff.estimate_requests(samples)
    }

    fn location_control(&self) -> bool {
        true
    }

    async fn ask(&self, question: &Question) -> Result<EngineAnswer, ProviderError> {
        check(question, self.target.max_chars)?;
        let task = self.task(question)?;
        let start = Instant::now();
        let asked = timeout(MAX_ASK, self.account.task(self.target.path, task)).await;
        let (results, cost) = asked.unwrap_or_else(|_| Err(ProviderError::Uncertain(Box::default())))?;
        let latency = start.elapsed();
        let raw = results.into_iter().next().unwrap_or_default();
        let mut draft = Draft::default();
        draft.usage.cost_micros_usd = cost;
        let is_shown = (self.target.read)(&raw, &mut draft);
        let mut answer = draft.finish(Ending::Done, Tariff::default(), raw, latency);
        if !is_shown && self.target.engine == EngineName::GoogleAiOverview {
            answer.status = AnswerStatus::NoOverview;
        }
        Ok(answer)
    }
}

/// Reads the overview of a result page; returns whether there is one.
fn read_page(result: &Value, draft: &mut Draft) -> bool {
    let overviews = list_of(result, "items")
        .iter()
        .filter(|item| text_of(item, "type") == "ai_overview");
    let mut is_shown = false;
    for overview in overviews {
        is_shown = true;
        let markdown = text_of(overview, "markdown");
        if markdown.is_empty() {
            read_elements(overview, draft, MAX_DEPTH);
        } else {
            draft.push_text(markdown);
        }
        read_cards(overview, draft, MAX_DEPTH);
        cite_references(overview, draft, MAX_DEPTH);
    }
    draft.search_performed = is_shown.then_some(true);
    is_shown
}

/// Adds the texts of elements that have no Markdown as a whole.
fn read_elements(of: &Value, draft: &mut Draft, depth: usize) {
    let children = list_of(of, "items").iter().chain(list_of(of, "components"));
    for element in children.filter(|element| depth > 0 && aside_kind(element).is_none()) {
        let markdown = text_of(element, "markdown");
        let text = if markdown.is_empty() {
            text_of(element, "text")
        } else {
            markdown
        };
        if !text.is_empty() {
            let gap = if draft.text.is_empty() { "" } else { "\n\n" };
            draft.push_text(gap);
            draft.push_text(text);
        }
        if text.is_empty() {
            read_elements(element, draft, depth - 1);
        }
    }
}

/// Kind of an element that is no part of the answer.
fn aside_kind(element: &Value) -> Option<AsideKind> {
    let kind = text_of(element, "type");
    if kind.ends_with("_shopping") || kind.ends_with("_products") {
        Some(AsideKind::ProductCard)
    } else if kind == "paid" || kind.ends_with("_ads") || kind.contains("sponsored") {
        Some(AsideKind::Sponsored)
    } else {
        None
    }
}

/// Adds the cards and advertisements among the elements.
fn read_cards(of: &Value, draft: &mut Draft, depth: usize) {
    for element in list_of(of, "items").iter().filter(|_| depth > 0) {
        let Some(kind) = aside_kind(element) else {
            read_cards(element, draft, depth - 1);
            continue;
        };
        let cards = list_of(element, "items");
        let cards = if cards.is_empty() {
            std::slice::from_ref(element)
        } else {
            cards
        };
        for card in cards {
            let title = text_of(card, "title");
            let text = if title.is_empty() {
                text_of(card, "markdown")
            } else {
                title
            };
            draft.push_aside(Aside {
                kind,
                text: text.to_owned(),
                url: card.get("url").and_then(Value::as_str).map(str::to_owned),
            });
        }
    }
}

/// Cites the references of an element and of those within it.
fn cite_references(of: &Value, draft: &mut Draft, depth: usize) {
    let references = list_of(of, "references").iter().map(Source::read);
    cite_listed(&references.collect::<Vec<_>>(), draft);
    let children = list_of(of, "items").iter().chain(list_of(of, "components"));
    for element in children.filter(|_| depth > 0) {
        cite_references(element, draft, depth - 1);
    }
}

/// Cites sources of a list, at a place of the text where their address is in it.
fn cite_listed(sources: &[Source<'_>], draft: &mut Draft) {
    for source in sources {
        let inline = !source.url.is_empty() && draft.text.contains(source.url);
        draft.cite(*source, inline, None);
    }
}

fn read_chatgpt(result: &Value, draft: &mut Draft) -> bool {
    let is_shown = read_scraped(result, draft);
    let found = list_of(result, "search_results");
    found
        .iter()
        .map(Source::read)
        .for_each(|source| draft.retrieve(source));
    let queries: Vec<&str> = list_of(result, "fan_out_queries")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    queries.iter().for_each(|query| draft.push_query(query));
    draft.search_performed = Some(!found.is_empty() || !queries.is_empty() || draft.has_citations());
    is_shown
}

/// Of Gemini only the sources are shown: without one it is not known whether it searched.
fn read_gemini(result: &Value, draft: &mut Draft) -> bool {
    let is_shown = read_scraped(result, draft);
    draft.search_performed = draft.has_citations().then_some(true);
    is_shown
}

/// Reads the parts that all pages of assistants have.
fn read_scraped(result: &Value, draft: &mut Draft) -> bool {
    let markdown = text_of(result, "markdown");
    if markdown.is_empty() {
        read_elements(result, draft, MAX_DEPTH);
    } else {
        draft.push_text(markdown);
    }
    read_cards(result, draft, MAX_DEPTH);
    draft.serve(result.get("model"));
    let own = list_of(result, "sources").iter();
    let of_items = list_of(result, "items")
        .iter()
        .flat_map(|item| list_of(item, "sources"));
    let sources: Vec<Source<'_>> = own.chain(of_items).map(Source::read).collect();
    cite_listed(&sources, draft);
    result.is_object()
}
