//! Strict JSON (RFC 8259, I-JSON RFC 7493): text that parsers interpret differently is refused.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::faults::cut;

/// Maximum depth of nesting.
pub const MAX_DEPTH: u32 = 32;

/// Largest accepted magnitude of an integer: 2^53 - 1, the largest that every JSON parser keeps exact.
pub const MAX_INTEGER: i64 = 9_007_199_254_740_991;

/// Most bytes of a name that an error repeats.
const MAX_NAME: usize = 200;

/// Returns a text without the UTF-8 byte order mark that some programs write before it (RFC 8259, section 8.1).
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Parses one value. Refuses duplicate member names, U+0000, nesting beyond [`MAX_DEPTH`], trailing data, a byte
/// order mark, invalid UTF-8, lone surrogates, and integers beyond ±(2^53-1).
pub fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { depth: 0 }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Returns the JSON Pointer of the first text or member name that has U+0000, which not every database stores.
pub fn find_nul(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => text.contains('\0').then(String::new),
        Value::Array(items) => {
            let mut found = items.iter().enumerate();
            found.find_map(|(at, item)| find_nul(item).map(|rest| format!("/{at}{rest}")))
        }
        Value::Object(members) => members.iter().find_map(|(name, member)| {
            if name.contains('\0') {
                return Some(String::new());
            }
            find_nul(member).map(|rest| format!("/{name}{rest}"))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[derive(Clone, Copy)]
struct Strict {
    depth: u32,
}

impl Strict {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth == MAX_DEPTH {
            return Err(E::custom("nested more than 32 deep"));
        }
        Ok(Self {
            depth: self.depth + 1,
        })
    }
}

fn checked<E: Error>(text: &str) -> Result<(), E> {
    if text.contains('\0') {
        Err(E::custom("U+0000 is not accepted"))
    } else {
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        if value < -MAX_INTEGER {
            return Err(E::custom("integers are limited to ±(2^53-1)"));
        }
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        if value > MAX_INTEGER as u64 {
            return Err(E::custom("integers are limited to ±(2^53-1)"));
        }
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        // 12.0 is the integer 12 (RFC 8259 knows one kind of number).
        if value.fract() == 0.0 && value.abs() <= MAX_INTEGER as f64 {
            return Ok(Value::Number((value as i64).into()));
        }
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        checked(value)?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        checked(&value)?;
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut all = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            checked(&name)?;
            if all.contains_key(&name) {
                let name = cut(&name, MAX_NAME);
                return Err(A::Error::custom(format_args!("member {name:?} occurs twice")));
            }
            let value = members.next_value_seed(inner)?;
            all.insert(name, value);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn refuses_what_others_read_in_two_ways() {
        for bad in [
            r#"{"a":1,"a":2}"#,
            r#"{"a":{"b":1,"b":1}}"#,
            r#"["\u0000"]"#,
            r#"{"\u0000":1}"#,
            r#"["\ud800"]"#,
            "[1] 2",
            "\u{feff}[1]",
            "9007199254740992",
            "-9007199254740992",
            "1e999",
            "",
        ] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(parse(b"[\"\xff\"]").is_err());
        assert!(parse(format!("{}{}", "[".repeat(33), "]".repeat(33)).as_bytes()).is_err());
    }

    #[test]
    fn reads_the_rest() {
        assert!(parse(format!("{}{}", "[".repeat(32), "]".repeat(32)).as_bytes()).is_ok());
        assert_eq!(parse(b"12.0").ok(), Some(12.into()));
        assert_eq!(
            parse(br#" {"a":[null,true,"x",-1.5]} "#).ok(),
            serde_json::from_str(r#"{"a":[null,true,"x",-1.5]}"#).ok()
        );
    }
}
