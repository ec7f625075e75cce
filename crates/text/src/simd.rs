//! Classifies the bytes of a text, 64 at a time: one bit per byte, the first byte in the lowest bit.

use wide::u8x16;

/// Number of bytes in a block.
pub const BLOCK: usize = 64;

/// Block of 64 bytes of a text.
#[derive(Debug)]
pub struct Block([u8x16; 4]);

impl Block {
    fn new(bytes: &[u8; BLOCK]) -> Self {
        let (parts, _) = bytes.as_chunks::<16>();
        Self(std::array::from_fn(|i| u8x16::new(parts[i])))
    }

    /// Marks ASCII letters and digits, and all bytes outside ASCII.
    pub fn letters_and_digits(&self) -> u64 {
        self.bits(|bytes| {
            let small = bytes | u8x16::splat(0x20);
            // only the highest bit counts
            within(small, b'a', b'z') | within(bytes, b'0', b'9') | bytes
        })
    }

    /// Marks bytes that the WHATWG parser keeps in a path and that have no other meaning there. A colon could end a
    /// scheme.
    pub fn ordinary_in_paths(&self) -> u64 {
        self.bits(|bytes| {
            let range = |first, last| within(bytes, first, last);
            let is = |byte| bytes.simd_eq(u8x16::splat(byte));
            // ( ) * + , - . / and digits; @ and capitals
            let runs = range(b'(', b'9') | range(b'@', b'Z') | range(b'a', b'z');
            runs | is(b'!') | is(b'$') | is(b';') | is(b'=') | is(b'_') | is(b'~')
        })
    }

    /// Marks the vowels of English in either case.
    pub fn vowels(&self) -> u64 {
        self.bits(|bytes| {
            let small = bytes | u8x16::splat(0x20);
            let is = |vowel| small.simd_eq(u8x16::splat(vowel));
            is(b'a') | is(b'e') | is(b'i') | is(b'o') | is(b'u') | is(b'y')
        })
    }

    /// Marks occurrences of a byte.
    pub fn each(&self, byte: u8) -> u64 {
        self.bits(|bytes| bytes.simd_eq(u8x16::splat(byte)))
    }

    fn bits(&self, highest: impl Fn(u8x16) -> u8x16) -> u64 {
        let bits = |part: &u8x16| u64::from(highest(*part).to_bitmask());
        self.0.iter().rev().fold(0, |all, part| all << 16 | bits(part))
    }
}

/// Marks the bytes in a range.
pub(crate) fn within(bytes: u8x16, first: u8, last: u8) -> u8x16 {
    let from = bytes - u8x16::splat(first);
    from.min(u8x16::splat(last - first)).simd_eq(from)
}

/// Finds a byte that mostly is near, in fewer steps than the setup of a long search takes.
#[inline]
pub fn find_near(byte: u8, text: &[u8]) -> Option<usize> {
    let Some((near, far)) = text.split_first_chunk::<16>() else {
        return text.iter().position(|b| *b == byte);
    };
    let found = u8x16::new(*near).simd_eq(u8x16::splat(byte)).to_bitmask();
    if found != 0 {
        return Some(found.trailing_zeros() as usize);
    }
    memchr::memchr(byte, far).map(|at| at + near.len())
}

/// Counts bytes in portions whose count fits a byte, without a branch, so that the compiler vectorizes the loop.
#[inline]
pub fn count(text: &[u8], is_so: impl Fn(u8) -> bool) -> usize {
    let portions = text.chunks(usize::from(u8::MAX)).map(|portion| {
        let found: u8 = portion.iter().map(|b| u8::from(is_so(*b))).sum();
        usize::from(found)
    });
    portions.sum()
}

/// Finds the first byte for which `highest` sets the highest bit; it gets 16 bytes at a time, padded with zeros at the
/// end.
pub(crate) fn position(text: &[u8], highest: impl Fn(u8x16) -> u8x16) -> Option<usize> {
    let (sixteens, rest) = text.as_chunks::<16>();
    let within = |bytes: &[u8; 16]| match highest(u8x16::new(*bytes)).to_bitmask() {
        0 => None,
        found => Some(found.trailing_zeros() as usize),
    };
    for (i, sixteen) in sixteens.iter().enumerate() {
        if let Some(found) = within(sixteen) {
            return Some(16 * i + found);
        }
    }
    let mut last = [0; 16];
    last[..rest.len()].copy_from_slice(rest);
    Some(16 * sixteens.len() + within(&last)?)
}

/// Whether a condition holds anywhere in a text. It is evaluated on 16 bytes at a time, of which the last one is the
/// first of the next 16; a shorter text is padded with zeros.
pub(crate) fn any(text: &[u8], mut is_so: impl FnMut(u8x16) -> bool) -> bool {
    let mut from = 0;
    while let Some(bytes) = text.get(from..).and_then(<[u8]>::first_chunk::<16>) {
        if is_so(u8x16::new(*bytes)) {
            return true;
        }
        from += 15;
    }
    match text.last_chunk::<16>() {
        Some(last) => from < text.len() && is_so(u8x16::new(*last)),
        None => {
            let mut last = [0; 16];
            last[..text.len()].copy_from_slice(text);
            is_so(u8x16::new(last))
        }
    }
}

/// Calls `take` with each block of a text and its position. At least one zero follows the end.
pub fn each_block(text: &[u8], mut take: impl FnMut(usize, &Block)) {
    let (whole, rest) = text.as_chunks::<BLOCK>();
    for (i, block) in whole.iter().enumerate() {
        take(i * BLOCK, &Block::new(block));
    }
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    take(whole.len() * BLOCK, &Block::new(&last));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::{BLOCK, any, count, each_block, find_near, position};

    proptest! {
        #[test]
        fn every_byte_counts(text in "[ab]{0,600}") {
            prop_assert_eq!(count(text.as_bytes(), |b| b == b'b'), text.matches('b').count());
        }

        #[test]
        fn first_byte_outside_ascii_is_found(text in "[ab]{0,40}é?[ab]{0,20}é?") {
            let found = text.bytes().position(|b| !b.is_ascii());
            prop_assert_eq!(position(text.as_bytes(), |bytes| bytes), found);
        }

        #[test]
        fn near_and_far_bytes_are_found(text in "[ab]{0,20}c?[ab]{0,60}c?") {
            prop_assert_eq!(find_near(b'c', text.as_bytes()), text.find('c'));
        }

        #[test]
        fn every_byte_is_asked_with_the_next(text in proptest::collection::vec(1_u8..5, 0..70)) {
            let pairs: Vec<&[u8]> = text.windows(2).collect();
            let mut seen = Vec::new();
            any(&text, |bytes| {
                seen.push(bytes.to_array());
                false
            });
            let all = |byte: &u8| seen.iter().any(|bytes| bytes.contains(byte));
            prop_assert!(text.iter().all(all));
            prop_assert!(pairs.iter().all(|pair| seen.iter().any(|bytes| bytes.windows(2).any(|two| two == *pair))));
        }

        #[test]
        fn a_bit_is_its_byte(text in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let mut seen = 0;
            each_block(&text, |at, block| {
                assert_eq!(at, seen);
                seen += BLOCK;
                for i in 0..BLOCK {
                    let byte = text.get(at + i).copied().unwrap_or(0);
                    let is = |bits: u64| bits >> i & 1 == 1;
                    let part = byte.is_ascii_alphanumeric() || byte >= 0x80;
                    assert_eq!(is(block.letters_and_digits()), part, "{byte:x}");
                    assert_eq!(is(block.each(b' ')), byte == b' ');
                    let ordinary = byte.is_ascii_alphanumeric() || b"-._~/!$()*+,;=@".contains(&byte);
                    assert_eq!(is(block.ordinary_in_paths()), ordinary, "{byte:x}");
                    assert_eq!(is(block.vowels()), b"aeiouyAEIOUY".contains(&byte), "{byte:x}");
                }
            });
            prop_assert_eq!(seen, (text.len() / BLOCK + 1) * BLOCK);
        }
    }
}
