//! Lexes one tag from its name to its `>`. Most names have fewer than eight letters, so their end is found in eight
//! bytes at once, without a branch for each letter.

use searchwright_text::simd::find_near;

use super::{
    attributes::{Attribute, Kept},
    raw_text::is_space,
    tags::Tag,
};

/// Bytes that end an element name; an attribute name also ends at an equals sign.
static ENDS_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = is_space(byte as u8) || matches!(byte as u8, b'/' | b'>');
        byte += 1;
    }
    table
};

const ONES: u64 = u64::from_le_bytes([1; 8]);
/// Bit that every letter has, and no byte that ends a name.
const LETTER: u64 = u64::from_le_bytes([0x40; 8]);

/// A tag that was lexed.
pub(crate) struct LexedTag {
    pub tag: Tag,
    pub name_end: usize,
    /// Position after the `>`.
    pub end: usize,
    pub self_closing: bool,
}

/// Lexes a tag whose name begins at `from`; `None` if the document ends before its `>`.
pub(crate) fn read<'a>(html: &'a str, from: usize, attributes: Option<&mut Kept<'a>>) -> Option<LexedTag> {
    let bytes = html.as_bytes();
    let (tag, name_end) = match known_name(bytes, from) {
        Some(known) => known,
        None => {
            let length = bytes
                .get(from..)?
                .iter()
                .position(|b| ENDS_NAME[usize::from(*b)])?;
            (Tag::from_name(&bytes[from..from + length]), from + length)
        }
    };
    let (end, self_closing) = if bytes[name_end] == b'>' {
        (name_end + 1, false)
    } else {
        rest(html, name_end, attributes)?
    };
    Some(LexedTag {
        tag,
        name_end,
        end,
        self_closing,
    })
}

/// Returns a known element with a short name that ends with a space or `>`.
fn known_name(bytes: &[u8], from: usize) -> Option<(Tag, usize)> {
    let eight = eight(bytes, from)?;
    let letters = (equal(eight, b'>') | equal(eight, b' ')).trailing_zeros() / 8;
    if letters == 8 {
        return None;
    }
    // no known name contains a byte that ends a name
    let tag = Tag::of_short(eight, letters);
    (tag != Tag::Other).then_some((tag, from + letters as usize))
}

/// Returns the end of a short attribute name of one letter or more, if it has only letters and an equals sign follows.
fn name_of_value(bytes: &[u8], from: usize) -> Option<usize> {
    let eight = eight(bytes, from)?;
    let letters = equal(eight, b'=').trailing_zeros() / 8;
    let name = LETTER & !u64::MAX.checked_shl(8 * letters).unwrap_or(0);
    (!letters.is_multiple_of(8) && eight & name == name).then_some(from + letters as usize)
}

fn eight(bytes: &[u8], from: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(from..)?.first_chunk()?))
}

/// Sets the highest bit of the first byte that equals `byte`; bits of later bytes are meaningless.
const fn equal(eight: u64, byte: u8) -> u64 {
    let rest = eight ^ (ONES * byte as u64);
    // the lowest byte that is 0 borrows first
    rest.wrapping_sub(ONES) & !rest & (ONES << 7)
}

/// Reads the attributes after a name. Returns the end of the tag, and whether it is self-closing.
fn rest<'a>(html: &'a str, name_end: usize, mut attributes: Option<&mut Kept<'a>>) -> Option<(usize, bool)> {
    let bytes = html.as_bytes();
    let mut push = |name: &'a str, value: &'a str| {
        if let Some(attributes) = &mut attributes {
            attributes.push(Attribute { name, value });
        }
    };
    let mut i = name_end;
    loop {
        let byte = *bytes.get(i)?;
        if byte == b'>' {
            return Some((i + 1, bytes[i - 1] == b'/' && i > name_end));
        }
        if is_space(byte) || byte == b'/' {
            i += 1;
            continue;
        }
        let name_start = i;
        if let Some(end) = name_of_value(bytes, i) {
            i = end;
        } else {
            // a name may begin with `=` and contain any byte but these
            i += 1;
            while !ENDS_NAME[usize::from(*bytes.get(i)?)] && bytes[i] != b'=' {
                i += 1;
            }
        }
        let name = &html[name_start..i];
        while is_space(*bytes.get(i)?) {
            i += 1;
        }
        let mut value = "";
        if bytes[i] == b'=' {
            i += 1;
            while is_space(*bytes.get(i)?) {
                i += 1;
            }
            let first = bytes[i];
            if first == b'"' || first == b'\'' {
                let start = i + 1;
                i = start + find_near(first, &bytes[start..])?;
                value = &html[start..i];
                i += 1;
                // a slash right after the quote is not part of the value, so `<br a=""/>` is self-closing
            } else if first != b'>' {
                let start = i;
                while !is_space(*bytes.get(i)?) && bytes[i] != b'>' {
                    i += 1;
                }
                value = &html[start..i];
                if bytes[i] == b'>' {
                    push(name, value);
                    // the slash in `<br a=b/>` belongs to the value
                    return Some((i + 1, false));
                }
            }
        }
        push(name, value);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    proptest! {
        /// Covers bytes that end names at any position, and letters outside ASCII.
        #[test]
        fn names_end_where_they_end_byte_by_byte(text in "[a-zA-Z0-9é=>/ \t\n-]{0,12}") {
            let bytes = text.as_bytes();
            let ends = |b: &u8| ENDS_NAME[usize::from(*b)];
            if let Some((tag, end)) = known_name(bytes, 0) {
                prop_assert_eq!(Some(end), bytes.iter().position(ends));
                prop_assert_eq!(tag, Tag::from_name(&bytes[..end]));
            }
            if let Some(end) = name_of_value(bytes, 0) {
                prop_assert_eq!(Some(end), bytes.iter().position(|b| ends(b) || *b == b'='));
                prop_assert_eq!(bytes[end], b'=');
            }
        }
    }

    #[test]
    fn short_names_are_known_at_once() {
        let name = |html: &str| known_name(html.as_bytes(), 0);
        assert_eq!(name("a href=x>"), Some((Tag::A, 1)));
        assert_eq!(name("SECTION>"), Some((Tag::Section, 7)));
        assert_eq!(name("br/> and more"), None);
        assert_eq!(name("article>"), Some((Tag::Article, 7)));
        assert_eq!(name("textarea>"), None);
        let end = |html: &str| name_of_value(html.as_bytes(), 0);
        assert_eq!(end("class=\"x\""), Some(5));
        assert_eq!(end("content=x"), Some(7));
        assert_eq!(
            (end("hidden> ="), end("data-x=1"), end("=a=b>   ")),
            (None, None, None)
        );
    }
}
