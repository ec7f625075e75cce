//! The mark by which a post is found again at a provider. It names the post and the text it was sent with.

use std::fmt::{self, Write as _};

use uuid::Uuid;

const NAME: &str = "searchwright:";
/// Hex digits of the digest in a mark.
const DIGITS: usize = 16;

/// The mark of one state of one post: `searchwright:{post}:{digest}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// The post.
    pub post: Uuid,
    /// The beginning of the digest of what is sent, 16 hex digits.
    pub digest: String,
}

impl Marker {
    /// Creates the mark of a post whose published members have this digest.
    pub fn new(post: Uuid, content_hash: &[u8]) -> Self {
        let mut digest = String::new();
        for byte in content_hash.iter().take(DIGITS / 2) {
            let _ = write!(digest, "{byte:02x}");
        }
        Self { post, digest }
    }

    /// Prefix of every mark of the post, by which a text search finds it.
    pub fn start(&self) -> String {
        format!("{NAME}{}", self.post)
    }

    /// Returns the mark as a comment of HTML or Markdown, for providers that have no field for it.
    pub fn comment(&self) -> String {
        format!("<!-- {self} -->")
    }

    /// The last mark in a text: ours is at its end, whatever stands in it.
    pub fn in_text(text: &str) -> Option<Self> {
        text.rmatch_indices(NAME).find_map(|(at, _)| {
            let (post, rest) = text[at + NAME.len()..].split_at_checked(36)?;
            let digest = rest.strip_prefix(':')?.get(..DIGITS)?;
            digest.bytes().all(|b| b.is_ascii_hexdigit()).then_some(())?;
            Some(Self {
                post: Uuid::try_parse(post).ok()?,
                digest: digest.to_owned(),
            })
        })
    }

    /// The text without marks in comments, as people wrote it.
    pub fn without(text: &str) -> String {
        let mut plain = text.to_owned();
        while let Some(at) = plain.find(&format!("<!-- {NAME}")) {
            let Some(end) = plain[at..].find("-->") else { break };
            plain.replace_range(at..at + end + 3, "");
        }
        plain
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAME}{}:{}", self.post, self.digest)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::Marker;

    #[test]
    fn a_mark_is_found_in_any_text() {
        let mark = Marker::new(Uuid::from_u128(7), &[0xab; 32]);
        assert_eq!(mark.digest, "abababababababab");
        for text in [
            mark.to_string(),
            format!("<p>ä searchwright: no</p>\n{}\n", mark.comment()),
            format!("searchwright:short {mark}"),
        ] {
            assert_eq!(Marker::in_text(&text).as_ref(), Some(&mark), "{text}");
        }
        let other = Marker::new(Uuid::from_u128(8), &[0xcd; 32]);
        assert_eq!(
            Marker::in_text(&format!("{other} {mark} searchwright:")),
            Some(mark.clone())
        );
        for text in [
            "",
            "searchwright:",
            "searchwright:00000000-0000-0000-0000-000000000007",
            "searchwright:00000000-0000-0000-0000-000000000007:xyz",
            "searchwright:00000000-0000-0000-0000-00000000000ä:abababababababab",
        ] {
            assert_eq!(Marker::in_text(text), None, "{text}");
        }
        assert_eq!(
            Marker::without(&format!("a{}b{}", mark.comment(), mark.comment())),
            "ab"
        );
        assert_eq!(Marker::without("a<!-- searchwright: b"), "a<!-- searchwright: b");
    }
}
