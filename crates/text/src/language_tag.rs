//! Language tags of BCP 47.

/// Returns the primary subtag of a BCP 47 tag in lower case: `de` for `de-AT`.
pub fn primary(language: &str) -> String {
    let end = language.find(['-', '_']).unwrap_or(language.len());
    let code = language[..end].to_ascii_lowercase();
    match successor(&code) {
        same if same == code => code,
        other => other.to_owned(),
    }
}

/// Returns the code that replaced a withdrawn one of ISO 639-1, which many sites still use; other codes unchanged.
/// `code` is in lower case.
pub fn successor(code: &str) -> &str {
    match code {
        "in" => "id",
        "iw" => "he",
        "ji" => "yi",
        "jw" => "jv",
        "mo" => "ro",
        other => other,
    }
}
