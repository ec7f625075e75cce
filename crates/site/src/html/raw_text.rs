//! Ends of comments and of the texts of scripts, styles and titles.

use memchr::memchr;

use super::tags::Tag;

/// White space between attributes.
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

/// Length of a comment after its `<!--`, its end included.
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

/// Length of raw or escapable text up to the end tag of its element.
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

/// Whether `/name` and a delimiter stand here.
fn closes(rest: &[u8], tag: Tag) -> bool {
    rest.first() == Some(&b'/') && is_word(&rest[1..], tag)
}

fn is_word(rest: &[u8], tag: Tag) -> bool {
    let name = tag.name().as_bytes();
    rest.len() > name.len()
        && rest[..name.len()].eq_ignore_ascii_case(name)
        && (is_space(rest[name.len()]) || matches!(rest[name.len()], b'/' | b'>'))
}

/// Length of a script up to its end tag, with the standard's old courtesy to scripts in comments:
/// after `<!--`, a `<script>` must be closed before `</script>` ends the element again.
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
