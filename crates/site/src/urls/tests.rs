use proptest::prelude::*;

use super::*;
use crate::page::{At, HtmlFacts, Link, LinkRel};

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[test]
fn a_url_is_known_once_and_fetched_as_first_seen() {
    let mut table = UrlTable::new(10);
    let plain = table.intern(&url("https://example.com/")).unwrap();
    let odd = table
        .intern(&url("https://u:p@example.com/?b=1&a=2&utm_source=x#f"))
        .unwrap();
    let raw = table.intern(&url("https://example.com/%7Ea?b=1&a=2#f")).unwrap();
    assert_eq!(table.intern(&url("https://example.com/~a?a=2&b=1")), Some(raw));
    assert_eq!([plain, odd, raw], [UrlId(0), UrlId(1), UrlId(2)]);
    assert_eq!(
        (table.url(plain), table.key(plain)),
        ("https://example.com/", "https://example.com/")
    );
    assert_eq!(
        (table.url(odd), table.key(odd)),
        ("https://example.com/?a=2&b=1", "https://example.com/?a=2&b=1")
    );
    assert_eq!(
        (table.url(raw), table.key(raw)),
        (
            "https://example.com/%7Ea?b=1&a=2",
            "https://example.com/~a?a=2&b=1"
        )
    );
    assert_eq!(
        (
            table.get("https://example.com/"),
            table.get("https://example.com")
        ),
        (Some(plain), None)
    );
}

#[test]
fn a_full_table_knows_what_it_knew() {
    let mut table = UrlTable::new(2);
    assert_eq!(table.insert("a", None), Some(UrlId(0)));
    assert_eq!(table.insert(&"x".repeat(KEY_LIMIT + 1), None), None);
    assert_eq!(table.insert("b", None), Some(UrlId(1)));
    assert_eq!(
        (table.insert("c", None), table.insert("a", None)),
        (None, Some(UrlId(0)))
    );
}

#[test]
fn every_target_of_a_page_gets_its_id() {
    let mut table = UrlTable::new(6);
    let own = table.insert("https://example.com/own", None).unwrap();
    let known = table.insert("https://example.com/known", None).unwrap();
    let mut page = table.page(own);
    let mut next = |text: &str| page.intern(&url(text));
    let rel = |target| LinkRel {
        rel: "".into(),
        href: "".into(),
        target,
        in_head: true,
    };
    let link = |target| Link {
        href: "",
        target,
        anchor: "",
        flags: 0,
        line: 1,
    };
    let here = Url::parse("https://example.com/own").unwrap();
    let outcome = Outcome::Redirect {
        status: 301,
        location: None,
        target: next("https://example.com/r"),
    };
    let mut facts = PageFacts::without_answer(
        &here,
        At {
            id: own,
            ..At::default()
        },
        outcome,
    );
    facts.headers.canonicals = vec![rel(next("https://example.com/own#top"))];
    facts.html = Some(Box::new(HtmlFacts {
        canonicals: vec![rel(next("https://example.com/c")), rel(Some(own))],
        hreflangs: vec![rel(next("https://example.com/known")), rel(None)],
        pagination: vec![rel(next("https://example.com/2?z=1&y=2"))],
        links: [
            link(next("https://example.com/c")),
            link(next("https://example.com/e")),
            link(next("https://example.com/full")),
        ]
        .into_iter()
        .collect(),
        ..HtmlFacts::default()
    }));
    table.adopt(page, &mut facts);
    let mut seen = Vec::new();
    for_each_target(&mut facts, |target| {
        seen.push(target.map(|id| table.key(id).to_owned()))
    });
    let seen: Vec<_> = seen
        .iter()
        .map(|key| {
            key.as_deref()
                .map(|k| k.trim_start_matches("https://example.com/"))
        })
        .collect();
    assert_eq!(
        seen,
        [
            Some("r"),
            Some("own"),
            Some("c"),
            Some("own"),
            Some("known"),
            None,
            Some("2?y=2&z=1"),
            Some("c"),
            Some("e"),
            None
        ]
    );
    assert_eq!(known, table.get("https://example.com/known").unwrap());
    assert_eq!(
        table.url(table.get("https://example.com/2?y=2&z=1").unwrap()),
        "https://example.com/2?z=1&y=2"
    );
}

#[test]
fn a_hundred_thousand_urls_stay_small() {
    let mut table = UrlTable::new(200_000);
    for i in 0..100_000 {
        table.insert(
            &format!("https://www.example.com/section/{}/page-{i}.html", i % 100),
            None,
        );
    }
    let keys = table.keys.capacity() + table.key_ends.capacity() * 4;
    let bytes = keys + table.ids.allocation_size() + table.provenance.capacity();
    assert!(bytes / 100_000 < 120, "{} bytes a URL", bytes / 100_000);
}

#[test]
fn the_latest_day_counts_and_no_room_is_taken_without_one() {
    let mut table = UrlTable::new(100);
    let ids: Vec<UrlId> = (0..50)
        .map(|i| table.insert(&format!("https://e.example/{i}"), None).unwrap())
        .collect();
    table.changed_on(ids[40], 0);
    assert_eq!(table.days.capacity(), 0);
    for day in [7, 9, 8] {
        table.changed_on(ids[3], day);
    }
    assert_eq!(
        (
            table.days.len(),
            table.day(ids[3]),
            table.day(ids[2]),
            table.day(ids[40])
        ),
        (4, 9, 0, 0)
    );
}

proptest! {
    #[test]
    fn the_table_agrees_with_a_map(keys in proptest::collection::vec("[a-c]{0,3}", 0..200)) {
        let mut table = UrlTable::new(1000);
        let mut known: Vec<String> = Vec::new();
        for key in &keys {
            let at = known.iter().position(|k| k == key).unwrap_or_else(|| {
                known.push(key.clone());
                known.len() - 1
            });
            prop_assert_eq!(table.insert(key, None), Some(UrlId(at as u32)));
        }
        for (i, key) in known.iter().enumerate() {
            prop_assert_eq!(table.key(UrlId(i as u32)), key.as_str());
        }
    }
}
