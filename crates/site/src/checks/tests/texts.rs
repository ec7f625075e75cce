//! Checks of texts, and of structured data compared with them.

use super::{Case, World};

fn prose(changed: usize) -> String {
    let words: String = (0..300)
        .map(|i| {
            format!(
                "w{i}{} ",
                if i == 150 && changed > 0 || i < changed {
                    "x"
                } else {
                    ""
                }
            )
        })
        .collect();
    format!("<title>Text {changed}</title><p>{words}")
}

fn pair(id: &'static str, body: &str, like: &str, unlike: &str) -> Case {
    let world = |other: &str| World::new().page("/p", body).page("/q", other);
    Case {
        id,
        bad: world(like),
        good: world(unlike),
    }
}

fn page(id: &'static str, bad: &str, good: &str) -> Case {
    Case {
        id,
        bad: World::new().page("/p", bad),
        good: World::new().page("/p", good),
    }
}

fn json_ld(json: &str, text: &str) -> String {
    let text = text.to_owned() + &" and more words".repeat(20);
    format!("<script type=application/ld+json>{json}</script><p>{text}")
}

/// Pages of a site whose name is in every title and heading.
fn of_one_site(topics: [&str; 4]) -> World {
    let name = "Handbook of the mowers of Fern and Moss";
    let mut world = World::new();
    for (path, topic) in ["/p", "/q", "/r", "/s"].into_iter().zip(topics) {
        let page = format!("<title>{name}: {topic}</title><h1>{name}</h1><h1>{topic}</h1><p>{topic} {path}");
        world = world.page(path, &page);
    }
    world
}

/// A page whose own words come before a long text in common.
fn leaflet(topic: &str, lead: &str) -> String {
    let notice = "<p>Each mower is tested for an hour on our own lawn before it leaves the house, and comes with a leaflet.";
    format!(
        "<div><a href=/>Home</a></div><h1>{topic}</h1><p>{lead}</p><h2>Notice</h2>{}<div>2026 Fern</div>",
        notice.repeat(8)
    )
}

const ENGLISH: &str = "The repair of lawn mowers is not difficult when you have the right tools and a little patience. \
    Begin with the spark plug, which is easily reached, and look at its colour before you put it back into the engine. \
    When it is black the mixture is too rich; when it is white the engine runs hot. Then you should look at the filter.";
const HARD: &str = "<p>Organisational considerations necessitate comprehensive interdisciplinary deliberation concerning the \
    implementation of administrative responsibilities, notwithstanding previously established institutional arrangements.";

pub(super) fn cases() -> Vec<Case> {
    let titled = |title: &str| format!("<title>{title}</title><h1>Mowers</h1><p>{title}");
    let article = |title: &str| titled(title) + "<meta property=og:type content=article>";
    let typed = |json: &str| json_ld(json, "x");
    let product = r#"{"@context": "https://schema.org", "@type": "Product", "name": "Oak desk", "offers": {"@type": "Offer", "price": "99.00"}}"#;
    let words = " and more words".repeat(20);
    let priced = |price: &str| {
        format!(
            "<div itemscope itemtype=https://schema.org/Product><b itemprop=name>Oak desk</b>\
             <p itemprop=offers itemscope>99 €<meta itemprop=price content={price}></p></div>"
        )
    };
    vec![
        pair("duplicate-near", &prose(0), &prose(1), &prose(40)),
        // an identical text is another problem
        pair("duplicate-near", &prose(0), &prose(1), &prose(0)),
        pair(
            "cannibalisation",
            &titled("How to repair a lawn mower | Fern"),
            &titled("How to Repair a Lawn Mower | Moss"),
            &titled("How to buy a cheap garden rake | Fern"),
        ),
        // seven of eight words
        pair(
            "cannibalisation",
            &titled("How to repair a lawn mower"),
            &titled("How to repair a lawn mower well"),
            &titled("How to repair a lawn mower well and at little cost"),
        ),
        pair(
            "cannibalisation",
            &article("Garden desks, 3 of them"),
            &article("Garden desks: 3 of them"),
            &titled("Garden desks: 3 of them"),
        ),
        // a word of every page is that of the site
        Case {
            id: "cannibalisation",
            bad: of_one_site(["Blades", "Oil", "Wheels", "Blades!"]),
            good: of_one_site(["Blades", "Oil", "Wheels", "Blades and oil"]),
        },
        pair(
            "cannibalisation",
            &titled("Release notes of mower firmware 1.2.1"),
            &titled("Release notes of 1.2.1 (mower firmware)"),
            &titled("Release notes of mower firmware 1.1.2"),
        ),
        // a heading and a sentence before what many pages have in common
        pair(
            "duplicate-exact",
            &leaflet("Blades", "For lawns."),
            &leaflet("Blades", "For lawns."),
            &leaflet("Wheels", "For hills."),
        ),
        page(
            "readability-very-hard",
            &format!("<html lang=en>{}", HARD.repeat(20)),
            &format!("<html lang=en>{}", format!("<p>{ENGLISH}").repeat(10)),
        ),
        page(
            "language-detected-mismatch",
            &format!("<html lang=de-AT><p>{ENGLISH}"),
            &format!("<html lang=en-GB><p>{ENGLISH}"),
        ),
        page(
            "schema-unknown-type",
            &typed(r#"{"@context": "https://schema.org", "@graph": [{"@type": "product", "name": "x"}]}"#),
            &typed(
                r#"{"@context": "http://schema.org/", "@type": "WebSite", "potentialAction": {"@type": "SearchAction", "query-input": "x"}}"#,
            ),
        ),
        page(
            "schema-unknown-type",
            &typed(
                r#"{"@context": {"@vocab": "https://schema.org/"}, "@type": "Product", "offers": {"@type": "Offer", "cost": 1}}"#,
            ),
            &typed(r#"{"@context": "https://www.w3.org/ns/activitystreams", "@type": "Note", "cost": 1}"#),
        ),
        page(
            "schema-unknown-type",
            &typed(
                r#"{"@context": "https://schema.org", "@type": ["Product", "https://schema.org/SomeItems"]}"#,
            ),
            &typed(
                r#"{"@context": "https://schema.org", "@type": ["Product", "gr:SomeItems", "http://www.productontology.org/id/Hammer"], "http://xmlns.com/foaf/0.1/nick": "x"}"#,
            ),
        ),
        page(
            "schema-unknown-type",
            "<p itemscope itemtype=https://schema.org/product>",
            "<p itemscope itemtype=https://schema.org/Product><p itemscope itemtype=https://other.example/car>",
        ),
        page(
            "schema-unknown-type",
            "<p itemscope itemtype=https://schema.org/Offer><b itemprop=cost>1</b>",
            "<p itemscope itemtype=https://schema.org/Offer><b itemprop=price>1</b>",
        ),
        page(
            "schema-content-mismatch",
            &json_ld(product, "Oak desk for 129,00 €"),
            &json_ld(product, "OAK desk for 99 €"),
        ),
        page(
            "schema-content-mismatch",
            &(priced("129.00") + &words),
            &(priced("99.00") + &words),
        ),
        page(
            "schema-content-mismatch",
            &json_ld(
                r#"{"@type": "NewsArticle", "headline": "Cheap flights"}"#,
                "How to mow",
            ),
            &json_ld(
                r#"{"@type": "NewsArticle", "headline": "How to mow"}"#,
                "How to mow",
            ),
        ),
    ]
}

#[test]
fn filler_is_shown_where_it_stands() {
    let text = "<p>Ours is the best. ".repeat(30) + "<h2>About</h2><p>Lorem Ipsum dolor sit amet.";
    let found = World::new().page("/p", &text).findings();
    assert_eq!(
        super::evidence(&found, "lorem-ipsum").unwrap(),
        serde_json::json!({"phrase": "lorem ipsum", "excerpt": "lorem ipsum dolor sit amet."})
    );
}
