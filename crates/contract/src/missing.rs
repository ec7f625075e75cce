//! Reasons for missing values: a field `…Status` beside a measured value says why that is `null`.

use crate::words::words;

words! {
    /// Reason that a measured value is missing.
    MissingReason {
        /// It has not been measured yet.
        NotMeasured = "not_measured",
        /// No provider is configured that could measure it.
        NoProvider = "no_provider",
        /// The provider failed.
        ProviderError = "provider_error",
        /// A quota or budget stopped the measurement.
        Capped = "capped",
        /// It does not apply here.
        NotApplicable = "not_applicable",
    }
}
