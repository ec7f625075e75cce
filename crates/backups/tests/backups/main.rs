//! Projects in files and whole databases, from SQLite and PostgreSQL to either.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod harness;
mod moving;
mod projects;
mod unfinished_imports;
