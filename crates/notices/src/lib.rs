//! Notices: which events need a person, how they are told, and when. Pure functions.

pub mod digest;
pub mod facts;
pub mod kinds;
pub mod render;
pub mod rules;
pub mod timing;
pub mod unsubscribe;
pub mod wording;
