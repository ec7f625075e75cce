//! Stored form of links: first the numbers of each link, which are much the same on every page of a site and compress
//! well, then all texts.

use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Entry, Link, Links, ParsedLinks, Span};
use crate::{
    leb128::{pull, push},
    page::UrlId,
};

/// Stored links, unpacked on first use.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    bytes: Box<[u8]>,
    read: OnceLock<ParsedLinks>,
}

impl Stored {
    pub(super) fn read(&self) -> &ParsedLinks {
        self.read.get_or_init(|| unpack(&self.bytes))
    }

    /// Returns the number of links as written, which for damaged data may be more than can be unpacked.
    pub(super) fn len(&self) -> usize {
        if let Some(read) = self.read.get() {
            return read.entries.len();
        }
        let mut rest = &self.bytes[..];
        let written = pull(&mut rest).unwrap_or(0);
        (written as usize).min(rest.len())
    }

    pub(super) fn into_read(self) -> ParsedLinks {
        let Self { bytes, read } = self;
        read.into_inner().unwrap_or_else(|| unpack(&bytes))
    }
}

/// Packs links: their number; for each its flags, the lengths of its texts, its target plus one or 0, and the
/// difference of its line to the link before; then the texts.
fn pack(links: &ParsedLinks) -> Vec<u8> {
    let mut packed = Vec::with_capacity(8 + links.entries.len() * 10 + links.text.len());
    push(&mut packed, links.entries.len() as u64);
    let mut before = 0;
    for entry in &links.entries {
        let Link {
            href, anchor, line, ..
        } = links.link(entry);
        packed.push(entry.flags);
        push(&mut packed, href.len() as u64);
        push(&mut packed, anchor.len() as u64);
        push(
            &mut packed,
            entry.target.map_or(0, |target| u64::from(target.0) + 1),
        );
        // a nested link may end before the outer one
        let lines = i64::from(line) - before;
        push(&mut packed, (lines << 1 ^ lines >> 63) as u64);
        before = i64::from(line);
    }
    if let Some(texts) = in_order(links) {
        packed.extend(texts.as_bytes());
        return packed;
    }
    for entry in &links.entries {
        let Link { href, anchor, .. } = links.link(entry);
        packed.extend(href.as_bytes());
        packed.extend(anchor.as_bytes());
    }
    packed
}

/// Returns the texts of all links as one, if they are in stored order: each link ends where the next one begins.
fn in_order(links: &ParsedLinks) -> Option<&str> {
    let mut end = 0;
    for Entry { href, anchor, .. } in &links.entries {
        if href.0 != end || anchor.0 != href.1 {
            return None;
        }
        end = anchor.1;
    }
    links.text.get(..end as usize)
}

/// Unpacks as many links as there are, since stored data may be damaged.
fn unpack(mut packed: &[u8]) -> ParsedLinks {
    let rest = &mut packed;
    let count = pull(rest).unwrap_or(0) as usize;
    let mut entries = Vec::with_capacity(count.min(rest.len()));
    let (mut end, mut line) = (0_u32, 0_i64);
    let mut entry = || {
        let (flags, after) = rest.split_first()?;
        *rest = after;
        let mut span = |length: u64| {
            let start = end;
            end = u32::try_from(u64::from(start).checked_add(length)?).ok()?;
            Some(Span(start, end))
        };
        let (href, anchor) = (span(pull(rest)?)?, span(pull(rest)?)?);
        let target = pull(rest)?.checked_sub(1);
        let lines = pull(rest)?;
        line = line.wrapping_add((lines >> 1) as i64 ^ -((lines & 1) as i64));
        Some(Entry {
            href,
            target: target.and_then(|target| u32::try_from(target).ok()).map(UrlId),
            anchor,
            flags: *flags,
            line: u32::try_from(line).unwrap_or_default(),
        })
    };
    entries.extend((0..count).map_while(|_| entry()));
    ParsedLinks {
        // only damaged text takes the slow lossy path
        text: std::str::from_utf8(rest)
            .map_or_else(|_| String::from_utf8_lossy(rest).into_owned(), str::to_owned),
        entries,
    }
}

impl Serialize for Links {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.stored {
            Some(stored) => serializer.serialize_bytes(&stored.bytes),
            None => serializer.serialize_bytes(&pack(&self.read)),
        }
    }
}

impl<'de> Deserialize<'de> for Links {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = <&[u8]>::deserialize(deserializer)?.into();
        let read = OnceLock::new();
        Ok(Self {
            stored: Some(Stored { bytes, read }),
            ..Self::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn links() -> impl Strategy<Value = Links> {
        let link = (
            "\\PC{0,200}",
            any::<Option<u32>>(),
            "\\PC{0,200}",
            any::<u8>(),
            any::<u32>(),
        );
        proptest::collection::vec(link, 0..20).prop_map(|links| {
            let links = links.iter().map(|(href, target, anchor, flags, line)| Link {
                href,
                target: target.map(UrlId),
                anchor,
                flags: *flags,
                line: *line,
            });
            links.collect()
        })
    }

    proptest! {
        #[test]
        fn stored_links_are_read_back(links in links(), behind: u32) {
            let stored = postcard::to_stdvec(&(&links, behind)).unwrap();
            let (mut read, rest): (Links, u32) = postcard::from_bytes(&stored).unwrap();
            prop_assert_eq!(rest, behind);
            // packs to the same bytes, unpacked or not
            prop_assert_eq!(&postcard::to_stdvec(&(&read, behind)).unwrap(), &stored);
            prop_assert_eq!(read.len(), links.len());
            prop_assert!(read.stored.as_ref().is_some_and(|stored| stored.read.get().is_none()));
            prop_assert_eq!(&read, &links);
            prop_assert_eq!(read.len(), links.len());
            prop_assert_eq!(&postcard::to_stdvec(&(&read, behind)).unwrap(), &stored);
            read.name(0, "another name", 0);
            if let Some(first) = read.get(0) {
                prop_assert_eq!((first.anchor, first.href), ("another name", links.get(0).unwrap().href));
            }
            // its texts are no longer in stored order
            let stored = postcard::to_stdvec(&read).unwrap();
            prop_assert_eq!(postcard::from_bytes::<Links>(&stored).unwrap(), read);
        }

        #[test]
        fn damage_is_no_end(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let read = unpack(&bytes);
            prop_assert!(read.entries.len() <= bytes.len());
            read.entries.iter().for_each(|entry| _ = read.link(entry));
        }
    }
}
