//! Vendors against a server of the tests: what they are sent, and what is made of answers that are whole,
//! refused, stalled, cut or lies.

mod accounts;
mod dataforseo;
mod google;
mod models;
pub(crate) mod server;
mod streaming;
