//! JSON as in structured data: borrows strings without escapes, and keeps objects as lists, because they are small and
//! few of their names are looked up.

use std::{borrow::Cow, fmt};

use hashbrown::HashMap;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

/// A JSON value.
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
    /// Parses a text; `None` if it is not JSON, or nested too deeply.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a part of a text value, borrowed if the text is borrowed.
    pub(crate) fn part(&self, of: impl FnOnce(&str) -> &str) -> Option<Cow<'a, str>> {
        match self {
            Self::String(Cow::Borrowed(text)) => Some(Cow::Borrowed(of(text))),
            Self::String(Cow::Owned(text)) => Some(Cow::Owned(of(text).to_owned())),
            _ => None,
        }
    }

    pub(crate) const fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Returns a property of an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    /// Returns the elements of an array, or the value itself.
    pub(crate) fn each(&self) -> &[Self] {
        match self {
            Self::Array(values) => values,
            one => std::slice::from_ref(one),
        }
    }
}

/// Properties in order; the last value counts if a name repeats.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Object<'a> {
    all: Vec<(Cow<'a, str>, Json<'a>)>,
    /// Indexes by name, once there are many properties.
    places: Option<Box<HashMap<Cow<'a, str>, usize>>>,
}

/// Maximum number of properties that a scan finds faster than a hash table.
const MAX_SCANNED: usize = 24;

impl<'a> Object<'a> {
    fn place(&self, name: &str) -> Option<usize> {
        match &self.places {
            Some(places) => places.get(name).copied(),
            None => self.all.iter().position(|(of, _)| of == name),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.all.get(self.place(name)?).map(|(_, value)| value)
    }

    /// Sets a property: replaces one with the same name, or appends it.
    pub(crate) fn put(&mut self, name: Cow<'a, str>, value: Json<'a>) {
        if let Some((_, known)) = self.place(&name).and_then(|place| self.all.get_mut(place)) {
            *known = value;
            return;
        }
        if let Some(places) = &mut self.places {
            places.insert(name.clone(), self.all.len());
        }
        self.all.push((name, value));
        if self.places.is_none() && self.all.len() > MAX_SCANNED {
            let places = self.all.iter().zip(0..);
            self.places = Some(Box::new(
                places.map(|((name, _), place)| (name.clone(), place)).collect(),
            ));
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Json<'a>)> {
        self.all.iter().map(|(name, value)| (&**name, value))
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|(name, _)| &**name)
    }

    /// Removes a property and returns it.
    pub(crate) fn remove(&mut self, name: &str) -> Option<Json<'a>> {
        let place = self.place(name)?;
        let (_, value) = self.all.remove(place);
        let rest = std::mem::take(self);
        rest.all
            .into_iter()
            .for_each(|(name, value)| self.put(name, value));
        Some(value)
    }
}

impl<'a> IntoIterator for Object<'a> {
    type Item = (Cow<'a, str>, Json<'a>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.into_iter()
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
        let mut object = Object::default();
        object.all.reserve(8);
        while let Some((MemberName(name), value)) = properties.next_entry()? {
            object.put(name, value);
        }
        Ok(Json::Object(object))
    }
}

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Any)
    }
}

/// A member name, borrowed if possible.
#[derive(serde::Deserialize)]
struct MemberName<'a>(#[serde(borrow)] Cow<'a, str>);

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
                let got = |name: &String| ours.get(name);
                let each = ours.iter().zip(values);
                ours.len() == values.len()
                    && values
                        .keys()
                        .zip(ours.iter())
                        .all(|(name, (_, value))| got(name) == Some(value))
                    && { each }.all(|((of, ours), (name, value))| of == name && same(ours, value))
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
        assert_eq!((list(object.get("a")), object.len()), (Some(2), 2));
        assert_eq!(object.get("b").and_then(Json::as_str), Some("x\n"));
        assert_eq!((list(object.remove("a").as_ref()), object.len()), (Some(2), 1));
        assert_eq!(object.remove("a"), None);
        assert_eq!(Json::parse("{"), None);
    }

    proptest! {
        #[test]
        fn many_names_are_as_few(names in proptest::collection::vec("[a-f]{1,2}", 0..80)) {
            let pairs: Vec<String> = names.iter().zip(0..).map(|(name, n)| format!("\"{name}\": {n}")).collect();
            let text = format!("{{{}}}", pairs.join(","));
            let mut value: Value = serde_json::from_str(&text).unwrap();
            let mut ours = Json::parse(&text).unwrap();
            prop_assert!(same(&ours, &value), "{text}");
            if let (Json::Object(ours), Value::Object(values)) = (&mut ours, &mut value) {
                prop_assert_eq!(ours.remove("a").is_some(), values.shift_remove("a").is_some());
            }
            prop_assert!(same(&ours, &value), "{text}");
        }

        #[test]
        fn values_are_those_of_serde_json(text in "([{}\\[\\],:]|\"[a-c]\"|\"\\\\u00e9é\"|-?[0-9]{1,20}|1e5|null|true| ){0,20}") {
            for text in [text.clone(), format!("{{\"a\": [{text}], \"b\": {text}}}"), format!("[{text}]")] {
                match (Json::parse(&text), serde_json::from_str(&text)) {
                    (Some(ours), Ok(value)) => prop_assert!(same(&ours, &value), "{text}"),
                    (ours, value) => prop_assert!(ours.is_none() && value.is_err(), "{text}"),
                }
            }
        }
    }
}
