//! Finds the end of comments, and of the text in scripts, styles and titles.

use memchr::memchr;

use super::tags::Tag;

/// Whether a byte is white space between attributes.
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

/// Returns the length of a comment after its `<!--`, including its end.
pub(crate) fn comment_length(rest: &[u8]) -> usize {
    if rest.starts_with(b">") {
        return 1;
    }
    if rest.starts_with(b"->") {
        return 2;
    }
    let mut from = 0;
    while let Some(found) = memchr(b'>', &rest[from..]) {
        let end = from + found;
        if rest[..end].ends_with(b"--") || rest[..end].ends_with(b"--!") {
            return end + 1;
        }
        from = end + 1;
    }
    rest.len()
}

/// Returns the length of raw or escapable text up to the end tag of its element.
pub(crate) fn raw_length(rest: &[u8], tag: Tag) -> usize {
    let mut from = 0;
    while let Some(found) = memchr(b'<', &rest[from..]) {
        let open = from + found;
        if closes(&rest[open + 1..], tag) {
            return open;
        }
        from = open + 1;
    }
    rest.len()
}

/// Whether the bytes begin with `/name` and a delimiter.
fn closes(rest: &[u8], tag: Tag) -> bool {
    rest.first() == Some(&b'/') && is_word(&rest[1..], tag)
}

fn is_word(rest: &[u8], tag: Tag) -> bool {
    let name = tag.name().as_bytes();
    rest.len() > name.len()
        && rest[..name.len()].eq_ignore_ascii_case(name)
        && (is_space(rest[name.len()]) || matches!(rest[name.len()], b'/' | b'>'))
}

/// Returns the length of a script up to its end tag, with the standard's legacy rule for scripts in comments: after
/// `<!--`, a nested `<script>` must be closed before `</script>` ends the element.
pub(crate) fn script_length(rest: &[u8]) -> usize {
    let mut escaped = false;
    let mut double = false;
    let mut i = 0;
    while i < rest.len() {
        if !escaped {
            let Some(found) = memchr(b'<', &rest[i..]) else {
                break;
            };
            i += found;
            if closes(&rest[i + 1..], Tag::Script) {
                return i;
            }
            if rest[i..].starts_with(b"<!--") {
                escaped = true;
                // the two hyphens may already be those of `-->`
                i += 2;
            } else {
                i += 1;
            }
            continue;
        }
        let Some(found) = memchr::memchr2(b'<', b'-', &rest[i..]) else {
            break;
        };
        i += found;
        if rest[i] == b'-' {
            if rest[i..].starts_with(b"-->") {
                escaped = false;
                double = false;
            }
            i += 1;
            continue;
        }
        if closes(&rest[i + 1..], Tag::Script) {
            if !double {
                return i;
            }
            double = false;
        } else if is_word(&rest[i + 1..], Tag::Script) {
            double = true;
        }
        i += 1;
    }
    rest.len()
}
