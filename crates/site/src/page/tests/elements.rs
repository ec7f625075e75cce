//! Elements of the head and the body.

use super::{html, texts};
use crate::page::UrlId;

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
fn misplaced_elements_end_the_head() {
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
fn elements_are_those_of_the_document_a_browser_makes() {
    // without html, head and body, which always exist
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
fn template_contents_are_ignored() {
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
    // a row in a template does not end a row around it
    let facts = html("<table><tr><td>a<template><tr><td><h2></h2></template><h2>b</h2></table>");
    assert_eq!((facts.headings_total, facts.elements), (1, 6));
}

#[test]
fn a_second_html_tag_only_adds() {
    assert_eq!(html("<html lang=en><html class=x>").lang.as_deref(), Some("en"));
    assert_eq!(html("<html class=x><html lang=de>").lang.as_deref(), Some("de"));
}
