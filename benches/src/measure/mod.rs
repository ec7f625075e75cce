//! The measurements: each prepares both sides, lets them run in turn and reports its figures.

pub mod crawl;
pub mod http;
pub mod keywords;
pub mod startup;
