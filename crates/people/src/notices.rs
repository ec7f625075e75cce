//! Notices of a project, as a member chooses his own mail, and as who manages the project sets its chat.

use searchwright_contract::{
    Problem,
    ids::{ProjectId, UserId},
};
use searchwright_failure::{Failure, Result, fault};
use searchwright_store::{
    Error, access,
    notices::{
        self,
        settings::{self, NewChatUrl, NoticeSettings},
    },
};

use crate::{People, managed::changed_meanwhile};

/// Change of the chat of a project.
#[derive(Debug)]
pub enum ChatChange {
    /// Sets what it is sent, and its URL if that is new.
    Set(Option<NewChatUrl>, NoticeSettings),
    /// Removes it with its URL.
    Remove,
}

impl People {
    /// Sets what a member is mailed of a project, over the version that he saw.
    pub async fn choose_mail(
        &self,
        user: UserId,
        project: ProjectId,
        set: NoticeSettings,
        seen: Option<i64>,
    ) -> Result<()> {
        let now = self.clock.now();
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    let access = access::find_project_of_user(tx, user, project).await?;
                    let scope = access.ok_or_else(|| Problem::not_found("project"))?.scope();
                    if settings::save(tx, scope, user, &set, seen, now).await? {
                        Ok::<_, Failure>(())
                    } else {
                        Err(changed_meanwhile())
                    }
                })
            })
            .await
    }

    /// Changes the chat of a project over the version that was seen, as a person who manages the project.
    pub async fn change_chat(
        &self,
        user: UserId,
        project: ProjectId,
        change: ChatChange,
        seen: Option<i64>,
    ) -> Result<()> {
        let (now, keyring) = (self.clock.now(), self.keyring.clone());
        self.change_managed(user, project, move |tx, scope| {
            Box::pin(async move {
                // Messages to the chat are written under the same lock.
                notices::lock_head(tx, scope).await?;
                let known = settings::find_chat(tx, scope).await?;
                let version = known.map_or(0, |chat| chat.settings.version);
                if seen.is_some_and(|seen| seen != version) {
                    return Err(changed_meanwhile());
                }
                let verb = match change {
                    ChatChange::Set(Some(new), set) => {
                        settings::set_chat(tx, scope, &keyring, new, &set, now).await?;
                        "notices.chat"
                    }
                    ChatChange::Set(None, set) => {
                        settings::change_chat(tx, scope, &set, now)
                            .await
                            .map_err(|error| match error {
                                Error::Missing => {
                                    fault("", "missing", "enter the address of the chat's incoming webhook")
                                }
                                other => other.into(),
                            })?;
                        "notices.chat"
                    }
                    ChatChange::Remove => {
                        settings::remove_chat(tx, scope).await?;
                        "notices.remove_chat"
                    }
                };
                Ok(((), Some((verb, "chat".to_owned()))))
            })
        })
        .await
    }
}
