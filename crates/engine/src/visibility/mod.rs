//! Visibility of the brand in answers: analysis of answers, and the figures over them. The rules are in the crate `visibility`.

mod analysis;
mod days;
pub(crate) mod overview;
pub(crate) mod reanalysis;
pub(crate) mod recording;
mod setup;
mod tracked_brands;

pub(crate) use days::{ProjectDays, parse_day};
pub(crate) use tracked_brands::TrackedBrands;
