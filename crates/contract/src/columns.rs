//! Records of a list as columns: the rows of a CSV file, and answers that name each member once.
//!
//! Columns come from the JSON Schema of the list, so they are the same for a page without records, and for records of which one
//! lacks what another has.

use serde_json::{Map, Value};

/// Objects within objects whose members become columns of their own; deeper ones stay JSON.
const MAX_DEPTH: usize = 3;

/// A member of the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name: those of the members that lead to it, joined by dots.
    pub name: String,
    path: Vec<String>,
}

impl Column {
    /// Whether a name means it: its own, or that of an object around it.
    fn is_of(&self, name: &str) -> bool {
        let rest = self.name.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

/// Members of the records of a list, in the order of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns(Vec<Column>);

impl Columns {
    /// Reads the schema of an answer that is a list; `None` if it is not.
    pub fn of_list(answer: &Value) -> Option<Self> {
        Self::of_member(answer, "data")
    }

    /// Reads the schema of an answer with a list in this member; `None` if it has none.
    pub fn of_member(answer: &Value, member: &str) -> Option<Self> {
        let record = &resolve(answer, &answer["properties"][member])["items"];
        let mut columns = Vec::new();
        collect(answer, record, &mut Vec::new(), &mut columns);
        (!columns.is_empty()).then_some(Self(columns))
    }

    /// Reads the schema of an answer that is one record; `None` if its members are not fixed.
    pub fn of_record(answer: &Value) -> Option<Self> {
        let mut columns = Vec::new();
        collect(answer, answer, &mut Vec::new(), &mut columns);
        (!columns.is_empty()).then_some(Self(columns))
    }

    /// Returns the columns, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Column> {
        self.0.iter()
    }

    /// Returns the columns but those of this name, or of the members of the object of this name.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.retain(|column| !column.is_of(name));
        self
    }

    /// Returns the columns of these names, in the order of the names. The name of an object stands for all of its members.
    /// The error is the first name that no record has.
    pub fn select<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<Self, &'a str> {
        let mut chosen: Vec<Column> = Vec::new();
        for name in names {
            let is_meant = |column: &&Column| column.is_of(name);
            let before = chosen.len();
            for column in self.0.iter().filter(is_meant) {
                if !chosen.contains(column) {
                    chosen.push(column.clone());
                }
            }
            if before == chosen.len() && !self.0.iter().any(|column| is_meant(&column)) {
                return Err(name);
            }
        }
        Ok(Self(chosen))
    }

    /// Returns the values of a record, `null` where it has none.
    pub fn values<'a>(&self, record: &'a Value) -> Vec<&'a Value> {
        let value = |column: &Column| {
            column
                .path
                .iter()
                .fold(record, |value, name| value.get(name).unwrap_or(&Value::Null))
        };
        self.0.iter().map(value).collect()
    }

    /// Returns the values of a record as texts for a CSV file: empty for `null`, lists of texts and numbers joined by `; `,
    /// other lists and objects as JSON.
    pub fn cells(&self, record: &Value) -> Vec<String> {
        self.values(record).into_iter().map(cell).collect()
    }

    /// Returns a record with these members only, each where it was.
    pub fn keep(&self, record: &Value) -> Value {
        let mut kept = Map::new();
        for (column, value) in self.0.iter().zip(self.values(record)) {
            put(&mut kept, &column.path, value.clone());
        }
        kept.into()
    }
}

fn put(object: &mut Map<String, Value>, path: &[String], value: Value) {
    match path {
        [] => {}
        [name] => {
            object.insert(name.clone(), value);
        }
        [name, rest @ ..] => {
            let inner = object.entry(name).or_insert_with(|| Map::new().into());
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

/// Follows a reference, and reads past the `null` of a choice.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return resolve(root, &root["$defs"][name]);
    }
    let Some(choice) = schema["anyOf"].as_array() else {
        return schema;
    };
    let mut values = choice.iter().filter(|option| option["type"] != "null");
    match (values.next(), values.next()) {
        (Some(only), None) => resolve(root, only),
        _ => schema,
    }
}

fn collect(root: &Value, schema: &Value, path: &mut Vec<String>, columns: &mut Vec<Column>) {
    let schema = resolve(root, schema);
    match schema["properties"].as_object() {
        Some(members) if path.len() < MAX_DEPTH => {
            for (name, member) in members {
                path.push(name.clone());
                collect(root, member, path, columns);
                path.pop();
            }
        }
        _ if path.is_empty() => {}
        _ => columns.push(Column {
            name: path.join("."),
            path: path.clone(),
        }),
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => guarded(text),
        Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
            let texts: Vec<String> = items.iter().map(plain).collect();
            guarded(&texts.join("; "))
        }
        other => other.to_string(),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Puts `'` before a text that a spreadsheet would take for a formula (OWASP, CSV injection).
fn guarded(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Columns;
    use crate::{
        keywords::ListKeywords,
        operation::{Operation, Visitor, answer_schema},
        visit,
    };

    fn find_columns<O: Operation>() -> Option<Columns> {
        Columns::of_list(answer_schema::<O>().as_value())
    }

    #[test]
    fn every_list_has_columns() {
        struct Lists;
        impl Visitor for Lists {
            fn operation<O: Operation>(&mut self) {
                let is_list = <O::Answer as crate::operation::Answer>::LIST;
                if is_list {
                    let columns = find_columns::<O>().unwrap_or_else(|| panic!("{}", O::META.name));
                    let mut names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
                    names.sort_unstable();
                    names.dedup();
                    assert_eq!(names.len(), columns.iter().count(), "{}", O::META.name);
                }
            }
        }
        visit(&mut Lists);
    }

    #[test]
    fn members_are_chosen_by_name_and_objects_by_theirs() {
        let columns = find_columns::<ListKeywords>().unwrap();
        let chosen = columns.select(["keyword", "id", "keyword"]).unwrap();
        let record = json!({ "id": "1", "keyword": "=1+1", "other": 3 });
        assert_eq!(chosen.cells(&record), ["'=1+1", "1"]);
        assert_eq!(chosen.keep(&record), json!({ "keyword": "=1+1", "id": "1" }));
        assert_eq!(columns.select(["id", "colour"]), Err("colour"));
        assert_eq!(columns.select(["keyw"]), Err("keyw"));
        let rest = chosen.without("keyword");
        assert_eq!(rest.cells(&record), ["1"]);
    }

    #[test]
    fn a_record_has_columns_as_well() {
        let columns = Columns::of_record(answer_schema::<crate::keywords::GetKeyword>().as_value()).unwrap();
        let list = find_columns::<ListKeywords>().unwrap();
        assert_eq!(columns, list);
        assert_eq!(
            Columns::of_record(answer_schema::<crate::me::GetMe>().as_value()),
            None
        );
    }

    #[test]
    fn objects_are_columns_and_lists_are_cells() {
        let schema = json!({ "properties": { "data": { "items": { "$ref": "#/$defs/Page" } } }, "$defs": {
            "Page": { "properties": { "url": {}, "size": { "anyOf": [{ "$ref": "#/$defs/Size" }, { "type": "null" }] }, "tags": {}, "links": {} } },
            "Size": { "properties": { "wide": {}, "high": {} } },
        } });
        let columns = Columns::of_list(&schema).unwrap();
        let mut names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["links", "size.high", "size.wide", "tags", "url"]);
        let columns = columns.select(["url", "size", "tags", "links"]).unwrap();
        let page = json!({ "url": "/", "size": { "wide": 1, "high": null }, "tags": ["a", 2], "links": [{ "to": "/b" }] });
        let mut cells = columns.cells(&page);
        cells.sort_unstable();
        assert_eq!(cells, ["", "/", "1", "[{\"to\":\"/b\"}]", "a; 2"]);
        assert_eq!(columns.cells(&json!({ "size": null })), ["", "", "", "", ""]);
        assert_eq!(columns.keep(&page), page);
        assert_eq!(columns.without("size").iter().count(), 3);
        assert_eq!(Columns::of_member(&schema, "pages"), None);
    }
}
