//! Bootstrap over prompts: the answers to one prompt are drawn together.
//!
//! The draws depend on the project and the period only, so that the same question has the same answer every time.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use searchwright_text::hash;

use super::Interval;

/// Number of samples that are drawn.
pub const BOOTSTRAP_SAMPLES: usize = 1000;
/// Minimum number of prompts; with fewer, no interval is stated.
pub const MIN_BOOTSTRAP_PROMPTS: usize = 5;

/// Generator of samples of prompts.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    seed: u64,
    /// Numbers of times that each prompt was drawn, sample after sample, by the number of prompts. They are the same for all
    /// statistics, and drawing them takes longer than most of these.
    drawn: RefCell<BTreeMap<usize, Rc<[u32]>>>,
}

impl Bootstrap {
    /// Creates the generator of a project and a period; days count from the Unix epoch.
    pub fn new(project: &[u8], from_day: i32, to_day: i32) -> Self {
        let mut key = project.to_vec();
        key.extend(from_day.to_le_bytes());
        key.extend(to_day.to_le_bytes());
        Self {
            seed: hash(&key),
            drawn: RefCell::default(),
        }
    }

    /// Returns the percentile interval of a statistic over samples of `prompts` prompts. The statistic gets the number
    /// of times that each prompt was drawn, and returns `None` for a sample in which it is undefined. `None` for fewer
    /// than [`MIN_BOOTSTRAP_PROMPTS`] prompts, or if it is undefined in more than a tenth of the samples.
    pub fn interval(
        &self,
        prompts: usize,
        mut statistic: impl FnMut(&[u32]) -> Option<f64>,
    ) -> Option<Interval> {
        if prompts < MIN_BOOTSTRAP_PROMPTS {
            return None;
        }
        let mut values = Vec::with_capacity(BOOTSTRAP_SAMPLES);
        for weights in self.weights(prompts).chunks_exact(prompts) {
            values.extend(statistic(weights).filter(|value| value.is_finite()));
        }
        if values.len() * 10 < BOOTSTRAP_SAMPLES * 9 {
            return None;
        }
        values.sort_by(f64::total_cmp);
        Some(Interval {
            low: quantile(&values, 0.025),
            high: quantile(&values, 0.975),
        })
    }
}

impl Bootstrap {
    fn weights(&self, prompts: usize) -> Rc<[u32]> {
        let mut drawn = self.drawn.borrow_mut();
        let weights = drawn.entry(prompts).or_insert_with(|| {
            let mut random = SplitMix { state: self.seed };
            let mut weights = vec![0; BOOTSTRAP_SAMPLES * prompts];
            for sample in weights.chunks_exact_mut(prompts) {
                for _ in 0..prompts {
                    sample[random.below(prompts)] += 1;
                }
            }
            weights.into()
        });
        weights.clone()
    }
}

/// Returns a quantile of sorted values, interpolated linearly.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor();
    let (low, high) = (sorted[below as usize], sorted[place.ceil() as usize]);
    low + (high - low) * (place - below)
}

/// The generator SplitMix64.
struct SplitMix {
    state: u64,
}

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}
