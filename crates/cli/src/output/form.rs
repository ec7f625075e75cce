//! Forms of an answer: a table, JSON, a record on each line, or CSV, with all members or with those that are named.

use std::io::{self, BufWriter, IsTerminal as _, Write};

use clap::{Arg, ArgAction, ArgMatches, Command};
use searchwright_contract::columns::Columns;
use serde_json::{Map, Value};

use super::{Grid, GridWriter, cell, columns_of, grid_of, plain, rows_of, write_for_people};
use crate::{
    exit::{CliError, Exit},
    json_text::to_json,
};

const FORM: &str = "output_form";
const LINES: &str = "output_lines";
const FIELDS: &str = "output_fields";
const EVERY_PAGE: &str = "output_all";
const HEADING: &str = "Output";

/// Form of an answer on stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// For people.
    Table,
    /// One JSON document.
    Json,
    /// One record of a list on each line, as JSON.
    Jsonl,
    /// Comma-separated values with the names of the members in the first line.
    Csv,
}

/// Adds the arguments that choose a form.
pub(crate) fn with_output_args(command: Command, is_list: bool) -> Command {
    let command = command
        .arg(
            Arg::new(FORM)
                .long("output")
                .value_name("FORM")
                .value_parser(clap::value_parser!(Form))
                .hide_possible_values(true)
                .help_heading(HEADING)
                .help("table, json (as --json), jsonl (as --jsonl) or csv"),
        )
        .arg(
            Arg::new(LINES)
                .long("jsonl")
                .action(ArgAction::SetTrue)
                .help_heading(HEADING)
                .help("Print one record on each line, as JSON"),
        )
        .arg(
            Arg::new(FIELDS)
                .long("fields")
                .value_name("NAMES")
                .value_delimiter(',')
                .help_heading(HEADING)
                .help("Members to print, such as id,totals.errors; in any form"),
        );
    if !is_list {
        return command;
    }
    command.arg(
        Arg::new(EVERY_PAGE)
            .long("all")
            .action(ArgAction::SetTrue)
            .help_heading(HEADING)
            .help("Fetch all pages, 100 records at a time unless --limit says otherwise"),
    )
}

/// Choice of a form on a command line.
#[derive(Debug)]
pub(crate) struct OutputArgs {
    form: Form,
    fields: Vec<String>,
    /// Whether every page is wanted.
    pub(crate) is_every_page: bool,
}

impl OutputArgs {
    /// Reads the arguments of a command; `json` is that of every command.
    pub(crate) fn read(matches: &ArgMatches, json: bool) -> Result<Self, CliError> {
        let flag = |id: &str| matches.try_get_one::<bool>(id).ok().flatten() == Some(&true);
        let named = matches.try_get_one::<Form>(FORM).ok().flatten().copied();
        let mut wanted = [
            named,
            json.then_some(Form::Json),
            flag(LINES).then_some(Form::Jsonl),
        ];
        wanted.sort_by_key(Option::is_none);
        let form = wanted.into_iter().flatten().next().unwrap_or(Form::Table);
        if wanted.into_iter().flatten().any(|other| other != form) {
            return Err(CliError::new(Exit::Usage, "an answer has one form")
                .hint("give only one of --json, --jsonl and --output"));
        }
        let fields = matches.try_get_many::<String>(FIELDS).ok().flatten();
        Ok(Self {
            form,
            fields: fields.into_iter().flatten().cloned().collect(),
            is_every_page: flag(EVERY_PAGE),
        })
    }

    /// Whether it is the form for people, with all that they are shown.
    pub(crate) fn is_for_people(&self) -> bool {
        self.form == Form::Table && self.fields.is_empty()
    }

    /// Prepares to print answers of this operation. A member that they do not have is an error before anything is done.
    pub(crate) fn printer(
        &self,
        name: &str,
        columns: impl FnOnce() -> Option<Columns>,
    ) -> Result<Printer, CliError> {
        if self.form != Form::Csv && self.fields.is_empty() {
            return Ok(Printer::plain(self.form));
        }
        let of = name.replace('.', " ");
        let known = columns().ok_or_else(|| {
            CliError::new(Exit::Usage, format!("{of} answers with no fields to choose from"))
                .hint("print the answer with --json")
        })?;
        if self.fields.is_empty() {
            return Ok(Printer {
                form: self.form,
                chosen: None,
                known: Some(known),
            });
        }
        let names = self.fields.iter().map(|name| name.trim());
        let chosen = known.select(names).map_err(|unknown| {
            let names: Vec<&str> = known.iter().map(|column| column.name.as_str()).collect();
            CliError::new(Exit::Usage, format!("{of} has no field {unknown:?}"))
                .hint(format!("its fields are {}", names.join(", ")))
        })?;
        Ok(Printer {
            form: self.form,
            chosen: Some(chosen),
            known: Some(known),
        })
    }
}

/// Prints answers in one form.
#[derive(Debug)]
pub struct Printer {
    form: Form,
    /// Members that were named.
    chosen: Option<Columns>,
    /// All members.
    known: Option<Columns>,
}

impl Printer {
    /// Prints all that an answer has.
    pub fn plain(form: Form) -> Self {
        Self {
            form,
            chosen: None,
            known: None,
        }
    }

    /// Prints an answer.
    pub fn print(&self, name: &str, answer: &Value) -> Result<(), CliError> {
        let mut out = BufWriter::new(io::stdout().lock());
        match (self.form, &self.chosen) {
            (Form::Table, None) => write_for_people(&mut out, name, answer)?,
            _ if answer.is_null() => {}
            (Form::Json, None) => line(&mut out, answer)?,
            (Form::Json, Some(chosen)) => line(&mut out, &narrowed(answer, chosen))?,
            (Form::Table, Some(chosen)) if rows_of(answer).is_none() => {
                super::record(&mut out, &chosen.keep(answer), 0)?;
            }
            (Form::Table | Form::Jsonl | Form::Csv, _) => {
                let one = std::slice::from_ref(answer);
                let mut pages = Pages::new(self, name);
                pages.write(&mut out, rows_of(answer).unwrap_or(one))?;
                pages.end(&mut out)?;
            }
        }
        out.flush()?;
        Ok(())
    }

    /// Begins to print the pages of a list, one after the other.
    pub(crate) fn pages<'a>(&'a self, name: &'a str) -> Pages<'a> {
        Pages::new(self, name)
    }
}

/// Returns an answer with these members: of its records, if it is a list.
fn narrowed(answer: &Value, chosen: &Columns) -> Value {
    let Some(rows) = rows_of(answer) else {
        return chosen.keep(answer);
    };
    let rows: Vec<Value> = rows.iter().map(|row| chosen.keep(row)).collect();
    let mut narrowed = Map::new();
    narrowed.insert("data".to_owned(), rows.into());
    if let Some(cursor) = answer.get("nextCursor") {
        narrowed.insert("nextCursor".to_owned(), cursor.clone());
    }
    narrowed.into()
}

fn line(out: &mut impl Write, value: &Value) -> io::Result<()> {
    out.write_all(&to_json(value)?)?;
    out.write_all(b"\n")
}

/// Records that are printed page by page; no more than one page is held.
pub(crate) struct Pages<'a> {
    printer: &'a Printer,
    name: &'a str,
    has_begun: bool,
    /// Whether a record was printed.
    has_record: bool,
    table: GridWriter,
}

impl<'a> Pages<'a> {
    fn new(printer: &'a Printer, name: &'a str) -> Self {
        Self {
            printer,
            name,
            has_begun: false,
            has_record: false,
            table: GridWriter::default(),
        }
    }

    /// Prints the records of a page.
    pub(crate) fn write(&mut self, out: &mut impl Write, rows: &[Value]) -> Result<(), CliError> {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let chosen = self.printer.chosen.as_ref();
        match self.printer.form {
            Form::Json => {
                out.write_all(if is_first { b"{\"data\":[" } else { b"" })?;
                for row in rows {
                    let has_record = std::mem::replace(&mut self.has_record, true);
                    out.write_all(if has_record { b"," } else { b"" })?;
                    out.write_all(&to_json(&kept(row, chosen))?)?;
                }
            }
            Form::Jsonl => {
                for row in rows {
                    line(out, &kept(row, chosen))?;
                }
            }
            Form::Csv => {
                let Some(columns) = chosen.or(self.printer.known.as_ref()) else {
                    return Ok(());
                };
                let is_terminal = io::stdout().is_terminal();
                let mut csv = csv::Writer::from_writer(&mut *out);
                if is_first {
                    csv.write_record(columns.iter().map(|column| column.name.as_bytes()))
                        .map_err(written)?;
                }
                for row in rows {
                    let mut cells = columns.cells(row);
                    if is_terminal {
                        cells = cells.iter().map(|cell| plain(cell)).collect();
                    }
                    csv.write_record(cells).map_err(written)?;
                }
                csv.flush()?;
            }
            Form::Table => self.write_table(out, rows)?,
        }
        Ok(())
    }

    fn write_table(&mut self, out: &mut impl Write, rows: &[Value]) -> io::Result<()> {
        let grid = match (&self.printer.chosen, columns_of(self.name)) {
            (Some(chosen), _) => {
                let names: Vec<&str> = chosen.iter().map(|column| column.name.as_str()).collect();
                let cells = |row| chosen.values(row).into_iter().map(cell).collect();
                Grid {
                    heads: names.clone(),
                    members: names,
                    rows: rows.iter().map(cells).collect(),
                }
            }
            (None, Some(columns)) => grid_of(columns, rows),
            (None, None) => {
                for row in rows {
                    super::record(out, row, 0)?;
                    writeln!(out)?;
                }
                return Ok(());
            }
        };
        self.table.write(out, &grid)
    }

    /// Prints what comes after the last page.
    pub(crate) fn end(self, out: &mut impl Write) -> Result<(), CliError> {
        if self.printer.form == Form::Json {
            out.write_all(if self.has_begun { b"" } else { b"{\"data\":[" })?;
            out.write_all(b"],\"nextCursor\":null}\n")?;
        }
        out.flush()?;
        Ok(())
    }
}

fn kept(row: &Value, chosen: Option<&Columns>) -> Value {
    chosen.map_or_else(|| row.clone(), |chosen| chosen.keep(row))
}

/// Error of a CSV writer as that of its output, so that a reader that has seen enough is known as one.
fn written(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
