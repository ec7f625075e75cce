//! Times of schedules, and the rules by which the autopilot decides. Pure functions.

pub mod slots;
pub mod ticks;
