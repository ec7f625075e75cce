//! Visibility of the brand in answers: analysis of answers, and the figures over them. The rules are in the crate `visibility`.

mod analysis;
mod days;
pub mod engines;
pub mod overview;
mod period;
pub mod reanalysis;
pub mod recording;
pub mod reports;
mod setup;
mod tracked_brands;

pub use days::{ProjectDays, parse_day};
pub use tracked_brands::TrackedBrands;
