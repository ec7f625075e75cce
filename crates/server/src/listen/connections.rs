//! Places for connections: so many in all, and from one address. Those that are idle, or whose client does not read, make room for
//! new ones.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::line::Life;

/// Most connections where the system sets no lower bound.
const MOST: usize = 10_000;
/// Share of the open files that is kept for the database, for requests to others, for programs and for logs.
const KEPT_SHARE: usize = 4;
/// Bounds of what is kept.
const KEPT: std::ops::RangeInclusive<usize> = 64..=1024;

/// Everything that is connected.
#[derive(Debug)]
pub struct Connections {
    most: usize,
    most_each: usize,
    next: AtomicU64,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    all: HashMap<u64, OpenConnection>,
    each: HashMap<IpAddr, usize>,
}

#[derive(Debug)]
struct OpenConnection {
    address: Option<IpAddr>,
    life: Arc<Life>,
    ends: CancellationToken,
}

impl Table {
    fn remove(&mut self, id: u64) -> Option<OpenConnection> {
        let entry = self.all.remove(&id)?;
        if let Some(address) = entry.address
            && let Some(count) = self.each.get_mut(&address)
        {
            *count -= 1;
            if *count == 0 {
                self.each.remove(&address);
            }
        }
        Some(entry)
    }

    /// Ends the connection that is idle for longest, or else the one that is stuck for longest, of this address or of all.
    /// Returns `false` if there is none.
    fn make_room(&mut self, address: Option<IpAddr>, now: Instant) -> bool {
        let candidates = self.all.iter().filter_map(|(id, entry)| {
            let is_asked = address.is_none() || entry.address == address;
            let (why, since) = is_asked.then(|| entry.life.spare(now)).flatten()?;
            Some((why, since, *id))
        });
        let Some((_, _, id)) = candidates.min() else {
            return false;
        };
        if let Some(entry) = self.remove(id) {
            entry.ends.cancel();
        }
        true
    }
}

/// The place of one connection; given back when dropped.
#[derive(Debug)]
pub(super) struct ConnectionPlace {
    connections: Arc<Connections>,
    id: u64,
    /// Cancelled when it has to make room.
    pub(super) ends: CancellationToken,
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.connections.table().remove(self.id);
    }
}

impl Connections {
    /// So many in all, 0 for as many as the open files allow, and so many from one address. `database` open files are kept
    /// besides.
    pub fn new(most: usize, most_each: usize, database: usize) -> Self {
        let allowed = allowed(open_files(), database);
        if most > allowed {
            tracing::warn!(
                most,
                allowed,
                "limits.connections is more than the limit of open files allows; raise it (ulimit -n, LimitNOFILE)"
            );
        }
        Self {
            most: if most == 0 { allowed } else { most },
            most_each,
            next: AtomicU64::new(0),
            table: Mutex::default(),
        }
    }

    fn table(&self) -> std::sync::MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many there are.
    pub fn count(&self) -> usize {
        self.table().all.len()
    }

    /// Takes a place for a connection from an address, none for that of a trusted proxy, which stands for many. `None` if it is to
    /// be closed.
    pub(super) fn admit(
        self: &Arc<Self>,
        address: Option<IpAddr>,
        life: &Arc<Life>,
    ) -> Option<ConnectionPlace> {
        let now = Instant::now();
        let mut table = self.table();
        let own = address.and_then(|address| table.each.get(&address).copied());
        let is_admitted = if own.is_some_and(|own| own >= self.most_each) {
            table.make_room(address, now)
        } else {
            table.all.len() < self.most || table.make_room(None, now)
        };
        if !is_admitted {
            return None;
        }
        let (id, ends) = (
            self.next.fetch_add(1, Ordering::Relaxed),
            CancellationToken::new(),
        );
        if let Some(address) = address {
            *table.each.entry(address).or_default() += 1;
        }
        let entry = OpenConnection {
            address,
            life: life.clone(),
            ends: ends.clone(),
        };
        table.all.insert(id, entry);
        drop(table);
        Some(ConnectionPlace {
            connections: self.clone(),
            id,
            ends,
        })
    }
}

/// Connections that leave enough of the open files to everything else.
fn allowed(files: Option<usize>, database: usize) -> usize {
    let Some(files) = files else { return MOST };
    let kept = (files / KEPT_SHARE).clamp(*KEPT.start(), *KEPT.end()) + database;
    files.saturating_sub(kept).clamp(1, MOST)
}

/// The limit of open files of this process; none if there is none.
#[cfg(unix)]
fn open_files() -> Option<usize> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current.and_then(|files| usize::try_from(files).ok())
}

#[cfg(not(unix))]
const fn open_files() -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use http::Version;

    use super::*;

    #[test]
    fn the_open_files_are_not_all_for_connections() {
        for (files, database, most) in [
            (Some(1024), 0, 768),
            (Some(1024), 16, 752),
            (Some(256), 16, 176),
            (Some(64), 16, 1),
            (Some(1_048_576), 16, MOST),
            (None, 16, MOST),
        ] {
            assert_eq!(allowed(files, database), most, "{files:?}");
        }
    }

    #[tokio::test]
    async fn idle_connections_make_room_and_busy_ones_do_not() {
        let connections = Arc::new(Connections::new(3, 2, 0));
        let lives: Vec<_> = (0..4).map(|_| Arc::new(Life::new())).collect();
        let [one, two] = [1, 2].map(|last| Some(IpAddr::from([192, 0, 2, last])));
        let busy: Vec<_> = lives.iter().map(|life| life.begin(Version::HTTP_11)).collect();
        let first = connections.admit(one, &lives[0]).unwrap();
        let second = connections.admit(one, &lives[1]).unwrap();
        assert!(connections.admit(one, &lives[2]).is_none(), "two of one address");
        let third = connections.admit(two, &lives[2]).unwrap();
        assert!(connections.admit(two, &lives[3]).is_none(), "three in all");
        assert!(connections.admit(None, &lives[3]).is_none(), "a proxy counts too");
        drop(busy);
        let fourth = connections.admit(one, &lives[3]).unwrap();
        assert!(first.ends.is_cancelled() && !second.ends.is_cancelled() && !third.ends.is_cancelled());
        assert_eq!(connections.count(), 3);
        drop((first, second, third, fourth));
        assert_eq!(connections.count(), 0);
        assert!(connections.table().each.is_empty());
    }

    #[tokio::test]
    async fn a_connection_that_just_came_is_given_its_time() {
        let connections = Arc::new(Connections::new(1, 1, 0));
        let life = Arc::new(Life::new());
        let _fresh = connections.admit(None, &life).unwrap();
        assert!(connections.admit(None, &life).is_none());
    }
}
