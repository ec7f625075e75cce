//! The measurements: each prepares both sides, lets them run in turn and reports its figures.

pub mod crawl;
pub mod http;
pub mod isolation;
mod keyword_generation;
pub mod keywords;
pub mod large_site;
pub mod mixed;
pub mod overload;
pub mod peers;
mod recheck;
pub mod soak;
pub mod startup;
pub mod visibility;
pub mod webhooks;
