//! Hashes of words, from which sketches are computed.

use crate::simd::BLOCK;

/// Odd multipliers with random-looking bits: `STEP` and [`OTHER_STEP`].
pub(crate) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
const OTHER_STEP: u64 = 0xd1b5_4a32_d192_ed03;

/// Returns the hash of a word at a position in a text.
pub(crate) fn word_hash(text: &[u8], at: usize, end: usize) -> u64 {
    match text.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        Some(sixteen) if end - at < 16 => short_hash(sixteen, end - at),
        _ => long_word_hash(text, at, end),
    }
}

/// Returns the hash of a word within a block; `near` is the block and the 16 bytes after it.
pub(crate) fn near_hash(near: &[u8; BLOCK + 16], from: usize, to: usize) -> u64 {
    match near.get(from..from + 16).and_then(<[u8]>::first_chunk) {
        Some(sixteen) if to - from < 16 => short_hash(sixteen, to - from),
        _ => long_word_hash(near, from, to),
    }
}

/// Masks of the first bytes of sixteen, by number of bytes.
const BEGINNINGS: [u128; 16] = {
    let mut masks = [0; 16];
    let mut bytes = 1;
    while bytes < 16 {
        masks[bytes] = (1 << (8 * bytes)) - 1;
        bytes += 1;
    }
    masks
};

/// Hashes a word of fewer than 16 bytes, as most are, without a branch, which would be mispredicted at every sixth
/// word.
fn short_hash(sixteen: &[u8; 16], letters: usize) -> u64 {
    let word = u128::from_le_bytes(*sixteen) & BEGINNINGS[letters % 16];
    ended((word as u64).wrapping_mul(STEP) ^ ((word >> 64) as u64).wrapping_mul(OTHER_STEP))
}

/// Returns the hash of a word of any length, anywhere in a text.
#[cold]
#[inline(never)]
fn long_word_hash(text: &[u8], at: usize, end: usize) -> u64 {
    let mut word = 0_u64;
    let steps = [STEP, OTHER_STEP].into_iter().cycle();
    for (at, step) in (at..end).step_by(8).zip(steps) {
        let eight = match end - at {
            there @ 1..8 => load(text, at) & ((1 << (8 * there)) - 1),
            _ => load(text, at),
        };
        // the first round equals the hash of a short word
        word = word.rotate_left(if step == STEP { 29 } else { 0 }) ^ eight.wrapping_mul(step);
    }
    ended(word)
}

/// Finalizes a hash: the lowest bits of a product depend on few input bits, so the highest bits are mixed into them.
const fn ended(hash: u64) -> u64 {
    hash ^ hash >> 32
}

/// Loads eight bytes, padded with zeros behind the end.
fn load(text: &[u8], at: usize) -> u64 {
    let rest = text.get(at..).unwrap_or_default();
    let mut eight = [0; 8];
    let there = rest.len().min(8);
    eight[..there].copy_from_slice(&rest[..there]);
    u64::from_le_bytes(eight)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_hash_of_a_word_is_the_same_wherever_it_stands(word in "[a-z0-9é]{1,40}", behind in "[ a-z]{0,20}") {
            let text = format!("{word}{behind}");
            prop_assert_eq!(word_hash(text.as_bytes(), 0, word.len()), long_word_hash(word.as_bytes(), 0, word.len()));
        }
    }
}
