//! Tests that the places at which the wire divides a body change nothing in it.

use proptest::{collection::vec, prelude::*, sample::Index};

use super::{
    tests::{br, gzip},
    *,
};

type Read = Result<(Bytes, u64, Option<Cut>), Undecodable>;

/// More than any body here takes, coded or not.
const AMPLE: usize = 64 * 1024;

fn read<'p>(
    coding: Coding,
    pieces: impl IntoIterator<Item = &'p [u8]>,
    limit: usize,
    expected: Option<u64>,
) -> Read {
    let mut body = Body::new(coding, limit, expected);
    for piece in pieces {
        if !body.take(Bytes::copy_from_slice(piece))? {
            return Ok(body.cut_short(None));
        }
    }
    body.finish()
}

/// Divided at these places, of which some may be the same: a piece may be empty.
fn divided<'w>(wire: &'w [u8], at: &[Index]) -> Vec<&'w [u8]> {
    let mut at: Vec<usize> = at.iter().map(|at| at.index(wire.len() + 1)).collect();
    at.sort_unstable();
    let ends = at.iter().copied().chain([wire.len()]);
    let begins = [0].into_iter().chain(at.iter().copied());
    begins.zip(ends).map(|(from, to)| &wire[from..to]).collect()
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let few = vec(b'a'..b'e', 0..3_000);
    let all = vec(any::<u8>(), 0..3_000);
    let one = (any::<u8>(), 0..9_000_usize).prop_map(|(byte, count)| vec![byte; count]);
    prop_oneof![few, all, one]
}

fn codings() -> impl Strategy<Value = Coding> {
    prop_oneof![Just(Coding::Identity), Just(Coding::Gzip), Just(Coding::Brotli)]
}

fn no_member() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..50).prop_filter("a member", |rest| rest.first() != Some(&gunzip::MEMBER))
}

/// A whole body and what it means. Of gzip it is in several members, and something follows them.
fn whole() -> impl Strategy<Value = (Coding, Vec<u8>, Vec<u8>)> {
    (codings(), vec(text(), 1..4), no_member()).prop_map(|(coding, texts, rest)| {
        let text = texts.concat();
        let wire = match coding {
            Coding::Identity => text.clone(),
            Coding::Gzip => [texts.iter().flat_map(|text| gzip(text)).collect(), rest].concat(),
            Coding::Brotli => br(&text),
        };
        (coding, wire, text)
    })
}

/// A body of which a part is missing, or some bytes are others.
fn broken() -> impl Strategy<Value = (Coding, Vec<u8>)> {
    let changes = vec((any::<Index>(), any::<u8>()), 0..3);
    (whole(), changes, any::<Index>(), any::<bool>()).prop_map(
        |((coding, mut wire, _), changes, end, ends)| {
            for (at, byte) in changes {
                if !wire.is_empty() {
                    let at = at.index(wire.len());
                    wire[at] = byte;
                }
            }
            if ends {
                wire.truncate(end.index(wire.len() + 1));
            }
            (coding, wire)
        },
    )
}

proptest! {
    #[test]
    fn a_whole_body_is_read_in_any_pieces((coding, wire, text) in whole(), at in vec(any::<Index>(), 0..20), announced: bool) {
        let expected = announced.then_some(wire.len() as u64);
        let read = read(coding, divided(&wire, &at), AMPLE, expected);
        prop_assert_eq!(read, Ok((Bytes::from(text), wire.len() as u64, None)));
    }

    #[test]
    fn a_limit_holds_for_a_body_in_any_pieces((coding, wire, text) in whole(), at in vec(any::<Index>(), 0..20), limit in 0..10_000_usize) {
        let (bytes, _, cut) = read(coding, divided(&wire, &at), limit, None).unwrap();
        prop_assert!(bytes.len() <= limit && text.starts_with(&bytes));
        let fits = text.len() <= limit && wire.len() <= limit;
        prop_assert_eq!(cut, (!fits).then_some(Cut::Size));
        prop_assert!(!fits || bytes.len() == text.len());
    }

    #[test]
    fn a_broken_body_is_the_same_in_any_pieces((coding, wire) in broken(), at in vec(any::<Index>(), 0..20)) {
        let whole = read(coding, [&wire[..]], AMPLE, None);
        prop_assert_eq!(&read(coding, divided(&wire, &at), AMPLE, None), &whole);
        prop_assert_eq!(read(coding, wire.chunks(1), AMPLE, None), whole);
    }

    #[test]
    fn no_bytes_break_a_body(coding in codings(), wire in vec(any::<u8>(), 0..600), at in vec(any::<Index>(), 0..20), limit in 0..600_usize) {
        let whole = read(coding, [&wire[..]], AMPLE, None);
        prop_assert_eq!(read(coding, divided(&wire, &at), AMPLE, None), whole);
        if let Ok((bytes, _, _)) = read(coding, divided(&wire, &at), limit, None) {
            prop_assert!(bytes.len() <= limit);
        }
    }
}
