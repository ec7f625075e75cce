//! Rows of any table, for those who copy whole projects or databases.
//!
//! Both databases have the same tables and columns, whose names and types are read from the statements that made them: from the half
//! for PostgreSQL, which tells identifiers, times and JSON apart. The texts of the statements are made of these names once.

pub mod imports;
mod schema;

use std::sync::LazyLock;

use searchwright_contract::Instant;
use uuid::Uuid;

use crate::{Cells, Param, Result, Tx, access::ProjectScope, migrations, sql, value::JsonText};

pub use schema::{ColumnKind, TableColumn};

/// A table, with the statements that copy it.
#[derive(Debug)]
pub struct Table {
    /// Name.
    pub name: &'static str,
    /// Columns, in the order of the values of a row.
    pub columns: Vec<TableColumn>,
    all: Selection,
    of_project: Option<Selection>,
    insert: &'static str,
    delete: Option<&'static str>,
}

/// Statements that read some rows of a table in the order of its primary key.
#[derive(Debug)]
struct Selection {
    count: &'static str,
    first: &'static str,
    next: &'static str,
    /// Columns of the key that are compared.
    compared: Vec<usize>,
}

/// Rows of a table.
#[derive(Clone, Copy, Debug)]
pub enum RowSet {
    /// All.
    All,
    /// Those of a project.
    OfProject(ProjectScope),
}

/// Values of a row, in the order of the columns.
pub type RowValues = Vec<Param>;

/// Rows deleted in one transaction at most. Other writers wait for its end.
const MAX_DELETED: u32 = 1_000;

/// Makes a text live as long as the program. Called once for each statement of each table.
fn keep(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// Returns all tables, each after those that it refers to. Tables of one database alone are not among them: they hold what is computed
/// from the others.
pub fn tables() -> &'static [Table] {
    static TABLES: LazyLock<Vec<Table>> =
        LazyLock::new(|| schema::read().into_iter().map(Table::new).collect());
    &TABLES
}

/// Returns the number of the last migration of this program.
pub fn schema_number() -> u32 {
    migrations::newest()
}

/// Returns the table of this name.
pub fn find_table(name: &str) -> Option<&'static Table> {
    tables().iter().find(|table| table.name == name)
}

impl Table {
    fn new(parsed: schema::ParsedTable) -> Self {
        let schema::ParsedTable { name, columns, key } = parsed;
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let read = columns.iter().map(|column| match column.kind {
            ColumnKind::ShortInt => format!("CAST({} AS BIGINT)", column.name),
            _ => column.name.clone(),
        });
        let list = read.collect::<Vec<_>>().join(", ");
        let project = match name.as_str() {
            "projects" => Some("id"),
            _ => names.contains(&"project_id").then_some("project_id"),
        };
        let project = project.and_then(|project| names.iter().position(|name| *name == project));
        let values: Vec<String> = (1..=names.len()).map(|number| format!("${number}")).collect();
        let insert = format!(
            "INSERT INTO {name} ({}) VALUES ({})",
            names.join(", "),
            values.join(", ")
        );
        let delete = project.and_then(|project| {
            let owner = names.get(project)?;
            let key: Vec<&str> = key.iter().filter_map(|index| names.get(*index).copied()).collect();
            let key = key.join(", ");
            Some(format!(
                "DELETE FROM {name} WHERE ({key}) IN (SELECT {key} FROM {name} WHERE {owner} = $1 LIMIT {MAX_DELETED})"
            ))
        });
        Self {
            delete: delete.map(keep),
            all: Selection::new(&name, &list, &names, &key, None),
            of_project: project.map(|project| Selection::new(&name, &list, &names, &key, Some(project))),
            name: keep(name),
            insert: keep(insert),
            columns,
        }
    }

    /// Position of a column.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Whether the rows of the table belong to projects.
    pub const fn is_of_projects(&self) -> bool {
        self.of_project.is_some()
    }

    fn selection(&self, set: RowSet) -> Result<(&Selection, Option<Uuid>)> {
        match set {
            RowSet::All => Ok((&self.all, None)),
            RowSet::OfProject(scope) => match &self.of_project {
                Some(selection) => Ok((selection, Some(scope.project()))),
                None => Err(crate::Error::Defect(format!(
                    "{} does not belong to projects",
                    self.name
                ))),
            },
        }
    }

    fn read(&self, cells: &mut Cells<'_>) -> Result<RowValues> {
        self.columns
            .iter()
            .map(|column| column.kind.read(cells))
            .collect()
    }
}

impl Selection {
    fn new(table: &str, list: &str, columns: &[&str], key: &[usize], project: Option<usize>) -> Self {
        let name = |index: &usize| columns.get(*index).copied().unwrap_or_default();
        let compared: Vec<usize> = key
            .iter()
            .copied()
            .filter(|index| Some(*index) != project)
            .collect();
        let order: Vec<&str> = key.iter().map(name).collect();
        let order = order.join(", ");
        let (of_project, before) = match project {
            Some(project) => (format!(" WHERE {} = $1", name(&project)), 1),
            None => (String::new(), 0),
        };
        let first = format!(
            "SELECT {list} FROM {table}{of_project} ORDER BY {order} LIMIT ${}",
            before + 1
        );
        let next = if compared.is_empty() {
            first.clone()
        } else {
            let names: Vec<&str> = compared.iter().map(name).collect();
            let values: Vec<String> = (1..=names.len())
                .map(|number| format!("${}", before + number))
                .collect();
            let link = if project.is_some() { " AND" } else { " WHERE" };
            format!(
                "SELECT {list} FROM {table}{of_project}{link} ({}) > ({}) ORDER BY {order} LIMIT ${}",
                names.join(", "),
                values.join(", "),
                before + names.len() + 1
            )
        };
        Self {
            count: keep(format!("SELECT count(*) FROM {table}{of_project}")),
            first: keep(first),
            next: keep(next),
            compared,
        }
    }
}

impl ColumnKind {
    fn read(self, cells: &mut Cells<'_>) -> Result<Param> {
        Ok(match self {
            Self::Uuid => cells.take::<Option<Uuid>>()?.into(),
            Self::Text => cells.take::<Option<String>>()?.map_or(Param::Null, Param::Text),
            Self::Int | Self::ShortInt => cells.take::<Option<i64>>()?.into(),
            Self::Float => cells.take::<Option<f64>>()?.into(),
            Self::Bool => cells.take::<Option<bool>>()?.into(),
            Self::Time => cells.take::<Option<Instant>>()?.into(),
            Self::Json => cells
                .take::<Option<JsonText>>()?
                .map_or(Param::Null, |json| Param::Json(json.0)),
            Self::Bytes => cells.take::<Option<Vec<u8>>>()?.into(),
        })
    }
}

/// Returns the number of rows.
pub async fn count(tx: &mut Tx, table: &Table, set: RowSet) -> Result<u64> {
    let (selection, project) = table.selection(set)?;
    let mut statement = sql(selection.count);
    if let Some(project) = project {
        statement = statement.bind(project);
    }
    statement.fetch_one(tx, |c| c.take()).await
}

/// Returns at most `limit` rows in the order of the primary key, after the row `after`.
pub async fn read(
    tx: &mut Tx,
    table: &Table,
    set: RowSet,
    after: Option<&RowValues>,
    limit: u32,
) -> Result<Vec<RowValues>> {
    let (selection, project) = table.selection(set)?;
    let mut statement = sql(match after {
        Some(_) => selection.next,
        None => selection.first,
    });
    if let Some(project) = project {
        statement = statement.bind(project);
    }
    if let Some(after) = after {
        if selection.compared.is_empty() {
            // A project has one row at most.
            return Ok(Vec::new());
        }
        for index in &selection.compared {
            statement = statement.bind(after.get(*index).cloned().unwrap_or(Param::Null));
        }
    }
    statement
        .bind(limit)
        .fetch_all(tx, |cells| table.read(cells))
        .await
}

/// Inserts rows.
pub async fn insert(tx: &mut Tx, table: &Table, rows: Vec<RowValues>) -> Result<()> {
    sql(table.insert).execute_each(tx, rows).await?;
    Ok(())
}

/// Returns the scope of a project, for the operator.
pub async fn find_project(tx: &mut Tx, project: Uuid) -> Result<Option<ProjectScope>> {
    sql("SELECT id FROM projects WHERE id = $1")
        .bind(project)
        .fetch_optional(tx, |c| Ok(ProjectScope::from_row(c.take()?)))
        .await
}

/// Returns the kinds of work of a project that is under way, each once: what it writes would be missing in a copy.
pub async fn list_under_way(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<String>> {
    sql("SELECT DISTINCT kind FROM (
           SELECT kind FROM jobs WHERE project_id = $1 AND status IN ('queued', 'running')
             AND kind IN ('audit', 'recheck', 'track_prompts', 'generate_post', 'publish_post')
           UNION ALL SELECT 'publish_post' FROM publish_attempts WHERE project_id = $1 AND finished_at IS NULL) found ORDER BY kind")
    .bind(scope.project())
    .fetch_all(tx, |c| c.take())
    .await
}

/// Returns the names and roles of the members of a project.
pub async fn list_members(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<(String, String)>> {
    sql(
        "SELECT u.name, m.role FROM projects p JOIN memberships m ON m.workspace_id = p.workspace_id
         JOIN users u ON u.id = m.user_id WHERE p.id = $1 ORDER BY u.id",
    )
    .bind(scope.project())
    .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
    .await
}

/// Returns whether there is anything of an installation: a workspace, a person, or a value that a server stores at its first start.
pub async fn is_empty(tx: &mut Tx) -> Result<bool> {
    sql("SELECT (SELECT count(*) FROM workspaces) + (SELECT count(*) FROM users) + (SELECT count(*) FROM meta)")
        .fetch_one(tx, |c| Ok(c.take::<i64>()? == 0))
        .await
}
