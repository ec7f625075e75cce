//! Visibility of brands in the answers of assistants, and visits of their agents.
//!
//! Everything here is a function of its arguments: no input or output, no clock, no database. An answer is parsed once
//! ([`answer_text::AnswerText`]), brands are compiled once ([`brands::BrandMatcher`]), and the analysis of an answer is
//! reduced to counts ([`cells::Cell`]) that can be added up in any order. Methods carry a version, because their results
//! are stored. Lists of words lie in `data`, with their sources and licences in `data/NOTICE.md`.

pub mod access_logs;
pub mod agents;
pub mod answer_text;
pub mod brands;
pub mod cells;
pub mod citations;
mod contexts;
mod days;
pub mod disputes;
pub mod domains;
pub mod facts;
mod lists;
mod markdown;
pub mod mentions;
pub mod names;
pub mod near_names;
mod normal;
pub mod opportunities;
pub mod overview;
mod particles;
mod phrases;
pub mod prompt_ideas;
pub mod prompts;
pub mod refusal;
pub mod reports;
pub mod sentiment;
pub mod sources;
pub mod statistics;
