//! Reasons for which an audit has no result.

use searchwright_site::crawl::Termination;

/// Reason for which an audit failed for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditFailure {
    /// The crawl ended before it saw a page.
    Crawl(Termination),
    /// The worker crashed too often.
    Interrupted,
    /// Any other reason, which the problem of the job describes.
    Internal,
}

impl AuditFailure {
    /// Returns the code of the contract.
    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::Crawl(termination) => termination.code(),
            Self::Interrupted => "interrupted",
            Self::Internal => "internal_error",
        }
    }
}
