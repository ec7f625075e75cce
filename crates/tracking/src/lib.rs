//! Visibility of the brand in answers: analysis of answers, and the figures over them. The rules are in the crate `visibility`.

mod analysis;
mod days;
pub mod disputes;
pub mod engine_status;
pub mod engines;
mod facts;
mod mention_changes;
pub mod names;
mod next_steps;
pub mod opportunities;
pub mod overview;
mod page_citations;
mod period;
pub mod prompt_ideas;
pub mod reanalysis;
pub mod recording;
pub mod reports;
mod run_budget;
mod run_figures;
mod run_plan;
mod setup;
mod stored_cells;
mod tracked_brands;

pub use days::{ProjectDays, parse_day};
pub use mention_changes::mention_change;
pub use page_citations::{OwnCitations, PageCitations};
pub use run_budget::RunBudget;
pub use run_figures::RunMentions;
pub use run_plan::{MAX_ANSWERS, RunPlan, is_for, require_active};
pub use tracked_brands::{OWN, TrackedBrands};
