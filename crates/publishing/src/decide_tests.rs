//! The rules one by one, and then whole histories: whatever gets lost, late or repeated, a provider ends with one post or none.

use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};
use uuid::Uuid;

use super::{Aim, Before, Change, Known, Next, Reason, Sent, decide};
use crate::{
    marker::Marker,
    publisher::{Remote, Visible},
};

const SLUG: &str = "oak";

fn mark(text: u8) -> Marker {
    Marker::new(Uuid::from_u128(7), &[text; 32])
}

fn remote(id: &str, marker: Option<Marker>, visible: Visible, version: &str) -> Remote {
    Remote {
        id: id.to_owned(),
        slug: Some(SLUG.to_owned()),
        url: None,
        visible,
        reason: None,
        version: version.to_owned(),
        marker,
        etag: None,
    }
}

fn marks() -> Before {
    Before {
        marks: true,
        ..Before::default()
    }
}

fn known(id: &str, version: &str) -> Known {
    Known {
        id: Some(id.to_owned()),
        version: Some(version.to_owned()),
    }
}

#[test]
fn each_rule() {
    let nothing = Known::default();
    let next =
        |aim, known: &Known, before, found: &[Remote]| decide(aim, &mark(1), SLUG, known, before, found);
    assert_eq!(
        next(Aim::Live, &nothing, marks(), &[]),
        Next::Send(Change::Create)
    );
    // What has the slug and not our mark is somebody else's.
    let theirs = remote("9", None, Visible::Live, "a");
    let conflict = Next::Refuse(Reason::SlugConflict);
    assert_eq!(
        next(Aim::Live, &nothing, marks(), std::slice::from_ref(&theirs)),
        conflict
    );
    // Nor does what is ours take its place when its slug changes.
    let mut renamed = remote("5", Some(mark(0)), Visible::Live, "a");
    renamed.slug = Some("elm".to_owned());
    let both = [renamed.clone(), theirs.clone()];
    let force = Before {
        force: true,
        ..marks()
    };
    for before in [marks(), force] {
        assert_eq!(next(Aim::Live, &known("5", "a"), before, &both), conflict);
    }
    assert_eq!(
        next(Aim::Live, &known("5", "a"), marks(), &both[..1]),
        Next::Send(Change::Update(renamed.clone()))
    );
    assert_eq!(
        next(Aim::Gone, &known("5", "a"), marks(), &both),
        Next::Send(Change::Unpublish(renamed))
    );
    // Unless it cannot carry a mark, was not there before, and was sent.
    let appeared = Before {
        sent: Some(Sent::Create),
        was_absent: true,
        ..Before::default()
    };
    assert_eq!(
        next(Aim::Live, &nothing, appeared, std::slice::from_ref(&theirs)),
        Next::Send(Change::Update(theirs.clone()))
    );
    let was_there = Before {
        was_absent: false,
        ..appeared
    };
    assert_eq!(
        next(Aim::Live, &nothing, was_there, std::slice::from_ref(&theirs)),
        Next::Wait
    );
    // What was sent and is not there may come.
    let sent = Before {
        sent: Some(Sent::Create),
        ..marks()
    };
    assert_eq!(next(Aim::Live, &nothing, sent, &[]), Next::Wait);
    assert_eq!(
        next(
            Aim::Live,
            &nothing,
            Before {
                repeats: true,
                ..sent
            },
            &[]
        ),
        Next::Send(Change::Create)
    );
    // Ours, as it is to be, or not.
    let ours = remote("5", Some(mark(1)), Visible::Live, "a");
    assert_eq!(
        next(Aim::Live, &nothing, sent, std::slice::from_ref(&ours)),
        Next::Done(ours.clone())
    );
    assert_eq!(
        next(Aim::Draft, &nothing, sent, std::slice::from_ref(&ours)),
        Next::Send(Change::Update(ours.clone()))
    );
    let old = remote("5", Some(mark(2)), Visible::Live, "a");
    assert_eq!(
        next(Aim::Live, &known("5", "a"), marks(), std::slice::from_ref(&old)),
        Next::Send(Change::Update(old.clone()))
    );
    // Changed by others.
    let changed = Next::Refuse(Reason::RemoteChanged);
    assert_eq!(
        next(Aim::Live, &known("5", "b"), marks(), std::slice::from_ref(&old)),
        changed
    );
    let force = Before {
        force: true,
        ..marks()
    };
    assert_eq!(
        next(Aim::Live, &known("5", "b"), force, std::slice::from_ref(&old)),
        Next::Send(Change::Update(old))
    );
    // Deleted by others.
    assert_eq!(
        next(Aim::Live, &known("5", "a"), marks(), &[]),
        Next::Refuse(Reason::RemoteMissing)
    );
    let recreate = Before {
        recreate: true,
        ..marks()
    };
    assert_eq!(
        next(Aim::Live, &known("5", "a"), recreate, &[]),
        Next::Send(Change::Create)
    );
    // Taken back.
    assert_eq!(
        next(Aim::Gone, &known("5", "z"), marks(), std::slice::from_ref(&ours)),
        Next::Send(Change::Unpublish(ours.clone()))
    );
    let draft = Remote {
        visible: Visible::Draft,
        ..ours
    };
    assert_eq!(
        next(Aim::Gone, &known("5", "z"), marks(), std::slice::from_ref(&draft)),
        Next::Done(draft)
    );
    assert_eq!(next(Aim::Gone, &known("5", "z"), marks(), &[]), Next::Absent);
    // What waits there is asked for again by a new attempt only, and is taken back or it would be shown later.
    let waiting = remote("5", Some(mark(1)), Visible::Waiting, "a");
    let all = std::slice::from_ref(&waiting);
    let update = Next::Send(Change::Update(waiting.clone()));
    assert_eq!(next(Aim::Live, &known("5", "a"), marks(), all), update);
    assert_eq!(next(Aim::Draft, &known("5", "a"), marks(), all), update);
    assert_eq!(next(Aim::Live, &nothing, sent, all), Next::Done(waiting.clone()));
    assert_eq!(
        next(Aim::Gone, &known("5", "a"), marks(), all),
        Next::Send(Change::Unpublish(waiting.clone()))
    );
}

/// Outcome of a request.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Answered,
    AnswerLost,
    /// The request takes effect after this number of looks.
    Late(u8),
    RequestLost,
    Refused,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        Just(Fate::Answered),
        Just(Fate::AnswerLost),
        (1u8..4).prop_map(Fate::Late),
        Just(Fate::RequestLost),
        Just(Fate::Refused),
    ]
}

/// A provider, and requests on their way to it.
#[derive(Default)]
struct Provider {
    posts: Vec<Remote>,
    on_the_way: Vec<(u8, Remote, Option<String>)>,
    made: u32,
}

impl Provider {
    fn apply(&mut self, remote: Remote, over: Option<String>) {
        match over {
            Some(id) => {
                if let Some(post) = self.posts.iter_mut().find(|post| post.id == id) {
                    *post = Remote { id, ..remote };
                }
            }
            None => {
                self.made += 1;
                self.posts.push(Remote {
                    id: self.made.to_string(),
                    ..remote
                });
            }
        }
    }

    fn look(&mut self) -> Vec<Remote> {
        for entry in &mut self.on_the_way {
            entry.0 = entry.0.saturating_sub(1);
        }
        let (due, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.on_the_way)
            .into_iter()
            .partition(|e| e.0 == 0);
        self.on_the_way = rest;
        for (_, remote, over) in due {
            self.apply(remote, over);
        }
        self.posts.clone()
    }
}

proptest! {
    /// Attempt after attempt with changing texts, under any fates: never two posts, and what counts as published is there as it was
    /// sent. An attempt gives up waiting only after more looks than any request is late.
    #[test]
    fn a_provider_never_has_two(
        marks in any::<bool>(),
        fates in prop::collection::vec(fate(), 1..40),
        texts in prop::collection::vec(0u8..3, 1..8),
    ) {
        let mut provider = Provider::default();
        let mut known = Known::default();
        let mut fates = fates.into_iter();
        for text in texts {
            let marker = mark(text);
            let mut before = Before { marks, ..Before::default() };
            let mut misses = 0;
            loop {
                let found = provider.look();
                if before.sent.is_none() && found.is_empty() {
                    before.was_absent = true;
                }
                let next = decide(Aim::Live, &marker, SLUG, &known, before, &found);
                let (over, sent) = match next {
                    Next::Done(remote) => {
                        prop_assert_eq!(remote.marker.as_ref(), Some(&marker));
                        known = Known { id: Some(remote.id), version: Some(remote.version) };
                        break;
                    }
                    Next::Send(Change::Create) => (None, Sent::Create),
                    Next::Send(Change::Update(remote)) => (Some(remote.id), Sent::Change),
                    Next::Wait => {
                        misses += 1;
                        if misses > 4 { break; }
                        continue;
                    }
                    Next::Refuse(_) | Next::Absent => break,
                    Next::Send(Change::Unpublish(_)) => unreachable!("nothing is taken back"),
                };
                let goes = remote("", marks.then(|| marker.clone()), Visible::Live, &format!("v{text}"));
                before.sent = Some(sent);
                match fates.next().unwrap_or(Fate::Answered) {
                    Fate::Answered => {
                        provider.apply(goes, over);
                        let there = provider.posts.last().unwrap().clone();
                        known = Known { id: Some(there.id), version: Some(there.version) };
                        break;
                    }
                    Fate::AnswerLost => provider.apply(goes, over),
                    Fate::Late(looks) => provider.on_the_way.push((looks, goes, over)),
                    Fate::RequestLost => {}
                    Fate::Refused => break,
                }
            }
            // A request of this attempt that is still under way arrives before the next one begins: people are slower than that.
            for _ in 0..4 {
                provider.look();
            }
            prop_assert!(provider.posts.len() <= 1, "{:?}", provider.posts);
        }
    }
}
