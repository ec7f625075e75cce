//! A handler per operation of the table, one file per resource.

mod activity;
pub(crate) mod audits;
mod brand;
mod competitors;
mod ctas;
mod diffs;
mod events;
mod faqs;
mod integrations;
mod issues;
mod items;
mod jobs;
mod keyword_generation;
pub(crate) mod keyword_import;
mod keyword_metrics;
pub(crate) mod keywords;
mod me;
mod occurrences;
mod page_details;
mod pages;
mod post_generation;
mod posts;
mod products;
mod projects;
pub(crate) mod publishing;
mod rechecks;
mod usage;
mod webhooks;

/// The wire form of a word of the crawler, which knows no contract.
pub(crate) fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
