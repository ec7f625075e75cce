//! Conditions that a project meets before the autopilot can be enabled.

/// A condition for enabling the autopilot.
#[derive(Clone, Copy, Debug)]
pub enum EnableCondition {
    /// An integration that is ready.
    Integration,
    /// Only one integration that is ready, because nothing chooses among several.
    OneIntegration,
    /// An approved keyword without a live post.
    Keyword,
}

impl EnableCondition {
    /// Returns the word in `missing`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Integration | Self::OneIntegration => "integration",
            Self::Keyword => "keyword",
        }
    }

    /// Returns the explanation of a refusal.
    pub const fn detail(self) -> &'static str {
        match self {
            Self::Integration => "no integration is ready to publish",
            Self::OneIntegration => {
                "several integrations are ready, and it is not clear which one to publish to"
            }
            Self::Keyword => "no keyword is approved and without a live post",
        }
    }

    /// Returns the next step of the caller.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Integration => {
                "make a URL with integrations.connect, hand it to a person, and map the fields of the provider"
            }
            Self::OneIntegration => "disconnect the others",
            Self::Keyword => "add a keyword, or set the status of one to approved",
        }
    }
}
