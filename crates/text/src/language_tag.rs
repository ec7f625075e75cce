//! Language tags of BCP 47.

/// Returns the primary subtag of a BCP 47 tag in lower case: `de` for `de-AT`.
pub fn primary(language: &str) -> String {
    let end = language.find(['-', '_']).unwrap_or(language.len());
    language[..end].to_ascii_lowercase()
}
