//! Stored hashes: the same on every machine and in every release.

const SEED: u64 = 0xa076_1d64_78bd_642f;
const STEP: u64 = 0xe703_7ed1_a0b4_28db;

fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Returns a 64-bit hash that never changes: multiply and fold, eight bytes at a time, little-endian (the core of
/// wyhash). Not for keys that an attacker may choose to collide; never 0.
pub fn hash(bytes: &[u8]) -> u64 {
    const LAST: u64 = 0x8ebc_6af0_9c88_c6e3;
    let (words, tail) = bytes.as_chunks::<8>();
    let mut state = SEED;
    for word in words {
        state = mix(state ^ u64::from_le_bytes(*word), STEP).wrapping_add(SEED);
    }
    let last = short(tail);
    state = mix(state ^ last, STEP ^ bytes.len() as u64);
    mix(state ^ SEED, LAST).max(1)
}

/// Hashes a text of some kilobytes in a quarter of the time of [`hash`]: four independent hashes at a time, and the
/// hash of the four. The result differs from that of [`hash`].
pub fn hash_long(bytes: &[u8]) -> u64 {
    let (blocks, tail) = bytes.as_chunks::<32>();
    let mut lanes = [SEED ^ bytes.len() as u64, !SEED, STEP, !STEP];
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = mix(*lane ^ u64::from_le_bytes(*word), STEP).wrapping_add(SEED);
        }
    }
    let all = lanes.iter().flat_map(|lane| lane.to_le_bytes());
    let all: Vec<u8> = all.chain(tail.iter().copied()).collect();
    hash(&all)
}

/// Loads up to seven bytes, little-endian. Copying into eight zeros is a call, which for most words costs more than the
/// rest.
fn short(bytes: &[u8]) -> u64 {
    let from = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
    let n = bytes.len();
    if let (Some(first), Some(last)) = (from(0), from(n.wrapping_sub(4))) {
        u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (n - 4))
    } else {
        let byte = |at: usize| bytes.get(at).map_or(0, |b| u64::from(*b) << (8 * at));
        byte(0) | byte(1) | byte(2)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_byte_of_a_long_text_counts() {
        let text: Vec<u8> = (0..100).collect();
        let mut seen = HashSet::from([hash_long(&text), hash_long(&text[..99]), hash_long(&[0; 32])]);
        assert!(seen.insert(hash_long(&[0; 64])));
        for at in 0..text.len() {
            let mut other = text.clone();
            other[at] ^= 1;
            assert!(seen.insert(hash_long(&other)), "{at}");
            other.swap(at, (at + 8) % 100);
            assert!(seen.insert(hash_long(&other)), "{at}");
        }
    }

    #[test]
    fn the_hash_is_stored_so_it_must_not_change() {
        assert_eq!(hash(b""), 0x5a2d_c9e0_4816_81c7);
        assert_eq!(hash(b"searchwright"), 0x4d7e_562c_8967_3970);
        assert_ne!(hash(b"a"), hash(b"a\0"));
        assert_eq!(hash_long(&[b'a'; 100]), 0x8893_be3e_4232_f14a);
        for n in 0..8 {
            let mut eight = [0; 8];
            eight[..n].copy_from_slice(&b"\x81efgh\xff7"[..n]);
            assert_eq!(short(&eight[..n]), u64::from_le_bytes(eight));
        }
    }
}
