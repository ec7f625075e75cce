//! JSON as pages have it in their markup: borrows what is written without escapes, and keeps objects as lists. They are small,
//! and asked for a few names each.

use std::{borrow::Cow, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

/// Any value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json<'a> {
    Null,
    Bool,
    Number(Number),
    String(Cow<'a, str>),
    Array(Vec<Self>),
    Object(Object<'a>),
}

impl<'a> Json<'a> {
    /// `None` when the text is no JSON, or too deep.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) const fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// A property, when it is an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    /// It itself, or what it lists.
    pub(crate) fn each(&self) -> &[Self] {
        match self {
            Self::Array(values) => values,
            one => std::slice::from_ref(one),
        }
    }
}

/// Properties as they come; of one name the last counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

impl<'a> Object<'a> {
    pub(crate) fn get(&self, name: &str) -> Option<&Json<'a>> {
        let mut last_first = self.0.iter().rev();
        last_first.find(|(of, _)| of == name).map(|(_, value)| value)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Json<'a>)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| &**name)
    }

    /// Takes a property out.
    pub(crate) fn remove(&mut self, name: &str) -> Option<Json<'a>> {
        self.get(name)?;
        let (found, rest) = std::mem::take(&mut self.0)
            .into_iter()
            .partition(|(of, _)| of == name);
        self.0 = rest;
        let mut found: Vec<(Cow<'a, str>, Json<'a>)> = found;
        found.pop().map(|(_, value)| value)
    }
}

impl<'a> Extend<(Cow<'a, str>, Json<'a>)> for Object<'a> {
    fn extend<I: IntoIterator<Item = (Cow<'a, str>, Json<'a>)>>(&mut self, properties: I) {
        self.0.extend(properties);
    }
}

impl<'a> IntoIterator for Object<'a> {
    type Item = (Cow<'a, str>, Json<'a>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool)
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json<'de>, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json<'de>, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json<'de>, E> {
        Ok(Number::from_f64(number).map_or(Json::Null, Json::Number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::String(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json<'de>, E> {
        Ok(Json::String(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Json<'de>, A::Error> {
        let mut all = Vec::new();
        while let Some(value) = values.next_element()? {
            all.push(value);
        }
        Ok(Json::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut properties: A) -> Result<Json<'de>, A::Error> {
        let mut all = Vec::with_capacity(8);
        while let Some((Text(name), value)) = properties.next_entry()? {
            all.push((name, value));
        }
        Ok(Json::Object(Object(all)))
    }
}

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Any)
    }
}

/// A name, borrowed where it can be.
#[derive(serde::Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn same(json: &Json<'_>, value: &Value) -> bool {
        match (json, value) {
            (Json::Null, Value::Null) | (Json::Bool, Value::Bool(_)) => true,
            (Json::Number(ours), Value::Number(number)) => ours == number,
            (Json::String(ours), Value::String(text)) => ours == text,
            (Json::Array(ours), Value::Array(values)) => {
                ours.len() == values.len() && ours.iter().zip(values).all(|(ours, value)| same(ours, value))
            }
            (Json::Object(ours), Value::Object(values)) => {
                ours.keys().all(|name| values.contains_key(name))
                    && values
                        .iter()
                        .all(|(name, value)| ours.get(name).is_some_and(|ours| same(ours, value)))
            }
            _ => false,
        }
    }

    #[test]
    fn the_last_of_a_name_counts() {
        let Some(Json::Object(mut object)) = Json::parse(r#"{"a": 1, "\u0062": "x\n", "a": [2.5, true]}"#)
        else {
            panic!("no object");
        };
        let list = |json: Option<&Json<'_>>| json.map(|json| json.each().len());
        assert_eq!((list(object.get("a")), object.len()), (Some(2), 3));
        assert_eq!(object.get("b").and_then(Json::as_str), Some("x\n"));
        assert_eq!((list(object.remove("a").as_ref()), object.len()), (Some(2), 1));
        assert_eq!(object.remove("a"), None);
        assert_eq!(Json::parse("{"), None);
    }

    proptest! {
        #[test]
        fn it_reads_what_serde_json_reads(text in "([{}\\[\\],:]|\"[a-c]\"|\"\\\\u00e9é\"|-?[0-9]{1,20}|1e5|null|true| ){0,20}") {
            for text in [text.clone(), format!("{{\"a\": [{text}], \"b\": {text}}}"), format!("[{text}]")] {
                match (Json::parse(&text), serde_json::from_str(&text)) {
                    (Some(ours), Ok(value)) => prop_assert!(same(&ours, &value), "{text}"),
                    (ours, value) => prop_assert!(ours.is_none() && value.is_err(), "{text}"),
                }
            }
        }
    }
}
