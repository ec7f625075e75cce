//! SplitMix64 (Steele, Lea, Flood 2014): written here because a generated site must stay the same
//! for a seed for ever, which no random number crate promises across its versions.

/// A sequence of numbers fixed by its seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Sequence number `index` of a seed; neighbouring indices are independent.
    pub fn new(seed: u64, index: u64) -> Self {
        let mut mixed = Self(seed ^ index.wrapping_mul(0xd134_2543_de82_ef95));
        Self(mixed.bits())
    }

    /// 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `0..bound` up to a bias below 2^-32 for the small bounds used here; 0 for 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let wide = u128::from(self.bits()) * (bound as u128);
        (wide >> 64) as usize
    }

    /// Uniform in `low..=high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// One of a non-empty list.
    pub fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_sequence_is_the_published_one() {
        let mut random = Random(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn bounds_are_kept_and_reached() {
        let mut random = Random::new(1, 2);
        let mut seen = [false; 5];
        for _ in 0..500 {
            seen[random.between(3, 7) - 3] = true;
        }
        assert_eq!(seen, [true; 5]);
    }
}
