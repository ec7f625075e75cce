//! Writing: what can be said about a text, and done to it, without asking anybody.
//!
//! Pure functions over plain values: no database, no network, no clock. The structure of a text is read
//! from its sanitised HTML, so Markdown with raw HTML in it and posts kept as HTML are judged alike.

pub mod assessment;
mod attributions;
pub mod brief;
pub mod content_checks;
mod dates;
pub mod document;
pub mod facts;
pub mod from_html;
mod guard;
mod html;
pub mod internal_links;
pub mod known_links;
pub mod losses;
pub mod markdown;
mod numbers;
pub mod phrases;
pub mod readability;
pub mod review;
pub mod rivals;
pub mod sanitise;
pub mod sensitive_topics;
pub mod similarity;
pub mod slug;
pub mod structured_data;
pub mod transitions;
