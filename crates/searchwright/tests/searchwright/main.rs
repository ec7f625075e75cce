//! The program as people and scripts start it: what comes out where, and with which exit code.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod program;

mod access_logs;
mod admin;
mod audit;
mod backups;
mod calls;
mod configuration;
mod forms;
mod help;
mod json_answers;
mod keyed;
mod login;
mod logs;
mod manual;
mod posts;
mod profiles;
mod providers;
mod secrets;
mod serving;
mod stdio;
mod taken_along;
mod terminal;
mod visibility;
mod webhooks;
