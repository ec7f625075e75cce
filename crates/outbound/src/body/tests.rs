use super::*;

const MIB: usize = 1024 * 1024;

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn br(bytes: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    let mut encoder = brotli::CompressorWriter::new(&mut coded, 4096, 5, 22);
    encoder.write_all(bytes).unwrap();
    drop(encoder);
    coded
}

fn read(coding: Coding, wire: &[u8], limit: usize) -> Result<(Bytes, u64, Option<Cut>), Undecodable> {
    let mut body = Body::new(coding, limit, None);
    for piece in wire.chunks(1000) {
        if !body.take(Bytes::copy_from_slice(piece))? {
            return Ok(body.cut_short(None));
        }
    }
    body.finish()
}

fn text(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            b'a' + (state >> 28) as u8
        })
        .collect()
}

#[test]
fn each_coding_is_undone() {
    let text = text(100_000);
    for (coding, wire) in [
        (Coding::Identity, text.clone()),
        (Coding::Gzip, gzip(&text)),
        (Coding::Brotli, br(&text)),
    ] {
        let (body, wire_bytes, cut) = read(coding, &wire, MIB).unwrap();
        assert_eq!(
            (&body[..], wire_bytes, cut),
            (&text[..], wire.len() as u64, None),
            "{coding:?}"
        );
    }
    assert_eq!(read(Coding::Gzip, &[], MIB).unwrap(), (Bytes::new(), 0, None));
}

#[test]
fn what_comes_at_once_is_not_copied() {
    for (length, expected, limit, kept) in [
        (5_000, Some(5_000), 5_000, true),
        (4_000, Some(4_000), MIB, false),
        (5_000, Some(5_001), MIB, false),
        (5_000, None, MIB, false),
        (5_000, Some(5_000), 4_999, false),
    ] {
        let piece = Bytes::from(text(length));
        let mut body = Body::new(Coding::Identity, limit, expected);
        assert_eq!(body.take(piece.clone()), Ok(limit >= length));
        let (bytes, wire, cut) = body.finish().unwrap();
        assert_eq!(&bytes[..], &piece[..limit.min(length)]);
        assert_eq!(wire, length as u64);
        assert_eq!(cut, (limit < length).then_some(Cut::Size));
        assert_eq!(
            bytes.as_ptr() == piece.as_ptr(),
            kept,
            "{length} {expected:?} {limit}"
        );
    }
}

#[test]
fn a_long_body_is_cut_at_the_limit() {
    let text = text(100_000);
    for (coding, wire) in [
        (Coding::Identity, text.clone()),
        (Coding::Gzip, gzip(&text)),
        (Coding::Brotli, br(&text)),
    ] {
        let (body, _, cut) = read(coding, &wire, 5_000).unwrap();
        assert_eq!((&body[..], cut), (&text[..5_000], Some(Cut::Size)), "{coding:?}");
        let (body, _, cut) = read(coding, &wire, 100_000).unwrap();
        assert_eq!((body.len(), cut), (100_000, None), "{coding:?}");
    }
}

#[test]
fn a_bomb_is_cut_after_its_first_mib() {
    let zeros = vec![0; 64 * MIB];
    for (coding, wire) in [(Coding::Gzip, gzip(&zeros)), (Coding::Brotli, br(&zeros))] {
        let (body, _, cut) = read(coding, &wire, 256 * MIB).unwrap();
        assert_eq!(cut, Some(Cut::Ratio), "{coding:?}");
        assert!(body.len() < 2 * MIB, "{coding:?}: {}", body.len());
    }
    let small = vec![0; MIB];
    assert_eq!(read(Coding::Gzip, &gzip(&small), 2 * MIB).unwrap().2, None);
}

#[test]
fn a_broken_stream_is_not_a_body() {
    let text = text(10_000);
    let half = |wire: Vec<u8>| wire[..wire.len() / 2].to_vec();
    assert_eq!(read(Coding::Gzip, &half(gzip(&text)), MIB), Err(Undecodable));
    assert_eq!(read(Coding::Brotli, &half(br(&text)), MIB), Err(Undecodable));
    assert_eq!(
        read(Coding::Gzip, b"<html>not gzip at all, said to be", MIB),
        Err(Undecodable)
    );
}

#[test]
fn gzip_has_members_and_what_follows_them_is_left_alone() {
    let (first, second) = (text(3_000), text(2_000));
    let members = [gzip(&first), gzip(&second)].concat();
    let both = [first.clone(), second].concat();
    for rest in [&b""[..], b"\0\0\0\0", b"<!-- cached -->", &[b'x'; 3_000]] {
        for (wire, expected) in [(&gzip(&first), &first), (&members, &both)] {
            let wire = [&wire[..], rest].concat();
            let (body, length, cut) = read(Coding::Gzip, &wire, MIB).unwrap();
            assert!(body == *expected && cut.is_none(), "{rest:?}");
            assert_eq!(length, wire.len() as u64);
        }
    }
    // one byte at a time, as a slow server sends it
    let mut body = Body::new(Coding::Gzip, MIB, None);
    for byte in [&members[..], b"\0\0"].concat() {
        assert_eq!(body.take(Bytes::copy_from_slice(&[byte])), Ok(true));
    }
    assert_eq!(&body.finish().unwrap().0[..], &both);
    let mut broken = gzip(&first);
    let at = broken.len() - 6;
    broken[at] ^= 1;
    for rest in [&b""[..], b"\0"] {
        assert_eq!(
            read(Coding::Gzip, &[&broken[..], rest].concat(), MIB),
            Err(Undecodable)
        );
    }
    let half = &members[..members.len() - 700];
    assert_eq!(read(Coding::Gzip, half, MIB), Err(Undecodable));
}

#[test]
fn what_came_before_the_time_ran_out_is_kept() {
    let text = text(200_000);
    for (coding, wire) in [
        (Coding::Identity, text.clone()),
        (Coding::Gzip, gzip(&text)),
        (Coding::Brotli, br(&text)),
    ] {
        let mut body = Body::new(coding, MIB, None);
        let half = Bytes::copy_from_slice(&wire[..wire.len() / 2]);
        assert_eq!(body.take(half), Ok(true));
        let (kept, _, cut) = body.cut_short(Some(Cut::Time));
        assert_eq!(cut, Some(Cut::Time));
        assert!(
            kept.len() > 10_000 && text.starts_with(&kept),
            "{coding:?}: {}",
            kept.len()
        );
    }
}

#[test]
fn only_one_layer_of_what_was_asked_for() {
    let coding = |values: &[&'static str]| {
        let mut headers = http::HeaderMap::new();
        for value in values {
            headers.append("content-encoding", http::HeaderValue::from_static(value));
        }
        Coding::from_headers(&headers)
    };
    for (values, expected) in [
        (&[][..], Some(Coding::Identity)),
        (&["identity"], Some(Coding::Identity)),
        (&["GZip"], Some(Coding::Gzip)),
        (&["x-gzip"], Some(Coding::Gzip)),
        (&["br"], Some(Coding::Brotli)),
        (&["gzip, gzip"], None),
        (&["gzip", "br"], None),
        (&["zstd"], None),
        // no coding at all
        (&["utf-8"], Some(Coding::Identity)),
        (&["none, gzip"], Some(Coding::Gzip)),
    ] {
        assert_eq!(coding(values), expected, "{values:?}");
    }
}
