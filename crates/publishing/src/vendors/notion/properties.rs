//! Properties of a data source, and the values that pages have in them.

use searchwright_contract::integrations::{Field, FieldType};
use serde_json::{Map, Value, json};

use super::{CONTENT, COVER, MARK};
use crate::values::{Member, list, text};

/// Most characters of one piece of a text.
const PIECE: usize = 2000;
/// Most pieces of a text.
const PIECES: usize = 100;

/// Properties of a data source, by name.
#[derive(Debug)]
pub(super) struct Properties(Map<String, Value>);

impl Properties {
    pub fn read(source: &Value) -> Option<Self> {
        Some(Self(source.get("properties")?.as_object()?.clone()))
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn kind(&self, name: &str) -> Option<&str> {
        text(self.0.get(name)?, "/type")
    }

    /// Value of the property that says whether readers see a page, as it is sent; `None` if there is no such property
    /// or its type holds no status.
    pub fn state(&self, name: &str, is_live: bool, word: &str) -> Option<Value> {
        match self.kind(name)? {
            "checkbox" => Some(json!({ "type": "checkbox", "checkbox": is_live })),
            kind @ ("status" | "select") => Some(json!({ "type": kind, kind: { "name": word } })),
            _ => None,
        }
    }

    /// Value that a property is sent for a member; `None` if there is no such property.
    pub fn value(&self, name: &str, member: Member<'_>) -> Option<Value> {
        // A comma separates options in Notion.
        let option = |name: &str| json!({ "name": name.replace(',', " ") });
        Some(match (self.kind(name)?, member) {
            ("multi_select", Member::Names(names)) => {
                let options: Vec<Value> = names.iter().map(|name| option(name)).collect();
                json!({ "multi_select": options })
            }
            ("multi_select", member) => {
                json!({ "multi_select": Vec::from_iter(member.plain().map(|name| option(&name))) })
            }
            ("title", member) => json!({ "title": pieces(&member.plain().unwrap_or_default()) }),
            ("rich_text", member) => rich_text(&member.plain().unwrap_or_default()),
            ("files", Member::Picture(picture)) => {
                let url = picture.and_then(|picture| picture.url.as_deref());
                let files = url.map(|url| json!({ "name": "image", "external": { "url": url } }));
                json!({ "files": Vec::from_iter(files) })
            }
            ("date", Member::When(at)) => json!({ "date": { "start": at } }),
            ("select", member) => json!({ "select": member.plain().map(|name| option(&name)) }),
            (kind, member) => json!({ kind: member.plain() }),
        })
    }

    /// Fields that a mapping can name.
    pub fn fields(&self, status: &str) -> Vec<Field> {
        let ours = |(name, _): &(&String, &Value)| *name != status && *name != MARK;
        let mut fields: Vec<Field> = self.0.iter().filter(ours).filter_map(field).collect();
        fields.push(Field::new(CONTENT, "Page content", FieldType::Markdown).required());
        fields.push(Field::new(COVER, "Page cover", FieldType::Image));
        fields
    }
}

fn field((name, property): (&String, &Value)) -> Option<Field> {
    let kind = match text(property, "/type")? {
        "title" | "rich_text" | "url" | "select" | "email" | "phone_number" => FieldType::Text,
        "multi_select" => FieldType::List,
        "date" => FieldType::Date,
        "files" => FieldType::Image,
        "checkbox" => FieldType::Boolean,
        "number" => FieldType::Number,
        _ => return None,
    };
    let options: Vec<String> = list(property, "/select/options")
        .iter()
        .filter_map(|option| Some(text(option, "/name")?.to_owned()))
        .collect();
    Some(Field {
        required: text(property, "/type") == Some("title"),
        options: (!options.is_empty()).then_some(options),
        ..Field::new(name.clone(), name.clone(), kind)
    })
}

fn pieces(text: &str) -> Vec<Value> {
    let characters: Vec<char> = text.chars().collect();
    let pieces = characters.chunks(PIECE).take(PIECES);
    pieces
        .map(|piece| json!({ "text": { "content": piece.iter().collect::<String>() } }))
        .collect()
}

pub(super) fn rich_text(text: &str) -> Value {
    json!({ "rich_text": pieces(text) })
}

/// A text of pieces as one.
pub(super) fn joined(pieces: &Value) -> String {
    let pieces = list(pieces, "").iter();
    pieces
        .filter_map(|piece| text(piece, "/plain_text").or_else(|| text(piece, "/text/content")))
        .collect()
}

/// A value as it is compared: without ids and colours.
pub(super) fn plain(value: &Value) -> Value {
    let kind = text(value, "/type").unwrap_or_default();
    let inner = value.get(kind).unwrap_or(&Value::Null);
    match kind {
        "title" | "rich_text" => json!(joined(inner)),
        "select" | "status" => inner["name"].clone(),
        "multi_select" => list(inner, "")
            .iter()
            .map(|option| option["name"].clone())
            .collect(),
        "date" => inner["start"].clone(),
        "files" => list(inner, "")
            .iter()
            .map(|file| file["external"]["url"].clone())
            .collect(),
        _ => inner.clone(),
    }
}
