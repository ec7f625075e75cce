//! Copies every row of one database into another of the same schema.

use std::collections::BTreeMap;

use searchwright_store::{
    Db,
    transfer::{self, RowSet, tables},
};
use serde::Serialize;

use super::{RowReader, TransferError, rules::NOT_MOVED};

/// Outcome of a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MoveOutcome {
    /// Rows by table.
    pub rows: BTreeMap<String, u64>,
}

/// Copies everything into a PostgreSQL database, which has to be empty, in one transaction: all of it is there afterwards, or nothing.
pub async fn move_all(from: &Db, to: &Db) -> Result<MoveOutcome, TransferError> {
    let mut source = from.snapshot().await?;
    let rows = to
        .write(move |tx| {
            Box::pin(async move {
                if !transfer::is_empty(tx).await? {
                    return Err(TransferError::NotEmpty);
                }
                let mut rows = BTreeMap::new();
                for table in tables() {
                    if NOT_MOVED.contains(&table.name) {
                        continue;
                    }
                    let mut reader = RowReader::new(table, RowSet::All);
                    loop {
                        let read = reader.next(&mut source).await?;
                        if read.is_empty() {
                            break;
                        }
                        transfer::insert(tx, table, read).await?;
                    }
                    let wanted = transfer::count(&mut source, table, RowSet::All).await?;
                    let found = transfer::count(tx, table, RowSet::All).await?;
                    if found != wanted {
                        return Err(TransferError::Count {
                            table: table.name,
                            found,
                            wanted,
                        });
                    }
                    if found > 0 {
                        rows.insert(table.name.to_owned(), found);
                    }
                }
                Ok(rows)
            })
        })
        .await?;
    Ok(MoveOutcome { rows })
}
