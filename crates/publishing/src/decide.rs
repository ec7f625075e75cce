//! The state machine of publishing: from the wanted state, the request in flight and the remote items found, it decides
//! the next step for a post. Pure, and no step of the machine is anywhere else.
//!
//! One rule is behind all others: nothing is created while an earlier request may still turn out to have created it.

use super::{
    marker::Marker,
    publisher::{Remote, Visible},
    values::is_same_version,
};

/// State that a post is to have at the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// Readers see this text.
    Live,
    /// The provider has it as a draft, which readers do not see.
    Draft,
    /// Readers see nothing of it.
    Gone,
}

/// Request of this attempt whose answer never came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Creation of an item.
    Create,
    /// Change of an item that exists.
    Change,
}

/// Record of the last publication of the post; empty if there was none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The provider's id.
    pub id: Option<String>,
    /// Version of the remote item after our last change.
    pub version: Option<String>,
}

/// Facts about this attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// Request that was sent and got no answer.
    pub sent: Option<Sent>,
    /// The post was looked for before anything was sent, and was not found.
    pub was_absent: bool,
    /// The caller overwrites what others changed.
    pub force: bool,
    /// The caller makes anew what others deleted.
    pub recreate: bool,
    /// Items created at this provider carry our mark.
    pub marks: bool,
    /// Sending the same request again creates no second item.
    pub repeats: bool,
}

/// Reason why a post cannot be published as things stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Another item has the slug of the post.
    SlugConflict,
    /// The item was changed at the provider.
    RemoteChanged,
    /// The item was deleted at the provider.
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

    /// Text for people: the reason and the way out.
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

/// Next step for the post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Send this.
    Send(Change),
    /// The remote item is already in the wanted state.
    Done(Remote),
    /// There is nothing, and nothing is wanted.
    Absent,
    /// The item that was sent for creation is not there yet, and may still appear.
    Wait,
    /// The post will not be published as things stand.
    Refuse(Reason),
}

/// Request to send to the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Make it.
    Create,
    /// Bring this to the wanted state.
    Update(Remote),
    /// Take this out of sight.
    Unpublish(Remote),
}

/// Decides the next step from the remote items found.
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
            // What waits would be shown later.
            Visible::Live | Visible::Waiting => Next::Send(Change::Unpublish(remote.clone())),
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

/// Returns the remote item that is ours: by the provider's id, by our mark, or, without marks, one that appeared after
/// our creation under its slug.
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

/// Decides what to change in our item `remote`. `is_taken` says that its slug has to change to one that another item
/// has.
fn change(aim: Aim, marker: &Marker, known: &Known, before: Before, remote: &Remote, is_taken: bool) -> Next {
    let visible = if aim == Aim::Live {
        Visible::Live
    } else {
        Visible::Draft
    };
    let is_current = remote.marker.as_ref() == Some(marker);
    // What was sent has arrived, and the provider makes it wait: sent again it would wait all the same.
    let is_made_to_wait =
        before.sent.is_some() && visible == Visible::Live && remote.visible == Visible::Waiting;
    if is_current && (remote.visible == visible || is_made_to_wait) {
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
