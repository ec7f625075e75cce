//! The crawler against sites that exist in memory or on loopback.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod crawl;
mod fake;
mod partial_recrawl;
mod previous_crawl;
mod resources;
mod resume;
mod single;
