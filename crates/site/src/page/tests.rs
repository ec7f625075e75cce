use std::time::{Duration, Instant};

use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use url::Url;

use super::{
    At, HtmlFacts, Intern, LINK_CODE, LINK_FRAGMENT, LINK_MALFORMED, LINK_OTHER_SCHEME, Limits, Outcome,
    PageFacts, REL_NOFOLLOW, UrlId, not_indexable, read,
};
use crate::{fetch::Response, text, url_key::url_key};

/// Ids in the order URLs are met; the page itself is 0.
struct Table(Vec<String>);

impl Intern for Table {
    fn intern(&mut self, url: &Url) -> Option<UrlId> {
        let key = url_key(url).into_owned();
        self.intern_key(&key)
    }

    fn intern_key(&mut self, key: &str) -> Option<UrlId> {
        let at = self.0.iter().position(|known| known == key);
        let at = at.unwrap_or_else(|| {
            self.0.push(key.to_owned());
            self.0.len() - 1
        });
        Some(UrlId(at as u32))
    }
}

const PAGE: &str = "https://e.example/dir/page";

fn answer(status: u16, headers: &[(&'static str, &str)], body: &[u8]) -> (PageFacts, Vec<String>) {
    let response = Response::of(status, headers, body);
    let mut table = Table(vec![PAGE.to_owned()]);
    let facts = read(
        &response,
        &Url::parse(PAGE).unwrap(),
        At::default(),
        &mut table,
        &Limits {
            links: 1_000,
            ..Limits::default()
        },
    );
    (facts, table.0)
}

fn html(body: &str) -> HtmlFacts {
    *answer(
        200,
        &[("content-type", "text/html; charset=utf-8")],
        body.as_bytes(),
    )
    .0
    .html
    .unwrap()
}

fn texts(list: &[Box<str>]) -> Vec<&str> {
    list.iter().map(|text| &**text).collect()
}

#[test]
fn the_head_of_an_ordinary_page() {
    let facts = html(
        "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title> A &amp;\n B </title>\
         <meta name=Description content=' Some  text '><meta property=og:title content=x><meta http-equiv=Refresh content='5; url=/x'>\
         <link rel='shortcut icon' href=/i.ico><link rel=canonical href=/dir/page><link rel=alternate hreflang=de href=/de>\
         <link rel=next href=?p=2><link rel=stylesheet href=/s.css><script src=http://cdn.example/s.js></script></head><body>Hi",
    );
    assert!(facts.doctype && facts.icon && facts.opening.is_none());
    assert_eq!(facts.lang.as_deref(), Some("en"));
    assert_eq!(texts(&facts.titles), ["A & B"]);
    let metas: Vec<_> = facts.metas.iter().map(|m| (&*m.name, &*m.content)).collect();
    assert_eq!(
        metas,
        [
            ("description", "Some text"),
            ("og:title", "x"),
            ("=refresh", "5; url=/x")
        ]
    );
    assert_eq!(facts.canonicals[0].target, Some(UrlId(0)));
    assert_eq!(
        (&*facts.hreflangs[0].rel, &*facts.hreflangs[0].href),
        ("de", "/de")
    );
    assert_eq!(&*facts.pagination[0].href, "?p=2");
    assert_eq!((facts.resources_total, facts.insecure_total), (2, 1));
    assert_eq!(facts.head_ended_by.as_deref(), Some("body"));
    assert!(facts.head_in_body.is_empty());
    assert_eq!(facts.charset.meta.as_deref(), Some("utf-8"));
}

#[test]
fn what_ends_the_head_too_early() {
    let facts = html(
        "<head><title>a</title><img src=x><meta name=robots content=noindex><link rel=canonical href=/>",
    );
    assert_eq!(facts.head_ended_by.as_deref(), Some("img"));
    assert_eq!(texts(&facts.head_in_body), ["meta robots", "canonical"]);
    assert!(!facts.metas[0].in_head && !facts.canonicals[0].in_head);
    // after </head>, browsers still put these into the head
    let facts = html(
        "<head></head><title>a</title><template><div></div></template><meta name=robots content=x><body>",
    );
    assert!(facts.head_in_body.is_empty());
    assert_eq!(
        html("hello<title>x</title>").head_ended_by.as_deref(),
        Some("text")
    );
}

#[test]
fn titles_of_drawings_and_templates_do_not_count() {
    let facts = html(
        "<svg><title>drawing</title></svg><template><title>t</title></template><title></title><title>b</title>",
    );
    assert_eq!(texts(&facts.titles), ["", "b"]);
}

#[test]
fn links_with_their_names_and_lines() {
    let (facts, urls) = answer(
        200,
        &[("content-type", "text/html")],
        b"<a href=/a>One <b>two</b></a>\n<a href='b?utm_source=x'><img alt=' Pic ture' src=p></a>\n\
          <a href=#top aria-label=Top></a><a href=mailto:x@y>M</a><a href='http//z'>Z</a><a href=/n rel='ugc nofollow'>N</a>\
          <a href=/t title=T> </a><map><area href=/area alt=Ar></map><a href=/s><svg><title>Drawn</title><path/></svg></a>",
    );
    let facts = facts.html.unwrap();
    let links: Vec<_> = facts
        .links
        .iter()
        .map(|l| {
            (
                l.target.map_or("-", |t| urls[t.0 as usize].as_str()),
                l.anchor,
                l.flags,
                l.line,
            )
        })
        .collect();
    assert_eq!(
        links,
        [
            ("https://e.example/a", "One two", 0, 1),
            ("https://e.example/dir/b", "Pic ture", 0, 2),
            (PAGE, "Top", LINK_FRAGMENT, 3),
            ("-", "M", LINK_OTHER_SCHEME, 3),
            ("https://e.example/dir/http//z", "Z", LINK_MALFORMED, 3),
            ("https://e.example/n", "N", REL_NOFOLLOW, 3),
            ("https://e.example/t", "T", 0, 3),
            ("https://e.example/area", "Ar", 0, 3),
            ("https://e.example/s", "Drawn", 0, 3),
        ]
    );
}

#[test]
fn beyond_the_limit_only_new_targets_are_kept() {
    let link = |i: usize| format!("<a href='/{i}'>x</a>");
    let same: String = (0..1_500).map(|i| link(i % 7)).collect();
    let facts = html(&(same + &link(8) + &link(8) + &link(3) + &link(9)));
    assert_eq!((facts.links.len(), facts.links_total), (1_002, 1_504));
    let last: Vec<_> = facts.links.iter().skip(1_000).map(|link| link.href).collect();
    assert_eq!(last, ["/8", "/9"]);
    let facts = html(&(0..5_000).map(link).collect::<String>());
    assert_eq!((facts.links.len(), facts.links_total), (2_000, 5_000));
}

#[test]
fn a_link_may_be_program_text() {
    let facts = html(
        "<a href=/a><code><span>continue</span></code></a> <code>x <a href=/b>y</a></code> <a href=/c>see <code>z</code></a>\
         <code>c</code><a href=/d>d</a><a href=/e><code></code>e</a>",
    );
    let code: Vec<_> = facts.links.iter().map(|l| l.flags & LINK_CODE != 0).collect();
    assert_eq!(code, [true, true, false, false, false]);
}

#[test]
fn elements_are_those_of_the_document_a_browser_makes() {
    // html, head and body apart, which are always there
    for (source, elements) in [
        ("<table><tr><td>a<tr><td>b</table>", 6),
        ("<table><tbody><tr><td>a</table>", 4),
        ("<table><thead><tr><th>a</thead><tr><td>b</table>", 7),
        ("<table><tr><td><table><tr><td>a</table></table>", 8),
    ] {
        assert_eq!(html(source).elements, elements, "{source}");
    }
}

#[test]
fn a_link_ends_where_the_next_begins() {
    let facts = html("<p><a href=/a>one<div>x</div><a href=/b>two</a><p>three");
    assert_eq!(
        facts.links.iter().map(|l| l.anchor).collect::<Vec<_>>(),
        ["one x", "two"]
    );
}

#[test]
fn links_nobody_can_crawl() {
    let facts = html(
        "<a onclick=go()>x</a><a href='javascript:go()'>y</a><a href=# onclick=z>z</a><a name=t></a><a role=button>b</a><a href=#>top</a>\
         <a id=more onclick=more()>m</a><a id=t></a><a role=button onclick=b()>b</a>",
    );
    assert_eq!(
        texts(&facts.uncrawlable_links),
        [
            "<a onclick=go()>",
            "<a href='javascript:go()'>",
            "<a href=# onclick=z>",
            "<a id=more onclick=more()>",
        ]
    );
    assert_eq!((facts.uncrawlable_total, facts.links_total), (4, 3));
}

#[test]
fn headings_and_their_answers() {
    let facts = html(
        "<h1>Main <img alt=logo></h1>\n<h2>What is it?</h2>\n<p>It is a thing.</p><h2>Why?</h2><div><div>One<br>two <b>three</b></div></div><p>y</p>\
         <h3></h3><h3>Next</h3><ul><li>item</ul><h3>Last</h3> a b",
    );
    let headings: Vec<_> = facts
        .headings
        .iter()
        .map(|h| (h.level, &*h.text, h.line, h.answer_words))
        .collect();
    assert_eq!(
        headings,
        [
            (1, "Main logo", 1, 0),
            (2, "What is it?", 2, 4),
            (2, "Why?", 3, 3),
            (3, "", 3, 0),
            (3, "Next", 3, 1),
            (3, "Last", 3, 2),
        ]
    );
}

#[test]
fn main_text_leaves_out_what_is_on_every_page() {
    let around = "<header>Site name</header><nav><ul><li>Home<li>Shop</ul></nav>";
    let facts = html(&format!(
        "{around}<main><header>Title</header><p>Body text here<nav>skip</nav></main><footer>Imprint</footer>"
    ));
    assert_eq!(
        (&*facts.excerpt, facts.main_words, facts.words),
        ("Title Body text here", 4, 10)
    );
    let facts = html(&format!(
        "{around}<article>One</article><article>Two</article><p>Around"
    ));
    assert_eq!(&*facts.excerpt, "One Two");
    let facts = html(&format!("{around}<div>Plain <b>page</b>s</div><aside>ad</aside>"));
    assert_eq!(&*facts.excerpt, "Plain pages");
    assert_eq!(facts.text_hash, text::hash_long(b"plain pages"));
    let facts = html("<div><nav>unclosed</div><p>after");
    assert_eq!(&*facts.excerpt, "after");
    assert_eq!(html("<p> \n").text_hash, 0);
}

#[test]
fn main_text_is_kept_by_lines() {
    let kept = |source: &str| html(source).main_text;
    assert_eq!(
        &*kept(
            "<nav>Menu</nav><main><h1>A <b>title</b></h1><p>Some\n<i>text</i>, <code>x()</code> too<br>and more<ul><li>One<li>Two</ul>\
             <pre>int main;<b>x</b></pre><p>Last<aside>not this</aside></main>"
        ),
        "A title\nSome text, x() too\nand more\nOne\nTwo\nLast"
    );
    assert_eq!(
        &*kept("<article>One</article><aside>no</aside><article><p>Two"),
        "One\nTwo"
    );
    let long = kept(&format!("<p>Begins.<p>{}", "word ".repeat(5_000)));
    assert!(
        long.starts_with("Begins.\nword word") && long.ends_with(" word"),
        "{long}"
    );
    assert!((4_032..=4_096).contains(&long.len()));
    let unspaced = kept(&"語".repeat(5_000));
    assert_eq!(unspaced.len(), 4_095);
}

#[test]
fn scripts_and_styles_are_not_text() {
    let facts = html(
        "<script>var a = 'x y z'</script><style>p {}</style><noscript>n</noscript><textarea>t</textarea><template>t</template><!-- c -->v",
    );
    assert_eq!((facts.words, &*facts.excerpt), (1, "v"));
}

#[test]
fn images_as_they_are() {
    let facts = html(
        "<nav><img src=n loading=lazy alt=n></nav><img src=a loading=lazy width=5 height=5 alt=''><img src=http://x/b role=none>\
         <img src=c style='aspect-ratio: 1'><picture><source srcset=x></picture><picture><img src=d alt=d></picture>",
    );
    assert_eq!(
        (facts.images_total, facts.images_without_alt, facts.images_unsized),
        (5, 1, 3)
    );
    assert_eq!(facts.lazy_first_image.as_deref(), Some("a"));
    assert_eq!(facts.pictures_without_img, 1);
    assert_eq!(
        (&*facts.insecure[0].tag, &*facts.insecure[0].url),
        ("img", "http://x/b")
    );
    assert_eq!(facts.images[1].alt.as_deref(), Some(""));
}

#[test]
fn structured_data_in_both_forms() {
    let facts = html(
        "<script type=application/ld+json>{\"@type\": \"Article\", \"author\": 1}</script>\
         <script type='application/LD+json; x'>{\"a\":\n}</script><script type=application/ld+json></script><script>1</script>\
         <div itemscope itemtype='https://schema.org/Product'></div><div typeof='schema:Person'></div>",
    );
    let errors: Vec<_> = facts.json_ld.iter().map(|b| b.error.as_deref()).collect();
    assert_eq!(
        errors,
        [
            None,
            Some("expected value at line 2 column 1"),
            Some("empty block")
        ]
    );
    assert!(facts.microdata && !facts.byline);
    assert_eq!(texts(&facts.item_types), ["Product", "Person"]);
    let by = |kind: &str| {
        let markup = format!("<script type=application/ld+json>{{\"@type\": \"{kind}\"}}</script>");
        html(&format!("<p class=post-author>Me</p>{markup}")).byline
    };
    // of other pages nobody asks who wrote them
    assert!(by("NewsArticle") && !by("WebPage"));
}

#[test]
fn names_in_microdata_are_those_of_schema_org() {
    let strange = |body: &str| {
        let strange = html(body).strange;
        (
            texts(&strange.types).join(" "),
            texts(&strange.properties).join(" "),
        )
    };
    let item = |inner: &str| format!("<div itemscope itemtype='https://schema.org/Product'>{inner}</div>");
    let found = |types: &str, properties: &str| (types.to_owned(), properties.to_owned());
    assert_eq!(
        strange(&item("<b itemprop='name prize x:y'>x</b><b itemprop=prize>y</b>")),
        found("", "prize")
    );
    assert_eq!(
        strange("<p itemtype='http://www.schema.org/product https://schema.org/Thing/' itemscope>"),
        found("product", "")
    );
    // of other vocabularies, and of objects without a type, nothing is known
    for other in [
        "<p itemscope itemtype='https://other.example/Car'>",
        "<p itemscope itemprop=author>",
    ] {
        assert_eq!(strange(&(item("<b itemprop=prize>x</b>") + other)), found("", ""));
    }
    assert_eq!(strange("<b itemprop=prize>x</b>"), found("", ""));
}

#[test]
fn placeholders_outside_code() {
    let facts = html(
        "<p>Hello {{ user.name }}, <code>{{ not_this }}</code> you owe [object Object]. Lorem ipsum dolor.</p>",
    );
    assert_eq!(
        texts(&facts.placeholders),
        ["lorem ipsum dolor.", "{{ user.name }}", "[object Object]"]
    );
}

#[test]
fn forms_plugins_and_frames() {
    let facts = html(
        "<form action=http://x/login><input type=PASSWORD></form><object data=m.swf></object><object type=application/pdf></object><iframe src=http://y/></iframe>",
    );
    assert_eq!(
        (&*facts.forms[0].action, facts.forms[0].password),
        ("http://x/login", true)
    );
    assert_eq!(texts(&facts.plugins), ["object m.swf"]);
    assert_eq!(&*facts.insecure[0].tag, "iframe");
}

#[test]
fn applications_without_content() {
    assert!(html("<div id=root></div><script src=/app.js></script>").spa_root);
    assert!(!html("<div id=root></div>").spa_root);
}

#[test]
fn what_stands_in_a_template_is_not_there() {
    let facts = html(
        "<title>Real</title><h1>One</h1><p>some <template><title>No</title><h3></h3><picture></picture><form></form><p>no\
         <a href=/no>no</a><script type=application/ld+json>{}</script><main></main><code>x</code></template>words<picture><img src=a></picture>",
    );
    assert_eq!(texts(&facts.titles), ["Real"]);
    assert_eq!(
        (
            facts.headings.len(),
            facts.headings_total,
            facts.pictures_without_img
        ),
        (1, 1, 0)
    );
    assert_eq!((facts.elements, facts.paragraphs), (6, 1));
    assert_eq!(&*facts.excerpt, "One some words");
    assert!(facts.forms.is_empty() && facts.links.is_empty() && facts.json_ld.is_empty());
    // a row in a template ends no row around it
    let facts = html("<table><tr><td>a<template><tr><td><h2></h2></template><h2>b</h2></table>");
    assert_eq!((facts.headings_total, facts.elements), (1, 6));
}

#[test]
fn a_mega_menu_hides_no_first_heading() {
    let menu = "<h3>Menu</h3>".repeat(60);
    let facts = html(&format!(
        "{menu}<h1></h1><h1>Mowers</h1><h2>Why?</h2>{}",
        "<h1>x</h1>".repeat(60)
    ));
    let kept: Vec<_> = facts
        .headings
        .iter()
        .skip(50)
        .map(|h| (h.level, &*h.text))
        .collect();
    assert_eq!(kept, [(1, "Mowers"), (1, "x"), (1, "x"), (1, "x"), (1, "x")]);
    assert_eq!(facts.headings_total, 123);
}

#[test]
fn many_metas_hide_no_card() {
    let citations = "<meta name=citation_author content=x>".repeat(60);
    let images = "<meta property=og:image content=/i>".repeat(60);
    let facts = html(&format!(
        "{citations}<meta name=image property=og:image content=/i>{images}<meta property=og:url content=/u>\
         <meta name=title property='og:title' content=t><meta name='twitter:card' property='Twitter:Card' content=c><meta name=robots content=x>"
    ));
    let kept: Vec<_> = facts.metas.iter().skip(50).map(|m| &*m.name).collect();
    let mut expected = vec!["og:image"; 5];
    expected.extend(["og:url", "og:title", "twitter:card", "robots"]);
    assert_eq!(kept, expected);
    let facts = html(
        "<meta name=image property=og:image content=/i><meta name=Description property=og:description content=d>",
    );
    let metas: Vec<_> = facts.metas.iter().map(|m| (&*m.name, &*m.content)).collect();
    assert_eq!(
        metas,
        [
            ("image", "/i"),
            ("og:image", "/i"),
            ("description", "d"),
            ("og:description", "d")
        ]
    );
}

#[test]
fn insecure_images_hide_no_script() {
    let images = "<img src=http://x/i>".repeat(25);
    let facts = html(
        &(images
            + "<video poster=http://x/p></video><script src=HTTP://x/s></script><object data=http://x/o></object><embed src=http://x/e>"),
    );
    let tags: Vec<_> = facts.insecure.iter().skip(20).map(|r| &*r.tag).collect();
    assert_eq!(tags, ["script", "object", "embed"]);
    assert_eq!(facts.insecure_total, 29);
}

#[test]
fn a_base_on_http_makes_insecure_what_is_relative() {
    let facts = html(
        "<script src=/early.js></script><base href=http://cdn.example/d/><script src=a.js></script><img src=https://e.example/x>\
         <img src=//y.example/i><img src=data:x><img src=''><script src=http://z.example/s></script>",
    );
    let urls: Vec<_> = facts.insecure.iter().map(|r| &*r.url).collect();
    assert_eq!(
        urls,
        [
            "http://cdn.example/d/a.js",
            "http://y.example/i",
            "http://z.example/s"
        ]
    );
}

#[test]
fn a_second_html_tag_only_adds() {
    assert_eq!(html("<html lang=en><html class=x>").lang.as_deref(), Some("en"));
    assert_eq!(html("<html class=x><html lang=de>").lang.as_deref(), Some("de"));
}

#[test]
fn large_json_ld_is_kept_up_to_a_sum() {
    let block = |bytes: usize| {
        format!(
            "<script type=application/ld+json>\"{}\"</script>",
            "x".repeat(bytes)
        )
    };
    let kept = |source: &str| -> Vec<usize> {
        let facts = html(source);
        assert!(facts.json_ld.iter().all(|block| block.error.is_none()));
        facts
            .json_ld
            .iter()
            .map(|block| block.source.len() / 1_000)
            .collect()
    };
    assert_eq!(kept(&(block(30_000) + &block(70_000) + &block(100))), [30, 0, 0]);
    assert_eq!(kept(&(block(60_000).repeat(3) + &block(9_000))), [60, 60, 0, 9]);
}

#[test]
fn no_snippet_of_the_main_text() {
    let words = "word ".repeat(40);
    for (source, hidden) in [
        (format!("<main data-nosnippet>{words}</main>"), true),
        (
            format!("<div data-nosnippet><main>{words}</main></div><p>x"),
            true,
        ),
        (format!("<body data-nosnippet><p>{words}"), true),
        (
            format!("<main><h1>Title</h1><div data-nosnippet>{words}</div></main>"),
            true,
        ),
        (
            format!("<main>{words}</main><article data-nosnippet>{words}</article>"),
            false,
        ),
        (
            format!("<main>{words}<div data-nosnippet>{words}</div></main>"),
            false,
        ),
        (format!("<main>{words}</main><div data-nosnippet>{words}"), false),
        (
            format!("<div data-nosnippet><p>x</div><main>{words}</main>"),
            false,
        ),
        ("<main data-nosnippet></main>".to_owned(), false),
    ] {
        assert_eq!(html(&source).main_nosnippet, hidden, "{source}");
    }
    // it changes nothing else
    let plain = html("<main><p>foo<span>bar</span> x<p>y</main>");
    let marked = html("<main><p>foo<span data-nosnippet>bar</span> x<p data-nosnippet>y</main>");
    assert_eq!(
        (plain.text_hash, plain.main_text),
        (marked.text_hash, marked.main_text)
    );
}

#[test]
fn authors_are_not_authorities() {
    let markup = "<script type=application/ld+json>{\"@type\": \"Article\"}</script>";
    let byline = |text: &str| html(&format!("{text}{markup}")).byline;
    assert!(!byline(
        "<script>authorization; authority; authorize; authorised; authoring</script>"
    ));
    for text in [
        "<p class=author>Me",
        "<script>authorId</script>",
        "<a rel=author>",
        "<p class=authors>",
        "<p class=byline>",
    ] {
        assert!(byline(text), "{text}");
    }
}

#[test]
fn quotations_in_marks_and_elements() {
    for (text, quotations) in [
        ("<q>x</q>", 1),
        ("He said “no”.", 1),
        ("«Non»", 1),
        ("„Nein“ <q>x</q>", 2),
        ("a – b’s © 5\"", 0),
    ] {
        assert_eq!(html(text).quotations, quotations, "{text}");
    }
}

#[test]
fn answers_that_are_no_pages() {
    let (facts, urls) = answer(301, &[("location", "/new#x")], b"<a href=/x>moved</a>");
    assert_eq!(
        facts.outcome,
        Outcome::Redirect {
            status: 301,
            location: Some("/new#x".into()),
            target: Some(UrlId(1))
        }
    );
    assert_eq!((urls[1].as_str(), facts.html), ("https://e.example/new", None));
    let (facts, _) = answer(302, &[("location", "mailto:x")], b"");
    assert!(matches!(facts.outcome, Outcome::Redirect { target: None, .. }));
    let (facts, _) = answer(200, &[("content-type", "text/plain")], b" <!DOCTYPE HTML><p>");
    assert!(facts.looks_html && facts.html.is_none());
    let (facts, _) = answer(200, &[], b"<html>x");
    assert!(facts.html.is_some());
    let (facts, _) = answer(404, &[("content-type", "text/html")], b"<title>gone</title>");
    assert_eq!(
        (
            facts.outcome.clone(),
            facts.html_200().is_some(),
            facts.html.is_some()
        ),
        (Outcome::Status(404), false, true)
    );
}

#[test]
fn reasons_to_stay_out_of_the_index() {
    let code = |headers: &[(&'static str, &str)], body: &str| {
        let headers = [&[("content-type", "text/html")], headers].concat();
        not_indexable(&answer(200, &headers, body.as_bytes()).0).map(|reason| reason.code())
    };
    assert_eq!(code(&[], "<p>x"), None);
    assert_eq!(code(&[], "<link rel=canonical href=/dir/page#x>"), None);
    assert_eq!(
        code(&[], "<link rel=canonical href=/other>"),
        Some("canonicalised")
    );
    assert_eq!(code(&[], "<p><link rel=canonical href=/other>"), None);
    assert_eq!(
        code(&[("link", "</other>; rel=canonical")], "x"),
        Some("canonicalised")
    );
    assert_eq!(code(&[("x-robots-tag", "noindex")], "x"), Some("noindex"));
    assert_eq!(code(&[], "<meta name=googlebot content='none'>"), Some("noindex"));
}

#[test]
fn odd_charsets_are_read_like_any_other() {
    let utf16: Vec<u8> = "\u{feff}<title>Ünï</title>"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let facts = answer(200, &[("content-type", "text/html")], &utf16)
        .0
        .html
        .unwrap();
    assert_eq!(
        (texts(&facts.titles), &*facts.charset.used, facts.charset.bom),
        (vec!["Ünï"], "UTF-16LE", true)
    );
    let facts = answer(
        200,
        &[("content-type", "text/html; charset=koi8-r")],
        b"<title>\xf0\xd2</title>",
    )
    .0
    .html
    .unwrap();
    assert_eq!(texts(&facts.titles), ["Пр"]);
}

/// Reads a hostile body and says how long it took.
fn timed(body: &str) -> (HtmlFacts, Duration) {
    let start = Instant::now();
    let facts = html(body);
    (facts, start.elapsed())
}

/// Even without optimisation, beside other tests, on a slow machine: what is not linear takes minutes.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn hostile_nesting_is_linear() {
    for piece in [
        "<div>",
        "<b>",
        "<p><button>",
        "<i><nav><b>",
        "<svg>",
        "<table><tr><td>",
        "<a href=x>",
        "<template>",
        "<ul><li>",
    ] {
        let (facts, took) = timed(&piece.repeat(200_000));
        assert!(took < SOON, "{piece} {took:?}");
        // what stands in a template is no part of the document
        assert!(facts.elements >= 200_000 || piece == "<template>");
        let (_, took) = timed(&format!(
            "{}{}",
            piece.repeat(100_000),
            "</i></div></p>".repeat(100_000)
        ));
        assert!(took < SOON, "{piece} closed {took:?}");
    }
}

#[test]
fn hostile_lists_are_cut_and_counted() {
    let (facts, took) = timed(&"<a href=/x>y</a>".repeat(300_000));
    assert_eq!((facts.links.len(), facts.links_total), (1_000, 300_000));
    assert!(took < SOON, "{took:?}");
    let (facts, took) = timed(&format!("<p {}>x", "a=1 ".repeat(1_000_000)));
    assert_eq!(facts.elements, 1);
    assert!(took < SOON, "{took:?}");
    let everything = "<h2 id=x>h</h2><img src=http://x><meta name=a content=b><link rel=canonical href=/x><link rel=alternate hreflang=x href=/y>\
        <script type=application/ld+json>{</script><form></form><embed type=application/x-silverlight><title>t</title><a>u</a>\
        <div itemtype=a></div>{{ x }}<code>c</code>";
    let (facts, took) = timed(&everything.repeat(20_000));
    assert!(took < SOON, "{took:?}");
    assert_eq!((facts.headings.len(), facts.headings_total), (50, 20_000));
    assert_eq!(
        (facts.images.len(), facts.images_total, facts.insecure.len()),
        (50, 20_000, 20)
    );
    assert!(
        facts.metas.len() <= 50
            && facts.canonicals.len() <= 50
            && facts.hreflangs.len() <= 200
            && facts.id_hashes.len() <= 5_000
    );
    assert!(
        facts.json_ld.len() <= 50
            && facts.titles.len() <= 50
            && facts.item_types.len() <= 50
            && facts.placeholders.len() <= 30
    );
}

#[test]
fn hostile_syntax_is_linear() {
    for piece in [
        "<!--",
        "<",
        "</",
        "<a ",
        "&amp",
        "&",
        "<script><!--",
        "<title>",
        "\0",
        "<![CDATA[",
        "{{",
        "'\"<x a=\"",
        "é ",
        "<!--->-",
        "-->",
    ] {
        let (_, took) = timed(&piece.repeat(500_000));
        assert!(took < SOON, "{piece} {took:?}");
    }
    let (facts, _) = timed("<p>a\0b<a href='x\0y'>z");
    assert_eq!(facts.links_total, 1);
}

proptest! {
    #[test]
    fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..600), content_type in "text/html(; charset=(utf-8|utf-16|gbk|iso-2022-jp))?") {
        let facts = answer(200, &[("content-type", &content_type)], &bytes).0;
        prop_assert!(facts.html.is_some() || bytes.is_empty());
    }

    #[test]
    fn any_soup_can_be_read(pieces in proptest::collection::vec("(</?(a|p|h1|title|script|svg|main|nav|li|td|template|picture|code)( href=[a-z/#.]{0,5}| id=x| type=application/ld.json)?>|[ a-z&;é{}]{0,9})", 0..60)) {
        let soup = format!("<!-- -->{}", pieces.concat());
        let mut once = html(&soup);
        prop_assert_eq!(once.clone(), html(&soup));
        prop_assert!(once.main_words <= once.words);
        once.main_text = Box::default();
        let stored: HtmlFacts = postcard::from_bytes(&postcard::to_stdvec(&once).unwrap()).unwrap();
        prop_assert_eq!(stored, once);
    }
}

#[test]
fn a_role_is_a_landmark_too() {
    let facts = html("<div>Menu</div><div role=main><p>Two words<div>and more</div></div><p>Imprint");
    assert_eq!((facts.main_words, facts.words), (4, 6));
    let within = html("<main><div role=main>One</div> two</main>three");
    assert_eq!(within.main_words, 2);
}

#[test]
fn without_landmarks_the_dense_blocks_are_the_main_text() {
    let words = |count: usize| "word ".repeat(count);
    let menu: String = (0..30)
        .map(|n| format!("<li><a href=/{n}>Entry number {n}</a>"))
        .collect();
    let page = |text: String| {
        html(&format!(
            "<ul>{menu}</ul><div>{text}</div><div><a href=/i>Imprint</a></div>"
        ))
    };
    let facts = page(format!("<p>{}<p>{}", words(80), words(40)));
    assert_eq!((facts.main_words, facts.words), (120, 120 + 90 + 1));
    // of a short text it cannot be told
    let short = page(format!("<p>{}", words(60)));
    assert_eq!(short.main_words, short.words);
    // and where landmarks are, they count
    let marked = page(format!("<article><p>{}</article><p>{}", words(20), words(120)));
    assert_eq!(marked.main_words, 20);
}

#[test]
fn dates_in_the_text_are_kept_but_those_to_come() {
    let dated = |body: &str| {
        let response = Response::of(200, &[("content-type", "text/html")], body.as_bytes());
        let at = At {
            fetched_at_ms: 1_780_272_000_000,
            ..At::default()
        };
        let url = Url::parse(PAGE).unwrap();
        let facts = read(&response, &url, at, &mut Table(Vec::new()), &Limits::default());
        facts.html.unwrap().dated
    };
    let day = 1_767_225_600_000;
    for (body, wanted) in [
        (
            "<p><time datetime=2026-01-01>today</time><time datetime=2025-01-01></time>",
            Some(day),
        ),
        (
            "<p><time datetime='2026-01-01T00:00:00+00:00'>today</time>",
            Some(day),
        ),
        ("<p><time>2026-01-01</time> and <time>yesterday</time>", Some(day)),
        ("<p><time datetime=2026-07-01>in July</time>", None),
        ("<footer><time datetime=2026-01-01></time></footer>", None),
        ("<template><time datetime=2026-01-01></time></template>", None),
        ("<p><time datetime=P3D>three days</time>", None),
    ] {
        assert_eq!(dated(body), wanted, "{body}");
    }
}
