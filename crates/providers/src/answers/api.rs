//! An engine behind a vendor's interface for programs. Vendors differ in headers, body and answer, which an
//! [`AnswerDialect`] names; everything else is the same for all of them.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use http::HeaderMap;
use searchwright_outbound::{Guarded, Rejected, RequestError};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{
    AnswerEngine, EngineAnswer, EngineKey, Estimate, MAX_ASK, MAX_QUESTION_CHARS, Question, check,
    draft::{Draft, Ending},
    tariff::{SearchCount, Tariff},
};
use crate::{
    error::{Partial, ProviderError, Why},
    http::{Terms, post_json, rejection, send},
    language::{
        chat::Headers,
        stream::{Oddity, error_status},
    },
};

/// Most requests for one question: the first, and those that tell a paused engine to go on.
const MAX_ROUNDS: usize = 5;
/// Codes of errors by which a vendor says that its filter stopped a question.
const FILTER_CODES: [&str; 4] = [
    "content_filter",
    "content_policy_violation",
    "invalid_prompt",
    "bio_policy",
];

/// Differences between a vendor's interface and those of others.
#[derive(Debug)]
pub(super) struct AnswerDialect {
    /// The provider's word.
    pub provider: &'static str,
    /// Returns the headers of requests, with the credential in them.
    pub headers: fn(Option<&SecretString>) -> Result<Headers, ProviderError>,
    /// Returns the body of the first request.
    pub body: fn(&Setup, &Question) -> Value,
    /// Reads an answer.
    pub read: fn(&Value, &mut Draft) -> Result<Ending, Oddity>,
    /// Makes the body of the request that lets a paused engine go on, from the body before and its answer.
    pub resume: fn(&mut Value, &Value),
}

/// Settings of an engine.
#[derive(Debug)]
pub(super) struct Setup {
    pub key: EngineKey,
    /// Whether the interface takes the country of a question.
    pub takes_location: bool,
    /// Most tokens of an answer; the vendor's limit if `None`.
    pub max_tokens: Option<u32>,
    /// Most searches for an answer, where that can be set.
    pub max_searches: Option<u32>,
    /// Searches to be expected.
    pub searches: SearchCount,
    pub tariff: Tariff,
}

impl Setup {
    /// Name of the model; empty where there is no choice.
    pub fn model(&self) -> &str {
        self.key.model.as_deref().unwrap_or_default()
    }
}

/// An engine of an account.
pub(super) struct ApiEngine {
    dialect: &'static AnswerDialect,
    setup: Setup,
    client: Guarded,
    url: String,
    headers: Headers,
    secret: Option<SecretString>,
}

impl fmt::Debug for ApiEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ApiEngine");
        shown.field("url", &self.url).field("key", &self.setup.key);
        shown.finish_non_exhaustive()
    }
}

impl ApiEngine {
    /// Creates an engine whose requests go to `url`.
    pub fn new(
        client: &Guarded,
        dialect: &'static AnswerDialect,
        url: String,
        setup: Setup,
        secret: Option<&SecretString>,
    ) -> Result<Self, ProviderError> {
        Ok(Self {
            dialect,
            setup,
            client: client.clone(),
            url,
            headers: (dialect.headers)(secret)?,
            secret: secret.cloned(),
        })
    }

    /// Sends a request and returns its answer: JSON with status 200, or the word of a filter.
    async fn exchange(&self, body: &Value) -> Result<Value, ProviderError> {
        let secrets = self.secrets();
        let terms = Terms {
            charges: true,
            secrets: &secrets,
        };
        let request = post_json(&self.url, self.headers.clone(), body)?;
        match send(&self.client, request).await {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|_| ProviderError::refused_after(Why::Unreadable, Partial::default())),
            Err(RequestError::Rejected(answer)) if answer.status == 400 && is_filter(&answer.body) => {
                Ok(answer.body)
            }
            Err(error) => Err(ProviderError::from_request(&error, terms)),
        }
    }

    /// Asks until the engine is done, and says how it ended. The vendor's answers are added to `raw`.
    async fn run(
        &self,
        question: &Question,
        draft: &mut Draft,
        raw: &mut Vec<Value>,
    ) -> Result<Ending, ProviderError> {
        let deadline = Instant::now() + MAX_ASK;
        let mut body = (self.dialect.body)(&self.setup, question);
        for round in 0..MAX_ROUNDS {
            let reply = timeout_at(deadline, self.exchange(&body)).await;
            let reply = reply.unwrap_or_else(|_| Err(ProviderError::Uncertain(Box::default())));
            let answer = match reply {
                Err(error) if round > 0 => return Err(after_charge(error, draft.partial(self.setup.tariff))),
                reply => reply?,
            };
            let ending = self.read(&answer, draft)?;
            if ending == Ending::Paused {
                (self.dialect.resume)(&mut body, &answer);
            }
            raw.push(answer);
            if ending != Ending::Paused {
                return Ok(ending);
            }
        }
        Ok(Ending::Paused)
    }

    /// Reads an answer. Some servers answer 200 and put an error into the body, beside what came before it.
    fn read(&self, answer: &Value, draft: &mut Draft) -> Result<Ending, ProviderError> {
        let read = (self.dialect.read)(answer, draft);
        if is_filter(answer) {
            return Ok(Ending::Refused);
        }
        let error = answer.get("error").and_then(error_status);
        match (error, read) {
            (None, Ok(ending)) => Ok(ending),
            (None, Err(Oddity::Unreadable)) => {
                let came = draft.partial(self.setup.tariff);
                Err(ProviderError::refused_after(Why::Unreadable, came))
            }
            (Some(status), _) | (None, Err(Oddity::Error(status))) => Err(self.judge(status, answer, draft)),
        }
    }

    /// Turns an error object into the error that it would have been as an answer of its own.
    fn judge(&self, status: u16, answer: &Value, draft: &Draft) -> ProviderError {
        let secrets = self.secrets();
        let terms = Terms {
            charges: true,
            secrets: &secrets,
        };
        let rejected = Rejected {
            status,
            headers: HeaderMap::new(),
            body: answer.clone(),
        };
        let error = rejection(&rejected, terms);
        if draft.usage.output_tokens > Some(0) {
            after_charge(error, draft.partial(self.setup.tariff))
        } else {
            error
        }
    }

    fn secrets(&self) -> Vec<&str> {
        self.secret.iter().map(ExposeSecret::expose_secret).collect()
    }
}

#[async_trait]
impl AnswerEngine for ApiEngine {
    fn key(&self) -> &EngineKey {
        &self.setup.key
    }

    fn provider(&self) -> &'static str {
        self.dialect.provider
    }

    fn estimate(&self, prompt: &str, samples: u32) -> Estimate {
        let setup = &self.setup;
        setup
            .tariff
            .estimate(prompt, setup.searches, setup.max_tokens, samples)
    }

    fn location_control(&self) -> bool {
        self.setup.takes_location
    }

    async fn ask(&self, question: &Question) -> Result<EngineAnswer, ProviderError> {
        check(question, MAX_QUESTION_CHARS)?;
        let start = Instant::now();
        let (mut draft, mut raw) = (Draft::default(), Vec::new());
        let ending = self.run(question, &mut draft, &mut raw).await?;
        let latency: Duration = start.elapsed();
        let raw = if raw.len() == 1 {
            raw.remove(0)
        } else {
            Value::Array(raw)
        };
        Ok(draft.finish(ending, self.setup.tariff, raw, latency))
    }
}

/// Whether an error object says that a filter stopped the question.
fn is_filter(answer: &Value) -> bool {
    ["/error/code", "/error/type"]
        .iter()
        .filter_map(|at| answer.pointer(at)?.as_str())
        .any(|code| FILTER_CODES.contains(&code))
}

/// Turns the error of a request into one that says what was charged before it: asking again would charge it twice.
fn after_charge(error: ProviderError, came: Partial) -> ProviderError {
    match error {
        ProviderError::Refused(mut refusal) => {
            refusal.came.get_or_insert(came);
            ProviderError::Refused(refusal)
        }
        ProviderError::NotConfigured(_) => error,
        _ => ProviderError::Uncertain(Box::new(came)),
    }
}
