//! Parameters and columns, as native types of both databases.

use postgres_types::{IsNull, ToSql, Type, to_sql_checked};
use rusqlite::types::{ToSqlOutput, ValueRef};
use searchwright_contract::{Instant, ids};
use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

use crate::error::{Error, error_chain};

/// A parameter of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Param {
    /// NULL.
    Null,
    /// UUID, BLOB on SQLite.
    Uuid(Uuid),
    /// TEXT.
    Text(String),
    /// BIGINT, INTEGER on SQLite.
    Int(i64),
    /// DOUBLE PRECISION, REAL on SQLite.
    Float(f64),
    /// BOOLEAN, INTEGER on SQLite.
    Bool(bool),
    /// TIMESTAMPTZ, TEXT of fixed width on SQLite.
    Time(Instant),
    /// JSONB, TEXT on SQLite.
    Json(String),
    /// BYTEA, BLOB on SQLite.
    Bytes(Vec<u8>),
}

/// A value of a JSON column.
#[derive(Clone, Debug, PartialEq)]
pub struct Json(pub serde_json::Value);

impl Json {
    /// Serializes a value for storage.
    pub(crate) fn encode(value: &impl Serialize) -> Result<Self, Error> {
        serde_json::to_value(value).map(Self).map_err(Error::defect)
    }

    /// Deserializes a stored value; [`Error::Defect`] if it is not of this type.
    pub(crate) fn decode<T: DeserializeOwned>(self) -> Result<T, Error> {
        serde_json::from_value(self.0).map_err(Error::defect)
    }
}

/// Parameters as tokio-postgres takes them.
pub(crate) fn postgres_params<'p>(
    params: impl IntoIterator<Item = &'p Param>,
) -> Vec<&'p (dyn ToSql + Sync)> {
    params.into_iter().map(|p| p as &(dyn ToSql + Sync)).collect()
}

macro_rules! params {
    ($($type:ty => |$value:ident| $param:expr;)*) => {
        $(impl From<$type> for Param {
            fn from($value: $type) -> Self { $param }
        })*
    };
}
params! {
    Uuid => |v| Self::Uuid(v);
    String => |v| Self::Text(without_nul(v));
    &str => |v| Self::Text(without_nul(v.to_owned()));
    &String => |v| Self::Text(without_nul(v.clone()));
    i64 => |v| Self::Int(v);
    u64 => |v| Self::Int(i64::try_from(v).unwrap_or(i64::MAX));
    u32 => |v| Self::Int(v.into());
    u16 => |v| Self::Int(v.into());
    u8 => |v| Self::Int(v.into());
    f64 => |v| Self::Float(v);
    bool => |v| Self::Bool(v);
    Instant => |v| Self::Time(v);
    Vec<u8> => |v| Self::Bytes(v);
    &[u8] => |v| Self::Bytes(v.to_vec());
    &[u8; 32] => |v| Self::Bytes(v.to_vec());
    Json => |v| Self::Json(json_without_nul(&v.0));
    &serde_json::Value => |v| Self::Json(json_without_nul(v));
}

/// Replaces U+0000, which PostgreSQL does not store, as HTML does. Callers are refused it; it comes from websites and files.
fn without_nul(text: String) -> String {
    if text.contains('\0') {
        text.replace('\0', "\u{fffd}")
    } else {
        text
    }
}

fn json_without_nul(value: &serde_json::Value) -> String {
    let text = value.to_string();
    if !text.contains("\\u0000") {
        return text;
    }
    let mut value = value.clone();
    replace_nul(&mut value);
    value.to_string()
}

fn replace_nul(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => *text = without_nul(std::mem::take(text)),
        serde_json::Value::Array(items) => items.iter_mut().for_each(replace_nul),
        serde_json::Value::Object(members) => {
            *members = std::mem::take(members)
                .into_iter()
                .map(|(name, mut value)| {
                    replace_nul(&mut value);
                    (without_nul(name), value)
                })
                .collect();
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

impl<T: Into<Self>> From<Option<T>> for Param {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl rusqlite::ToSql for Param {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Self::Uuid(v) => ToSqlOutput::Borrowed(ValueRef::Blob(v.as_bytes())),
            Self::Text(v) | Self::Json(v) => ToSqlOutput::Borrowed(ValueRef::Text(v.as_bytes())),
            Self::Int(v) => ToSqlOutput::Borrowed(ValueRef::Integer(*v)),
            Self::Float(v) => ToSqlOutput::Borrowed(ValueRef::Real(*v)),
            Self::Bool(v) => ToSqlOutput::Borrowed(ValueRef::Integer((*v).into())),
            Self::Time(v) => ToSqlOutput::from(v.to_string()),
            Self::Bytes(v) => ToSqlOutput::Borrowed(ValueRef::Blob(v)),
        })
    }
}

impl ToSql for Param {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut bytes::BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Uuid(v) => v.to_sql(kind, out),
            Self::Text(v) => v.as_str().to_sql(kind, out),
            Self::Int(v) => match *kind {
                Type::INT4 => i32::try_from(*v)?.to_sql(kind, out),
                Type::FLOAT8 => (*v as f64).to_sql(kind, out),
                _ => v.to_sql(kind, out),
            },
            Self::Float(v) => v.to_sql(kind, out),
            Self::Bool(v) => v.to_sql(kind, out),
            Self::Time(v) => jiff::Timestamp::from_millisecond(v.millis())?.to_sql(kind, out),
            Self::Json(v) => {
                if *kind == Type::JSONB {
                    out.extend_from_slice(&[1]); // version of the jsonb wire form
                }
                out.extend_from_slice(v.as_bytes());
                Ok(IsNull::No)
            }
            Self::Bytes(v) => v.as_slice().to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A type that a column can be read as. Errors are messages for [`Error::Column`].
pub trait Column: Sized {
    /// Reads a value of SQLite.
    fn from_sqlite(value: ValueRef<'_>) -> Result<Self, String>;
    /// Reads a column of a PostgreSQL row.
    fn from_postgres(row: &tokio_postgres::Row, index: usize) -> Result<Self, String>;
}

macro_rules! columns {
    ($($type:ty, $sqlite:pat => $value:expr;)*) => {
        $(impl Column for $type {
            fn from_sqlite(value: ValueRef<'_>) -> Result<Self, String> {
                match value {
                    $sqlite => $value,
                    other => Err(format!("{:?} where a {} is expected", other.data_type(), stringify!($type))),
                }
            }

            fn from_postgres(row: &tokio_postgres::Row, index: usize) -> Result<Self, String> {
                row.try_get(index).map_err(|e| error_chain(&e))
            }
        })*
    };
}
columns! {
    i64, ValueRef::Integer(v) => Ok(v);
    f64, ValueRef::Real(v) => Ok(v);
    bool, ValueRef::Integer(v) => Ok(v != 0);
    String, ValueRef::Text(v) => std::str::from_utf8(v).map(str::to_owned).map_err(|e| e.to_string());
    Vec<u8>, ValueRef::Blob(v) => Ok(v.to_vec());
    Uuid, ValueRef::Blob(v) => Self::from_slice(v).map_err(|e| e.to_string());
}

macro_rules! id_columns {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            impl From<ids::$name> for Param {
                fn from(id: ids::$name) -> Self {
                    Self::Uuid(id.uuid())
                }
            }

            impl Column for ids::$name {
                fn from_sqlite(value: ValueRef<'_>) -> Result<Self, String> {
                    Uuid::from_sqlite(value).map(Self::from)
                }

                fn from_postgres(row: &tokio_postgres::Row, index: usize) -> Result<Self, String> {
                    Uuid::from_postgres(row, index).map(Self::from)
                }
            }
        )*
    };
}
searchwright_contract::ids!(id_columns);

impl Column for Instant {
    fn from_sqlite(value: ValueRef<'_>) -> Result<Self, String> {
        let text = value.as_str().map_err(|e| e.to_string())?;
        Self::from_text(text).map_err(|e| e.to_string())
    }

    fn from_postgres(row: &tokio_postgres::Row, index: usize) -> Result<Self, String> {
        let at: jiff::Timestamp = row.try_get(index).map_err(|e| error_chain(&e))?;
        Ok(Self::from_millis(at.as_millisecond()))
    }
}

impl Column for Json {
    fn from_sqlite(value: ValueRef<'_>) -> Result<Self, String> {
        let text = value.as_str().map_err(|e| e.to_string())?;
        serde_json::from_str(text).map(Self).map_err(|e| e.to_string())
    }

    fn from_postgres(row: &tokio_postgres::Row, index: usize) -> Result<Self, String> {
        row.try_get(index).map(Self).map_err(|e| error_chain(&e))
    }
}

/// JSON as text: on SQLite as it is stored, so that a copy has the same digits.
pub(crate) struct JsonText(pub(crate) String);

impl Column for JsonText {
    fn from_sqlite(value: ValueRef<'_>) -> Result<Self, String> {
        String::from_sqlite(value).map(Self)
    }

    fn from_postgres(row: &tokio_postgres::Row, index: usize) -> Result<Self, String> {
        Json::from_postgres(row, index).map(|json| Self(json.0.to_string()))
    }
}

/// Accepts any type and keeps only whether the value is not NULL.
struct NotNull(bool);

impl<'a> postgres_types::FromSql<'a> for NotNull {
    fn from_sql(_: &Type, _: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(true))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(false))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl<T: Column> Column for Option<T> {
    fn from_sqlite(value: ValueRef<'_>) -> Result<Self, String> {
        match value {
            ValueRef::Null => Ok(None),
            value => T::from_sqlite(value).map(Some),
        }
    }

    fn from_postgres(row: &tokio_postgres::Row, index: usize) -> Result<Self, String> {
        let NotNull(is_present) = row.try_get(index).map_err(|e| error_chain(&e))?;
        if is_present {
            T::from_postgres(row, index).map(Some)
        } else {
            Ok(None)
        }
    }
}

macro_rules! unsigned {
    ($($type:ty)*) => {
        $(impl Column for $type {
            fn from_sqlite(value: ValueRef<'_>) -> Result<Self, String> {
                Self::try_from(i64::from_sqlite(value)?).map_err(|e| e.to_string())
            }

            fn from_postgres(row: &tokio_postgres::Row, index: usize) -> Result<Self, String> {
                Self::try_from(i64::from_postgres(row, index)?).map_err(|e| e.to_string())
            }
        })*
    };
}
unsigned! { u8 u16 u32 u64 }
