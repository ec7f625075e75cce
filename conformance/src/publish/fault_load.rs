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
    cms::{Cms, Item, ItemStatus, list, scalar},
    product::{CmsProduct, PublishOutcome},
    proxy::{Fault, Proxy},
    step_results::StepResults,
};

/// Callers at once.
const CALLERS: usize = 3;
/// One of so many publications changes a post that was published before.
const CHANGE_INTERVAL: usize = 4;
/// Time that a caller waits for one publication before it starts the next.
const CALLER_TIMEOUT: Duration = Duration::from_secs(4);
/// Time until every publication has an outcome: a lost request is given up after ten minutes.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// Time that a process stays frozen, longer than its lease of a minute.
const FREEZE_TIME: Duration = Duration::from_secs(75);

/// Posts whose faults are shown.
const MAX_SHOWN: usize = 8;

pub(super) struct FaultLoad<'a> {
    pub(super) product: &'a CmsProduct,
    pub(super) cms: &'a dyn Cms,
    pub(super) proxy: &'a Proxy,
    pub(super) publishes: usize,
    pub(super) seed: u64,
}

/// A post of the load; the CMS knows it by its title.
struct LoadPost {
    id: String,
    title: String,
}

impl FaultLoad<'_> {
    /// Publishes under faults, waits for the outcomes and compares both sides.
    pub(super) fn run(&self, table: &mut StepResults) {
        let name = self.cms.name();
        let before = self.proxy.log().len();
        let posts = match self
            .create_posts()
            .and_then(|posts| Ok((self.publish_all(&posts)?, posts)))
        {
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
                table.add(name, "load", Ok(said));
                posts
            }
            Err(error) => {
                self.proxy.spoil(false);
                table.add(name, "load", Err(error));
                return;
            }
        };
        table.add(name, "load: settled", self.settle(&posts));
        table.add(name, "load: one item each", self.check_items(&posts));
        table.add(name, "load: failed ones once more", self.repair(&posts));
        table.add(name, "load: one event each", self.check_events(&posts));
    }

    fn create_posts(&self) -> Result<Vec<LoadPost>> {
        let count = self.publishes - self.publishes / CHANGE_INTERVAL;
        (0..count)
            .map(|number| {
                let title = format!("Load {number:04}");
                let post = json!({
                    "title": title, "slug": format!("load-{number:04}"), "content": "A text.\n\nEdition 1.\n",
                });
                let id = self.product.create_post(&post)?;
                Ok(LoadPost { id, title })
            })
            .collect()
    }

    /// Starts all publications and returns the number of kills.
    fn publish_all(&self, posts: &[LoadPost]) -> Result<usize> {
        self.proxy.spoil(true);
        let next = AtomicUsize::new(0);
        let kills = thread::scope(|scope| {
            let callers: Vec<_> = (0..CALLERS)
                .map(|_| scope.spawn(|| self.run_caller(posts, &next)))
                .collect();
            // not in a thread of its own: the product ends with the thread that started it
            let kills = self.kill_processes(|| callers.iter().all(thread::ScopedJoinHandle::is_finished));
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

    fn run_caller(&self, posts: &[LoadPost], next: &AtomicUsize) -> Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= self.publishes {
                return Ok(());
            }
            self.publish_one(posts, number)?;
        }
    }

    /// Kills one process after the other; where there are several, one is now and then frozen until its leases are over.
    fn kill_processes(&self, over: impl Fn() -> bool) -> Result<usize> {
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
                        self.product.set_frozen(number, false);
                    }
                    return Ok(kills);
                }
                thread::sleep(Duration::from_millis(5));
            }
            if let Some((number, _)) = frozen.take_if(|(_, since)| since.elapsed() > FREEZE_TIME) {
                self.product.set_frozen(number, false);
            }
            let number = random.below(count);
            if count > 1 && frozen.is_none() {
                self.product.set_frozen(number, true);
                frozen = Some((number, Instant::now()));
            } else if frozen.is_none_or(|(other, _)| other != number) {
                self.product.kill(number)?;
                kills += 1;
            }
        }
    }

    /// Publication `number`: of a new post, or of one from before that is changed first.
    fn publish_one(&self, posts: &[LoadPost], number: usize) -> Result<()> {
        let begun = number - number / CHANGE_INTERVAL;
        let is_change = number % CHANGE_INTERVAL == CHANGE_INTERVAL - 1;
        let post = if is_change {
            &posts[Random::new(self.seed, number as u64).below(begun)]
        } else {
            &posts[begun]
        };
        if is_change {
            let text = format!("A text.\n\nEdition {}.\n", number + 2);
            // it may be on its way, and is then let alone
            if self
                .product
                .change_post(&post.id, json!({ "content": text }))
                .is_err()
            {
                return Ok(());
            }
        }
        match self
            .product
            .start_publishing(&post.id, &json!({ "mode": "live" }))
        {
            Ok(job) => self.product.wait_for_job(&job, self.caller_timeout()).map(drop),
            Err(error) if is_change && error.to_string().contains("invalid_state") => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn caller_timeout(&self) -> Duration {
        match self.product.replicas() {
            1 => CALLER_TIMEOUT,
            _ => CALLER_TIMEOUT * 5,
        }
    }

    /// The posts as the product has them now.
    fn load_posts(&self, posts: &[LoadPost]) -> Result<Vec<Value>> {
        let one = |post: &LoadPost| self.product.get(&format!("/posts/{}", post.id));
        posts.iter().map(one).collect()
    }

    fn settle(&self, posts: &[LoadPost]) -> Result<String> {
        let begun = Instant::now();
        loop {
            let known = self.load_posts(posts)?;
            let mut states: BTreeMap<String, usize> = BTreeMap::new();
            for post in &known {
                *states.entry(state(post)).or_default() += 1;
            }
            let moving = ["pending", "sending"]
                .iter()
                .any(|word| states.contains_key(*word));
            let over = begun.elapsed() > SETTLE_TIMEOUT;
            if over || !moving && !states.contains_key("uncertain") {
                ensure!(!moving, "after {} s: {states:?}", SETTLE_TIMEOUT.as_secs());
                return Ok(format!("after {} s: {states:?}", begun.elapsed().as_secs()));
            }
            thread::sleep(Duration::from_secs(2));
        }
    }

    fn check_items(&self, posts: &[LoadPost]) -> Result<String> {
        let items = self.cms.list_items()?;
        let mut faults = Vec::new();
        let mut there = 0;
        for (post, known) in posts.iter().zip(self.load_posts(posts)?) {
            let own: Vec<&Item> = items.iter().filter(|item| item.title == post.title).collect();
            there += own.len();
            let state = state(&known);
            if let Some(fault) = find_fault(&state, &known, &own) {
                faults.push(format!("{}, {state}: {fault}", post.title));
            }
        }
        let shown = faults.iter().take(MAX_SHOWN).cloned().collect::<Vec<_>>();
        ensure!(faults.is_empty(), "{} posts: {}", faults.len(), shown.join("; "));
        Ok(format!("{there} items of {} posts", posts.len()))
    }

    /// Publishes again, without faults, the posts that failed.
    fn repair(&self, posts: &[LoadPost]) -> Result<String> {
        let mut count = 0;
        for (post, known) in posts.iter().zip(self.load_posts(posts)?) {
            if state(&known) == "failed" {
                let ended = self.product.publish(&post.id, &json!({ "mode": "live" }))?;
                ensure!(ended == PublishOutcome::Published, "{}: {ended:?}", post.title);
                let item = self.cms.find_only_post(&post.title)?;
                ensure!(
                    item.status == ItemStatus::Live,
                    "{}: {:?}",
                    post.title,
                    item.status
                );
                count += 1;
            }
        }
        Ok(format!("{count} posts"))
    }

    fn check_events(&self, posts: &[LoadPost]) -> Result<String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for event in self.product.events("post.published")? {
            *counts.entry(scalar(&event, "/data/postId")).or_default() += 1;
        }
        let mut published = 0;
        for (post, known) in posts.iter().zip(self.load_posts(posts)?) {
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
    scalar(post, "/publicationState")
}

/// Describes the fault of the items of a post in this state.
fn find_fault(state: &str, post: &Value, items: &[&Item]) -> Option<String> {
    if items.len() > 1 {
        let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
        return Some(format!("{} items, {}", items.len(), ids.join(" and ")));
    }
    let was_live = post["publishedAt"].is_string();
    match (state, items.first()) {
        ("published", Some(item)) if item.status != ItemStatus::Live => {
            Some(format!("it is {:?}", item.status))
        }
        ("published", Some(item)) => {
            let edition = scalar(post, "/content");
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

    use super::find_fault;
    use crate::publish::cms::{Item, ItemStatus};

    fn item(status: ItemStatus) -> Item {
        Item {
            id: "7".to_owned(),
            title: "Load 0001".to_owned(),
            slug: "load-0001".to_owned(),
            status,
            content: "<p>Edition 2.</p>".to_owned(),
            excerpt: String::new(),
            image: None,
            tags: Vec::new(),
        }
    }

    #[test]
    fn duplicates_and_losses_are_faults() {
        let (live, draft) = (item(ItemStatus::Live), item(ItemStatus::Draft));
        let post = |edition: &str, published: bool| {
            json!({
                "content": format!("A text.\n\n{edition}\n"), "hasUnpublishedChanges": false,
                "publishedAt": published.then_some("2026-01-01T00:00:00.000Z"),
            })
        };
        let new = post("Edition 2.", true);
        assert_eq!(find_fault("published", &new, &[&live]), None);
        assert!(find_fault("published", &new, &[&live, &live]).is_some());
        assert!(find_fault("uncertain", &new, &[&live, &draft]).is_some());
        assert!(find_fault("published", &new, &[]).is_some());
        assert!(find_fault("published", &new, &[&draft]).is_some());
        assert!(find_fault("published", &post("Edition 3.", true), &[&live]).is_some());
        assert!(find_fault("failed", &new, &[]).is_some());
        assert_eq!(find_fault("failed", &post("Edition 2.", false), &[]), None);
        assert!(find_fault("failed", &post("Edition 2.", false), &[&live]).is_some());
        assert!(find_fault("pending", &new, &[&live]).is_some());
        assert!(find_fault("uncertain", &new, &[]).is_some());
        let evidence = json!({ "publications": [{ "attempt": { "evidence": [{ "what": "unclear" }] } }] });
        assert_eq!(find_fault("uncertain", &evidence, &[]), None);
    }
}
