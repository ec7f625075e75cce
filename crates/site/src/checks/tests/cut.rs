//! Verdicts on incomplete pages, and on crawls that left something out.

use serde_json::json;

use super::{
    super::{FetchVerdict, Verdict, find},
    Case, World, cases, evidence,
};
use crate::fetch::Cut;

#[test]
fn nothing_is_missed_in_half_a_page() {
    for Case { id, bad, .. } in cases() {
        let check = find(id).unwrap_or_else(|| panic!("{id} is no check"));
        if check.needs_whole {
            let bad = bad.cut(Cut::Time);
            assert_eq!(evidence(&bad.findings(), id), None, "{id}");
            assert!(matches!(bad.recheck(check), Verdict::Absent), "{id}");
            assert_eq!(check.resolution(FetchVerdict::Beginning), None, "{id}");
        }
    }
    let found = World::new()
        .page("/p", "<p>x <a href=/>h</a>")
        .cut(Cut::Time)
        .findings();
    assert_eq!(
        evidence(&found, "http-no-response").unwrap()["errorKind"],
        "timeout"
    );
}

#[test]
fn absence_is_only_told_after_a_whole_crawl() {
    for id in [
        "orphan-page",
        "single-inlink",
        "not-in-sitemap",
        "canonical-isolated",
    ] {
        let case = cases().into_iter().find(|case| case.id == id).unwrap();
        assert_eq!(
            evidence(&case.bad.clone().incomplete().findings(), id),
            None,
            "{id}"
        );
        // nor if links of a page were not read
        let world = case.bad.page("/links", &links_to_others(10_001));
        assert_eq!(evidence(&world.findings(), id), None, "{id}");
    }
}

fn links_to_others(count: usize) -> String {
    let link = |i| format!("<a href=https://other.example/{i}>x</a>");
    (0..count).map(link).collect()
}

#[test]
fn links_that_were_left_out_are_said_to_be() {
    let of = |count, body: &str| {
        let world = World::new().page("/p", &(links_to_others(count) + body));
        world.findings()
    };
    let (all, some) = (of(9_999, ""), of(12_000, "<a href=/>Home page</a>"));
    assert_eq!(evidence(&all, "many-links"), Some(json!({"count": 9_999})));
    assert_eq!(
        evidence(&some, "many-links"),
        Some(json!({"count": 12_001, "linksRead": 10_000, "linksLeftOut": 2_001}))
    );
    assert!(evidence(&all, "dead-end-page").is_some());
    assert_eq!(evidence(&some, "dead-end-page"), None);
    let next = "<link rel=next href=/x>";
    assert!(evidence(&of(9_999, next), "pagination-not-linked").is_some());
    assert_eq!(evidence(&of(12_000, next), "pagination-not-linked"), None);
}

#[test]
fn truncated_counts_are_lower_bounds() {
    let page = || World::new().page("/p", &"x".repeat(3 << 20));
    let [whole, cut] = [page(), page().cut(Cut::Size)].map(|world| world.findings());
    let large = || World::new().page("/p", &"x".repeat(3 << 19));
    let large = [large(), large().cut(Cut::Size)].map(|world| evidence(&world.findings(), "html-large"));
    assert_eq!(
        large,
        [
            json!({"bytes": 3 << 19}),
            json!({"bytes": 3 << 19, "atLeast": true})
        ]
        .map(Some)
    );
    // one size is told once
    assert_eq!(evidence(&whole, "html-large"), None);
    for id in ["html-over-2mb", "no-compression"] {
        assert_eq!(evidence(&whole, id), Some(json!({"bytes": 3 << 20})), "{id}");
        let at_least = json!({"bytes": 3 << 20, "atLeast": true});
        assert_eq!(evidence(&cut, id), Some(at_least), "{id}");
    }
    let robots = |bytes| {
        let world = World::new().origin(|origin| origin.robots.bytes = bytes);
        evidence(&world.findings(), "robots-too-large").unwrap()
    };
    assert_eq!(robots(600_000), json!({"bytes": 600_000}));
    assert_eq!(robots(512_001), json!({"bytes": 512_001, "atLeast": true}));
    let sitemap = |error: Option<&str>| {
        let world = World::new().sitemap(&[]).origin(|origin| {
            let sitemap = &mut origin.sitemaps[0];
            (sitemap.urls, sitemap.bytes) = (50_001, 7);
            sitemap.error = error.map(Into::into);
        });
        evidence(&world.findings(), "sitemap-too-large").unwrap()["sitemaps"][0]["atLeast"] == json!(true)
    };
    assert!(!sitemap(None) && !sitemap(Some("no namespace")) && sitemap(Some("took too long")));
}

#[test]
fn alternates_that_contradict_each_other_are_told_of_once_each() {
    let link = |i: usize| format!("<link rel=alternate hreflang=en href=https://www.example.com/{i}>");
    let links: String = (0..2_000).map(link).collect();
    let world = World::new().page("/p", &format!("<head>{links}</head><p>x <a href=/>h</a>"));
    let found = world.findings();
    let found = evidence(&found, "hreflang-conflict").unwrap();
    assert_eq!(found["total"], 1_999);
    assert_eq!(
        found["pairs"][1],
        json!({"codes": ["en", "en"], "urls": ["https://www.example.com/0", "https://www.example.com/2"]})
    );
}
