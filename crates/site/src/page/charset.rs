//! Bytes to text: byte order mark, then the HTTP header, then `<meta>` in the first 1,024 bytes, then what the
//! bytes look like (HTML standard 13.2.3.2). UTF-8 is borrowed, so that the body is not held twice.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::{
    Charset,
    tags::Tag,
    tokens::{Token, Tokens},
};

/// How far a declaration is looked for, in bytes.
const PRESCAN: usize = 1_024;

/// The body as text, and how it was read.
pub(super) fn decode<'a>(body: &'a [u8], content_type: Option<&str>) -> (Cow<'a, str>, Charset) {
    let bom = Encoding::for_bom(body);
    let header = content_type.and_then(charset_in);
    let meta = declared(body);
    let known = |label: &Option<Cow<'_, str>>| Encoding::for_label(label.as_ref()?.as_bytes());
    let encoding = bom
        .map(|(encoding, _)| encoding)
        .or_else(|| known(&header))
        .or_else(|| {
            let encoding = known(&meta)?;
            // a declaration that can be read is not in UTF-16
            let impossible = encoding == UTF_16LE || encoding == UTF_16BE;
            Some(if impossible { UTF_8 } else { encoding })
        });
    let rest = &body[bom.map_or(0, |(_, length)| length)..];
    let (text, used) = match (encoding, utf_8(rest)) {
        (None, Some(text)) => (Cow::Borrowed(text), UTF_8),
        (Some(encoding), Some(text)) if encoding == UTF_8 => (Cow::Borrowed(text), UTF_8),
        (None, None) => (WINDOWS_1252.decode_without_bom_handling(rest).0, WINDOWS_1252),
        (Some(encoding), _) => (encoding.decode_without_bom_handling(rest).0, encoding),
    };
    let charset = Charset {
        used: used.name().into(),
        header: header.map(|label| label.into()),
        meta: meta.map(|label| label.into()),
        bom: bom.is_some(),
    };
    (text, charset)
}

/// The body when it is UTF-8; a last character may be cut off, as the body may.
fn utf_8(body: &[u8]) -> Option<&str> {
    match std::str::from_utf8(body) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&body[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}

/// The charset that a `<meta>` among the first 1,024 bytes names.
fn declared(body: &[u8]) -> Option<Cow<'static, str>> {
    let ascii = |b: &u8| if b.is_ascii() { char::from(*b) } else { '?' };
    let head: String = body[..body.len().min(PRESCAN)].iter().map(ascii).collect();
    let mut tokens = Tokens::new(&head);
    while let Some(token) = tokens.next() {
        let Token::Start(start) = token else { continue };
        if start.tag != Tag::Meta {
            continue;
        }
        let value = |name: &str| {
            let mut attributes = tokens.attributes().iter();
            attributes
                .find(|a| a.name.eq_ignore_ascii_case(name))
                .map(|a| a.value.trim())
        };
        let label = match (value("charset"), value("http-equiv"), value("content")) {
            (Some(label), ..) if !label.is_empty() => Some(Cow::Borrowed(label)),
            (_, Some(what), Some(content)) if what.eq_ignore_ascii_case("content-type") => {
                charset_in(content)
            }
            _ => None,
        };
        if let Some(label) = label {
            return Some(Cow::Owned(label.into_owned()));
        }
    }
    None
}

/// `charset` of a content type.
fn charset_in(content_type: &str) -> Option<Cow<'_, str>> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']).trim();
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then_some(Cow::Borrowed(value))
    })
}

#[cfg(test)]
mod tests {
    use super::decode;

    fn read(body: &[u8], content_type: &str) -> (String, String) {
        let (text, charset) = decode(body, Some(content_type));
        (text.into_owned(), charset.used.into_string())
    }

    #[test]
    fn the_first_that_speaks_is_believed() {
        let cyrillic = b"<meta charset=windows-1251>\xcf";
        assert_eq!(read(cyrillic, "text/html").0, "<meta charset=windows-1251>П");
        assert_eq!(
            read(b"\xef\xbb\xbf\xc3\xa9", "text/html; charset=iso-8859-1"),
            ("é".into(), "UTF-8".into())
        );
        assert_eq!(
            read(b"\xe9<meta charset=utf-8>", "text/html; Charset=\"ISO-8859-1\"").0,
            "é<meta charset=utf-8>"
        );
        assert_eq!(
            read(
                "<meta http-equiv=content-type content='text/html; charset=shift_jis'>".as_bytes(),
                ""
            )
            .1,
            "Shift_JIS"
        );
        assert_eq!(read(b"<meta charset=utf-16>\xc3\xa9", "").1, "UTF-8");
        assert_eq!(read(b"<meta charset=nonsense>\xe9.", "").1, "windows-1252");
    }

    #[test]
    fn undeclared_bytes_are_looked_at() {
        assert_eq!(read("é".as_bytes(), "text/html"), ("é".into(), "UTF-8".into()));
        assert_eq!(
            read(b"\xe9t\xe9", "text/html"),
            ("été".into(), "windows-1252".into())
        );
        // cut in the middle of a character
        assert_eq!(read(b"abc\xe2\x82", "text/html"), ("abc".into(), "UTF-8".into()));
    }

    #[test]
    fn utf_16_is_known_by_its_mark_or_header() {
        assert_eq!(read(b"\xff\xfea\0b\0", "text/html").0, "ab");
        assert_eq!(read(b"\0a\0b", "text/html; charset=utf-16be").0, "ab");
    }

    #[test]
    fn a_declaration_in_a_comment_or_too_late_is_none() {
        let late = format!(
            "<!-- <meta charset=a> -->{}<meta charset=utf-8>",
            " ".repeat(1_024)
        );
        assert_eq!(decode(late.as_bytes(), None).1.meta, None);
    }
}
