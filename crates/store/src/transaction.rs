//! A transaction, or a connection to read from, on either database.

use std::pin::Pin;

use crate::{Param, Result, postgres::Client, sql, sqlite::connection::PooledConnection};

/// A future that borrows its transaction.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A transaction, or a connection to read from.
#[derive(Debug)]
pub struct Tx {
    pub(crate) connection: TxConnection,
}

#[derive(Debug)]
pub(crate) enum TxConnection {
    Sqlite(PooledConnection),
    Postgres(Client),
}

impl Tx {
    /// Whether this is PostgreSQL, for the few statements that the two databases spell differently.
    pub(crate) const fn is_postgres(&self) -> bool {
        matches!(self.connection, TxConnection::Postgres(_))
    }

    /// Runs a `SELECT … FOR …` of one row by its id, which keeps the row locked until the transaction ends. Does nothing on
    /// SQLite, which has one writer.
    pub(crate) async fn lock_row(&mut self, text: &'static str, id: impl Into<Param>) -> Result<()> {
        if self.is_postgres() {
            sql(text).bind(id).for_each(self, |_| Ok(())).await?;
        }
        Ok(())
    }
}
