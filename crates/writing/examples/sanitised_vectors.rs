//! Prints what is left of every vector of the sanitiser's tests, and what it would be without: one JSON object a line.
//!
//! For `cargo xtask peers browser`, which shows both to a browser.
#![expect(clippy::print_stdout, reason = "what it prints is read by another program")]

use std::collections::BTreeSet;

use pulldown_cmark::{Options, Parser, html::push_html};
use searchwright_writing::{
    markdown::to_html,
    sanitise::{LinkPolicy, sanitise},
};
use serde_json::json;

#[path = "../src/testdata/vectors.rs"]
mod testdata;

/// Texts put together at random beside the vectors.
const MADE_UP: u32 = 300;

fn main() {
    for vector in testdata::vectors() {
        let mut rendered = String::new();
        push_html(&mut rendered, Parser::new_ext(&vector, Options::all()));
        let between = format!("before\n\n{vector}\n\n*after* <b>x</b>");
        let raw = BTreeSet::from([vector.clone(), rendered]);
        let mut clean = clean(&vector);
        clean.extend(to_html(&between, &LinkPolicy::default()));
        println!("{}", json!({ "vector": vector, "raw": raw, "clean": clean }));
    }
    // Numerical Recipes' generator: the same texts in every run
    let mut state = 1_u32;
    for _ in 0..MADE_UP {
        let text: String = (0..25)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                testdata::TOKENS[(state >> 16) as usize % testdata::TOKENS.len()]
            })
            .collect();
        println!("{}", json!({ "vector": text, "raw": [], "clean": clean(&text) }));
    }
}

/// As HTML and as Markdown; what is refused is shown to nobody.
fn clean(text: &str) -> BTreeSet<String> {
    let links = LinkPolicy::default();
    [sanitise(text, &links), to_html(text, &links)]
        .into_iter()
        .flatten()
        .collect()
}
