//! Tokenization of HTML for reading only (the HTML standard, 13.2.5).
//!
//! Written here because parsing pages is most of the computation of a crawl: with this tokenizer, all facts of a page
//! take about as long as a bare pass of `lol_html` (`examples/read_page.rs` prints both figures).

pub(crate) mod attributes;
pub(crate) mod entities;
pub(crate) mod inline_style;
pub(crate) mod raw_text;
pub(crate) mod source_lines;
pub(crate) mod tag_lexer;
pub(crate) mod tags;
pub(crate) mod tokenizer;
