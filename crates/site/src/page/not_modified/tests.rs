use http::HeaderValue;
use proptest::prelude::{prop_assert_eq, proptest};

use super::*;
use crate::{
    fetch::Cut,
    page::{HtmlFacts, Limits, UrlId, read},
    urls::{UrlTable, for_each_target},
};

const PAGE: &str = "https://e.example/dir/page?a=1";
const NOW: i64 = 1_795_000_000_000;
const TAG: (&str, &str) = ("etag", "W/\"v1\"");

fn page() -> Url {
    Url::parse(PAGE).unwrap()
}

fn response(status: u16, headers: &[(&'static str, &str)], body: &str) -> Response {
    Response::new(status, headers, body.as_bytes())
}

fn at(id: u32, fetched_at_ms: i64) -> At {
    At {
        id: UrlId(id),
        attempts: 1,
        fetched_at_ms,
    }
}

/// Creates the table of a crawl that knew this many URLs before the page, with the id of the page.
fn table(before: u32) -> (UrlTable, u32) {
    let mut table = UrlTable::new(10_000);
    for n in 0..before {
        table.insert(&format!("https://e.example/{n}"), None);
    }
    let own = table.add_url(&page()).unwrap().0;
    (table, own)
}

fn read_as(answer: &Response, before: u32, now: i64) -> (PageFacts, UrlTable) {
    let (mut table, own) = table(before);
    let facts = read(answer, &page(), at(own, now), &mut table, &Limits::default());
    (facts, table)
}

/// Returns facts as the store returns them; the main text is stored separately.
fn stored(facts: &PageFacts) -> PageFacts {
    let mut again: PageFacts = postcard::from_bytes(&postcard::to_stdvec(facts).unwrap()).unwrap();
    if let (Some(again), Some(html)) = (&mut again.html, &facts.html) {
        again.main_text = html.main_text.clone();
    }
    again
}

/// Returns the facts with keys instead of ids.
fn by_key(mut facts: PageFacts, table: &UrlTable) -> (PageFacts, Vec<Option<String>>) {
    let mut keys = vec![Some(table.key(facts.id).to_owned())];
    for_each_target(&mut facts, |target| {
        keys.push(target.take().map(|id| table.key(id).to_owned()));
    });
    facts.id = UrlId(0);
    (facts, keys)
}

fn is_asked_by(headers: &[(&'static str, &str)], body: &str) -> Option<Validators> {
    let mut all = vec![("content-type", "text/html; charset=utf-8")];
    all.extend(headers);
    let facts = read_as(&response(200, &all, body), 0, NOW).0;
    facts.validators.map(|validators| *validators)
}

#[test]
fn validators_are_those_of_the_answer() {
    // Thu, 19 Nov 2026
    let (seen, day_before) = ("Thu, 19 Nov 2026 02:00:00 GMT", "Wed, 18 Nov 2026 02:00:00 GMT");
    let by = |headers: &[(&'static str, &str)]| {
        let validators = is_asked_by(headers, "<p>x")?;
        assert_eq!(validators.read_at_ms, NOW);
        Some((
            validators.etag.unwrap_or_default().into_string(),
            validators.last_modified.unwrap_or_default().into_string(),
        ))
    };
    let some = |etag: &str, date: &str| Some((etag.to_owned(), date.to_owned()));
    let date = ("date", seen);
    assert_eq!(by(&[]), None);
    assert_eq!(by(&[TAG]), some("W/\"v1\"", ""));
    assert_eq!(
        by(&[("etag", "\"\""), ("last-modified", day_before), date]),
        some("\"\"", day_before)
    );
    assert_eq!(by(&[("last-modified", day_before)]), some("", day_before));
    for useless in [
        ("last-modified", seen),
        ("last-modified", "yesterday"),
        ("last-modified", "Fri, 20 Nov 2026 02:00:00 GMT"),
        ("etag", "v1"),
        ("etag", "\"a\", \"b\""),
        ("etag", "\""),
        ("etag", "*"),
    ] {
        assert_eq!(by(&[useless, date]), None, "{useless:?}");
    }
    assert_eq!(by(&[("etag", &format!("\"{}\"", "x".repeat(300)))]), None);
}

#[test]
fn page_that_a_304_could_hide_is_fetched_whole() {
    let links = "<a href=/x>x</a>".repeat(5_100);
    for (headers, body) in [
        (vec![("vary", "Accept, *")], "<p>x"),
        (vec![("x-robots-tag", "noarchive")], "<p>x"),
        (vec![("link", "</y>; rel=canonical")], "<p>x"),
        (vec![], "<base href=/z/><p>x"),
        (vec![], &*format!("<p>{}", "x".repeat(1_100))),
        (vec![("content-encoding", "gzip")], &*links),
    ] {
        let mut all = vec![TAG];
        all.extend(headers);
        assert_eq!(is_asked_by(&all, body), None, "{all:?} {:.40}", body);
    }
    let long = format!("<p>{}", "x".repeat(1_100));
    assert!(is_asked_by(&[TAG, ("content-encoding", "br")], &long).is_some());
    let unlike = |change: fn(&mut Response)| {
        let mut answer = response(200, &[("content-type", "text/html;charset=utf-8"), TAG], "<p>x");
        change(&mut answer);
        read_as(&answer, 0, NOW).0.validators
    };
    assert!(unlike(|_| {}).is_some());
    assert_eq!(unlike(|answer| answer.status = 404), None);
    assert_eq!(unlike(|answer| answer.cut = Some(Cut::Time)), None);
    assert_eq!(unlike(|answer| answer.ttfb = Duration::from_millis(801)), None);
    assert_eq!(
        unlike(|answer| drop(
            answer
                .headers
                .insert("content-type", HeaderValue::from_static("text/html"))
        )),
        None,
        "no charset"
    );
    assert_eq!(
        unlike(|answer| drop(
            answer
                .headers
                .insert("content-type", HeaderValue::from_static("image/png"))
        )),
        None
    );
}

#[test]
fn a_304_says_which_page_it_means() {
    let means = |known: (Option<&str>, Option<&str>), said: &[(&'static str, &str)]| {
        let known = Validators {
            etag: known.0.map(Into::into),
            last_modified: known.1.map(Into::into),
            read_at_ms: NOW,
        };
        known.are_meant_by(&response(304, said, "").headers)
    };
    let tag = (Some("\"a\""), Some("Wed, 18 Nov 2026 02:00:00 GMT"));
    assert!(means(tag, &[]));
    assert!(means(tag, &[("etag", "W/\"a\"")]));
    assert!(means(tag, &[("last-modified", "Wed, 18 Nov 2026 02:00:00 GMT")]));
    assert!(!means(tag, &[("etag", "\"b\"")]));
    assert!(!means(tag, &[("last-modified", "Thu, 19 Nov 2026 02:00:00 GMT")]));
    assert!(means((None, tag.1), &[("etag", "\"b\"")]));
    let known = |read_at_ms| Validators {
        etag: None,
        last_modified: None,
        read_at_ms,
    };
    assert!(known(NOW - 29 * 86_400_000).last(NOW));
    assert!(!known(NOW - 30 * 86_400_000).last(NOW));
    assert!(!known(NOW + 1).last(NOW));
}

#[test]
fn headers_of_a_304_take_the_place_of_those_before() {
    let before = [
        ("content-type", "text/html; charset=utf-8"),
        ("content-encoding", "gzip"),
        ("cache-control", "max-age=5"),
        ("strict-transport-security", "max-age=1"),
        TAG,
    ];
    let now = [
        ("content-type", "text/plain"),
        ("cache-control", "no-cache"),
        ("server", "s"),
        ("age", "7"),
    ];
    let known = read_as(&response(200, &before, "<p>x"), 0, NOW).0;
    let validators = known.validators.clone().unwrap();
    let become_ = |headers: &[(&'static str, &str)]| {
        let (mut table, own) = table(3);
        let answer = Response {
            ttfb: Duration::from_millis(34),
            ..response(304, headers, "")
        };
        unchanged(
            stored(&known),
            &validators,
            &answer,
            &page(),
            at(own, NOW + 9),
            &mut table,
        )
    };
    let facts = become_(&now);
    assert_eq!(facts.headers.content_type, known.headers.content_type);
    assert_eq!(facts.headers.content_encoding.as_deref(), Some("gzip"));
    assert_eq!(facts.headers.cache_control.as_deref(), Some("no-cache"));
    assert_eq!(facts.headers.hsts, known.headers.hsts);
    assert_eq!(facts.headers.server.as_deref(), Some("s"));
    assert_eq!(facts.headers.caches, [("age", "7".into())]);
    assert_eq!(
        (facts.ttfb_ms, facts.fetched_at_ms, facts.id),
        (34, NOW + 9, UrlId(3))
    );
    assert_eq!(
        (facts.wire_bytes, facts.body_bytes),
        (known.wire_bytes, known.body_bytes)
    );
    assert_eq!(
        facts.validators,
        Some(validators.clone()),
        "and the next time again"
    );
    let hidden = become_(&[("x-robots-tag", "noindex")]);
    assert_eq!(hidden.headers.robots_tags, ["noindex".into()]);
    assert_eq!(hidden.validators, None);
    let named = become_(&[("link", "</de>; rel=alternate; hreflang=de")]);
    assert_eq!(named.html.unwrap().hreflangs.len(), 1);
    assert_eq!(
        named.validators, None,
        "an answer without a body need not name them"
    );
    let named = [
        before[0],
        before[1],
        before[2],
        before[3],
        before[4],
        ("link", "</de>; rel=alternate; hreflang=de"),
    ];
    assert_eq!(read_as(&response(200, &named, "<p>x"), 0, NOW).0.validators, None);
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]
    #[test]
    fn facts_that_are_used_again_are_those_of_reading_again(
        pieces in proptest::collection::vec("(<(a|area)( href=\"[ #]?(https?:)?/{0,3}[a-z.]{0,3}[/?#:]?[a-zé =&]{0,5}\")?( rel=nofollow)?>|<link rel=(canonical|next|alternate) hreflang=de href=\"/?[a-z?=]{0,4}\">|</?(p|h1|title|main|nav|head|body)>|<img src=/[a-z].png>|<i id=x>|[ a-zé]{0,30})", 0..60),
        before in 0_u32..4,
    ) {
        let body = format!("<!doctype html><html lang=en><meta charset=utf-8>{}", pieces.concat());
        let answer = response(200, &[("content-type", "text/html"), ("content-encoding", "br"), TAG], &body);
        let known = read_as(&answer, 0, NOW).0;
        let validators = known.validators.clone().unwrap();
        let (expected, expected_table) = read_as(&answer, before, NOW + 9);
        let (mut table, own) = table(before);
        let not_modified = response(304, &[TAG], "");
        let facts = unchanged(stored(&known), &validators, &not_modified, &page(), at(own, NOW + 9), &mut table);
        prop_assert_eq!(table.len(), expected_table.len(), "every URL that the page names becomes known");
        let (mut expected, keys) = by_key(expected, &expected_table);
        // kept from the full response, on purpose
        expected.validators = Some(validators);
        prop_assert_eq!(by_key(facts, &table), (expected, keys));
    }
}

#[test]
fn every_part_of_the_facts_is_stored_somewhere() {
    // A new field that is not stored fails this test, and must be restored after a 304.
    let body = "<!doctype html><html lang=de><meta charset=utf-8><title>T</title><main><p>".to_owned()
        + &"The quick brown fox jumps over the lazy dog and runs away again. ".repeat(30);
    let answer = response(
        200,
        &[("content-type", "text/html"), ("content-encoding", "br"), TAG],
        &body,
    );
    let facts = read_as(&answer, 0, NOW).0;
    let html = facts.html.as_deref().unwrap();
    assert!(html.sketch.is_some() && html.language.is_some() && !html.main_text.is_empty());
    assert_ne!(*html, HtmlFacts::default());
    let again = PageFacts {
        validators: facts.validators.clone(),
        ..stored(&facts)
    };
    assert_eq!(again, facts);
}

/// A page with an example of everything that is kept.
const ALL: &str = r##"<!doctype html><html lang=en><head><meta charset=utf-8><title>Oak desks &amp; chairs</title>
<meta name=description content="Desks of oak."><meta name=robots content="max-snippet:5"><meta property=og:title content=Desks>
<link rel=canonical href=/desks><link rel=alternate hreflang=de href=/de><link rel=next href="?page=2"><link rel=icon href=/i.ico>
<script type=application/ld+json>{"@type":"Article","headline":"Beds of pine","author":{"name":"Ann"}}</script>
<script src=http://cdn.example/a.js></script></head><body id=top><header><nav><a href=/>Home</a></nav></header>
<main><article><h1>Oak desks</h1><p>How high is a desk? It has 72 centimetres, “more or less”, says Ann.</p><h2>Price</h2>
<p>It costs 1.299,00 €. {{ price }} Lorem ipsum dolor sit amet.</p><a href="../a b?b=1&amp;a=2#part" rel=nofollow title=x>Read <b>on</b></a>
<a href="mailto:a@b.example">Mail</a><a href="htp://x">bad</a><a onclick=x()>click</a><a name=old></a><code><a href=/c>c()</a></code>
<img src=/a.png alt="A desk" width=5 height=5><img src=http://e.example/b.jpg loading=lazy>
<picture><source srcset=/c.webp type=image/webp><img src=/c.jpg alt></picture><picture></picture>
<div itemscope itemtype="https://schema.org/Product" itemprop=prize>x</div><p itemscope itemtype="https://schema.org/Offer"><b itemprop=price>5</b></p><blockquote data-nosnippet>Quoted</blockquote>
<form action=http://e.example/in><input type=password></form><object type=application/x-shockwave-flash></object>
<table><tr><td>cell</table><time datetime=2026-10-05>now</time></article></main><footer>By Ann</footer><title>Second</title></body></html>"##;

#[test]
fn the_reader_has_another_name_when_it_reads_otherwise() {
    let long = format!(
        "{}{}",
        ALL,
        "<p>Sixty words of no great importance stand here. ".repeat(12)
    );
    let cjk = "<html lang=de><meta charset=utf-8><p>".to_owned() + &"木の机はとても長く使えます。".repeat(20);
    let bare = format!("<ul><li><a href=/>Home</a></ul>{long}")
        .replace("main>", "div>")
        .replace("article>", "div>");
    // content found by density, with a table in it
    let sentence = "<p>Words enough in one paragraph that nobody would take them for a part of some menu, whatever is beside.";
    let dense = format!(
        "<div><a href=/>Home</a></div>{0}<table><tr><th>Status<td>stable<tr><th><a href=/c>Context</a><td>all</table>{0}\
         <div>2026 Example</div>",
        sentence.repeat(6)
    );
    let headers = [
        ("content-type", "text/html; charset=utf-8"),
        ("link", "</de>; rel=alternate; hreflang=de, </p>; rel=canonical"),
    ];
    let mut all = Vec::new();
    for body in [ALL, &long, &cjk, &bare, &dense, "<p>plain", ""] {
        let facts = read_as(&response(200, &headers, body), 0, NOW).0;
        // covers names of types and fields too: READER stays if only a name changed
        all.extend(format!("{facts:?}").bytes());
    }
    assert_eq!(
        (READER, searchwright_text::hash(&all)),
        (12, 17_033_874_733_226_609_329),
        "reading makes something else of the same bytes: raise READER, so that nothing of before is used again, and put both numbers here"
    );
}
