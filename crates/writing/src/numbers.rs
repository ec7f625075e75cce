//! Numbers as people write them: any decimal digits of Unicode, thousands separators, words for large scales.

use std::ops::Range;

/// A number in a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Amount {
    /// Possible values: `1,234` is 1234 to some and 1.234 to others. Empty if it is no number, like `1.2.3`.
    pub values: Vec<f64>,
    /// Whether a percent sign or word follows.
    pub percent: bool,
    /// Position in the text, in bytes, without scale and percent sign.
    pub span: Range<usize>,
    /// Digits and separators, in ASCII digits.
    pub digits: String,
}

impl Amount {
    /// Returns the possible values as strings that are equal if two amounts are: to ten significant digits.
    pub fn keys(&self) -> Vec<String> {
        if self.values.is_empty() {
            return vec![format!("={}", self.digits)];
        }
        let sign = if self.percent { "%" } else { "" };
        self.values
            .iter()
            .map(|value| format!("{value:.9e}{sign}"))
            .collect()
    }

    /// The year it may be: four digits, 1900 to 2099.
    pub fn year(&self) -> Option<u16> {
        let year: u16 = self.digits.parse().ok()?;
        (self.digits.len() == 4 && (1900..2100).contains(&year)).then_some(year)
    }
}

/// Zeros of the decimal digits (general category Nd) of scripts in use; nine more follow each.
const ZEROS: &[char] = &[
    '0', '٠', '۰', '߀', '०', '০', '੦', '૦', '୦', '௦', '౦', '೦', '൦', '๐', '໐', '༠', '၀', '០', '᠐', '０',
];

/// Value of a decimal digit of any of those scripts.
pub fn digit(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    ZEROS
        .iter()
        .map(|zero| (c as u32).wrapping_sub(*zero as u32))
        .find(|value| *value < 10)
}

/// Words that multiply. Those that are not the same everywhere have two values.
const SCALES: &[(&str, &[f64])] = &[
    (
        "k thousand tsd tausend mille mil mila duizend тыс тысяч тысячи тыс. 千",
        &[1e3],
    ),
    ("万 萬", &[1e4]),
    ("lakh lakhs", &[1e5]),
    (
        "m mn mio million millions millionen millón millones milione milioni miljoen milhão milhões млн миллион миллиона \
         миллионов",
        &[1e6],
    ),
    ("crore crores", &[1e7]),
    ("亿 億", &[1e8]),
    (
        "bn mrd milliarde milliarden milliard milliards miliardo miliardi miljard bilhão bilhões млрд миллиард миллиарда \
         миллиардов",
        &[1e9],
    ),
    ("b billion billions", &[1e9, 1e12]),
    (
        "tn billionen billón billones biljoen bilione bilioni trilhão trilhões трлн 兆",
        &[1e12],
    ),
    ("trillion trillions", &[1e12, 1e18]),
];

/// Bytes after a number in which its scale and percent sign stand.
const MAX_AHEAD: usize = 64;

const PERCENT: &[&str] = &[
    "%",
    "٪",
    "％",
    "percent",
    "per cent",
    "prozent",
    "pour cent",
    "por ciento",
    "por cento",
    "per cento",
    "procent",
    "процент",
];

/// The numbers of a text. Those that are part of a word (`B2B`, `mp3`) are none.
pub fn amounts(text: &str) -> Vec<Amount> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if digit(chars[at].1).is_none() {
            at += 1;
            continue;
        }
        let inside = at > 0 && chars[at - 1].1.is_alphabetic() && !is_han(chars[at - 1].1);
        let (groups, end) = groups(&chars, at);
        let to = chars.get(end).map_or(text.len(), |(byte, _)| *byte);
        if !inside {
            let ahead = text[to..].floor_char_boundary(MAX_AHEAD);
            let (scale, rest) = scale(&text[to..to + ahead]);
            let rest = rest
                .trim_start_matches([' ', '\u{a0}', '\u{202f}', '-'])
                .to_lowercase();
            let digits = groups
                .iter()
                .enumerate()
                .flat_map(|(n, (separator, digits))| {
                    (n > 0).then_some(*separator).into_iter().chain(digits.chars())
                })
                .collect();
            let values = values(&groups);
            found.push(Amount {
                values: values
                    .iter()
                    .flat_map(|v| scale.iter().map(move |s| v * s))
                    .collect(),
                percent: PERCENT.iter().any(|sign| rest.starts_with(sign)),
                span: chars[at].0..to,
                digits,
            });
        }
        at = end;
    }
    found
}

fn is_han(c: char) -> bool {
    searchwright_text::is_cjk(c)
}

/// Runs of digits with the separator before each, and where the number ends.
fn groups(chars: &[(usize, char)], start: usize) -> (Vec<(char, String)>, usize) {
    let run = |from: usize| -> String {
        chars[from..]
            .iter()
            .map_while(|(_, c)| digit(*c).and_then(|value| char::from_digit(value, 10)))
            .collect()
    };
    let first = run(start);
    let mut at = start + first.len();
    let mut groups = vec![('\0', first)];
    while let Some((_, separator)) = chars.get(at) {
        let separator = match separator {
            ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' => ' ',
            '\'' | '’' | '٬' => '\'',
            '.' => '.',
            ',' | '٫' => ',',
            _ => break,
        };
        let digits = run(at + 1);
        let short = groups.first().is_some_and(|(_, first)| first.len() <= 3);
        let space_before = groups.len() == 1 || groups.last().is_some_and(|(s, _)| *s == separator);
        // a space or an apostrophe parts thousands or nothing
        let parts = !matches!(separator, ' ' | '\'') || (digits.len() == 3 && short && space_before);
        if digits.is_empty() || !parts {
            break;
        }
        at += 1 + digits.len();
        groups.push((separator, digits));
    }
    (groups, at)
}

/// Returns the possible values of groups of digits.
fn values(groups: &[(char, String)]) -> Vec<f64> {
    let joined = |groups: &[(char, String)]| -> String { groups.iter().map(|(_, d)| d.as_str()).collect() };
    let thousands = |groups: &[(char, String)]| match groups {
        [_] => true,
        [(_, first), rest @ .., (last_separator, last)] => {
            let same = rest.iter().all(|(s, _)| s == last_separator);
            let three = rest.iter().all(|(_, d)| d.len() == 3);
            // 12,34,567 as in India
            let two = *last_separator == ',' && rest.iter().all(|(_, d)| d.len() == 2) && !rest.is_empty();
            same && (1..=3).contains(&first.len()) && last.len() == 3 && (three || two)
        }
        [] => false,
    };
    let mut values = Vec::new();
    if thousands(groups) {
        values.extend(joined(groups).parse::<f64>());
    }
    if let [whole @ .., (separator @ ('.' | ','), fraction)] = groups
        && !whole.is_empty()
        && whole.iter().skip(1).all(|(s, _)| s != separator)
        && thousands(whole)
    {
        values.extend(format!("{}.{fraction}", joined(whole)).parse::<f64>());
    }
    values
}

/// Returns the factors that the word after a number may stand for, and the text after that word.
fn scale(after: &str) -> (&'static [f64], &str) {
    let word_start = after.trim_start_matches([' ', '\u{a0}', '\u{202f}', '-']);
    let word: String = match word_start.chars().next() {
        Some(c) if is_han(c) => c.to_string(),
        _ => word_start.chars().take_while(|c| c.is_alphabetic()).collect(),
    };
    let lower = word.to_lowercase();
    // a lone `m` or `b` after a space is a unit, not a scale
    let apart = word_start.len() < after.len() && lower.chars().count() == 1 && lower.is_ascii();
    let known = SCALES
        .iter()
        .find(|(words, _)| !apart && words.split_whitespace().any(|known| known == lower));
    match known {
        Some((_, scale)) if !word.is_empty() => (scale, &word_start[word.len()..]),
        _ => (&[1.0], after),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::amounts;

    fn same(a: &str, b: &str) -> bool {
        let (a, b) = (amounts(a), amounts(b));
        assert!(a.len() == 1 && b.len() == 1, "{a:?} {b:?}");
        let (a, b) = (a[0].keys(), b[0].keys());
        a.iter().any(|key| b.contains(key))
    }

    #[test]
    fn one_number_in_many_ways() {
        for other in [
            "2.5 million",
            "2,5 Millionen",
            "2.5M",
            "2 500 000",
            "2\u{202f}500\u{202f}000",
            "2.500.000",
            "2’500’000",
            "2500000",
            "25,00,000",
            "٢٥٠٠٠٠٠",
            "２５００,０００",
            "250万",
            "2,5 млн",
            "2.5-million",
        ] {
            if other == "２５００,０００" {
                assert!(!same(other, "2,500,000"), "four digits begin no group");
                continue;
            }
            assert!(same("2,500,000", other), "{other}");
        }
        assert!(same("1,234", "1234") && same("1,234", "1.234"));
        assert!(same("3.5 billion", "3.5 Milliarden") && same("3.5 billion", "3.5 Billionen"));
    }

    #[test]
    fn different_numbers_differ() {
        for (a, b) in [
            ("12", "12%"),
            ("2.5", "25"),
            ("1,234.5", "1234"),
            ("5 m", "5 million"),
            ("1.2.3", "1.2.4"),
            ("20", "200"),
        ] {
            assert!(!same(a, b), "{a} {b}");
        }
        assert!(same("1.2.3", "1.2.3"));
        assert!(same("45 percent", "45 %") && same("45 Prozent", "45%"));
    }

    #[test]
    fn parts_of_words_are_no_numbers() {
        assert_eq!(amounts("B2B, mp3 and H2O"), []);
        assert_eq!(amounts("On 3, 4 and 5.").len(), 3);
        assert_eq!(amounts("between 5-10 of 2024.").len(), 3);
        assert_eq!(amounts("约12人").len(), 1);
    }

    proptest! {
        #[test]
        fn grouping_keeps_the_value(n in 0u64..1_000_000_000_000) {
            let digits = n.to_string();
            for separator in [",", ".", "\u{a0}", "'"] {
                let mut grouped = String::new();
                for (at, c) in digits.chars().enumerate() {
                    if at > 0 && (digits.len() - at) % 3 == 0 {
                        grouped.push_str(separator);
                    }
                    grouped.push(c);
                }
                prop_assert!(same(&digits, &grouped), "{grouped}");
            }
        }

        #[test]
        fn spans_lie_in_the_text(text in ".{0,60}|[0-9., '%km]{0,40}") {
            for amount in amounts(&text) {
                prop_assert!(text.get(amount.span.clone()).is_some_and(|s| !s.is_empty()));
            }
        }
    }
}
