//! One SQL text with its parameters, run on either database.
//!
//! The few statements that the two databases spell differently ask [`Tx::is_postgres`].

mod multi_row_insert;
mod row_goal;

use futures_util::future::try_join_all;
use serde::de::DeserializeOwned;

use crate::{
    error::{Error, Result},
    sqlite::{bounded::OwnedRow, connection::PooledConnection},
    transaction::{Tx, TxConnection},
    value::{Column, Json, Param, postgres_params},
};

/// Text of a statement in which SQLite is told which index to read. Until it has statistics of a table that has grown, it expects
/// few rows of a project, and reads them all.
macro_rules! indexed {
    ($tx:expr, $before:expr, $index:literal, $after:expr) => {
        if $tx.is_postgres() {
            concat!($before, " ", $after)
        } else {
            concat!($before, " INDEXED BY ", $index, " ", $after)
        }
    };
}
pub(crate) use indexed;

/// A statement to be run; see [`sql`].
#[must_use]
#[derive(Debug)]
pub struct Statement {
    text: &'static str,
    params: Vec<Param>,
}

/// Creates a statement. The text is the same for SQLite and PostgreSQL, with `$1`, `$2`, … for parameters.
pub fn sql(text: &'static str) -> Statement {
    Statement {
        text,
        params: Vec::new(),
    }
}

/// The columns of a row, read in order.
#[derive(Debug)]
pub struct Cells<'a> {
    row: Row<'a>,
    at: usize,
}

#[derive(Debug)]
enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Owned(&'a OwnedRow),
    Postgres(&'a tokio_postgres::Row),
}

impl Cells<'_> {
    /// Reads the next column.
    pub fn take<T: Column>(&mut self) -> Result<T> {
        let index = self.at;
        self.at += 1;
        match self.row {
            Row::Sqlite(row) => T::from_sqlite(row.get_ref(index)?),
            Row::Owned(row) => match row.values.get(index) {
                Some(value) => T::from_sqlite(value.into()),
                None => Err("there is no such column".to_owned()),
            },
            Row::Postgres(row) => T::from_postgres(row, index),
        }
        .map_err(|e| Error::Column(index, e))
    }

    /// Reads the next column, which is JSON of a type.
    pub(crate) fn take_json<T: DeserializeOwned>(&mut self) -> Result<T> {
        self.take::<Json>()?.decode()
    }

    /// Reads the next column, which is JSON of a type or NULL.
    pub(crate) fn take_json_optional<T: DeserializeOwned>(&mut self) -> Result<Option<T>> {
        self.take::<Option<Json>>()?.map(Json::decode).transpose()
    }

    /// Reads the next column and parses its text.
    pub fn parse<T: std::str::FromStr<Err: ToString>>(&mut self) -> Result<T> {
        let index = self.at;
        let text: String = self.take()?;
        text.parse()
            .map_err(|e: T::Err| Error::Column(index, e.to_string()))
    }

    /// Reads the next column and parses its text, if it is not NULL.
    pub fn parse_optional<T: std::str::FromStr<Err: ToString>>(&mut self) -> Result<Option<T>> {
        let index = self.at;
        let text: Option<String> = self.take()?;
        text.map(|t| t.parse().map_err(|e: T::Err| Error::Column(index, e.to_string())))
            .transpose()
    }
}

impl Statement {
    /// Binds the next parameter.
    pub fn bind(mut self, value: impl Into<Param>) -> Self {
        self.params.push(value.into());
        self
    }

    /// Returns all rows.
    pub async fn fetch_all<T>(
        self,
        tx: &mut Tx,
        read: impl Fn(&mut Cells<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let push = |out: &mut Vec<T>, cells: &mut Cells<'_>| {
            out.push(read(cells)?);
            Ok(())
        };
        self.fold(tx, Vec::new, push).await
    }

    /// Returns the first row, if there is one.
    pub async fn fetch_optional<T>(
        self,
        tx: &mut Tx,
        read: impl Fn(&mut Cells<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let keep_first = |out: &mut Option<T>, cells: &mut Cells<'_>| {
            if out.is_none() {
                *out = Some(read(cells)?);
            }
            Ok(())
        };
        self.fold(tx, || None, keep_first).await
    }

    /// Returns the first row; [`Error::Missing`] if there is none.
    pub async fn fetch_one<T>(self, tx: &mut Tx, read: impl Fn(&mut Cells<'_>) -> Result<T>) -> Result<T> {
        self.fetch_optional(tx, read).await?.ok_or(Error::Missing)
    }

    /// Calls `read` for each row.
    pub async fn for_each(
        self,
        tx: &mut Tx,
        mut read: impl FnMut(&mut Cells<'_>) -> Result<()>,
    ) -> Result<()> {
        if let TxConnection::Sqlite(connection) = &mut tx.connection
            && connection.is_bounded()
        {
            log(self.text);
            // What was read cannot be taken back, so it is not tried here first.
            let runs = vec![Vec::new()];
            return run_elsewhere(connection, self, runs, |_, cells| read(cells)).await;
        }
        self.fold(tx, || (), |(), cells| read(cells)).await
    }

    /// Reads the rows into what `new` makes, which is made again when the statement is run again.
    async fn fold<S>(
        self,
        tx: &mut Tx,
        new: impl Fn() -> S,
        mut read: impl FnMut(&mut S, &mut Cells<'_>) -> Result<()>,
    ) -> Result<S> {
        match &mut tx.connection {
            TxConnection::Sqlite(connection) => {
                let runs = vec![Vec::new()];
                fold_sqlite(connection, self, runs, new, |state, _, cells| read(state, cells)).await
            }
            TxConnection::Postgres(client) => {
                let connection = client.get()?;
                let statement = match row_goal::set(self.text, &self.params) {
                    Some(text) => client.prepare(&text).await?,
                    None => client.prepare(self.text).await?,
                };
                let params = postgres_params(&self.params);
                let rows = client.run(connection.query(&statement, &params)).await?;
                let mut state = new();
                for row in &rows {
                    read(
                        &mut state,
                        &mut Cells {
                            row: Row::Postgres(row),
                            at: 0,
                        },
                    )?;
                }
                Ok(state)
            }
        }
    }

    /// Runs the statement and returns the number of affected rows.
    pub async fn execute(self, tx: &mut Tx) -> Result<u64> {
        match &mut tx.connection {
            TxConnection::Sqlite(connection) => {
                log(self.text);
                let mut statement = connection.get()?.prepare_cached(self.text)?;
                bind_sqlite(&mut statement, &self.params)?;
                Ok(statement.raw_execute()? as u64)
            }
            TxConnection::Postgres(client) => {
                let connection = client.get()?;
                let statement = client.prepare(self.text).await?;
                let params = postgres_params(&self.params);
                client.run(connection.execute(&statement, &params)).await
            }
        }
    }

    /// Runs the statement at the end of the transaction: PostgreSQL gets it together with COMMIT. No later statement of the
    /// transaction may depend on it.
    pub async fn execute_at_commit(self, tx: &mut Tx) -> Result<()> {
        if let TxConnection::Postgres(client) = &mut tx.connection {
            return client.defer(self.text, self.params).await;
        }
        self.execute(tx).await.map(drop)
    }

    /// Runs the statement once per row of parameters, which follow those already bound, and returns the first result of each.
    /// PostgreSQL gets all of them in one pipeline.
    pub async fn fetch_optional_each<T>(
        self,
        tx: &mut Tx,
        rows: Vec<Vec<Param>>,
        read: impl Fn(&mut Cells<'_>) -> Result<T>,
    ) -> Result<Vec<Option<T>>> {
        let found = self.fetch_all_each(tx, rows, read).await?;
        Ok(found.into_iter().map(|rows| rows.into_iter().next()).collect())
    }

    /// Runs the statement once for each row of parameters and returns all results of each; see [`Statement::fetch_optional_each`].
    pub async fn fetch_all_each<T>(
        self,
        tx: &mut Tx,
        rows: Vec<Vec<Param>>,
        read: impl Fn(&mut Cells<'_>) -> Result<T>,
    ) -> Result<Vec<Vec<T>>> {
        match &mut tx.connection {
            TxConnection::Sqlite(connection) => {
                let runs = rows.len();
                let new = || std::iter::repeat_with(Vec::new).take(runs).collect::<Vec<_>>();
                let push = |found: &mut Vec<Vec<T>>, run: usize, cells: &mut Cells<'_>| {
                    let value = read(cells)?;
                    found.get_mut(run).ok_or(Error::Missing)?.push(value);
                    Ok(())
                };
                fold_sqlite(connection, self, rows, new, push).await
            }
            TxConnection::Postgres(client) => {
                let connection = client.get()?;
                let statement = client.prepare_for_pipeline(self.text, rows.len()).await?;
                let (statement, fixed) = (&statement, &self.params);
                let runs = rows.iter().map(|row| async move {
                    let params = postgres_params(fixed.iter().chain(row));
                    connection.query(statement, &params).await
                });
                let results = client.run(try_join_all(runs)).await?;
                let cells = |row| Cells {
                    row: Row::Postgres(row),
                    at: 0,
                };
                results
                    .iter()
                    .map(|rows| rows.iter().map(|row| read(&mut cells(row))).collect())
                    .collect()
            }
        }
    }

    /// Runs the statement once per row of parameters, which follow those already bound, and returns the number of affected
    /// rows. PostgreSQL gets all of them in one pipeline.
    pub async fn execute_each(self, tx: &mut Tx, rows: Vec<Vec<Param>>) -> Result<u64> {
        match &mut tx.connection {
            TxConnection::Sqlite(connection) => {
                execute_rows(connection.get()?, self.text, &self.params, &rows)
            }
            TxConnection::Postgres(client) => {
                let connection = client.get()?;
                let statement = client.prepare_for_pipeline(self.text, rows.len()).await?;
                let (statement, fixed) = (&statement, &self.params);
                let runs = rows.iter().map(|row| async move {
                    let params = postgres_params(fixed.iter().chain(row));
                    connection.execute(statement, &params).await
                });
                Ok(client.run(try_join_all(runs)).await?.into_iter().sum())
            }
        }
    }

    /// Inserts many rows in the order of their primary key into a table without another index; see
    /// [`Statement::execute_each`]. SQLite gets several rows per statement. Rows in another order would take longer that way: a
    /// statement of several rows keeps the former content of each page that it changes.
    pub async fn execute_each_in_key_order(self, tx: &mut Tx, rows: Vec<Vec<Param>>) -> Result<u64> {
        if let TxConnection::Sqlite(connection) = &tx.connection
            && let Some(text) = multi_row_insert::build(self.text, self.params.len(), &rows)
        {
            let connection = connection.get()?;
            let (together, rest) = rows.split_at(rows.len() - rows.len() % multi_row_insert::ROWS);
            let touched = execute_multi_row(connection, &text, &self.params, together)?;
            return Ok(touched + execute_rows(connection, self.text, &self.params, rest)?);
        }
        self.execute_each(tx, rows).await
    }
}

/// Logs the text of a statement that is run, for those who look for slow ones. Values are not logged.
pub(crate) fn log(text: &str) {
    tracing::trace!(text, "statement");
}

/// Reads the rows of each run into what `new` makes. A reader that needs longer than a moment begins again elsewhere.
async fn fold_sqlite<S>(
    connection: &mut PooledConnection,
    statement: Statement,
    runs: Vec<Vec<Param>>,
    new: impl Fn() -> S,
    mut read: impl FnMut(&mut S, usize, &mut Cells<'_>) -> Result<()>,
) -> Result<S> {
    log(statement.text);
    let mut visit_all = |connection: &rusqlite::Connection| {
        let mut state = new();
        visit_rows(connection, &statement, &runs, |run, row| {
            let mut cells = Cells {
                row: Row::Sqlite(row),
                at: 0,
            };
            read(&mut state, run, &mut cells)
        })?;
        Ok(state)
    };
    if !connection.is_bounded() {
        return visit_all(connection.get()?);
    }
    if let Some(state) = connection.run_briefly(visit_all)? {
        return Ok(state);
    }
    let mut state = new();
    run_elsewhere(connection, statement, runs, |run, cells| {
        read(&mut state, run, cells)
    })
    .await?;
    Ok(state)
}

/// Runs a statement in one of the places of long reads. Statements on the data of a project bind the project first.
async fn run_elsewhere(
    connection: &mut PooledConnection,
    statement: Statement,
    runs: Vec<Vec<Param>>,
    mut read: impl FnMut(usize, &mut Cells<'_>) -> Result<()>,
) -> Result<()> {
    let owner = match statement.params.first() {
        Some(Param::Uuid(id)) => Some(*id),
        _ => None,
    };
    connection
        .run_elsewhere(
            owner,
            move |connection, sender| {
                visit_rows(connection, &statement, &runs, |run, row| sender.send(run, row))
            },
            |row| {
                let mut cells = Cells {
                    row: Row::Owned(&row),
                    at: 0,
                };
                read(row.run, &mut cells)
            },
        )
        .await
}

/// Runs a statement once for each row of parameters, and visits the results with the number of the run.
fn visit_rows(
    connection: &rusqlite::Connection,
    statement: &Statement,
    runs: &[Vec<Param>],
    mut visit: impl FnMut(usize, &rusqlite::Row<'_>) -> Result<()>,
) -> Result<()> {
    let mut prepared = connection.prepare_cached(statement.text)?;
    bind_sqlite(&mut prepared, &statement.params)?;
    let indexes = row_indexes(&prepared, &statement.params, runs)?;
    for (run, params) in runs.iter().enumerate() {
        bind_row(&mut prepared, &indexes, params.iter())?;
        let mut rows = prepared.raw_query();
        while let Some(row) = rows.next()? {
            visit(run, row)?;
        }
    }
    Ok(())
}

fn execute_rows(
    connection: &rusqlite::Connection,
    text: &str,
    fixed: &[Param],
    rows: &[Vec<Param>],
) -> Result<u64> {
    log(text);
    let mut statement = connection.prepare_cached(text)?;
    bind_sqlite(&mut statement, fixed)?;
    let indexes = row_indexes(&statement, fixed, rows)?;
    execute(&mut statement, &indexes, rows.iter().map(|row| row.iter()))
}

/// Runs a text of [`multi_row_insert::build`], whose parameters are numbered.
fn execute_multi_row(
    connection: &rusqlite::Connection,
    text: &str,
    fixed: &[Param],
    rows: &[Vec<Param>],
) -> Result<u64> {
    let mut statement = connection.prepare_cached(text)?;
    let indexes: Vec<usize> = (1..=statement.parameter_count()).collect();
    let (of_fixed, of_rows) = indexes.split_at(fixed.len());
    bind_row(&mut statement, of_fixed, fixed.iter())?;
    let portions = rows.chunks(multi_row_insert::ROWS);
    execute(
        &mut statement,
        of_rows,
        portions.map(|portion| portion.iter().flatten()),
    )
}

fn execute<'p>(
    statement: &mut rusqlite::Statement<'_>,
    indexes: &[usize],
    runs: impl Iterator<Item = impl Iterator<Item = &'p Param>>,
) -> Result<u64> {
    let mut touched = 0;
    for params in runs {
        bind_row(statement, indexes, params)?;
        touched += statement.raw_execute()? as u64;
    }
    Ok(touched)
}

/// Indexes of the parameters of a row. Names are looked up once, and the parameters before them stay bound
/// from row to row.
fn row_indexes(
    statement: &rusqlite::Statement<'_>,
    fixed: &[Param],
    rows: &[Vec<Param>],
) -> Result<Vec<usize>> {
    let width = rows.first().map_or(0, Vec::len);
    (0..width)
        .map(|i| parameter_index(statement, fixed.len() + i))
        .collect()
}

fn bind_row<'p>(
    statement: &mut rusqlite::Statement<'_>,
    indexes: &[usize],
    mut row: impl Iterator<Item = &'p Param>,
) -> Result<()> {
    let uneven = || Error::Defect("rows of different lengths".to_owned());
    for index in indexes {
        statement.raw_bind_parameter(*index, row.next().ok_or_else(uneven)?)?;
    }
    match row.next() {
        Some(_) => Err(uneven()),
        None => Ok(()),
    }
}

fn bind_sqlite(statement: &mut rusqlite::Statement<'_>, params: &[Param]) -> Result<()> {
    for (i, param) in params.iter().enumerate() {
        let index = parameter_index(statement, i)?;
        statement.raw_bind_parameter(index, param)?;
    }
    Ok(())
}

/// Index of the parameter `$(i + 1)`. To SQLite it is a name, numbered by its first appearance, and so looked up.
fn parameter_index(statement: &rusqlite::Statement<'_>, i: usize) -> Result<usize> {
    const NAMES: [&str; 48] = [
        "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15",
        "$16", "$17", "$18", "$19", "$20", "$21", "$22", "$23", "$24", "$25", "$26", "$27", "$28", "$29",
        "$30", "$31", "$32", "$33", "$34", "$35", "$36", "$37", "$38", "$39", "$40", "$41", "$42", "$43",
        "$44", "$45", "$46", "$47", "$48",
    ];
    let name = NAMES
        .get(i)
        .ok_or_else(|| Error::Defect("more than 48 parameters".to_owned()))?;
    statement
        .parameter_index(name)?
        .ok_or_else(|| Error::Defect(format!("the text has no {name}")))
}
