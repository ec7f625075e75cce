//! The three dialects of language models.

use std::time::Duration;

use futures_util::StreamExt as _;
use schemars::json_schema;
use searchwright_outbound::test_server::{Fake, Script, client};
use serde_json::json;
use uuid::Uuid;

use super::credentials;
use crate::{
    ChatModel, Chunk, Data, Finish, Form, LanguageModel, Partial, Prompt, Provider, ProviderError, Usage,
    Why, answer, chat_model, openai, replay,
};

const SECRET: &str = "sk-canary-4711";
const PATIENT: Duration = Duration::from_secs(60);

/// A dialect: its events for "Hello wörld" in two pieces, the end of it, and an error in the stream.
struct Dialect {
    name: &'static str,
    pieces: &'static str,
    end: &'static str,
    length: &'static str,
    error: &'static str,
}

const ALL: [Dialect; 3] = [
    Dialect {
        name: "openai",
        pieces: concat!(
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}],\"usage\":null}\n\n",
            ": keep-alive\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello \"},\"finish_reason\":null}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"wörld\"},\"finish_reason\":null}]}\n\n",
        ),
        end: concat!(
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":7,\"total_tokens\":18}}\n\n",
            "data: [DONE]\n\n",
        ),
        length: "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n",
        error: "data: {\"error\":{\"message\":\"busy\",\"type\":\"server_error\",\"code\":null}}\n\n",
    },
    Dialect {
        name: "anthropic",
        pieces: concat!(
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":11,\"output_tokens\":1}}}\n\n",
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
            "event: ping\ndata: {\"type\":\"ping\"}\n\n",
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello \"}}\n\n",
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"wörld\"}}\n\n",
        ),
        end: concat!(
            "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
            "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}\n\n",
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        ),
        length: "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},\"usage\":{\"output_tokens\":7}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        error: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n",
    },
    Dialect {
        name: "gemini",
        pieces: concat!(
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"I think\",\"thought\":true},{\"text\":\"Hello \"}],\"role\":\"model\"},\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":11}}\r\n\r\n",
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"wörld\"}],\"role\":\"model\"},\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":11,\"candidatesTokenCount\":4}}\r\n\r\n",
        ),
        end: "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":11,\"candidatesTokenCount\":5,\"thoughtsTokenCount\":2}}\r\n\r\n",
        length: "data: {\"candidates\":[{\"finishReason\":\"MAX_TOKENS\",\"index\":0}]}\r\n\r\n",
        error: "data: {\"error\":{\"code\":503,\"message\":\"busy\",\"status\":\"UNAVAILABLE\"}}\r\n\r\n",
    },
];

const EMPTY: [&str; 3] = [
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    "data: {\"candidates\":[{\"finishReason\":\"STOP\",\"index\":0}]}\r\n\r\n",
];

fn model_with(dialect: &Dialect, url: &str, idle: Duration, more: &[(&str, &str)]) -> Box<dyn LanguageModel> {
    let slashed = format!("{url}/");
    let mut settings = vec![("model", "m-1"), ("baseUrl", slashed.as_str())];
    settings.extend(more);
    let account = credentials(Some(SECRET), &settings);
    let provider = Provider::parse(dialect.name).unwrap();
    Box::new(chat_model(client(idle), provider, &account).unwrap())
}

fn model(dialect: &Dialect, url: &str) -> Box<dyn LanguageModel> {
    model_with(dialect, url, PATIENT, &[])
}

fn prompt() -> Prompt {
    Prompt {
        system: "You write.".to_owned(),
        data: vec![Data {
            label: "page".to_owned(),
            text: "Ferns like shade.".to_owned(),
        }],
        instructions: "Write about ferns.".to_owned(),
        max_tokens: 200,
        temperature: Some(0.25),
        form: Some(Form {
            name: "text",
            schema: json_schema!({ "type": "object" }),
        }),
        nonce: Uuid::from_u128(7),
    }
}

fn plain() -> Prompt {
    Prompt {
        form: None,
        temperature: None,
        ..prompt()
    }
}

/// Returns the result that a model makes of one answer.
async fn outcome(dialect: &Dialect, script: Script) -> Result<String, ProviderError> {
    let fake = Fake::new(vec![script]).await;
    let got = answer(&*model(dialect, &fake.url), &plain()).await;
    assert_eq!(fake.asked().len(), 1, "a model is never asked twice");
    got.map(|g| g.text)
}

fn why(error: &ProviderError) -> Option<Why> {
    match error {
        ProviderError::Refused(refusal) => Some(refusal.why),
        _ => None,
    }
}

#[tokio::test]
async fn a_whole_answer_streams_with_its_usage() {
    for dialect in &ALL {
        let script = Script::events(&format!("{}{}", dialect.pieces, dialect.end)).then_silence();
        let fake = Fake::new(vec![script]).await;
        let prices = [("inputPrice", "1"), ("outputPrice", "10")];
        let model = model_with(dialect, &fake.url, PATIENT, &prices);
        assert_eq!((model.provider(), model.model()), (dialect.name, "m-1"));
        let chunks: Vec<_> = model.generate(&plain()).collect().await;
        let texts: Vec<&str> = chunks
            .iter()
            .filter_map(|c| match c {
                Ok(Chunk::Text(text)) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(texts.concat(), "Hello wörld", "{}", dialect.name);
        assert!(
            texts.len() >= 2,
            "{}: it comes in pieces: {texts:?}",
            dialect.name
        );
        let usage = Usage {
            input_tokens: Some(11),
            output_tokens: Some(7),
            cost_micros_usd: Some(81),
        };
        let end = Chunk::End {
            finish: Finish::Stop,
            usage,
        };
        assert_eq!(chunks.last(), Some(&Ok(end)), "{}", dialect.name);
    }
}

#[tokio::test]
async fn requests_carry_the_key_in_a_header_the_data_apart_and_no_tools() {
    for (dialect, line, key) in [
        (
            &ALL[0],
            "POST /chat/completions",
            ("authorization", "Bearer sk-canary-4711"),
        ),
        (&ALL[1], "POST /v1/messages", ("x-api-key", SECRET)),
        (
            &ALL[2],
            "POST /models/m-1:streamGenerateContent?alt=sse",
            ("x-goog-api-key", SECRET),
        ),
    ] {
        let fake = Fake::new(vec![Script::events(&format!(
            "{}{}",
            dialect.pieces, dialect.end
        ))])
        .await;
        let _ = answer(&*model(dialect, &fake.url), &prompt()).await;
        let asked = &fake.asked()[0];
        assert_eq!(asked.line, line);
        assert_eq!(asked.headers[key.0], key.1);
        assert_eq!(asked.headers["content-type"], "application/json");
        let (body, text) = (asked.json(), String::from_utf8(asked.body.clone()).unwrap());
        assert!(!text.contains(SECRET) && !text.contains("tool"), "{text}");
        let nonce = Uuid::from_u128(7).simple().to_string();
        let (system, user) = match dialect.name {
            "openai" => {
                assert_eq!(
                    (&body["stream"], &body["max_tokens"]),
                    (&json!(true), &json!(200))
                );
                assert_eq!(body["stream_options"]["include_usage"], true);
                assert_eq!(body["response_format"]["json_schema"]["name"], "text");
                (&body["messages"][0]["content"], &body["messages"][1]["content"])
            }
            "anthropic" => {
                assert_eq!(asked.headers["anthropic-version"], "2023-06-01");
                assert_eq!(body["output_config"]["format"]["type"], "json_schema");
                (&body["system"], &body["messages"][0]["content"])
            }
            _ => {
                assert_eq!(body["generationConfig"]["maxOutputTokens"], 200);
                assert_eq!(body["generationConfig"]["responseMimeType"], "application/json");
                (
                    &body["systemInstruction"]["parts"][0]["text"],
                    &body["contents"][0]["parts"][0]["text"],
                )
            }
        };
        let (system, user) = (system.as_str().unwrap(), user.as_str().unwrap());
        assert!(
            system.starts_with("You write.") && system.contains(&nonce),
            "{system}"
        );
        assert!(
            user.contains(&format!("Ferns like shade.\n</data-{nonce}>"))
                && user.ends_with("Write about ferns."),
            "{user}"
        );
    }
}

#[test]
fn openai_itself_gets_its_own_name_of_the_limit() {
    let model = |settings: &[(&str, &str)]| {
        chat_model(client(PATIENT), Provider::OpenAi, &credentials(None, settings))
    };
    let body = |model: &ChatModel| (openai::DIALECT.body)(model, &plain());
    let own = body(&model(&[("model", "m")]).unwrap());
    assert_eq!(own["max_completion_tokens"], 200);
    assert_eq!(own.get("max_tokens"), None);
    let copy = body(&model(&[("model", "m"), ("baseUrl", "http://127.0.0.1:9/v1")]).unwrap());
    assert_eq!(copy["max_tokens"], 200);
    assert_eq!(copy.get("max_completion_tokens"), None);
    assert!(matches!(model(&[]), Err(ProviderError::NotConfigured("model"))));
}

#[test]
fn gemini_takes_the_name_of_a_model_with_and_without_its_prefix() {
    for name in ["models/m-1", "m-1"] {
        let account = credentials(Some(SECRET), &[("model", name)]);
        let model = chat_model(client(PATIENT), Provider::Gemini, &account).unwrap();
        assert_eq!(model.model(), "m-1");
    }
}

#[tokio::test]
async fn model_without_its_key_is_not_configured() {
    for dialect in &ALL[1..] {
        let provider = Provider::parse(dialect.name).unwrap();
        let account = credentials(None, &[("model", "m-1"), ("baseUrl", "http://127.0.0.1:9")]);
        let model = chat_model(client(PATIENT), provider, &account).unwrap();
        let got = answer(&model, &plain()).await;
        assert_eq!(got, Err(ProviderError::NotConfigured(dialect.name)));
    }
    let account = credentials(None, &[("model", "m-1")]);
    for provider in Provider::ALL {
        let is_model = Provider::LANGUAGE_MODELS.contains(&provider);
        let made = chat_model(client(PATIENT), provider, &account);
        assert_eq!(made.is_ok(), is_model, "{}", provider.word());
    }
}

#[tokio::test]
async fn a_secret_is_in_no_debug_output() {
    for dialect in &ALL {
        let model = model(dialect, "http://127.0.0.1:9");
        let shown = format!("{model:?} {:?}", credentials(Some(SECRET), &[]));
        assert!(!shown.contains("4711"), "{shown}");
    }
}

/// A server may say anything: figures that cannot be added are as large as figures get.
#[test]
fn counts_of_tokens_may_be_absurd() {
    let most = u64::MAX;
    let claude = format!(
        "data: {{\"type\":\"message_start\",\"message\":{{\"usage\":{{\"input_tokens\":{most},\"cache_read_input_tokens\":{most}}}}}}}\n\n"
    );
    let gemini = format!(
        "data: {{\"usageMetadata\":{{\"candidatesTokenCount\":{most},\"thoughtsTokenCount\":{most}}}}}\n\n"
    );
    for (provider, events) in [(Provider::Anthropic, claude), (Provider::Gemini, gemini)] {
        assert_eq!(replay(provider, [events.as_bytes()]), Some((String::new(), None)));
    }
}

#[tokio::test]
async fn an_answer_without_usage_costs_unknown() {
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    // Without `[DONE]`, without usage, and with the connection cut after the finish.
    for script in [
        Script::events(&format!("{}{end}", ALL[0].pieces)),
        Script::cut(&format!("{}{end}", ALL[0].pieces)),
    ] {
        let fake = Fake::new(vec![script]).await;
        let prices = [("inputPrice", "1"), ("outputPrice", "10")];
        let got = answer(&*model_with(&ALL[0], &fake.url, PATIENT, &prices), &plain())
            .await
            .unwrap();
        assert_eq!((got.text.as_str(), got.usage), ("Hello wörld", Usage::default()));
    }
}

#[tokio::test]
async fn a_cut_or_stalled_stream_is_uncertain_with_what_came() {
    for dialect in &ALL {
        let input = (dialect.name != "openai").then_some(11);
        let came = ProviderError::Uncertain(Box::new(Partial {
            text: "Hello wörld".to_owned(),
            usage: Usage {
                input_tokens: input,
                ..Usage::default()
            },
        }));
        for script in [Script::cut(dialect.pieces), Script::events(dialect.pieces)] {
            assert_eq!(
                outcome(dialect, script).await,
                Err(came.clone()),
                "{}",
                dialect.name
            );
        }
        let fake = Fake::new(vec![Script::cut(dialect.pieces).then_silence()]).await;
        let impatient = model_with(dialect, &fake.url, Duration::from_millis(300), &[]);
        assert_eq!(answer(&*impatient, &plain()).await, Err(came), "{}", dialect.name);
        let error = outcome(dialect, Script::nothing()).await.unwrap_err();
        assert_eq!(
            error,
            ProviderError::Uncertain(Box::default()),
            "{}",
            dialect.name
        );
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_can_be_asked_again() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for dialect in &ALL {
        let got = answer(&*model(dialect, &url), &plain()).await;
        assert_eq!(got, Err(ProviderError::Unavailable), "{}", dialect.name);
        let private = answer(&*model(dialect, "http://10.0.0.1"), &plain()).await;
        assert_eq!(why(&private.unwrap_err()), Some(Why::Address), "{}", dialect.name);
    }
}

#[tokio::test]
async fn refusals_keep_the_providers_words_without_the_key() {
    for dialect in &ALL {
        let body = json!({ "error": { "message": format!("no such key: {SECRET}"), "type": "invalid_request_error" } });
        for (status, expected) in [
            (401, Why::Credential),
            (403, Why::Credential),
            (400, Why::Request),
            (404, Why::Request),
        ] {
            let error = outcome(dialect, Script::json(status, &body)).await.unwrap_err();
            assert_eq!(why(&error), Some(expected), "{} {status}", dialect.name);
            assert!(!format!("{error:?}").contains("4711"), "{error:?}");
            let ProviderError::Refused(refusal) = error else {
                unreachable!()
            };
            assert_eq!(refusal.said.as_deref(), Some("no such key: [secret]"));
        }
        let busy = Script::new(429, "application/json", "Retry-After: 17\r\n", "{}");
        assert_eq!(
            outcome(dialect, busy).await,
            Err(ProviderError::RateLimited(Some(Duration::from_secs(17))))
        );
        assert_eq!(
            outcome(dialect, Script::json(500, &body)).await,
            Err(ProviderError::Unavailable)
        );
        let gateway = Script::new(502, "text/html", "", "<html>Bad gateway</html>");
        assert_eq!(
            outcome(dialect, gateway).await,
            Err(ProviderError::Uncertain(Box::default()))
        );
    }
}

#[tokio::test]
async fn lies_are_told_from_answers() {
    for (dialect, empty) in ALL.iter().zip(EMPTY) {
        let of = async |script| outcome(dialect, script).await.unwrap_err();
        let page = "<!doctype html><title>Login</title>";
        for script in [
            Script::new(200, "text/html", "", page),
            Script::new(200, "text/plain", "", dialect.pieces),
            Script::new(301, "text/html", "Location: http://169.254.169.254/\r\n", page),
        ] {
            assert_eq!(why(&of(script).await), Some(Why::Unreadable), "{}", dialect.name);
        }
        // An error object under a success.
        let error = json!({ "error": { "message": "who are you", "type": "authentication_error" } });
        assert_eq!(why(&of(Script::json(200, &error)).await), Some(Why::Credential));
        for broken in [
            "data: {\"choices\":[\n\n",
            "data: <html>\n\n",
            "data: {}\n\n",
            "data: []\n\n",
        ] {
            let error = of(Script::events(&format!("{}{broken}", dialect.pieces))).await;
            let ProviderError::Refused(refusal) = &error else {
                panic!("{}: {error:?}", dialect.name)
            };
            assert_eq!(refusal.why, Why::Unreadable, "{} {broken}", dialect.name);
            assert_eq!(refusal.came.as_ref().unwrap().text, "Hello wörld");
        }
        assert_eq!(
            why(&of(Script::events(empty)).await),
            Some(Why::Empty),
            "{}",
            dialect.name
        );
        assert_eq!(
            of(Script::events("")).await,
            ProviderError::Uncertain(Box::default()),
            "{}",
            dialect.name
        );
        let cut = of(Script::events(&format!("{}{}", dialect.pieces, dialect.length))).await;
        assert_eq!(why(&cut), Some(Why::Truncated), "{}", dialect.name);
    }
}

#[tokio::test]
async fn an_error_in_the_stream_loses_what_came_or_nothing() {
    for dialect in &ALL {
        let early = outcome(dialect, Script::events(dialect.error)).await;
        assert_eq!(early, Err(ProviderError::Unavailable), "{}", dialect.name);
        let late = outcome(
            dialect,
            Script::events(&format!("{}{}", dialect.pieces, dialect.error)),
        )
        .await;
        let Err(ProviderError::Uncertain(came)) = late else {
            panic!("{}: {late:?}", dialect.name)
        };
        assert_eq!(came.text, "Hello wörld");
    }
}

#[tokio::test]
async fn a_filter_is_not_an_answer() {
    for (dialect, event) in [
        (
            &ALL[0],
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\n",
        ),
        (
            &ALL[0],
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"refusal\":\"I will not\"},\"finish_reason\":\"stop\"}]}\n\n",
        ),
        (
            &ALL[0],
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
        ),
        (
            &ALL[1],
            "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\"}}\n\n",
        ),
        (
            &ALL[2],
            "data: {\"candidates\":[{\"finishReason\":\"SAFETY\"}]}\n\n",
        ),
        (
            &ALL[2],
            "data: {\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"}}\n\n",
        ),
    ] {
        let error = outcome(dialect, Script::events(event)).await.unwrap_err();
        assert_eq!(why(&error), Some(Why::Filtered), "{event}");
    }
}
