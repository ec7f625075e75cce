//! Values of structured data that the visible text does not contain.

mod prices;

use std::collections::HashSet;

use searchwright_text as text;

use super::HtmlFacts;
use crate::{
    html::entities::{self, In},
    json::{Json, Object},
    json_ld,
};
use memchr::memmem;
pub(super) use prices::digit;
use serde::{Deserialize, Serialize};

/// Maximum number of entries kept.
const MAX_MISMATCHES: usize = 5;
/// Maximum number of characters kept of a value.
const VALUE: usize = 200;
/// Maximum number of items examined.
const ITEMS: usize = 50;
/// Minimum share of words of a headline in the text for the text to contain it in another form.
const SHARE: f64 = 0.6;
/// Signs that a text contains prices.
const CURRENCIES: [&str; 13] = [
    "€", "$", "£", "¥", "￥", "₽", "₹", "zł", "EUR", "USD", "GBP", "CHF", "kr",
];

/// A property whose value is not visible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkupMismatch {
    /// `headline`, `name` or `price`.
    pub property: Box<str>,
    /// Value in the structured data.
    pub value: Box<str>,
}

/// Returns headlines of articles, and names and prices of products that the visible text does not contain. `folded` is
/// the main text in folded case, `visible` all text as written, `seams` the places in it where two elements meet between
/// digits.
pub(super) fn unseen(facts: &HtmlFacts, folded: &str, visible: &str, seams: &[usize]) -> Vec<MarkupMismatch> {
    let mut found = Vec::new();
    let mut seen = DisplayedText {
        folded,
        visible,
        seams,
        letters: None,
    };
    let telling = |source: &&str| {
        let has = |word: &str| memmem::find(source.as_bytes(), word.as_bytes()).is_some();
        has("headline\"") || has("Product\"")
    };
    let blocks = facts.json_ld.iter().filter(|block| block.error.is_none());
    let objects = facts.objects.iter().flat_map(|objects| &objects.list);
    let sources = blocks
        .map(|block| &*block.source)
        .chain(objects.map(|object| &*object.source));
    for source in sources.filter(telling) {
        if let Some(value) = json_ld::read(source) {
            walk(&value, &mut ITEMS.clone(), &mut |item| {
                judge(item, &mut seen, &mut found)
            });
        }
    }
    found
}

fn walk(value: &Json<'_>, left: &mut usize, judge: &mut dyn FnMut(&Object<'_>)) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    match value {
        Json::Array(values) => values.iter().for_each(|value| walk(value, left, judge)),
        Json::Object(item) => {
            if let Some(graph) = item.get("@graph") {
                walk(graph, left, judge);
            }
            judge(item);
        }
        _ => {}
    }
}

fn judge(item: &Object<'_>, seen: &mut DisplayedText<'_>, found: &mut Vec<MarkupMismatch>) {
    let mut note = |property: &str, value: &str| {
        let unseen = MarkupMismatch {
            property: property.into(),
            value: text::cut(&text::squeeze(value), VALUE).into(),
        };
        // JSON-LD and microdata may contain the same value
        if found.len() < MAX_MISMATCHES && !found.contains(&unseen) {
            found.push(unseen);
        }
    };
    let kinds = item.get("@type").map_or(&[][..], Json::each);
    let is = |name: &str| {
        let mut kinds = kinds.iter().filter_map(Json::as_str);
        kinds.any(|kind| kind.ends_with(name))
    };
    let words = if is("Product") {
        "name"
    } else if is("Article") || is("BlogPosting") {
        "headline"
    } else {
        return;
    };
    if let Some(value) = item.get(words).and_then(Json::as_str)
        && !seen.has(value)
    {
        note(words, value);
    }
    let price = item.get("offers").filter(|_| words == "name").and_then(price);
    if let Some(price) = price
        && !seen.has_price(&price)
    {
        note("price", &price);
    }
}

/// Returns the price of the only offer, or the lowest price.
fn price(offers: &Json<'_>) -> Option<String> {
    let offer = match offers {
        Json::Array(offers) if offers.len() == 1 => offers.first()?,
        offers => offers,
    };
    match offer.get("price").or_else(|| offer.get("lowPrice"))? {
        Json::String(price) => Some(price.to_string()),
        Json::Number(price) => Some(price.to_string()),
        _ => None,
    }
}

/// Text that visitors see.
struct DisplayedText<'a> {
    folded: &'a str,
    visible: &'a str,
    seams: &'a [usize],
    /// Letters and digits of the whole text, computed on first use.
    letters: Option<String>,
}

impl DisplayedText<'_> {
    fn has(&mut self, value: &str) -> bool {
        let value = entities::decode(value, In::Text);
        let folded = text::folded(&value);
        let wanted = letters(&folded);
        if wanted.chars().count() < 3 || memmem::find(self.folded.as_bytes(), folded.as_bytes()).is_some() {
            return true;
        }
        let visible = self.visible;
        let all = self
            .letters
            .get_or_insert_with(|| letters(&text::folded(visible)));
        if memmem::find(all.as_bytes(), wanted.as_bytes()).is_some() {
            return true;
        }
        let words = |text: &str| -> HashSet<String> {
            let words = text.split(|c: char| !c.is_alphanumeric());
            words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        let (wanted, there) = (words(&folded), words(&text::folded(visible)));
        wanted.intersection(&there).count() as f64 >= SHARE * wanted.len() as f64
    }

    /// Whether the text contains a price; true if it contains no prices at all, since then the page shows them in
    /// another way.
    fn has_price(&self, price: &str) -> bool {
        let marked = prices::marked(price);
        if marked.iter().all(|value| *value == 0) {
            return true;
        }
        let names_prices = CURRENCIES.iter().any(|sign| self.visible.contains(sign));
        !names_prices
            || prices::amounts(self.visible, self.seams)
                .any(|values| values.iter().any(|value| marked.contains(value)))
    }
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::JsonLd;

    fn found(json: &str, visible: &str) -> Vec<(String, String)> {
        let block = JsonLd {
            source: json.into(),
            error: None,
            line: 1,
        };
        let folded = text::folded(visible);
        let facts = HtmlFacts {
            json_ld: vec![block],
            ..HtmlFacts::default()
        };
        unseen(&facts, &folded, visible, &[])
            .into_iter()
            .map(|u| (u.property.into(), u.value.into()))
            .collect()
    }

    #[test]
    fn headlines_are_found_in_any_spelling() {
        let article = |headline: &str| {
            format!(r#"{{"@graph": [{{"@type": "NewsArticle", "headline": "{headline}"}}]}}"#)
        };
        let text = "News How to “repair” Mowers & Rakes, fast By Ann";
        for same in [
            "How to repair mowers &amp; rakes",
            "How to \\\"repair\\\" mowers",
            "How to repair mowers and rakes | Site",
        ] {
            assert_eq!(found(&article(same), text), []);
        }
        let other = found(&article("Cheap flights to Rome"), text);
        assert_eq!(
            other,
            [("headline".to_owned(), "Cheap flights to Rome".to_owned())]
        );
    }

    #[test]
    fn prices_are_found_in_any_spelling() {
        let product = |price: &str| {
            format!(
                r#"{{"@type": "Product", "name": "Oak desk", "offers": [{{"@type": "Offer", "price": {price}}}]}}"#
            )
        };
        for (price, text, missing) in [
            ("\"1299.00\"", "Oak desk for 1.299,00 €", false),
            ("1299", "Oak desk $1,299", false),
            ("1299.5", "Oak desk 1 299,50 kr", false),
            ("1299.00", "Oak desk now € 999,00", true),
            ("1299.00", "Oak desk", false),
            ("\"1.299\"", "Oak desk 1.299 €", false),
            ("\"call us\"", "Oak desk € 5", false),
            // without the decimal point, or ten times too much
            ("1299", "Oak desk 12.99 €", true),
            ("\"12.99\"", "Oak desk € 1299", true),
            ("\"10.00\"", "Oak desk € 100", true),
            ("\"99.00\"", "Oak desk € 9,90", true),
            ("\"100\"", "Oak desk € 100,00", false),
            ("\"1299.00\"", "Oak desk ￥１２９９", false),
            ("\"1299.00\"", "Oak desk ￥１，２９０", true),
        ] {
            assert_eq!(
                !found(&product(price), text).is_empty(),
                missing,
                "{price} {text}"
            );
        }
        assert_eq!(found(&product("0"), "Pine chair, 10 €").len(), 1);
    }
}
