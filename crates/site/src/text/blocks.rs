//! What the bytes of a text are, 64 at a time: a bit for each, the first one lowest.

use wide::u8x16;

/// Bytes of a block.
pub(crate) const BLOCK: usize = 64;

/// A piece of a text.
pub(crate) struct Block([u8x16; 4]);

impl Block {
    fn new(bytes: &[u8; BLOCK]) -> Self {
        let (parts, _) = bytes.as_chunks::<16>();
        Self(std::array::from_fn(|i| u8x16::new(parts[i])))
    }

    /// ASCII letters and digits, and every byte outside ASCII.
    pub fn letters_and_digits(&self) -> u64 {
        let upto = |byte: u8x16, first: u8, last: u8| {
            let from = byte - u8x16::splat(first);
            from.min(u8x16::splat(last - first)).simd_eq(from)
        };
        self.bits(|bytes| {
            let small = bytes | u8x16::splat(0x20);
            // the highest bit is what counts
            upto(small, b'a', b'z') | upto(bytes, b'0', b'9') | bytes
        })
    }

    /// Bytes that the WHATWG parser leaves alone in a path and that mean nothing else there. A colon could end a scheme.
    pub fn ordinary_in_paths(&self) -> u64 {
        self.bits(|bytes| {
            let range = |first: u8, last: u8| {
                let from = bytes - u8x16::splat(first);
                from.min(u8x16::splat(last - first)).simd_eq(from)
            };
            let is = |byte| bytes.simd_eq(u8x16::splat(byte));
            // ( ) * + , - . / and digits; @ and capitals
            let runs = range(b'(', b'9') | range(b'@', b'Z') | range(b'a', b'z');
            runs | is(b'!') | is(b'$') | is(b';') | is(b'=') | is(b'_') | is(b'~')
        })
    }

    /// The vowels of English, large or small.
    pub fn vowels(&self) -> u64 {
        self.bits(|bytes| {
            let small = bytes | u8x16::splat(0x20);
            let is = |vowel| small.simd_eq(u8x16::splat(vowel));
            is(b'a') | is(b'e') | is(b'i') | is(b'o') | is(b'u') | is(b'y')
        })
    }

    /// This byte.
    pub fn each(&self, byte: u8) -> u64 {
        self.bits(|bytes| bytes.simd_eq(u8x16::splat(byte)))
    }

    fn bits(&self, highest: impl Fn(u8x16) -> u8x16) -> u64 {
        let bits = |part: &u8x16| u64::from(highest(*part).to_bitmask());
        self.0.iter().rev().fold(0, |all, part| all << 16 | bits(part))
    }
}

/// Takes the blocks of a text with where they begin, one after the other. At least one zero stands behind the end.
pub(crate) fn each_block(text: &[u8], mut take: impl FnMut(usize, &Block)) {
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
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{BLOCK, each_block};

    proptest! {
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
