//! What to do next with a post, from what is wanted, what was sent, and what is there. Pure: no step of the machine is
//! anywhere else.
//!
//! The one rule behind all others: nothing is made while something that was sent may still turn out to be there.

use super::{
    marker::Marker,
    publisher::{Remote, Visible},
    values::is_same_version,
};

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// Readers see this text.
    Live,
    /// It lies there as a draft.
    Draft,
    /// Readers see nothing of it.
    Gone,
}

/// What we sent in this attempt and never heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Something new.
    Create,
    /// A change of what is there.
    Change,
}

/// What earlier publications left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The provider's id.
    pub id: Option<String>,
    /// Its version as we left it.
    pub version: Option<String>,
}

/// What is true of this attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// What was sent without an answer.
    pub sent: Option<Sent>,
    /// It was looked for before anything was sent, and was not there.
    pub was_absent: bool,
    /// The caller overwrites what others changed.
    pub force: bool,
    /// The caller makes anew what others deleted.
    pub recreate: bool,
    /// What is made there carries our mark.
    pub marks: bool,
    /// The same sent again makes nothing twice.
    pub repeats: bool,
}

/// Why a post cannot be published as things stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Something else has its slug.
    SlugConflict,
    /// Somebody changed it at the provider.
    RemoteChanged,
    /// Somebody deleted it at the provider.
    RemoteMissing,
}

impl Reason {
    /// Stable word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::SlugConflict => "slug_conflict",
            Self::RemoteChanged => "remote_changed",
            Self::RemoteMissing => "remote_missing",
        }
    }

    /// For people: what it is and the way out.
    pub const fn text(self) -> &'static str {
        match self {
            Self::SlugConflict => {
                "something else at the provider has the slug of this post; change the slug, or rename the other"
            }
            Self::RemoteChanged => {
                "somebody changed the post at the provider; take over what they did, then publish with force: true"
            }
            Self::RemoteMissing => {
                "somebody deleted the post at the provider; publish with recreateMissing: true to make it anew"
            }
        }
    }
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Send this.
    Send(Change),
    /// It is as it is to be.
    Done(Remote),
    /// There is nothing, and nothing is wanted.
    Absent,
    /// What was sent is not there, and may still come.
    Wait,
    /// It will not be done.
    Refuse(Reason),
}

/// What to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Make it.
    Create,
    /// Bring this to the wanted state.
    Update(Remote),
    /// Take this out of sight.
    Unpublish(Remote),
}

/// Decides.
pub fn decide(
    aim: Aim,
    marker: &Marker,
    slug: &str,
    known: &Known,
    before: Before,
    found: &[Remote],
) -> Next {
    match own(marker, slug, known, before, found) {
        Some(remote) if aim == Aim::Gone => match remote.visible {
            Visible::Draft => Next::Done(remote.clone()),
            Visible::Live => Next::Send(Change::Unpublish(remote.clone())),
        },
        Some(remote) => {
            let takes_it = |other: &Remote| other.id != remote.id && other.slug.as_deref() == Some(slug);
            let is_taken =
                remote.slug.as_deref().is_some_and(|own| own != slug) && found.iter().any(takes_it);
            change(aim, marker, known, before, remote, is_taken)
        }
        None if aim == Aim::Gone => Next::Absent,
        None if before.sent == Some(Sent::Create) && before.repeats => Next::Send(Change::Create),
        None if before.sent == Some(Sent::Create) => Next::Wait,
        None if known.id.is_some() && !before.recreate => Next::Refuse(Reason::RemoteMissing),
        None if found.iter().any(|remote| remote.slug.as_deref() == Some(slug)) => {
            Next::Refuse(Reason::SlugConflict)
        }
        None => Next::Send(Change::Create),
    }
}

/// What of the found is ours.
fn own<'a>(
    marker: &Marker,
    slug: &str,
    known: &Known,
    before: Before,
    found: &'a [Remote],
) -> Option<&'a Remote> {
    let by_id = || found.iter().find(|remote| known.id.as_ref() == Some(&remote.id));
    let marked = |remote: &&Remote| {
        remote
            .marker
            .as_ref()
            .is_some_and(|mark| mark.post == marker.post)
    };
    // A provider without a place for a mark: what was not there before we sent it, and has its slug, is it.
    let appeared = |remote: &&Remote| {
        !before.marks
            && before.was_absent
            && before.sent == Some(Sent::Create)
            && remote.slug.as_deref() == Some(slug)
    };
    by_id()
        .or_else(|| found.iter().find(marked))
        .or_else(|| found.iter().find(appeared))
}

/// What of ours is to be changed. `is_taken`: it is to have another slug, which something else has.
fn change(aim: Aim, marker: &Marker, known: &Known, before: Before, remote: &Remote, is_taken: bool) -> Next {
    let visible = if aim == Aim::Live {
        Visible::Live
    } else {
        Visible::Draft
    };
    let is_current = remote.marker.as_ref() == Some(marker);
    if is_current && remote.visible == visible {
        return Next::Done(remote.clone());
    }
    if is_taken {
        return Next::Refuse(Reason::SlugConflict);
    }
    // Where we hear nothing of marks, a change that was sent is sent again: it makes nothing new.
    let is_ours_unheard = before.sent.is_some() && (is_current || !before.marks);
    let is_as_left = known
        .version
        .as_ref()
        .is_none_or(|version| is_same_version(version, &remote.version));
    if is_as_left || is_ours_unheard || before.force {
        Next::Send(Change::Update(remote.clone()))
    } else {
        Next::Refuse(Reason::RemoteChanged)
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
