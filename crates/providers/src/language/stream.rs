//! Runs the exchange with any model: sends, takes the events apart, and tells a whole answer from half
//! a one. What an event means is the vendor's file's to say.

use std::{collections::VecDeque, fmt, sync::Arc};

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, Request};
use searchwright_outbound::{Guarded, Piece, Rejected, RequestError, Streamed};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::{Chunk, Finish, Generation, Prompt, prices::Price};
use crate::{
    error::{Partial, ProviderError, Usage, Why},
    http::{Terms, is_of_type, rejection},
    sse::{Event, Parser},
};

/// Largest stream of events: an answer of 100,000 tokens with every event's wrapping.
const MAX_STREAM_BYTES: usize = 64 * 1024 * 1024;
/// Most of an error page that is read.
const MAX_ERROR: usize = 64 * 1024;

/// Models charge for what they do, and what failed has no words to be kept from.
const CHARGED: Terms<'_> = Terms {
    charges: true,
    secrets: &[],
};

/// Parts of an answer that events have added so far.
#[derive(Debug, Default)]
pub struct Seen {
    /// Text to be handed on.
    pub text: String,
    /// Way in which the answer ended.
    pub finish: Option<Finish>,
    /// Tokens read.
    pub input_tokens: Option<u64>,
    /// Tokens written.
    pub output_tokens: Option<u64>,
    /// Nothing that matters follows.
    pub done: bool,
}

/// Event that ends an answer with an error.
#[derive(Debug)]
pub enum Oddity {
    /// The event does not follow the vendor's interface.
    Unreadable,
    /// The vendor reports an error: as this status would have, had it come earlier.
    Error(u16),
}

/// Reads an event of a vendor.
pub type Read = fn(&Event, &mut Seen) -> Result<(), Oddity>;

/// Everything needed to reach a model.
pub struct Wire {
    pub client: Guarded,
    pub secret: Option<SecretString>,
    pub price: Option<Price>,
    pub read: Read,
}

impl Wire {
    /// Upper bound of the cost of the answer to a prompt, in millionths of a US dollar: no token is shorter than a
    /// byte.
    pub fn most(&self, prompt: &Prompt) -> Option<u64> {
        let form = prompt
            .form
            .as_ref()
            .map_or(0, |form| form.schema.as_value().to_string().len());
        let read = prompt.system_text().len() + prompt.user_text().len() + form;
        let price = self.price?;
        Some(price.micros(read as u64, prompt.max_tokens.into()))
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire")
            .field("price", &self.price)
            .finish_non_exhaustive()
    }
}

struct Exchange {
    wire: Arc<Wire>,
    request: Option<Request<Bytes>>,
    streamed: Option<Streamed>,
    parser: Parser,
    events: VecDeque<Event>,
    seen: Seen,
    /// All text so far.
    text: String,
    ended: bool,
}

/// The answer to a request that has been prepared.
pub fn generate(wire: &Arc<Wire>, request: Result<Request<Bytes>, ProviderError>) -> Generation {
    let wire = wire.clone();
    let exchange = request.map(|request| Exchange {
        wire,
        request: Some(request),
        streamed: None,
        parser: Parser::default(),
        events: VecDeque::new(),
        seen: Seen::default(),
        text: String::new(),
        ended: false,
    });
    match exchange {
        Err(error) => Box::pin(stream::iter([Err(error)])),
        Ok(exchange) => Box::pin(stream::unfold(exchange, |mut exchange| async move {
            if exchange.ended {
                return None;
            }
            let chunk = exchange.next().await;
            exchange.ended = !matches!(chunk, Ok(Chunk::Text(_)));
            Some((chunk, exchange))
        })),
    }
}

impl Exchange {
    async fn next(&mut self) -> Result<Chunk, ProviderError> {
        if let Some(request) = self.request.take() {
            self.streamed = Some(self.open(request).await?);
        }
        loop {
            while let Some(event) = self.events.pop_front() {
                self.take(&event)?;
                if self.seen.done {
                    self.events.clear();
                }
            }
            if !self.seen.text.is_empty() {
                let text = std::mem::take(&mut self.seen.text);
                self.text += &text;
                return Ok(Chunk::Text(text));
            }
            let Some(streamed) = self.streamed.as_mut().filter(|_| !self.seen.done) else {
                return self.end();
            };
            match streamed.next().await {
                Ok(Piece::Bytes(bytes)) => {
                    let mut events = Vec::new();
                    self.parser.push(&bytes, &mut events);
                    self.events.extend(events);
                }
                Ok(Piece::End) => return self.end(),
                Ok(Piece::Cut(_)) => {
                    return Err(ProviderError::refused_after(Why::Unreadable, self.partial()));
                }
                Err(error) => {
                    return match error.into() {
                        RequestError::Ambiguous(_) => self.end(),
                        error => Err(ProviderError::from_request(&error, CHARGED)),
                    };
                }
            }
        }
    }

    async fn open(&self, request: Request<Bytes>) -> Result<Streamed, ProviderError> {
        let sent = self.wire.client.stream(request, MAX_STREAM_BYTES).await;
        let mut answer = sent.map_err(|error| ProviderError::from_request(&error.into(), CHARGED))?;
        if answer.status == 200 && is_of_type(&answer.headers, "text/event-stream") {
            return Ok(answer);
        }
        let mut body = Vec::new();
        while let Ok(Piece::Bytes(piece)) = answer.next().await {
            body.extend_from_slice(&piece);
            if body.len() > MAX_ERROR {
                break;
            }
        }
        let secret = self.wire.secret.as_ref().map(ExposeSecret::expose_secret);
        let secrets: Vec<&str> = secret.into_iter().collect();
        let terms = Terms {
            charges: true,
            secrets: &secrets,
        };
        // Some servers answer 200 and put the error into the body.
        let status = match answer.status {
            200 => error_in(&body).unwrap_or(200),
            other => other,
        };
        Err(rejection(&Rejected::read(status, answer.headers, &body), terms))
    }

    fn take(&mut self, event: &Event) -> Result<(), ProviderError> {
        (self.wire.read)(event, &mut self.seen).map_err(|oddity| match oddity {
            Oddity::Unreadable => ProviderError::refused_after(Why::Unreadable, self.partial()),
            // An error before any text is one like those before the stream; later ones lose an answer.
            Oddity::Error(status) if self.text.is_empty() && self.seen.text.is_empty() => {
                let answer = Rejected::read(status, HeaderMap::new(), b"");
                rejection(&answer, CHARGED)
            }
            Oddity::Error(_) => ProviderError::Uncertain(Box::new(self.partial())),
        })
    }

    /// The body has ended, or will not go on: whole if the vendor had said how the answer ended.
    fn end(&self) -> Result<Chunk, ProviderError> {
        match self.seen.finish {
            Some(finish) => Ok(Chunk::End {
                finish,
                usage: self.usage(),
            }),
            None => Err(ProviderError::Uncertain(Box::new(self.partial()))),
        }
    }

    fn usage(&self) -> Usage {
        let (input, output) = (self.seen.input_tokens, self.seen.output_tokens);
        let cost = |price: Price| Some(price.micros(input?, output?));
        Usage {
            input_tokens: input,
            output_tokens: output,
            cost_micros_usd: self.wire.price.and_then(cost),
        }
    }

    /// An answer that is not whole: the tokens written so far are not those that are charged.
    fn partial(&self) -> Partial {
        Partial {
            text: format!("{}{}", self.text, self.seen.text),
            usage: Usage {
                input_tokens: self.seen.input_tokens,
                ..Usage::default()
            },
        }
    }
}

/// Reads a recorded stream as a live one is read; `None` for events that the vendor does not promise.
pub fn replay<'p>(read: Read, pieces: impl IntoIterator<Item = &'p [u8]>) -> Option<Seen> {
    let (mut parser, mut events, mut seen) = (Parser::default(), Vec::new(), Seen::default());
    for piece in pieces {
        parser.push(piece, &mut events);
    }
    for event in &events {
        read(event, &mut seen).ok()?;
        if seen.done {
            break;
        }
    }
    Some(seen)
}

/// The status that an error object in a successful answer stands for.
fn error_in(body: &[u8]) -> Option<u16> {
    let body: Value = serde_json::from_slice(body).ok()?;
    error_status(body.get(0).unwrap_or(&body).get("error")?)
}

/// The status an error object stands for, by its `code`, `status` or `type`; 400 for an unknown one.
pub fn error_status(error: &Value) -> Option<u16> {
    if error.is_null() {
        return None;
    }
    let code = error.get("code");
    if let Some(status) = code.and_then(Value::as_u64).filter(|c| (400..600).contains(c)) {
        return u16::try_from(status).ok();
    }
    let word = ["type", "status", "code"]
        .iter()
        .filter_map(|name| error.get(*name)?.as_str())
        .find_map(|word| {
            Some(match word {
                "authentication_error" | "permission_error" | "invalid_api_key" => 401,
                "billing_error" | "insufficient_quota" => 402,
                "rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED" => 429,
                "overloaded_error" | "UNAVAILABLE" => 503,
                "api_error" | "server_error" | "internal_error" | "INTERNAL" => 500,
                "timeout_error" | "DEADLINE_EXCEEDED" => 504,
                _ => return None,
            })
        });
    Some(word.unwrap_or(400))
}
