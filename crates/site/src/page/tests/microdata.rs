//! Objects of microdata.

use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::{html, texts};
use crate::page::{HtmlFacts, Objects, cut};

fn objects(body: &str) -> Objects {
    html(body).objects.map(|objects| *objects).unwrap_or_default()
}

/// Returns the objects, and whether each is complete.
fn read(body: &str) -> (Value, Vec<bool>) {
    let objects = objects(body);
    let sources = objects.list.iter().map(|object| {
        let source: Value = serde_json::from_str(&object.source).unwrap();
        source
    });
    (
        sources.collect(),
        objects.list.iter().map(|object| object.is_whole).collect(),
    )
}

fn whole(body: &str) -> Value {
    let (objects, whole) = read(body);
    assert!(whole.iter().all(|is| *is), "{body} {objects}");
    objects
}

fn is_whole(body: &str) -> bool {
    let (objects, whole) = read(body);
    assert_eq!(whole.len(), 1, "{body} {objects}");
    whole[0]
}

/// Creates a product with content in it and after it.
fn product(inner: &str, behind: &str) -> String {
    format!("<div itemscope itemtype=https://schema.org/Product>{inner}</div>{behind}")
}

#[test]
fn objects_stand_in_each_other() {
    assert_eq!(
        whole(
            "<main itemscope itemtype='http://schema.org/Product https://www.schema.org/Car/ x:y' itemid=' /car '>\
             <h1 itemprop='name headline'>A <b>red</b>  car</h1>\
             <div itemprop=offers itemscope itemtype=https://schema.org/Offer><b itemprop=price content=5.00>5 €</b>\
             <b itemprop=http://schema.org/sku>7</b><b itemprop='x:y @type'>8</b></div>\
             <ul><li itemprop=review itemscope><i itemprop=author>Ann<li itemprop=review itemscope><i itemprop=author>Bob</ul>\
             <i itemprop=color>red</i><i itemprop=color>blue</i><i itemprop=color>red</i>\
             <article itemscope itemtype=https://schema.org/Article>apart</article></main>"
        ),
        json!([
            {
                "@type": ["Product", "Car"],
                "@id": "/car",
                "color": ["red", "blue"],
                "headline": "A red car",
                "name": "A red car",
                "offers": {"@type": ["Offer"], "price": "5.00", "sku": "7"},
                "review": [{"author": "Ann"}, {"author": "Bob"}],
            },
            {"@type": ["Article"]},
        ])
    );
    assert_eq!(html("<p itemprop=name>x").objects, None);
    // neither is of schema.org
    assert_eq!(
        html("<p itemscope><b itemprop=a>x</b></p><p itemscope itemtype=https://other.example/Product></p>")
            .objects,
        None
    );
}

#[test]
fn values_by_element() {
    let value = |element: &str| {
        let value = whole(&product(element, ""))[0]["x"].take();
        serde_json::from_value::<Value>(value).unwrap()
    };
    for (element, expected) in [
        ("<meta itemprop=x content=' a &amp; b '>", json!("a & b")),
        ("<meta itemprop=x>", json!("")),
        ("<img itemprop=x src=/a>", json!({"@id": "/a"})),
        ("<img itemprop=x class=lazy data-src=/a>", json!({"@id": "/a"})),
        ("<img itemprop=x content=/a>", json!("/a")),
        ("<img itemprop=x>", json!("")),
        ("<video itemprop=x src=/v></video>", json!({"@id": "/v"})),
        ("<iframe itemprop=x src=/v></iframe>", json!({"@id": "/v"})),
        ("<embed itemprop=x src=/v>", json!({"@id": "/v"})),
        ("<object itemprop=x data=/v></object>", json!({"@id": "/v"})),
        ("<a itemprop=x href=/a>b</a>", json!({"@id": "/a"})),
        ("<a itemprop=x>b</a>", json!("b")),
        ("<link itemprop=x href=/a>", json!({"@id": "/a"})),
        ("<data itemprop=x value=1>one</data>", json!("1")),
        ("<meter itemprop=x value=1>one</meter>", json!("1")),
        (
            "<time itemprop=x datetime=2026-01-01>today</time>",
            json!("2026-01-01"),
        ),
        ("<time itemprop=x>2026-01-01</time>", json!("2026-01-01")),
        ("<p itemprop=x> a<br>b <i>c</i></p>", json!("a b c")),
        ("<p itemprop=x content=5>6</p>", json!("5")),
        ("<p itemprop=x></p>", json!("")),
        ("<p itemprop=x><svg><title>a</title></svg></p>", json!(true)),
        ("<p itemprop=x><b><textarea>a</textarea></b></p>", json!(true)),
        ("<p itemprop=x><textarea>a</textarea></p>", json!(true)),
        ("<p itemprop=x itemscope></p>", json!(true)),
        ("<p itemprop=x itemscope itemid=/a></p>", json!({"@id": "/a"})),
    ] {
        assert_eq!(value(element), expected, "{element}");
    }
    assert_eq!(
        whole(&product("<a itemprop=author href=/me>Ann</a>", "")),
        json!([{"@type": ["Product"], "author": {"url": "/me", "name": "Ann"}}])
    );
    assert_eq!(
        whole(
            "<html itemscope itemtype=https://schema.org/WebPage><title itemprop=name>T &amp; U</title><body>x</html>"
        ),
        json!([{"@type": ["WebPage"], "name": "T & U"}])
    );
}

#[test]
fn object_with_uncertain_end_is_marked() {
    for sure in [
        product("<b itemprop=name>x", ""),
        product("<p>x<div>y</div>", "<p>z"),
        product(
            "<meta itemprop=mainEntityOfPage itemscope itemtype=https://schema.org/WebPage>",
            "",
        ),
        product("<ul><li itemprop=review itemscope>a<li>b</ul>", ""),
        // a surplus end tag before any object ended none
        format!(
            "<meta itemprop=name content=x></span></p>{}",
            product("", "</p></span>")
        ),
        "<body itemscope itemtype=https://schema.org/WebPage><b itemprop=name>x</b></div></body>".to_owned(),
        "<ul><li itemscope itemtype=https://schema.org/Product>a<li>b</ul>".to_owned(),
        product("<template><div itemprop=x itemscope></template>", ""),
    ] {
        assert!(is_whole(&sure), "{sure}");
    }
    for unsure in [
        // closed by another tag than its end tag
        "<p itemscope itemtype=https://schema.org/Product>x<div itemprop=name>y</div>".to_owned(),
        "<div><span itemscope itemtype=https://schema.org/Product></div>".to_owned(),
        "<div itemscope itemtype=https://schema.org/Product>".to_owned(),
        product(
            "<a itemprop=brand itemscope><div></a></div><b itemprop=offers>1</b>",
            "",
        ),
        // a surplus end tag, or a property outside any object
        product("<b itemprop=name>x</b>", "<b>y</b></div>"),
        product("", "<b itemprop=offers>1</b>"),
        // a part of it is elsewhere
        "<div itemscope itemref=x itemtype=https://schema.org/Product></div>".to_owned(),
        product("<p itemprop=offers itemscope itemref=x></p>", ""),
        product("<noscript><img itemprop=image src=/a></noscript>", ""),
        "<img itemscope itemtype=https://schema.org/Product>".to_owned(),
        "<div itemprop=x itemscope itemtype=https://schema.org/Product></div>".to_owned(),
        // cut off
        "<body itemscope itemtype=https://schema.org/WebPage><b itemprop=name>x</b>".to_owned(),
    ] {
        assert!(!is_whole(&unsure), "{unsure}");
    }
}

#[test]
fn types_of_what_is_no_object() {
    let elsewhere = |rest: &str| texts(&objects(&product("", rest)).elsewhere).join(" ");
    assert_eq!(elsewhere(""), "");
    assert_eq!(elsewhere("<p typeof='schema:Person s:Event'>"), "Person Event");
    assert_eq!(elsewhere("<p itemtype=https://schema.org/Event>"), "Event");
    assert_eq!(
        elsewhere("<p itemscope itemtype=https://other.example/Event>"),
        "Event"
    );
    assert_eq!(
        elsewhere("<p itemscope><b itemprop=x itemscope itemtype=https://schema.org/Event></b>"),
        "Event"
    );
}

#[test]
fn much_of_it_is_cut() {
    let is_cut = |facts: &HtmlFacts| facts.cut_lists() & cut::MARKUP != 0;
    let bytes = |facts: &HtmlFacts| -> usize {
        let list = facts.objects.iter().flat_map(|objects| &objects.list);
        list.map(|object| object.source.len()).sum()
    };
    let texts: Vec<String> = (0..400)
        .map(|n| format!("<p itemprop=text>{n}{}</p>", "x".repeat(900)))
        .collect();
    for body in [
        product("", "").repeat(1_001),
        product(&texts.concat(), ""),
        product(&"<b itemprop=a>x</b>".repeat(6_000), ""),
        "<div itemscope itemtype=https://schema.org/Thing itemprop=x>".repeat(20),
        // as many copies as names, on each level
        product(&"<div itemscope itemprop='a b c'>".repeat(14), ""),
    ] {
        let facts = html(&body);
        assert!(
            is_cut(&facts) && bytes(&facts) <= 64 << 10,
            "{body:.80} {}",
            bytes(&facts)
        );
    }
    let facts = html(&product(&format!("<p itemprop=text>{}", "é".repeat(2_000)), ""));
    assert!(!is_cut(&facts) && bytes(&facts) < 700);
}

proptest! {
    #[test]
    fn any_soup_makes_json(pieces in proptest::collection::vec(
        "(</?(div|p|a|li|ul|body|span|svg|title|template|table|td|b|meta|img|time|noscript)( itemscope| itemprop=\"(a|b c|url)\"| itemtype=(https://schema.org/(Event|Thing)|x)| itemref=a| itemid=\"[\"&/]?\"| href=/| content=\"[ \\\\\\\\]\"| typeof=Event){0,4}>|[ a-z&;é\\\\\"\u{1}]{0,9})",
        0..60
    )) {
        let facts = html(&pieces.concat());
        prop_assert_eq!(&facts, &html(&pieces.concat()));
        for object in facts.objects.iter().flat_map(|objects| &objects.list) {
            let source = serde_json::from_str::<Value>(&object.source);
            prop_assert!(source.is_ok_and(|object| object.is_object()), "{}", object.source);
        }
    }

    /// Well-formed trees are read as written.
    #[test]
    fn trees_are_read_as_they_are_written(shape in proptest::collection::vec(0_u8..4, 0..60)) {
        let mut stack = vec![json!({"@type": ["Thing"]})];
        let mut body = "<div itemscope itemtype=https://schema.org/Thing>".to_owned();
        let close = |stack: &mut Vec<Value>| {
            let inner = stack.pop().unwrap();
            stack.last_mut().unwrap().as_object_mut().unwrap().insert("o".to_owned(), inner);
        };
        for (n, step) in shape.into_iter().enumerate() {
            match step {
                0 if stack.len() < 10 && stack.last().unwrap().get("o").is_none() => {
                    body += "<section itemprop=o itemscope itemtype=https://schema.org/Thing>";
                    stack.push(json!({"@type": ["Thing"]}));
                }
                1 if stack.len() > 1 => {
                    body += "</section>";
                    close(&mut stack);
                }
                2 => {
                    body += &format!("<p><b itemprop=t{n}>{n}</b></p>");
                    stack.last_mut().unwrap()[format!("t{n}")] = json!(n.to_string());
                }
                _ => body += "<div>x<br></div>",
            }
        }
        while stack.len() > 1 {
            body += "</section>";
            close(&mut stack);
        }
        prop_assert_eq!(whole(&(body + "</div>")), json!(stack));
    }
}
