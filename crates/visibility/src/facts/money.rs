//! Amounts of money in a sentence.

use std::ops::Range;

const DOLLARS: &[&str] = &["USD", "AUD", "CAD", "NZD", "SGD", "HKD", "TWD", "MXN"];
const CROWNS: &[&str] = &["SEK", "NOK", "DKK", "ISK"];

/// A sign or word of a currency, with the currencies it may stand for.
#[derive(Clone, Copy, Debug)]
struct Mark {
    text: &'static str,
    currencies: &'static [&'static str],
}

const fn mark(text: &'static str, currencies: &'static [&'static str]) -> Mark {
    Mark { text, currencies }
}

/// Signs, the longer ones first.
const SIGNS: [Mark; 17] = [
    mark("US$", &["USD"]),
    mark("CA$", &["CAD"]),
    mark("AU$", &["AUD"]),
    mark("NZ$", &["NZD"]),
    mark("HK$", &["HKD"]),
    mark("MX$", &["MXN"]),
    mark("NT$", &["TWD"]),
    mark("C$", &["CAD"]),
    mark("A$", &["AUD"]),
    mark("S$", &["SGD"]),
    mark("R$", &["BRL"]),
    mark("$", DOLLARS),
    mark("€", &["EUR"]),
    mark("£", &["GBP"]),
    mark("¥", &["JPY", "CNY"]),
    mark("₹", &["INR"]),
    mark("zł", &["PLN"]),
];

/// Words, in lower case. Pounds are left out: they are also a weight.
const WORDS: [Mark; 25] = [
    mark("us dollars", &["USD"]),
    mark("us-dollar", &["USD"]),
    mark("us dollar", &["USD"]),
    mark("euros", &["EUR"]),
    mark("euro", &["EUR"]),
    mark("eur", &["EUR"]),
    mark("dollars", DOLLARS),
    mark("dollar", DOLLARS),
    mark("usd", &["USD"]),
    mark("cad", &["CAD"]),
    mark("aud", &["AUD"]),
    mark("nzd", &["NZD"]),
    mark("sgd", &["SGD"]),
    mark("hkd", &["HKD"]),
    mark("gbp", &["GBP"]),
    mark("chf", &["CHF"]),
    mark("franken", &["CHF"]),
    mark("yen", &["JPY"]),
    mark("jpy", &["JPY"]),
    mark("inr", &["INR"]),
    mark("pln", &["PLN"]),
    mark("sek", &["SEK"]),
    mark("nok", &["NOK"]),
    mark("dkk", &["DKK"]),
    mark("kr", CROWNS),
];

/// An amount with a currency.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Amount {
    /// Value; `None` if the number cannot be read for certain.
    pub(super) value: Option<f64>,
    /// ISO 4217 codes that the sign may stand for; empty for an unknown sign.
    pub(super) currencies: &'static [&'static str],
    /// Place of number and currency, in bytes.
    pub(super) place: Range<usize>,
}

/// Returns the amounts that stand beside a currency.
pub(super) fn find(text: &str) -> Vec<Amount> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(|c: char| c.is_ascii_digit()) {
        let start = from + at;
        let number = start..start + number_length(&text[start..]);
        from = number.end;
        if text[..start].ends_with(char::is_alphanumeric) {
            continue;
        }
        let value = parse(&text[number.clone()]);
        let rest = &text[number.end..];
        // the German way to write a whole amount
        let dash = [",-", ",–", ",—", ".-", ".–"]
            .into_iter()
            .find(|dash| rest.starts_with(dash));
        let end = number.end + dash.map_or(0, str::len);
        let amount = match (before(&text[..start]), after(&text[end..])) {
            (Some((mark, length)), _) => (mark.currencies, start - length..end),
            (None, Some((mark, length))) => (mark.currencies, start..end + length),
            (None, None) => continue,
        };
        found.push(Amount {
            value,
            currencies: amount.0,
            place: amount.1,
        });
    }
    found
}

/// Returns the length of a number with its separators, in bytes.
fn number_length(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut length = digits(text);
    let mut is_grouped = length <= 3;
    loop {
        let mut chars = text[length..].chars();
        let Some(separator) = chars.next() else {
            return length;
        };
        let next = digits(chars.as_str());
        let joins = match separator {
            '.' | ',' => next > 0,
            '\'' | '\u{2019}' | ' ' | '\u{a0}' | '\u{202f}' => is_grouped && next == 3,
            _ => false,
        };
        if !joins {
            return length;
        }
        is_grouped &= next == 3;
        length += separator.len_utf8() + next;
    }
}

/// Reads a number: a separator before three digits groups, one before one or two is decimal.
fn parse(text: &str) -> Option<f64> {
    let plain: String = text
        .chars()
        .filter(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
        .collect();
    let parts: Vec<&str> = plain.split(['.', ',']).collect();
    let signs: Vec<char> = plain.chars().filter(|c| !c.is_ascii_digit()).collect();
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
        return None;
    };
    let is_decimal = match signs.as_slice() {
        [] => return plain.parse().ok(),
        [_] => last.len() < 3,
        [head @ .., end] => !head.contains(end),
    };
    let grouped = &parts[1..parts.len() - usize::from(is_decimal)];
    let same_sign = signs[..grouped.len()].windows(2).all(|pair| pair[0] == pair[1]);
    let fits = grouped.iter().all(|part| part.len() == 3)
        && same_sign
        && (grouped.is_empty() || (1..=3).contains(&first.len()) && *first != "0")
        && (!is_decimal || (1..=2).contains(&last.len()));
    if !fits {
        return None;
    }
    let whole: String = [first].into_iter().chain(grouped).copied().collect();
    let decimals = if is_decimal { last } else { "0" };
    format!("{whole}.{decimals}").parse().ok()
}

/// Returns the currency that ends a text, with the bytes it takes.
fn before(text: &str) -> Option<(Mark, usize)> {
    let bare = text.strip_suffix([' ', '\u{a0}', '\u{202f}']).unwrap_or(text);
    let space = text.len() - bare.len();
    if let Some(sign) = SIGNS.into_iter().find(|sign| bare.ends_with(sign.text)) {
        let head = &bare[..bare.len() - sign.text.len()];
        // letters before the sign make it another currency
        let known = if head.ends_with(char::is_alphabetic) {
            mark(sign.text, &[])
        } else {
            sign
        };
        return Some((known, sign.text.len() + space));
    }
    let word = bare
        .rsplit(|c: char| !c.is_alphabetic())
        .next()
        .unwrap_or_default();
    let found = WORDS
        .into_iter()
        .find(|mark| word.to_lowercase() == mark.text && word.len() == 3)?;
    Some((found, word.len() + space))
}

/// Returns the currency that begins a text, with the bytes it takes.
fn after(text: &str) -> Option<(Mark, usize)> {
    let bare = text.strip_prefix([' ', '\u{a0}', '\u{202f}']).unwrap_or(text);
    let space = text.len() - bare.len();
    if let Some(sign) = SIGNS.into_iter().find(|sign| bare.starts_with(sign.text)) {
        return Some((sign, sign.text.len() + space));
    }
    let head: String = bare.chars().take(12).flat_map(char::to_lowercase).collect();
    let found = WORDS.into_iter().find(|mark| {
        let rest = head.strip_prefix(mark.text);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })?;
    Some((found, found.text.len() + space))
}

#[cfg(test)]
mod tests {
    use super::{find, parse};

    #[test]
    fn numbers_of_both_ways() {
        for (text, value) in [
            ("499", Some(499.0)),
            ("499.50", Some(499.5)),
            ("499,50", Some(499.5)),
            ("1,299", Some(1299.0)),
            ("1.299", Some(1299.0)),
            ("1.299,00", Some(1299.0)),
            ("1,299.99", Some(1299.99)),
            ("1.234.567", Some(1_234_567.0)),
            ("1 299,50", Some(1299.5)),
            ("1'299.50", Some(1299.5)),
            ("12.34.56", None),
            ("1.2345", None),
            ("0.499", None),
            ("1,23,456", None),
        ] {
            assert_eq!(parse(text), value, "{text}");
        }
    }

    #[test]
    fn amounts_have_a_currency() {
        let one = |text: &str| {
            let found = find(text);
            let amount = found.first()?;
            assert_eq!(found.len(), 1, "{text}");
            Some((
                text[amount.place.clone()].to_owned(),
                amount.value?,
                *amount.currencies.first()?,
            ))
        };
        for (text, written, value, currency) in [
            ("costs €599.", "€599", 599.0, "EUR"),
            ("kostet 599,- € neu", "599,- €", 599.0, "EUR"),
            ("for 1 299 EUR now", "1 299 EUR", 1299.0, "EUR"),
            ("EUR 599", "EUR 599", 599.0, "EUR"),
            ("US$1,299.00", "US$1,299.00", 1299.0, "USD"),
            ("20 euros", "20 euros", 20.0, "EUR"),
            ("CHF 1'299", "CHF 1'299", 1299.0, "CHF"),
        ] {
            assert_eq!(one(text), Some((written.to_owned(), value, currency)), "{text}");
        }
        for none in [
            "160 cm",
            "50 pounds",
            "A4",
            "Q3 2026",
            "USD599",
            "euro 6 norm",
            "5 europeans",
        ] {
            assert_eq!(one(none), None, "{none}");
        }
        assert_eq!(find("X$50")[0].currencies, [""; 0], "another currency");
    }
}
