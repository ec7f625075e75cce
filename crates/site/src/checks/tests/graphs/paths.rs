//! Redirects, sitemaps and robots.txt: paths by which crawlers reach a page.

use super::{Case, World, canonical};
use crate::sitemap::Sitemap;

pub(super) fn redirects() -> Vec<Case> {
    let one = || World::new().redirect("/p", 301, "/a").page("/a", "x");
    let many = |count: usize| {
        (0..count).fold(World::new(), |world, i| {
            world.redirect(&format!("/old{i}"), 301, "/")
        })
    };
    vec![
        Case {
            id: "redirect-chain",
            bad: World::new()
                .redirect("/p", 301, "/a")
                .redirect("/a", 302, "/b")
                .page("/b", "x"),
            good: one(),
        },
        Case {
            id: "redirect-loop",
            bad: World::new()
                .redirect("/p", 301, "/a")
                .redirect("/a", 301, "/b")
                .redirect("/b", 301, "/p"),
            good: one(),
        },
        Case {
            id: "redirect-loop",
            bad: World::new().redirect("/p", 301, "/p"),
            good: one(),
        },
        Case {
            id: "redirect-to-error",
            bad: World::new().redirect("/p", 301, "/a").answer("/a", 404, &[], ""),
            good: one(),
        },
        Case {
            id: "redirect-to-error",
            bad: World::new().redirect("/p", 302, "http://169.254.169.254/latest/"),
            good: World::new().redirect("/p", 302, "http://8.8.8.8/latest/"),
        },
        Case {
            id: "redirect-to-error",
            bad: World::new()
                .redirect("/p", 301, "https://other.example/x")
                .answer("https://other.example/x", 404, &[], ""),
            good: World::new()
                .redirect("/p", 301, "https://other.example/x")
                .answer("https://other.example/x", 999, &[], ""),
        },
        Case {
            id: "redirect-downgrade",
            bad: World::new().redirect("/p", 301, "http://www.example.com/a"),
            good: one(),
        },
        Case {
            id: "redirect-temporary",
            bad: World::new().redirect("/p", 307, "/a").again(),
            good: World::new().redirect("/p", 308, "/a").again(),
        },
        Case {
            id: "redirect-temporary",
            bad: World::new().redirect("/p", 302, "/a").again(),
            good: World::new().redirect("/p", 302, "/a"),
        },
        Case {
            id: "redirect-mass-home",
            bad: many(5),
            good: many(4),
        },
    ]
}

pub(super) fn sitemaps() -> Vec<Case> {
    fn more(world: World, change: fn(&mut Sitemap)) -> World {
        let mut sitemap = Sitemap {
            url: "https://www.example.com/more.xml".into(),
            status: Some(200),
            ..Sitemap::default()
        };
        change(&mut sitemap);
        world.origin(|origin| origin.sitemaps.push(sitemap))
    }
    let listed = |world: World| world.sitemap(&["/", "/p"]);
    let article = |day| {
        let article = r#"<script type=application/ld+json>{"@type": "Article", "datePublished": "2023-01-01"}</script>"#;
        World::new()
            .page("/p", article)
            .sitemap(&["/", "/p"])
            .changed("/p", day)
    };
    vec![
        Case {
            id: "content-stale",
            // in May 2023, and in October 2024
            bad: article(19_500),
            good: article(20_000),
        },
        Case {
            id: "sitemap-url-error",
            bad: listed(World::new().answer("/p", 404, &[], "")),
            good: World::new().answer("/p", 404, &[], ""),
        },
        Case {
            id: "sitemap-url-error",
            bad: listed(World::new().answer("/p", 410, &[], "")),
            good: listed(World::new().answer("/p", 500, &[], "")),
        },
        Case {
            id: "sitemap-url-redirect",
            bad: listed(World::new().redirect("/p", 301, "/a")),
            good: World::new().redirect("/p", 301, "/a"),
        },
        Case {
            id: "sitemap-url-redirect",
            bad: listed(World::new().redirect("/p", 302, "/a").page("/a", "<p>x")),
            good: listed(World::new().page("/p", "<p>x")),
        },
        Case {
            id: "sitemap-url-noindex",
            bad: listed(World::new().page("/p", "<meta name=robots content=noindex>")),
            good: listed(World::new().page("/p", "<p>x")),
        },
        Case {
            id: "sitemap-url-noncanonical",
            bad: listed(World::new().page("/p", &canonical("/q"))),
            good: listed(World::new().page("/p", &canonical("/p"))),
        },
        Case {
            id: "sitemap-url-blocked",
            bad: listed(World::new().blocked("/p")).robots("User-agent: *\nDisallow: /p"),
            good: World::new().blocked("/p").robots("User-agent: *\nDisallow: /p"),
        },
        Case {
            id: "sitemap-url-blocked",
            bad: listed(World::new().page("/p", "x")).robots("User-agent: Googlebot\nDisallow: /p"),
            good: listed(World::new().blocked("/p")).robots("User-agent: SearchwrightBot\nDisallow: /p"),
        },
        Case {
            id: "not-in-sitemap",
            bad: World::new().page("/p", "x").sitemap(&["/"]),
            good: listed(World::new().page("/p", "x")),
        },
        Case {
            id: "not-in-sitemap",
            bad: World::new().page("/p", "x").sitemap(&["/"]),
            good: World::new().page("/p", "x"),
        },
        Case {
            id: "not-in-sitemap",
            bad: more(World::new().page("/p", "x").sitemap(&["/"]), |_| ()),
            // an unreadable sitemap may list it
            good: more(World::new().page("/p", "x").sitemap(&["/"]), |sitemap| {
                (sitemap.status, sitemap.error) = (Some(503), Some("status 503".into()));
            }),
        },
        Case {
            id: "not-in-sitemap",
            bad: more(World::new().page("/p", "x").sitemap(&["/"]), |s| s.urls = 50_000),
            good: more(World::new().page("/p", "x").sitemap(&["/"]), |s| s.urls = 50_001),
        },
    ]
}

pub(super) fn robots() -> Vec<Case> {
    let rules = "User-agent: *\nDisallow: /p\nDisallow: /assets/";
    let page = |body: &str| World::new().page("/p", body);
    vec![
        Case {
            id: "robots-blocked-page",
            bad: World::new().blocked("/p").robots(rules),
            good: World::new().page("/", "x").blocked("/p").robots(rules),
        },
        Case {
            id: "robots-blocked-page",
            bad: World::new().blocked("/p").robots(rules),
            good: World::new()
                .blocked("/p")
                .robots("User-agent: SearchwrightBot\nDisallow: /p"),
        },
        Case {
            id: "robots-blocked-page",
            bad: page("x").robots("User-agent: Googlebot\nDisallow: /p"),
            good: page("x")
                .robots("User-agent: Googlebot\nDisallow: /p")
                .origin(|o| o.root = "https://shop.example.com".into()),
        },
        Case {
            id: "robots-blocked-resource",
            bad: page("<base href=/assets/><script src=a.js></script>").robots(rules),
            good: page("<base href=/other/><script src=a.js></script><script src=//cdn.example/assets/a.js></script>")
                .robots(rules),
        },
        Case {
            id: "robots-blocked-resource",
            bad: page("<link rel=stylesheet href=//www.example.com/assets/a.css>").robots(rules),
            good: page("<base href=https://cdn.example/><script src=/assets/a.js></script>").robots(rules),
        },
        Case {
            id: "robots-blocked-resource",
            bad: page("<script src=assets/a.js?u=https://x.example/></script>").robots(rules),
            good: page("<script src=/js/a.js?u=https://x.example/assets/></script>").robots(rules),
        },
        Case {
            id: "robots-blocked-resource",
            bad: page("<script src=/assets/a.js></script>").robots(rules),
            good: page("<script src=/a.js></script><script src=https://cdn.example/assets/a.js></script>")
                .robots(rules),
        },
        Case {
            id: "ai-search-bot-blocked",
            bad: page("x").robots("User-agent: PerplexityBot\nDisallow: /"),
            good: page("x").robots("User-agent: GPTBot\nDisallow: /"),
        },
        // forbidden to Googlebot too
        Case {
            id: "ai-search-bot-blocked",
            bad: page("x").robots("User-agent: Googlebot\nUser-agent: OAI-SearchBot\nDisallow: /p"),
            good: page("<meta name=robots content=noindex>x").robots("User-agent: Googlebot\nDisallow: /p"),
        },
        // other hosts have their own robots.txt
        Case {
            id: "ai-search-bot-blocked",
            bad: page("x").robots("User-agent: *\nDisallow: /"),
            good: World::new()
                .page("/", "x")
                .origin(|o| o.root = "https://shop.example.com".into())
                .robots("User-agent: *\nDisallow: /"),
        },
        Case {
            id: "ai-user-bot-blocked",
            bad: page("x").robots("User-agent: chatgpt-user\nDisallow: /p"),
            good: page("x").robots("User-agent: ChatGPT-Users\nDisallow: /"),
        },
    ]
}
