//! Stored crawls of audits: their batches, texts and links, what a later crawl or a recheck takes from them, and what changed
//! between two of them.

pub mod annotate;
pub mod change_counts;
mod changes;
pub mod dependency_check;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
pub mod ids;
pub mod page_links;
pub mod page_texts;
pub mod pipeline;
pub mod resumed;
pub mod sorted_spill;
pub mod stored_batch;
pub mod url_order;
pub mod validators;

pub use changes::merged;
