//! Times of schedules, and the rules by which the autopilot decides. Pure functions.

pub mod choice;
pub mod conditions;
pub mod limits;
pub mod months;
pub mod slots;
pub mod ticks;
