//! stub

pub mod providers;
