//! Queue of URLs. The order is breadth first by clicks from the start URL; within a depth it depends only on the URLs:
//! first those without a query, then by key. A depth begins when the one before is finished, so a crawl that its limits
//! cut short takes the same pages every time, and a resumed crawl continues as if it had never stopped.
//!
//! A redirect is no click: its target belongs to the same depth, in a round of its own.

use std::collections::HashMap;

use crate::{page::UrlId, urls::UrlTable};

/// Maximum length of a redirect chain that is followed, like Googlebot's.
pub const HOP_LIMIT: u8 = 10;

const UNREACHED: u16 = u16::MAX;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Not queued so far.
    #[default]
    None,
    /// Queued, handed out or finished.
    Taken,
    /// Reachable, but deeper than the limit.
    Beyond,
}

/// The queue of a crawl.
#[derive(Debug)]
pub struct Frontier {
    places: Vec<Place>,
    depths: Vec<u16>,
    /// Length of the redirect chain that led to a URL, if there is one.
    hops: HashMap<u32, u8>,
    /// URLs being handed out, the next one last.
    now: Vec<u32>,
    /// Redirect targets of the current depth.
    round: Vec<u32>,
    /// URLs one click deeper.
    deeper: Vec<u32>,
    /// Number of URLs handed out and not finished.
    open: usize,
    level: u16,
    max_depth: u16,
    /// Whether links from the start URL are still being followed.
    linked: bool,
}

impl Frontier {
    /// Creates the queue of a crawl that begins at `start` and goes `max_depth` clicks deep.
    pub fn new(start: UrlId, max_depth: u16) -> Self {
        let mut frontier = Self {
            places: Vec::new(),
            depths: Vec::new(),
            hops: HashMap::new(),
            now: vec![start.0],
            round: Vec::new(),
            deeper: Vec::new(),
            open: 0,
            level: 0,
            max_depth: max_depth.min(UNREACHED - 1),
            linked: true,
        };
        frontier.place(start, Place::Taken);
        frontier.depths[start.0 as usize] = 0;
        frontier
    }

    /// Returns the next URL to fetch; call [`Self::finished`] once it is done. `None` if an open URL has to be finished
    /// first or, with nothing open, if all is done.
    pub fn next(&mut self, urls: &UrlTable) -> Option<UrlId> {
        while self.now.is_empty() {
            if self.open > 0 {
                return None;
            }
            if !self.round.is_empty() {
                self.now = std::mem::take(&mut self.round);
            } else if !self.deeper.is_empty() {
                self.level += 1;
                self.now = std::mem::take(&mut self.deeper);
                // a redirect may have lifted some of them to the depth above
                let (depths, level) = (&self.depths, self.level);
                self.now.retain(|id| depths[*id as usize] == level);
            } else {
                return None;
            }
            sort(&mut self.now, urls);
        }
        self.open += 1;
        self.now.pop().map(UrlId)
    }

    /// Finishes a URL that was handed out, after all its targets were offered.
    pub fn finished(&mut self) {
        self.open = self.open.saturating_sub(1);
    }

    /// Whether nothing is queued and nothing open.
    pub fn is_idle(&self) -> bool {
        self.open == 0 && self.now.is_empty() && self.round.is_empty() && self.deeper.is_empty()
    }

    /// Offers the target of a link, which is to be crawled, from a page that was handed out.
    pub fn offer_link(&mut self, target: UrlId) {
        if !self.linked || self.place_of(target) != Place::None {
            return;
        }
        if self.level >= self.max_depth {
            self.place(target, Place::Beyond);
            return;
        }
        self.place(target, Place::Taken);
        self.depths[target.0 as usize] = self.level + 1;
        self.deeper.push(target.0);
    }

    /// Offers the target of a redirect, which is to be crawled, from a URL that was handed out. Returns false if the
    /// chain is longer than [`HOP_LIMIT`].
    pub fn offer_redirect(&mut self, from: UrlId, target: UrlId) -> bool {
        let hops = self.hops.get(&from.0).map_or(1, |hops| hops + 1);
        if hops > HOP_LIMIT {
            return false;
        }
        // the shortest chain counts, and a URL that is already taken keeps its own
        let lifted = self.linked
            && self.place_of(target) == Place::Taken
            && self.depths[target.0 as usize] == self.level + 1;
        if lifted || self.place_of(target) != Place::Taken {
            self.hops.insert(target.0, hops);
            if self.linked {
                self.place(target, Place::Taken);
                self.depths[target.0 as usize] = self.level;
                self.round.push(target.0);
            }
        }
        true
    }

    /// Queues URLs that no link reaches within the depth limit, together with those found through them later; call when
    /// idle. They have no depth, but rounds count towards the depth limit. Returns false if there is none, or the limit
    /// is reached.
    pub fn seed(&mut self, urls: impl Iterator<Item = UrlId>) -> bool {
        let first = self.linked;
        self.level = if first { 0 } else { self.level + 1 };
        self.linked = false;
        for id in urls {
            let waits = match self.place_of(id) {
                Place::None => true,
                Place::Beyond => first,
                Place::Taken => false,
            };
            if waits {
                let place = if self.level > self.max_depth {
                    Place::Beyond
                } else {
                    Place::Taken
                };
                self.place(id, place);
                if place == Place::Taken {
                    self.round.push(id.0);
                }
            }
        }
        !self.round.is_empty()
    }

    /// Whether the URL was queued, or left out because of its depth.
    pub fn is_placed(&self, id: UrlId) -> bool {
        self.place_of(id) != Place::None
    }

    /// Whether the URL was left out because of its depth.
    pub fn is_beyond(&self, id: UrlId) -> bool {
        self.place_of(id) == Place::Beyond
    }

    /// Returns the clicks from the start URL.
    pub fn depth(&self, id: UrlId) -> Option<u16> {
        self.depths
            .get(id.0 as usize)
            .copied()
            .filter(|d| *d != UNREACHED)
    }

    /// Returns the number of queued URLs, without those handed out.
    pub fn queued(&self) -> usize {
        self.now.len() + self.round.len() + self.deeper.len()
    }

    /// Returns the number of URLs deeper than the limit.
    pub fn beyond(&self) -> usize {
        self.places.iter().filter(|p| **p == Place::Beyond).count()
    }

    /// Returns the depths of all URLs, `u16::MAX` for those without one.
    pub fn into_depths(self) -> Vec<u16> {
        let mut depths = self.depths;
        for (depth, place) in depths.iter_mut().zip(&self.places) {
            if *place != Place::Taken {
                *depth = UNREACHED;
            }
        }
        depths
    }

    fn place_of(&self, id: UrlId) -> Place {
        self.places.get(id.0 as usize).copied().unwrap_or_default()
    }

    fn place(&mut self, id: UrlId, place: Place) {
        let length = id.0 as usize + 1;
        if self.places.len() < length {
            self.places.resize(length, Place::None);
            self.depths.resize(length, UNREACHED);
        }
        self.places[id.0 as usize] = place;
    }
}

/// Sorts in descending order, because the last one is taken first: URLs with a query are taken last.
fn sort(ids: &mut Vec<u32>, urls: &UrlTable) {
    let key = |id: u32| urls.key(UrlId(id));
    let (mut last, mut first): (Vec<u32>, Vec<u32>) = ids.drain(..).partition(|id| key(*id).contains('?'));
    for part in [&mut last, &mut first] {
        part.sort_unstable_by(|a, b| key(*b).cmp(key(*a)));
        ids.append(part);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    fn table(keys: &[&str]) -> UrlTable {
        let mut table = UrlTable::new(1000);
        keys.iter()
            .for_each(|key| assert!(table.insert(key, None).is_some()));
        table
    }

    fn drain(frontier: &mut Frontier, urls: &UrlTable) -> Vec<u32> {
        let mut order = Vec::new();
        while let Some(UrlId(id)) = frontier.next(urls) {
            order.push(id);
        }
        order
    }

    #[test]
    fn a_depth_is_handed_out_in_the_order_of_its_keys_once_the_last_is_finished() {
        let urls = table(&["/", "/b", "/?q", "/a", "/c"]);
        let mut frontier = Frontier::new(UrlId(0), 20);
        assert_eq!(drain(&mut frontier, &urls), [0]);
        [1, 2, 3, 1]
            .into_iter()
            .for_each(|id| frontier.offer_link(UrlId(id)));
        assert_eq!((frontier.next(&urls), frontier.queued()), (None, 3));
        frontier.finished();
        assert_eq!(drain(&mut frontier, &urls), [3, 1, 2]);
        frontier.offer_link(UrlId(4));
        (0..3).for_each(|_| frontier.finished());
        assert_eq!(drain(&mut frontier, &urls), [4]);
        assert_eq!((frontier.depth(UrlId(4)), frontier.is_idle()), (Some(2), false));
        frontier.finished();
        assert!(frontier.is_idle());
    }

    #[test]
    fn a_redirect_keeps_the_depth_and_lifts_a_link() {
        let urls = table(&["/", "/a", "/b", "/c"]);
        let mut frontier = Frontier::new(UrlId(0), 1);
        drain(&mut frontier, &urls);
        frontier.offer_link(UrlId(1));
        assert!(frontier.offer_redirect(UrlId(0), UrlId(1)));
        frontier.finished();
        assert_eq!(
            (drain(&mut frontier, &urls), frontier.depth(UrlId(1))),
            (vec![1], Some(0))
        );
        frontier.offer_link(UrlId(2));
        frontier.finished();
        assert_eq!(drain(&mut frontier, &urls), [2]);
        // 3 is too deep by a link, but not by a redirect
        frontier.offer_link(UrlId(3));
        assert_eq!(frontier.beyond(), 1);
        assert!(frontier.offer_redirect(UrlId(2), UrlId(3)));
        frontier.finished();
        assert_eq!(
            (
                drain(&mut frontier, &urls),
                frontier.depth(UrlId(3)),
                frontier.beyond()
            ),
            (vec![3], Some(1), 0)
        );
    }

    #[test]
    fn a_chain_of_redirects_ends() {
        let mut urls = UrlTable::new(100);
        (0..20).for_each(|i| assert!(urls.insert(&format!("/{i}"), None).is_some()));
        let mut frontier = Frontier::new(UrlId(0), 5);
        let mut followed = 0;
        while let Some(UrlId(id)) = frontier.next(&urls) {
            followed += u32::from(frontier.offer_redirect(UrlId(id), UrlId(id + 1)));
            frontier.finished();
        }
        assert_eq!(followed, u32::from(HOP_LIMIT));
    }

    #[test]
    fn seeds_come_after_links_without_a_depth() {
        let urls = table(&["/", "/a", "/b", "/c"]);
        let mut frontier = Frontier::new(UrlId(0), 1);
        drain(&mut frontier, &urls);
        frontier.finished();
        assert!(frontier.seed([0, 2, 1].into_iter().map(UrlId)));
        assert_eq!(drain(&mut frontier, &urls), [1, 2]);
        frontier.offer_link(UrlId(3));
        frontier.finished();
        frontier.finished();
        assert!(frontier.is_idle() && !frontier.is_placed(UrlId(3)));
        assert!(frontier.seed([UrlId(3)].into_iter()));
        assert_eq!(drain(&mut frontier, &urls), [3]);
        frontier.finished();
        assert!(!frontier.seed(std::iter::empty()));
        assert_eq!(frontier.into_depths(), [0, UNREACHED, UNREACHED, UNREACHED]);
    }

    /// Computes clicks by the definition: a link costs one, a redirect nothing.
    fn clicks(links: &[Vec<usize>], redirects: &[Option<usize>]) -> Vec<u16> {
        let mut clicks = vec![UNREACHED; links.len()];
        let mut queue = VecDeque::from([(0, 0)]);
        while let Some((page, depth)) = queue.pop_front() {
            if clicks[page] <= depth {
                continue;
            }
            clicks[page] = depth;
            match redirects[page] {
                Some(target) => queue.push_front((target, depth)),
                None => queue.extend(links[page].iter().map(|t| (*t, depth + 1))),
            }
        }
        clicks
    }

    proptest! {
        #[test]
        fn depths_are_clicks_in_whatever_order_pages_finish(
            graph in proptest::collection::vec((proptest::collection::vec(0_usize..12, 0..4), proptest::option::weighted(0.2, 0_usize..12)), 12),
            choices in proptest::collection::vec(any::<prop::sample::Index>(), 40),
        ) {
            let (links, redirects): (Vec<_>, Vec<_>) = graph.into_iter().unzip();
            let keys: Vec<String> = (0..12).map(|i| format!("/{}", (i * 7) % 12)).collect();
            let urls = table(&keys.iter().map(String::as_str).collect::<Vec<_>>());
            let mut frontier = Frontier::new(UrlId(0), 100);
            let (mut open, mut seen, mut choices) = (Vec::new(), Vec::new(), choices.into_iter().cycle());
            loop {
                while open.len() < 3 && let Some(id) = frontier.next(&urls) {
                    open.push(id.0 as usize);
                    seen.push(id.0);
                }
                if open.is_empty() {
                    break;
                }
                let page = open.swap_remove(choices.next().unwrap().index(open.len()));
                match redirects[page] {
                    Some(target) => prop_assert!(frontier.offer_redirect(UrlId(page as u32), UrlId(target as u32)) || redirects.len() > 10),
                    None => links[page].iter().for_each(|t| frontier.offer_link(UrlId(*t as u32))),
                }
                frontier.finished();
            }
            let expected = clicks(&links, &redirects);
            let mut depths = frontier.into_depths();
            depths.resize(12, UNREACHED);
            prop_assert_eq!(&depths, &expected);
            seen.sort_unstable();
            let reached: Vec<u32> = (0..12).filter(|i| expected[*i as usize] != UNREACHED).collect();
            prop_assert_eq!(seen, reached, "each page once");
        }
    }
}
