//! Ideas of a small shop.

use std::collections::HashSet;

use proptest::{
    collection::vec,
    prelude::{any, prop_assert, prop_assert_eq, proptest},
};
use searchwright_contract::keywords::Intent;

use super::{Brand, Figures, Idea, Ideas, MAX_IDEAS, Material, Offer, Page, Product, Rejected, ideas};
use crate::{Source, normalize};

fn shop<'a>() -> Material<'a> {
    let page = |url, title, h1, text| Page {
        url,
        language: Some("en"),
        title: Some(title),
        h1s: vec![h1],
        text,
        ..Page::default()
    };
    let with_heading = |page: Page<'a>| Page {
        headings: vec!["Cable trays for thick tops", "Getting started"],
        ..page
    };
    Material {
        language: "en-GB",
        pages: vec![
            with_heading(page(
                "https://acme.example/frames",
                "Standing desk frames | Acme",
                "Standing desk frames",
                "A standing desk frame carries the desk top and two motors. Our standing desk frames hold 120 \
                 kilograms. Choose the frame width that suits the desk top, and mind the cable tray.",
            )),
            page(
                "https://acme.example/height",
                "Desk height calculator - Acme",
                "Which desk height do I need?",
                "The right desk height depends on your body. Measure the elbow height while you stand. The \
                 calculator gives the desk height for sitting and for standing.",
            ),
            Page {
                url: "https://acme.example/de",
                language: Some("de"),
                title: Some("Höhenverstellbare Schreibtische"),
                ..Page::default()
            },
        ],
        sitemap: vec![
            "https://acme.example/guides/cable-management-tips",
            "https://acme.example/standing-desk-frames.html",
            "https://acme.example/cable-trays-for-thick-tops",
            "https://acme.example/privacy-policy",
        ],
        brand: Brand {
            names: vec!["Acme", "Acme Desks"],
            products: vec![Product {
                name: "Levitate",
                category: Some("standing desk"),
            }],
            faqs: vec!["Do you deliver standing desks to the islands off the west coast of Scotland?"],
            competitors: vec![vec!["Rival", "Rival Inc"]],
        },
        competitor_pages: vec![Page {
            url: "https://rival.example/treadmill",
            title: Some("Treadmill desks | Rival"),
            h1s: vec!["Rival treadmill desks"],
            headings: vec!["Standing desk frame", "Walking pad noise levels"],
            ..Page::default()
        }],
        most: MAX_IDEAS,
        ..Material::default()
    }
}

fn find<'a>(found: &'a Ideas, normalized: &str) -> Option<&'a Idea> {
    found.ideas.iter().find(|idea| idea.normalized == normalized)
}

#[test]
fn every_source_gives_ideas_with_evidence() {
    let found = ideas(&shop());
    for (keyword, source, place, detail) in [
        (
            "cable trays for thick tops",
            Source::SiteContent,
            "https://acme.example/frames",
            "heading",
        ),
        (
            "cable management tips",
            Source::Sitemap,
            "https://acme.example/guides/cable-management-tips",
            "cable-management-tips",
        ),
        ("levitate", Source::BrandData, "products", "Levitate"),
        (
            "rival alternatives",
            Source::BrandData,
            "competitors",
            "{competitor} alternatives",
        ),
        (
            "how to choose standing desk",
            Source::QuestionPattern,
            "products",
            "how to choose {term}",
        ),
        (
            "treadmill desks",
            Source::CompetitorPage,
            "https://rival.example/treadmill",
            "title",
        ),
        (
            "walking pad noise levels",
            Source::CompetitorPage,
            "https://rival.example/treadmill",
            "heading",
        ),
    ] {
        let idea = find(&found, keyword).unwrap_or_else(|| panic!("no {keyword} in {:#?}", found.ideas));
        let has = |e: &super::Evidence| e.source == source && e.place == place && e.detail == detail;
        assert!(idea.evidence.iter().any(has), "{idea:#?}");
    }
    let faq = "do you deliver standing desks to the islands off the west coast of scotland";
    assert!(find(&found, faq).is_some());
    // the same text of two sources is one idea, however many there are of it
    let trays = find(&found, "cable trays for thick tops").unwrap();
    let sources: HashSet<Source> = trays.evidence.iter().map(|e| e.source).collect();
    assert!(sources.contains(&Source::Sitemap) && sources.contains(&Source::SiteContent));
}

#[test]
fn what_is_no_keyword_is_dropped_and_counted() {
    let mut shop = shop();
    shop.blocked = vec!["treadmill"];
    shop.known = vec!["Cable  Management Tips"];
    shop.sitemap.push("https://acme.example/acme-login");
    shop.sitemap.push("https://acme.example/order-2041888-form");
    shop.offers.push(Offer {
        keyword: "frames",
        source: Source::Autocomplete,
        place: "desk",
        figures: Figures::default(),
    });
    let found = ideas(&shop);
    for gone in [
        "privacy policy",
        "cable management tips",
        "acme login",
        "order 2041888 form",
        "treadmill desks",
        "rival treadmill desks",
        "höhenverstellbare schreibtische",
        "frames",
        "acme",
    ] {
        assert!(find(&found, gone).is_none(), "{gone}");
    }
    for reason in [
        Rejected::Generic,
        Rejected::NoTopic,
        Rejected::Covered,
        Rejected::Known,
        Rejected::OwnNavigational,
        Rejected::Personal,
        Rejected::Blocked,
        Rejected::NoGap,
        Rejected::OtherLanguage,
        Rejected::Length,
    ] {
        assert!(
            found.rejected.contains_key(&reason),
            "{reason:?}: {:?}",
            found.rejected
        );
    }
}

#[test]
fn ideas_are_judged_and_sorted() {
    let found = ideas(&shop());
    let intent = |keyword| find(&found, keyword).unwrap().intent.intent;
    assert_eq!(intent("rival alternatives"), Intent::Commercial);
    assert_eq!(intent("rival pricing"), Intent::Transactional);
    assert_eq!(intent("what is standing desk"), Intent::Informational);
    let place = |idea: &Idea| (idea.variant_of.is_some(), -idea.score.unwrap());
    assert!(found.ideas.is_sorted_by(|a, b| place(a) <= place(b)));
    let relevance = |keyword| find(&found, keyword).unwrap().relevance.unwrap();
    assert!(relevance("cable trays for thick tops") > relevance("walking pad noise levels"));
    assert!(
        found
            .ideas
            .iter()
            .all(|i| i.relevance.is_some_and(|r| (0.0..=1.0).contains(&r)))
    );
}

#[test]
fn variants_point_to_their_head_and_come_last_to_the_limit() {
    let mut shop = shop();
    shop.sitemap = vec![
        "https://acme.example/walnut-table-tops",
        "https://acme.example/walnut-table-top",
        "https://acme.example/table-top-walnut-2026",
        "https://acme.example/oak-table-tops",
    ];
    let found = ideas(&shop);
    let head = |keyword| find(&found, keyword).unwrap().variant_of.as_deref();
    assert_eq!(head("walnut table tops"), None);
    assert!(find(&found, "walnut table top").is_none(), "merged");
    assert_eq!(find(&found, "walnut table tops").unwrap().evidence.len(), 2);
    assert_eq!(head("table top walnut 2026"), Some("walnut table tops"));
    assert_eq!(head("oak table tops"), None);

    let heads = found.ideas.iter().filter(|i| i.variant_of.is_none()).count();
    shop.most = heads;
    let found = ideas(&shop);
    assert_eq!(found.ideas.len(), heads);
    assert!(found.ideas.iter().all(|i| i.variant_of.is_none()));
}

#[test]
fn phrases_of_every_page_are_no_topic() {
    let texts: Vec<String> = (0..12)
        .map(|n| {
            format!("This page tells all about the topic number {n} of the garden. Free delivery worldwide.")
        })
        .collect();
    let titles: Vec<String> = (0..12)
        .map(|n| {
            format!(
                "Garden topic {} | Free delivery worldwide",
                "abcdefghijkl".as_bytes()[n] as char
            )
        })
        .collect();
    let pages = texts.iter().zip(&titles).map(|(text, title)| Page {
        url: "https://garden.example/",
        title: Some(title),
        text,
        ..Page::default()
    });
    let material = Material {
        language: "en",
        pages: pages.collect(),
        most: MAX_IDEAS,
        ..Material::default()
    };
    let found = ideas(&material);
    assert!(find(&found, "topic number").is_none() && find(&found, "garden topic c").is_none());
    assert!(find(&found, "free delivery worldwide").is_none());
    assert!(found.rejected[&Rejected::Everywhere] > 0);
}

#[test]
fn two_words_of_a_heading_stand_behind_what_sentences_tell() {
    let names = [
        "tulip", "rose", "lily", "fern", "moss", "ivy", "aster", "dahlia", "phlox", "iris",
    ];
    let texts = names.map(|name| {
        format!("The {name} needs a soaker hose in summer. Lay the soaker hose around the {name}, and water it at night.")
    });
    let titles = names.map(|name| format!("The {name} in detail"));
    let mut pages: Vec<Page<'_>> = texts
        .iter()
        .zip(&titles)
        .map(|(text, title)| Page {
            url: "https://garden.example/",
            title: Some(title),
            text,
            ..Page::default()
        })
        .collect();
    pages.truncate(9);
    for page in &mut pages[3..] {
        page.text = "It stands in the sun, and there is nothing to do for it but to wait until it grows.";
    }
    for page in &mut pages[..3] {
        page.headings = vec!["Script magic"];
    }
    let found = ideas(&Material {
        language: "en",
        pages,
        most: MAX_IDEAS,
        ..Material::default()
    });
    let place = |keyword| found.ideas.iter().position(|idea| idea.normalized == keyword);
    let (told, named) = (place("soaker hose"), place("script magic"));
    assert!(told.is_some() && named.is_some() && told < named, "{found:#?}");
}

#[test]
fn topics_that_a_page_has_are_not_proposed() {
    let mut shop = shop();
    shop.pages[0].h1s = vec!["2. Standing desk frames"];
    shop.pages[1].h1s = vec!["Desk height calculator"];
    shop.pages[1].title = Some("Cable tray for thick tops, 2026 | Acme");
    shop.brand.products[0].name = "Desk height calculator";
    shop.sitemap.push("https://acme.example/rounded-corners");
    shop.pages.push(Page {
        url: "https://acme.example/rounded-corners/",
        title: Some("Soft edges"),
        ..Page::default()
    });
    let found = ideas(&shop);
    for covered in [
        "standing desk frames",
        "standing desk frame",
        "cable trays for thick tops",
        "desk height calculator",
        "rounded corners",
        "soft edges",
    ] {
        assert!(find(&found, covered).is_none(), "{covered}");
    }
    assert!(found.rejected[&Rejected::Covered] >= 4, "{:?}", found.rejected);
}

#[test]
fn without_material_there_are_no_ideas() {
    let material = Material {
        language: "ja",
        most: 10,
        ..Material::default()
    };
    assert_eq!(ideas(&material), Ideas::default());
}

proptest! {
    #[test]
    fn any_material_gives_sound_ideas(
        texts in vec("\\PC{0,60}|([a-d]{1,4}[ .,-]){0,30}", 1..8),
        most in 0usize..300,
        known in any::<bool>(),
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let page = Page { url: "u", title: texts.first().copied(), h1s: texts.clone(), text: texts[0], ..Page::default() };
        let material = Material {
            language: "en",
            pages: vec![page.clone(), page.clone()],
            competitor_pages: vec![page],
            sitemap: texts.clone(),
            seeds: texts.clone(),
            known: if known { texts.clone() } else { Vec::new() },
            brand: Brand { names: vec![texts[0]], faqs: texts.clone(), ..Brand::default() },
            most,
            ..Material::default()
        };
        let found = ideas(&material);
        prop_assert!(found.ideas.len() <= most.min(MAX_IDEAS));
        let mut seen = HashSet::new();
        for idea in &found.ideas {
            prop_assert_eq!(&idea.normalized, &normalize(&idea.keyword));
            prop_assert!(seen.insert(&idea.normalized));
            prop_assert!(!idea.evidence.is_empty());
        }
    }
}
