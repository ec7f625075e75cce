//! Notices that are due become one message for each recipient.

use searchwright_contract::{Instant, ids::UserId};
use searchwright_notices::{
    facts::NoticeFacts,
    kinds::{KindSet, NoticeKind, Wishes},
    render::{self, ProjectOfMessage, Section},
    timing::{COLLECT_MILLIS, MESSAGES_PER_DAY, day_begins},
};
use searchwright_site::checks;
use searchwright_store::{
    Error, Tx,
    access::ProjectScope,
    notices::{
        self, NoticeRecord, facts as stored,
        messages::{self, NewMessage},
        settings::{self, MailRecipient, NoticeSettings},
    },
};
use uuid::Uuid;

use super::{Notices, collect::facts_of};

/// Projects looked at in one turn.
const PROJECTS: u32 = 50;

/// A notice in words, with what decides who gets it.
struct ToldNotice {
    id: Uuid,
    kind: NoticeKind,
    has_posts: bool,
    section: Section,
}

impl ToldNotice {
    /// Returns whether somebody with these wishes gets it. Posts that a lost connection made fail are failures as well.
    fn is_wanted(&self, kinds: &KindSet) -> bool {
        kinds.has(self.kind)
            || (self.kind == NoticeKind::IntegrationLost
                && self.has_posts
                && kinds.has(NoticeKind::PublicationFailed))
    }
}

/// Returns stored settings as wishes.
pub(crate) fn wishes(settings: &NoticeSettings) -> Wishes {
    Wishes {
        kinds: KindSet::parse(&settings.kinds),
        digest: settings.digest,
        weekday: settings.weekday,
        hour: settings.hour,
    }
}

/// Returns the wishes of a member.
pub(super) fn wishes_of(recipient: &MailRecipient) -> Wishes {
    recipient
        .settings
        .as_ref()
        .map_or_else(|| Wishes::of_role(recipient.role), wishes)
}

/// Id of the message of a batch to a recipient: the same whoever makes it.
pub(super) fn message_id(batch: Uuid, user: Option<UserId>) -> Uuid {
    match user {
        Some(user) => Uuid::new_v5(&batch, user.uuid().as_bytes()),
        None => Uuid::new_v5(&batch, b"chat"),
    }
}

impl Notices {
    /// Tells what is due.
    pub(super) async fn tell_due(&self, now: Instant) -> Result<(), Error> {
        let projects = notices::list_due(&mut self.db().read().await?, now, PROJECTS).await?;
        for scope in projects {
            let told = self.tell_project(scope, now).await;
            if let Err(error) = told {
                tracing::warn!(%error, project = %scope.project(), "the notices of a project were not written");
            }
        }
        Ok(())
    }

    async fn tell_project(&self, scope: ProjectScope, now: Instant) -> Result<(), Error> {
        let project = self.project(&mut self.db().read().await?, scope).await?;
        let (batch, has_mail) = (self.clock().id(), self.has_mail());
        let links = self.links();
        self.db()
            .write(move |tx| {
                Box::pin(async move {
                    // What becomes due while this is collected is told with it: a burst is one message.
                    notices::lock_head(tx, scope).await?;
                    let until = now.plus_millis(COLLECT_MILLIS);
                    let taken = notices::take_due(tx, scope, batch, until, now).await?;
                    let told = in_words(tx, scope, taken, &project).await?;
                    let mut recipients = Vec::new();
                    if has_mail {
                        let members = settings::list_recipients(tx, scope).await?;
                        recipients.extend(
                            members
                                .iter()
                                .map(|member| (Some(member.user), wishes_of(member))),
                        );
                    }
                    let chat = settings::find_chat(tx, scope).await?;
                    let chat = chat.filter(|chat| chat.stopped_at.is_none());
                    recipients.extend(chat.map(|chat| (None, wishes(&chat.settings))));
                    for (user, wishes) in recipients {
                        let wanted: Vec<&ToldNotice> = told
                            .iter()
                            .filter(|notice| notice.is_wanted(&wishes.kinds))
                            .collect();
                        if wanted.is_empty() {
                            continue;
                        }
                        let since = day_begins(&project.zone, now);
                        let made = messages::count_since(tx, scope, user, since).await?;
                        if made > MESSAGES_PER_DAY {
                            continue;
                        }
                        let (purpose, subject, text) = if made == MESSAGES_PER_DAY {
                            let (subject, text) = render::last_of_day(&project, MESSAGES_PER_DAY);
                            ("last", subject, text)
                        } else {
                            let sections: Vec<Section> =
                                wanted.iter().map(|notice| notice.section.clone()).collect();
                            let subject = render::subject(&sections, &project);
                            ("notices", subject, render::text(&sections, &project))
                        };
                        let in_it = if purpose == "last" { &[][..] } else { &wanted[..] };
                        let new = NewMessage {
                            id: message_id(batch, user),
                            batch,
                            purpose,
                            user,
                            notices: in_it.iter().map(|notice| notice.id).collect(),
                            subject,
                            text: finished(text, scope, user, &project, &links),
                        };
                        messages::insert(tx, scope, new, now).await?;
                    }
                    Ok::<_, Error>(())
                })
            })
            .await
    }
}

/// Returns a text as its recipient gets it: a mail says how it is stopped, a chat has escapes.
pub(super) fn finished(
    text: String,
    scope: ProjectScope,
    user: Option<UserId>,
    project: &ProjectOfMessage,
    links: &dyn Fn(Uuid, UserId) -> String,
) -> String {
    match user {
        Some(user) => text + &render::foot(project, &links(scope.project(), user)),
        None => render::chat(&text),
    }
}

/// Puts notices into words, and stores these for the page.
async fn in_words(
    tx: &mut Tx,
    scope: ProjectScope,
    taken: Vec<NoticeRecord>,
    project: &ProjectOfMessage,
) -> Result<Vec<ToldNotice>, Error> {
    let mut told = Vec::with_capacity(taken.len());
    for notice in taken {
        let Some(kind) = NoticeKind::parse(&notice.kind) else {
            continue;
        };
        let mut facts = facts_of(&notice);
        name_issues(tx, scope, &mut facts).await?;
        let section = render::section(kind, notice.subject, &facts, project);
        let path = section.link.strip_prefix(&project.base).unwrap_or_default();
        notices::set_words(tx, scope, notice.id, &section.headline, path).await?;
        told.push(ToldNotice {
            id: notice.id,
            kind,
            has_posts: facts.post_count > 0,
            section,
        });
    }
    Ok(told)
}

/// Reads the titles, severities and numbers of the issues that an audit found.
async fn name_issues(tx: &mut Tx, scope: ProjectScope, facts: &mut NoticeFacts) -> Result<(), Error> {
    for issue in &mut facts.issues {
        let Some(found) = stored::find_issue(tx, scope, issue.id.into()).await? else {
            continue;
        };
        issue.title = checks::find(&found.check).map_or(found.check, |check| check.title.to_owned());
        issue.severity = Some(found.severity);
        issue.pages = found.active;
    }
    Ok(())
}
