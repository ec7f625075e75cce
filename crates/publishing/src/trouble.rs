//! Errors of providers, by what they mean for the next step of a post.

use std::{fmt, time::Duration};

use searchwright_site::fetch::FetchError;

use super::pictures::UNREACHABLE;

/// Reason why a provider refused a request, or cannot be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The credential is wrong, expired or revoked: a person has to connect anew.
    Credential,
    /// The credential is good and may not do this.
    Permission,
    /// The thing asked for is not there.
    Missing,
    /// The item was changed meanwhile.
    Conflict,
    /// The provider does not accept the data that was sent.
    Invalid,
    /// The data is too large for the provider.
    TooLarge,
    /// The provider cannot do this at all.
    Unsupported,
    /// The address guard forbids the address.
    Address,
    /// The answer does not follow the provider's interface: a login page, a firewall, another program.
    Unreadable,
    /// A field of the mapping is not there any more, or a required one is not mapped.
    Schema,
}

impl Why {
    /// Stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Credential => "credential_refused",
            Self::Permission => "permission_refused",
            Self::Missing => "remote_missing",
            Self::Conflict => "remote_changed",
            Self::Invalid => "rejected",
            Self::TooLarge => "too_large",
            Self::Unsupported => "unsupported",
            Self::Address => "address_denied",
            Self::Unreadable => "unreadable_answer",
            Self::Schema => "schema_changed",
        }
    }

    /// Explanation for people.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Credential => "the provider no longer accepts the credentials; connect it again",
            Self::Permission => {
                "the account of the connection may not do this at the provider; give it the right, or connect another account"
            }
            Self::Missing => "it is not there at the provider",
            Self::Conflict => "it was changed at the provider",
            Self::Invalid => "the provider does not take what was sent",
            Self::TooLarge => "it is too large for the provider",
            Self::Unsupported => "the provider cannot do this",
            Self::Address => {
                "the address may not be reached from this server; an operator opens a private one with --allow-outbound publish=HOST:PORT"
            }
            Self::Unreadable => {
                "the answer is not what the provider's interface promises; look at the address, and at what stands before it"
            }
            Self::Schema => "the fields at the provider are not those of the mapping; save the mapping again",
        }
    }
}

/// Error of a request to a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The request was certainly not carried out, and may be sent again: after `after`, if the provider said so.
    NotNow {
        /// Stable word for the cause: `dns`, `connect`, `tls`, `rate_limited`, or for a read `timeout`, `status`.
        what: &'static str,
        /// Delay before the next attempt, if the provider said so.
        after: Option<Duration>,
    },
    /// The request will not be carried out.
    Refused {
        /// Reason, in our words.
        why: Why,
        /// The provider's message: untrusted data, cut, and without our secrets.
        said: Option<String>,
    },
    /// The request was sent, and may have been carried out.
    Unclear {
        /// Stable word for the cause: `timeout`, `broken`, `status`, `unreadable_answer`.
        what: &'static str,
        /// Status of the answer, if one came.
        status: Option<u16>,
    },
}

impl Trouble {
    /// A no without words of the provider.
    pub const fn refused(why: Why) -> Self {
        Self::Refused { why, said: None }
    }

    /// A no with words of the provider or of ours.
    pub fn because(why: Why, said: impl Into<String>) -> Self {
        Self::Refused {
            why,
            said: Some(said.into()),
        }
    }

    /// Converts the error of an HTTP exchange. A read may be sent again; a write may have happened once it was sent.
    pub(super) fn of_fetch(error: &FetchError, writes: bool) -> Self {
        let not_now = |what| Self::NotNow { what, after: None };
        let sent = |what| {
            if writes {
                Self::Unclear { what, status: None }
            } else {
                not_now(what)
            }
        };
        match error {
            FetchError::Denied => Self::refused(Why::Address),
            FetchError::Dns => not_now("dns"),
            FetchError::Connect => not_now("connect"),
            FetchError::Tls | FetchError::Certificate(_) => not_now("tls"),
            FetchError::Timeout => sent("timeout"),
            FetchError::Broken => sent("broken"),
        }
    }

    /// Converts the error for a change of which an earlier part was carried out: `NotNow` becomes `Unclear`.
    pub(super) fn midway(self) -> Self {
        match self {
            Self::NotNow { what, .. } => Self::Unclear { what, status: None },
            other => other,
        }
    }

    /// Stable word.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::NotNow { what, .. } | Self::Unclear { what, .. } => what,
            Self::Refused { why, .. } => why.word(),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotNow { what, .. } => f.write_str(match *what {
                "dns" => "the provider's name cannot be resolved",
                "connect" => "the provider does not accept connections",
                "tls" => "no secure connection to the provider can be made",
                "rate_limited" => "the provider asks for fewer requests",
                "status" => {
                    "the provider answers with an error: it is in maintenance, or something before it, such as a firewall, turns requests away"
                }
                UNREACHABLE => "the address of the featured image does not answer",
                _ => "the provider does not answer",
            }),
            Self::Refused { why, .. } => f.write_str(why.text()),
            Self::Unclear {
                status: Some(status), ..
            } => {
                write!(f, "the provider answered {status}; it may have been carried out")
            }
            Self::Unclear { .. } => f.write_str("the answer was lost; it may have been carried out"),
        }
    }
}

impl std::error::Error for Trouble {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_sent_and_writes_is_unclear() {
        for error in [FetchError::Dns, FetchError::Connect, FetchError::Tls] {
            for writes in [true, false] {
                assert!(
                    matches!(Trouble::of_fetch(&error, writes), Trouble::NotNow { .. }),
                    "{error:?}"
                );
            }
        }
        for error in [FetchError::Timeout, FetchError::Broken] {
            assert!(
                matches!(Trouble::of_fetch(&error, true), Trouble::Unclear { .. }),
                "{error:?}"
            );
            assert!(
                matches!(Trouble::of_fetch(&error, false), Trouble::NotNow { .. }),
                "{error:?}"
            );
        }
        assert_eq!(
            Trouble::of_fetch(&FetchError::Denied, true),
            Trouble::refused(Why::Address)
        );
    }
}
