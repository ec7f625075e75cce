//! Cache of what a credential was verified to be, or of what its person may reach. An entry counts for a short time, and only
//! while no change of credentials is announced.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, PoisonError},
};

use searchwright_contract::Instant;

/// Milliseconds for which an entry counts.
const FRESH_MILLIS: i64 = 2_000;
/// Entries, at most.
const MAX_ENTRIES: usize = 10_000;

/// Cached values by key.
#[derive(Debug)]
pub struct VerifiedCache<K, V> {
    entries: Mutex<HashMap<K, Entry<V>>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry<V> {
    value: V,
    until: Instant,
    generation: u64,
}

impl<K, V> Default for VerifiedCache<K, V> {
    fn default() -> Self {
        Self {
            entries: Mutex::default(),
        }
    }
}

impl<K: Hash + Eq, V: Clone> VerifiedCache<K, V> {
    /// Returns the value of a key, if it was stored in this generation and a short time ago.
    pub fn find(&self, key: &K, generation: u64, now: Instant) -> Option<V> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.get(key)?;
        (entry.until > now && entry.generation == generation).then(|| entry.value.clone())
    }

    /// Stores a value. The generation is that from before it was read: a change that is announced later is then noticed.
    pub fn store(&self, key: K, value: V, generation: u64, now: Instant) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= MAX_ENTRIES {
            entries.clear();
        }
        let until = now.plus_millis(FRESH_MILLIS);
        entries.insert(
            key,
            Entry {
                value,
                until,
                generation,
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_end_with_time_and_with_a_change() {
        let cache = VerifiedCache::default();
        let at = Instant::from_millis;
        cache.store("a", 1, 7, at(0));
        assert_eq!(cache.find(&"a", 7, at(FRESH_MILLIS - 1)), Some(1));
        assert_eq!(cache.find(&"a", 7, at(FRESH_MILLIS)), None);
        assert_eq!(cache.find(&"a", 8, at(0)), None);
        assert_eq!(cache.find(&"b", 7, at(0)), None);
        for n in 0..2 * MAX_ENTRIES {
            cache.store(Box::leak(n.to_string().into_boxed_str()), 1, 7, at(0));
        }
        assert!(cache.entries.lock().unwrap().len() <= MAX_ENTRIES);
    }
}
