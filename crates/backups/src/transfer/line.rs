//! Lines of the file of a project: JSON, one value a line.

use std::collections::{BTreeMap, HashMap};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use searchwright_contract::Instant;
use searchwright_store::{
    Param,
    transfer::{ColumnKind, RowValues, Table, find_table},
};
use serde::{Deserialize, Serialize, ser::SerializeMap};
use serde_json::value::RawValue;
use uuid::Uuid;

/// Version of the form of the file.
pub(super) const FORMAT: u32 = 1;
/// Name by which the file is known.
pub(super) const KIND: &str = "searchwright project";

/// The first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Header {
    pub(super) kind: String,
    pub(super) format: u32,
    pub(super) program: String,
    pub(super) schema: u32,
    pub(super) exported_at: Instant,
    pub(super) project: ProjectName,
    pub(super) members: Vec<MemberName>,
    /// Tables that are not in the file, with the reason.
    pub(super) left_out: BTreeMap<String, String>,
}

/// The project of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ProjectName {
    pub(super) id: Uuid,
    pub(super) name: String,
    pub(super) domain: String,
}

/// A member, for people: accounts are not in the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MemberName {
    pub(super) name: String,
    pub(super) role: String,
}

/// The last line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct End {
    /// Rows by table, in the order in which they are in the file.
    pub(super) rows: BTreeMap<String, u64>,
}

/// A line with a row.
pub(super) struct RowLine<'a> {
    pub(super) table: &'static Table,
    pub(super) values: &'a RowValues,
}

impl Serialize for RowLine<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_map(Some(2))?;
        line.serialize_entry("table", self.table.name)?;
        line.serialize_entry("row", &Values(self))?;
        line.end()
    }
}

struct Values<'a>(&'a RowLine<'a>);

impl Serialize for Values<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = serializer.serialize_map(Some(self.0.values.len()))?;
        for (column, value) in self.0.table.columns.iter().zip(self.0.values) {
            row.serialize_key(&column.name)?;
            match value {
                Param::Null => row.serialize_value(&()),
                Param::Uuid(value) => row.serialize_value(value),
                Param::Text(value) => row.serialize_value(value),
                Param::Int(value) => row.serialize_value(value),
                Param::Float(value) => row.serialize_value(value),
                Param::Bool(value) => row.serialize_value(value),
                Param::Time(value) => row.serialize_value(value),
                Param::Bytes(value) => row.serialize_value(&STANDARD.encode(value)),
                Param::Json(value) => {
                    let raw: &RawValue = serde_json::from_str(value).map_err(serde::ser::Error::custom)?;
                    row.serialize_value(raw)
                }
            }?;
        }
        row.end()
    }
}

/// Content of a line after the first.
pub(super) enum Parsed {
    Row(&'static Table, RowValues),
    End(End),
}

/// Reads a line after the first.
pub(super) fn parse(text: &str) -> Result<Parsed, String> {
    #[derive(Deserialize)]
    struct AnyLine {
        table: Option<String>,
        row: Option<HashMap<String, Box<RawValue>>>,
        end: Option<End>,
    }
    let line: AnyLine = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let (table, mut row) = match (line.table, line.row, line.end) {
        (Some(table), Some(row), None) => (table, row),
        (None, None, Some(end)) => return Ok(Parsed::End(end)),
        _ => return Err("it is neither a row nor the end".to_owned()),
    };
    let table = find_table(&table).ok_or_else(|| format!("there is no table {table:?}"))?;
    let mut values = Vec::with_capacity(table.columns.len());
    for column in &table.columns {
        let raw = row
            .remove(&column.name)
            .ok_or_else(|| format!("{}.{} is missing", table.name, column.name))?;
        let value = read(column.kind, &raw);
        values.push(value.map_err(|error| format!("{}.{}: {error}", table.name, column.name))?);
    }
    match row.keys().next() {
        Some(name) => Err(format!("{} has no column {name:?}", table.name)),
        None => Ok(Parsed::Row(table, values)),
    }
}

fn read(kind: ColumnKind, raw: &RawValue) -> Result<Param, String> {
    fn parse_value<T: for<'a> Deserialize<'a>>(raw: &RawValue) -> Result<T, String> {
        serde_json::from_str(raw.get()).map_err(|error| error.to_string())
    }
    // Of a JSON column it is a value like others: NULL and null are not told apart, and no column has both.
    if raw.get() == "null" {
        return Ok(Param::Null);
    }
    Ok(match kind {
        ColumnKind::Uuid => Param::Uuid(parse_value(raw)?),
        ColumnKind::Text => Param::from(parse_value::<String>(raw)?),
        ColumnKind::Int | ColumnKind::ShortInt => Param::Int(parse_value(raw)?),
        ColumnKind::Float => Param::Float(parse_value(raw)?),
        ColumnKind::Bool => Param::Bool(parse_value(raw)?),
        ColumnKind::Time => Param::Time(parse_value(raw)?),
        ColumnKind::Json => Param::Json(raw.get().to_owned()),
        ColumnKind::Bytes => Param::Bytes(
            STANDARD
                .decode(parse_value::<String>(raw)?)
                .map_err(|error| error.to_string())?,
        ),
    })
}
