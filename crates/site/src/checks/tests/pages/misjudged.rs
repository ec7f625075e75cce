//! Pages as people build them that were once judged wrongly.

use super::{Case, json_ld, page, words};

pub(super) fn cases() -> Vec<Case> {
    [headings(), texts(), markup()].into_iter().flatten().collect()
}

fn headings() -> Vec<Case> {
    let long = "How to look after the blades of a mower that has seen many summers";
    vec![
        page(
            "heading-empty",
            "<h1>x</h1><dialog open><h2></h2></dialog>",
            "<h1>x</h1><dialog><h2></h2></dialog><div class=modal aria-hidden=true><h2></h2></div><h2 hidden></h2>",
        ),
        page(
            "heading-empty",
            "<h2 aria-labelledby=t></h2><p id=u>x",
            "<h2 aria-labelledby=t></h2><p id=t>x",
        ),
        page(
            "h1-multiple",
            "<h1>a</h1><h1>b</h1>",
            "<h1>a</h1><h1 hidden>b</h1>",
        ),
        page("h1-missing", "<h1 hidden></h1>", "<h1 hidden>x</h1>"),
        page(
            "heading-skip",
            "<h1>a</h1><div class=with-sidebar><h3>b</h3></div>",
            "<nav><h5>m</h5></nav><h1>a</h1><div role=complementary><h4>s</h4></div><h2>b</h2><div hidden><h4>t</h4></div>",
        ),
        page(
            "h1-long",
            &format!("<h1>{long} again</h1>"),
            &format!("<h1>{long} <a class=headerlink href=#x title='Link to this heading'>¶</a></h1>"),
        ),
        page(
            "title-same-as-h1",
            "<title>Mowers</title><h1>Mowers<a href=#m>#</a></h1>",
            "<title>Mowers</title><h1>Rakes<a href=#m>#</a></h1>",
        ),
        page(
            "anchor-empty",
            "<a href=/x><i class=icon></i></a>",
            "<a href=/x aria-hidden=true tabindex=-1><img src=a alt></a><a href=/y aria-labelledby=t></a><p id=t>x",
        ),
        page(
            "image-alt-missing",
            "<img src=a>",
            "<div hidden><img src=a></div><img src=b aria-label=x>",
        ),
        page(
            "image-dimensions-missing",
            "<img src=a alt style='width:100%'>",
            "<img src=a alt style='width:9px;height:9px'><img src=b alt width=9 style='height:9px'>",
        ),
    ]
}

fn texts() -> Vec<Case> {
    let code = "<p><code>x</code> and ".repeat(1_200);
    let link = "<a href=http://localhost:8000/>http://localhost:8000/</a>";
    vec![
        page(
            "template-unrendered",
            &format!("{code}<p>{{{{ a }}}} {{{{ b }}}}"),
            &format!("{code}<code>{{{{ a }}}} {{{{ b }}}}</code>"),
        ),
        // templates in code do not use up what is looked at
        page(
            "template-unrendered",
            &format!(
                "{}<p>{{{{ a }}}} {{{{ b }}}}",
                "<code>{{ x }}</code> ".repeat(300)
            ),
            &"<samp>{{ x }}</samp> ".repeat(300),
        ),
        page(
            "template-unrendered",
            "<title>The {{ tag }}</title><h1>The {{ tag }}</h1>",
            "<title>The {{ tag }}</title><h1>The <code>{{ tag }}</code></h1>",
        ),
        page(
            "lorem-ipsum",
            "<blockquote>Lorem ipsum dolor</blockquote><p>Lorem ipsum dolor",
            "<blockquote><p>Lorem ipsum dolor sit amet</blockquote><q>LOREM ipsum</q><pre>lorem ipsum</pre><p>The words “lorem ipsum” mean nothing",
        ),
        page(
            "localhost-link",
            &format!("<p>{link}"),
            &format!("<code>{link}</code>"),
        ),
    ]
}

fn markup() -> Vec<Case> {
    let desk = |price: &str, text: &str| {
        let product = json_ld(&format!(
            r#"{{"@type": "Product", "name": "Oak desk", "offers": {{"@type": "Offer", "price": "{price}"}}}}"#
        ));
        format!("{product}<p>Oak desk for <b>{text}</b><p>{}", words(60))
    };
    let dated = |published: &str, modified: &str| {
        json_ld(&format!(
            r#"{{"@type": "Article", "datePublished": "{published}", "dateModified": "{modified}"}}"#
        ))
    };
    let trail = |kind: &str| {
        json_ld(&format!(
            r#"[{{"@type": "{kind}", "name": "a"}}, {{"@type": "{kind}", "name": "b"}}]"#
        ))
    };
    vec![
        page(
            "schema-required-missing",
            &json_ld(
                r#"{"@context": {"schema": "https://schema.org/"}, "@type": "schema:Product", "schema:name": "x"}"#,
            ),
            &json_ld(
                r#"{"@context": {"schema": "https://schema.org/"}, "@type": "schema:Product", "schema:name": "x", "schema:offers": {"schema:price": 1}}"#,
            ),
        ),
        page(
            "schema-singleton-duplicate",
            &trail("WebSite"),
            &trail("BreadcrumbList"),
        ),
        page(
            "schema-date-invalid",
            &dated("2024-05-01T12:00:00Z", "2024-05-01T08:00:00Z"),
            &dated("2024-05-01T12:00:00Z", "2024-05-01T08:00:00-06:00"),
        ),
        page(
            "schema-date-invalid",
            &dated("2024-05-03T12:00:00Z", "2024-05-02"),
            &dated("2024-05-02T08:00:00+09:00", "2024-05-01"),
        ),
        page(
            "schema-content-mismatch",
            &desk("1299", "12.99 €"),
            &desk("1299", "1.299,00 €"),
        ),
        page(
            "schema-content-mismatch",
            &desk("10.00", "€ 100"),
            &desk("10.00", "€ 10"),
        ),
        page(
            "schema-content-mismatch",
            &desk("12.99", "$1299"),
            &desk("12.99", "$<span>12</span><sup>99</sup>"),
        ),
        page(
            "schema-content-mismatch",
            &desk("129900", "१२९९ ₹"),
            &desk("129900", "१,२९,९०० ₹"),
        ),
    ]
}
