//! Every operation as a command: built from the contract table, carried out over HTTP.
//!
//! Data goes to stdout, everything else to stderr; [`exit`] documents the exit codes.

pub mod dashboard;
pub mod exit;
pub mod export;
pub mod follow;
pub mod json_text;
pub mod login;
pub mod logs;
pub mod mcp_install;
pub mod output;
mod overview;
pub mod profile;
mod proof;
pub mod stdio;
pub mod verbs;
pub mod watch;

pub use exit::{CliError, Exit};
pub use searchwright_client::Client;
