//! Errors of providers, by the cases that decide what happens next.

use std::{fmt, time::Duration};

use searchwright_contract::{Code, Problem};

/// Wait when a provider asks for patience without saying how long.
const DEFAULT_WAIT: Duration = Duration::from_secs(60);

/// Consumption of a request. `None` is unknown, never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: Option<u64>,
    /// Tokens written, those of thinking included.
    pub output_tokens: Option<u64>,
    /// Price in millionths of a US dollar.
    pub cost_micros_usd: Option<u64>,
}

/// Part of an answer that came, and was perhaps charged, before the error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partial {
    /// The text so far.
    pub text: String,
    /// Consumption, as far as it is known.
    pub usage: Usage,
}

/// Reason of a refusal that asking again will not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The credential is wrong or lacks a right.
    Credential,
    /// Credit or quota is used up.
    Quota,
    /// The provider does not accept this request: unknown model, parameter out of range, too long.
    Request,
    /// The provider does not serve this country or language, or none is set.
    Market,
    /// The provider has no such function.
    Unsupported,
    /// Our own limit of requests per job is reached.
    Capped,
    /// The address guard forbids the address.
    Address,
    /// The provider's content filter stopped the answer.
    Filtered,
    /// The answer was cut at the token limit.
    Truncated,
    /// There is nothing in the answer.
    Empty,
    /// The answer is not what its interface promises: HTML, broken JSON, another shape.
    Unreadable,
}

impl Why {
    const fn text(self) -> &'static str {
        match self {
            Self::Credential => "the provider does not accept the credential",
            Self::Quota => "the credit or quota at the provider is used up",
            Self::Request => "the provider does not accept the request",
            Self::Market => "the provider needs a country and language that it serves",
            Self::Unsupported => "the provider cannot do this",
            Self::Capped => "the limit of requests per job is reached",
            Self::Address => "the provider's address is not allowed",
            Self::Filtered => "the provider's content filter stopped the answer",
            Self::Truncated => "the answer was cut at the token limit",
            Self::Empty => "the provider's answer is empty",
            Self::Unreadable => "the provider's answer is not what its interface promises",
        }
    }

    const fn hint(self) -> Option<&'static str> {
        match self {
            Self::Credential | Self::Quota => {
                Some("look at the account, then set it anew with `searchwright admin provider set`")
            }
            Self::Address => {
                Some("an operator opens a private address with --allow-outbound provider=HOST:PORT")
            }
            Self::Unreadable => Some("look at the base URL of the provider"),
            Self::Market => Some("set the project's country and language"),
            _ => None,
        }
    }
}

/// A refusal of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Reason, in our words.
    pub why: Why,
    /// The provider's message: untrusted data, to be shown as such; cut, and without our secret.
    pub said: Option<String>,
    /// Part of the answer that came before, if something may have been charged.
    pub came: Option<Partial>,
}

/// Error of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderError {
    /// No account is set for what is needed; the word of the provider or of the need.
    NotConfigured(&'static str),
    /// Too many requests; ask again after this time, if it was said. Nothing was charged.
    RateLimited(Option<Duration>),
    /// The provider failed several times in a row and is not asked for this long. Nothing was sent.
    Resting(Duration),
    /// The provider refused the request.
    Refused(Box<Refusal>),
    /// The provider was not reached or not able. Nothing was charged: ask again.
    Unavailable,
    /// The request was sent and may have been carried out and charged, but the answer is lost or incomplete. It is
    /// never repeated automatically.
    Uncertain(Box<Partial>),
}

impl ProviderError {
    /// A refusal without a message of the provider.
    pub fn refused(why: Why) -> Self {
        Self::refused_with(why, None)
    }

    /// A refusal with the provider's message, which has to be cut and freed of secrets already.
    pub fn refused_with(why: Why, said: Option<String>) -> Self {
        Self::Refused(Box::new(Refusal {
            why,
            said,
            came: None,
        }))
    }

    /// A refusal after part of an answer came.
    pub fn refused_after(why: Why, came: Partial) -> Self {
        Self::Refused(Box::new(Refusal {
            why,
            said: None,
            came: Some(came),
        }))
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConfigured(what) => write!(f, "no {what} is configured"),
            Self::RateLimited(_) => f.write_str("the provider asks for fewer requests"),
            Self::Resting(_) => {
                f.write_str("the provider failed several times in a row and is left alone for a while")
            }
            Self::Refused(refusal) => f.write_str(refusal.why.text()),
            Self::Unavailable => f.write_str("the provider is not available"),
            Self::Uncertain(_) => {
                f.write_str("the provider's answer was lost; it may have been carried out and charged")
            }
        }
    }
}

impl std::error::Error for ProviderError {}

impl From<&ProviderError> for Problem {
    fn from(error: &ProviderError) -> Self {
        let detail = error.to_string();
        match error {
            ProviderError::NotConfigured(_) => Self::new(Code::ProviderNotConfigured, detail)
                .hint("an operator sets one with `searchwright admin provider set`"),
            ProviderError::RateLimited(after) => {
                let seconds = after.unwrap_or(DEFAULT_WAIT).as_secs_f64().ceil() as u32;
                Self::new(Code::ProviderError, detail).after(seconds)
            }
            ProviderError::Resting(after) => {
                Self::new(Code::ProviderError, detail).after(after.as_secs_f64().ceil() as u32)
            }
            ProviderError::Refused(refusal) => {
                let mut problem = Self::new(Code::ProviderError, detail);
                if let Some(hint) = refusal.why.hint() {
                    problem = problem.hint(hint);
                }
                match &refusal.said {
                    Some(said) => problem.with("providerMessage", said.as_str()),
                    None => problem,
                }
            }
            ProviderError::Unavailable => Self::new(Code::ProviderError, detail),
            ProviderError::Uncertain(_) => Self::new(Code::ProviderError, detail)
                .with("uncertain", true)
                .hint("look at the provider's own record before starting it again"),
        }
    }
}
