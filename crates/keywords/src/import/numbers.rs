//! Numbers as people's tools write them.

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
    if let Some(bound) = text.strip_prefix('<') {
        return number(bound.trim(), kind).map(|most| Figure::Range(0.0, most));
    }
    if let Some((low, high)) = text.split_once(['–', '—']).or_else(|| {
        // a hyphen at the beginning is a sign
        let at = text.get(1..)?.find('-')? + 1;
        Some((&text[..at], &text[at + 1..]))
    }) {
        let (low, high) = (number(low.trim(), kind)?, number(high.trim(), kind)?);
        return (low <= high).then_some(Figure::Range(low, high));
    }
    number(text, kind).map(Figure::Exact)
}

fn is_unknown(text: &str) -> bool {
    matches!(text, "" | "-" | "--" | "–" | "—")
        || ["n/a", "na", "nan", "null", "none", "unknown"]
            .iter()
            .any(|word| text.eq_ignore_ascii_case(word))
}

fn number(text: &str, kind: NumberKind) -> Option<f64> {
    let text = text.trim_start_matches(['$', '€', '£', '¥']).trim();
    let (text, factor) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1e3),
        b'm' | b'M' => (&text[..text.len() - 1], 1e6),
        b'b' | b'B' => (&text[..text.len() - 1], 1e9),
        _ => (text, 1.0),
    };
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

/// Digits with at most one point, without groups.
fn plain(text: &str, kind: NumberKind) -> Option<String> {
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
