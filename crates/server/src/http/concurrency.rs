//! Counts the share of a common resource that each owner holds, so that one caller cannot take everything.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

type Held<K> = Arc<Mutex<HashMap<K, usize>>>;

/// Amounts held, by owner.
#[derive(Debug)]
pub struct Concurrency<K> {
    held: Held<K>,
}

/// Amount that one owner holds; given back on drop.
#[derive(Debug)]
pub struct Turn<K: Copy + Eq + Hash> {
    owner: K,
    amount: usize,
    held: Held<K>,
}

impl<K> Default for Concurrency<K> {
    fn default() -> Self {
        Self { held: Arc::default() }
    }
}

impl<K: Copy + Eq + Hash> Concurrency<K> {
    /// Takes one unit; `None` if the owner holds `most` already.
    pub fn enter(&self, owner: K, most: usize) -> Option<Turn<K>> {
        let mut turn = self.idle(owner);
        turn.grow(1, most).then_some(turn)
    }

    /// Returns the amount that an owner holds.
    pub fn held_by(&self, owner: K) -> usize {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.get(&owner).copied().unwrap_or_default()
    }

    /// Returns a turn that holds nothing yet.
    pub fn idle(&self, owner: K) -> Turn<K> {
        Turn {
            owner,
            amount: 0,
            held: self.held.clone(),
        }
    }
}

impl<K: Copy + Eq + Hash> Turn<K> {
    /// Takes more units; returns `false` if the owner would then hold more than `most`.
    pub fn grow(&mut self, more: usize, most: usize) -> bool {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let all = held
            .get(&self.owner)
            .copied()
            .unwrap_or_default()
            .saturating_add(more);
        if all > most {
            return false;
        }
        held.insert(self.owner, all);
        self.amount += more;
        true
    }
}

impl<K: Copy + Eq + Hash> Drop for Turn<K> {
    fn drop(&mut self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(all) = held.get_mut(&self.owner) {
            *all -= self.amount;
            if *all == 0 {
                held.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{
        collection::vec,
        prelude::{ProptestConfig, any, proptest},
    };

    use super::Concurrency;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        /// Against a plain sum per owner: nothing is granted beyond the bound, and everything comes back.
        #[test]
        fn nobody_holds_more_than_the_bound(
            most in 0_usize..9,
            steps in vec((any::<bool>(), 0_usize..4, 0_usize..5), 0..60),
        ) {
            let all = Concurrency::default();
            let mut turns: Vec<_> = (0..4).map(|n| (all.idle(n % 2), 0)).collect();
            for (grow, at, more) in steps {
                let sum: usize = turns.iter().filter(|(t, _)| t.owner == at % 2).map(|(_, n)| n).sum();
                if grow {
                    let granted = turns[at].0.grow(more, most);
                    assert_eq!(granted, sum + more <= most);
                    turns[at].1 += if granted { more } else { 0 };
                } else {
                    turns[at] = (all.idle(at % 2), 0);
                }
            }
            drop(turns);
            assert!(all.held.lock().unwrap().is_empty());
            assert_eq!(all.enter(0, most).is_some(), most > 0);
        }
    }
}
