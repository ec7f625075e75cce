//! The doors: HTTP, MCP, health, and the process around them.
//!
//! Knows no SQL. Every door verifies a credential, gathers arguments, and calls
//! [`searchwright_engine::Engine::invoke`] with an endpoint of the contract table.

pub mod app;
pub mod backups;
pub mod config;
mod dashboard;
pub mod doctor;
pub mod http;
mod listen;
pub mod logs;
pub mod manual;
pub mod mcp;
pub mod metrics;
pub mod notices;
mod oauth;
pub mod open;
pub mod sample;
pub mod serve;

pub use config::Settings;
pub use searchwright_engine::admin;
pub use searchwright_people as people;
