//! Fields of a collection, and values that they take.

use searchwright_contract::integrations::{Field, FieldType};
use serde_json::{Value, json};

use crate::{
    publisher::Uploaded,
    values::{list, text},
};

/// The collection that posts go to.
#[derive(Debug)]
pub(super) struct Collection {
    /// Fields of the collection, as Webflow describes them.
    pub fields: Vec<Value>,
    /// Address under which readers find its items, without a slash at its end.
    pub page: Option<String>,
}

impl Collection {
    fn known(&self, field: &str) -> Option<&Value> {
        let mut fields = self.fields.iter();
        fields.find(|known| text(known, "/slug") == Some(field))
    }

    /// Webflow's word for the type of a field; nothing if there is no such field.
    pub fn kind(&self, field: &str) -> &str {
        let field = self.known(field);
        field.and_then(|field| text(field, "/type")).unwrap_or_default()
    }

    /// The id of the option of this name.
    pub fn option(&self, field: &str, name: &str) -> Option<&str> {
        let mut options = list(self.known(field)?, "/validations/options").iter();
        let option = options.find(|option| text(option, "/name") == Some(name))?;
        text(option, "/id")
    }

    /// The collection whose items a field refers to.
    pub fn target(&self, field: &str) -> Option<&str> {
        text(self.known(field)?, "/validations/collectionId")
    }
}

/// An image by its address; what it shows is left out where nobody said it.
pub(super) fn image(picture: &Uploaded) -> Value {
    let mut image = json!({ "url": picture.url });
    if let Some(alt) = &picture.alt {
        image["alt"] = json!(alt);
    }
    image
}

/// Field that a mapping can name; `None` if it is not editable or no member of a post fits it.
pub(super) fn field(known: &Value) -> Option<Field> {
    let id = text(known, "/slug")?;
    if known["isEditable"] == Value::Bool(false) {
        return None;
    }
    let kind = match (id, text(known, "/type")?) {
        ("slug", _) => FieldType::Slug,
        (_, "PlainText" | "Link" | "Email" | "Phone" | "Color" | "Option" | "VideoLink") => FieldType::Text,
        (_, "RichText") => FieldType::Richtext,
        (_, "Image") => FieldType::Image,
        (_, "DateTime") => FieldType::Date,
        (_, "Switch") => FieldType::Boolean,
        (_, "Number") => FieldType::Number,
        (_, "Reference") => FieldType::Reference,
        (_, "MultiReference") => FieldType::List,
        // Files, galleries and users, which no member of a post fits.
        _ => return None,
    };
    let options: Vec<String> = list(known, "/validations/options")
        .iter()
        .filter_map(|option| Some(text(option, "/name")?.to_owned()))
        .collect();
    let length = known.pointer("/validations/maxLength").and_then(Value::as_u64);
    Some(Field {
        required: known["isRequired"] == Value::Bool(true),
        max_length: length.and_then(|n| n.try_into().ok()),
        options: (!options.is_empty()).then_some(options),
        ..Field::new(id, text(known, "/displayName").unwrap_or(id), kind)
    })
}
