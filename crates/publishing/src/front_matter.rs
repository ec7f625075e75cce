//! Posts as Markdown files with front matter (YAML between lines of three hyphens), as Hugo, Jekyll, Eleventy and Astro read
//! them. Values are written as JSON, which is YAML.

use std::{collections::BTreeMap, fmt::Write as _};

use searchwright_contract::integrations::{Field, FieldType, PostField};
use serde_json::{Value, json};

use sha2::{Digest as _, Sha256};

use super::{
    marker::Marker,
    publisher::{Item, Remote, Visible},
};

const FENCE: &str = "---";
/// The key that holds our mark.
const MARK: &str = "searchwright";
/// The key that says whether readers see it.
const DRAFT: &str = "draft";

/// Keys of a file that are looked at.
const MAX_KEYS: usize = 200;

/// Fields that every file can have.
const USUAL: &[(&str, FieldType)] = &[
    ("title", FieldType::Text),
    ("content", FieldType::Markdown),
    ("slug", FieldType::Slug),
    ("description", FieldType::Text),
    ("summary", FieldType::Text),
    ("date", FieldType::Date),
    ("author", FieldType::Text),
    ("tags", FieldType::List),
    ("categories", FieldType::List),
    ("image", FieldType::Image),
    ("canonical", FieldType::Text),
];

/// Fields of a file: the usual ones, and the keys that files there have.
pub(super) fn fields(keys: impl Iterator<Item = String>) -> Vec<Field> {
    let mut fields: Vec<Field> = USUAL
        .iter()
        .map(|(name, kind)| {
            let field = Field::new(*name, *name, *kind);
            if matches!(*name, "title" | "content") {
                field.required()
            } else {
                field
            }
        })
        .collect();
    for key in keys {
        let is_ours = matches!(key.as_str(), MARK | DRAFT);
        if !is_ours && fields.iter().all(|field| field.id != key) {
            fields.push(Field::new(key.clone(), key, FieldType::Text));
        }
    }
    fields
}

/// The file of a post.
pub(super) fn file(map: &BTreeMap<String, String>, item: &Item) -> String {
    let text = |value: &Option<String>| value.as_ref().map(|value| json!(value));
    let mut lines = Vec::new();
    for (name, key) in map {
        let Ok(name) = name.parse::<PostField>() else {
            continue;
        };
        let value = match name {
            PostField::Content => None,
            PostField::Title => Some(json!(item.title)),
            PostField::Slug => Some(json!(item.slug)),
            PostField::Excerpt => text(&item.excerpt),
            PostField::MetaTitle => text(&item.meta_title),
            PostField::MetaDescription => text(&item.meta_description),
            PostField::FeaturedImage => item
                .picture
                .as_ref()
                .map(|picture| json!(picture.url.as_ref().unwrap_or(&picture.reference))),
            PostField::Author => text(&item.author),
            PostField::Tags => (!item.tags.is_empty()).then(|| json!(item.tags)),
            PostField::PublishedAt => Some(json!(item.published_at)),
            PostField::CanonicalUrl => text(&item.canonical_url),
        };
        lines.extend(value.map(|value| line(key, &value)));
    }
    lines.push(line(DRAFT, &json!(!item.live)));
    lines.push(line(MARK, &json!(item.marker.to_string())));
    format!(
        "{FENCE}\n{}{FENCE}\n\n{}\n",
        lines.concat(),
        item.markdown.trim_end()
    )
}

/// A line of front matter. What no YAML reader takes as a plain key is quoted.
fn line(key: &str, value: &Value) -> String {
    let is_plain = key
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        && key.starts_with(|c: char| c.is_ascii_alphabetic());
    if is_plain {
        format!("{key}: {value}\n")
    } else {
        format!("{}: {value}\n", json!(key))
    }
}

/// The lines between the fences.
fn head(text: &str) -> impl Iterator<Item = &str> {
    let mut lines = text.lines();
    let has_head = lines.next().is_some_and(|first| first.trim_end() == FENCE);
    lines.take_while(move |line| has_head && line.trim_end() != FENCE)
}

/// The keys of the first level, the first [`MAX_KEYS`].
pub(super) fn keys(text: &str) -> Vec<String> {
    head(text)
        .filter(|line| line.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        .filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned()))
        .filter(|key| !key.is_empty() && key.len() <= 100)
        .take(MAX_KEYS)
        .collect()
}

/// Our mark in the front matter.
fn marker(text: &str) -> Option<Marker> {
    head(text)
        .filter(|line| line.starts_with(MARK))
        .find_map(Marker::in_text)
}

/// Whether the file is a draft.
fn is_draft(text: &str) -> bool {
    head(text).any(|line| {
        line.split_once(':')
            .is_some_and(|(key, value)| key.trim() == DRAFT && value.trim() == "true")
    })
}

/// The file as a draft, and nothing else of it changed.
pub(super) fn as_draft(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let (mut fences, mut done) = (0, false);
    for whole in text.split_inclusive('\n') {
        let plain = whole.trim_end();
        if plain == FENCE && fences < 2 {
            fences += 1;
            if fences == 2 && !done {
                lines.push(line(DRAFT, &json!(true)));
            }
        } else if fences == 1 && plain.split_once(':').is_some_and(|(key, _)| key.trim() == DRAFT) {
            done = true;
            lines.push(line(DRAFT, &json!(true)));
            continue;
        }
        lines.push(whole.to_owned());
    }
    lines.concat()
}

/// A file at a provider: its path below the folder, and what it says.
pub(super) fn remote(path: &str, text: &str, base_url: &str) -> Remote {
    let slug = path.trim_end_matches(".md").to_owned();
    let base = base_url.trim_end_matches('/');
    Remote {
        id: path.to_owned(),
        url: (!base.is_empty()).then(|| format!("{base}/{slug}/")),
        slug: Some(slug),
        visible: if is_draft(text) {
            Visible::Draft
        } else {
            Visible::Live
        },
        reason: None,
        version: digest(text.as_bytes()),
        marker: marker(text),
        etag: None,
    }
}

/// The first half of a SHA-256, in hex.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .take(16)
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_it_is_and_can_be_taken_back() {
        let text = "---\ntitle: \"a: b\"\ndraft: false\nsearchwright: \"searchwright:00000000-0000-0000-0000-000000000007:abababababababab\"\n---\n\ndraft: false\n";
        assert!(!is_draft(text));
        assert_eq!(
            marker(text).map(|mark| mark.digest),
            Some("abababababababab".to_owned())
        );
        let draft = as_draft(text);
        assert!(is_draft(&draft));
        assert!(draft.ends_with("---\n\ndraft: false\n"), "{draft}");
        assert_eq!(as_draft(&draft), draft);
        assert!(is_draft(&as_draft("---\ntitle: x\n---\nbody")));
        assert_eq!(keys(text), ["title", "draft", "searchwright"]);
    }

    #[test]
    fn few_keys_of_a_file_are_looked_at() {
        let lines: String = (0..100_000).map(|at| format!("k{at}: x\n")).collect();
        let keys = keys(&format!("---\n{lines}---\n"));
        assert_eq!(
            (keys.len(), keys.last().map(String::as_str)),
            (MAX_KEYS, Some("k199"))
        );
        assert_eq!(fields(keys.into_iter()).len(), USUAL.len() + MAX_KEYS);
    }

    #[test]
    fn a_mark_in_the_text_of_another_file_is_not_its_mark() {
        let text = "---\ntitle: x\n---\nsearchwright:00000000-0000-0000-0000-000000000007:abababababababab\n";
        assert_eq!(marker(text), None);
    }

    #[test]
    fn a_key_that_is_no_plain_word_is_quoted() {
        assert_eq!(
            line("cover image", &json!("a\nb")),
            "\"cover image\": \"a\\nb\"\n"
        );
        assert_eq!(line("meta_title", &json!("x")), "meta_title: \"x\"\n");
    }
}
