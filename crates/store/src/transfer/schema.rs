//! Tables and columns, read from the statements that make the schema. A test compares them with both databases.

use crate::migrations;

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Identifier.
    Uuid,
    /// Text.
    Text,
    /// Integer of 64 bits.
    Int,
    /// Integer of 32 bits on PostgreSQL, which is read as one of 64.
    ShortInt,
    /// Floating-point number.
    Float,
    /// Truth value.
    Bool,
    /// Time.
    Time,
    /// JSON.
    Json,
    /// Bytes.
    Bytes,
}

impl ColumnKind {
    fn parse(words: &str) -> Option<Self> {
        [
            ("UUID", Self::Uuid),
            ("TEXT", Self::Text),
            ("BIGINT", Self::Int),
            ("INTEGER", Self::ShortInt),
            ("DOUBLE PRECISION", Self::Float),
            ("BOOLEAN", Self::Bool),
            ("TIMESTAMPTZ", Self::Time),
            ("JSONB", Self::Json),
            ("BYTEA", Self::Bytes),
        ]
        .into_iter()
        .find(|(name, _)| words.starts_with(name))
        .map(|(_, kind)| kind)
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: ColumnKind,
}

/// A table as it was read.
#[derive(Debug)]
pub(super) struct ParsedTable {
    pub(super) name: String,
    pub(super) columns: Vec<TableColumn>,
    pub(super) key: Vec<usize>,
}

/// Reads the tables of all migrations, in their order.
pub(super) fn read() -> Vec<ParsedTable> {
    let mut tables = Vec::new();
    for text in migrations::postgres_texts() {
        let mut open: Option<ParsedTable> = None;
        for line in text.lines() {
            let line = line.split("--").next().unwrap_or_default().trim();
            let begun = ["CREATE TABLE ", "CREATE UNLOGGED TABLE "]
                .iter()
                .find_map(|words| line.strip_prefix(words));
            if let Some(rest) = begun {
                open = Some(ParsedTable {
                    name: rest.trim_end_matches('(').trim().to_owned(),
                    columns: Vec::new(),
                    key: Vec::new(),
                });
            } else if line.starts_with(')') {
                tables.extend(open.take());
            } else if let Some(table) = &mut open {
                table.read(line.trim_end_matches(','));
            }
        }
    }
    tables
}

impl ParsedTable {
    /// Reads a line of the statement: a column, the primary key, or what neither is.
    fn read(&mut self, line: &str) {
        if let Some(names) = line.strip_prefix("PRIMARY KEY (") {
            let position = |name: &str| self.columns.iter().position(|column| column.name == name.trim());
            let key = names.trim_end_matches(')').split(',').filter_map(position);
            self.key = key.collect();
            return;
        }
        let Some((name, words)) = line.split_once(' ') else {
            return;
        };
        if let Some(kind) = ColumnKind::parse(words.trim()) {
            if words.contains("PRIMARY KEY") {
                self.key = vec![self.columns.len()];
            }
            self.columns.push(TableColumn {
                name: name.to_owned(),
                kind,
            });
        }
    }
}
