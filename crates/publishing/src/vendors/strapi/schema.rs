//! Content types as the Content-Type Builder describes them.

use searchwright_contract::integrations::{Field, FieldType, Place};
use serde_json::{Value, json};

use crate::{
    error::{Trouble, Why},
    publisher::Item,
    values::{Member, list, text},
};

/// A content type.
#[derive(Debug)]
pub(super) struct Type {
    /// Plural name, which addresses its entries.
    pub plural: String,
    /// Whether entries can be drafts.
    pub has_drafts: bool,
    attributes: Vec<(String, Value)>,
}

/// Type of value that a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text of any length, HTML where it is the text of the post.
    Text,
    Html,
    Markdown,
    Slug,
    Files {
        many: bool,
    },
    Day,
    Instant,
    Number,
    Boolean,
    Json,
    Reference,
}

impl Type {
    pub fn read(answer: &Value) -> Option<Self> {
        let schema = answer.pointer("/data/schema")?;
        let attributes = schema.get("attributes")?.as_object()?;
        Some(Self {
            plural: text(schema, "/pluralName")?.to_owned(),
            has_drafts: schema["draftAndPublish"] == Value::Bool(true),
            attributes: attributes
                .iter()
                .map(|(name, attribute)| (name.clone(), attribute.clone()))
                .collect(),
        })
    }

    pub fn kind(&self, field: &str) -> Option<Kind> {
        let (_, attribute) = self.attributes.iter().find(|(name, _)| name == field)?;
        kind(attribute)
    }

    pub fn fields(&self) -> Vec<Field> {
        self.attributes.iter().filter_map(field).collect()
    }
}

/// The types that people made, of which there can be many entries.
pub(super) fn places(answer: &Value) -> Vec<Place> {
    list(answer, "/data")
        .iter()
        .filter(|kind| text(kind, "/schema/kind") == Some("collectionType"))
        .filter_map(|kind| {
            let id = text(kind, "/uid").filter(|uid| uid.starts_with("api::"))?;
            Some(Place {
                id: id.to_owned(),
                name: text(kind, "/schema/displayName").unwrap_or(id).to_owned(),
            })
        })
        .collect()
}

/// `None` for what takes neither text nor a file: components, blocks, passwords.
fn kind(attribute: &Value) -> Option<Kind> {
    let own = text(attribute, "/customField").unwrap_or_default();
    if own.to_lowercase().contains("ckeditor") {
        return Some(Kind::Html);
    }
    Some(match text(attribute, "/type")? {
        "string" | "text" | "email" | "enumeration" | "time" => Kind::Text,
        "richtext" => Kind::Markdown,
        "uid" => Kind::Slug,
        "media" => Kind::Files {
            many: attribute["multiple"] == Value::Bool(true),
        },
        "date" => Kind::Day,
        "datetime" | "timestamp" => Kind::Instant,
        "integer" | "biginteger" | "float" | "decimal" => Kind::Number,
        "boolean" => Kind::Boolean,
        "json" => Kind::Json,
        "relation" => Kind::Reference,
        _ => return None,
    })
}

fn field((name, attribute): &(String, Value)) -> Option<Field> {
    let required = attribute["required"] == Value::Bool(true) && attribute.get("default").is_none();
    let kind = match kind(attribute) {
        Some(Kind::Text) => FieldType::Text,
        Some(Kind::Html) => FieldType::Richtext,
        Some(Kind::Markdown) => FieldType::Markdown,
        Some(Kind::Slug) => FieldType::Slug,
        Some(Kind::Files { .. }) => FieldType::Image,
        Some(Kind::Day | Kind::Instant) => FieldType::Date,
        Some(Kind::Number) => FieldType::Number,
        Some(Kind::Boolean) => FieldType::Boolean,
        Some(Kind::Json) => FieldType::List,
        // Nothing goes there, which matters only where something has to.
        Some(Kind::Reference) | None => required.then_some(FieldType::Boolean)?,
    };
    let options: Vec<String> = list(attribute, "/enum")
        .iter()
        .filter_map(|option| Some(option.as_str()?.to_owned()))
        .collect();
    Some(Field {
        required,
        max_length: attribute
            .get("maxLength")
            .and_then(Value::as_u64)
            .and_then(|n| n.try_into().ok()),
        options: (!options.is_empty()).then_some(options),
        ..Field::new(name.clone(), name.clone(), kind)
    })
}

impl Kind {
    /// Value that a field of this kind is sent for a member.
    pub fn value(self, member: Member<'_>, item: &Item) -> Result<Value, Trouble> {
        Ok(match (self, member) {
            (Self::Markdown, Member::Content) => json!(item.markdown),
            (_, Member::Content) => json!(item.html),
            (Self::Files { many }, Member::Picture(picture)) => {
                let number = picture.map(|picture| picture.reference.parse::<u64>());
                let number = number.transpose().map_err(|_| Trouble::refused(Why::Invalid))?;
                match number {
                    Some(number) if many => json!([number]),
                    None if many => json!([]),
                    number => json!(number),
                }
            }
            (Self::Day, Member::When(at)) => json!(at.to_string()[..10]),
            (Self::Json, Member::Names(names)) => json!(names),
            (_, member) => json!(member.plain()),
        })
    }
}
