//! Public keys: DER, points and RSA numbers in their one form.

use super::*;

/// DER with a length in its shortest form.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(content.len()).unwrap().to_be_bytes();
    let length = match content.len() {
        0..=0x7f => vec![low],
        0x80..=0xff => vec![0x81, low],
        _ => vec![0x82, high, low],
    };
    [&[tag][..], &length, content].concat()
}

pub(super) fn rsa_spki(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    let key = der(
        SEQUENCE,
        &[der(INTEGER, modulus), der(INTEGER, exponent)].concat(),
    );
    der(
        SEQUENCE,
        &[RSA_ALGORITHM, &der(BIT_STRING, &[&[0][..], &key].concat())].concat(),
    )
}

/// A number of so many bits, as the content of a DER integer.
fn number(bits: usize) -> Vec<u8> {
    let mut digits = vec![0xff; bits / 8 + 1];
    // With a multiple of 8 bits this is the zero byte that keeps the number positive.
    digits[0] = u8::try_from((1_u16 << (bits % 8)) - 1).unwrap();
    digits
}

#[test]
fn rsa_keys_are_read_strictly() {
    let accepted = |spki: &[u8]| verifying_key(RS256, spki).is_ok();
    for size in [2048, 2049, 3072, 4096, 8191, 8192] {
        assert!(accepted(&rsa_spki(&number(size), &[1, 0, 1])), "{size}");
    }
    for size in [8, 512, 1024, 2047, 8193, 16384] {
        assert!(!accepted(&rsa_spki(&number(size), &[1, 0, 1])), "{size}");
    }
    for exponent in [&[3][..], &[1, 0, 1], &[1, 0xff, 0xff, 0xff, 0xff]] {
        assert!(accepted(&rsa_spki(&number(2048), exponent)));
    }
    for exponent in [
        &[][..],
        &[0],
        &[1],
        &[2],
        &[0, 3],
        &[0x81],
        &[1, 0, 0],
        &[2, 0, 0, 0, 1],
    ] {
        assert!(!accepted(&rsa_spki(&number(2048), exponent)), "{exponent:?}");
    }
    let negative = [&[0xff; 255][..], &[1]].concat();
    assert!(!accepted(&rsa_spki(&negative, &[3])));
    assert!(!accepted(&rsa_spki(&[&[0, 0][..], &[0xff; 256]].concat(), &[3])));
    assert!(!accepted(&rsa_spki(&[&[0][..], &[0xfe; 256]].concat(), &[3])));
}

#[test]
fn der_lengths_are_only_the_shortest() {
    assert_eq!(der_length(&[0x7f, 9]), Some((0x7f, &[9][..])));
    assert_eq!(der_length(&[0x81, 0x80, 9]), Some((0x80, &[9][..])));
    assert_eq!(der_length(&[0x82, 1, 0, 9]), Some((0x100, &[9][..])));
    for longer in [
        &[][..],
        &[0x80],
        &[0x81],
        &[0x81, 0x7f],
        &[0x82, 1],
        &[0x82, 0, 0xff],
        &[0x83, 1, 0, 0],
        &[0xff],
    ] {
        assert_eq!(der_length(longer), None, "{longer:?}");
    }
}

#[test]
fn a_public_key_cut_off_or_extended_is_refused() {
    for recorded in &RECORDED {
        let key = recorded.passkey().public_key;
        for cut in 0..key.len() {
            assert!(verifying_key(recorded.algorithm, &key[..cut]).is_err());
        }
        assert!(verifying_key(recorded.algorithm, &[&key[..], &[0]].concat()).is_err());
        let signed = assertion(&recorded.signed()).unwrap();
        for at in 0..key.len() {
            let mut other = key.clone();
            other[at] ^= 0x01;
            let verified = signed.verify(&bytes(recorded.signed_for), &RP, &other, recorded.algorithm);
            assert!(verified.is_err(), "{at}");
        }
    }
}

#[test]
fn a_point_is_uncompressed() {
    let key = RECORDED[0].passkey().public_key;
    for form in [0, 2, 3, 6, 7] {
        let mut other = key.clone();
        other[P256_PREFIX.len()] = form;
        assert_eq!(verifying_key(ES256, &other).err(), Some(PasskeyFault::PublicKey));
    }
    let compressed = &key[..P256_PREFIX.len() + 33];
    assert_eq!(
        verifying_key(ES256, compressed).err(),
        Some(PasskeyFault::PublicKey)
    );
}
