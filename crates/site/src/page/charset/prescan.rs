//! The encoding that `<meta>` declares, found like browsers do before they parse a page (HTML standard, "prescan a byte
//! stream to determine its encoding"): only comments and attribute values hide a declaration. A title without an end tag
//! does not.

use std::borrow::Cow;

use encoding_rs::{WINDOWS_1252, X_USER_DEFINED};
use memchr::{memchr, memmem};

use super::Declared;

/// Returns the encoding of the first `<meta>` with a known one; otherwise the first label.
pub(super) fn meta(head: &[u8]) -> Declared {
    let mut first = Declared::default();
    let mut scan = MetaScan { head, at: 0 };
    while let Some(label) = scan.next_label() {
        let declared = Declared::from_label(&label);
        match declared.encoding {
            // it has no meaning in a page
            Some(encoding) if encoding == X_USER_DEFINED => {
                return Declared {
                    encoding: Some(WINDOWS_1252),
                    ..declared
                };
            }
            Some(_) => return declared,
            None if first.label.is_none() => first = declared,
            None => {}
        }
    }
    first
}

struct MetaScan<'h> {
    head: &'h [u8],
    at: usize,
}

impl MetaScan<'_> {
    fn rest(&self) -> &[u8] {
        self.head.get(self.at..).unwrap_or_default()
    }

    /// Returns the label of the next `<meta>` that declares one; `None` at the end.
    fn next_label(&mut self) -> Option<String> {
        loop {
            self.at += memchr(b'<', self.rest())?;
            let rest = self.rest();
            let is_letter = |at: usize| rest.get(at).is_some_and(u8::is_ascii_alphabetic);
            if rest.starts_with(b"<!--") {
                // `<!-->` is a whole comment
                self.at += 2 + memmem::find(rest.get(2..)?, b"-->")? + 2;
            } else if rest
                .get(1..5)
                .is_some_and(|name| name.eq_ignore_ascii_case(b"meta"))
                && rest.get(5).is_some_and(|b| is_space(*b) || *b == b'/')
            {
                self.at += 5;
                if let Some(label) = self.meta_label()? {
                    return Some(label);
                }
            } else if is_letter(1) || rest.get(1) == Some(&b'/') && is_letter(2) {
                self.at += rest.iter().position(|b| is_space(*b) || *b == b'>')?;
                while self.attribute()?.is_some() {}
            } else if matches!(rest.get(1), Some(b'!' | b'/' | b'?')) {
                self.at += memchr(b'>', rest)?;
            }
            self.at += 1;
        }
    }

    /// Reads the attributes of a `<meta>`; the outer `None` means that the bytes end within it.
    fn meta_label(&mut self) -> Option<Option<String>> {
        let (mut is_pragma, mut charset, mut content) = (false, None, None);
        let mut seen = Vec::new();
        while let Some((name, value)) = self.attribute()? {
            if seen.contains(&name) {
                continue;
            }
            match &*name {
                "http-equiv" => is_pragma = value.trim().eq_ignore_ascii_case("content-type"),
                "charset" => charset = Some(value.trim().to_owned()),
                "content" => content = super::charset_of_meta(&value).map(Cow::into_owned),
                _ => {}
            }
            seen.push(name);
        }
        let label = charset.filter(|label| !label.is_empty());
        Some(label.or_else(|| content.filter(|_| is_pragma)))
    }

    /// Returns name, in lower case, and value of the next attribute; the inner `None` at the end of the tag.
    fn attribute(&mut self) -> Option<Option<(String, String)>> {
        let skip = |scan: &mut Self, also: u8| {
            let rest = scan.rest();
            scan.at += rest.iter().position(|b| !is_space(*b) && *b != also)?;
            scan.rest().first().copied()
        };
        if skip(self, b'/')? == b'>' {
            return Some(None);
        }
        let start = self.at;
        let rest = self.rest();
        let ends = |at: usize, b: u8| is_space(b) || matches!(b, b'/' | b'>') || b == b'=' && at > 0;
        self.at += rest.iter().enumerate().position(|(at, b)| ends(at, *b))?;
        let name = readable(self.head.get(start..self.at)?).to_ascii_lowercase();
        if skip(self, b' ')? != b'=' {
            return Some(Some((name, String::new())));
        }
        self.at += 1;
        let first = skip(self, b' ')?;
        let rest = self.rest();
        let (value, length) = match first {
            b'"' | b'\'' => {
                let end = memchr(first, rest.get(1..)?)?;
                (rest.get(1..=end)?, end + 2)
            }
            _ => {
                let end = rest.iter().position(|b| is_space(*b) || *b == b'>')?;
                (rest.get(..end)?, end)
            }
        };
        let value = readable(value);
        self.at += length;
        Some(Some((name, value)))
    }
}

fn is_space(b: u8) -> bool {
    matches!(b, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')
}

/// Returns bytes as text; no label and no name that matters has others than ASCII.
fn readable(bytes: &[u8]) -> String {
    let ascii = |b: &u8| if b.is_ascii() { char::from(*b) } else { '?' };
    bytes.iter().map(ascii).collect()
}

/// Whether a label is one of an encoding.
#[cfg(test)]
fn is_known(label: &str) -> bool {
    encoding_rs::Encoding::for_label(label.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::{is_known, meta};

    fn found(head: &str) -> (Option<String>, Option<&'static str>) {
        let declared = meta(head.as_bytes());
        let label = declared.label.map(String::from);
        assert_eq!(
            label.as_deref().is_some_and(is_known),
            declared.encoding.is_some(),
            "{head}"
        );
        (label, declared.encoding.map(|encoding| encoding.name()))
    }

    #[test]
    fn declarations_are_found_where_browsers_find_them() {
        for head in [
            "<title>never closed <meta charset=koi8-r>",
            "<script>var a = '<meta charset=koi8-r>'",
            "<META/CHARSET = 'koi8-r'>",
            "<p title='>'><meta name=a charset=koi8-r>",
            "<!--><meta charset=koi8-r>",
            "<!-- <meta charset=a> --><meta charset=koi8-r>",
            "</ x><? x><meta charset=koi8-r>",
            "<meta content='text/html; charset=koi8-r' http-equiv=content-type>",
            "<meta charset=koi8-r charset=utf-8>",
            "<meta charset=nonsense><meta charset=\"koi8-r\">",
            "<metadata charset=utf-8><meta charset=koi8-r>",
        ] {
            assert_eq!(found(head).1, Some("KOI8-R"), "{head}");
        }
        for head in [
            "<!-- <meta charset=koi8-r>",
            "<p title=\"<meta charset=koi8-r>\">",
            "<meta content='text/html; charset=koi8-r'>",
            "<meta charset=koi8-r",
            "<meta charset='koi8-r>",
            "<meta>",
            "",
        ] {
            assert_eq!(found(head), (None, None), "{head}");
        }
    }

    #[test]
    fn impossible_declarations_mean_others() {
        assert_eq!(found("<meta charset=utf-16le>").1, Some("UTF-8"));
        assert_eq!(found("<meta charset=x-user-defined>").1, Some("windows-1252"));
    }
}
