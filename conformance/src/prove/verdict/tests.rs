//! Each invariant against a sound history, and against the same history with one fault.

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
