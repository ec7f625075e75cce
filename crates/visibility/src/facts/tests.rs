//! Labelled sentences: what contradicts the brand data, and what must never be reported.

use super::{FactChecker, FactFinding, FactKind, ProductFacts, ProductPrice, quote};
use crate::{
    answer_text::{AnswerText, Span},
    brands::{Alias, Brand, BrandMatcher},
};

fn product(name: &str, price: Option<(f64, &str)>, features: &[&str]) -> ProductFacts {
    ProductFacts {
        id: name.to_owned(),
        names: vec![name.to_owned()],
        price: price.map(|(amount, currency)| ProductPrice {
            amount,
            currency: currency.to_owned(),
        }),
        is_retired: false,
        features: features.iter().map(|text| (*text).to_owned()).collect(),
    }
}

fn products() -> Vec<ProductFacts> {
    vec![
        product(
            "Oak desk 160",
            Some((499.0, "EUR")),
            &["two motors", "memory keypad", "cable tray", "zwei Motoren"],
        ),
        product("Pine desk", Some((1299.0, "USD")), &["crossbar"]),
        product("Nordic lamp", None, &[]),
        ProductFacts {
            is_retired: true,
            ..product("Elm chair", Some((199.0, "EUR")), &[])
        },
    ]
}

fn brands() -> Vec<Brand> {
    let own = Brand {
        id: "own".to_owned(),
        name: "Acme Desk".to_owned(),
        is_own: true,
        domains: vec!["acme-desk.com".to_owned(), "acme.example".to_owned()],
        products: products()
            .iter()
            .map(|p| Alias::from(p.names[0].as_str()))
            .collect(),
        ..Brand::default()
    };
    let competitor = Brand {
        id: "bolt".to_owned(),
        name: "Bolt Desks".to_owned(),
        domains: vec!["bolt-desks.com".to_owned()],
        ..Brand::default()
    };
    vec![own, competitor]
}

fn check(text: &str, language: &str) -> Vec<FactFinding> {
    let matcher = BrandMatcher::new(&brands());
    let answer = AnswerText::parse(text, language);
    FactChecker::new(products()).check(&matcher.match_answer(&answer, None))
}

/// A sentence with the claim and the fact that it contradicts.
type Wrong = (&'static str, &'static str, FactKind, &'static str, &'static str);

const WRONG: [Wrong; 45] = [
    (
        "en",
        "The Oak desk 160 costs €599.",
        FactKind::Price,
        "€599",
        "499 EUR",
    ),
    (
        "en",
        "The Oak desk 160 costs 599 euros.",
        FactKind::Price,
        "599 euros",
        "499 EUR",
    ),
    (
        "en",
        "The Oak desk 160 is currently priced at EUR 599.",
        FactKind::Price,
        "EUR 599",
        "499 EUR",
    ),
    (
        "en",
        "The Acme Desk Oak desk 160 costs €599.50 and ships fast.",
        FactKind::Price,
        "€599.50",
        "499 EUR",
    ),
    (
        "en",
        "The price of the Oak desk 160 is €599.",
        FactKind::Price,
        "€599",
        "499 EUR",
    ),
    (
        "en",
        "The price of the Oak desk 160 by Acme Desk is 599 €.",
        FactKind::Price,
        "599 €",
        "499 EUR",
    ),
    (
        "en",
        "The Oak desk 160's price is €599.",
        FactKind::Price,
        "€599",
        "499 EUR",
    ),
    (
        "en",
        "The Oak desk 160 sells for just €299.",
        FactKind::Price,
        "€299",
        "499 EUR",
    ),
    (
        "en",
        "You can get the Oak desk 160 (€599).",
        FactKind::Price,
        "€599",
        "499 EUR",
    ),
    (
        "en",
        "1. **Oak desk 160** – €599",
        FactKind::Price,
        "€599",
        "499 EUR",
    ),
    (
        "en",
        "- Oak desk 160: 599 EUR",
        FactKind::Price,
        "599 EUR",
        "499 EUR",
    ),
    (
        "en",
        "The Oak desk 160 is available for €1,499.00.",
        FactKind::Price,
        "€1,499.00",
        "499 EUR",
    ),
    (
        "en",
        "The Pine desk costs $1,499.",
        FactKind::Price,
        "$1,499",
        "1299 USD",
    ),
    (
        "en",
        "The Pine desk retails at US$999.99, which is a lot.",
        FactKind::Price,
        "US$999.99",
        "1299 USD",
    ),
    (
        "en",
        "The Pine desk is priced at 12.99 USD.",
        FactKind::Price,
        "12.99 USD",
        "1299 USD",
    ),
    (
        "en",
        "The Pine desk costs $2026.",
        FactKind::Price,
        "$2026",
        "1299 USD",
    ),
    (
        "en",
        "Acme Desk sells the Oak desk 160, priced at €650.",
        FactKind::Price,
        "€650",
        "499 EUR",
    ),
    (
        "de",
        "Der Oak desk 160 kostet 599 €.",
        FactKind::Price,
        "599 €",
        "499 EUR",
    ),
    (
        "de",
        "Der Oak desk 160 kostet nur 399,- €.",
        FactKind::Price,
        "399,- €",
        "499 EUR",
    ),
    (
        "de",
        "Der Oak desk 160 kostet derzeit 599,00 Euro.",
        FactKind::Price,
        "599,00 Euro",
        "499 EUR",
    ),
    (
        "de",
        "Der Preis für den Oak desk 160 beträgt 1.499,00 €.",
        FactKind::Price,
        "1.499,00 €",
        "499 EUR",
    ),
    (
        "de",
        "Der Preis des Oak desk 160 liegt bei 599 EUR.",
        FactKind::Price,
        "599 EUR",
        "499 EUR",
    ),
    (
        "de",
        "Von Acme Desk: Oak desk 160 (599 €).",
        FactKind::Price,
        "599 €",
        "499 EUR",
    ),
    (
        "de",
        "Sie finden Acme Desk unter acmedesk.com.",
        FactKind::Website,
        "acmedesk.com",
        "acme-desk.com",
    ),
    (
        "en",
        "The official website of Acme Desk is acmedesk.com.",
        FactKind::Website,
        "acmedesk.com",
        "acme-desk.com",
    ),
    (
        "en",
        "Acme Desk's official website is www.acme-desks.io.",
        FactKind::Website,
        "acme-desks.io",
        "acme-desk.com",
    ),
    (
        "en",
        "Acme Desk (website: acmedesk.com) makes desks.",
        FactKind::Website,
        "acmedesk.com",
        "acme-desk.com",
    ),
    (
        "en",
        "Acme Desk's website: acmedesk.com.",
        FactKind::Website,
        "acmedesk.com",
        "acme-desk.com",
    ),
    (
        "en",
        "The homepage of Acme Desk is acmedesk.co.",
        FactKind::Website,
        "acmedesk.co",
        "acme-desk.com",
    ),
    (
        "de",
        "Die offizielle Website von Acme Desk ist acmedesk.de.",
        FactKind::Website,
        "acmedesk.de",
        "acme-desk.com",
    ),
    (
        "de",
        "Die Webseite von Acme Desk lautet acmedesk.com.",
        FactKind::Website,
        "acmedesk.com",
        "acme-desk.com",
    ),
    (
        "en",
        "The Elm chair is available.",
        FactKind::Availability,
        "is available",
        "retired",
    ),
    (
        "en",
        "The Elm chair is still available at Acme Desk.",
        FactKind::Availability,
        "is still available",
        "retired",
    ),
    (
        "en",
        "Acme Desk says hello: the Elm chair is in stock and looks good.",
        FactKind::Availability,
        "is in stock",
        "retired",
    ),
    (
        "de",
        "Der Elm chair ist weiterhin erhältlich.",
        FactKind::Availability,
        "ist weiterhin erhältlich",
        "retired",
    ),
    (
        "de",
        "Der Elm chair ist lieferbar und bequem.",
        FactKind::Availability,
        "ist lieferbar",
        "retired",
    ),
    (
        "en",
        "The Oak desk 160 does not have two motors.",
        FactKind::Feature,
        "does not have two motors",
        "two motors",
    ),
    (
        "en",
        "The Oak desk 160 doesn't have a memory keypad.",
        FactKind::Feature,
        "doesn't have a memory keypad",
        "memory keypad",
    ),
    (
        "en",
        "The Oak desk 160 has no cable tray, and it wobbles.",
        FactKind::Feature,
        "has no cable tray",
        "cable tray",
    ),
    (
        "en",
        "The Oak desk 160 lacks a memory keypad.",
        FactKind::Feature,
        "lacks a memory keypad",
        "memory keypad",
    ),
    (
        "en",
        "Unfortunately the Oak desk 160 comes without a cable tray.",
        FactKind::Feature,
        "comes without a cable tray",
        "cable tray",
    ),
    (
        "en",
        "The Pine desk does not include a crossbar.",
        FactKind::Feature,
        "does not include a crossbar",
        "crossbar",
    ),
    (
        "de",
        "Der Oak desk 160 hat keine zwei Motoren.",
        FactKind::Feature,
        "hat keine zwei Motoren",
        "zwei Motoren",
    ),
    (
        "de",
        "Der Oak desk 160 verfügt nicht über zwei Motoren.",
        FactKind::Feature,
        "verfügt nicht über zwei Motoren",
        "zwei Motoren",
    ),
    (
        "de",
        "Leider bietet Acme Desk wenig: der Oak desk 160 bietet keine zwei Motoren.",
        FactKind::Feature,
        "bietet keine zwei Motoren",
        "zwei Motoren",
    ),
];

const SILENT: [(&str, &str); 79] = [
    // the fact itself, rounded or in the way of another language
    ("en", "The Oak desk 160 costs €499."),
    ("en", "The Oak desk 160 costs 499.00 EUR."),
    ("de", "Der Oak desk 160 kostet 499,00 €."),
    ("de", "Der Oak desk 160 kostet 499,- €."),
    ("en", "The Oak desk 160 costs €500."),
    ("en", "The Pine desk costs $1,299.00."),
    ("de", "Das Pine desk kostet 1.299 US-Dollar."),
    ("en", "The Pine desk costs 1 299 USD."),
    // another currency, or an unknown one
    ("en", "The Oak desk 160 costs $549."),
    ("en", "The Oak desk 160 costs £429."),
    ("en", "The Oak desk 160 costs CHF 590."),
    ("en", "The Pine desk costs C$1,750."),
    ("en", "The Oak desk 160 costs 599 pounds."),
    // ranges and bounds
    ("en", "The Oak desk 160 costs from €599."),
    ("en", "The Oak desk 160 starts at €599."),
    ("en", "The Oak desk 160 costs up to €899."),
    ("en", "The Oak desk 160 costs €450–550."),
    ("en", "The Oak desk 160 costs between €550 and €650."),
    ("en", "The Oak desk 160 costs €600 to €700."),
    ("en", "The Oak desk 160 costs €599+."),
    ("en", "The Oak desk 160 costs about €600."),
    ("en", "The Oak desk 160 costs ~€600."),
    ("en", "The Oak desk 160 costs less than €600."),
    ("de", "Der Oak desk 160 kostet ab 599 €."),
    ("de", "Der Oak desk 160 kostet bis zu 899 €."),
    ("de", "Der Oak desk 160 kostet ca. 600 €."),
    ("de", "Der Oak desk 160 kostet zwischen 550 und 650 Euro."),
    ("de", "Der Oak desk 160 kostet rund 600 Euro."),
    ("de", "Der Oak desk 160 kostet unter 600 Euro."),
    // units, time and shares
    ("en", "The Oak desk 160 costs €29 per month."),
    ("en", "The Oak desk 160 costs €29/month."),
    ("en", "The Oak desk 160 costs €29 a month."),
    ("de", "Der Oak desk 160 kostet 29 € pro Monat."),
    ("de", "Der Oak desk 160 kostet 29 € im Monat."),
    ("en", "The Oak desk 160 costs €599 in 2019."),
    ("en", "The Oak desk 160 was priced at €599."),
    ("en", "The Oak desk 160 originally costs €599."),
    ("en", "The Oak desk 160 costs €400 with 20% off."),
    ("en", "The Oak desk 160 costs €399 on sale."),
    ("de", "Der Oak desk 160 kostet 399 € im Angebot."),
    ("en", "The Oak desk 160 costs €419 net."),
    ("de", "Der Oak desk 160 kostet 419 € zzgl. MwSt."),
    // something else costs it
    ("en", "The Oak desk 160 has a lamp that costs €49."),
    ("en", "The Oak desk 160 bundle costs €699."),
    ("en", "The Oak desk 180 costs €599."),
    ("en", "The Oak desk 160 XL costs €799."),
    ("en", "Shipping for the Oak desk 160 costs €49."),
    ("en", "The Oak desk 160 costs €100 more than others."),
    (
        "en",
        "The Oak desk 160 costs €599 and the Pine desk costs $1,299.",
    ),
    ("en", "The Oak desk 160 costs €599, and shipping is €49."),
    ("en", "The Bolt Desks twin of the Oak desk 160 costs €599."),
    ("en", "A used Oak desk 160 costs €250."),
    ("en", "At Amazon the Oak desk 160 costs €549."),
    ("en", "The Oak desk 160 is 160 cm wide and carries 120 kg."),
    ("en", "The Nordic lamp costs €59."),
    ("en", "- Oak desk 160: €49"),
    ("en", "The Oak desk 160 costs €599 for two."),
    ("en", "| Oak desk 160 | €599 |"),
    // no claim
    ("en", "Does the Oak desk 160 cost €599?"),
    ("en", "If the Oak desk 160 costs €599, it is too much."),
    ("en", "The Oak desk 160 does not cost €599."),
    ("en", "The Oak desk 160 might cost €599."),
    ("en", "Some users say the Oak desk 160 costs €599."),
    ("fr", "Le Oak desk 160 coûte 599 €."),
    ("en", "Acme Desk desks cost €599."),
    // websites
    ("en", "Acme Desk's website is acme-desk.com."),
    ("en", "Acme Desk's website is shop.acme-desk.com."),
    ("de", "Die Website von Acme Desk ist acme-desk.de."),
    ("en", "Acme Desk's former website is acmedesk.com."),
    ("en", "The official website of Acme Desk is not acmedesk.com."),
    ("en", "The official site of Acme Desk is facebook.com."),
    ("en", "Write to Acme Desk at hello@acmedesk.com."),
    ("en", "Acme Desk was tested on the website testdesks.com."),
    (
        "en",
        "Unlike Bolt Desks, whose website is bolt-desk.net, Acme Desk has shops.",
    ),
    // availability and features
    ("en", "The Elm chair is no longer available."),
    ("en", "The Elm chair was available until 2024."),
    ("en", "The Oak desk 160 does not only have two motors."),
    ("en", "The Oak desk 160 does not lack two motors."),
    (
        "en",
        "The basic version of the Oak desk 160 does not have two motors.",
    ),
];

#[test]
fn wrong_sentences_are_found() {
    for (language, text, kind, claimed, expected) in WRONG {
        let found = check(text, language);
        let [finding] = found.as_slice() else {
            panic!("{text}: {found:?}");
        };
        assert_eq!(
            (finding.kind, &*finding.claimed, &*finding.expected),
            (kind, claimed, expected),
            "{text}"
        );
    }
}

#[test]
fn silent_sentences_are_not_reported() {
    let reported: Vec<_> = SILENT
        .iter()
        .map(|(language, text)| (text, check(text, language)))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    assert!(reported.is_empty(), "{reported:#?}");
}

#[test]
fn further_features_are_denied_only_of_their_product() {
    for text in [
        "The Pine desk does not have two motors.",
        "The Oak desk 160 does not have cable tray covers.",
        "The Oak desk 160 does not have two motors per leg.",
        "Bolt Desks says that the Oak desk 160 does not have two motors.",
        "It does not have two motors.",
        "No desk other than the Oak desk 160 does not have two motors.",
        "The Elm chair, available from 2015, sold well.",
        "The Oak desk 160 is available.",
    ] {
        assert_eq!(check(text, "en"), [], "{text}");
    }
}

#[test]
fn quotes_are_exact() {
    let text = "Ähm. **The Oak desk 160** costs 599 €. It is fine.";
    let found = check(text, "en");
    let quoted = quote(text, found[0].span);
    assert_eq!(quoted.text, "The Oak desk 160** costs 599 €.");
    let chars: Vec<char> = text.chars().collect();
    let (start, end) = (quoted.span.start as usize, quoted.span.end as usize);
    assert_eq!(chars[start..end].iter().collect::<String>(), quoted.text);
    assert_eq!(quote("a", Span { start: 5, end: 9 }).text, "");
}

#[test]
fn many_findings_are_bounded() {
    let text = "The Oak desk 160 costs €599. ".repeat(100);
    assert_eq!(check(&text, "en").len(), super::MAX_FINDINGS);
}
