//! Errors of providers, by what they mean for the next step of a post.

use std::{fmt, time::Duration};

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
    /// The data is too large for the provider, or what the provider has is too large to be read.
    TooLarge,
    /// The provider cannot do this at all.
    Unsupported,
    /// The address guard forbids the address.
    Address,
    /// The answer does not follow the provider's interface: a login page, a firewall, another program.
    Unreadable,
    /// Something that stands before the provider did not let the request through, such as a firewall.
    Firewall,
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
            Self::Firewall => FIREWALL,
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
            Self::TooLarge => "it is too large for the provider, or what is there is too large to be read",
            Self::Unsupported => "the provider cannot do this",
            Self::Address => {
                "the address may not be reached from this server; an operator opens a private one with --allow-outbound publish=HOST:PORT"
            }
            Self::Unreadable => {
                "the answer is not what the provider's interface promises; look at the address, and at what stands before it"
            }
            Self::Firewall => {
                "a firewall before the provider, or something like it, turned the request away; have it let this server's requests to the provider's interface through (WordPress: /wp-json/), then try again"
            }
            Self::Schema => "the fields at the provider are not those of the mapping; save the mapping again",
        }
    }
}

/// Word for an answer of something that stands before the provider.
const FIREWALL: &str = "firewall";

/// Cause that a request was not carried out, or that nobody knows whether it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The provider's name cannot be resolved.
    Dns,
    /// The provider accepts no connection.
    Connect,
    /// No secure connection can be made.
    Tls,
    /// The provider asks for fewer requests.
    RateLimited,
    /// The time ran out.
    Timeout,
    /// The connection broke.
    Broken,
    /// The provider answers with an error of its server.
    Status,
    /// The answer does not follow the provider's interface.
    Unreadable,
    /// Something that stands before the provider does not let the request through for now, such as a firewall.
    Firewall,
    /// The address of the featured image does not answer, which says nothing about the provider.
    ImageUnreachable,
    /// This server makes as many visits to repositories as it may at once.
    Busy,
}

impl Cause {
    /// Stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::RateLimited => "rate_limited",
            Self::Timeout => "timeout",
            Self::Broken => "broken",
            Self::Status => "status",
            Self::Unreadable => Why::Unreadable.word(),
            Self::Firewall => FIREWALL,
            Self::ImageUnreachable => "image_unreachable",
            Self::Busy => "busy",
        }
    }

    /// Explanation for people, of a request that was not carried out.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Dns => "the provider's name cannot be resolved",
            Self::Connect => "the provider does not accept connections",
            Self::Tls => "no secure connection to the provider can be made",
            Self::RateLimited => "the provider asks for fewer requests",
            Self::Status => {
                "the provider answers with an error: it is in maintenance, or something before it, such as a firewall, turns requests away"
            }
            Self::Firewall => Why::Firewall.text(),
            Self::ImageUnreachable => "the address of the featured image does not answer",
            Self::Busy => {
                "this server is busy with other Git repositories, of which it visits few at a time; try again in a moment"
            }
            Self::Timeout | Self::Broken | Self::Unreadable => "the provider does not answer",
        }
    }
}

/// Error of a request to a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The request was certainly not carried out, and may be sent again: after `after`, if the provider said so.
    NotNow {
        /// Cause. That an answer is missing is one for a read only.
        cause: Cause,
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
        /// Cause.
        cause: Cause,
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

    /// An obstacle that leaves the request undone, from a provider that did not say how long to wait.
    pub const fn not_now(cause: Cause) -> Self {
        Self::NotNow { cause, after: None }
    }

    /// Converts the error for a change of which an earlier part was carried out: `NotNow` becomes `Unclear`.
    pub(super) fn midway(self) -> Self {
        match self {
            Self::NotNow { cause, .. } => Self::Unclear { cause, status: None },
            other => other,
        }
    }

    /// Stable word.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::NotNow { cause, .. } | Self::Unclear { cause, .. } => cause.word(),
            Self::Refused { why, .. } => why.word(),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotNow { cause, .. } => f.write_str(cause.text()),
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
    fn change_whose_first_part_was_done_is_unclear() {
        let busy = Trouble::NotNow {
            cause: Cause::RateLimited,
            after: Some(Duration::from_secs(7)),
        };
        let unclear = Trouble::Unclear {
            cause: Cause::RateLimited,
            status: None,
        };
        assert_eq!(busy.midway(), unclear);
        let refused = Trouble::refused(Why::Invalid);
        assert_eq!(refused.clone().midway(), refused);
    }

    #[test]
    fn stored_words_do_not_change() {
        let words = [
            (Cause::Dns, "dns"),
            (Cause::Connect, "connect"),
            (Cause::Tls, "tls"),
            (Cause::RateLimited, "rate_limited"),
            (Cause::Timeout, "timeout"),
            (Cause::Broken, "broken"),
            (Cause::Status, "status"),
            (Cause::Unreadable, "unreadable_answer"),
            (Cause::Firewall, "firewall"),
            (Cause::ImageUnreachable, "image_unreachable"),
            (Cause::Busy, "busy"),
        ];
        for (cause, word) in words {
            assert_eq!(Trouble::not_now(cause).word(), word);
        }
    }
}
