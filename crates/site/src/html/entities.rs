//! Decodes character references (`&amp;`, `&#8217;`) by the HTML standard (13.2.5.72): by the longest known name, and
//! without a semicolon where legacy names allow it.

use std::{borrow::Cow, sync::LazyLock};

use searchwright_text::simd::find_near;

/// Sorted names as `name[!] code-points`; `!` marks names valid without a semicolon. From the list of the standard,
/// https://html.spec.whatwg.org/entities.json.
const NAMES: &str = include_str!("../../data/entities.txt");
/// Length of the longest name valid without a semicolon; [`MAX_NAME_BYTES`] is that of the longest name.
const MAX_BARE_NAME_BYTES: usize = 6;
const MAX_NAME_BYTES: usize = 31;

struct Named {
    name: &'static str,
    /// Whether the name is valid without a semicolon.
    bare: bool,
    /// Hexadecimal code points.
    points: &'static str,
}

static NAMED: LazyLock<Vec<Named>> = LazyLock::new(|| {
    let line = |line: &'static str| {
        let (name, points) = line.split_once(' ')?;
        let bare = name.ends_with('!');
        Some(Named {
            name: name.trim_end_matches('!'),
            bare,
            points,
        })
    };
    NAMES.lines().filter_map(line).collect()
});

fn named(name: &str) -> Option<&'static Named> {
    let names = &*NAMED;
    names
        .binary_search_by(|n| n.name.cmp(name))
        .ok()
        .map(|i| &names[i])
}

/// Context of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum In {
    /// In text.
    Text,
    /// In an attribute, where `?a=1&copy=2` is a URL without a copyright sign.
    Attribute,
}

/// Decodes the references in a text; borrowed if there are none.
pub(crate) fn decode(text: &str, place: In) -> Cow<'_, str> {
    let Some(first) = find_near(b'&', text.as_bytes()) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    loop {
        let used = reference(&mut out, rest, place);
        if used == 0 {
            out.push('&');
        }
        rest = &rest[used.max(1)..];
        let Some(next) = find_near(b'&', rest.as_bytes()) else {
            break;
        };
        out.push_str(&rest[..next]);
        rest = &rest[next..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Decodes the reference at the start of `rest`; returns its length in bytes, 0 if it is none.
fn reference(out: &mut String, rest: &str, place: In) -> usize {
    let bytes = rest.as_bytes();
    if bytes.get(1) == Some(&b'#') {
        return numeric(out, bytes);
    }
    let length = bytes[1..]
        .iter()
        .take(MAX_NAME_BYTES + 1)
        .take_while(|b| b.is_ascii_alphanumeric())
        .count();
    let name = &rest[1..=length];
    if bytes.get(1 + length) == Some(&b';') {
        // covers nearly all references
        let common = match name {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            "nbsp" => "\u{a0}",
            _ => "",
        };
        if !common.is_empty() {
            out.push_str(common);
            return length + 2;
        }
        if let Some(found) = named(name) {
            push_points(out, found.points);
            return length + 2;
        }
    }
    for shorter in (2..=length.min(MAX_BARE_NAME_BYTES)).rev() {
        let Some(found) = named(&name[..shorter]).filter(|found| found.bare) else {
            continue;
        };
        let next = bytes.get(1 + shorter);
        if place == In::Attribute && next.is_some_and(|b| *b == b'=' || b.is_ascii_alphanumeric()) {
            return 0;
        }
        push_points(out, found.points);
        return 1 + shorter;
    }
    0
}

fn push_points(out: &mut String, points: &str) {
    out.extend(
        points
            .split(' ')
            .filter_map(|point| char::from_u32(u32::from_str_radix(point, 16).ok()?)),
    );
}

fn numeric(out: &mut String, bytes: &[u8]) -> usize {
    let (radix, start) = if matches!(bytes.get(2), Some(b'x' | b'X')) {
        (16, 3)
    } else {
        (10, 2)
    };
    let digits = bytes[start..]
        .iter()
        .map_while(|b| char::from(*b).to_digit(radix));
    let mut value = 0u32;
    let mut count = 0;
    for digit in digits {
        value = value.saturating_mul(radix).saturating_add(digit);
        count += 1;
    }
    if count == 0 {
        return 0;
    }
    out.push(character(value));
    start + count + usize::from(bytes.get(start + count) == Some(&b';'))
}

/// Returns the character of a numeric reference. The standard maps the C1 controls as Windows does, and invalid code
/// points to U+FFFD.
fn character(value: u32) -> char {
    #[rustfmt::skip]
    const WINDOWS: [u16; 32] = [
        0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d, 0x8f,
        0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178,
    ];
    let value = match value {
        0x80..=0x9f => u32::from(WINDOWS[value as usize - 0x80]),
        value => value,
    };
    char::from_u32(value)
        .filter(|c| *c != '\0')
        .unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::{In, MAX_BARE_NAME_BYTES, MAX_NAME_BYTES, NAMED, decode};

    #[test]
    fn the_list_is_whole_and_sorted() {
        assert_eq!(NAMED.len(), 2_125);
        assert!(NAMED.is_sorted_by(|a, b| a.name < b.name));
        assert!(NAMED.iter().all(|n| n.name.len()
            <= if n.bare {
                MAX_BARE_NAME_BYTES
            } else {
                MAX_NAME_BYTES
            }));
    }

    #[test]
    fn references_in_text() {
        for (source, text) in [
            ("a &amp; b &lt;c&gt;", "a & b <c>"),
            ("&eacute;t&eacute;&hellip;", "été…"),
            ("&#39;&#x2019;&#X41;&#128;", "'’A€"),
            ("&copy 2020 &notit; &notin;", "© 2020 ¬it; ∉"),
            ("&NotEqualTilde;", "≂̸"),
            ("R&D & co &; &#; &#x; &unknown;", "R&D & co &; &#; &#x; &unknown;"),
            ("&#0;&#xd800;&#99999999999;", "\u{fffd}\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(decode(source, In::Text), text, "{source}");
        }
    }

    #[test]
    fn addresses_keep_their_parameters() {
        assert_eq!(
            decode("?a=1&copy=2&amp;lt=3&reg2", In::Attribute),
            "?a=1&copy=2&lt=3&reg2"
        );
        assert_eq!(decode("&copy;=1", In::Attribute), "©=1");
    }

    proptest! {
        #[test]
        fn never_panics(text in "[&#xX;a-zA-Z0-9é=]{0,60}") {
            decode(&text, In::Text);
            decode(&text, In::Attribute);
        }
    }
}
