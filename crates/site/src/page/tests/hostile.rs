//! Pages built to take time or memory, or to hide something.

use std::time::Duration;

use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use rustix::time::{ClockId, clock_gettime};

use super::{answer, html};
use crate::page::HtmlFacts;

#[test]
fn a_mega_menu_hides_no_first_heading() {
    let menu = "<h3>Menu</h3>".repeat(260);
    let facts = html(&format!(
        "{menu}<h1></h1><h1>Mowers</h1><h2>Why?</h2>{}",
        "<h1>x</h1>".repeat(60)
    ));
    let kept: Vec<_> = facts
        .headings
        .iter()
        .skip(250)
        .map(|h| (h.level, &*h.text))
        .collect();
    assert_eq!(kept, [(1, "Mowers"), (1, "x"), (1, "x"), (1, "x"), (1, "x")]);
    assert_eq!(facts.headings_total, 323);
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
fn many_attributes_hide_no_link() {
    let many = |n: usize| (0..n).map(|i| format!(" data-{i}=x")).collect::<String>();
    let few =
        html("<a HREF=/x rel=nofollow title=T></a><img src=http://x/i alt=A><meta name=robots content=none>");
    let more = format!(
        "<a{0} HREF=/x{0} rel=nofollow title=T></a><img{0} src=http://x/i alt=A><meta{0} name=robots content=none>",
        many(500)
    );
    let more = html(&more);
    assert_eq!((&more.links, &more.metas), (&few.links, &few.metas));
    assert_eq!((&more.images, &more.insecure), (&few.images, &few.insecure));
    // the first attribute of a name counts, at any position
    let [early, late] = [many(2), many(127)];
    let facts = html(&format!(
        "<a href=/a{late} href=/b>x</a><a{late} href=/a href=/b>x</a><a{late}{early} Href=/a href=/b>x</a>\
         <p id=one id=two itemprop=name itemprop=other{late} id=three>"
    ));
    assert!(facts.links.iter().all(|link| link.href == "/a"));
    assert_eq!(facts.id_hashes, [searchwright_text::hash(b"one")]);
}

/// Reads a hostile body, and returns the processor time taken, because other tests run at the same time.
fn timed(body: &str) -> (HtmlFacts, Duration) {
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
    let start = now();
    let facts = html(body);
    (facts, now() - start)
}

/// Limit that suffices without optimisation: reading that is not linear takes minutes.
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
        "<b itemscope itemprop=x>",
        "<p itemscope><i itemprop='x y'>z",
    ] {
        let (facts, took) = timed(&piece.repeat(200_000));
        assert!(took < SOON, "{piece} {took:?}");
        // the content of a template is no part of the document
        assert!(facts.elements >= 200_000 || piece == "<template>");
        let (_, took) = timed(&format!(
            "{}{}",
            piece.repeat(100_000),
            "</i></div></p>".repeat(100_000)
        ));
        assert!(took < SOON, "{piece} closed {took:?}");
    }
}

/// Five thousand nested properties around one long text, which is the value of each.
#[test]
fn hostile_properties_copy_no_text() {
    let words = "some words ".repeat(400_000);
    let doubts = "<noscript>itemprop</noscript>".repeat(100_000);
    for inner in [words, doubts] {
        let page = format!("<div itemscope>{}{inner}</div>", "<b itemprop=a>".repeat(5_000));
        let (_, took) = timed(&page);
        assert!(took < SOON, "{took:?}");
    }
}

#[test]
fn hostile_lists_are_cut_and_counted() {
    let (facts, took) = timed(&"<a href=/x>y</a>".repeat(300_000));
    assert_eq!((facts.links.len(), facts.links_total), (1_000, 300_000));
    assert!(took < SOON, "{took:?}");
    for attribute in ["a=1 ", "href=1 ", "id= typeof name=1 "] {
        let (facts, took) = timed(&format!("<p {}>x", attribute.repeat(1_000_000)));
        assert_eq!(facts.elements, 1);
        assert!(took < SOON, "{attribute} {took:?}");
    }
    let everything = "<h2 id=x>h</h2><img src=http://x><meta name=a content=b><link rel=canonical href=/x><link rel=alternate hreflang=x href=/y>\
        <script type=application/ld+json>{</script><form></form><embed type=application/x-silverlight><title>t</title><a>u</a>\
        <div itemtype=a></div>{{ x }}<code>c</code>";
    let (facts, took) = timed(&everything.repeat(20_000));
    assert!(took < SOON, "{took:?}");
    assert_eq!((facts.headings.len(), facts.headings_total), (250, 20_000));
    assert_eq!(
        (facts.images.len(), facts.images_total, facts.insecure.len()),
        (250, 20_000, 20)
    );
    assert!(
        facts.metas.len() <= 50
            && facts.canonicals.len() <= 50
            && facts.hreflangs.len() <= 2_000
            && facts.id_hashes.len() <= 5_000
    );
    assert!(
        facts.json_ld.len() <= 100
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
        "<p itemscope></b>",
        "<img itemscope itemtype=https://schema.org/Thing><i itemprop=x>",
        "'\"<x a=\"",
        "é ",
        "<!--->-",
        "-->",
    ] {
        let (_, took) = timed(&piece.repeat((8_000_000 / piece.len()).min(500_000)));
        assert!(took < SOON, "{piece} {took:?}");
    }
    let (facts, _) = timed("<title>a\0b</title><p>a\0b<a href='x\0y'>z");
    assert_eq!(facts.links_total, 1);
    assert_eq!(facts.titles, ["a\u{fffd}b".into()]);
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
