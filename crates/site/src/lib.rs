//! Crawls websites and reports what is wrong with them.
//!
//! The crate knows neither database nor API contract: it takes a [`fetch::Fetch`] and a [`crawl::Sink`], yields page
//! facts, and evaluates checks as pure functions over [`page::PageFacts`] and a [`graph::SiteGraph`] of the crawl.

pub mod checks;
pub mod crawl;
pub mod dates;
pub mod fetch;
pub mod frontier;
pub mod graph;
mod html;
mod http_status;
mod json;
mod json_ld;
mod leb128;
pub mod origin;
pub mod page;
mod private_network;
pub mod published_page;
pub mod resources;
pub mod robots;
pub mod score;
pub mod sitemap;
pub mod thresholds;
pub mod url_key;
pub mod urls;
pub mod vitals;
mod vocabulary;
pub mod well_known;
