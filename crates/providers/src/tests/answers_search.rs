//! Engines that search by themselves: Perplexity, Grok, and the pages that DataForSEO reads.

use searchwright_outbound::test_server::{Fake, Script, client};
use serde_json::{Value, json};

use super::{
    answers::{PATIENT, SECRET, asked, engine, pages, question},
    credentials,
};
use crate::{
    AnswerEngine, AnswerStatus, AsideKind, EngineAnswer, EngineName, Estimate, Provider, ProviderError,
    Question, Retrieval, Surface, Why, answers,
};

/// An answer of Perplexity's Agent interface.
fn agent(text: &str, annotations: Value) -> Value {
    json!({ "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "perplexity/sonar", "error": null,
        "output": [
            { "type": "search_results", "queries": ["standing desk", "best desk"], "results": [
                { "id": 1, "url": "https://acme.example/desks", "title": "Desks", "snippet": "s", "source": "web" },
                { "id": 2, "url": "https://bolt.example", "title": "Bolt", "snippet": "s" },
                { "id": 3, "url": "file:attachment:1", "title": "no page", "snippet": "s" } ] },
            { "type": "fetch_url_results", "contents": [{ "url": "https://read.example", "title": "Read", "snippet": "s" }] },
            { "type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [{ "type": "output_text", "text": text, "annotations": annotations }] }
        ],
        "usage": { "input_tokens": 100, "output_tokens": 20, "total_tokens": 120, "cost": { "currency": "USD", "input_cost": 0.0001, "output_cost": 0.0001, "tool_calls_cost": 0.005, "total_cost": 0.0052 }, "tool_calls_details": { "search_web": { "invocation": 1 } } } })
}

#[tokio::test]
async fn perplexity_is_asked_by_its_agent_interface() {
    let fake = Fake::new(vec![Script::json(200, &agent("Acme [1].", Value::Null))]).await;
    let perplexity = engine(Provider::Perplexity, &fake, &[("contextSize", "high")]);
    assert_eq!(perplexity.key().model.as_deref(), Some("perplexity/sonar"));
    assert_eq!(
        (perplexity.key().engine, perplexity.location_control()),
        (EngineName::Perplexity, true)
    );
    let got = perplexity.ask(&question()).await.unwrap();
    let tool = json!({ "type": "web_search", "search_context_size": "high", "user_location": { "country": "AT", "city": "Graz" } });
    assert_eq!(
        fake.asked()[0].json(),
        json!({ "model": "perplexity/sonar", "input": question().text, "tools": [tool] })
    );
    assert_eq!(pages(&got, true), ["https://acme.example/desks"]);
    assert_eq!((got.citations[0].start, got.citations[0].end), (Some(5), Some(8)));
    assert_eq!(
        pages(&got, false),
        ["https://read.example", "https://bolt.example"]
    );
    assert_eq!(got.fanout_queries, ["standing desk", "best desk"]);
    assert_eq!((got.search_performed, got.searches), (Some(true), Some(1)));
    assert_eq!(got.usage.cost_micros_usd, Some(5_200), "the vendor says it");
    assert_eq!(got.served_model.as_deref(), Some("perplexity/sonar"));
}

#[tokio::test]
async fn perplexity_sources_are_cited_as_far_as_the_text_says() {
    let annotation = json!([{ "type": "url_citation", "url": "https://bolt.example", "title": "Bolt", "start_index": 0, "end_index": 4 }]);
    let noted = asked(Provider::Perplexity, &[], &agent("Acme.", annotation))
        .await
        .unwrap();
    assert_eq!(pages(&noted, true), ["https://bolt.example"]);
    let silent = asked(Provider::Perplexity, &[], &agent("Acme.", Value::Null))
        .await
        .unwrap();
    assert_eq!(
        pages(&silent, true),
        ["https://acme.example/desks", "https://bolt.example"]
    );
    assert!(silent.citations.iter().take(2).all(|c| !c.inline));
}

#[tokio::test]
async fn older_interface_of_perplexity_is_a_setting() {
    let results = json!([{ "title": "Desks", "url": "https://acme.example/desks", "date": null }, { "title": "Bolt", "url": "https://bolt.example" }]);
    let mut answer = json!({ "id": "1", "model": "sonar", "object": "chat.completion", "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": "Bolt[2]" } }],
        "search_results": results, "citations": ["https://acme.example/desks", "https://bolt.example"],
        "usage": { "prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7, "num_search_queries": 2, "cost": { "input_tokens_cost": 0, "output_tokens_cost": 0, "request_cost": 0.008, "total_cost": 0.008 } } });
    let fake = Fake::new(vec![Script::json(200, &answer)]).await;
    let chat = engine(
        Provider::Perplexity,
        &fake,
        &[("api", "chat"), ("contextSize", "low")],
    );
    let got = chat.ask(&question()).await.unwrap();
    let options =
        json!({ "search_context_size": "low", "user_location": { "country": "AT", "city": "Graz" } });
    let messages = json!([{ "role": "user", "content": question().text }]);
    assert_eq!(
        fake.asked()[0].json(),
        json!({ "model": "sonar", "messages": messages, "stream": false, "web_search_options": options })
    );
    assert_eq!(pages(&got, true), ["https://bolt.example"]);
    assert_eq!(pages(&got, false), ["https://acme.example/desks"]);
    assert_eq!((got.searches, got.usage.cost_micros_usd), (Some(2), Some(8_000)));
    answer["search_results"] = Value::Null;
    let older = asked(Provider::Perplexity, &[("api", "chat")], &answer)
        .await
        .unwrap();
    assert_eq!(pages(&older, true), ["https://bolt.example"]);
}

#[tokio::test]
async fn grok_says_what_it_searched_and_cost() {
    let answer = json!({ "id": "r", "object": "response", "status": "completed", "model": "grok-4.7", "output": [
            { "type": "web_search_call", "status": "completed", "action": { "type": "search", "query": "standing desk", "sources": [] } },
            { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Acme [[1]](https://acme.example/desks)", "annotations": [
                { "type": "url_citation", "url": "https://acme.example/desks", "title": "1", "start_index": 5, "end_index": 38 },
                { "type": "url_citation", "url": "https://x.com/i/status/1", "title": "x", "start_index": 0, "end_index": 0 } ] }] } ],
        "citations": ["https://acme.example/desks", "https://bolt.example"],
        "usage": { "input_tokens": 7_583, "output_tokens": 3_192, "num_server_side_tools_used": 3, "cost_in_usd_ticks": 292_331_500, "server_side_tool_usage_details": { "web_search_calls": 3 } } });
    let fake = Fake::new(vec![Script::json(200, &answer)]).await;
    let grok = engine(
        Provider::Xai,
        &fake,
        &[("model", "grok-4.7"), ("retrieval", "forced")],
    );
    assert_eq!(
        (grok.key().engine, grok.key().retrieval),
        (EngineName::Grok, Retrieval::Forced)
    );
    assert!(!grok.location_control());
    let got = grok.ask(&question()).await.unwrap();
    assert_eq!(
        fake.asked()[0].json(),
        json!({ "model": "grok-4.7", "input": question().text, "tools": [{ "type": "web_search" }], "store": false, "tool_choice": "required" })
    );
    assert_eq!(
        pages(&got, true),
        ["https://acme.example/desks", "https://x.com/i/status/1"]
    );
    assert_eq!((got.citations[0].inline, got.citations[1].inline), (true, false));
    assert_eq!(pages(&got, false), ["https://bolt.example"]);
    assert_eq!((got.searches, got.usage.cost_micros_usd), (Some(3), Some(29_234)));
    let gone = Fake::new(vec![Script::json(
        410,
        &json!({ "error": "live search is gone" }),
    )])
    .await;
    let error = engine(Provider::Xai, &gone, &[("model", "m")])
        .ask(&question())
        .await
        .unwrap_err();
    let expected = ProviderError::refused_with(Why::Request, Some("live search is gone".to_owned()));
    assert_eq!(error, expected);
}

/// An answer as DataForSEO wraps it.
fn task(result: Value) -> Script {
    Script::json(
        200,
        &json!({ "status_code": 20000, "cost": 9.9, "tasks": [{ "status_code": 20000, "status_message": "Ok.", "cost": 0.0026, "result": result }] }),
    )
}

fn scraped(fake: &Fake, settings: &[(&str, &str)]) -> Vec<Box<dyn AnswerEngine>> {
    let mut all = vec![("baseUrl", fake.url.as_str())];
    all.extend(settings);
    let account = credentials(Some(SECRET), &all);
    answers::engines(&client(PATIENT), Provider::DataForSeo, &account).unwrap()
}

async fn read(word: &str, result: Value) -> EngineAnswer {
    let fake = Fake::new(vec![task(result)]).await;
    let engines = scraped(&fake, &[("engines", word)]);
    engines[0].ask(&question()).await.unwrap()
}

fn overview() -> Value {
    json!({ "type": "ai_overview", "rank_group": 1, "asynchronous_ai_overview": true, "markdown": "**Acme Desk** [shop](https://acme.example/desks)",
        "items": [
            { "type": "ai_overview_element", "title": null, "text": "Acme Desk", "references": [{ "type": "ai_overview_reference", "url": "https://bolt.example", "title": "Bolt", "domain": "bolt.example" }] },
            { "type": "ai_overview_shopping", "title": "Desks", "items": [{ "type": "ai_overview_shopping_element", "title": "Bolt 2", "url": "https://bolt.example/2", "price": { "current": 9 } }] }
        ],
        "references": [
            { "type": "ai_overview_reference", "url": "https://acme.example/desks", "title": "Desks", "text": "x" },
            { "type": "ai_overview_reference", "url": "https://bolt.example", "title": "Bolt" } ] })
}

#[tokio::test]
async fn overview_is_an_item_of_the_result_page() {
    let page = json!([{ "keyword": "k", "item_types": ["ai_overview", "organic"], "items": [{ "type": "paid", "title": "Ad" }, overview(), { "type": "organic", "url": "https://o.example" }] }]);
    let fake = Fake::new(vec![task(page)]).await;
    let engines = scraped(&fake, &[("engines", "google_ai_overview")]);
    let got = engines[0].ask(&question()).await.unwrap();
    let sent = &fake.asked()[0];
    assert_eq!(sent.line, "POST /v3/serp/google/organic/live/advanced");
    assert_eq!(
        sent.json(),
        json!([{ "keyword": "Which standing desk is 100%25 %2B good?", "location_code": 2040, "language_code": "de", "load_async_ai_overview": true }])
    );
    assert_eq!((got.status, got.search_performed), (AnswerStatus::Ok, Some(true)));
    assert_eq!(
        pages(&got, true),
        ["https://acme.example/desks", "https://bolt.example"]
    );
    assert_eq!((got.citations[0].inline, got.citations[1].inline), (true, false));
    assert_eq!(
        (got.asides.len(), got.asides[0].kind),
        (1, AsideKind::ProductCard)
    );
    assert_eq!(got.asides[0].url.as_deref(), Some("https://bolt.example/2"));
    assert_eq!((got.usage.cost_micros_usd, got.served_model), (Some(2_600), None));
}

#[tokio::test]
async fn page_without_an_overview_is_its_own_outcome() {
    for result in [
        json!([{ "items": [{ "type": "organic" }] }]),
        json!([{ "items": null }]),
        json!(null),
    ] {
        let got = read("google_ai_overview", result.clone()).await;
        assert_eq!(
            (got.status, got.search_performed),
            (AnswerStatus::NoOverview, None)
        );
        assert_eq!(got.usage.cost_micros_usd, Some(2_600), "the page is charged");
        assert_eq!(read("google_ai_mode", result).await.status, AnswerStatus::Empty);
    }
    let hollow = json!([{ "items": [{ "type": "ai_overview", "items": null, "references": null }] }]);
    assert_eq!(
        read("google_ai_overview", hollow).await.status,
        AnswerStatus::Empty
    );
}

#[tokio::test]
async fn overview_without_markdown_is_put_together() {
    let mut bare = overview();
    bare["markdown"] = Value::Null;
    let expanded = json!({ "type": "ai_overview_expanded_element", "components": [{ "text": "More.", "references": [{ "url": "https://c.example" }] }] });
    bare["items"].as_array_mut().unwrap().push(expanded);
    let got = read("google_ai_mode", json!([{ "items": [bare] }])).await;
    assert_eq!(got.text, "Acme Desk\n\nMore.", "without the products");
    assert!(pages(&got, true).contains(&"https://c.example"));
}

#[tokio::test]
async fn page_of_chatgpt_has_sources_queries_and_products() {
    let result = json!([{ "model": "gpt-6", "markdown": "Take Acme Desk.", "fan_out_queries": ["standing desk", null],
        "search_results": [{ "url": "https://acme.example/desks", "title": "Desks" }, { "url": "https://found.example", "title": "Found" }],
        "sources": [{ "type": "chat_gpt_source", "url": "https://acme.example/desks?utm_source=chatgpt.com", "title": "Desks" }],
        "items": [
            { "type": "chat_gpt_text", "markdown": "Take Acme Desk.", "sources": [{ "url": "https://item.example" }] },
            { "type": "chat_gpt_products", "items": [{ "type": "chat_gpt_products_element", "title": "Acme 3", "url": "https://acme.example/3" }, { "title": "No link" }] },
            { "type": "chat_gpt_sponsored", "title": "Ad", "url": "not a page" } ] }]);
    let fake = Fake::new(vec![task(result)]).await;
    let engines = scraped(&fake, &[("engines", "gemini,chatgpt"), ("retrieval", "forced")]);
    let keys: Vec<_> = engines
        .iter()
        .map(|e| (e.key().engine, e.key().surface, e.key().retrieval))
        .collect();
    assert_eq!(
        keys,
        [
            (EngineName::ChatGpt, Surface::ConsumerUi, Retrieval::Forced),
            (EngineName::Gemini, Surface::ConsumerUi, Retrieval::Auto)
        ]
    );
    let got = engines[0].ask(&question()).await.unwrap();
    assert_eq!(fake.asked()[0].json()[0]["force_web_search"], true);
    assert_eq!(
        (got.text.as_str(), got.served_model.as_deref()),
        ("Take Acme Desk.", Some("gpt-6"))
    );
    assert_eq!(
        pages(&got, true),
        [
            "https://acme.example/desks?utm_source=chatgpt.com",
            "https://item.example"
        ]
    );
    assert_eq!(pages(&got, false), ["https://found.example"]);
    assert_eq!((got.fanout_queries.len(), got.search_performed), (1, Some(true)));
    let asides: Vec<_> = got
        .asides
        .iter()
        .map(|a| (a.kind, a.text.as_str(), a.url.is_some()))
        .collect();
    assert_eq!(
        asides,
        [
            (AsideKind::ProductCard, "Acme 3", true),
            (AsideKind::ProductCard, "No link", false),
            (AsideKind::Sponsored, "Ad", false)
        ]
    );
    let own = json!([{ "model": "gpt-6", "markdown": "From memory.", "sources": null, "search_results": null, "items": null }]);
    assert_eq!(read("chatgpt", own.clone()).await.search_performed, Some(false));
    assert_eq!(
        read("gemini", own).await.search_performed,
        None,
        "its page does not say"
    );
}

#[tokio::test]
async fn scraped_question_needs_a_place_and_fits() {
    let fake = Fake::new(vec![Script::nothing()]).await;
    let engines = scraped(&fake, &[]);
    for (country, language) in [(None, "de"), (Some("XX"), "de"), (Some("AT"), "")] {
        let asked = Question {
            country: country.map(str::to_owned),
            language: language.to_owned(),
            ..question()
        };
        for engine in &engines {
            let got = engine.ask(&asked).await;
            assert_eq!(
                got,
                Err(ProviderError::refused(Why::Market)),
                "{country:?} {language}"
            );
        }
    }
    let long = Question {
        text: "x".repeat(701),
        ..question()
    };
    assert_eq!(
        engines[0].ask(&long).await,
        Err(ProviderError::refused(Why::Request))
    );
    assert!(fake.asked().is_empty());
    assert_eq!(engines[0].estimate("x", 2), Estimate::default());
    let priced = scraped(&fake, &[("searchPrice", "2.6")])[0].estimate("x", 2);
    assert_eq!(
        (priced.low_micros, priced.high_micros),
        (Some(5_200), Some(5_200))
    );
}
