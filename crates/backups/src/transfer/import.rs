//! Reads the file of a project into a database.
//!
//! Rows are written in parts, each with a mark of how far it has come. Until the last one the project is in a workspace without members,
//! where nobody sees it. An import that was cut short goes on after its last part when it is begun again.

use std::{
    collections::BTreeMap,
    io::{BufRead, ErrorKind},
};

use searchwright_contract::{Clock, Instant, ids::WorkspaceId};
use searchwright_store::{
    Db, Error, Param,
    transfer::{self, RowSet, RowValues, Table},
    workspaces,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    MAX_BYTES, MAX_ROWS, TransferError,
    line::{self, FORMAT, Header, KIND, Parsed},
    rules::{self, ProjectRule, Row},
    size,
};

/// Longest line that is read: a batch of a crawl is the longest.
const MAX_LINE: u64 = 256 << 20;

/// Outcome of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportOutcome {
    /// The project.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Time at which the file was written.
    pub exported_at: Instant,
    /// Rows by table.
    pub rows: BTreeMap<String, u64>,
    /// Rows that an earlier import of the file had written, which was cut short.
    pub resumed_after: u64,
}

/// Progress of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ImportMark {
    exported_at: Instant,
    rows: u64,
}

/// Reads a file, and writes its project into a workspace, the first unless one is named.
pub async fn import(
    db: &Db,
    clock: &Clock,
    workspace: Option<WorkspaceId>,
    input: &mut (impl BufRead + Send),
) -> Result<ImportOutcome, TransferError> {
    let mut lines = Lines { input, number: 0 };
    let header = read_header(&mut lines)?;
    let project = header.project.id;
    let now = clock.now();
    let done = begin(db, project, &header).await?;
    let new = clock.id();
    let workspace = db
        .write(move |tx| {
            Box::pin(async move {
                match workspace {
                    Some(named) => Ok::<_, Error>(named),
                    None => workspaces::find_or_create_first(tx, new, now).await,
                }
            })
        })
        .await?;
    let mut import = Import {
        db,
        project,
        exported_at: header.exported_at,
        under_way: db
            .write(move |tx| Box::pin(async move { transfer::find_or_create_under_way(tx, now).await }))
            .await?,
        rows: BTreeMap::new(),
        read: 0,
        done,
        part: RowPart::default(),
    };
    let end = loop {
        let Some(text) = lines.next()? else {
            return Err(TransferError::CutShort(import.read));
        };
        let at = lines.number;
        let fault = |why| TransferError::Line { line: at, why };
        match line::parse(&text).map_err(fault)? {
            Parsed::Row(table, values) => import.take(table, values, at).await?,
            Parsed::End(end) => break end,
        }
    };
    import.write().await?;
    if end.rows != import.rows {
        return Err(TransferError::CutShort(import.read));
    }
    finish(db, project, workspace, &import.rows).await?;
    Ok(ImportOutcome {
        id: project,
        name: header.project.name,
        exported_at: header.exported_at,
        rows: import.rows,
        resumed_after: done,
    })
}

struct Lines<'a, R> {
    input: &'a mut R,
    number: u64,
}

impl<R: BufRead> Lines<'_, R> {
    fn next(&mut self) -> Result<Option<String>, TransferError> {
        let mut text = String::new();
        self.number += 1;
        let read = std::io::Read::take(&mut *self.input, MAX_LINE).read_line(&mut text);
        read.map_err(|error| match error.kind() {
            // What is no text, or was cut short while it was compressed: the file is at fault, not the disk.
            ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof => {
                TransferError::Line {
                    line: self.number,
                    why: error.to_string(),
                }
            }
            _ => error.into(),
        })?;
        Ok((!text.is_empty()).then_some(text))
    }
}

fn read_header(lines: &mut Lines<'_, impl BufRead>) -> Result<Header, TransferError> {
    let fault = |why: String| TransferError::Line { line: 1, why };
    let text = lines.next()?.unwrap_or_default();
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|_| {
        fault("this is not the file of a project, which `searchwright export` writes".to_owned())
    })?;
    if value.get("kind").and_then(serde_json::Value::as_str) != Some(KIND) {
        return Err(fault(format!("its kind is not {KIND:?}")));
    }
    let number = |name: &str| value.get(name).and_then(serde_json::Value::as_u64);
    let schema = u64::from(transfer::schema_number());
    for (name, wanted) in [("format", u64::from(FORMAT)), ("schema", schema)] {
        if number(name) != Some(wanted) {
            let found = number(name).unwrap_or_default();
            return Err(fault(format!(
                "its {name} is {found}, and this program reads {wanted}: export it with the same version of the program"
            )));
        }
    }
    serde_json::from_value(value).map_err(|error| fault(error.to_string()))
}

/// Returns the number of rows that an earlier import of this file has written. Refuses a project that is there.
async fn begin(db: &Db, project: Uuid, header: &Header) -> Result<u64, TransferError> {
    let mut tx = db.read().await?;
    let mark = transfer::find_mark(&mut tx, project).await?;
    let mark: Option<ImportMark> = mark.and_then(|mark| serde_json::from_slice(&mark).ok());
    let is_there = transfer::find_project(&mut tx, project).await?.is_some();
    match mark {
        Some(mark) if mark.exported_at == header.exported_at => Ok(mark.rows),
        _ if is_there => Err(TransferError::Taken(project)),
        _ => Ok(0),
    }
}

/// Rows that are written together.
#[derive(Default)]
struct RowPart {
    rows: Vec<(&'static Table, RowValues)>,
    bytes: usize,
}

struct Import<'a> {
    db: &'a Db,
    project: Uuid,
    exported_at: Instant,
    under_way: Uuid,
    rows: BTreeMap<String, u64>,
    read: u64,
    /// Rows that are there already.
    done: u64,
    part: RowPart,
}

impl Import<'_> {
    async fn take(
        &mut self,
        table: &'static Table,
        mut values: RowValues,
        line: u64,
    ) -> Result<(), TransferError> {
        let fault = |why: String| TransferError::Line { line, why };
        if matches!(rules::rule(table.name), ProjectRule::LeftOut(_)) {
            return Err(fault(format!("{} is in no file of a project", table.name)));
        }
        let owner = if table.name == "projects" {
            "id"
        } else {
            "project_id"
        };
        let found = table.position(owner).and_then(|at| values.get(at));
        if found != Some(&Param::Uuid(self.project)) {
            return Err(fault(format!(
                "{}.{owner} is not the project of the file",
                table.name
            )));
        }
        let mut row = Row {
            table,
            values: &mut values,
        };
        if !rules::strip(&mut row) {
            return Err(fault(format!("this row of {} is of work under way", table.name)));
        }
        rules::settle(&mut row);
        if table.name == "projects" {
            row.set("workspace_id", Param::Uuid(self.under_way));
        }
        *self.rows.entry(table.name.to_owned()).or_default() += 1;
        self.read += 1;
        if self.read <= self.done {
            return Ok(());
        }
        self.part.bytes += size(&values);
        self.part.rows.push((table, values));
        if self.part.rows.len() >= MAX_ROWS as usize || self.part.bytes >= MAX_BYTES {
            self.write().await?;
        }
        Ok(())
    }

    /// Writes the rows that were gathered, with the mark.
    async fn write(&mut self) -> Result<(), TransferError> {
        let RowPart { rows, .. } = std::mem::take(&mut self.part);
        if rows.is_empty() {
            return Ok(());
        }
        let mark = ImportMark {
            exported_at: self.exported_at,
            rows: self.read,
        };
        let mark = serde_json::to_vec(&mark).map_err(std::io::Error::from)?;
        let project = self.project;
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    let mut rows = rows.into_iter().peekable();
                    while let Some((table, first)) = rows.next() {
                        let mut same = vec![first];
                        while let Some((_, next)) = rows.next_if(|(next, _)| std::ptr::eq(*next, table)) {
                            same.push(next);
                        }
                        transfer::insert(tx, table, same).await?;
                    }
                    transfer::set_mark(tx, project, mark).await
                })
            })
            .await?;
        Ok(())
    }
}

/// Counts what is there, and gives the project to its workspace.
async fn finish(
    db: &Db,
    project: Uuid,
    workspace: WorkspaceId,
    rows: &BTreeMap<String, u64>,
) -> Result<(), TransferError> {
    let mut tx = db.read().await?;
    let scope = transfer::find_project(&mut tx, project)
        .await?
        .ok_or(TransferError::NoProject(project))?;
    for (name, wanted) in rows {
        let Some(table) = transfer::find_table(name) else {
            continue;
        };
        let found = transfer::count(&mut tx, table, RowSet::OfProject(scope)).await?;
        if found != *wanted {
            return Err(TransferError::Count {
                table: table.name,
                found,
                wanted: *wanted,
            });
        }
    }
    drop(tx);
    db.write(move |tx| Box::pin(async move { transfer::end_import(tx, project, workspace).await }))
        .await?;
    Ok(())
}
