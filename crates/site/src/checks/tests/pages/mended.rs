//! Cases that were once judged wrongly.

use super::{Case, World, json_ld, page, words};

pub(super) fn mended() -> Vec<Case> {
    let menu = "<h3>Menu</h3>".repeat(260);
    let base = |base: &str, body: &str| format!("<base href={base}>{body}");
    let card = |attribute: &str| {
        ["title", "type", "image", "url"]
            .map(|name| format!("<meta name={name} {attribute}='og:{name}' content=x>"))
            .concat()
    };
    let citations = "<meta name=citation_author content=x>".repeat(60);
    let long = |kind: &str| {
        json_ld(&format!(
            r#"{{"@type": "{kind}", "text": "{}"}}"#,
            "x".repeat(30_000)
        ))
    };
    let too_long = json_ld(&format!(
        r#"{{"@type": "Article", "text": "{}"}}"#,
        "x".repeat(70_000)
    ));
    let deep = |bad: &str, good: &str| Case {
        id: "breadcrumb-missing",
        bad: World::new().page("/p/q/r", bad),
        good: World::new().page("/p/q/r", good),
    };
    let in_page = |json: &str| json_ld(&format!(r#"{{"@type": "WebPage", "mainEntity": {json}}}"#));
    let own_words = words(600);
    let article = json_ld(r#"{"@type": "Article", "author": "Me"}"#);
    vec![
        page(
            "mixed-content-active",
            &("<img src=http://cdn.example/a.png>".repeat(20)
                + "<script src=http://cdn.example/a.js></script>"),
            &"<img src=http://cdn.example/a.png>".repeat(20),
        ),
        page(
            "mixed-content-active",
            &base("http://cdn.example/", "<script src=a.js></script>"),
            &base("//cdn.example/", "<script src=a.js></script>"),
        ),
        page(
            "mixed-content-active",
            "<object data=http://cdn.example/a.pdf></object>",
            "<object data=https://cdn.example/a.pdf></object>",
        ),
        page(
            "mixed-content-passive",
            "<picture><source srcset='/a.webp 1x, http://cdn.example/b.webp 2x'><img src=/a.jpg></picture>",
            "<img src=/a.jpg srcset='/a.webp 1x, https://cdn.example/b.webp 2x'>",
        ),
        page(
            "mixed-content-passive",
            "<video poster=http://cdn.example/a.png></video>",
            "<video poster=/a.png></video>",
        ),
        page(
            "form-insecure",
            &base("http://www.example.com/", "<form action=/send></form>"),
            &base(
                "http://www.example.com/",
                "<form></form><form action=https://www.example.com/></form>",
            ),
        ),
        page(
            "heading-empty",
            "<h2></h2>",
            "<h2>x</h2><template><h3></h3></template>",
        ),
        page(
            "heading-skip",
            "<h1>x</h1><h3>y</h3>",
            "<h1>x</h1><template><h4>y</h4></template><h2>z</h2>",
        ),
        page(
            "picture-no-img",
            "<picture></picture>",
            "<template><picture></picture></template><picture><template></template><img src=a></picture>",
        ),
        page("h1-missing", &menu, &format!("{menu}<h1>Mowers</h1>")),
        page(
            "h1-multiple",
            &format!("{menu}<h1>a</h1><h1>b</h1>"),
            &format!("{menu}<h1>a</h1>"),
        ),
        page(
            "og-incomplete",
            &card("rel"),
            &(citations.clone() + &card("property")),
        ),
        page(
            "twitter-card-missing",
            &citations,
            &(citations.clone() + "<meta name=card property=twitter:card content=summary>"),
        ),
        deep(&long("Article"), &long("BreadcrumbList")),
        // a block that was not read may contain it
        deep("<p>x", &too_long),
        page(
            "schema-required-missing",
            &in_page(r#"{"@type": "Product", "name": "x", "image": "y"}"#),
            &in_page(r#"{"@type": "Product", "name": "x", "url": "/x"}"#),
        ),
        page(
            "schema-required-missing",
            &json_ld(r#"{"@type": "Product", "@id": "x", "name": "x"}"#),
            &(json_ld(r#"{"@type": "Product", "@id": "x", "name": "x"}"#)
                + &json_ld(r#"{"@type": "Product", "@id": "x", "offers": {"price": 1}}"#)),
        ),
        page(
            "schema-required-missing",
            &json_ld(
                r##"{"@graph": [{"@type": "Product", "name": "x", "review": {"@id": "#r"}}, {"@type": "Review", "@id": "#s", "author": "x", "reviewRating": 1}]}"##,
            ),
            &json_ld(
                r##"{"@graph": [{"@type": "Product", "name": "x", "review": {"@id": "#r"}}, {"@type": "Review", "@id": "#r", "author": "x", "reviewRating": 1}]}"##,
            ),
        ),
        page(
            "schema-required-missing",
            &json_ld(r#"{"@type": "Dentist", "name": "x"}"#),
            &json_ld(r#"{"@type": "Article", "publisher": {"@type": "Dentist", "name": "x"}}"#),
        ),
        page(
            "schema-required-missing",
            &json_ld(r#"{"@type": "MusicEvent", "name": "x"}"#),
            &json_ld(r#"{"@type": ["OnlineStore", "BroadcastEvent", "VacationRental"], "name": "x"}"#),
        ),
        page(
            "schema-recommended-missing",
            &in_page(r#"{"@type": "Article", "headline": "x"}"#),
            &json_ld(r#"{"@type": "WebPage", "hasPart": {"@type": "Article", "headline": "x"}}"#),
        ),
        page(
            "schema-singleton-duplicate",
            &json_ld(r#"[{"@type": "Organization"}, {"@type": "Organization"}]"#),
            &json_ld(
                r#"[{"@type": "Organization"}, {"@type": "Article", "publisher": {"@type": "Organization"}}, {"@type": "ProfilePage", "mainEntity": {"@type": "Organization", "logo": "x"}}]"#,
            ),
        ),
        page(
            "viewport-fixed",
            "<meta name=viewport content='width=1024 initial-scale=1'>",
            "<meta name=viewport content='width=device-width initial-scale=1'>",
        ),
        page(
            "viewport-zoom-off",
            "<meta name=viewport content='width=device-width user-scalable = no'>",
            "<meta name=viewport content='width=device-width user-scalable=yes'>",
        ),
        page("lang-invalid", "<html lang=english>", "<html lang=eng>"),
        page("lang-invalid", "<html lang=en-UK>", "<html lang=en-GB>"),
        page("lang-invalid", "<html lang=xy>", "<html lang=sh>"),
        page(
            "lang-missing",
            "<html><html class=x>",
            "<html lang=en><html class=x>",
        ),
        page(
            "anchor-uncrawlable",
            "<a id=more onclick=more()>More</a>",
            "<a id=more></a>",
        ),
        page(
            "link-malformed",
            "<a href=hhtps://other.example/>x</a>",
            "<a href=https/other>x</a>",
        ),
        page(
            "author-missing",
            &(json_ld(r#"{"@type": "Article"}"#) + "<script>authorization(authority)</script>"),
            &(json_ld(r#"{"@type": "Article"}"#) + "<a rel=author href=/me>Me</a>"),
        ),
        page(
            "evidence-missing",
            &format!("{article}{own_words} \"no\""),
            &format!("{article}{own_words} as he said: “no”"),
        ),
        page(
            "direct-answer-missing",
            "<h2>How to change oil</h2><p>Well.",
            &format!("<h2>How to change oil</h2><p>{}<h2>Oil</h2><p>Well.", words(30)),
        ),
        page(
            "snippet-restricted",
            "<div data-nosnippet><main>x</main></div>",
            "<main>x</main><article data-nosnippet>y</article>",
        ),
        // 11 of 43 are 25.6 %
        page(
            "paragraphs-long",
            &(format!("<p>{}", words(151)).repeat(11) + &"<p>a".repeat(32)),
            &(format!("<p>{}", words(151)).repeat(11) + &"<p>a".repeat(33)),
        ),
        page(
            "template-unrendered",
            "<title>Hello, undefined!</title>",
            "<title>Hello</title>",
        ),
        page(
            "template-unrendered",
            "<meta name=description content='Desks from NaN EUR'>",
            "<meta name=description content='NaN and undefined in JavaScript'>",
        ),
    ]
}
