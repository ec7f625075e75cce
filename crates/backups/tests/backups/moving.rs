//! A whole database in another.

use std::collections::BTreeSet;

use searchwright_backups::{TransferError, move_all};
use searchwright_store::{
    sql,
    transfer::{ColumnKind, tables},
};

use crate::harness::{Kind, run};

#[test]
fn everything_moves_to_an_empty_database() {
    run(&[Kind::Postgres], async |bench| {
        let (source, target) = (
            bench.filled(Kind::Sqlite).await,
            bench.empty(Kind::Postgres).await,
        );
        let done = move_all(&source, &target).await.unwrap();
        let not_moved: BTreeSet<&str> = ["rate_limits"].into();
        let moved: BTreeSet<&str> = done.rows.keys().map(String::as_str).collect();
        let all: BTreeSet<&str> = tables().iter().map(|table| table.name).collect();
        assert_eq!(moved, &all - &not_moved);
        let hooks = sql("SELECT count(*) FROM webhook_secrets s JOIN webhooks w ON w.project_id = s.project_id AND w.id = s.webhook_id")
            .fetch_one(&mut target.read().await.unwrap(), |c| c.take::<i64>())
            .await
            .unwrap();
        assert_eq!(hooks, 6);
        assert!(matches!(
            move_all(&source, &target).await,
            Err(TransferError::NotEmpty)
        ));
    });
}

/// The names and types that rows are copied by are those of the database.
#[test]
fn tables_are_those_of_postgres() {
    run(&[Kind::Postgres], async |bench| {
        let db = bench.empty(Kind::Postgres).await;
        let found = sql(
            "SELECT table_name::text, column_name::text, data_type::text FROM information_schema.columns
             WHERE table_schema = 'public' AND table_name <> 'schema_migrations' ORDER BY table_name, ordinal_position",
        )
        .fetch_all(&mut db.read().await.unwrap(), |c| {
            Ok((c.take::<String>()?, c.take::<String>()?, c.take::<String>()?))
        })
        .await
        .unwrap();
        let kind = |kind| match kind {
            ColumnKind::Uuid => "uuid",
            ColumnKind::Text => "text",
            ColumnKind::Int => "bigint",
            ColumnKind::ShortInt => "integer",
            ColumnKind::Float => "double precision",
            ColumnKind::Bool => "boolean",
            ColumnKind::Time => "timestamp with time zone",
            ColumnKind::Json => "jsonb",
            ColumnKind::Bytes => "bytea",
        };
        let mut read: Vec<(String, String, String)> = tables()
            .iter()
            .flat_map(|table| {
                let column = |column: &searchwright_store::transfer::TableColumn| {
                    (
                        table.name.to_owned(),
                        column.name.clone(),
                        kind(column.kind).to_owned(),
                    )
                };
                table.columns.iter().map(column).collect::<Vec<_>>()
            })
            .collect();
        read.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(found, read);
    });
}

#[test]
fn tables_are_those_of_sqlite() {
    run(&[Kind::Sqlite], async |bench| {
        let db = bench.empty(Kind::Sqlite).await;
        let found = sql(
            "SELECT s.name, c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c
             WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite_%' AND s.name NOT LIKE 'keyword_trigrams%'
               AND s.name NOT IN ('schema_migrations', 'keyword_ranges', 'keyword_numbers')",
        )
        .fetch_all(&mut db.read().await.unwrap(), |c| {
            Ok((c.take::<String>()?, c.take::<String>()?))
        })
        .await
        .unwrap();
        let found: BTreeSet<_> = found.into_iter().collect();
        let read: BTreeSet<_> = tables()
            .iter()
            .flat_map(|table| {
                let names = table.columns.iter();
                names.map(|column| (table.name.to_owned(), column.name.clone()))
            })
            .collect();
        assert_eq!(found, read);
    });
}
