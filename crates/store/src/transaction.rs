//! A transaction, or a connection to read from, on either database.

use std::pin::Pin;

use crate::{postgres::Client, sqlite::connection::PooledConnection};

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
}
