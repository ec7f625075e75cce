//! Many publications through a network that spoils requests, while the product is killed and started again; then everything is counted at the CMS.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow, ensure};
use serde_json::{Value, json};
use xtask::random::Random;

use super::{
    cms::{Cms, Item, Status, list, loose},
    product::{Ended, Product},
    proxy::{Fault, Proxy},
    table::Table,
};

/// Callers at once.
const CALLERS: usize = 3;
/// Of so many publications the last changes a post that was published before.
const CHANGES: usize = 4;
/// Longest a caller waits for one publication before it begins the next.
const GLANCE: Duration = Duration::from_secs(4);
/// Longest until everything is settled that can be: what never arrived is given up after ten minutes.
const SETTLED: Duration = Duration::from_secs(15 * 60);

/// A lease is a minute.
const FROZEN: Duration = Duration::from_secs(75);

/// What is wrong is shown for so many posts.
const SHOWN: usize = 8;

pub(super) struct Storm<'a> {
    pub(super) product: &'a Product,
    pub(super) cms: &'a dyn Cms,
    pub(super) proxy: &'a Proxy,
    pub(super) publishes: usize,
    pub(super) seed: u64,
}

/// A post of the storm: its title names it at the CMS.
struct Post {
    id: String,
    title: String,
}

impl Storm<'_> {
    /// Publishes, waits until it is calm, and counts.
    pub(super) fn rage(&self, table: &mut Table) {
        let name = self.cms.name();
        let before = self.proxy.log().len();
        let posts = match self.posts().and_then(|posts| Ok((self.blow(&posts)?, posts))) {
            Ok((kills, posts)) => {
                let log = self.proxy.log();
                let spoiled = log[before..]
                    .iter()
                    .filter(|entry| entry.fault != Fault::Pass)
                    .count();
                let said = format!(
                    "{} publications of {} posts, {kills} kills, {spoiled} of {} requests spoiled",
                    self.publishes,
                    posts.len(),
                    log.len() - before
                );
                table.add(name, "storm", Ok(said));
                posts
            }
            Err(error) => {
                self.proxy.spoil(false);
                table.add(name, "storm", Err(error));
                return;
            }
        };
        table.add(name, "storm: settled", self.settle(&posts));
        table.add(name, "storm: one item each", self.count(&posts));
        table.add(name, "storm: failed ones once more", self.repair(&posts));
        table.add(name, "storm: one event each", self.events(&posts));
    }

    fn posts(&self) -> Result<Vec<Post>> {
        let count = self.publishes - self.publishes / CHANGES;
        (0..count)
            .map(|number| {
                let title = format!("Storm {number:04}");
                let post = json!({
                    "title": title, "slug": format!("storm-{number:04}"), "content": "It blows.\n\nEdition 1.\n",
                });
                let id = self.product.write(&post)?;
                Ok(Post { id, title })
            })
            .collect()
    }

    /// Begins all publications; how often the product was killed.
    fn blow(&self, posts: &[Post]) -> Result<usize> {
        self.proxy.spoil(true);
        let next = AtomicUsize::new(0);
        let kills = thread::scope(|scope| {
            let callers: Vec<_> = (0..CALLERS)
                .map(|_| scope.spawn(|| self.call(posts, &next)))
                .collect();
            // not in a thread of its own: the product ends with the thread that started it
            let kills = self.kill(|| callers.iter().all(thread::ScopedJoinHandle::is_finished));
            for caller in callers {
                caller
                    .join()
                    .map_err(|_| anyhow!("a caller's thread panicked"))??;
            }
            kills
        });
        self.proxy.spoil(false);
        kills
    }

    fn call(&self, posts: &[Post], next: &AtomicUsize) -> Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= self.publishes {
                return Ok(());
            }
            self.publish(posts, number)?;
        }
    }

    /// Kills one process after the other; where there are several, one is now and then frozen until its leases are over.
    fn kill(&self, over: impl Fn() -> bool) -> Result<usize> {
        let mut random = Random::new(self.seed, u64::MAX);
        let count = self.product.replicas();
        let mut frozen: Option<(usize, Instant)> = None;
        let mut kills = 0;
        loop {
            // what a process had in hand when it was killed waits for its lease, unless it is the only one
            let longest = if count == 1 { 4_000 } else { 30_000 };
            let until = Instant::now() + Duration::from_millis(random.between(300, longest) as u64);
            while Instant::now() < until {
                if over() {
                    if let Some((number, _)) = frozen {
                        self.product.freeze(number, false);
                    }
                    return Ok(kills);
                }
                thread::sleep(Duration::from_millis(5));
            }
            if let Some((number, _)) = frozen.take_if(|(_, since)| since.elapsed() > FROZEN) {
                self.product.freeze(number, false);
            }
            let number = random.below(count);
            if count > 1 && frozen.is_none() {
                self.product.freeze(number, true);
                frozen = Some((number, Instant::now()));
            } else if frozen.is_none_or(|(other, _)| other != number) {
                self.product.kill(number)?;
                kills += 1;
            }
        }
    }

    /// Publication `number`: of a new post, or of one from before that is changed first.
    fn publish(&self, posts: &[Post], number: usize) -> Result<()> {
        let begun = number - number / CHANGES;
        let is_change = number % CHANGES == CHANGES - 1;
        let post = if is_change {
            &posts[Random::new(self.seed, number as u64).below(begun)]
        } else {
            &posts[begun]
        };
        if is_change {
            let text = format!("It blows.\n\nEdition {}.\n", number + 2);
            // it may be on its way, and is then let alone
            if self.product.change(&post.id, json!({ "content": text })).is_err() {
                return Ok(());
            }
        }
        match self.product.begin_publish(&post.id, &json!({ "mode": "live" })) {
            Ok(job) => self.product.follow(&job, self.glance()).map(drop),
            Err(error) if is_change && error.to_string().contains("invalid_state") => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn glance(&self) -> Duration {
        match self.product.replicas() {
            1 => GLANCE,
            _ => GLANCE * 5,
        }
    }

    /// The posts as the product has them now.
    fn known(&self, posts: &[Post]) -> Result<Vec<Value>> {
        let one = |post: &Post| self.product.get(&format!("/posts/{}", post.id));
        posts.iter().map(one).collect()
    }

    fn settle(&self, posts: &[Post]) -> Result<String> {
        let begun = Instant::now();
        loop {
            let known = self.known(posts)?;
            let mut states: BTreeMap<String, usize> = BTreeMap::new();
            for post in &known {
                *states.entry(state(post)).or_default() += 1;
            }
            let moving = ["pending", "sending"]
                .iter()
                .any(|word| states.contains_key(*word));
            let over = begun.elapsed() > SETTLED;
            if over || !moving && !states.contains_key("uncertain") {
                ensure!(!moving, "after {} s: {states:?}", SETTLED.as_secs());
                return Ok(format!("after {} s: {states:?}", begun.elapsed().as_secs()));
            }
            thread::sleep(Duration::from_secs(2));
        }
    }

    fn count(&self, posts: &[Post]) -> Result<String> {
        let items = self.cms.items()?;
        let mut faults = Vec::new();
        let mut there = 0;
        for (post, known) in posts.iter().zip(self.known(posts)?) {
            let own: Vec<&Item> = items.iter().filter(|item| item.title == post.title).collect();
            there += own.len();
            let state = state(&known);
            if let Some(fault) = judge(&state, &known, &own) {
                faults.push(format!("{}, {state}: {fault}", post.title));
            }
        }
        let shown = faults.iter().take(SHOWN).cloned().collect::<Vec<_>>();
        ensure!(faults.is_empty(), "{} posts: {}", faults.len(), shown.join("; "));
        Ok(format!("{there} items of {} posts", posts.len()))
    }

    /// What failed is asked for again, as its author would; nobody spoils it now.
    fn repair(&self, posts: &[Post]) -> Result<String> {
        let mut count = 0;
        for (post, known) in posts.iter().zip(self.known(posts)?) {
            if state(&known) == "failed" {
                let ended = self.product.publish(&post.id, &json!({ "mode": "live" }))?;
                ensure!(ended == Ended::Done, "{}: {ended:?}", post.title);
                let item = self.cms.only(&post.title)?;
                ensure!(item.status == Status::Live, "{}: {:?}", post.title, item.status);
                count += 1;
            }
        }
        Ok(format!("{count} posts"))
    }

    fn events(&self, posts: &[Post]) -> Result<String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for event in self.product.events("post.published")? {
            *counts.entry(loose(&event, "/data/postId")).or_default() += 1;
        }
        let mut published = 0;
        for (post, known) in posts.iter().zip(self.known(posts)?) {
            let count = counts.get(&post.id).copied().unwrap_or(0);
            let expected = usize::from(known["publishedAt"].is_string());
            ensure!(
                count == expected,
                "{}, {}: {count} events post.published",
                post.title,
                state(&known)
            );
            published += expected;
        }
        Ok(format!("{published} events"))
    }
}

fn state(post: &Value) -> String {
    loose(post, "/publicationState")
}

/// What is wrong with the items of a post in this state.
fn judge(state: &str, post: &Value, items: &[&Item]) -> Option<String> {
    if items.len() > 1 {
        let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
        return Some(format!("{} items, {}", items.len(), ids.join(" and ")));
    }
    let was_live = post["publishedAt"].is_string();
    match (state, items.first()) {
        ("published", Some(item)) if item.status != Status::Live => Some(format!("it is {:?}", item.status)),
        ("published", Some(item)) => {
            let edition = loose(post, "/content");
            let edition = edition.trim().lines().last().unwrap_or_default().to_owned();
            let is_same = item.content.contains(&edition);
            (post["hasUnpublishedChanges"] == false && !is_same).then(|| format!("it is not {edition}"))
        }
        ("published", None) => Some("no item".to_owned()),
        ("failed", Some(_)) if !was_live => Some("an item, although it failed".to_owned()),
        ("failed", None) if was_live => Some("no item, although it was published".to_owned()),
        ("uncertain", _) => {
            let evidence = list(post, "/publications/0/attempt/evidence");
            evidence.is_empty().then(|| "no evidence".to_owned())
        }
        ("failed", _) => None,
        (other, _) => Some(format!("it is {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::judge;
    use crate::publish::cms::{Item, Status};

    fn item(status: Status) -> Item {
        Item {
            id: "7".to_owned(),
            title: "Storm 0001".to_owned(),
            slug: "storm-0001".to_owned(),
            status,
            content: "<p>Edition 2.</p>".to_owned(),
            excerpt: String::new(),
            image: None,
            tags: Vec::new(),
        }
    }

    #[test]
    fn doubles_and_losses_are_seen() {
        let (live, draft) = (item(Status::Live), item(Status::Draft));
        let post = |edition: &str, published: bool| {
            json!({
                "content": format!("It blows.\n\n{edition}\n"), "hasUnpublishedChanges": false,
                "publishedAt": published.then_some("2026-01-01T00:00:00.000Z"),
            })
        };
        let new = post("Edition 2.", true);
        assert_eq!(judge("published", &new, &[&live]), None);
        assert!(judge("published", &new, &[&live, &live]).is_some());
        assert!(judge("uncertain", &new, &[&live, &draft]).is_some());
        assert!(judge("published", &new, &[]).is_some());
        assert!(judge("published", &new, &[&draft]).is_some());
        assert!(judge("published", &post("Edition 3.", true), &[&live]).is_some());
        assert!(judge("failed", &new, &[]).is_some());
        assert_eq!(judge("failed", &post("Edition 2.", false), &[]), None);
        assert!(judge("failed", &post("Edition 2.", false), &[&live]).is_some());
        assert!(judge("pending", &new, &[&live]).is_some());
        assert!(judge("uncertain", &new, &[]).is_some());
        let evidence = json!({ "publications": [{ "attempt": { "evidence": [{ "what": "unclear" }] } }] });
        assert_eq!(judge("uncertain", &evidence, &[]), None);
    }
}
