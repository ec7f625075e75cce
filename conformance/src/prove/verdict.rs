//! The verdict: whether a history keeps the invariants. It reads nothing but the history.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::history::{Action, HistoryEntry, Line};

/// An invariant with its number in the reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Invariant {
    JobsExist = 1,
    WritesLast,
    RepeatsAreOne,
    EventsArrive,
    NothingTwice,
    ChargesCount,
    SlotsFireOnce,
    RevokedStaysRevoked,
    JobsEnd,
    ActivityMatches,
}

pub(super) const INVARIANTS: [(Invariant, &str); 10] = [
    (Invariant::JobsExist, "every 202 has a job that is still there"),
    (
        Invariant::WritesLast,
        "what was answered with 2xx can be read afterwards",
    ),
    (
        Invariant::RepeatsAreOne,
        "a repeated request is carried out once and answered with the first result",
    ),
    (
        Invariant::EventsArrive,
        "every event is delivered with one id and one body, or its delivery is shown as failed or waiting",
    ),
    (
        Invariant::NothingTwice,
        "a post is at the CMS at most once, and is there if it is said to be published",
    ),
    (
        Invariant::ChargesCount,
        "every charged request to a model is counted",
    ),
    (Invariant::SlotsFireOnce, "a slot of a schedule fires once"),
    (Invariant::RevokedStaysRevoked, "a revoked key stays revoked"),
    (Invariant::JobsEnd, "no job runs for ever"),
    (
        Invariant::ActivityMatches,
        "the log of activity has one entry for each change, and no other",
    ),
];

impl Invariant {
    pub(super) fn number(self) -> String {
        format!("I{}", self as u8)
    }
}

/// Judgement of one invariant.
#[derive(Debug)]
pub(super) struct InvariantVerdict {
    pub(super) invariant: Invariant,
    /// Things that were compared.
    pub(super) compared: usize,
    pub(super) faults: Vec<String>,
}

/// A call with everything that was heard of it.
#[derive(Debug, Default)]
struct Call<'a> {
    action: Option<&'a Action>,
    answers: Vec<Answer<'a>>,
    /// A request of it was sent and never answered.
    is_unknown: bool,
}

#[derive(Debug)]
struct Answer<'a> {
    status: u16,
    id: Option<&'a str>,
    job: Option<&'a str>,
}

impl Call<'_> {
    /// The first answer that says it was carried out.
    fn success(&self) -> Option<&Answer<'_>> {
        self.answers
            .iter()
            .find(|answer| (200..300).contains(&answer.status))
    }
}

/// A history by what it is about.
#[derive(Debug, Default)]
struct Records<'a> {
    calls: BTreeMap<u64, Call<'a>>,
    charged: BTreeSet<u64>,
    slots: Vec<(&'a str, usize, usize)>,
    probes: Vec<(&'a str, u16)>,
    created: BTreeMap<&'a str, BTreeSet<u64>>,
    /// Digest of each event that came, and whether it was accepted.
    delivered: BTreeMap<&'a str, Vec<(&'a str, &'a str, bool)>>,
    keywords: BTreeMap<&'a str, (&'a str, Option<u64>)>,
    posts: BTreeMap<&'a str, Post<'a>>,
    jobs: BTreeMap<&'a str, (&'a str, &'a str, bool)>,
    events: BTreeMap<&'a str, (&'a str, Option<&'a str>)>,
    deliveries: BTreeMap<&'a str, &'a str>,
    activity: BTreeMap<(&'a str, &'a str), usize>,
    audits: Vec<(&'a str, &'a str)>,
    items: BTreeMap<&'a str, usize>,
    spend: (u64, u64),
}

#[derive(Debug)]
struct Post<'a> {
    title: &'a str,
    state: &'a str,
    was_live: bool,
    evidence: usize,
}

impl<'a> Records<'a> {
    fn gather(lines: &'a [Line]) -> Self {
        let mut records = Self::default();
        for line in lines {
            records.add(&line.entry);
        }
        records
    }

    fn add(&mut self, entry: &'a HistoryEntry) {
        match entry {
            HistoryEntry::Began { .. } | HistoryEntry::Fault { .. } | HistoryEntry::Settled { .. } => {}
            HistoryEntry::Sent { call, action } => self.calls.entry(*call).or_default().action = Some(action),
            HistoryEntry::Answered {
                call,
                status,
                id,
                job,
                ..
            } => {
                self.calls.entry(*call).or_default().answers.push(Answer {
                    status: *status,
                    id: id.as_deref(),
                    job: job.as_deref(),
                });
            }
            HistoryEntry::Lost { call } => self.calls.entry(*call).or_default().is_unknown = true,
            HistoryEntry::Probed { key, status } => self.probes.push((key, *status)),
            HistoryEntry::Created { item, title } => {
                self.created.entry(title).or_default().insert(*item);
            }
            HistoryEntry::Charged { call } => {
                self.charged.insert(*call);
            }
            HistoryEntry::Delivered {
                event,
                kind,
                digest,
                accepted,
            } => {
                self.delivered
                    .entry(event)
                    .or_default()
                    .push((kind, digest, *accepted));
            }
            HistoryEntry::FoundKeyword { id, keyword, volume } => {
                self.keywords.insert(id, (keyword, *volume));
            }
            HistoryEntry::FoundPost {
                id,
                title,
                state,
                was_live,
                evidence,
            } => {
                let post = Post {
                    title,
                    state,
                    was_live: *was_live,
                    evidence: *evidence,
                };
                self.posts.insert(id, post);
            }
            HistoryEntry::FoundJob {
                id,
                kind,
                status,
                waits,
            } => {
                self.jobs.insert(id, (kind, status, *waits));
            }
            HistoryEntry::FoundEvent { id, kind, post } => {
                self.events.insert(id, (kind, post.as_deref()));
            }
            HistoryEntry::FoundDelivery { event, status, .. } => {
                self.deliveries.insert(event, status);
            }
            HistoryEntry::FoundActivity { operation, subject } => {
                let subject = subject.as_deref().unwrap_or_default();
                *self.activity.entry((operation, subject)).or_default() += 1;
            }
            HistoryEntry::FoundAudit { id, status } => self.audits.push((id, status)),
            HistoryEntry::FoundItem { title, .. } => *self.items.entry(title).or_default() += 1,
            HistoryEntry::FoundSpend { charged, uncertain } => self.spend = (*charged, *uncertain),
            HistoryEntry::FoundSlots { schedule, due, fired } => self.slots.push((schedule, *due, *fired)),
        }
    }

    fn jobs_exist(&self, found: &mut InvariantVerdict) {
        for (number, call) in &self.calls {
            let Some(job) = call.success().and_then(|answer| answer.job) else {
                continue;
            };
            found.compared += 1;
            if !self.jobs.contains_key(job) {
                found.faults.push(format!(
                    "call {number} was answered with the job {job}, which does not exist"
                ));
            }
        }
    }

    fn writes_last(&self, found: &mut InvariantVerdict) {
        // keywords that somebody was told are gone, and the value that each was given last
        let mut deleted = BTreeSet::new();
        let mut volumes: BTreeMap<&str, (u64, bool)> = BTreeMap::new();
        for call in self.calls.values() {
            let is_done = call.success().is_some();
            match call.action {
                Some(Action::DeleteKeyword { id }) if is_done => {
                    deleted.insert(id.as_str());
                }
                // it may have been carried out
                Some(Action::DeleteKeyword { id }) => {
                    volumes.remove(id.as_str());
                    if call.is_unknown && !self.keywords.contains_key(id.as_str()) {
                        deleted.insert(id.as_str());
                    }
                }
                Some(Action::ChangeKeyword { id, volume }) if is_done => {
                    volumes.insert(id, (*volume, true));
                }
                Some(Action::ChangeKeyword { id, .. }) if call.is_unknown => {
                    volumes.insert(id, (0, false));
                }
                _ => {}
            }
        }
        for (number, call) in &self.calls {
            let Some(id) = call.success().and_then(|answer| answer.id) else {
                continue;
            };
            match call.action {
                Some(Action::CreateKeyword { keyword }) => {
                    found.compared += 1;
                    match self.keywords.get(id) {
                        None if deleted.contains(id) => {}
                        None => found
                            .faults
                            .push(format!("call {number}: keyword {id} ({keyword}) is gone")),
                        Some(_) if deleted.contains(id) => {
                            found
                                .faults
                                .push(format!("keyword {id} ({keyword}) is there after it was deleted"));
                        }
                        Some((kept, _)) if kept != keyword => {
                            found
                                .faults
                                .push(format!("keyword {id} is {kept:?} instead of {keyword:?}"));
                        }
                        Some((_, kept)) => match volumes.get(id) {
                            Some((volume, true)) if *kept != Some(*volume) => found.faults.push(format!(
                                "keyword {id} has the volume {kept:?} after it was set to {volume}"
                            )),
                            _ => {}
                        },
                    }
                }
                Some(Action::CreatePost { title }) => {
                    found.compared += 1;
                    if self.posts.get(id).is_none_or(|post| post.title != title) {
                        found
                            .faults
                            .push(format!("call {number}: post {id} ({title}) is gone"));
                    }
                }
                _ => {}
            }
        }
    }

    fn repeats_are_one(&self, found: &mut InvariantVerdict) {
        let mut keywords: BTreeMap<&str, usize> = BTreeMap::new();
        for (keyword, _) in self.keywords.values() {
            *keywords.entry(keyword).or_default() += 1;
        }
        let mut titles: BTreeMap<&str, usize> = BTreeMap::new();
        for post in self.posts.values() {
            *titles.entry(post.title).or_default() += 1;
        }
        for (number, call) in &self.calls {
            let done = call
                .answers
                .iter()
                .filter(|answer| (200..300).contains(&answer.status));
            let results: BTreeSet<(Option<&str>, Option<&str>)> =
                done.map(|answer| (answer.id, answer.job)).collect();
            if call.answers.len() > 1 || call.is_unknown {
                found.compared += 1;
            }
            if results.len() > 1 {
                found.faults.push(format!(
                    "call {number} has {} results: {results:?}",
                    results.len()
                ));
            }
            let count = match call.action {
                Some(Action::CreateKeyword { keyword }) => keywords.get(keyword.as_str()),
                Some(Action::CreatePost { title }) => titles.get(title.as_str()),
                _ => None,
            };
            if let Some(count) = count.filter(|count| **count > 1) {
                found
                    .faults
                    .push(format!("call {number} was carried out {count} times"));
            }
        }
    }

    fn events_arrive(&self, found: &mut InvariantVerdict) {
        for (event, (kind, _)) in &self.events {
            found.compared += 1;
            let came = self.delivered.get(event).map_or(&[][..], Vec::as_slice);
            let accepted = came.iter().any(|(_, _, accepted)| *accepted);
            match self.deliveries.get(event) {
                None => found
                    .faults
                    .push(format!("event {event} ({kind}) has no delivery")),
                Some(&"succeeded") if !accepted => {
                    found.faults.push(format!(
                        "event {event} ({kind}) is said to be delivered and was not accepted"
                    ));
                }
                _ => {}
            }
        }
        for (event, came) in &self.delivered {
            let bodies: BTreeSet<&str> = came.iter().map(|(_, digest, _)| *digest).collect();
            if bodies.len() > 1 {
                found
                    .faults
                    .push(format!("event {event} came with {} bodies", bodies.len()));
            }
            let kind = came[0].0;
            if self.events.get(event).is_none_or(|(known, _)| *known != kind) {
                found.faults.push(format!(
                    "event {event} ({kind}) came and is not in the list of events"
                ));
            }
        }
        let mut published: BTreeMap<&str, usize> = BTreeMap::new();
        for (kind, post) in self.events.values() {
            if let (&"post.published", Some(post)) = (kind, post) {
                *published.entry(post).or_default() += 1;
            }
        }
        for (id, post) in &self.posts {
            let count = published.get(id).copied().unwrap_or(0);
            if count != usize::from(post.was_live) {
                found.faults.push(format!(
                    "post {id}, {}: {count} events post.published",
                    post.state
                ));
            }
        }
    }

    fn nothing_twice(&self, found: &mut InvariantVerdict) {
        let mut titles = BTreeSet::new();
        for (id, post) in &self.posts {
            titles.insert(post.title);
            let items = self.items.get(post.title).copied().unwrap_or(0);
            let created = self.created.get(post.title).map_or(0, BTreeSet::len);
            if items + created > 0 || !post.state.is_empty() {
                found.compared += 1;
            }
            if items > 1 || created > 1 {
                found.faults.push(format!(
                    "post {id} ({}) was created {} times at the CMS",
                    post.title,
                    items.max(created)
                ));
            }
            match post.state {
                "published" if items == 0 => {
                    found
                        .faults
                        .push(format!("post {id} is said to be published and is not at the CMS"));
                }
                "failed" if items > 0 => {
                    found
                        .faults
                        .push(format!("post {id} is said to have failed and is at the CMS"));
                }
                "uncertain" if post.evidence == 0 => {
                    found
                        .faults
                        .push(format!("post {id} is uncertain without evidence"));
                }
                _ => {}
            }
        }
        for title in self.items.keys().filter(|title| !titles.contains(**title)) {
            found
                .faults
                .push(format!("the CMS has {title:?}, which is no post here"));
        }
    }

    fn charges_count(&self, found: &mut InvariantVerdict) {
        found.compared = self.charged.len();
        let counted = self.spend.0 + self.spend.1;
        if counted < self.charged.len() as u64 {
            found.faults.push(format!(
                "{} requests were charged, {counted} are counted ({} with their price, {} as uncertain)",
                self.charged.len(),
                self.spend.0,
                self.spend.1
            ));
        }
    }

    fn slots_fire_once(&self, found: &mut InvariantVerdict) {
        for (schedule, due, fired) in &self.slots {
            found.compared += due;
            if fired != due {
                found
                    .faults
                    .push(format!("schedule {schedule} fired {fired} times for {due} slots"));
            }
        }
    }

    fn revoked_stays_revoked(&self, found: &mut InvariantVerdict) {
        let revoked: BTreeSet<&str> = self
            .calls
            .values()
            .filter(|call| call.success().is_some())
            .filter_map(|call| match call.action {
                Some(Action::RevokeKey { key }) => Some(key.as_str()),
                _ => None,
            })
            .collect();
        for (key, status) in self.probes.iter().filter(|(key, _)| revoked.contains(key)) {
            found.compared += 1;
            if *status != 401 {
                found.faults.push(format!(
                    "key {key} was answered with {status} after it was revoked"
                ));
            }
        }
    }

    fn jobs_end(&self, found: &mut InvariantVerdict) {
        for (id, (kind, status, waits)) in &self.jobs {
            found.compared += 1;
            if matches!(*status, "queued" | "running") && !waits {
                found.faults.push(format!("job {id} ({kind}) is still {status}"));
            }
        }
        for (id, status) in &self.audits {
            if matches!(*status, "queued" | "running") {
                found.faults.push(format!("audit {id} is still {status}"));
            }
        }
    }

    fn activity_matches(&self, found: &mut InvariantVerdict) {
        let mut expected: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut unknown: BTreeMap<&str, usize> = BTreeMap::new();
        for call in self.calls.values() {
            let Some(operation) = call.action.and_then(Action::operation) else {
                continue;
            };
            match call.success() {
                Some(answer) => {
                    let record = call.action.and_then(Action::record).or(answer.id);
                    let subject = record.or(answer.job).unwrap_or_default();
                    let count = expected.entry((operation, subject)).or_default();
                    // a second call that found the same audit running changed nothing
                    *count = if operation == "audits.start" {
                        1
                    } else {
                        *count + 1
                    };
                }
                None if call.is_unknown => *unknown.entry(operation).or_default() += 1,
                None => {}
            }
        }
        for (key, count) in &expected {
            found.compared += 1;
            let kept = self.activity.get(key).copied().unwrap_or(0);
            if kept < *count {
                found.faults.push(format!(
                    "{} of {}: {kept} entries instead of {count}",
                    key.0, key.1
                ));
            }
        }
        let mut more: BTreeMap<&str, usize> = BTreeMap::new();
        for ((operation, subject), kept) in &self.activity {
            let count = expected.get(&(*operation, *subject)).copied().unwrap_or(0);
            *more.entry(operation).or_default() += kept.saturating_sub(count);
        }
        for (operation, count) in more {
            let possible = unknown.get(operation).copied().unwrap_or(0);
            let is_ours = self
                .calls
                .values()
                .any(|call| call.action.and_then(Action::operation) == Some(operation));
            if is_ours && count > possible {
                found.faults.push(format!(
                    "{operation}: {count} entries without a change, {possible} calls have an unknown end"
                ));
            }
        }
    }
}

/// Judges a history by every invariant.
pub(super) fn judge(lines: &[Line]) -> Vec<InvariantVerdict> {
    let records = Records::gather(lines);
    INVARIANTS
        .iter()
        .map(|(invariant, _)| {
            let mut verdict = InvariantVerdict {
                invariant: *invariant,
                compared: 0,
                faults: Vec::new(),
            };
            let check = match invariant {
                Invariant::JobsExist => Records::jobs_exist,
                Invariant::WritesLast => Records::writes_last,
                Invariant::RepeatsAreOne => Records::repeats_are_one,
                Invariant::EventsArrive => Records::events_arrive,
                Invariant::NothingTwice => Records::nothing_twice,
                Invariant::ChargesCount => Records::charges_count,
                Invariant::SlotsFireOnce => Records::slots_fire_once,
                Invariant::RevokedStaysRevoked => Records::revoked_stays_revoked,
                Invariant::JobsEnd => Records::jobs_end,
                Invariant::ActivityMatches => Records::activity_matches,
            };
            check(&records, &mut verdict);
            verdict
        })
        .collect()
}
