//! The store on SQLite and on PostgreSQL: every test runs on both, unless it says why not.
//!
//! PostgreSQL is the one that `SEARCHWRIGHT_TEST_POSTGRES` names (`cargo xtask test` starts one). Without
//! it that half is skipped, except in continuous integration, where it fails.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

#[macro_use]
mod harness;

mod access;
mod activity;
mod admin;
mod audits;
mod autopilot;
mod brand;
mod deliveries;
mod durability;
mod events;
mod fill;
mod idempotency;
mod issue_lists;
mod issues;
mod jobs;
mod keyword_search;
mod keyword_walks;
mod keywords;
mod ledger;
mod lifecycle;
mod long_reads;
mod migrations;
mod pages;
mod plans;
mod posts;
mod providers;
mod recorder;
mod seal;
mod statistics;
mod suggestions;
mod usage;
mod write;
