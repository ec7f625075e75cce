//! Responses: status, headers and charsets.

use super::{answer, texts};
use crate::page::{Outcome, UrlId, not_indexable};

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
    // the name of a robot applies up to the next one
    for (value, expected) in [
        ("otherbot: nofollow, googlebot: noindex", Some("noindex")),
        ("googlebot: noarchive, otherbot: nosnippet, noindex", None),
        ("noindex, otherbot: nofollow", Some("noindex")),
        ("otherbot: noindex", None),
        ("Googlebot:nofollow,noindex", Some("noindex")),
        ("max-snippet:20, noindex", Some("noindex")),
        (
            "unavailable_after: Saturday, 25 Jun 2050 15:00:00 PST, noindex",
            Some("noindex"),
        ),
    ] {
        assert_eq!(code(&[("x-robots-tag", value)], "x"), expected, "{value}");
    }
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
