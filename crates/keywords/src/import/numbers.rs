//! Numbers as people's tools write them.

use super::MAX_VOLUME;

/// A number of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Figure {
    /// The tool does not know it.
    Unknown,
    /// Exactly this.
    Exact(f64),
    /// Between these, both included.
    Range(f64, f64),
}

/// Kind of number expected, which decides what a lone separator before three digits means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberKind {
    /// A count: `1,234` and `1.234` are 1234.
    Whole,
    /// A decimal number; the comma is a decimal comma when the flag is set or it does not group.
    Decimal {
        /// The file puts something else between its columns, so its comma is decimal.
        comma: bool,
    },
}

/// Reads a number: thousands separators, decimal commas, `1.2K`, `< 10`, `10 – 100`, `-`, `n/a`.
/// `None` when it is none.
pub(super) fn figure(text: &str, kind: NumberKind) -> Option<Figure> {
    let text = text.trim();
    // the usual case first
    if !text.is_empty() && text.len() <= 15 && text.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().ok().map(Figure::Exact);
    }
    if is_unknown(text) {
        return Some(Figure::Unknown);
    }
    if let Some(bound) = text.strip_prefix(['<', '≤', '＜']) {
        let most = number(bound.trim_start_matches('=').trim(), kind);
        return most.map(|most| Figure::Range(0.0, most));
    }
    let open = text
        .strip_prefix(['>', '≥', '＞'])
        .map(|bound| bound.trim_start_matches('='));
    if let Some(bound) = open.or_else(|| text.strip_suffix(['+', '＋'])) {
        let least = number(bound.trim(), kind)?;
        return (0.0..=MAX_VOLUME as f64)
            .contains(&least)
            .then_some(Figure::Range(least, MAX_VOLUME as f64));
    }
    if let Some((low, high)) = bounds(text) {
        let (low, high) = (number(low.trim(), kind)?, number(high.trim(), kind)?);
        return (low <= high).then_some(Figure::Range(low, high));
    }
    number(text, kind).map(Figure::Exact)
}

/// The two sides of a range.
fn bounds(text: &str) -> Option<(&str, &str)> {
    const DASHES: [char; 10] = ['-', '‐', '‑', '‒', '–', '—', '―', '〜', '～', '~'];
    // a hyphen at the beginning is a sign
    let dash = text.char_indices().skip(1).find(|(_, c)| DASHES.contains(c));
    if let Some((at, dash)) = dash {
        return Some((&text[..at], &text[at + dash.len_utf8()..]));
    }
    [" to ", " bis ", " à ", " a "]
        .iter()
        .find_map(|word| text.split_once(word))
}

fn is_unknown(text: &str) -> bool {
    matches!(text, "" | "-" | "--" | "–" | "—")
        || ["n/a", "na", "nan", "null", "none", "unknown"]
            .iter()
            .any(|word| text.eq_ignore_ascii_case(word))
}

fn number(text: &str, kind: NumberKind) -> Option<f64> {
    let text = text.trim_start_matches(['$', '€', '£', '¥']).trim();
    let unit = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let (text, factor) = (&text[..unit], factor(&text[unit..])?);
    // a grouped number has no suffix: `1,2K` and `1.234M` are decimal
    let kind = if factor > 1.0 {
        NumberKind::Decimal { comma: true }
    } else {
        kind
    };
    let (text, negative) = match text.trim().strip_prefix(['-', '−']) {
        Some(rest) => (rest, true),
        None => (text.trim(), false),
    };
    let digits = plain(text, kind)?;
    let value: f64 = digits.parse().ok()?;
    let value = value * factor * if negative { -1.0 } else { 1.0 };
    value.is_finite().then_some(value)
}

/// Factor of what stands behind a number: `K`, `Mio.`, `万`. `None` if it is no such thing.
fn factor(unit: &str) -> Option<f64> {
    // a unit is short
    let unit = unit
        .get(..unit.len().min(12))?
        .trim_end_matches('.')
        .to_lowercase();
    Some(match unit.trim() {
        "" => 1.0,
        "k" | "tsd" | "tys" | "tis" | "тыс" | "mil" | "천" => 1e3,
        "万" | "萬" | "만" => 1e4,
        "m" | "mio" | "mln" | "mi" | "mn" | "млн" | "mill" => 1e6,
        "億" | "亿" | "억" => 1e8,
        "b" | "mrd" | "mld" | "млрд" => 1e9,
        _ => return None,
    })
}

/// Digits with at most one point, without groups.
fn plain(text: &str, kind: NumberKind) -> Option<String> {
    let text = text.trim();
    let is_space = |c: char| matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\'' | '’');
    let point = decimal_separator(text, kind)?;
    let (whole, fraction) = match point {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let groups: Vec<&str> = whole.split(|c| is_space(c) || c == ',' || c == '.').collect();
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let grouped = match groups.as_slice() {
        [only] => digits(only) && (!only.is_empty() || fraction.is_some_and(|f| !f.is_empty())),
        [first, middle @ .., last] => {
            // two digits in the middle: 12,34,567 in India
            (1..=3).contains(&first.len())
                && last.len() == 3
                && middle.iter().all(|g| matches!(g.len(), 2 | 3))
                && groups.iter().all(|g| digits(g))
        }
        [] => false,
    };
    if !grouped || fraction.is_some_and(|f| !digits(f)) {
        return None;
    }
    let mut out = groups.concat();
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    // `5.` and `.5` are numbers to Rust as well, a lone point is not
    Some(out)
}

/// Position of the decimal separator; `Some(None)` if there is no fraction, `None` if separators contradict each other.
fn decimal_separator(text: &str, kind: NumberKind) -> Option<Option<usize>> {
    let last = |c: char| text.rfind(c);
    let count = |c: char| text.matches(c).count();
    match (last('.'), last(',')) {
        (None, None) => Some(None),
        (Some(dot), Some(comma)) => {
            let (at, c) = if dot > comma { (dot, '.') } else { (comma, ',') };
            // only groups repeat their separator
            (count(c) == 1).then_some(Some(at))
        }
        (Some(at), None) | (None, Some(at)) => {
            let c = if text.as_bytes()[at] == b'.' { '.' } else { ',' };
            if count(c) > 1 {
                return Some(None);
            }
            let groups = text.len() - at - 1 == 3 && (1..=3).contains(&at) && !text.starts_with('0');
            let thousands = groups
                && match kind {
                    NumberKind::Whole => true,
                    NumberKind::Decimal { comma } => c == ',' && !comma,
                };
            Some((!thousands).then_some(at))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{Figure, NumberKind, figure};

    const DECIMAL: NumberKind = NumberKind::Decimal { comma: false };

    #[test]
    fn counts() {
        for (text, value) in [
            ("0", 0.0),
            ("1234", 1234.0),
            ("1,234", 1234.0),
            ("1.234", 1234.0),
            ("1 234 567", 1_234_567.0),
            ("1\u{202f}234", 1234.0),
            ("1'234", 1234.0),
            ("12,34,567", 1_234_567.0),
            ("1.234,0", 1234.0),
            ("1K", 1000.0),
            ("1.2M", 1_200_000.0),
            ("1,2k", 1200.0),
            ("$ 40", 40.0),
            ("-5", -5.0),
        ] {
            assert_eq!(
                figure(text, NumberKind::Whole),
                Some(Figure::Exact(value)),
                "{text}"
            );
        }
    }

    #[test]
    fn decimals() {
        let comma = NumberKind::Decimal { comma: true };
        for (text, kind, value) in [
            ("1.234", DECIMAL, 1.234),
            ("1,234", DECIMAL, 1234.0),
            ("1,234", comma, 1.234),
            ("0,123", DECIMAL, 0.123),
            ("1,5", DECIMAL, 1.5),
            ("1.234,56", DECIMAL, 1234.56),
            ("1,234.56", comma, 1234.56),
            (".5", DECIMAL, 0.5),
        ] {
            assert_eq!(figure(text, kind), Some(Figure::Exact(value)), "{text}");
        }
    }

    #[test]
    fn unknown_is_not_zero() {
        for text in ["", " ", "-", "–", "n/a", "N/A", "null"] {
            assert_eq!(figure(text, NumberKind::Whole), Some(Figure::Unknown), "{text:?}");
        }
    }

    #[test]
    fn buckets() {
        for (text, low, high) in [
            ("< 1", 0.0, 1.0),
            ("<10", 0.0, 10.0),
            ("10 – 100", 10.0, 100.0),
            ("1K-10K", 1e3, 1e4),
            ("100K – 1M", 1e5, 1e6),
            ("1.000 – 10.000", 1e3, 1e4),
            ("1\u{a0}000 à 10\u{a0}000", 1e3, 1e4),
            ("1 Tsd.–1 Mio.", 1e3, 1e6),
            ("1 mil – 10 mil", 1e3, 1e4),
            ("1万～10万", 1e4, 1e5),
            ("10M+", 1e7, 1e9),
            ("> 100.000", 1e5, 1e9),
            ("≤ 10", 0.0, 10.0),
        ] {
            assert_eq!(
                figure(text, NumberKind::Whole),
                Some(Figure::Range(low, high)),
                "{text}"
            );
        }
    }

    #[test]
    fn no_numbers() {
        for text in [
            "abc",
            "1,2,3",
            "1..2",
            "12K3",
            ".",
            ",",
            "1,23,45",
            "100 – 10",
            "K",
            "1e5",
            "inf",
            "0x10",
            "1.2.3,4,5",
            "10 desks",
            "2B+",
        ] {
            assert_eq!(figure(text, NumberKind::Whole), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,20}") {
            let _ = figure(&text, NumberKind::Whole);
            let _ = figure(&text, DECIMAL);
        }

        #[test]
        fn grouping_does_not_change_a_count(n in 0u64..1_000_000_000, separator in "[,. ' ]") {
            let digits = n.to_string();
            let mut grouped = String::new();
            for (i, c) in digits.chars().enumerate() {
                if i > 0 && (digits.len() - i) % 3 == 0 {
                    grouped.push_str(&separator);
                }
                grouped.push(c);
            }
            prop_assert_eq!(figure(&grouped, NumberKind::Whole), Some(Figure::Exact(n as f64)));
        }

        #[test]
        fn a_written_decimal_is_read_again(n in -1e6f64..1e6) {
            prop_assert_eq!(figure(&n.to_string(), DECIMAL), Some(Figure::Exact(n)));
        }
    }
}
