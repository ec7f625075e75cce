//! The crawler against sites that exist in memory or on loopback.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod again;
mod crawl;
mod earlier;
mod fake;
mod resources;
mod resume;
mod single;
