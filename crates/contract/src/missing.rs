//! Why a value is `null` that is measured: a member `…Status` beside it says so.

use crate::words::words;

words! {
    /// Why a measured value is missing.
    MissingReason {
        /// Nobody has measured it yet.
        NotMeasured = "not_measured",
        /// No provider is configured that could.
        NoProvider = "no_provider",
        /// The provider failed.
        ProviderError = "provider_error",
        /// A limit stopped it.
        Capped = "capped",
        /// It has no meaning here.
        NotApplicable = "not_applicable",
    }
}
