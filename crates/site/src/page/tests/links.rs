//! Links: their targets, anchor texts and lines.

use super::{PAGE, answer, html, texts};
use crate::page::{LINK_CODE, LINK_FRAGMENT, LINK_MALFORMED, LINK_OTHER_SCHEME, Links, REL_NOFOLLOW};

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
    assert!(!facts.links.hide_some(), "what was left out leads nowhere else");
    let facts = html(&(0..2_000).map(link).collect::<String>());
    assert!(facts.links.len() == 2_000 && !facts.links.hide_some());
    let facts = html(&(0..5_000).map(link).collect::<String>());
    assert_eq!((facts.links.len(), facts.links_total), (2_000, 5_000));
    assert!(facts.links.hide_some());
    let stored = postcard::to_stdvec(&facts.links).unwrap();
    assert!(postcard::from_bytes::<Links>(&stored).unwrap().hide_some());
}

#[test]
fn beyond_the_limit_another_way_to_a_target_is_kept() {
    let nofollow = "<a href=/x rel=nofollow>x</a>";
    let facts = html(&(nofollow.repeat(1_200) + "<a href=/x>x</a>" + nofollow));
    let flags: Vec<u8> = facts.links.iter().skip(999).map(|link| link.flags).collect();
    assert_eq!(flags, [REL_NOFOLLOW, 0]);
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
