//! Writing: what can be said about a text, and done to it, without asking anybody.
//!
//! Pure functions over plain values: no database, no network, no clock. The structure of a text is read
//! from its sanitised HTML, so Markdown with raw HTML in it and posts kept as HTML are judged alike.

mod abbreviations;
mod dates;
pub mod document;
pub mod facts;
mod guard;
mod html;
pub mod markdown;
mod numbers;
pub mod readability;
pub mod sanitise;
pub mod sentences;
pub mod similarity;
pub mod slug;
pub mod structured_data;
mod syllables;
pub mod transitions;
