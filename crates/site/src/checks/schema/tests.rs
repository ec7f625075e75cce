use super::{ARTICLES, KINDS, Markup, is_local_business, is_organization, markup};
use crate::page::{HtmlFacts, JsonLd, names_article};

#[test]
fn bylines_are_looked_for_on_pages_of_all_articles() {
    assert!(
        ARTICLES
            .iter()
            .all(|name| names_article(&format!("{{\"@type\":\"{name}\"}}")))
    );
    assert!(names_article(r#"{"@type":"\u0041rticle"}"#));
    assert!(!names_article(r#"{"@type":"WebPage"}"#));
}

fn read(blocks: &[&str]) -> Markup<'static> {
    let block = |source: &&str| JsonLd {
        source: (*source).into(),
        error: None,
        line: 1,
    };
    markup(Box::leak(Box::new(HtmlFacts {
        json_ld: blocks.iter().map(block).collect(),
        ..HtmlFacts::default()
    })))
}

#[test]
fn the_kinds_are_there() {
    assert!(KINDS[0].len() > 140 && KINDS[1].len() > KINDS[0].len() + 30);
    for name in ["OnlineStore", "Hotel", "Dentist", "NGO", "Organization"] {
        assert!(is_organization(name), "{name}");
    }
    assert!(is_local_business("Hotel") && !is_local_business("OnlineStore") && !is_organization("Person"));
}

#[test]
fn items_with_one_id_are_merged() {
    let markup = read(&[
        r##"[{"@type": "Product", "@id": "#p", "name": "x", "offers": ""}, {"@type": "Thing", "@id": "_:b"}]"##,
        r##"{"@graph": [{"@type": ["Product", "Car"], "@id": "#p", "name": "y", "offers": {"price": 1}}, {"@type": "Thing", "@id": "_:b"}]}"##,
    ]);
    assert_eq!(markup.items.len(), 3);
    let product = &markup.items[0];
    assert_eq!(
        (product.types.join(" "), product.text("name")),
        ("Product Car".to_owned(), Some("x"))
    );
    assert!(product.has("offers") && !markup.unread);
    let markup = read(&[
        r##"[{"@id": "#p", "name": "x"}, {"@id": "#q", "name": "x"}]"##,
        r##"{"@type": "Product", "@id": "#p"}"##,
    ]);
    assert!(markup.items.len() == 1 && markup.items[0].has("name") && markup.items[0].is("Product"));
}

#[test]
fn the_last_of_a_name_counts() {
    let markup = read(&[
        r##"{"@type": "Article", "@id": "#a", "headline": "x", "headline": "", "author": {"@type": "Persn"}, "author": {"@type": "Person"}}"##,
        r##"{"@id": "#a", "headline": "y"}"##,
    ]);
    assert_eq!(markup.items[0].text("headline"), Some("y"));
    assert_eq!(markup.nested.len(), 1);
}

#[test]
fn objects_in_others() {
    let markup = read(&[
        r##"{"@type": "WebPage", "mainEntity": {"@type": "Product", "offers": 1, "mainEntity": {"@type": "Event", "x": 1}, "author": {"@type": "Person"}},
          "isPartOf": {"@type": "WebSite", "publisher": [{"@type": "Organization", "name": "x"}]}}"##,
        r##"{"@type": "WebPage", "mainEntity": {"@type": "Article", "@id": "#a", "name": "x"}, "publisher": {"@type": "Store", "@id": "#s", "logo": 1}}"##,
        r##"{"@type": "Store", "@id": "#s", "name": "x"}"##,
    ]);
    // a mention with the id of the page does not merge with the page
    let mention = read(&[
        r##"[{"@type": "WebPage", "@id": "/", "about": {"@type": "Event", "@id": "/", "name": "x"}}]"##,
    ]);
    assert!(mention.items[0].has("name") && !mention.items[0].is("Event"));
    let names = |items: &[super::Item]| items.iter().map(|item| item.types.join(" ")).collect::<Vec<_>>();
    assert_eq!(
        names(&markup.items),
        ["WebPage", "WebPage", "Store", "Product", "Event"]
    );
    assert!(markup.items[2].has("logo") && markup.items[2].is_top && !markup.items[3].is_top);
    assert_eq!(
        names(&markup.nested),
        ["Person", "WebSite", "Organization", "Article"]
    );
}

#[test]
fn items_that_were_left_out_are_reported() {
    assert!(read(&["{}", ""]).unread && !read(&["{}"]).unread);
}
