use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use searchwright_contract::{competitors::Competitor, keywords::Intent};
use serde_json::json;

use super::*;

fn material() -> Material {
    let product = |name: &str, about: &str| {
        let made = json!({
            "name": name, "url": "https://f.example/p", "description": about, "features": ["two motors"],
            "price": { "amount": 499.5, "currency": "EUR" },
        });
        serde_json::from_value(made).unwrap()
    };
    let faq = |question: &str, language: Option<&str>| {
        let made = json!({ "question": question, "answer": "Up to **128** cm.", "language": language });
        serde_json::from_value(made).unwrap()
    };
    let cta = |label: &str, more: serde_json::Value| {
        let mut made = json!({ "label": label, "url": "https://f.example/try" });
        made.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        serde_json::from_value(made).unwrap()
    };
    let page = |url: &str, title: &str| OwnPage {
        url: url.to_owned(),
        title: title.to_owned(),
        headings: vec!["Frames".to_owned()],
        ..OwnPage::default()
    };
    Material {
        topic: "standing desk".to_owned(),
        intent: Some(Intent::Commercial),
        secondary: vec!["sit-stand desk".to_owned()],
        language: "en".to_owned(),
        profile: None,
        products: vec![
            ("p1".to_owned(), product("Oak desk", "A standing desk of oak")),
            ("p2".to_owned(), product("Lamp", "Light for rooms")),
        ],
        faqs: vec![
            faq("How high does the standing desk go?", Some("en-GB")),
            faq("Wie hoch geht der standing desk?", Some("de")),
            faq("Do you ship lamps?", None),
        ],
        rivals: Vec::new(),
        ctas: vec![
            cta("Low", json!({ "priority": 1 })),
            cta(
                "High",
                json!({ "priority": 9, "intents": ["commercial"], "text": "30 days." }),
            ),
            cta(
                "Not this intent",
                json!({ "priority": 99, "intents": ["informational"] }),
            ),
            cta(
                "Over",
                json!({ "priority": 99, "activeTo": "2026-01-01T00:00:00.000Z" }),
            ),
            cta("Another product", json!({ "priority": 99, "productId": "p2" })),
        ],
        pages: vec![
            page("https://f.example/lamps", "All lamps"),
            page("https://f.example/desks", "Standing desks *compared*"),
        ],
        questions: vec![
            "how high does the standing desk go".to_owned(),
            "what is a standing desk".to_owned(),
        ],
        now: "2026-11-21T10:00:00.000Z".parse().unwrap(),
    }
}

#[test]
fn what_is_near_the_topic_is_told_with_its_source() {
    let brief = brief(&material());
    let headings: Vec<&str> = brief
        .sections
        .iter()
        .map(|section| section.heading.as_str())
        .collect();
    assert_eq!(
        headings,
        [
            "How high does the standing desk go?",
            "What should you look for in a standing desk?",
            "How much should you pay for a standing desk?",
            "What are common mistakes with a standing desk?",
            "What is a standing desk?",
            "Oak desk",
            "Standing desk: what the site says already"
        ]
    );
    assert_eq!(
        brief.sections[0].facts,
        [Fact {
            text: "Up to 128 cm.".to_owned(),
            source: "brand data".to_owned()
        }]
    );
    assert_eq!(brief.sections[1].facts, [], "nobody has answered it");
    let product: Vec<&str> = brief.sections[5]
        .facts
        .iter()
        .map(|fact| fact.text.as_str())
        .collect();
    assert_eq!(product, ["A standing desk of oak", "two motors", "499.5 EUR"]);
    let links: Vec<&str> = brief.links.iter().map(|link| link.url.as_str()).collect();
    assert_eq!(links, ["https://f.example/desks", "https://f.example/p"]);
    let ctas: Vec<&str> = brief.ctas.iter().map(|cta| cta.title.as_str()).collect();
    assert_eq!(ctas, ["High", "Low"]);
}

#[test]
fn its_markdown_has_the_headings_and_links_it_says() {
    let markdown = brief(&material()).to_markdown();
    let document = Document::of_markdown(&markdown).unwrap();
    let headings: Vec<String> = document
        .outline()
        .into_iter()
        .map(|heading| heading.text)
        .collect();
    assert_eq!(headings[0], "How high does the standing desk go?");
    assert_eq!(headings[7..], ["Link to", "Close with"]);
    let texts: Vec<&str> = document.links.iter().map(|link| link.text.as_str()).collect();
    assert!(
        texts.contains(&"Standing desks *compared*") && texts.contains(&"High"),
        "{texts:?}"
    );
    assert!(
        document
            .plain_text()
            .contains("nothing in the project answers this yet")
    );
}

#[test]
fn a_german_brief_is_german() {
    let german = Material {
        topic: "stehtisch".to_owned(),
        language: "de".to_owned(),
        faqs: Vec::new(),
        questions: Vec::new(),
        products: material().products,
        pages: vec![OwnPage {
            url: "https://f.example/tische".to_owned(),
            title: "Welcher Stehtisch passt?".to_owned(),
            ..OwnPage::default()
        }],
        ..material()
    };
    let brief = brief(&german);
    assert_eq!(brief.title, "Stehtisch: Worauf es ankommt");
    let markdown = brief.to_markdown();
    for english in [
        "Brief,",
        "Title:",
        "reader",
        "Length",
        " words",
        "nothing in",
        "Link to",
        "Close with",
        "source",
        "says",
    ] {
        assert!(!markdown.contains(english), "{english}: {markdown}");
    }
    assert!(
        markdown.contains("## Stehtisch: Was schon auf der Website steht"),
        "{markdown}"
    );
}

#[test]
fn a_project_that_knows_nothing_gets_a_brief_that_says_so() {
    let empty = Material {
        products: Vec::new(),
        faqs: Vec::new(),
        ctas: Vec::new(),
        pages: Vec::new(),
        questions: Vec::new(),
        secondary: Vec::new(),
        ..material()
    };
    let brief = brief(&empty);
    assert!(brief.sections.iter().all(|section| section.facts.is_empty()));
    assert_eq!((brief.links.len(), brief.ctas.len()), (0, 0));
    assert!(brief.to_markdown().contains("standing desk"));
}

#[test]
fn a_brief_tells_of_the_competitors_that_its_topic_names() {
    let competitor = |name: &str| -> Rival {
        let said = json!([{ "text": "Ships\nwithin 30 days", "sourceUrl": format!("https://{name}.example/shipping") }]);
        let made = json!({ "name": name, "domain": format!("{name}.example"), "claims": said });
        serde_json::from_value::<Competitor>(made).unwrap().into()
    };
    let brief = brief(&Material {
        topic: "oakworks standing desk alternatives".to_owned(),
        rivals: vec![competitor("Birchworks"), competitor("Oakworks")],
        ..material()
    });
    let told: Vec<&Section> = brief
        .sections
        .iter()
        .filter(|section| section.heading.ends_with("works"))
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    let fact = Fact {
        text: "Ships within 30 days".to_owned(),
        source: "https://Oakworks.example/shipping".to_owned(),
    };
    assert_eq!((&*told[0].heading, &told[0].facts), ("Oakworks", &vec![fact]));
}

proptest! {
    #[test]
    fn no_title_of_a_page_is_markup(title in "([a-z ]|[*_\\[\\]<>#|~&!()`\\\\]|https://e\\.example|\n){1,40}") {
        let page = OwnPage { url: "https://f.example/a".to_owned(), title: format!("standing desk {title}"), ..OwnPage::default() };
        let brief = brief(&Material { pages: vec![page], ..material() });
        let document = Document::of_markdown(&brief.to_markdown()).unwrap();
        let expected = one_line(&format!("standing desk {title}"));
        let link = document.links.iter().find(|link| link.text.starts_with("standing desk"));
        prop_assert_eq!(link.map(|link| link.text.trim_end()), Some(expected.as_str()));
        let known = ["https://f.example/a", "https://f.example/p", "https://f.example/try"];
        let strangers: Vec<_> = document.links.iter().filter(|link| !known.contains(&link.href.as_str())).collect();
        prop_assert!(strangers.is_empty(), "{:?}", strangers);
    }

    #[test]
    fn an_address_does_not_end_its_link(url in "https://e\\.example/[ -~]{0,30}") {
        let document = Document::of_markdown(&format!("[a]({})", address(&url))).unwrap();
        prop_assert_eq!(document.links.len(), 1);
    }
}
