//! Values that all vendors share: reading their JSON, and the members of a post that go into their fields.

use std::fmt::Write as _;

use searchwright_contract::{Instant, integrations::PostField};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::{
    error::{Trouble, Why},
    marker::Marker,
    publisher::{Connection, Item, Uploaded},
};

/// A member of a post, for the provider's field that it is mapped to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Member<'a> {
    /// The text of the post.
    Content,
    /// Words; nothing where the post has none.
    Text(Option<&'a str>),
    /// Labels.
    Names(&'a [String]),
    /// The main image.
    Picture(Option<&'a Uploaded>),
    /// An instant.
    When(Instant),
}

impl Member<'_> {
    /// Returns the member as plain text, for a field that takes text only; `None` for the content of the post.
    pub fn plain(self) -> Option<String> {
        match self {
            Self::Content => None,
            Self::Text(text) => text.map(str::to_owned),
            Self::Names(names) => (!names.is_empty()).then(|| names.join(", ")),
            Self::Picture(picture) => picture.map(|p| p.url.clone().unwrap_or_else(|| p.reference.clone())),
            Self::When(at) => Some(at.to_string()),
        }
    }
}

/// The mapped members with the provider's fields, in the order of their names.
pub(super) fn members<'a>(
    connection: &'a Connection,
    item: &'a Item,
) -> impl Iterator<Item = (&'a str, Member<'a>)> {
    connection.map.iter().filter_map(|(name, field)| {
        let text = |text: &'a Option<String>| Member::Text(text.as_deref());
        let member = match name.parse().ok()? {
            PostField::Title => Member::Text(Some(&item.title)),
            PostField::Content => Member::Content,
            PostField::Slug => Member::Text(Some(&item.slug)),
            PostField::Excerpt => text(&item.excerpt),
            PostField::MetaTitle => text(&item.meta_title),
            PostField::MetaDescription => text(&item.meta_description),
            PostField::FeaturedImage => Member::Picture(item.picture.as_ref()),
            PostField::Author => text(&item.author),
            PostField::Tags => Member::Names(&item.tags),
            PostField::PublishedAt => Member::When(item.published_at),
            PostField::CanonicalUrl => text(&item.canonical_url),
        };
        Some((field.as_str(), member))
    })
}

/// A member that is text and not empty.
pub(super) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

/// Reason for which a provider does not show a post to readers, where it only names its state.
pub(super) fn kept(provider: &str, state: &str) -> String {
    let state: String = state.chars().take(60).collect();
    format!(
        "{provider} took the post and keeps it from readers ({state}): publish it there, or give the account of the connection the right to publish"
    )
}

/// An id, which vendors give as text or as a number.
pub(super) fn id(value: &Value, pointer: &str) -> Option<String> {
    match value.pointer(pointer)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A list; empty where it is none.
pub(super) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// A version made of what people can change, member by member, as the provider gives it: so that it can still be compared when
/// the mapping has more fields, or fewer.
pub(super) fn version(fields: &Value) -> String {
    let part = |name: &str, value: &Value| {
        let (name, value) = (digest(name.as_bytes()), digest(value.to_string().as_bytes()));
        format!("{}={}", &name[..8], &value[..16])
    };
    let mut parts: Vec<String> = match fields {
        Value::Object(members) => members.iter().map(|(name, value)| part(name, value)).collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(at, value)| part(&at.to_string(), value))
            .collect(),
        other => vec![part("", other)],
    };
    parts.sort_unstable();
    parts.join(" ")
}

/// Whether two versions are of the same text: of those made member by member, what both know has to be the same.
pub(super) fn is_same_version(known: &str, seen: &str) -> bool {
    let members = |version: &str| -> Option<Vec<(String, String)>> {
        let pair = |part: &str| {
            part.split_once('=')
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
        };
        version.split(' ').map(pair).collect()
    };
    match (members(known), members(seen)) {
        (Some(known), Some(seen)) => known.iter().all(|(name, value)| {
            let mut others = seen.iter().filter(|(other, _)| other == name);
            others.all(|(_, other)| other == value)
        }),
        _ => known == seen,
    }
}

/// First half of the SHA-256 digest, as 32 hex digits.
pub(super) fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().take(16).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The address of a site as a person enters it, without a slash at its end and without these paths at its end, which people
/// copy along.
pub(super) fn address(entered: &str, without: &[&str]) -> Result<String, Trouble> {
    let entered = entered.trim();
    let wrong = || {
        Trouble::because(
            Why::Invalid,
            "the address has to be one such as https://example.com",
        )
    };
    let whole = if entered.contains("://") {
        entered.to_owned()
    } else {
        format!("https://{entered}")
    };
    let mut url = Url::parse(&whole).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() || url.password().is_some() {
        return Err(wrong());
    }
    url.set_query(None);
    url.set_fragment(None);
    let mut address = url.as_str().trim_end_matches('/').to_owned();
    for path in without {
        if let Some(at) = address.find(path).filter(|at| {
            let after = &address[at + path.len()..];
            after.is_empty() || after.starts_with('/')
        }) {
            address.truncate(at);
        }
    }
    Ok(address)
}

/// The text with its mark as a comment at its end.
pub(super) fn marked(text: &str, marker: &Marker) -> String {
    format!("{}\n\n{}", text.trim_end(), marker.comment())
}

/// A value of the provider without the mark in it.
pub(super) fn unmarked(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(Marker::without(text).trim_end().to_owned()),
        other => other.clone(),
    }
}

/// The address of a post below the address of the blog that a person entered, if one did.
pub(super) fn below(connection: &Connection, slug: Option<&str>) -> Option<String> {
    let base = connection.setting("baseUrl").trim().trim_end_matches('/');
    let slug = slug.filter(|_| !base.is_empty())?;
    Some(format!("{base}/{slug}"))
}

/// The site of an address, the same for http and https.
pub(super) fn host(address: &str) -> &str {
    address.split_once("://").map_or(address, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{address, is_same_version, version};

    #[test]
    fn versions_are_compared_in_the_members_that_both_have() {
        let before = version(&json!({ "title": "A", "text": "x" }));
        let mapped = version(&json!({ "title": "A", "text": "x", "excerpt": "e" }));
        let edited = version(&json!({ "title": "B", "text": "x", "excerpt": "e" }));
        assert!(is_same_version(&before, &before));
        assert!(is_same_version(&before, &mapped) && is_same_version(&mapped, &before));
        assert!(!is_same_version(&before, &edited) && !is_same_version(&mapped, &edited));
        assert!(is_same_version("4f", "4f") && !is_same_version("4f", "50"));
        assert!(!is_same_version(&before, "4f"), "a counter is no digest");
        assert_ne!(version(&json!(["a", "b"])), version(&json!(["b", "a"])));
    }

    #[test]
    fn an_address_is_taken_as_people_copy_it() {
        for (entered, taken) in [
            ("example.com", "https://example.com"),
            (" http://example.com/ ", "http://example.com"),
            (
                "https://example.com/blog/wp-admin/index.php?x#y",
                "https://example.com/blog",
            ),
            (
                "https://example.com/wp-administration",
                "https://example.com/wp-administration",
            ),
        ] {
            assert_eq!(address(entered, &["/wp-admin"]).unwrap(), taken);
        }
        for entered in [
            "",
            "ftp://example.com",
            "https://me:secret@example.com",
            "not an address",
        ] {
            assert!(address(entered, &[]).is_err(), "{entered}");
        }
    }
}
