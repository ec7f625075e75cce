//! Checks of the body and its markup.

use super::{Case, World, json_ld, page};

pub(super) fn bodies() -> Vec<Case> {
    let many = |n: usize| "<a href=/>Home page</a>".repeat(n);
    vec![
        page(
            "image-alt-missing",
            "<img src=a>",
            "<img src=a alt=''><img src=b role=presentation><img src=c aria-hidden=true>",
        ),
        page(
            "image-alt-long",
            &format!("<img src=a alt='{}'>", "x".repeat(101)),
            &format!("<img src=a alt='{}'>", "ü".repeat(100)),
        ),
        page(
            "image-dimensions-missing",
            "<img src=a width=5>",
            "<img src=a width=5 height=5><img src=b style='aspect-ratio: 3/2'>",
        ),
        page(
            "image-lazy-first",
            "<img src=a loading=lazy>",
            "<img src=a><img src=b loading=lazy>",
        ),
        page(
            "picture-no-img",
            "<picture><source srcset=a></picture>",
            "<picture><img src=a></picture>",
        ),
        page(
            "dead-end-page",
            "<a href=/p>self</a><a href=https://other.example/>x</a>",
            "<a href=/>x</a>",
        ),
        page("many-links", &many(1_001), &many(1_000)),
        page(
            "anchor-empty",
            "<a href=/x><img src=y></a>",
            "<a href=/x aria-label=X></a>",
        ),
        page(
            "anchor-empty",
            "<a href=/x><i class=icon aria-hidden=true></i></a><p title=x>",
            "<a href=/x><svg role=img aria-label=X><path d=''/></svg></a><a href=/y><i class=icon title=Y></i></a>",
        ),
        page(
            "anchor-generic",
            "<a href=/x>Click here!</a>",
            "<a href=/x>Click here for mowers</a>",
        ),
        page(
            "anchor-uncrawlable",
            "<a onclick=go()>x</a>",
            "<a href=/x onclick=go()>x</a>",
        ),
        page(
            "link-malformed",
            "<a href='http//other.example'>x</a>",
            "<a href=/x>x</a>",
        ),
        page(
            "broken-fragment",
            "<a href=#a>x</a><p id=b>",
            "<a href=#%C3%A4>x</a><a href=#top>y</a><a href=/p#c>z</a><p id=ä><a name=c>",
        ),
        page(
            "broken-fragment",
            "<a href=#a>x</a><p id=b>",
            "<a href=#a>x</a><div id=root></div><script src=/a.js></script>",
        ),
        page(
            "http-internal-link",
            "<a href=http://www.example.com/x>x</a>",
            "<a href=http://other.example/>x</a>",
        ),
        page(
            "pagination-not-linked",
            "<link rel=next href='?page=2'>",
            "<link rel=next href='?page=2'><a href='?page=2'>2</a>",
        ),
        page(
            "url-tracking-params",
            "<a href='/x?utm_source=nav'>x</a>",
            "<a href='https://other.example/?utm_source=x'>x</a>",
        ),
        page(
            "url-tracking-params",
            "<a href='/x?a&utm_source=nav#y'>x</a>",
            "<a href='/x#/y?utm_source=nav'>x</a>",
        ),
        page(
            "localhost-link",
            "<a href=http://localhost:3000/x>x</a>",
            "<a href=/localhost>x</a>",
        ),
        page(
            "localhost-link",
            "<script src=http://192.168.1.5/a.js></script>",
            "<script src=http://8.8.8.8/a.js></script>",
        ),
        page(
            "localhost-link",
            "<script src=//127.0.0.1/a.js></script>",
            "<script src=//localhost.example/a.js></script>",
        ),
        page(
            "localhost-link",
            "<img src=http://10.0.0.1/a.png>",
            "<img src=http://11.0.0.1/a.png>",
        ),
        page(
            "localhost-link",
            "<form action=http://shop.Local/></form>",
            "<form action=http://shop.local.example/></form>",
        ),
        page(
            "staging-host-leak",
            "<link rel=alternate hreflang=de href=//Staging-www.example.com/p>",
            "<link rel=alternate hreflang=de href=//backstage.example.com/p>",
        ),
        page(
            "staging-host-leak",
            "<img src=https://test2.example.com/a.png>",
            "<img src=https://cdn.test.example/a.png><img src=https://test.github.io/a.png>",
        ),
        page(
            "staging-host-leak",
            "<a href=https://staging.example.com/x>x</a>",
            "<a href=https://staging.other.example/x>x</a>",
        ),
        page(
            "staging-host-leak",
            "<link rel=canonical href=https://dev-2.example.com/p>",
            "<a href=https://developers.example.com/x>x</a>",
        ),
        page(
            "staging-host-leak",
            "<a href=https://shop-dev.example.com/x>x</a>",
            "<a href=https://covid-test.example.com/>x</a><a href=https://qa.example.com/>x</a>",
        ),
        page(
            "mixed-content-active",
            "<script src=http://cdn.example/a.js></script>",
            "<img src=http://cdn.example/a.png>",
        ),
        page(
            "mixed-content-passive",
            "<img src=http://cdn.example/a.png>",
            "<script src=http://cdn.example/a.js></script>",
        ),
        page(
            "form-insecure",
            "<form action=http://x.example/></form>",
            "<form><input type=password></form>",
        ),
        page(
            "plugin-content",
            "<embed src=movie.swf>",
            "<object type=application/pdf data=x.pdf></object>",
        ),
        page("dom-large", &"<br>".repeat(1_501), &"<br>".repeat(1_500)),
        page(
            "many-resources",
            &"<script src=/a.js></script>".repeat(101),
            &"<script src=/a.js></script>".repeat(100),
        ),
        page("html-large", &"x".repeat((1 << 20) + 1), &"x".repeat(1 << 20)),
        page("html-over-2mb", &"x".repeat((2 << 20) + 1), &"x".repeat(2 << 20)),
        page("no-compression", &"x".repeat(1_025), &"x".repeat(1_024)),
    ]
}

pub(super) fn markup() -> Vec<Case> {
    let crumbs = |entries: &str| {
        json_ld(&format!(
            r#"{{"@type": "BreadcrumbList", "itemListElement": [{entries}]}}"#
        ))
    };
    vec![
        page("jsonld-invalid", &json_ld("{"), &json_ld("{}")),
        page("jsonld-invalid", &json_ld(" "), &json_ld("[]")),
        page("schema-missing", "<p>x", "<div itemscope></div>"),
        page(
            "schema-required-missing",
            &json_ld(r#"{"@type": "Product", "name": "x"}"#),
            &json_ld(r#"{"@type": "Product", "name": "x", "offers": {"price": 1}}"#),
        ),
        page(
            "schema-required-missing",
            &json_ld(r#"{"@graph": [{"@type": ["Event"], "name": ""}]}"#),
            &json_ld(r#"{"@type": "Thing"}"#),
        ),
        page(
            "schema-required-missing",
            &crumbs(r#"{"position": 1, "name": "x"}, {"position": 2}"#),
            &crumbs(r#"{"position": 1, "item": {"@id": "/", "name": "x"}}, {"position": 2, "name": "y"}"#),
        ),
        page(
            "schema-recommended-missing",
            &json_ld(
                r#"{"@type": "Article", "headline": "x", "image": "x", "datePublished": "2026-01-01", "dateModified": "2026-01-01", "author": {"name": "Me"}}"#,
            ),
            &json_ld(
                r##"{"@graph": [{"@type": "Article", "headline": "x", "image": "x", "datePublished": "2026-01-01", "dateModified": "2026-01-01", "author": {"@id": "#me"}}, {"@type": "Person", "@id": "#me", "name": "Me", "url": "/me"}]}"##,
            ),
        ),
        page(
            "schema-date-invalid",
            &json_ld(r#"{"@type": "Article", "datePublished": "1. Mai 2024"}"#),
            &json_ld(r#"{"@type": "Article", "datePublished": "2024-05-01"}"#),
        ),
        page(
            "schema-date-invalid",
            &json_ld(r#"{"@type": "Article", "datePublished": "2030-05-01"}"#),
            &json_ld(r#"{"@type": "Event", "startDate": "2030-05-01"}"#),
        ),
        page(
            "schema-date-invalid",
            &json_ld(r#"{"@type": "Article", "datePublished": "2024-05-03", "dateModified": "2024-05-01"}"#),
            &json_ld(
                r#"{"@type": "Article", "datePublished": "2024-05-01T10:00:00Z", "dateModified": "2024-05-01"}"#,
            ),
        ),
        page(
            "schema-retired-feature",
            &json_ld(r#"{"@type": "https://schema.org/FAQPage"}"#),
            &json_ld(r#"{"@type": "QAPage"}"#),
        ),
        page(
            "schema-singleton-duplicate",
            &json_ld(r#"[{"@type": "Organization", "@id": "a"}, {"@type": "Organization", "@id": "b"}]"#),
            &json_ld(r#"[{"@type": "Organization", "@id": "a"}, {"@type": "Organization", "@id": "a"}]"#),
        ),
        Case {
            id: "breadcrumb-missing",
            bad: World::new().page("/p/q/r", "<p>x"),
            good: World::new().page("/p/q/r", &crumbs(r#"{"name": "x"}"#)),
        },
        Case {
            id: "breadcrumb-missing",
            bad: World::new().page("/p/q/r", &json_ld(r#"{"@type": "WebPage", "breadcrumb": ["x"]}"#)),
            good: World::new().page(
                "/p/q/r",
                &json_ld(
                    r#"{"@type": "Article", "isPartOf": {"@type": "WebPage", "breadcrumb": [{"@type": "BreadcrumbList"}]}}"#,
                ),
            ),
        },
    ]
}

/// Objects that lack one required property, and the same objects with it.
pub(super) fn required() -> Vec<Case> {
    let job = [
        r#""title": "Mower mechanic""#,
        r#""description": "Repairs mowers""#,
        r#""datePosted": "2026-05-01""#,
        r#""hiringOrganization": {"@type": "Organization", "name": "x"}"#,
        r#""jobLocation": {"@type": "Place", "address": "x"}"#,
    ];
    let mut job_from_home = job;
    job_from_home[4] = r#""applicantLocationRequirements": {"@type": "Country", "name": "DE"}"#;
    let video = [
        r#""name": "How to mow""#,
        r#""thumbnailUrl": "/mow.jpg""#,
        r#""uploadDate": "2026-05-01T08:00:00Z""#,
    ];
    [
        ("JobPosting", &job[..]),
        ("JobPosting", &job_from_home),
        ("VideoObject", &video),
    ]
    .into_iter()
    .flat_map(|(kind, properties)| {
        let object = move |properties: &[&str]| {
            json_ld(&format!(r#"{{"@type": "{kind}", {}}}"#, properties.join(", ")))
        };
        (0..properties.len()).map(move |missing| {
            let (before, after) = (&properties[..missing], &properties[missing + 1..]);
            page(
                "schema-required-missing",
                &object(&[before, after].concat()),
                &object(properties),
            )
        })
    })
    .collect()
}
