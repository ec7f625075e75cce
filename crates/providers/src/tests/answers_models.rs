//! Engines behind models: OpenAI's, any server like it, Anthropic's and Google's.

use searchwright_outbound::test_server::{Fake, Script, client};
use serde_json::{Value, json};

use super::{
    answers::{PATIENT, SECRET, TEXT, asked, engine, pages, question},
    credentials,
};
use crate::{
    AnswerStatus, AsideKind, EngineKey, EngineName, Estimate, Partial, Provider, ProviderError, Question,
    Retrieval, Surface, Usage, Why, answers,
};

const RESPONSES: &[(&str, &str)] = &[("model", "m-1"), ("api", "responses")];
const MODEL: &[(&str, &str)] = &[("model", "m-1")];

fn response(status: &str, output: Value) -> Value {
    json!({ "id": "resp_1", "object": "response", "status": status, "model": "gpt-6-sol-2026-10-01", "error": null, "incomplete_details": null, "output": output,
        "usage": { "input_tokens": 9_000, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 300, "output_tokens_details": { "reasoning_tokens": 64 }, "total_tokens": 9_300 } })
}

fn message(text: &str, annotations: Value) -> Value {
    json!({ "id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [{ "type": "output_text", "text": text, "annotations": annotations, "logprobs": [] }] })
}

/// An answer of OpenAI with two searches, a page that was opened, and a source of each kind.
fn searched() -> Value {
    response(
        "completed",
        json!([
            { "id": "rs_1", "type": "reasoning", "summary": [] },
            { "id": "ws_1", "type": "web_search_call", "status": "completed", "action": { "type": "search", "query": "standing desk", "queries": ["standing desk", "Acme Desk test"],
                "sources": [{ "type": "url", "url": "https://acme.example/desks" }, { "type": "url", "url": "https://bolt.example/" }, { "type": "api", "name": "oai-weather" }] } },
            { "id": "ws_2", "type": "web_search_call", "status": "completed", "action": { "type": "search", "query": "Bolt Desks" } },
            { "id": "ws_3", "type": "web_search_call", "status": "failed", "action": { "type": "search", "query": "lost" } },
            { "id": "ws_4", "type": "web_search_call", "status": "completed", "action": { "type": "open_page", "url": "https://opened.example/a" } },
            message("Ärger? Acme Desk.", json!([
                { "type": "url_citation", "url": "https://acme.example/desks?utm_source=openai", "title": "Desks", "start_index": 7, "end_index": 16 },
                { "type": "url_citation", "url": "https://acme.example/b", "title": "B", "start_index": 7, "end_index": 999 },
                { "type": "url_citation", "url": "javascript:alert(1)", "title": "no page", "start_index": 0, "end_index": 3 },
                { "type": "url_citation", "url": 7, "title": null },
                { "type": "file_citation", "file_id": "f" }
            ])),
            message(" Second.", json!([{ "type": "url_citation", "url": "https://c.example", "title": "C", "start_index": 1, "end_index": 7 }])),
        ]),
    )
}

#[tokio::test]
async fn openai_asks_with_the_search_tool() {
    let fake = Fake::new(vec![Script::json(200, &searched())]).await;
    let mut settings = RESPONSES.to_vec();
    settings.extend([
        ("retrieval", "forced"),
        ("contextSize", "low"),
        ("effort", "minimal"),
        ("maxSearches", "3"),
        ("maxTokens", "900"),
        ("toolVersion", "web_search_2025_08_26"),
    ]);
    engine(Provider::OpenAi, &fake, &settings)
        .ask(&question())
        .await
        .unwrap();
    let tool = json!({ "type": "web_search_2025_08_26", "search_context_size": "low", "user_location": { "type": "approximate", "country": "AT", "city": "Graz" } });
    assert_eq!(
        fake.asked()[0].json(),
        json!({ "model": "m-1", "input": question().text, "tools": [tool], "include": ["web_search_call.action.sources"], "store": false,
            "tool_choice": "required", "max_tool_calls": 3, "max_output_tokens": 900, "reasoning": { "effort": "minimal" } })
    );
    let nowhere = Question {
        country: None,
        ..question()
    };
    let plain = engine(Provider::OpenAi, &fake, RESPONSES);
    plain.ask(&nowhere).await.unwrap();
    assert_eq!(fake.asked()[1].json()["tools"], json!([{ "type": "web_search" }]));
}

#[tokio::test]
async fn openai_keeps_citations_apart_from_what_was_retrieved() {
    let mut settings = RESPONSES.to_vec();
    settings.extend([("inputPrice", "1"), ("outputPrice", "10"), ("searchPrice", "10")]);
    let got = asked(Provider::OpenAi, &settings, &searched()).await.unwrap();
    assert_eq!(
        (got.status, got.text.as_str()),
        (AnswerStatus::Ok, "Ärger? Acme Desk. Second.")
    );
    let first = &got.citations[0];
    assert_eq!((first.start, first.end, first.inline), (Some(7), Some(16), true));
    assert_eq!(first.title.as_deref(), Some("Desks"));
    assert_eq!(
        pages(&got, true),
        [
            "https://acme.example/desks?utm_source=openai",
            "https://c.example",
            "https://acme.example/b"
        ]
    );
    assert_eq!(
        (got.citations[1].start, got.citations[1].end),
        (Some(18), Some(24))
    );
    assert_eq!((got.citations[2].start, got.citations[2].inline), (None, false));
    assert_eq!(
        pages(&got, false),
        ["https://bolt.example/", "https://opened.example/a"]
    );
    assert_eq!(
        got.fanout_queries,
        ["standing desk", "Acme Desk test", "Bolt Desks", "lost"]
    );
    assert_eq!((got.search_performed, got.searches), (Some(true), Some(2)));
    assert_eq!(got.usage.cost_micros_usd, Some(9_000 + 3_000 + 20_000));
    assert_eq!(got.served_model.as_deref(), Some("gpt-6-sol-2026-10-01"));
    assert_eq!(got.raw["id"], "resp_1");
}

#[tokio::test]
async fn openai_answer_that_is_cut_or_refused_is_charged() {
    let cut = json!([message("Many like", json!([]))]);
    let refusal =
        json!([{ "type": "message", "content": [{ "type": "refusal", "refusal": "I can't help." }] }]);
    let reason = |reason: &str, mut answer: Value| {
        answer["incomplete_details"] = json!({ "reason": reason });
        answer
    };
    for (answer, status, text) in [
        (
            reason("max_output_tokens", response("incomplete", cut.clone())),
            AnswerStatus::Incomplete,
            "Many like",
        ),
        (
            reason("max_output_tokens", response("incomplete", json!([]))),
            AnswerStatus::Incomplete,
            "",
        ),
        (
            reason("content_filter", response("incomplete", cut)),
            AnswerStatus::Refused,
            "Many like",
        ),
        (
            response("completed", refusal),
            AnswerStatus::Refused,
            "I can't help.",
        ),
    ] {
        let got = asked(Provider::OpenAi, RESPONSES, &answer).await.unwrap();
        assert_eq!((got.status, got.text.as_str()), (status, text));
        assert_eq!(got.usage.output_tokens, Some(300));
        assert_eq!((got.search_performed, got.searches), (Some(false), Some(0)));
    }
    let mut failed = response("failed", json!([]));
    failed["error"] = json!({ "code": "server_error", "message": "sorry" });
    let error = asked(Provider::OpenAi, RESPONSES, &failed).await.unwrap_err();
    assert!(matches!(error, ProviderError::Uncertain(_)), "{error:?}");
    let waiting = asked(Provider::OpenAi, RESPONSES, &response("queued", json!([]))).await;
    assert!(matches!(waiting, Err(ProviderError::Refused(r)) if r.why == Why::Unreadable));
}

#[test]
fn address_of_openai_makes_an_account_chatgpt() {
    let made = |settings: &[(&str, &str)]| {
        let account = credentials(Some(SECRET), settings);
        answers::engines(&client(PATIENT), Provider::OpenAi, &account)
            .unwrap()
            .remove(0)
    };
    let own = made(&[
        ("model", "gpt-4o-mini"),
        ("effort", "low"),
        ("contextSize", "high"),
    ]);
    let key = EngineKey {
        engine: EngineName::ChatGpt,
        surface: Surface::Api,
        retrieval: Retrieval::Auto,
        model: Some("gpt-4o-mini".to_owned()),
        tool_version: Some("web_search".to_owned()),
        effort: Some("low".to_owned()),
        context_size: Some("high".to_owned()),
    };
    assert_eq!(own.key(), &key);
    assert!(own.location_control());
    let [europe, copy, lookalike, plain] = [
        &[("model", "m"), ("baseUrl", "https://eu.api.openai.com/v1")][..],
        &[("model", "m"), ("baseUrl", "http://127.0.0.1:11434/v1")],
        &[("model", "m"), ("baseUrl", "https://api.openai.com.example/v1")],
        &[("model", "m"), ("api", "chat")],
    ]
    .map(made);
    assert_eq!(europe.key().engine, EngineName::ChatGpt);
    for other in [copy, lookalike] {
        assert_eq!(
            (other.key().engine, other.key().retrieval),
            (EngineName::Custom, Retrieval::Auto)
        );
        assert_eq!(other.key().tool_version, None);
        assert!(!other.location_control());
    }
    assert_eq!(
        (plain.key().engine, plain.key().retrieval),
        (EngineName::ChatGpt, Retrieval::None)
    );
}

#[test]
fn estimate_is_known_where_the_prices_are() {
    let estimate = |settings: &[(&str, &str)]| {
        let account = credentials(Some(SECRET), settings);
        let engines = answers::engines(&client(PATIENT), Provider::OpenAi, &account).unwrap();
        engines[0].estimate("Which desk?", 2)
    };
    let listed = estimate(&[("model", "gpt-5.6-sol")]);
    assert!(listed.low_micros.is_some_and(|low| low > 0), "{listed:?}");
    assert_eq!(estimate(&[("model", "nobody-knows-it")]), Estimate::default());
    let home = [
        ("model", "m"),
        ("baseUrl", "http://127.0.0.1:9/v1"),
        ("inputPrice", "1"),
        ("outputPrice", "4"),
    ];
    let range = estimate(&home);
    assert!(
        range.low_micros < range.high_micros && range.low_micros > Some(0),
        "{range:?}"
    );
    let free = estimate(&[("model", "m"), ("baseUrl", "http://127.0.0.1:9/v1")]);
    assert_eq!(free, Estimate::default(), "unknown is no zero");
}

#[tokio::test]
async fn links_in_the_text_of_a_custom_engine_are_its_citations() {
    let text = "<think>who?</think>See [Acme](https://acme.example/desks), https://bolt.example. Not ftp://x.example.";
    let answer = json!({ "model": "m-2026", "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": text } }], "usage": { "prompt_tokens": 9, "completion_tokens": 30 } });
    let fake = Fake::new(vec![Script::json(200, &answer)]).await;
    let got = engine(Provider::OpenAi, &fake, MODEL)
        .ask(&question())
        .await
        .unwrap();
    assert_eq!(
        fake.asked()[0].json(),
        json!({ "model": "m-1", "messages": [{ "role": "user", "content": question().text }], "stream": false })
    );
    assert_eq!(
        pages(&got, true),
        ["https://acme.example/desks", "https://bolt.example"]
    );
    assert!(got.citations.iter().all(|c| c.inline && c.start.is_some()));
    assert_eq!(got.citations[0].title.as_deref(), Some("Acme"));
    assert_eq!((got.search_performed, got.searches), (None, None));
    let mut noted = answer.clone();
    noted["choices"][0]["message"]["annotations"] = json!([{ "type": "url_citation", "url_citation": { "url": "https://noted.example", "title": "N", "start_index": 0, "end_index": 3 } }]);
    let noted = asked(Provider::OpenAi, MODEL, &noted).await.unwrap();
    assert_eq!(pages(&noted, true), ["https://noted.example"]);
    for (finish, status) in [
        ("length", AnswerStatus::Incomplete),
        ("content_filter", AnswerStatus::Refused),
        ("tool_calls", AnswerStatus::Incomplete),
    ] {
        let mut ended = answer.clone();
        ended["choices"][0]["finish_reason"] = finish.into();
        let got = asked(Provider::OpenAi, MODEL, &ended).await.unwrap();
        assert_eq!(got.status, status, "{finish}");
    }
    let refusal =
        json!({ "choices": [{ "finish_reason": "stop", "message": { "content": null, "refusal": "No." } }] });
    let got = asked(Provider::OpenAi, MODEL, &refusal).await.unwrap();
    assert_eq!((got.status, got.text.as_str()), (AnswerStatus::Refused, "No."));
    let parts = json!({ "choices": [{ "message": { "content": [{ "type": "text", "text": TEXT }, { "type": "image_url" }] } }] });
    assert_eq!(asked(Provider::OpenAi, MODEL, &parts).await.unwrap().text, TEXT);
}

fn claude(stop: &str, content: Value) -> Value {
    json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5", "stop_reason": stop, "stop_sequence": null, "container": { "id": "container_1", "expires_at": "2026-11-28T00:00:00Z" }, "content": content,
        "usage": { "input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 3, "output_tokens": 50, "server_tool_use": { "web_search_requests": 1, "web_fetch_requests": 0 } } })
}

fn claude_search() -> Value {
    json!([
        { "type": "text", "text": "Let me look. ", "citations": null },
        { "type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": { "query": "standing desk" }, "caller": { "type": "direct" } },
        { "type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "caller": { "type": "direct" }, "content": [
            { "type": "web_search_result", "url": "https://acme.example/desks", "title": "Desks", "encrypted_content": "secret", "page_age": null },
            { "type": "web_search_result", "url": "https://bolt.example", "title": "Bolt", "encrypted_content": "secret", "page_age": "1 day" } ] }
    ])
}

fn claude_text() -> Value {
    json!([
        { "type": "text", "text": "Acme Desk wins", "citations": [
            { "type": "web_search_result_location", "url": "https://acme.example/desks", "title": "Desks", "cited_text": "x", "encrypted_index": "y" },
            { "type": "char_location", "document_index": 0 } ] },
        { "type": "text", "text": ".", "citations": null }
    ])
}

#[tokio::test]
async fn claude_that_pauses_goes_on_and_everything_is_charged() {
    let fake = Fake::new(vec![
        Script::json(200, &claude("pause_turn", claude_search())),
        Script::json(200, &claude("pause_turn", json!([]))),
        Script::json(200, &claude("end_turn", claude_text())),
    ])
    .await;
    let mut settings = MODEL.to_vec();
    settings.extend([("inputPrice", "1"), ("outputPrice", "10"), ("searchPrice", "10")]);
    let got = engine(Provider::Anthropic, &fake, &settings)
        .ask(&question())
        .await
        .unwrap();
    assert_eq!(
        (got.status, got.text.as_str()),
        (AnswerStatus::Ok, "Let me look. Acme Desk wins.")
    );
    assert_eq!(pages(&got, true), ["https://acme.example/desks"]);
    assert_eq!(
        (got.citations[0].start, got.citations[0].end),
        (Some(13), Some(27))
    );
    assert_eq!(pages(&got, false), ["https://bolt.example"]);
    assert_eq!(got.fanout_queries, ["standing desk"]);
    assert_eq!((got.search_performed, got.searches), (Some(true), Some(3)));
    let usage = Usage {
        input_tokens: Some(369),
        output_tokens: Some(150),
        cost_micros_usd: Some(369 + 1_500 + 30_000),
    };
    assert_eq!(got.usage, usage);
    assert_eq!(got.raw.as_array().map(Vec::len), Some(3));
    assert!(!got.raw.to_string().contains("encrypted"), "{}", got.raw);
    let sent = fake.asked();
    let place = json!({ "type": "approximate", "country": "AT", "city": "Graz" });
    let mut body = json!({ "model": "m-1", "max_tokens": 8_192, "messages": [{ "role": "user", "content": question().text }],
        "tools": [{ "type": "web_search_20260209", "name": "web_search", "max_uses": 5, "user_location": place }] });
    assert_eq!(sent[0].json(), body);
    body["container"] = "container_1".into();
    let turn = json!({ "role": "assistant", "content": claude_search() });
    body["messages"].as_array_mut().unwrap().push(turn);
    assert_eq!(sent[1].json(), body);
    assert_eq!(sent[2].json(), body, "two answers make one turn");
}

#[tokio::test]
async fn claude_that_fails_on_the_way_says_what_was_charged() {
    let came = Partial {
        text: "Let me look. ".to_owned(),
        usage: Usage {
            input_tokens: Some(123),
            output_tokens: Some(50),
            cost_micros_usd: None,
        },
    };
    for (script, expected) in [
        (
            Script::json(500, &json!({})),
            ProviderError::Uncertain(Box::new(came.clone())),
        ),
        (
            Script::json(429, &json!({})),
            ProviderError::Uncertain(Box::new(came.clone())),
        ),
        (
            Script::nothing(),
            ProviderError::Uncertain(Box::new(came.clone())),
        ),
        (
            Script::json(401, &json!({})),
            ProviderError::refused_after(Why::Credential, came.clone()),
        ),
    ] {
        let paused = Script::json(200, &claude("pause_turn", claude_search()));
        let fake = Fake::new(vec![paused, script]).await;
        let got = engine(Provider::Anthropic, &fake, MODEL).ask(&question()).await;
        assert_eq!(got, Err(expected));
        assert_eq!(fake.asked().len(), 2);
    }
    let fake = Fake::new(vec![Script::json(200, &claude("pause_turn", claude_search()))]).await;
    let got = engine(Provider::Anthropic, &fake, MODEL)
        .ask(&question())
        .await
        .unwrap();
    assert_eq!((got.status, got.searches), (AnswerStatus::Incomplete, Some(5)));
    assert_eq!(fake.asked().len(), 5, "it does not pause for ever");
}

#[tokio::test]
async fn claude_ends_in_its_own_words() {
    for (stop, status) in [
        ("max_tokens", AnswerStatus::Incomplete),
        ("refusal", AnswerStatus::Refused),
        ("tool_use", AnswerStatus::Incomplete),
        ("stop_sequence", AnswerStatus::Ok),
    ] {
        let got = asked(Provider::Anthropic, MODEL, &claude(stop, claude_text()))
            .await
            .unwrap();
        assert_eq!(
            (got.status, got.text.as_str()),
            (status, "Acme Desk wins."),
            "{stop}"
        );
    }
    let failed = json!([{ "type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": { "type": "web_search_tool_result_error", "error_code": "unavailable" } }, { "type": "text", "text": TEXT }]);
    let mut answer = claude("end_turn", failed);
    answer["usage"]["server_tool_use"] = Value::Null;
    let got = asked(Provider::Anthropic, MODEL, &answer).await.unwrap();
    assert_eq!((got.search_performed, got.searches), (Some(false), Some(0)));
}

fn gemini(finish: &str, grounding: Value) -> Value {
    let mut candidate = json!({ "index": 0, "finishReason": finish, "content": { "role": "model", "parts": [{ "text": "I think", "thought": true }, { "text": "Ärger? " }, { "text": "Acmé Desk." }] } });
    if !grounding.is_null() {
        candidate["groundingMetadata"] = grounding;
    }
    json!({ "candidates": [candidate], "modelVersion": "gemini-3.8-flash", "usageMetadata": { "promptTokenCount": 10, "toolUsePromptTokenCount": 5, "candidatesTokenCount": 7, "thoughtsTokenCount": 3, "totalTokenCount": 25 } })
}

#[tokio::test]
async fn gemini_is_asked_without_the_web_unless_the_account_says_so() {
    let fake = Fake::new(vec![Script::json(200, &gemini("STOP", Value::Null))]).await;
    let plain = engine(Provider::Gemini, &fake, &[("model", "models/m-1")]);
    assert_eq!(
        (plain.key().retrieval, plain.location_control()),
        (Retrieval::None, false)
    );
    let got = plain.ask(&question()).await.unwrap();
    assert_eq!(
        (got.text.as_str(), got.search_performed),
        ("Ärger? Acmé Desk.", Some(false))
    );
    assert_eq!(
        got.usage.input_tokens.zip(got.usage.output_tokens),
        Some((15, 10))
    );
    let contents = json!([{ "role": "user", "parts": [{ "text": question().text }] }]);
    assert_eq!(fake.asked()[0].json(), json!({ "contents": contents }));
    let settings = [("model", "m-1"), ("grounding", "true"), ("maxTokens", "500")];
    let grounded = engine(Provider::Gemini, &fake, &settings);
    assert_eq!(grounded.key().tool_version.as_deref(), Some("google_search"));
    grounded.ask(&question()).await.unwrap();
    assert_eq!(
        fake.asked()[1].json(),
        json!({ "contents": contents, "tools": [{ "googleSearch": {} }], "generationConfig": { "maxOutputTokens": 500 } })
    );
}

#[tokio::test]
async fn gemini_cites_the_chunks_that_support_its_text() {
    let grounding = json!({
        "webSearchQueries": ["standing desk", "Acme Desk"],
        "searchEntryPoint": { "renderedContent": "<div>chips</div>" },
        "groundingChunks": [
            { "web": { "uri": "https://vertexaisearch.cloud.google.com/grounding-api-redirect/a", "title": "acme.example" } },
            { "web": { "uri": "https://vertexaisearch.cloud.google.com/grounding-api-redirect/b", "title": "bolt.example" } },
            { "maps": {} }
        ],
        "groundingSupports": [
            { "segment": { "partIndex": 2, "startIndex": 0, "endIndex": 5, "text": "Acmé" }, "groundingChunkIndices": [0, 99, 2] },
            { "segment": { "partIndex": 2, "startIndex": 4, "endIndex": 9 }, "groundingChunkIndices": [0] },
            { "segment": { "partIndex": 7 }, "groundingChunkIndices": [0] }
        ]
    });
    let mut settings = MODEL.to_vec();
    settings.extend([
        ("grounding", "true"),
        ("inputPrice", "1"),
        ("outputPrice", "1"),
        ("searchPrice", "14"),
    ]);
    let got = asked(Provider::Gemini, &settings, &gemini("STOP", grounding))
        .await
        .unwrap();
    let first = &got.citations[0];
    assert_eq!((first.start, first.end, first.inline), (Some(7), Some(11), true));
    assert_eq!(first.title.as_deref(), Some("acme.example"));
    assert_eq!(
        pages(&got, false),
        ["https://vertexaisearch.cloud.google.com/grounding-api-redirect/b"]
    );
    assert_eq!((got.search_performed, got.searches), (Some(true), Some(2)));
    assert_eq!(got.usage.cost_micros_usd, Some(25 + 28_000));
    assert_eq!(got.fanout_queries, ["standing desk", "Acme Desk"]);
    assert_eq!(
        (got.asides[0].kind, got.asides[0].text.as_str()),
        (AsideKind::SearchSuggestions, "<div>chips</div>")
    );
}

#[tokio::test]
async fn gemini_filter_is_a_refusal_and_a_limit_is_incomplete() {
    for (finish, status) in [
        ("SAFETY", AnswerStatus::Refused),
        ("PROHIBITED_CONTENT", AnswerStatus::Refused),
        ("MAX_TOKENS", AnswerStatus::Incomplete),
        ("SOMETHING_NEW", AnswerStatus::Incomplete),
    ] {
        let got = asked(Provider::Gemini, MODEL, &gemini(finish, Value::Null))
            .await
            .unwrap();
        assert_eq!(
            (got.status, got.text.as_str()),
            (status, "Ärger? Acmé Desk."),
            "{finish}"
        );
    }
    let blocked =
        json!({ "promptFeedback": { "blockReason": "SAFETY" }, "usageMetadata": { "promptTokenCount": 10 } });
    let got = asked(Provider::Gemini, MODEL, &blocked).await.unwrap();
    assert_eq!(
        (got.status, got.usage.input_tokens),
        (AnswerStatus::Refused, Some(10))
    );
}
