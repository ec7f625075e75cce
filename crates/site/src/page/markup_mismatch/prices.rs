//! Prices in a text: numbers in the spelling of any country and script.

/// First digits of scripts whose digits follow each other; the digits of ASCII come first.
const ZEROS: [char; 22] = [
    '0', '٠', '۰', '߀', '०', '০', '੦', '૦', '୦', '௦', '౦', '೦', '൦', '෦', '๐', '໐', '༠', '၀', '០', '᠐', '᭐',
    '０',
];
/// Units of East Asian numbers with their powers of ten.
const UNITS: [(char, u32); 8] = [
    ('万', 4),
    ('萬', 4),
    ('만', 4),
    ('億', 8),
    ('亿', 8),
    ('억', 8),
    ('千', 3),
    ('천', 3),
];
/// Maximum number of digits of a number that may be a price.
const MAX_DIGITS: usize = 15;

/// Returns the value of a decimal digit of any script.
pub(in crate::page) fn digit(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    let of = |zero: &char| {
        (u32::from(c))
            .checked_sub(u32::from(*zero))
            .filter(|value| *value < 10)
    };
    ZEROS.iter().find_map(of)
}

/// Kind of a separator within a number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// It separates thousands or decimals, depending on the country.
    Either(char),
    /// It separates thousands only.
    Thousands,
    /// It separates decimals only.
    Decimals,
    /// Spaces separate thousands, but also two numbers.
    Space,
}

fn separator(c: char) -> Option<Separator> {
    Some(match c {
        '.' | '．' => Separator::Either('.'),
        ',' | '，' => Separator::Either(','),
        '\'' | '’' | '٬' => Separator::Thousands,
        '٫' => Separator::Decimals,
        ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' => Separator::Space,
        _ => return None,
    })
}

/// A number as written: its groups of digits, each with the separator before it.
#[derive(Default)]
struct Written {
    groups: Vec<(Option<Separator>, String)>,
    /// Number of digits before the last place where two elements meet within the digits: `12<sup>99</sup>`.
    seam: Option<usize>,
    digits: usize,
}

/// Returns the values that the numbers of a text may have, in thousandths. `seams` are the byte positions at which two
/// elements meet between digits, ascending.
pub(super) fn amounts<'t>(text: &'t str, seams: &'t [usize]) -> impl Iterator<Item = Vec<u64>> + 't {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text[at..].find(|c| digit(c).is_some())?;
        let (number, end) = number_at(text, at, seams);
        at = end;
        let mut values = number.values();
        at += with_units(&text[at..], &mut values);
        Some(values)
    })
}

/// Reads the number that begins at a position; returns it with its end.
fn number_at(text: &str, start: usize, seams: &[usize]) -> (Written, usize) {
    let mut written = Written::default();
    let (mut before, mut end) = (None, start);
    for (at, c) in text[start..].char_indices() {
        let at = start + at;
        if let Some(value) = digit(c) {
            let is_first = written.groups.is_empty();
            if before.is_some() || is_first {
                written.groups.push((before.take(), String::new()));
            } else if seams.binary_search(&at).is_ok() {
                written.seam = Some(written.digits);
            }
            if let Some((_, group)) = written.groups.last_mut() {
                group.push(char::from_digit(value, 10).unwrap_or('0'));
            }
            written.digits += 1;
            end = at + c.len_utf8();
            continue;
        }
        let Some(found) = separator(c).filter(|_| before.is_none()) else {
            break;
        };
        let follows = |count: usize| {
            let digits = text[at + c.len_utf8()..].chars().take(count + 1);
            digits.take_while(|c| digit(*c).is_some()).count()
        };
        if found == Separator::Space && follows(3) != 3 || follows(1) == 0 {
            break;
        }
        before = Some(found);
    }
    (written, end)
}

/// Applies units of East Asian numbers such as `12万9900`; returns the length of what was read.
fn with_units(text: &str, values: &mut [u64]) -> usize {
    let power = |text: &str| {
        let unit = text.chars().next()?;
        let (_, power) = UNITS.iter().find(|(known, _)| *known == unit)?;
        Some((unit.len_utf8(), 10_u64.pow(*power)))
    };
    let Some((mut end, times)) = power(text) else {
        return 0;
    };
    values
        .iter_mut()
        .for_each(|value| *value = value.saturating_mul(times));
    if text[end..].starts_with(|c| digit(c).is_some()) {
        let (rest, after) = number_at(text, end, &[]);
        let added = rest.values();
        values.iter_mut().for_each(|value| {
            *value = value.saturating_add(added.first().copied().unwrap_or(0));
        });
        end = after;
    }
    end
}

impl Written {
    /// Returns the values in thousandths that the number may have.
    fn values(&self) -> Vec<u64> {
        let mut values = Vec::new();
        if self.digits > MAX_DIGITS {
            return values;
        }
        self.add_values(&self.groups, &mut values);
        // the amount and the price may be separated by a space as well: `2 299 €`
        let spaces = (1..self.groups.len()).filter(|at| self.groups[*at].0 == Some(Separator::Space));
        for at in spaces {
            self.add_values(&self.groups[at..], &mut values);
        }
        values
    }

    fn add_values(&self, groups: &[(Option<Separator>, String)], values: &mut Vec<u64>) {
        let all: String = groups.iter().map(|(_, digits)| &**digits).collect();
        let Some(((last_separator, last), before)) = groups.split_last() else {
            return;
        };
        let mut add = |digits: &str, decimals: usize| {
            let number: Option<u64> = digits.parse().ok();
            let value = number.and_then(|number| number.checked_mul(10_u64.pow(3 - decimals as u32)));
            values.extend(value);
        };
        // 12<sup>99</sup>
        if let Some(seam) = self.seam.filter(|_| last.len() > 2)
            && self.digits - seam == 2
        {
            add(&all, 2);
        }
        let Some(separator) = last_separator.filter(|_| !before.is_empty()) else {
            return add(&all, 0);
        };
        let repeats = before.iter().any(|(other, _)| *other == Some(separator));
        let is_decimal = match separator {
            Separator::Either(_) => !repeats && last.len() <= 3,
            Separator::Decimals => last.len() <= 3,
            Separator::Thousands | Separator::Space => false,
        };
        if is_decimal {
            add(&all, last.len());
        }
        let head = before.first().map_or(0, |(_, digits)| digits.len());
        if separator != Separator::Decimals && last.len() == 3 && head <= 3 {
            add(&all, 0);
        }
        // 1,29999 with the cents raised
        if last.len() == 5 && head <= 3 {
            add(&all, 2);
        }
    }
}

/// Returns the values in thousandths that a price in structured data may have; none if it is not a number. schema.org
/// requires a decimal point, but microdata may hold the displayed text itself: `1.299`.
pub(super) fn marked(price: &str) -> Vec<u64> {
    let price = price.trim();
    let number: Option<f64> = price.parse().ok().filter(|number| (0.0..1e12).contains(number));
    let Some(number) = number else { return Vec::new() };
    let mut values = vec![(number * 1000.0).round() as u64];
    let decimals = price.split_once('.').map(|(_, decimals)| decimals.len());
    if decimals == Some(3) {
        values.push((number * 1_000_000.0).round() as u64);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::{amounts, marked};

    fn values(text: &str) -> Vec<Vec<u64>> {
        amounts(text, &[]).collect()
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, wanted) in [
            ("1.299,50", vec![1_299_500]),
            ("1,299.50", vec![1_299_500]),
            ("1'299.–", vec![1_299_000]),
            ("1 299,00", vec![1_299_000, 299_000]),
            ("12.99", vec![12_990]),
            ("9,9", vec![9_900]),
            ("1.299", vec![1_299, 1_299_000]),
            ("1,29,900", vec![129_900_000]),
            ("1,299,000", vec![1_299_000_000]),
            ("1299", vec![1_299_000]),
            ("١٬٢٩٩٫٥٠", vec![1_299_500]),
            ("१,२९९", vec![1_299, 1_299_000]),
            ("１２９９．５０", vec![1_299_500]),
            ("12万9900円", vec![129_900_000]),
            ("3億", vec![300_000_000_000]),
        ] {
            assert_eq!(values(text), [wanted], "{text}");
        }
        assert_eq!(
            values("2 299 and 5, 6."),
            [vec![2_299_000, 299_000], vec![5_000], vec![6_000]]
        );
        assert_eq!(values("1234567890123456"), [Vec::<u64>::new()]);
    }

    #[test]
    fn cents_may_be_an_element_of_their_own() {
        let read = |text: &str, seam: usize| amounts(text, &[seam]).collect::<Vec<_>>();
        assert_eq!(read("$1299", 3), [vec![12_990, 1_299_000]]);
        assert_eq!(read("$1,29999", 6), [vec![1_299_990, 1_299_990]]);
        assert_eq!(read("$1299", 2), [vec![1_299_000]], "not two digits");
        assert_eq!(read("$12.99", 5), [vec![12_990]]);
    }

    #[test]
    fn marked_prices_have_a_decimal_point() {
        assert_eq!(marked("1299.5"), [1_299_500]);
        assert_eq!(marked("1.299"), [1_299, 1_299_000]);
        assert_eq!(marked("1,299"), [0; 0]);
        assert_eq!(marked("call us"), [0; 0]);
    }
}
