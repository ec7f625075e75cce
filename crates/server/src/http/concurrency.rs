//! How many requests a credential has under way, so that one caller cannot take every place.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use uuid::Uuid;

/// Requests under way by credential.
#[derive(Debug, Default)]
pub struct Concurrency {
    counts: Arc<Mutex<HashMap<Uuid, usize>>>,
}

/// A place among a credential's requests; given back when dropped.
#[derive(Debug)]
pub struct Turn {
    owner: Uuid,
    counts: Arc<Mutex<HashMap<Uuid, usize>>>,
}

impl Concurrency {
    /// A place, unless the credential has `most` requests under way.
    pub fn enter(&self, owner: Uuid, most: usize) -> Option<Turn> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(owner).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Turn {
            owner,
            counts: self.counts.clone(),
        })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.owner) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::Concurrency;

    #[test]
    fn places_come_back() {
        let concurrency = Concurrency::default();
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let held = concurrency.enter(one, 1);
        assert!(held.is_some() && concurrency.enter(one, 1).is_none() && concurrency.enter(two, 1).is_some());
        drop(held);
        assert!(concurrency.enter(one, 1).is_some());
        assert!(concurrency.counts.lock().unwrap().is_empty());
    }
}
