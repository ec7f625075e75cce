//! The one thing that is read from a certificate that was found valid: when it expires (RFC 5280, section 4.1.2.5).

const SEQUENCE: u8 = 0x30;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// `[0]`, which the version stands in.
const VERSION: u8 = 0xa0;

/// The end of its validity in milliseconds since the Unix epoch; `None` for what is no certificate.
pub(super) fn expires_ms(certificate: &[u8]) -> Option<i64> {
    let (_, certificate, _) = element(certificate).filter(|e| e.0 == SEQUENCE)?;
    let (_, mut rest, _) = element(certificate).filter(|e| e.0 == SEQUENCE)?;
    if rest.first() == Some(&VERSION) {
        rest = element(rest)?.2;
    }
    // serial number, signature algorithm, issuer
    for _ in 0..3 {
        rest = element(rest)?.2;
    }
    let (_, validity, _) = element(rest).filter(|e| e.0 == SEQUENCE)?;
    let (_, _, after) = element(validity)?;
    let (kind, time, _) = element(after)?;
    let time = std::str::from_utf8(time).ok()?.strip_suffix('Z')?;
    let time = match kind {
        UTC_TIME if time.len() == 12 => format!("{}{time}", if time < "50" { "20" } else { "19" }),
        GENERALIZED_TIME if time.len() == 14 => time.to_owned(),
        _ => return None,
    };
    let time = jiff::civil::DateTime::strptime("%Y%m%d%H%M%S", time).ok()?;
    let instant = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(instant.timestamp().as_millisecond())
}

/// Tag and content of the first element of DER, and what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(*first), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            let length = bytes
                .iter()
                .fold(0, |length, byte| length << 8 | usize::from(*byte));
            (length, rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::*;

    fn der(tag: u8, content: &[u8]) -> Vec<u8> {
        let mut out = vec![tag, 0x82, (content.len() >> 8) as u8, content.len() as u8];
        out.extend_from_slice(content);
        out
    }

    fn certificate(version: bool, kind: u8, until: &[u8]) -> Vec<u8> {
        let times = [der(UTC_TIME, b"250101000000Z"), der(kind, until)].concat();
        let mut parts = vec![
            der(2, &[1]),
            der(SEQUENCE, &[]),
            der(SEQUENCE, &[7; 300]),
            der(SEQUENCE, &times),
        ];
        if version {
            parts.insert(0, der(VERSION, &der(2, &[2])));
        }
        der(
            SEQUENCE,
            &[der(SEQUENCE, &parts.concat()), der(3, b"signature")].concat(),
        )
    }

    #[test]
    fn the_end_of_validity_is_read() {
        let midsummer = Some(1_782_086_399_000);
        assert_eq!(
            expires_ms(&certificate(true, UTC_TIME, b"260621235959Z")),
            midsummer
        );
        assert_eq!(
            expires_ms(&certificate(false, GENERALIZED_TIME, b"20260621235959Z")),
            midsummer
        );
        assert_eq!(
            expires_ms(&certificate(true, UTC_TIME, b"500101000000Z")),
            Some(-631_152_000_000)
        );
        assert_eq!(expires_ms(&certificate(true, UTC_TIME, b"261321235959Z")), None);
        assert_eq!(expires_ms(b""), None);
    }

    proptest! {
        #[test]
        fn nothing_breaks_it(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0_usize..400) {
            expires_ms(&bytes);
            let mut broken = certificate(true, UTC_TIME, b"260621235959Z");
            let at = at % broken.len();
            broken[at] ^= bytes.first().copied().unwrap_or(1);
            expires_ms(&broken);
            expires_ms(&broken[..at]);
        }
    }
}
