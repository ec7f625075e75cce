//! Decodes bodies: byte order mark, then the HTTP header, then `<meta>` or an XML declaration in the first 1,024 bytes,
//! then detection from the bytes (HTML standard 13.2.3.2). UTF-8 is borrowed, so that the body is not held twice.

mod prescan;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use memchr::memmem;

use super::Charset;
use prescan::meta;

/// Number of bytes searched for a declaration.
const PRESCAN: usize = 1_024;

/// Returns the body as text, with the encoding used and declared. `host` is that of the page: undeclared pages of a country
/// are mostly in its encodings.
pub(super) fn decode<'a>(
    body: &'a [u8],
    content_type: Option<&str>,
    host: Option<&str>,
) -> (Cow<'a, str>, Charset) {
    let bom = Encoding::for_bom(body);
    let header = content_type.and_then(charset_in);
    let declared = declared(body, content_type.is_some_and(is_xml));
    let known = |label: &Option<Cow<'_, str>>| Encoding::for_label(label.as_ref()?.as_bytes());
    let encoding = bom
        .map(|(encoding, _)| encoding)
        .or_else(|| known(&header))
        .or(declared.encoding);
    let rest = &body[bom.map_or(0, |(_, length)| length)..];
    let (text, used) = match (encoding, utf_8(rest)) {
        (None, Some(text)) => (Cow::Borrowed(text), UTF_8),
        (Some(encoding), Some(text)) if encoding == UTF_8 => (Cow::Borrowed(text), UTF_8),
        (None, None) => {
            let guess = guessed(rest, host);
            (guess.decode_without_bom_handling(rest).0, guess)
        }
        (Some(encoding), _) => (encoding.decode_without_bom_handling(rest).0, encoding),
    };
    let charset = Charset {
        used: used.name().into(),
        header: header.map(|label| label.into()),
        meta: declared.label,
        bom: bom.is_some(),
    };
    (text, charset)
}

/// Returns the encoding of bytes that are not UTF-8, by what is frequent in each language, as browsers do.
fn guessed(body: &[u8], host: Option<&str>) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(body, true);
    let country = host.and_then(|host| host.rsplit_once('.')).map(|(_, last)| last);
    let plain = |name: &&str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b == b'-' || b.is_ascii_digit())
    };
    detector.guess(country.filter(plain).map(str::as_bytes), Utf8Detection::Deny)
}

/// Returns the body if it is UTF-8; an incomplete last character is dropped, since the body may be cut.
fn utf_8(body: &[u8]) -> Option<&str> {
    // same as below, many bytes at a time
    if let Some(Cow::Borrowed(text)) = UTF_8.decode_without_bom_handling_and_without_replacement(body) {
        return Some(text);
    }
    match std::str::from_utf8(body) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&body[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}

/// Encoding that a document declares.
#[derive(Default)]
struct Declared {
    /// Label as written.
    label: Option<Box<str>>,
    /// Encoding of the label; `None` if the label is unknown.
    encoding: Option<&'static Encoding>,
}

impl Declared {
    fn from_label(label: &str) -> Self {
        let encoding = Encoding::for_label(label.as_bytes());
        // a declaration that is readable as ASCII is not in UTF-16
        let impossible = |encoding| encoding == UTF_16LE || encoding == UTF_16BE;
        Self {
            label: Some(label.into()),
            encoding: encoding.map(|known| if impossible(known) { UTF_8 } else { known }),
        }
    }
}

/// Returns the charset declared in the first 1,024 bytes. In HTML a `<meta>` takes precedence over an XML declaration;
/// in XML it has no effect.
fn declared(body: &[u8], is_xml: bool) -> Declared {
    let head = &body[..body.len().min(PRESCAN)];
    let utf_16 = |encoding: &'static Encoding| Declared {
        label: Some(encoding.name().into()),
        encoding: Some(encoding),
    };
    match head {
        [b'<', 0, b'?', 0, b'x', 0, ..] => return utf_16(UTF_16LE),
        [0, b'<', 0, b'?', 0, b'x', ..] => return utf_16(UTF_16BE),
        _ => {}
    }
    let in_xml = || {
        xml_encoding(head)
            .map(Declared::from_label)
            .filter(|of| of.encoding.is_some())
    };
    let in_meta = meta(head);
    if is_xml || in_meta.encoding.is_none() {
        // a meta without effect is still reported as declared
        return in_xml().unwrap_or(Declared {
            encoding: None,
            ..in_meta
        });
    }
    in_meta
}

/// Returns the encoding of an XML declaration ("get an XML encoding", HTML standard 13.2.3.2).
pub(crate) fn xml_encoding(head: &[u8]) -> Option<&str> {
    if !head.starts_with(b"<?xml") {
        return None;
    }
    let declaration = &head[..memchr::memchr(b'>', head)?];
    let name = memmem::find(declaration, b"encoding")?;
    let skip_space = |bytes: &'_ [u8]| bytes.iter().take_while(|b| **b <= b' ').count();
    let rest = &declaration[name + 8..];
    let rest = rest[skip_space(rest)..].strip_prefix(b"=")?;
    let (quote, rest) = rest[skip_space(rest)..].split_first()?;
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    let label = &rest[..memchr::memchr(*quote, rest)?];
    let label = std::str::from_utf8(label).ok()?;
    label.bytes().all(|b| b > b' ').then_some(label)
}

/// Whether the content type is XHTML, to which the rules of XML apply.
fn is_xml(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/xhtml+xml")
}

/// Extracts a charset by "extracting a character encoding from a `meta` element" (HTML standard 2.4.4), at any
/// position.
fn charset_of_meta(content: &str) -> Option<Cow<'_, str>> {
    let lower = content.to_ascii_lowercase();
    let mut names = memmem::find_iter(lower.as_bytes(), b"charset");
    let value = names.find_map(|at| content[at + 7..].trim_ascii_start().strip_prefix('='))?;
    let value = value.trim_ascii_start();
    let label = match value.as_bytes().first() {
        Some(quote @ (b'"' | b'\'')) => value[1..].split_once(char::from(*quote))?.0,
        _ => value
            .split([';', ' ', '\t', '\n', '\r', '\x0c'])
            .next()
            .unwrap_or_default(),
    };
    (!label.is_empty()).then_some(Cow::Borrowed(label))
}

/// Returns the `charset` parameter of a content type.
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
        let (text, charset) = decode(body, Some(content_type), None);
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
        for content in [
            "text/html charset=windows-1251",
            "text/html, CHARSET = windows-1251; x",
            "charset=windows-1251",
            "charset charset='windows-1251' x",
        ] {
            let body = [
                format!("<meta http-equiv=Content-Type content=\"{content}\">").as_bytes(),
                b"\xcf",
            ]
            .concat();
            assert!(read(&body, "text/html").0.ends_with('П'), "{content}");
        }
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
        for (text, name) in [
            (
                "Письменные столы из дуба, сделанные вручную в нашей мастерской",
                "windows-1251",
            ),
            ("机はすべて手作りで、長く使えます。", "Shift_JIS"),
            ("我们的书桌都是手工制作的，可以使用很多年。", "GBK"),
            ("Οι γλάροι πετούν πάνω από το λιμάνι το πρωί", "windows-1253"),
        ] {
            let encoding = encoding_rs::Encoding::for_label(name.as_bytes()).unwrap();
            let page = format!("<title>{text}</title>");
            let body = encoding.encode(&page).0;
            assert_eq!(read(&body, "text/html"), (page, name.to_owned()));
        }
        // cut in the middle of a character
        assert_eq!(read(b"abc\xe2\x82", "text/html"), ("abc".into(), "UTF-8".into()));
    }

    #[test]
    fn utf_16_is_known_by_its_mark_or_header() {
        assert_eq!(read(b"\xff\xfea\0b\0", "text/html").0, "ab");
        assert_eq!(read(b"\0a\0b", "text/html; charset=utf-16be").0, "ab");
    }

    #[test]
    fn an_xml_declaration_speaks_where_no_meta_does() {
        let xml = |encoding: &str| format!("<?xml version=\"1.0\" encoding{encoding}?>").into_bytes();
        let used = |start: Vec<u8>, rest: &[u8], content_type: &str| {
            let body = [&start, rest].concat();
            let (text, charset) = decode(&body, Some(content_type), None);
            let last = text.chars().last();
            (last, charset.meta.map(String::from), charset.used.into_string())
        };
        let said = |label: &str, name: &str| (Some('П'), Some(label.to_owned()), name.to_owned());
        let cyrillic = said("Windows-1251", "windows-1251");
        for html in ["text/html", "application/xhtml+xml; x"] {
            assert_eq!(used(xml("='Windows-1251'"), b"\xcf", html), cyrillic);
            assert_eq!(used(xml("\n = \"Windows-1251\" "), b"\xcf", html), cyrillic);
        }
        let meta = b"<meta charset=koi8-r>\xf0";
        let after = xml("='Windows-1251'");
        assert_eq!(used(after.clone(), meta, "text/html"), said("koi8-r", "KOI8-R"));
        // in XML a meta element declares no encoding
        assert_eq!(
            used(
                after.clone(),
                b"<meta charset='koi8-r'/>\xcf",
                "application/xhtml+xml"
            ),
            cyrillic
        );
        let utf_8 = "<meta charset='koi8-r'/>П".as_bytes();
        assert_eq!(
            used(Vec::new(), utf_8, "application/xhtml+xml"),
            said("koi8-r", "UTF-8")
        );
        assert_eq!(used(after, b"<meta charset=nonsense>\xcf", "text/html"), cyrillic);
        assert_eq!(
            used(
                Vec::new(),
                b"<meta charset=nonsense><meta charset=koi8-r>\xf0",
                "text/html"
            ),
            said("koi8-r", "KOI8-R")
        );
        for none in [
            "",
            "=windows-1251",
            "='windows-1251",
            "=' windows-1251'",
            " 'windows-1251'",
            "='?'",
        ] {
            assert_eq!(used(xml(none), b"\xcf", "text/html").1, None, "{none}");
        }
        assert_eq!(
            used(b" <?xml encoding='koi8-r'?>".to_vec(), b"\xcf", "text/html").1,
            None
        );
        assert_eq!(
            used(xml("='utf-16'"), "П".as_bytes(), "text/html"),
            said("utf-16", "UTF-8")
        );
    }

    #[test]
    fn utf_16_is_known_by_its_xml_declaration() {
        let little: Vec<u8> = "<?xml version='1.0'?><p>П"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let big: Vec<u8> = little.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect();
        for (body, name) in [(little, "UTF-16LE"), (big, "UTF-16BE")] {
            let (text, charset) = decode(&body, Some("text/html"), None);
            assert!(text.ends_with("<p>П") && &*charset.used == name && charset.meta.is_some());
        }
    }

    #[test]
    fn a_declaration_in_a_comment_or_too_late_is_none() {
        let late = format!(
            "<!-- <meta charset=a> -->{}<meta charset=utf-8>",
            " ".repeat(1_024)
        );
        assert_eq!(decode(late.as_bytes(), None, None).1.meta, None);
    }
}
