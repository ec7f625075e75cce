//! Kinds of notices, each of which a person turns on or off.

use searchwright_contract::people::Role;

macro_rules! kinds {
    ($($variant:ident $word:literal $name:literal $events:literal;)*) => {
        /// Kind of a notice.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum NoticeKind { $(#[doc = $name] $variant,)* }

        impl NoticeKind {
            /// All, in the order in which they are shown.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the stored word.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// Returns the name that people see.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the events of webhooks that tell the same.
            pub const fn events(self) -> &'static str {
                match self { $(Self::$variant => $events,)* }
            }

            /// Parses the stored word.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.as_str() == word)
            }
        }
    };
}

kinds! {
    AuditFound "audit_found" "A scheduled audit found something new" "issue.opened, issue.reopened";
    PublicationFailed "publication_failed" "Publishing failed or is uncertain" "post.publish_failed";
    IntegrationLost "integration_lost" "A connection to a website is lost" "integration.disconnected";
    ApprovalWaits "approval_waits" "A post waits for approval" "approval.requested";
    AutopilotPaused "autopilot_paused" "The autopilot paused itself" "autopilot.paused";
    AuditFailed "audit_failed" "An audit failed" "audit.failed";
    BackupFailed "backup_failed" "A backup of the server failed" "";
}

/// Set of kinds, stored as their words with spaces between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindSet(Vec<NoticeKind>);

impl KindSet {
    /// Returns the set of all kinds.
    pub fn all() -> Self {
        Self(NoticeKind::ALL.to_vec())
    }

    /// Creates a set from words. Words of no kind are left out.
    pub fn from_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let mut kinds: Vec<_> = words.into_iter().filter_map(NoticeKind::parse).collect();
        kinds.sort_unstable();
        kinds.dedup();
        Self(kinds)
    }

    /// Parses the stored form.
    pub fn parse(text: &str) -> Self {
        Self::from_words(text.split(' '))
    }

    /// Returns the stored form.
    pub fn to_text(&self) -> String {
        let words: Vec<_> = self.0.iter().map(|kind| kind.as_str()).collect();
        words.join(" ")
    }

    /// Returns whether a kind is in the set.
    pub fn has(&self, kind: NoticeKind) -> bool {
        self.0.contains(&kind)
    }
}

/// Wishes of a person or a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wishes {
    /// Kinds that are sent.
    pub kinds: KindSet,
    /// Digest of the week, if it is sent.
    pub digest: bool,
    /// Weekday of the digest, 0 for Sunday to 6.
    pub weekday: u8,
    /// Hour of the digest in the time zone of the project, 0 to 23.
    pub hour: u8,
}

impl Wishes {
    /// Returns what a member gets who has chosen nothing: those who manage a project get everything that needs somebody.
    pub fn of_role(role: Role) -> Self {
        let manages = role >= Role::Admin;
        Self {
            kinds: if manages {
                KindSet::all()
            } else {
                KindSet::default()
            },
            digest: manages,
            weekday: 1,
            hour: 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_stored_as_words() {
        let set = KindSet::parse("audit_failed nonsense audit_found audit_failed");
        assert_eq!(set.to_text(), "audit_found audit_failed");
        assert!(set.has(NoticeKind::AuditFound) && !set.has(NoticeKind::ApprovalWaits));
        assert_eq!(KindSet::parse(""), KindSet::default());
        assert_eq!(KindSet::parse(&KindSet::all().to_text()), KindSet::all());
    }

    #[test]
    fn only_those_who_manage_get_mail_unasked() {
        for (role, is_told) in [
            (Role::Owner, true),
            (Role::Admin, true),
            (Role::Editor, false),
            (Role::Viewer, false),
        ] {
            let wishes = Wishes::of_role(role);
            assert_eq!(
                (wishes.digest, wishes.kinds == KindSet::all()),
                (is_told, is_told)
            );
        }
    }
}
