//! Reads the file of a project into a database.
//!
//! Rows are written in parts, each with a mark of how far it has come. Until the last one the project is in a workspace without members,
//! where nobody sees it. An import that was cut short goes on after its last part when it is begun again; where the file is another
//! one, what is there is removed first.

use std::{
    collections::BTreeMap,
    io::{BufRead, ErrorKind},
};

use searchwright_contract::{Clock, Instant, ids::WorkspaceId};
use searchwright_store::{
    Db, Error, Param,
    transfer::{
        self, RowSet, RowValues, Table,
        imports::{self, RemovalStep},
    },
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
    /// Rows that an earlier import of another file had written, which was cut short. They were removed.
    pub removed: u64,
}

/// A project whose import was cut short, or is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedImport {
    /// The project.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Progress; `None` where what was written is being removed.
    pub progress: Option<ImportMark>,
}

/// Progress of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportMark {
    /// Time at which the file was written.
    pub exported_at: Instant,
    /// Rows that are there.
    pub rows: u64,
}

impl ImportMark {
    fn parse(stored: &[u8]) -> Option<Self> {
        serde_json::from_slice(stored).ok()
    }

    fn to_bytes(self) -> Result<Vec<u8>, std::io::Error> {
        Ok(serde_json::to_vec(&self)?)
    }
}

/// Returns the projects whose import was cut short, or is under way.
pub async fn list_unfinished(db: &Db) -> Result<Vec<UnfinishedImport>, TransferError> {
    let found = imports::list(&mut db.read().await?).await?;
    let read = |project: imports::UnfinishedProject| UnfinishedImport {
        id: project.id,
        name: project.name,
        progress: project.mark.as_deref().and_then(ImportMark::parse),
    };
    Ok(found.into_iter().map(read).collect())
}

/// Removes what the import of a project has written that was cut short, and returns the number of rows. A removal that is cut short
/// goes on when it is repeated.
pub async fn discard(db: &Db, project: Uuid) -> Result<u64, TransferError> {
    if !imports::is_unfinished(&mut db.read().await?, project).await? {
        return Err(TransferError::NotUnfinished(project));
    }
    remove(db, project).await
}

async fn remove(db: &Db, project: Uuid) -> Result<u64, TransferError> {
    db.write(move |tx| Box::pin(async move { imports::delete_mark(tx, project).await }))
        .await?;
    let mut removed = 0;
    loop {
        let step = db.write(move |tx| Box::pin(async move { imports::remove_part(tx, project).await }));
        match step.await? {
            RemovalStep::Rows(rows) => removed += rows,
            RemovalStep::Overtaken => return Err(TransferError::Overtaken(project)),
            RemovalStep::Done => break,
        }
    }
    db.write(|tx| Box::pin(async move { imports::delete_empty_workspace(tx).await }))
        .await?;
    Ok(removed)
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
    let Begun { mark, removed } = begin(db, project, &header).await?;
    let done = mark.map_or(0, |mark| mark.rows);
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
            .write(move |tx| Box::pin(async move { imports::find_or_create_workspace(tx, now).await }))
            .await?,
        mark,
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
    import.finish(workspace).await?;
    Ok(ImportOutcome {
        id: project,
        name: header.project.name,
        exported_at: header.exported_at,
        rows: import.rows,
        resumed_after: done,
        removed,
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

/// State from which an import goes on.
struct Begun {
    /// Progress of an earlier import of this file.
    mark: Option<ImportMark>,
    /// Rows of an earlier import of another file, which were removed.
    removed: u64,
}

/// Looks how far an earlier import of this file has come, and removes what one of another file has written. Refuses a project that is
/// there.
async fn begin(db: &Db, project: Uuid, header: &Header) -> Result<Begun, TransferError> {
    let mut tx = db.read().await?;
    let is_there = transfer::find_project(&mut tx, project).await?.is_some();
    let is_unfinished = imports::is_unfinished(&mut tx, project).await?;
    let mark = imports::find_mark(&mut tx, project).await?;
    drop(tx);
    if is_there && !is_unfinished {
        return Err(TransferError::Taken(project));
    }
    let mark = mark.as_deref().and_then(ImportMark::parse);
    let is_same = mark.is_some_and(|mark| mark.exported_at == header.exported_at);
    let removed = if is_unfinished && !is_same {
        remove(db, project).await?
    } else {
        0
    };
    Ok(Begun {
        mark: mark.filter(|_| is_same),
        removed,
    })
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
    /// Progress as it is stored.
    mark: Option<ImportMark>,
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
        let known = self.mark.map(ImportMark::to_bytes).transpose()?;
        let (project, value) = (self.project, mark.to_bytes()?);
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    if !imports::replace_mark(tx, project, known, value).await? {
                        return Err(TransferError::Overtaken(project));
                    }
                    let mut rows = rows.into_iter().peekable();
                    while let Some((table, first)) = rows.next() {
                        let mut same = vec![first];
                        while let Some((_, next)) = rows.next_if(|(next, _)| std::ptr::eq(*next, table)) {
                            same.push(next);
                        }
                        transfer::insert(tx, table, same).await?;
                    }
                    Ok(())
                })
            })
            .await?;
        self.mark = Some(mark);
        Ok(())
    }

    /// Counts what is there, and gives the project to its workspace.
    async fn finish(&self, workspace: WorkspaceId) -> Result<(), TransferError> {
        let project = self.project;
        let mut tx = self.db.read().await?;
        let scope = transfer::find_project(&mut tx, project)
            .await?
            .ok_or(match self.mark {
                Some(_) => TransferError::Overtaken(project),
                None => TransferError::NoProject(project),
            })?;
        for (name, wanted) in &self.rows {
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
        let known = self
            .mark
            .map(ImportMark::to_bytes)
            .transpose()?
            .unwrap_or_default();
        let is_ended = self
            .db
            .write(move |tx| Box::pin(async move { imports::end(tx, project, known, workspace).await }));
        if is_ended.await? {
            Ok(())
        } else {
            Err(TransferError::Overtaken(project))
        }
    }
}
