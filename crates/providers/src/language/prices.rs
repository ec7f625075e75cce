//! Prices of models, from a table with its source and date. An unknown model has no price, never 0.

use std::collections::BTreeMap;

/// Price of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Millionths of a US dollar per million tokens read.
    pub input: u64,
    /// Millionths of a US dollar per million tokens written.
    pub output: u64,
}

const TABLE: &str = include_str!("../data/prices.csv");
const SEARCH_TABLE: &str = include_str!("../data/search_prices.csv");

impl Price {
    /// The price in the table of a vendor's own interface.
    fn listed(provider: &str, model: &str) -> Option<Self> {
        TABLE
            .lines()
            .filter(|line| !line.starts_with('#'))
            .find_map(|line| {
                let mut fields = line.split(',');
                let found = fields.next()? == provider && fields.next()? == model;
                let mut price = || dollars(fields.next()?);
                found.then_some(())?;
                Some(Self {
                    input: price()?,
                    output: price()?,
                })
            })
    }

    /// The price an operator set, else the one in the table; that one holds at the vendor's `own` address only.
    pub fn find(provider: &str, model: &str, settings: &BTreeMap<String, String>, own: bool) -> Option<Self> {
        Self::set(settings).or_else(|| Self::listed(provider, model).filter(|_| own))
    }

    /// The price an operator set: US dollars per million tokens, both or none.
    fn set(settings: &BTreeMap<String, String>) -> Option<Self> {
        let price = |name| dollars(settings.get(name)?);
        Some(Self {
            input: price("inputPrice")?,
            output: price("outputPrice")?,
        })
    }

    /// Price of an answer in millionths of a US dollar, rounded up. Discounts for repeated input and the
    /// surcharge that some models have for very long input are not in it.
    pub fn micros(self, input_tokens: u64, output_tokens: u64) -> u64 {
        let all = u128::from(self.input) * u128::from(input_tokens)
            + u128::from(self.output) * u128::from(output_tokens);
        u64::try_from(all.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// The price of a thousand searches that a model makes, in millionths of a US dollar: the one an operator set, else the one in
/// the table, which holds at the vendor's `own` address only.
pub fn search_price(
    provider: &str,
    model: &str,
    settings: &BTreeMap<String, String>,
    own: bool,
) -> Option<u64> {
    if let Some(set) = settings.get("searchPrice") {
        return dollars(set);
    }
    let row = format!("{provider},{model},");
    let mut rows = SEARCH_TABLE.lines().filter(|_| own);
    rows.find_map(|line| dollars(line.strip_prefix(row.as_str())?))
}

/// US dollars as written, `0.15`, in millionths.
pub fn dollars(text: &str) -> Option<u64> {
    let dollars: f64 = text.trim().parse().ok()?;
    (0.0..=1e6)
        .contains(&dollars)
        .then(|| (dollars * 1e6).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        let head: Vec<&str> = TABLE.lines().take_while(|l| l.starts_with('#')).collect();
        assert!(
            head.iter().any(|l| l.starts_with("# Source: "))
                && head.iter().any(|l| l.starts_with("# Date: ")),
            "{head:?}"
        );
        let mut before = "";
        for line in TABLE.lines().filter(|l| !l.starts_with('#')) {
            let fields: Vec<&str> = line.split(',').collect();
            assert!(
                matches!(
                    fields[..],
                    ["openai" | "anthropic" | "gemini" | "perplexity" | "xai", _, _, _]
                ) && before < line,
                "{line}"
            );
            let price = Price::listed(fields[0], fields[1]).expect(line);
            assert!(
                price.input > 0 && price.output >= price.input / 2 && price.output < 1_000_000_000,
                "{line}"
            );
            before = line;
        }
        for provider in ["openai", "anthropic", "gemini", "perplexity", "xai"] {
            assert!(
                TABLE.lines().filter(|l| l.starts_with(provider)).count() >= 10,
                "{provider}"
            );
        }
    }

    #[test]
    fn a_price_is_known_or_none() {
        assert_eq!(
            Price::listed("openai", "gpt-4o-mini"),
            Some(Price {
                input: 150_000,
                output: 600_000
            })
        );
        assert_eq!(Price::listed("openai", "llama3"), None);
        assert_eq!(Price::listed("ollama", "gpt-4o-mini"), None);
        let settings = |pairs: &[(&str, &str)]| {
            Price::set(
                &pairs
                    .iter()
                    .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
                    .collect(),
            )
        };
        assert_eq!(
            settings(&[("inputPrice", "0.1"), ("outputPrice", "2")]),
            Some(Price {
                input: 100_000,
                output: 2_000_000
            })
        );
        let none = BTreeMap::new();
        assert!(Price::find("openai", "gpt-4o-mini", &none, true).is_some());
        assert_eq!(
            Price::find("openai", "gpt-4o-mini", &none, false),
            None,
            "somebody else's server"
        );
        assert_eq!(settings(&[("inputPrice", "0.1")]), None);
        assert_eq!(settings(&[("inputPrice", "x"), ("outputPrice", "2")]), None);
    }

    #[test]
    fn price_of_searches_is_set_or_listed_or_unknown() {
        for line in SEARCH_TABLE.lines().filter(|l| !l.starts_with('#')) {
            let fields: Vec<&str> = line.split(',').collect();
            let [provider, model, _] = fields[..] else {
                panic!("{line}")
            };
            assert!(Price::listed(provider, model).is_some(), "{line}");
            let price = search_price(provider, model, &BTreeMap::new(), true);
            assert!(
                price.is_some_and(|p| (1_000_000..50_000_000).contains(&p)),
                "{line}"
            );
        }
        let set = BTreeMap::from([("searchPrice".to_owned(), "2.5".to_owned())]);
        assert_eq!(search_price("xai", "m", &set, false), Some(2_500_000));
        assert_eq!(
            search_price("anthropic", "claude-opus-5", &BTreeMap::new(), false),
            None
        );
        assert_eq!(search_price("xai", "m", &BTreeMap::new(), true), None);
    }

    #[test]
    fn costs_are_rounded_up() {
        let price = Price {
            input: 150_000,
            output: 600_000,
        };
        assert_eq!(price.micros(1_000_000, 1_000_000), 750_000);
        assert_eq!(price.micros(1, 0), 1);
        assert_eq!(price.micros(0, 0), 0);
        let dear = Price {
            input: 2_000_000,
            output: 2_000_000,
        };
        assert_eq!(dear.micros(u64::MAX, u64::MAX), u64::MAX);
    }
}
