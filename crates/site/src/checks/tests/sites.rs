//! Checks of the site as a whole.

mod robots;

use super::{Case, World, world::NOW};
use crate::{
    fetch::{Fault, FetchError},
    origin::{Origin, Variant},
    sitemap::Sitemap,
    well_known::WellKnownFile,
};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

fn origin(id: &'static str, bad: fn(&mut Origin), good: fn(&mut Origin)) -> Case {
    Case {
        id,
        bad: World::new().origin(bad),
        good: World::new().origin(good),
    }
}

fn home(id: &'static str, bad: &str, good: &str) -> Case {
    Case {
        id,
        bad: World::new().page("/", bad),
        good: World::new().page("/", good),
    }
}

fn header(id: &'static str, bad: &[(&'static str, &str)], good: &[(&'static str, &str)]) -> Case {
    let world = |headers: &[(&'static str, &str)]| {
        let headers = [&[("content-type", "text/html")], headers].concat();
        World::new().answer("/", 200, &headers, "<p>x")
    };
    Case {
        id,
        bad: world(bad),
        good: world(good),
    }
}

fn sitemap(origin: &mut Origin, change: impl FnOnce(&mut Sitemap)) {
    let mut sitemap = Sitemap {
        url: "https://www.example.com/sitemap.xml".into(),
        status: Some(200),
        declared: true,
        ..Sitemap::default()
    };
    change(&mut sitemap);
    origin.sitemaps.push(sitemap);
}

fn guessed_page(sitemap: &mut Sitemap) {
    sitemap.declared = false;
    sitemap.error = Some("an HTML page, not a sitemap".into());
}

/// A sitemap on a site that responds with this status to made-up URLs: one where that is a problem, and one where it is
/// not.
fn beside_made_up(id: &'static str, [bad, good]: [u16; 2], change: fn(&mut Sitemap)) -> Case {
    let world = |status| {
        World::new().origin(|o| {
            o.probe_status = Some(status);
            sitemap(o, change);
        })
    };
    Case {
        id,
        bad: world(bad),
        good: world(good),
    }
}

fn variant(url: &str, status: u16) -> Option<Variant> {
    Some(Variant {
        url: url.into(),
        status,
        location: None,
    })
}

fn llms(origin: &mut Origin, status: u16, text: &str) {
    origin.llms_txt = WellKnownFile {
        status: Some(status),
        text: text.into(),
        ..WellKnownFile::default()
    };
}

pub(super) fn cases() -> Vec<Case> {
    [hosts(), headers(), files(), robots::cases(), markup(), mended()]
        .into_iter()
        .flatten()
        .collect()
}

fn hosts() -> Vec<Case> {
    vec![
        origin(
            "host-variants-duplicate",
            |o| o.twin = variant("https://example.com/", 200),
            |o| o.twin = variant("https://example.com/", 301),
        ),
        origin(
            "http-not-redirected",
            |o| o.other_scheme = variant("http://www.example.com/", 200),
            |o| o.other_scheme = variant("http://www.example.com/", 301),
        ),
        origin(
            "tls-invalid",
            |o| {
                o.faults.push(("https://example.com/".into(), Fault::WrongName));
            },
            |_| {},
        ),
        origin(
            "tls-expiring",
            |o| o.certificate_until_ms = Some(NOW + 14 * DAY_MS - 1),
            |o| o.certificate_until_ms = Some(NOW + 14 * DAY_MS),
        ),
        origin("tls-expiring", |o| o.certificate_until_ms = Some(NOW - 1), |_| {}),
        origin("http1-only", |o| o.http1_only = true, |_| {}),
        home(
            "homepage-not-indexable",
            "<meta name=robots content=noindex>",
            "<p>x",
        ),
        Case {
            id: "homepage-not-indexable",
            bad: World::new().answer("/", 500, &[], ""),
            good: World::new().failed("/"),
        },
        // robots.txt may forbid the page to this crawler only
        Case {
            id: "homepage-not-indexable",
            bad: World::new().robots("User-agent: *\nDisallow: /").blocked("/"),
            good: World::new()
                .robots("User-agent: SearchwrightBot\nDisallow: /")
                .blocked("/"),
        },
        Case {
            id: "favicon-missing",
            bad: World::new()
                .page("/", "<p>x")
                .origin(|o| o.favicon_status = Some(404)),
            good: World::new()
                .page("/", "<link rel=icon href=/i.png>")
                .origin(|o| o.favicon_status = Some(404)),
        },
    ]
}

fn headers() -> Vec<Case> {
    vec![
        header(
            "hsts-missing",
            &[("strict-transport-security", "max-age=0")],
            &[("strict-transport-security", "max-age=31536000; preload")],
        ),
        header(
            "csp-missing",
            &[],
            &[("content-security-policy", "default-src 'self'")],
        ),
        header(
            "nosniff-missing",
            &[("x-content-type-options", "sniff")],
            &[("x-content-type-options", "NoSniff")],
        ),
        header(
            "clickjacking",
            &[("content-security-policy", "default-src 'self'")],
            &[("content-security-policy", "frame-ancestors 'none'")],
        ),
        header(
            "referrer-policy-missing",
            &[("referrer-policy", "unsafe-url")],
            &[("referrer-policy", "no-referrer")],
        ),
    ]
}

fn files() -> Vec<Case> {
    let fine = "# Example\n\nWhat this site is about, in a few words.\n\n- [Mowers](https://www.example.com/mowers)\n";
    vec![
        origin("sitemap-missing", |_| (), |o| sitemap(o, |_| ())),
        origin(
            "sitemap-not-in-robots",
            |o| sitemap(o, |s| s.declared = false),
            |o| sitemap(o, |_| ()),
        ),
        origin(
            "sitemap-invalid",
            |o| sitemap(o, |s| s.error = Some("not XML".into())),
            |o| sitemap(o, |_| ()),
        ),
        origin(
            "sitemap-invalid",
            |o| sitemap(o, |s| s.status = Some(404)),
            |o| sitemap(o, |s| (s.status, s.declared) = (Some(404), false)),
        ),
        // a page at a guessed sitemap URL, which is a missing sitemap if made-up URLs get a page too
        beside_made_up("sitemap-missing", [200, 404], guessed_page),
        beside_made_up("sitemap-invalid", [404, 200], guessed_page),
        beside_made_up("sitemap-missing", [403, 404], |s| {
            (s.status, s.declared) = (Some(403), false);
        }),
        origin(
            "sitemap-too-large",
            |o| sitemap(o, |s| s.urls = 50_001),
            |o| sitemap(o, |s| s.urls = 50_000),
        ),
        origin(
            "sitemap-url-foreign",
            |o| sitemap(o, |s| s.foreign = vec!["https://other.example/".into()]),
            |o| sitemap(o, |_| ()),
        ),
        origin(
            "sitemap-lastmod-bad",
            |o| sitemap(o, |s| s.lastmod = [5, 1, 0]),
            |o| sitemap(o, |s| s.lastmod = [5, 0, 0]),
        ),
        origin(
            "sitemap-lastmod-bad",
            |o| sitemap(o, |s| (s.lastmod, s.lastmod_identical) = ([20, 0, 0], true)),
            |o| sitemap(o, |s| (s.lastmod, s.lastmod_identical) = ([19, 0, 0], true)),
        ),
        origin(
            "robots-missing",
            |o| o.robots.status = Some(404),
            |o| o.robots.status = Some(200),
        ),
        origin(
            "robots-unavailable",
            |o| o.robots.status = Some(503),
            |o| o.robots.status = Some(404),
        ),
        origin(
            "robots-unavailable",
            |o| (o.robots.status, o.robots.error) = (None, Some(FetchError::Timeout)),
            |o| o.robots.status = Some(200),
        ),
        origin(
            "robots-too-large",
            |o| o.robots.bytes = 512_001,
            |o| o.robots.bytes = 512_000,
        ),
        origin(
            "llms-txt-missing",
            |o| o.llms_txt.status = Some(404),
            |o| o.llms_txt.status = Some(500),
        ),
        Case {
            id: "llms-txt-invalid",
            bad: World::new().origin(|o| llms(o, 200, "<!doctype html><p>x")),
            good: World::new().origin(|o| llms(o, 200, fine)),
        },
        origin("llms-txt-invalid", |o| llms(o, 503, ""), |o| llms(o, 404, "")),
    ]
}

fn markup() -> Vec<Case> {
    let organization = |properties: &str| {
        format!(
            r#"<script type=application/ld+json>{{"@type": "Organization", "name": "Example"{properties}}}</script>"#
        )
    };
    let site_name = |name: &str| organization("") + &format!("<meta property=og:site_name content='{name}'>");
    vec![
        home(
            "organization-missing",
            &organization(""),
            &organization(r#", "url": "/", "logo": "/l.png", "sameAs": ["https://x.example/"]"#),
        ),
        home(
            "organization-missing",
            "<p>x",
            &organization(r#", "url": "/", "logo": "/l.png", "sameAs": ["https://x.example/"]"#),
        ),
        home(
            "entity-inconsistent",
            &site_name("Example Shop"),
            &site_name("EXAMPLE"),
        ),
        Case {
            id: "entity-inconsistent",
            bad: World::new().page("/", &organization("")).brand("Example Shop"),
            good: World::new().page("/", &site_name("example")).brand(" EXAMPLE"),
        },
        Case {
            id: "entity-inconsistent",
            bad: World::new().page("/", &site_name("Example")).brand("Example Ltd"),
            good: World::new().page("/", "<p>x").brand("Example Ltd"),
        },
    ]
}

/// Cases once judged wrongly.
fn mended() -> Vec<Case> {
    let json_ld = |json: &str| format!("<script type=application/ld+json>{json}</script>");
    let whole = r#""name": "x", "url": "/", "logo": "/l.png", "sameAs": ["https://x.example/"]"#;
    let publisher = |properties: &str| {
        json_ld(&format!(
            r#"{{"@type": "WebSite", "publisher": {{"@type": "Organization", {properties}}}}}"#
        ))
    };
    let hotel = |inner: &str| format!("<div itemscope itemtype=https://schema.org/Hotel>{inner}</div>");
    let filler = "'sha256-x' ".repeat(500);
    vec![
        home(
            "organization-missing",
            &publisher(r#""name": "x""#),
            &publisher(whole),
        ),
        home(
            "organization-missing",
            &json_ld(&format!(r#"{{"@type": "Person", {whole}}}"#)),
            &json_ld(&format!(r#"{{"@type": "OnlineStore", {whole}}}"#)),
        ),
        home(
            "organization-missing",
            "<div itemscope itemtype=https://schema.org/Product></div>",
            "<div typeof=Hotel></div>",
        ),
        home(
            "organization-missing",
            &hotel("<b itemprop=name>x</b>"),
            &hotel(
                "<b itemprop=name>x</b><a itemprop=url href=/></a><img itemprop=logo src=/l><link itemprop=sameAs href=/s>",
            ),
        ),
        home(
            "organization-missing",
            &(hotel("<b itemprop=name>x</b>") + "<p typeof=Person>"),
            &(hotel("<b itemprop=name>x</b>") + "<p typeof=Organization>"),
        ),
        home(
            "organization-missing",
            &(hotel("<b itemprop=name>x</b>") + &publisher(r#""name": "x""#)),
            &(hotel("<b itemprop=name>x</b>") + &publisher(whole)),
        ),
        home(
            "organization-missing",
            &json_ld(r#"{"@type": "Organization", "@id": "x", "name": "x"}"#),
            &(json_ld(r#"{"@type": "Organization", "@id": "x", "name": "x", "url": "/"}"#)
                + &json_ld(
                    r#"{"@type": "WebPage", "about": {"@id": "x", "@type": "Organization", "logo": "l", "sameAs": "s"}}"#,
                )),
        ),
        header(
            "nosniff-missing",
            &[("x-content-type-options", "x, nosniff")],
            &[("x-content-type-options", "nosniff, nosniff")],
        ),
        header(
            "clickjacking",
            &[("content-security-policy", "report-uri /frame-ancestors")],
            &[
                ("content-security-policy", "default-src 'self'"),
                ("content-security-policy", "frame-ancestors 'none'"),
            ],
        ),
        header(
            "clickjacking",
            &[("content-security-policy", &filler)],
            &[(
                "content-security-policy",
                &format!("script-src {filler}; frame-ancestors 'self'"),
            )],
        ),
    ]
}
