//! Audits: crawl a website, evaluate its pages, store the findings and reconcile them with what was known.
//!
//! 1. `audit` crawls and stores pages in batches, under the lease of its job; a crash loses the batches under way.
//! 2. `annotate` adds to the crawl what only the database knows: brand, keywords, earlier audits.
//! 3. `analysis` evaluates every stored page with every check and writes findings, links and page rows.
//! 4. `analysis::reconcile` opens, resolves and reopens occurrences, and `rescore` computes the health score.
//! 5. `recheck` fetches pages again on which a fix was claimed, and evaluates them as the audit did.

mod analysis;
pub(crate) mod audit;
mod failure;
mod impact;
pub(crate) mod recheck;
pub(crate) mod rescore;
mod settings;
mod vitals;

pub(crate) use failure::AuditFailure;
pub use rescore::wake_ignored;
pub use settings::{CrawlSettings, TOKEN};
