//! What the bytes of a text are, 64 at a time: a bit for each, the first one lowest.

use wide::u8x16;

/// Bytes of a block.
pub(super) const BLOCK: usize = 64;

/// A piece of a text.
pub(super) struct Block([u8x16; 4]);

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

    /// This byte.
    pub fn each(&self, byte: u8) -> u64 {
        self.bits(|bytes| bytes.simd_eq(u8x16::splat(byte)))
    }

    fn bits(&self, highest: impl Fn(u8x16) -> u8x16) -> u64 {
        let bits = |part: &u8x16| u64::from(highest(*part).to_bitmask());
        self.0.iter().rev().fold(0, |all, part| all << 16 | bits(part))
    }
}

/// The blocks of a text and where they begin. At least one zero stands behind the end.
pub(super) fn blocks(text: &[u8]) -> impl Iterator<Item = (usize, Block)> {
    let (whole, rest) = text.as_chunks::<BLOCK>();
    let last = move || {
        let mut last = [0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        Block::new(&last)
    };
    let whole = whole.iter().map(Block::new);
    whole
        .chain(std::iter::once_with(last))
        .enumerate()
        .map(|(i, block)| (i * BLOCK, block))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{BLOCK, blocks};

    proptest! {
        #[test]
        fn a_bit_is_its_byte(text in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            let mut seen = 0;
            for (at, block) in blocks(&text) {
                prop_assert_eq!(at, seen);
                seen += BLOCK;
                for i in 0..BLOCK {
                    let byte = text.get(at + i).copied().unwrap_or(0);
                    let part = byte.is_ascii_alphanumeric() || byte >= 0x80;
                    prop_assert_eq!(block.letters_and_digits() >> i & 1 == 1, part, "{:x}", byte);
                    prop_assert_eq!(block.each(b' ') >> i & 1 == 1, byte == b' ');
                }
            }
            prop_assert_eq!(seen, (text.len() / BLOCK + 1) * BLOCK);
        }
    }
}
