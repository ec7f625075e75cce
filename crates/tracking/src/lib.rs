//! Visibility of the brand in answers: analysis of answers, and the figures over them. The rules are in the crate `visibility`.

mod analysis;
mod days;
pub mod engine_status;
pub mod engines;
mod next_steps;
pub mod opportunities;
pub mod overview;
pub mod reanalysis;
pub mod recording;
mod setup;
mod tracked_brands;

pub use days::{ProjectDays, parse_day};
pub use tracked_brands::TrackedBrands;
