//! Checks that compare pages, or follow links and redirects.

mod canonicals;
mod links;
mod paths;

use super::{Case, World};

const TEXT: &str = "<p>One text that stands on two pages.";

fn canonical(target: &str) -> String {
    format!("<link rel=canonical href={target}>")
}

fn to(id: &'static str, body: &str, bad: fn(World) -> World, good: fn(World) -> World) -> Case {
    let world = || World::new().page("/p", body);
    Case {
        id,
        bad: bad(world()),
        good: good(world()),
    }
}

pub(super) fn cases() -> Vec<Case> {
    [
        links::duplicates(),
        links::links(),
        links::external_links(),
        canonicals::canonicals(),
        canonicals::alternates(),
        paths::redirects(),
        paths::sitemaps(),
        paths::robots(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
