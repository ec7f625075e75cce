//! Output of commands: JSON for programs, tables for people. Control characters in text of websites are replaced,
//! because a terminal would obey them.

mod form;
mod grid;
mod lists;

use std::io::{IsTerminal as _, Write};

use comfy_table::{ContentArrangement, Table};
use searchwright_contract::{
    Operation as _,
    evidence::in_words,
    visibility::{GetOverview, Overview},
};
use serde::Deserialize as _;
use serde_json::Value;

use grid::{Grid, GridWriter};

pub use form::{Form, Printer};
pub(crate) use form::{OutputArgs, with_output_args};

use crate::{exit::CliError, overview};

/// Member whose form depends on the check, shown in words.
const EVIDENCE: &str = "evidence";

/// Prints an answer: as JSON, or for people.
pub fn print(name: &str, answer: &Value, json: bool) -> Result<(), CliError> {
    let form = if json { Form::Json } else { Form::Table };
    Printer::plain(form).print(name, answer)
}

/// Says something on stderr, unless the output is for a program: then nothing but failures is said.
pub(crate) fn write_note(text: &str) {
    if std::io::stdout().is_terminal() && std::io::stderr().is_terminal() {
        eprintln!("{text}");
    }
}

/// Writes an answer for people.
fn write_for_people(out: &mut impl Write, name: &str, answer: &Value) -> Result<(), CliError> {
    match (columns_of(name), rows_of(answer)) {
        (Some(columns), Some(rows)) => {
            GridWriter::default().write(out, &grid_of(columns, rows))?;
            if let Some(cursor) = answer.get("nextCursor").and_then(Value::as_str) {
                // What is said on stderr comes below the table.
                out.flush()?;
                write_note(&format!("more: --cursor {cursor}, or --all"));
            }
        }
        _ if answer.is_null() => write_note("done"),
        _ if name == GetOverview::META.name => {
            let shown = Overview::deserialize(answer).map_err(std::io::Error::from)?;
            overview::write(out, &shown)?;
        }
        _ => record(out, answer, 0)?,
    }
    Ok(())
}

fn columns_of(name: &str) -> Option<&'static [(&'static str, &'static str)]> {
    let (_, columns) = lists::COLUMNS.iter().find(|(list, _)| *list == name)?;
    Some(columns)
}

/// Returns the records of a list.
fn rows_of(answer: &Value) -> Option<&[Value]> {
    answer.get("data")?.as_array().map(Vec::as_slice)
}

/// Returns a table of rows.
pub(crate) fn table(columns: &[(&str, &str)], rows: &[Value]) -> Table {
    let heads: Vec<&str> = columns.iter().map(|(heading, _)| *heading).collect();
    cells(&heads, rows.iter().map(|row| cells_of(columns, row)))
}

/// Returns the cells of the records of a list.
fn grid_of(columns: &'static [(&str, &str)], rows: &[Value]) -> Grid<'static> {
    let (heads, members) = columns.iter().copied().unzip();
    Grid {
        heads,
        members,
        rows: rows.iter().map(|row| cells_of(columns, row)).collect(),
    }
}

/// Returns the width of the terminal that standard output is; `None` for a pipe or a file.
fn terminal_width() -> Option<u16> {
    let width = Table::new().width().filter(|width| *width > 0);
    width.filter(|_| std::io::stdout().is_terminal())
}

/// Returns the cells of a row.
fn cells_of(columns: &[(&str, &str)], row: &Value) -> Vec<String> {
    let member = |path: &str| row.pointer(&format!("/{path}")).unwrap_or(&Value::Null);
    let columns = columns.iter().map(|(_, path)| match *path {
        EVIDENCE => plain(&in_words(member(path))),
        path => cell(member(path)),
    });
    columns.collect()
}

/// Returns a table of texts.
pub(crate) fn cells(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new();
    table
        .load_style(comfy_table::presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic);
    if !std::io::stdout().is_terminal() {
        // A pipe has no width: nothing is wrapped, so that lines are records.
        table.set_content_arrangement(ContentArrangement::Disabled);
    }
    if !heads.is_empty() {
        table.set_header(heads.iter().map(|heading| heading.to_uppercase()));
    }
    table.add_rows(rows);
    table
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => plain(text),
        Value::Number(number) => match number.as_f64() {
            // Counts of figures are floats in JSON.
            Some(whole) if number.is_f64() && whole.fract() == 0.0 => format!("{whole}"),
            _ => number.to_string(),
        },
        other => plain(&other.to_string()),
    }
}

fn record(out: &mut impl Write, value: &Value, depth: usize) -> std::io::Result<()> {
    let Value::Object(members) = value else {
        return writeln!(out, "{}", cell(value));
    };
    let width = members.keys().map(String::len).max().unwrap_or(0);
    for (name, member) in members {
        let indent = "  ".repeat(depth);
        match member {
            Value::Object(_) if name == EVIDENCE => {
                writeln!(out, "{indent}{name:width$}  {}", plain(&in_words(member)))?;
            }
            Value::Object(inner) if !inner.is_empty() && name != "allowedActions" => {
                writeln!(out, "{indent}{name}:")?;
                record(out, member, depth + 1)?;
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                writeln!(out, "{indent}{name}:")?;
                for item in items {
                    record(out, item, depth + 1)?;
                    writeln!(out)?;
                }
            }
            _ if name == "allowedActions" => {
                let allowed: Vec<&str> = member
                    .as_object()
                    .into_iter()
                    .flatten()
                    .filter(|(_, v)| **v == Value::Bool(true))
                    .map(|(k, _)| k.as_str())
                    .collect();
                writeln!(
                    out,
                    "{indent}{name:width$}  {}",
                    if allowed.is_empty() {
                        "-".to_owned()
                    } else {
                        allowed.join(", ")
                    }
                )?;
            }
            _ => writeln!(out, "{indent}{name:width$}  {}", cell(member))?,
        }
    }
    Ok(())
}

/// Text without control characters, so that a page's title cannot steer the terminal.
pub fn plain(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => ' ',
            c if c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') => {
                '\u{fffd}'
            }
            c => c,
        })
        .collect()
}
