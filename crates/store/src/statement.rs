//! One SQL text with its parameters. The branch between the two databases is here and nowhere else.

mod several;

use futures_util::future::try_join_all;
use tokio_postgres::types::ToSql;

use crate::{
    db::{On, Tx},
    error::{Error, Result},
    value::{Column, Param},
};

/// A statement to be run. See [`sql`].
#[must_use]
#[derive(Debug)]
pub struct Statement {
    text: &'static str,
    params: Vec<Param>,
}

/// Begins a statement. The text is the same for SQLite and PostgreSQL, with `$1`, `$2`, … for parameters.
pub fn sql(text: &'static str) -> Statement {
    Statement {
        text,
        params: Vec::new(),
    }
}

/// The columns of one row, taken in order.
#[derive(Debug)]
pub struct Cells<'a> {
    row: Row<'a>,
    at: usize,
}

#[derive(Debug)]
enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl Cells<'_> {
    /// The next column.
    pub fn take<T: Column>(&mut self) -> Result<T> {
        let index = self.at;
        self.at += 1;
        match self.row {
            Row::Sqlite(row) => T::from_sqlite(row.get_ref(index)?),
            Row::Postgres(row) => T::from_postgres(row, index),
        }
        .map_err(|e| Error::Column(index, e))
    }

    /// The next column, a word of a fixed set.
    pub fn word<T: std::str::FromStr<Err: ToString>>(&mut self) -> Result<T> {
        let index = self.at;
        let text: String = self.take()?;
        text.parse()
            .map_err(|e: T::Err| Error::Column(index, e.to_string()))
    }

    /// The next column, a word of a fixed set or NULL.
    pub fn word_or_null<T: std::str::FromStr<Err: ToString>>(&mut self) -> Result<Option<T>> {
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

    /// Every row.
    pub async fn all<T>(self, tx: &mut Tx, read: impl Fn(&mut Cells<'_>) -> Result<T>) -> Result<Vec<T>> {
        let mut out = Vec::new();
        self.each(tx, |cells| {
            out.push(read(cells)?);
            Ok(())
        })
        .await?;
        Ok(out)
    }

    /// The first row, if there is one.
    pub async fn optional<T>(
        self,
        tx: &mut Tx,
        read: impl Fn(&mut Cells<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut out = None;
        self.each(tx, |cells| {
            if out.is_none() {
                out = Some(read(cells)?);
            }
            Ok(())
        })
        .await?;
        Ok(out)
    }

    /// The first row; [`Error::Missing`] without one.
    pub async fn one<T>(self, tx: &mut Tx, read: impl Fn(&mut Cells<'_>) -> Result<T>) -> Result<T> {
        self.optional(tx, read).await?.ok_or(Error::Missing)
    }

    /// Calls back for each row.
    pub async fn each(self, tx: &mut Tx, mut read: impl FnMut(&mut Cells<'_>) -> Result<()>) -> Result<()> {
        match &mut tx.on {
            On::Sqlite(connection) => {
                let connection = connection.get()?;
                let mut statement = connection.prepare_cached(self.text)?;
                bind_sqlite(&mut statement, &self.params)?;
                let mut rows = statement.raw_query();
                while let Some(row) = rows.next()? {
                    read(&mut Cells {
                        row: Row::Sqlite(row),
                        at: 0,
                    })?;
                }
            }
            On::Postgres(client) => {
                let connection = client.get()?;
                let statement = client.prepare(self.text).await?;
                let params = refs(&self.params);
                for row in client.run(connection.query(&statement, &params)).await? {
                    read(&mut Cells {
                        row: Row::Postgres(&row),
                        at: 0,
                    })?;
                }
            }
        }
        Ok(())
    }

    /// Runs it for its effect; the number of rows it touched.
    pub async fn run(self, tx: &mut Tx) -> Result<u64> {
        match &mut tx.on {
            On::Sqlite(connection) => {
                let mut statement = connection.get()?.prepare_cached(self.text)?;
                bind_sqlite(&mut statement, &self.params)?;
                Ok(statement.raw_execute()? as u64)
            }
            On::Postgres(client) => {
                let connection = client.get()?;
                let statement = client.prepare(self.text).await?;
                let params = refs(&self.params);
                client.run(connection.execute(&statement, &params)).await
            }
        }
    }

    /// Runs it for its effect at the end of a transaction that commits: PostgreSQL gets it together with COMMIT.
    /// For what no later statement of the transaction looks at.
    pub async fn run_last(self, tx: &mut Tx) -> Result<()> {
        if let On::Postgres(client) = &mut tx.on {
            return client.run_last(self.text, self.params).await;
        }
        self.run(tx).await.map(drop)
    }

    /// The first row, if there is one, for each row of parameters (which follow those already bound);
    /// PostgreSQL gets them in one pipeline.
    pub async fn optional_each<T>(
        self,
        tx: &mut Tx,
        rows: Vec<Vec<Param>>,
        read: impl Fn(&mut Cells<'_>) -> Result<T>,
    ) -> Result<Vec<Option<T>>> {
        let found = self.all_each(tx, rows, read).await?;
        Ok(found.into_iter().map(|rows| rows.into_iter().next()).collect())
    }

    /// Every row for each row of parameters (which follow those already bound); PostgreSQL gets them in one pipeline.
    pub async fn all_each<T>(
        self,
        tx: &mut Tx,
        rows: Vec<Vec<Param>>,
        read: impl Fn(&mut Cells<'_>) -> Result<T>,
    ) -> Result<Vec<Vec<T>>> {
        match &mut tx.on {
            On::Sqlite(connection) => {
                let mut statement = connection.get()?.prepare_cached(self.text)?;
                bind_sqlite(&mut statement, &self.params)?;
                let places = places(&statement, &self.params, &rows)?;
                let mut found = Vec::with_capacity(rows.len());
                for params in &rows {
                    bind_row(&mut statement, &places, params.iter())?;
                    let (mut answers, mut of) = (statement.raw_query(), Vec::new());
                    while let Some(row) = answers.next()? {
                        of.push(read(&mut Cells {
                            row: Row::Sqlite(row),
                            at: 0,
                        })?);
                    }
                    found.push(of);
                }
                Ok(found)
            }
            On::Postgres(client) => {
                let connection = client.get()?;
                let statement = client.prepare_for(self.text, rows.len()).await?;
                let (statement, fixed) = (&statement, &self.params);
                let runs = rows.iter().map(|row| async move {
                    let params = refs(fixed.iter().chain(row));
                    connection.query(statement, &params).await
                });
                let answers = client.run(try_join_all(runs)).await?;
                let cells = |row| Cells {
                    row: Row::Postgres(row),
                    at: 0,
                };
                answers
                    .iter()
                    .map(|rows| rows.iter().map(|row| read(&mut cells(row))).collect())
                    .collect()
            }
        }
    }

    /// Runs the same text once per row of parameters (which follow those already bound); PostgreSQL
    /// gets them in one pipeline.
    pub async fn run_each(self, tx: &mut Tx, rows: Vec<Vec<Param>>) -> Result<u64> {
        match &mut tx.on {
            On::Sqlite(connection) => run_rows(connection.get()?, self.text, &self.params, &rows),
            On::Postgres(client) => {
                let connection = client.get()?;
                let statement = client.prepare_for(self.text, rows.len()).await?;
                let (statement, fixed) = (&statement, &self.params);
                let runs = rows.iter().map(|row| async move {
                    let params = refs(fixed.iter().chain(row));
                    connection.execute(statement, &params).await
                });
                Ok(client.run(try_join_all(runs)).await?.into_iter().sum())
            }
        }
    }

    /// The same for an insert of many rows in the order of their key into a table whose indexes leave them out: SQLite gets
    /// several at once. Where rows go to many places it would take longer, as it keeps what each of its pages was.
    pub async fn run_each_in_order(self, tx: &mut Tx, rows: Vec<Vec<Param>>) -> Result<u64> {
        if let On::Sqlite(connection) = &tx.on
            && let Some(text) = several::insert(self.text, self.params.len(), &rows)
        {
            let connection = connection.get()?;
            let (together, rest) = rows.split_at(rows.len() - rows.len() % several::ROWS);
            let touched = run_several(connection, &text, &self.params, together)?;
            return Ok(touched + run_rows(connection, self.text, &self.params, rest)?);
        }
        self.run_each(tx, rows).await
    }
}

pub(crate) fn refs<'p>(params: impl IntoIterator<Item = &'p Param>) -> Vec<&'p (dyn ToSql + Sync)> {
    params.into_iter().map(|p| p as &(dyn ToSql + Sync)).collect()
}

fn run_rows(
    connection: &rusqlite::Connection,
    text: &str,
    fixed: &[Param],
    rows: &[Vec<Param>],
) -> Result<u64> {
    let mut statement = connection.prepare_cached(text)?;
    bind_sqlite(&mut statement, fixed)?;
    let places = places(&statement, fixed, rows)?;
    execute(&mut statement, &places, rows.iter().map(|row| row.iter()))
}

/// Runs a text that [`several::insert`] made, whose parameters are numbered.
fn run_several(
    connection: &rusqlite::Connection,
    text: &str,
    fixed: &[Param],
    rows: &[Vec<Param>],
) -> Result<u64> {
    let mut statement = connection.prepare_cached(text)?;
    let places: Vec<usize> = (1..=statement.parameter_count()).collect();
    let (of_fixed, of_rows) = places.split_at(fixed.len());
    bind_row(&mut statement, of_fixed, fixed.iter())?;
    let portions = rows.chunks(several::ROWS);
    execute(
        &mut statement,
        of_rows,
        portions.map(|portion| portion.iter().flatten()),
    )
}

fn execute<'p>(
    statement: &mut rusqlite::Statement<'_>,
    places: &[usize],
    runs: impl Iterator<Item = impl Iterator<Item = &'p Param>>,
) -> Result<u64> {
    let mut touched = 0;
    for params in runs {
        bind_row(statement, places, params)?;
        touched += statement.raw_execute()? as u64;
    }
    Ok(touched)
}

/// Where the parameters of each row go. What is bound before stays bound from row to row, and names are
/// looked up once.
fn places(statement: &rusqlite::Statement<'_>, fixed: &[Param], rows: &[Vec<Param>]) -> Result<Vec<usize>> {
    let width = rows.first().map_or(0, Vec::len);
    (0..width).map(|i| place(statement, fixed.len() + i)).collect()
}

fn bind_row<'p>(
    statement: &mut rusqlite::Statement<'_>,
    places: &[usize],
    mut row: impl Iterator<Item = &'p Param>,
) -> Result<()> {
    let uneven = || Error::Defect("rows of different lengths".to_owned());
    for place in places {
        statement.raw_bind_parameter(*place, row.next().ok_or_else(uneven)?)?;
    }
    match row.next() {
        Some(_) => Err(uneven()),
        None => Ok(()),
    }
}

fn bind_sqlite(statement: &mut rusqlite::Statement<'_>, params: &[Param]) -> Result<()> {
    for (i, param) in params.iter().enumerate() {
        let place = place(statement, i)?;
        statement.raw_bind_parameter(place, param)?;
    }
    Ok(())
}

/// `$2` is a name to SQLite, numbered by where it first appears: bind by name.
fn place(statement: &rusqlite::Statement<'_>, i: usize) -> Result<usize> {
    const NAMES: [&str; 32] = [
        "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15",
        "$16", "$17", "$18", "$19", "$20", "$21", "$22", "$23", "$24", "$25", "$26", "$27", "$28", "$29",
        "$30", "$31", "$32",
    ];
    let name = NAMES
        .get(i)
        .ok_or_else(|| Error::Defect("more than 32 parameters".to_owned()))?;
    statement
        .parameter_index(name)?
        .ok_or_else(|| Error::Defect(format!("the text has no {name}")))
}
