//! Language tags of BCP 47.

/// The primary subtag of a BCP 47 tag in lower case: `de` of `de-AT`.
pub fn primary(language: &str) -> String {
    let end = language.find(['-', '_']).unwrap_or(language.len());
    language[..end].to_ascii_lowercase()
}
