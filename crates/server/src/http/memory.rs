//! Memory for bodies under way, in and out: bounded in all, and by sender.

use std::{net::IpAddr, sync::Arc};

use searchwright_contract::{Code, Problem, ids::CredentialId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::concurrency::{Concurrency, Turn};

/// The one for whom memory is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sender {
    /// A credential.
    Credential(CredentialId),
    /// A network address without one.
    Stranger(IpAddr),
}

/// Memory that is shared out.
#[derive(Debug)]
pub struct MemoryPool {
    all: Arc<Semaphore>,
    each: Concurrency<Sender>,
    most: usize,
    most_each: usize,
}

/// A share of it; given back when dropped.
#[derive(Debug)]
pub struct Room {
    pool: Arc<Semaphore>,
    all: Option<OwnedSemaphorePermit>,
    own: Turn<Sender>,
    most_each: usize,
}

impl MemoryPool {
    /// So many bytes in all, and of one sender.
    pub fn new(all: usize, each: usize) -> Self {
        let most = all.min(Semaphore::MAX_PERMITS);
        Self {
            all: Arc::new(Semaphore::new(most)),
            each: Concurrency::default(),
            most,
            most_each: each,
        }
    }

    /// A share that is empty yet.
    pub fn room(&self, sender: Sender) -> Room {
        Room {
            pool: self.all.clone(),
            all: None,
            own: self.each.idle(sender),
            most_each: self.most_each,
        }
    }

    /// A share for something that is there as a whole. What is larger than any share is let through alone.
    pub fn take(&self, sender: Sender, bytes: usize) -> Option<Room> {
        let mut room = self.room(sender);
        room.grow(bytes.min(self.most).min(self.most_each))
            .then_some(room)
    }

    /// A share for something that cannot be refused any more, beyond the bounds if need be.
    pub fn take_beyond(&self, sender: Sender, bytes: usize) -> Room {
        let mut room = self.room(sender);
        room.all = room.more(bytes.min(self.most));
        room.own.grow(bytes, usize::MAX);
        room
    }

    /// Returns whether a sender, or all of them together, hold everything that they may.
    pub fn is_full(&self, sender: Sender) -> bool {
        self.all.available_permits() == 0 || self.each.held_by(sender) >= self.most_each
    }
}

impl Room {
    /// Takes more; returns `false` if that is more than there is.
    pub fn grow(&mut self, bytes: usize) -> bool {
        match (self.more(bytes), &mut self.all) {
            (None, _) => return false,
            (Some(more), Some(all)) => all.merge(more),
            (more, all) => *all = more,
        }
        self.own.grow(bytes, self.most_each)
    }

    fn more(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(bytes).ok()?;
        self.pool.clone().try_acquire_many_owned(bytes).ok()
    }
}

/// The refusal of those whose answers nobody reads.
pub fn unread() -> Problem {
    Problem::new(
        Code::Overloaded,
        "too many bytes of answers are under way; read those that were sent",
    )
    .after(1)
}

#[cfg(test)]
mod tests {
    use super::{MemoryPool, Sender};

    fn stranger(last: u8) -> Sender {
        Sender::Stranger([192, 0, 2, last].into())
    }

    #[test]
    fn shares_are_bounded_by_sender_and_in_all() {
        let pool = MemoryPool::new(100, 60);
        let first = pool.take(stranger(1), 50).unwrap();
        assert!(pool.take(stranger(1), 20).is_none());
        let second = pool.take(stranger(2), 40).unwrap();
        assert!(pool.take(stranger(3), 20).is_none());
        assert!(!pool.is_full(stranger(3)));
        let rest = pool.take(stranger(3), 10).unwrap();
        assert!(pool.is_full(stranger(3)));
        drop((first, second, rest));
        assert!(pool.take(stranger(1), 60).is_some());
    }

    #[test]
    fn what_is_larger_than_a_share_goes_alone() {
        let pool = MemoryPool::new(100, 60);
        let large = pool.take(stranger(1), 1000).unwrap();
        assert!(pool.is_full(stranger(1)) && pool.take(stranger(1), 1).is_none());
        let beyond = pool.take_beyond(stranger(1), 1000);
        assert!(pool.take(stranger(2), 10).is_some());
        drop((large, beyond));
        assert!(pool.take(stranger(1), 60).is_some());
    }
}
