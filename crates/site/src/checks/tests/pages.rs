//! Checks that examine one page: its HTML with the problem, and without.

mod answers;
mod body;
mod head;
mod mended;
mod microdata;
mod misjudged;

use super::{Case, World};

const LOREM: &str = "Some words about mowers and how they are repaired by people who know them well.";

fn page(id: &'static str, bad: &str, good: &str) -> Case {
    Case {
        id,
        bad: World::new().page("/p", bad),
        good: World::new().page("/p", good),
    }
}

/// Case of one page under two URLs.
fn address(id: &'static str, bad: &str, good: &str) -> Case {
    let html = "<html lang=en><p>x";
    Case {
        id,
        bad: World::new().page(bad, html),
        good: World::new().page(good, html),
    }
}

fn headers(
    id: &'static str,
    bad: &[(&'static str, &str)],
    good: &[(&'static str, &str)],
    body: &str,
) -> Case {
    let world = |headers: &[(&'static str, &str)]| {
        let headers = [&[("content-type", "text/html; charset=utf-8")], headers].concat();
        World::new().answer("/p", 200, &headers, body)
    };
    Case {
        id,
        bad: world(bad),
        good: world(good),
    }
}

fn words(count: usize) -> String {
    ["mower "].repeat(count).concat()
}

fn json_ld(json: &str) -> String {
    format!("<script type=application/ld+json>{json}</script>")
}

pub(super) fn cases() -> Vec<Case> {
    [
        head::texts(),
        head::heads(),
        body::bodies(),
        body::markup(),
        body::required(),
        answers::addresses(),
        answers::answers(),
        mended::mended(),
        misjudged::cases(),
        microdata::required(),
        microdata::others(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
