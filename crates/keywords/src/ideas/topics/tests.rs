//! Tests of what is a topic.

use super::{
    super::{Page, usage::Usage},
    Place, Topics,
};
use crate::words::Lexicon;

const TEXT: &str = "The tank holds the rain barrel water. A rain barrel fills fast. You can drain the barrel, and you drain it \
                    again. The pump drains water to the bed. We mulch the bed, and you mulch the roses. A rain barrel is heavy. \
                    Pipes of PVC and an SSL seal are here; the alternative is here.";

fn found(language: &str, text: &str, place: Place) -> Option<String> {
    let lexicon = Lexicon::for_language(language);
    let pages = [Page {
        text: if language == "en" { TEXT } else { "" },
        ..Page::default()
    }];
    let usage = Usage::from_pages(&pages, language, &lexicon);
    Topics::new(language, &lexicon, &usage).find(text, place)
}

fn named(language: &str, text: &str) -> Option<String> {
    found(language, text, Place::Named)
}

#[test]
fn names_are_topics() {
    for (text, topic) in [
        ("Rain barrel", "rain barrel"),
        (
            "3.2. Rain Barrels for small gardens",
            "rain barrels for small gardens",
        ),
        ("Chapter 4. Drip irrigation", "drip irrigation"),
        ("Section 15.3, “Drip irrigation”", "drip irrigation"),
        ("Signs of overwatering", "signs of overwatering"),
        ("Choosing the right hose", "choosing the right hose"),
        ("Rain barrel vs. cistern", "rain barrel vs. cistern"),
        ("ALTERNATIVE Drip irrigation", "drip irrigation"),
        ("Ground Source Heat Pump (GSHP)", "ground source heat pump"),
        ("SSL seal", "SSL seal"),
        ("mulch roses", "mulch roses"),
    ] {
        assert_eq!(named("en", text).as_deref(), Some(topic), "{text}");
    }
    for topic in [
        "Pumpen einrichten",
        "Wahl der Pumpe",
        "Automatische Bewässerung",
        "Tomaten im Hochbeet",
    ] {
        let found = named("de", topic).map(|found| found.to_lowercase());
        assert_eq!(found, Some(topic.to_lowercase()));
    }
    for (language, topic) in [
        ("fr", "arrosage de la pelouse"),
        ("es", "riego por goteo"),
        ("it", "irrigazione a goccia"),
        ("nl", "aanleg van het gazon"),
        ("pt", "rega por gotejamento"),
        ("pl", "nawadnianie kropelkowe"),
    ] {
        assert_eq!(named(language, topic).as_deref(), Some(topic));
    }
}

#[test]
fn questions_stay_questions() {
    for question in [
        "How often should you water a lawn?",
        "When to drain a rain barrel",
        "Do I need a pump?",
    ] {
        let topic = named("en", question).unwrap();
        assert_eq!(
            crate::normalize(&topic),
            crate::normalize(question.trim_end_matches('?'))
        );
    }
    assert!(named("de", "Wie oft muss man den Rasen gießen?").is_some());
    for pointing in [
        "How does it work?",
        "What is this?",
        "Why we are here",
        "What can they do?",
    ] {
        assert_eq!(named("en", pointing), None, "{pointing}");
    }
    assert_eq!(found("en", "when the barrel", Place::Text), None);
}

#[test]
fn parts_of_sentences_are_no_topics() {
    for text in [
        "lives for weeks",
        "tank holds water",
        "pump drains water",
        "for the garden",
        "barrel and",
        "barrels filled",
        "You will need",
        "following barrel",
        "barrel quickly",
        "remove the barrel",
        "two barrels",
        "pipes carrying water",
        "barrel, pump and hose",
        "next section",
    ] {
        assert_eq!(named("en", text), None, "{text}");
    }
    for text in [
        "Pumpe speichert Wasser",
        "für den Garten",
        "entlastet Rohre",
        "nächster Abschnitt",
    ] {
        assert_eq!(named("de", text), None, "{text}");
    }
}

#[test]
fn furniture_and_code_are_no_topics() {
    for text in [
        "Getting started",
        "Table of contents",
        "2. Overview",
        "See also",
        "Release notes",
        "rain_barrel size",
        "barrel.config file",
        "--drain option",
        "etc/barrel/config files",
        "Version 2.1",
        "",
        "  ?",
    ] {
        assert!(
            named("en", text).is_none_or(|topic| topic.contains("contents")),
            "{text}"
        );
    }
    assert_eq!(named("de", "Erste Schritte"), None);
    assert_eq!(named("fr", "Premiers pas"), None);
}

/// Returns the topic that words of these sentences are.
fn told(language: &str, text: &str, words: &str) -> Option<String> {
    let lexicon = Lexicon::for_language(language);
    let pages = [Page {
        text,
        ..Page::default()
    }];
    let usage = Usage::from_pages(&pages, language, &lexicon);
    Topics::new(language, &lexicon, &usage).find(words, Place::Text)
}

#[test]
fn only_sentences_tell_what_a_phrase_is() {
    let menu = "Hose reels\nTap: hose reels\nreel() in hose reels\n";
    assert_eq!(told("en", menu, "hose reels"), None);
    let sentences = "We sell all of the hose reels by post. The best of our hose reels is red.";
    assert!(told("en", sentences, "hose reels").is_some());
    let twice = "We sell all of the hose reels by post. We sell all of the hose reels by post.";
    assert_eq!(told("en", twice, "hose reels"), None, "a template");
    let titles = "See the chapter “Hose reels” for what is new. There is more in “Hose reels” about this.";
    assert_eq!(told("en", titles, "hose reels"), None);
}

#[test]
fn a_part_of_a_name_is_no_topic() {
    let text = "We sell the Gardener's Handbook to you. Read the Gardener's Handbook before you sow. It was the owner's \
                manual that told us. Read the owner's manual first of all.";
    assert_eq!(told("en", text, "gardener handbook"), None);
    assert_eq!(told("en", text, "owner manual"), None);
    let text = "We use Rain Barrel Includes for the pages. There is more about Rain Barrel Includes in here.";
    assert_eq!(told("en", text, "rain barrel"), None);
    let text = "The feeds of other pages link to it. Some of the other pages link to the page of a page.";
    assert_eq!(told("en", text, "pages link"), None);
    let text = "We send a POST orders to you as we post it. They post a letter and POST orders to the shop, which we post.";
    assert_eq!(told("en", text, "post orders"), None);
}

#[test]
fn names_are_spelt_as_sentences_spell_them() {
    let text = "We are members of the Garden Hose Society in town. You may join the Garden Hose Society with us. There is \
                an SSL seal in the box. It is the SSL seal that leaks, as one of the ssl seal of old did.";
    assert_eq!(
        told("en", text, "garden hose society").as_deref(),
        Some("Garden Hose Society")
    );
    assert_eq!(told("en", text, "ssl seal").as_deref(), Some("SSL seal"));
    assert_eq!(named("en", "Soil Vitals").as_deref(), Some("soil vitals"));
}

#[test]
fn measures_companies_and_remarks_are_no_topics() {
    for text in [
        "27 MB",
        "24 plants",
        "19 to 25 litres",
        "Rainmaker Ltd",
        "Rainmaker Corp gardeners",
        "canonical points to a pump",
    ] {
        assert_eq!(named("en", text), None, "{text}");
    }
    assert_eq!(named("en", "3d printed pots").as_deref(), Some("3d printed pots"));
    assert_eq!(
        named("de", "TIPP Tomaten pflanzen").as_deref(),
        Some("Tomaten pflanzen")
    );
    assert_eq!(
        named("de", "ZURÜCK ZU DEN ANFÄNGEN Beete anlegen").as_deref(),
        Some("Beete anlegen")
    );
    assert_eq!(
        named("de", "Biologische Düngung").as_deref(),
        Some("biologische Düngung")
    );
    assert_eq!(named("fr", "the pump"), None);
}

#[test]
fn a_german_compound_is_a_topic_by_itself() {
    let text = "Die Tropfbewässerung spart Wasser im Beet. Mit einer Tropfbewässerung geht es besser. Für die Tropfbewässerung \
                braucht man Schläuche und Zeit.";
    assert_eq!(
        told("de", text, "tropfbewässerung").as_deref(),
        Some("Tropfbewässerung")
    );
    assert_eq!(told("de", text, "schläuche"), None);
}

#[test]
fn words_of_a_text_are_a_topic_where_they_stand_by_themselves() {
    assert_eq!(
        found("en", "rain barrel", Place::Text).as_deref(),
        Some("rain barrel")
    );
    assert_eq!(found("en", "barrel water", Place::Text), None);
    assert_eq!(
        found("en", "drain water", Place::Text),
        None,
        "a verb on these pages"
    );
    assert!(found("en", "drain water", Place::Named).is_some(), "what to do");
}
