mod cut;
mod files;
mod graphs;
mod pages;
mod resources;
mod settings;
mod sites;
mod texts;
mod vitals;
mod world;

use std::collections::HashSet;

use proptest::prelude::{any, proptest};
use serde_json::Value;

use super::{
    Category, Check, FetchVerdict, Finding, RULESET_VERSION, RecheckMode, Resolution, Rules, Severity,
    Verdict, evaluate, evaluate_one, find, registry,
};
use world::World;

/// A check with a site that has the problem at `/p` (or as a whole), and the same site without it.
pub(super) struct Case {
    id: &'static str,
    bad: World,
    good: World,
}

fn cases() -> Vec<Case> {
    [
        pages::cases(),
        texts::cases(),
        graphs::cases(),
        resources::cases(),
        sites::cases(),
        vitals::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn evidence(found: &[Finding], id: &str) -> Option<Value> {
    found
        .iter()
        .find(|finding| finding.check.id == id)
        .map(|finding| finding.evidence.clone())
}

#[test]
fn every_check_finds_its_problem_and_none_without_it() {
    for Case { id, bad, good } in cases() {
        let check = find(id).unwrap_or_else(|| panic!("{id} is no check"));
        let found = bad.findings();
        let seen = evidence(&found, id)
            .unwrap_or_else(|| panic!("{id} does not see its problem; it sees {:?}", ids(&found)));
        assert!(seen.is_object(), "{id}: {seen}");
        assert!(serde_json::to_string(&seen).unwrap().len() < 20_000, "{id}");
        let found = good.findings();
        assert_eq!(
            evidence(&found, id),
            None,
            "{id} sees a problem where there is none"
        );
        // a recheck of the same page agrees
        assert!(matches!(bad.recheck(check), Verdict::Present(_)), "{id}");
        assert!(matches!(good.recheck(check), Verdict::Absent), "{id}");
    }
}

fn ids(found: &[Finding]) -> Vec<&str> {
    found.iter().map(|finding| finding.check.id).collect()
}

#[test]
fn every_check_has_a_case() {
    let tested: HashSet<&str> = cases().iter().map(|case| case.id).collect();
    let untested: Vec<&str> = registry()
        .iter()
        .map(|check| check.id)
        .filter(|id| !tested.contains(id))
        .collect();
    assert!(untested.is_empty(), "no case for {untested:?}");
}

#[test]
fn the_table_is_whole() {
    let mut seen = HashSet::new();
    for check in registry() {
        let id = check.id;
        assert!(seen.insert(id), "{id} twice");
        assert!(
            id.bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
            "{id}"
        );
        for text in [
            check.title,
            check.description,
            check.why_it_matters,
            check.recommendation,
        ] {
            assert!(!text.is_empty() && !text.contains("  "), "{id}");
        }
        assert!(
            !check.title.ends_with('.')
                && check.description.ends_with('.')
                && check.recommendation.ends_with('.'),
            "{id}"
        );
        assert!(
            check.source.starts_with("https://") && url::Url::parse(check.source).is_ok(),
            "{id}"
        );
        assert!(
            check.severity != Severity::Notice || !check.scored,
            "{id}: a notice is never scored"
        );
        assert_eq!(find(id).map(|check| check.id), Some(id));
    }
    assert!(registry().len() >= 197, "{}", registry().len());
    assert!(
        Category::ALL
            .iter()
            .all(|category| registry().iter().any(|check| check.category == *category))
    );
    assert_eq!(RULESET_VERSION.split('.').count(), 3);
    assert_eq!(find("http-no-response").map(|check| check.scored), Some(true));
    assert_eq!(
        find("orphan-page").map(|check| check.recheck_mode()),
        Some(RecheckMode::Audit)
    );
    assert_eq!(
        find("title-duplicate").map(|check| check.recheck_mode()),
        Some(RecheckMode::Snapshot)
    );
}

#[test]
fn lists_are_cut_and_counted() {
    let body = "<a href=/gone>x</a>".to_owned()
        + &(0..60)
            .map(|i| format!("<a href=/gone{i}>x</a>"))
            .collect::<String>();
    let mut world = World::new().page("/p", &body);
    for i in 0..60 {
        world = world.answer(&format!("/gone{i}"), 404, &[], "");
    }
    let seen = evidence(&world.findings(), "broken-internal-link").unwrap();
    assert_eq!(
        (seen["links"].as_array().unwrap().len(), &seen["total"]),
        (20, &Value::from(60))
    );
    assert_eq!(seen["links"][0]["status"], 404);
}

#[test]
fn unfetched_target_is_not_broken() {
    let world = World::new()
        .page(
            "/p",
            "<a href=/unknown>x</a><a href=https://other.example/>y</a><a href=/fails>z</a>",
        )
        .failed("/fails");
    assert_eq!(evidence(&world.findings(), "broken-internal-link"), None);
}

#[test]
fn no_answer_twice_is_conclusive() {
    let silent = World::new().failed("/p");
    let inconclusive = |world: &World| {
        let seen = evidence(&world.findings(), "http-no-response").unwrap();
        seen["inconclusive"].as_bool().unwrap()
    };
    assert!(inconclusive(&silent) && !inconclusive(&silent.again()));
}

#[test]
fn a_page_that_is_gone_is_not_judged_as_a_page() {
    let world = World::new().answer("/p", 404, &[("content-type", "text/html")], "<p>gone");
    let check = find("title-missing").unwrap();
    assert!(matches!(world.recheck(check), Verdict::Absent));
    let told = FetchVerdict::from_facts(world.facts("/p").as_ref().unwrap());
    assert_eq!(check.resolution(told), Some(Resolution::PageGone));
}

#[test]
fn page_forbidden_to_googlebot_is_not_indexable() {
    let world = World::new().page("/p", "<title>x</title>");
    let robots = "User-agent: *\nAllow: /\n\nUser-agent: Googlebot\nDisallow: /p\n";
    for (world, expected) in [
        (world.clone().robots("User-agent: *\nDisallow: /q\n"), true),
        (world.robots(robots), false),
    ] {
        let found = world.findings();
        assert_eq!(evidence(&found, "canonical-missing").is_some(), expected);
        let built = world.build();
        let page = world.facts("/p").unwrap().id;
        assert_eq!(
            built.index.has(page, crate::graph::PageFlags::INDEXABLE),
            expected
        );
    }
}

#[test]
fn resolution_follows_the_fetch_verdict() {
    let [title, chain, hsts] =
        ["title-missing", "redirect-chain", "hsts-missing"].map(|id| find(id).unwrap());
    let (fixed, gone) = (Some(Resolution::Fixed), Some(Resolution::PageGone));
    for (status, of_html, of_url) in [
        (200, fixed, fixed),
        (404, gone, gone),
        (410, gone, gone),
        (403, None, fixed),
        (401, None, fixed),
        (408, None, None),
        (429, None, None),
        (500, None, None),
        (503, None, None),
        (999, None, None),
    ] {
        let world = World::new().answer("/p", status, &[("content-type", "text/html")], "<p>x");
        let told = FetchVerdict::from_facts(world.facts("/p").as_ref().unwrap());
        assert_eq!(title.resolution(told), of_html, "{status}");
        assert_eq!(chain.resolution(told), of_url, "{status}");
        assert_eq!(hsts.resolution(told), fixed, "{status}");
    }
    let other = World::new().answer("/p", 200, &[("content-type", "application/pdf")], "%PDF-1.7");
    let told = FetchVerdict::from_facts(other.facts("/p").as_ref().unwrap());
    assert_eq!(title.resolution(told), Some(Resolution::NotApplicable));
    // an inconclusive response, and a page of which not everything is kept
    let told = |body: &str| {
        let world = World::new().page("/p", body);
        FetchVerdict::from_facts(world.facts("/p").as_ref().unwrap())
    };
    assert_eq!(told(""), FetchVerdict::Nothing);
    assert_eq!(told("<title>Just a moment...</title><p>x"), FetchVerdict::Nothing);
    let [skip, image] = ["heading-skip", "image-broken"].map(|id| find(id).unwrap());
    assert_eq!(told(&"<h2>x</h2>".repeat(250)), FetchVerdict::Whole);
    let cut = told(&"<h2>x</h2>".repeat(251));
    let proves = [title, skip, image].map(|check| check.resolution(cut));
    assert_eq!(proves, [fixed, None, fixed]);
    let cut = told(&"<img src=/x>".repeat(251));
    let proves = [title, skip, image].map(|check| check.resolution(cut));
    assert_eq!(proves, [fixed, fixed, None]);
    for told in [FetchVerdict::Nothing, FetchVerdict::Address] {
        assert_eq!(title.resolution(told), None);
    }
    assert_eq!(
        (
            title.resolution(FetchVerdict::Moved),
            chain.resolution(FetchVerdict::Moved)
        ),
        (gone, fixed)
    );
}

#[test]
fn a_check_that_stumbles_costs_nothing_but_itself() {
    static STUMBLES: Check = Check {
        id: "stumbles",
        ..Check::error(Category::Titles, super::Test::Html(|_, _| panic!("on this page")))
    };
    let world = World::new()
        .page("/p", "<title></title>")
        .page("/q", "<title></title>");
    let built = world.build();
    let mut context = built.context();
    let checks: Vec<&'static Check> = [&STUMBLES, find("title-missing").unwrap()].into();
    context.checks = &checks;
    // nor pages evaluated together with it
    let pages = [world.facts("/q").unwrap(), world.facts("/p").unwrap()];
    for page in evaluate(&pages, &context) {
        assert_eq!(
            (ids(&page.findings), page.failed.len(), page.failed[0].id),
            (vec!["title-missing"], 1, "stumbles")
        );
    }
    let alone = evaluate_one(&STUMBLES, world.facts("/p").as_ref().unwrap(), &context);
    assert!(matches!(alone, Verdict::Failed));
}

#[test]
fn all_of_a_page_is_counted_in_characters() {
    let title = "Ремонт газонокосилки: пошаговая инструкция для начинающих";
    let world = World::new().page("/p", &format!("<title>{title}</title>"));
    let found = world.findings();
    assert_eq!(
        (evidence(&found, "title-short"), evidence(&found, "title-long")),
        (None, None)
    );
}

proptest! {
    #[test]
    fn no_page_breaks_a_check(bytes in proptest::collection::vec(any::<u8>(), 1..300), markup in "(<(a|title|meta|link|script|h2|img|form)( (href|content|name|rel|hreflang|src|type)=[a-z/#:.@]{0,9}){0,3}>[a-z?{}]{0,9}){0,12}") {
        let body = format!("{markup}{}", String::from_utf8_lossy(&bytes));
        World::new().page("/p", &body).findings();
    }

    #[test]
    fn no_json_breaks_a_check(json in "[{}\\[\\]:,\"a@0 ]{0,60}", kind in "(Article|Product|BreadcrumbList|Organization|@graph)") {
        let body = format!("<script type=application/ld+json>{json}</script><script type=application/ld+json>{{\"@type\": \"{kind}\", \"x\": [{json}]}}</script>");
        World::new().page("/p", &body).findings();
    }
}

#[test]
fn evidence_names_more_than_the_page() {
    let of = |world: &World, id: &str| evidence(&world.findings(), id).unwrap();
    let at = |path: &str| format!("https://www.example.com{path}");
    // a path of links, and of a redirect, which is no click
    let deep = World::new()
        .page("/", "<a href=/a>x</a>")
        .depth("/", 0)
        .page("/a", "<a href=/b>x</a><a href=/p rel=nofollow>y</a>")
        .redirect("/b", 301, "/c")
        .depth("/b", 2)
        .page("/c", "<a href=/d>x</a>")
        .depth("/c", 2)
        .page("/d", "<a href=/p>x</a>")
        .depth("/d", 3)
        .page("/p", "x")
        .depth("/p", 4);
    assert_eq!(
        of(&deep, "depth-high")["shortestPath"],
        serde_json::json!(["/", "/a", "/b", "/c", "/d", "/p"].map(at))
    );
    let trap = (0..8)
        .rev()
        .fold(World::new(), |world, i| world.page(&format!("/t?a={i}"), "x"));
    let trap = trap.page("/other?a=1", "x").trap("/t?a=8", 12);
    let seen = of(&trap, "crawl-trap-suspected");
    assert_eq!(
        seen["traps"][0]["samples"],
        serde_json::json!(["/t?a=0", "/t?a=1", "/t?a=2", "/t?a=3", "/t?a=4"].map(at))
    );
    let listed = World::new().answer("/p", 404, &[], "").sitemap(&["/p"]);
    assert_eq!(of(&listed, "sitemap-url-error")["sitemap"], at("/sitemap.xml"));
    let moved = World::new()
        .page("/p", "<a href=/x>x</a><a href=/y>y</a>")
        .redirect("/x", 301, "/")
        .redirect("/y", 302, "/");
    let seen = of(&moved, "link-to-redirect");
    assert_eq!(
        (&seen["total"], &seen["temporary"][0]["linkUrl"]),
        (&Value::from(1), &Value::from(at("/y")))
    );
    let gone = World::new()
        .page("/p", "<a href=https://other.example/>x</a>")
        .redirect("https://other.example/", 301, "https://other.example/y")
        .answer("https://other.example/y", 404, &[], "");
    let seen = of(&gone, "broken-external-link");
    assert_eq!(
        (&seen["links"][0]["status"], &seen["links"][0]["endUrl"]),
        (&Value::from(404), &Value::from("https://other.example/y"))
    );
}

#[test]
fn evidence_of_one_check_is_that_of_the_audit() {
    let world = World::new().page("/p", "<title>x</title><title>y</title>");
    let check = find("title-multiple").unwrap();
    let Verdict::Present(finding) = evaluate_one(
        check,
        world.facts("/p").as_ref().unwrap(),
        &world.build().context(),
    ) else {
        panic!()
    };
    assert_eq!(
        finding.evidence,
        serde_json::json!({"values": ["x", "y"], "total": 2})
    );
}

#[test]
fn a_broken_link_is_told_once() {
    let severity = |world: World| {
        let found = world.findings();
        let of = |id: &str| {
            let finding = found.iter().find(|finding| finding.check.id == id)?;
            Some(Rules::default().severity_of(finding.check, &finding.evidence))
        };
        [
            of("http-4xx"),
            of("broken-internal-link"),
            of("sitemap-url-error"),
        ]
    };
    let linked = World::new()
        .page("/", "<a href=/p>x</a>")
        .answer("/p", 404, &[], "");
    assert_eq!(severity(linked), [Some(Severity::Notice), None, None]);
    let linking = World::new()
        .page("/p", "<a href=/x>x</a>")
        .answer("/x", 404, &[], "");
    assert_eq!(severity(linking), [None, Some(Severity::Error), None]);
    let listed = World::new()
        .page("/", "<p>x")
        .answer("/p", 404, &[], "")
        .sitemap(&["/p"]);
    assert_eq!(severity(listed), [None, None, Some(Severity::Error)]);
}

#[test]
fn one_cause_is_told_once_on_a_page() {
    let told = |world: &World, path: &str, among: &[&'static str]| -> Vec<&'static str> {
        let url = format!("https://www.example.com{path}");
        let built = world.build();
        let findings = world.findings();
        let mut told: Vec<_> = findings
            .iter()
            .filter(|finding| built.index.key(finding.page) == url && among.contains(&finding.check.id))
            .map(|finding| finding.check.id)
            .collect();
        told.sort_unstable();
        told
    };
    let noindex: &[(&'static str, &str)] = &[("content-type", "text/html"), ("x-robots-tag", "noindex")];
    let home = "<a href=/p>x</a><a href=/q>y</a>";
    let site = || World::new().page("/", home);
    let text = "<title>Garden hoses of the year and how to mend them</title><p>x";
    for (why, world, among, expected) in [
        (
            "a page of the sitemap whose server fails",
            site().answer("/p", 503, &[], "").sitemap(&["/p"]),
            &["http-5xx", "sitemap-url-error"][..],
            &["http-5xx"][..],
        ),
        (
            "a noindex page in a sitemap",
            site().answer("/p", 200, noindex, text).sitemap(&["/p"]),
            &["noindex", "sitemap-url-noindex"],
            &["sitemap-url-noindex"],
        ),
        (
            "a noindex page in no sitemap",
            site().answer("/p", 200, noindex, text),
            &["noindex", "sitemap-url-noindex"],
            &["noindex"],
        ),
        (
            "directives that disagree",
            site().answer("/p", 200, noindex, "<meta name=robots content=index>"),
            &["noindex", "robots-directive-conflict"],
            &["robots-directive-conflict"],
        ),
        (
            "a blocked page in a sitemap",
            site()
                .blocked("/p")
                .robots("User-agent: *\nDisallow: /p")
                .sitemap(&["/p"]),
            &["robots-blocked-page", "sitemap-url-blocked"],
            &["sitemap-url-blocked"],
        ),
        (
            "a site that is blocked as a whole",
            site()
                .blocked("/p")
                .robots("User-agent: *\nDisallow: /")
                .sitemap(&["/p"]),
            &["robots-blocked-page", "sitemap-url-blocked"],
            &[],
        ),
        (
            "a loop in a sitemap",
            site()
                .redirect("/p", 301, "/q")
                .redirect("/q", 301, "/p")
                .sitemap(&["/p"]),
            &["redirect-loop", "redirect-chain", "sitemap-url-redirect"],
            &["redirect-loop"],
        ),
        (
            "a chain to a missing page",
            site()
                .redirect("/p", 301, "/q")
                .redirect("/q", 301, "/r")
                .answer("/r", 404, &[], "")
                .sitemap(&["/p"]),
            &["redirect-to-error", "redirect-chain", "sitemap-url-redirect"],
            &["redirect-to-error"],
        ),
        (
            "a canonical that is missing, in a sitemap",
            site()
                .page(
                    "/p",
                    &format!("<link rel=canonical href=https://www.example.com/q>{text}"),
                )
                .answer("/q", 404, &[], "")
                .sitemap(&["/p"]),
            &["canonical-non-200", "sitemap-url-noncanonical"],
            &["canonical-non-200"],
        ),
        (
            "a canonical of the wrong scheme",
            site()
                .page(
                    "/p",
                    &format!("<link rel=canonical href=http://www.example.com/p>{text}"),
                )
                .redirect("http://www.example.com/p", 301, "https://www.example.com/p"),
            &["canonical-http", "canonical-redirect"],
            &["canonical-http"],
        ),
        (
            "a link of the wrong scheme",
            site()
                .page("/p", "<a href=http://www.example.com/q>x</a>")
                .redirect("http://www.example.com/q", 301, "https://www.example.com/q")
                .page("/q", text),
            &["http-internal-link", "link-to-redirect"],
            &["http-internal-link"],
        ),
        (
            "a generic title",
            site()
                .page("/p", "<title>Home</title><h1>Home</h1>")
                .page("/q", "<title>Home</title><p>y"),
            &[
                "title-generic",
                "title-short",
                "title-same-as-h1",
                "title-duplicate",
            ],
            &["title-generic"],
        ),
        (
            "a page that scripts fill",
            site().page(
                "/p",
                "<title>App</title><div id=root></div><script src=/a.js></script>",
            ),
            &[
                "js-dependent-content",
                "thin-content",
                "text-ratio-low",
                "h1-missing",
            ],
            &["js-dependent-content"],
        ),
    ] {
        assert_eq!(told(&world, "/p", among), expected, "{why}");
    }
}

#[test]
fn a_development_server_is_not_asked_for_what_its_public_site_will_have() {
    let body = format!("<title>x</title><p>{}", "word ".repeat(400));
    let of = |root: &'static str| {
        let mut world = World::new().rooted(root).page("/p", &body);
        world.origin.http1_only = true;
        let mut found: Vec<_> = world
            .findings()
            .iter()
            .map(|finding| finding.check.id)
            .filter(|id| ["no-compression", "http1-only", "https-missing", "hsts-missing"].contains(id))
            .collect();
        found.sort_unstable();
        found
    };
    assert_eq!(of("http://shop.test"), [""; 0]);
    assert_eq!(of("https://192.168.1.7"), [""; 0]);
    assert_eq!(
        of("http://www.example.com"),
        ["http1-only", "https-missing", "no-compression"]
    );
}
