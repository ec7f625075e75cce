//! The verdict: whether a history keeps the invariants. It reads nothing but the history.

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

#[cfg(test)]
mod tests {
    use super::{Invariant, judge};
    use crate::prove::history::{Action, HistoryEntry, Line};

    fn sent(call: u64, action: Action) -> HistoryEntry {
        HistoryEntry::Sent { call, action }
    }

    fn answered(call: u64, id: Option<&str>, job: Option<&str>) -> HistoryEntry {
        HistoryEntry::Answered {
            call,
            status: 201,
            id: id.map(str::to_owned),
            job: job.map(str::to_owned),
            code: None,
        }
    }

    fn text(word: &str) -> String {
        word.to_owned()
    }

    fn keyword(id: &str, volume: Option<u64>) -> HistoryEntry {
        HistoryEntry::FoundKeyword {
            id: text(id),
            keyword: text("lamp"),
            volume,
        }
    }

    fn delivered(digest: &str) -> HistoryEntry {
        HistoryEntry::Delivered {
            event: text("e1"),
            kind: text("post.published"),
            digest: text(digest),
            accepted: true,
        }
    }

    fn post(state: &str, evidence: usize) -> HistoryEntry {
        let was_live = state == "published";
        HistoryEntry::FoundPost {
            id: text("p1"),
            title: text("Lamp"),
            state: text(state),
            was_live,
            evidence,
        }
    }

    fn activity(operation: &str, subject: &str) -> HistoryEntry {
        HistoryEntry::FoundActivity {
            operation: text(operation),
            subject: Some(text(subject)),
        }
    }

    fn item(item: u64) -> HistoryEntry {
        HistoryEntry::FoundItem {
            item,
            title: text("Lamp"),
        }
    }

    fn audit(status: &str) -> HistoryEntry {
        HistoryEntry::FoundAudit {
            id: text("a1"),
            status: text(status),
        }
    }

    fn slots(fired: usize) -> HistoryEntry {
        HistoryEntry::FoundSlots {
            schedule: text("s"),
            due: 1,
            fired,
        }
    }

    /// A history that keeps every invariant.
    fn sound() -> Vec<HistoryEntry> {
        vec![
            sent(
                1,
                Action::CreateKeyword {
                    keyword: text("lamp"),
                },
            ),
            HistoryEntry::Lost { call: 1 },
            answered(1, Some("k1"), None),
            answered(1, Some("k1"), None),
            sent(
                2,
                Action::ChangeKeyword {
                    id: text("k1"),
                    volume: 7,
                },
            ),
            answered(2, Some("k1"), None),
            sent(3, Action::CreatePost { title: text("Lamp") }),
            answered(3, Some("p1"), None),
            sent(4, Action::PublishPost { post: text("p1") }),
            answered(4, None, Some("j1")),
            HistoryEntry::Created {
                item: 1,
                title: text("Lamp"),
            },
            delivered("one"),
            delivered("one"),
            HistoryEntry::Charged { call: 0 },
            sent(5, Action::RevokeKey { key: text("s1") }),
            answered(5, None, None),
            HistoryEntry::Probed {
                key: text("s1"),
                status: 401,
            },
            keyword("k1", Some(7)),
            post("published", 0),
            HistoryEntry::FoundJob {
                id: text("j1"),
                kind: text("publish"),
                status: text("succeeded"),
                waits: false,
            },
            HistoryEntry::FoundEvent {
                id: text("e1"),
                kind: text("post.published"),
                post: Some(text("p1")),
            },
            HistoryEntry::FoundDelivery {
                event: text("e1"),
                status: text("succeeded"),
                attempts: 2,
            },
            activity("keywords.create", "k1"),
            activity("keywords.update", "k1"),
            activity("posts.create", "p1"),
            activity("posts.publish", "p1"),
            audit("completed"),
            item(1),
            HistoryEntry::FoundSpend {
                charged: 0,
                uncertain: 1,
            },
            slots(1),
        ]
    }

    fn violated(entries: Vec<HistoryEntry>) -> Vec<Invariant> {
        let lines: Vec<Line> = entries.into_iter().map(|entry| Line { at: 0, entry }).collect();
        let verdicts = judge(&lines).into_iter();
        verdicts
            .filter(|verdict| !verdict.faults.is_empty())
            .map(|verdict| verdict.invariant)
            .collect()
    }

    /// Violations of the sound history with the entries at which `find` is true replaced.
    fn with(find: impl Fn(&HistoryEntry) -> bool, instead: &[HistoryEntry]) -> Vec<Invariant> {
        let mut entries = sound();
        let at = entries.iter().position(&find).unwrap();
        entries.retain(|entry| !find(entry));
        entries.splice(at..at, instead.iter().cloned());
        violated(entries)
    }

    #[test]
    fn a_sound_history_violates_nothing() {
        assert_eq!(violated(sound()), []);
    }

    #[test]
    fn each_kind_of_fault_is_found() {
        use Invariant::{
            ActivityMatches, ChargesCount, EventsArrive, JobsEnd, JobsExist, NothingTwice, RepeatsAreOne,
            RevokedStaysRevoked, SlotsFireOnce, WritesLast,
        };
        let is_job = |entry: &HistoryEntry| matches!(entry, HistoryEntry::FoundJob { .. });
        let job = |status: &str| HistoryEntry::FoundJob {
            id: text("j1"),
            kind: text("publish"),
            status: text(status),
            waits: false,
        };
        assert_eq!(with(is_job, &[]), [JobsExist]);
        assert_eq!(with(is_job, &[job("running")]), [JobsEnd]);
        let is_keyword = |entry: &HistoryEntry| matches!(entry, HistoryEntry::FoundKeyword { .. });
        assert_eq!(with(is_keyword, &[]), [WritesLast]);
        assert_eq!(with(is_keyword, &[keyword("k1", Some(6))]), [WritesLast]);
        assert_eq!(
            with(is_keyword, &[keyword("k1", Some(7)), keyword("k2", None)]),
            [RepeatsAreOne]
        );
        let is_second = |entry: &HistoryEntry| matches!(entry, HistoryEntry::Answered { call: 1, .. });
        let two = [answered(1, Some("k1"), None), answered(1, Some("k2"), None)];
        assert_eq!(with(is_second, &two), [RepeatsAreOne]);
        let is_delivered = |entry: &HistoryEntry| matches!(entry, HistoryEntry::Delivered { .. });
        assert_eq!(with(is_delivered, &[]), [EventsArrive]);
        assert_eq!(
            with(is_delivered, &[delivered("one"), delivered("two")]),
            [EventsArrive]
        );
        assert_eq!(
            with(|entry| matches!(entry, HistoryEntry::FoundEvent { .. }), &[]),
            [EventsArrive]
        );
        assert_eq!(
            with(|entry| matches!(entry, HistoryEntry::FoundDelivery { .. }), &[]),
            [EventsArrive]
        );
        let is_item = |entry: &HistoryEntry| matches!(entry, HistoryEntry::FoundItem { .. });
        assert_eq!(with(is_item, &[item(1), item(2)]), [NothingTwice]);
        assert_eq!(with(is_item, &[]), [NothingTwice]);
        let is_post = |entry: &HistoryEntry| matches!(entry, HistoryEntry::FoundPost { .. });
        // that it was live is said by an event
        assert_eq!(
            with(is_post, &[post("uncertain", 0)]),
            [EventsArrive, NothingTwice]
        );
        assert_eq!(with(is_post, &[post("uncertain", 1)]), [EventsArrive]);
        assert_eq!(with(is_post, &[post("failed", 0)]), [EventsArrive, NothingTwice]);
        let is_spend = |entry: &HistoryEntry| matches!(entry, HistoryEntry::FoundSpend { .. });
        assert_eq!(
            with(
                is_spend,
                &[HistoryEntry::FoundSpend {
                    charged: 0,
                    uncertain: 0
                }]
            ),
            [ChargesCount]
        );
        let is_audit = |entry: &HistoryEntry| matches!(entry, HistoryEntry::FoundAudit { .. });
        let is_slots = |entry: &HistoryEntry| matches!(entry, HistoryEntry::FoundSlots { .. });
        assert_eq!(with(is_slots, &[slots(0)]), [SlotsFireOnce]);
        assert_eq!(with(is_slots, &[slots(2)]), [SlotsFireOnce]);
        assert_eq!(with(is_audit, &[audit("running")]), [JobsEnd]);
        let is_probe = |entry: &HistoryEntry| matches!(entry, HistoryEntry::Probed { .. });
        assert_eq!(
            with(
                is_probe,
                &[HistoryEntry::Probed {
                    key: text("s1"),
                    status: 200
                }]
            ),
            [RevokedStaysRevoked]
        );
        let is_create = |entry: &HistoryEntry| *entry == activity("keywords.create", "k1");
        assert_eq!(with(is_create, &[]), [ActivityMatches]);
        let more = [
            activity("keywords.create", "k1"),
            activity("keywords.create", "k2"),
        ];
        assert_eq!(with(is_create, &more), [ActivityMatches]);
    }

    #[test]
    fn a_call_whose_end_is_unknown_may_have_been_carried_out_or_not() {
        let unknown = vec![
            sent(
                1,
                Action::CreateKeyword {
                    keyword: text("lamp"),
                },
            ),
            HistoryEntry::Lost { call: 1 },
        ];
        assert_eq!(violated(unknown.clone()), []);
        let mut carried_out = unknown;
        carried_out.extend([keyword("k1", None), activity("keywords.create", "k1")]);
        assert_eq!(violated(carried_out), []);
    }
}
