//! Storage on embedded SQLite or on PostgreSQL, behind one interface.
//!
//! [`Db`] hands out [`Tx`]; the functions of the other modules take one. SQL is one `&'static str` for both
//! databases, parameters are always bound. Functions on project data take an [`access::ProjectScope`],
//! which only the database can create, so that code without an access check does not compile.

pub mod access;
pub mod account_activity;
pub mod activity;
pub mod admin;
pub mod agent_autonomy;
pub mod answer_cells;
pub mod answer_overrides;
pub mod answer_runs;
pub mod answers;
pub mod approvals;
pub mod audit_settings;
pub mod audits;
pub mod autopilot;
pub mod autopilot_runs;
pub mod brand;
pub mod connect_links;
pub mod connection_steps;
pub mod crawls;
mod db;
pub mod deliveries;
pub mod engine_activity;
mod error;
pub mod events;
pub mod idempotency;
pub mod integrations;
pub mod invitations;
pub mod issues;
pub mod jobs;
pub mod keywords;
mod ledger;
mod migrations;
pub mod names;
pub mod oauth_apps;
pub mod oauth_clients;
pub mod oauth_devices;
pub mod oauth_grants;
pub mod oauth_requests;
pub mod oauth_tokens;
pub mod occurrences;
pub mod page_links;
pub mod page_names;
pub mod pages;
pub mod passkeys;
mod postgres;
pub mod posts;
pub mod projects;
pub mod prompts;
pub mod providers;
pub mod publications;
pub mod rate_limits;
pub mod rechecks;
pub mod reports;
pub mod schedules;
pub mod seal;
pub mod second_factors;
pub mod sessions;
pub mod sign_in;
pub mod snapshots;
mod sqlite;
mod statement;
pub mod suggestions;
mod transaction;
pub mod usage;
pub mod users;
mod value;
pub mod webhooks;
pub mod workspaces;

pub use db::{Db, Settings};
pub use error::{Error, Result};
pub use statement::{Cells, sql};
pub use transaction::{BoxFuture, Tx};
pub use value::{Column, Json, Param};
