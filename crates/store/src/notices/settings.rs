//! What members and the chat of a project are sent.

use searchwright_contract::{
    Instant,
    ids::{ProjectId, UserId},
    people::Role,
};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

use crate::{
    Cells, Error, Result, Tx,
    access::ProjectScope,
    seal::{Keyring, SealContext},
    sql,
};

/// Settings of a member or of a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeSettings {
    /// Kinds, separated by spaces.
    pub kinds: String,
    /// Whether the digest is sent.
    pub digest: bool,
    /// Weekday of the digest, 0 for Sunday.
    pub weekday: u8,
    /// Hour of the digest in the time zone of the project.
    pub hour: u8,
    /// Number of changes; 0 before the first.
    pub version: i64,
    /// Time of the last change.
    pub updated_at: Instant,
}

fn read_settings(c: &mut Cells<'_>) -> Result<NoticeSettings> {
    Ok(NoticeSettings {
        kinds: c.take()?,
        digest: c.take()?,
        weekday: c.take::<i64>()? as u8,
        hour: c.take::<i64>()? as u8,
        version: c.take()?,
        updated_at: c.take()?,
    })
}

/// A member of a project who may be sent mail.
#[derive(Clone, Debug)]
pub struct MailRecipient {
    /// Project.
    pub scope: ProjectScope,
    /// Time zone of the project.
    pub timezone: String,
    /// Id of the person.
    pub user: UserId,
    /// Role.
    pub role: Role,
    /// Time since which the person is a member.
    pub since: Instant,
    /// Settings; `None` if the person has chosen nothing.
    pub settings: Option<NoticeSettings>,
}

fn read_recipient(c: &mut Cells<'_>) -> Result<MailRecipient> {
    Ok(MailRecipient {
        scope: ProjectScope::from_row(c.take()?),
        timezone: c.take()?,
        user: c.take()?,
        role: c.parse()?,
        since: c.take()?,
        settings: match c.take::<Option<String>>()? {
            None => None,
            Some(kinds) => Some(NoticeSettings {
                kinds,
                digest: c.take()?,
                weekday: c.take::<i64>()? as u8,
                hour: c.take::<i64>()? as u8,
                version: c.take()?,
                updated_at: c.take()?,
            }),
        },
    })
}

macro_rules! recipients {
    ($rest:literal) => {
        concat!(
            "SELECT p.id, p.timezone, m.user_id, m.role, m.created_at, s.kinds, s.digest, s.weekday, s.hour, s.version, s.updated_at
             FROM projects p JOIN memberships m ON m.workspace_id = p.workspace_id JOIN users u ON u.id = m.user_id
             LEFT JOIN notice_settings s ON s.project_id = p.id AND s.user_id = m.user_id
             WHERE u.disabled_at IS NULL AND ",
            $rest
        )
    };
}

/// Returns the members of a project who can sign in.
pub async fn list_recipients(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<MailRecipient>> {
    sql(recipients!("p.id = $1 ORDER BY m.user_id"))
        .bind(scope.project())
        .fetch_all(tx, read_recipient)
        .await
}

/// Returns at most `limit` members of all projects whose digest may be due after a place: those who chose one, and those who
/// have chosen nothing and manage.
pub async fn list_readers(tx: &mut Tx, after: (ProjectId, UserId), limit: u32) -> Result<Vec<MailRecipient>> {
    let (project, user) = after;
    sql(recipients!(
        "(s.digest OR (s.user_id IS NULL AND m.role IN ('owner', 'admin'))) AND (p.id, m.user_id) > ($1, $2)
         ORDER BY p.id, m.user_id LIMIT $3"
    ))
    .bind(project)
    .bind(user)
    .bind(limit)
    .fetch_all(tx, read_recipient)
    .await
}

/// Returns the settings of a person; `None` if they have chosen nothing.
pub async fn find(tx: &mut Tx, scope: ProjectScope, user: UserId) -> Result<Option<NoticeSettings>> {
    sql("SELECT kinds, digest, weekday, hour, version, updated_at FROM notice_settings WHERE project_id = $1 AND user_id = $2")
        .bind(scope.project())
        .bind(user)
        .fetch_optional(tx, read_settings)
        .await
}

/// Sets what a person is sent, if nobody changed it since the version that was seen; `false` if somebody did. The version in
/// `set` is not read.
pub async fn save(
    tx: &mut Tx,
    scope: ProjectScope,
    user: UserId,
    set: &NoticeSettings,
    seen: Option<i64>,
    now: Instant,
) -> Result<bool> {
    let written = sql(
        "INSERT INTO notice_settings (project_id, user_id, kinds, digest, weekday, hour, version, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, 1, $7)
         ON CONFLICT (project_id, user_id) DO UPDATE SET kinds = $3, digest = $4, weekday = $5, hour = $6,
           version = notice_settings.version + 1, updated_at = $7
         WHERE CAST($8 AS BIGINT) IS NULL OR notice_settings.version = $8",
    )
    .bind(scope.project())
    .bind(user)
    .bind(&set.kinds)
    .bind(set.digest)
    .bind(set.weekday)
    .bind(set.hour)
    .bind(now)
    .bind(seen)
    .execute(tx)
    .await?;
    Ok(written > 0)
}

/// Turns everything off that a member is sent of a project, by a link that needs no sign-in. `false` if the person is no member.
pub async fn unsubscribe(tx: &mut Tx, project: ProjectId, user: UserId, now: Instant) -> Result<bool> {
    let written = sql(
        "INSERT INTO notice_settings (project_id, user_id, kinds, digest, weekday, hour, version, updated_at)
         SELECT p.id, m.user_id, '', FALSE, 1, 8, 1, $3 FROM projects p JOIN memberships m ON m.workspace_id = p.workspace_id
         WHERE p.id = $1 AND m.user_id = $2
         ON CONFLICT (project_id, user_id) DO UPDATE SET kinds = '', digest = FALSE, version = notice_settings.version + 1, updated_at = $3",
    )
    .bind(project)
    .bind(user)
    .bind(now)
    .execute(tx)
    .await?;
    sql("UPDATE notice_messages SET status = 'failed', next_at = NULL, reason = 'You stopped the mail of this project.'
         WHERE project_id = $1 AND channel = 'mail' AND user_id = $2 AND next_at IS NOT NULL")
    .bind(project)
    .bind(user)
    .execute(tx)
    .await?;
    Ok(written > 0)
}

/// Returns whether a member is sent nothing of a project any more, and nothing waits to be sent.
pub async fn is_unsubscribed(tx: &mut Tx, project: ProjectId, user: UserId) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM notice_settings WHERE project_id = $1 AND user_id = $2 AND kinds = '' AND NOT digest)
           AND NOT EXISTS (SELECT 1 FROM notice_messages
                           WHERE project_id = $1 AND channel = 'mail' AND user_id = $2 AND next_at IS NOT NULL)")
    .bind(project)
    .bind(user)
    .fetch_one(tx, |c| c.take())
    .await
}

/// Returns the name of a project to who holds a link of a member.
pub async fn find_project_name(tx: &mut Tx, project: ProjectId, user: UserId) -> Result<Option<String>> {
    sql("SELECT p.name FROM projects p JOIN memberships m ON m.workspace_id = p.workspace_id WHERE p.id = $1 AND m.user_id = $2")
        .bind(project)
        .bind(user)
        .fetch_optional(tx, |c| c.take())
        .await
}

/// The chat of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeChat {
    /// Host and last characters of its URL.
    pub shown: String,
    /// What it is sent.
    pub settings: NoticeSettings,
    /// Reason for which it is sent nothing more.
    pub stopped_because: Option<String>,
    /// Time since then.
    pub stopped_at: Option<Instant>,
}

const CHAT: &str =
    "SELECT shown, kinds, digest, weekday, hour, version, updated_at, stopped_because, stopped_at
     FROM notice_chats WHERE project_id = $1";

fn read_chat(c: &mut Cells<'_>) -> Result<NoticeChat> {
    Ok(NoticeChat {
        shown: c.take()?,
        settings: read_settings(c)?,
        stopped_because: c.take()?,
        stopped_at: c.take()?,
    })
}

/// Returns the chat of a project.
pub async fn find_chat(tx: &mut Tx, scope: ProjectScope) -> Result<Option<NoticeChat>> {
    sql(CHAT)
        .bind(scope.project())
        .fetch_optional(tx, read_chat)
        .await
}

/// A chat that gets a digest, with its project.
#[derive(Clone, Debug)]
pub struct ChatReader {
    /// Project.
    pub scope: ProjectScope,
    /// Time zone of the project.
    pub timezone: String,
    /// What it is sent.
    pub settings: NoticeSettings,
}

/// Returns at most `limit` chats that get a digest, of projects after one.
pub async fn list_chat_readers(tx: &mut Tx, after: ProjectId, limit: u32) -> Result<Vec<ChatReader>> {
    sql(
        "SELECT p.id, p.timezone, c.kinds, c.digest, c.weekday, c.hour, c.version, c.updated_at
         FROM notice_chats c JOIN projects p ON p.id = c.project_id
         WHERE c.digest AND c.stopped_at IS NULL AND p.id > $1 ORDER BY p.id LIMIT $2",
    )
    .bind(after)
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(ChatReader {
            scope: ProjectScope::from_row(c.take()?),
            timezone: c.take()?,
            settings: read_settings(c)?,
        })
    })
    .await
}

/// URL of a chat, to be stored.
#[derive(Clone, Debug)]
pub struct NewChatUrl {
    /// Id of the row it is sealed for.
    pub id: Uuid,
    /// The URL.
    pub url: SecretString,
    /// Part of it that is shown.
    pub shown: String,
}

fn seal_context(scope: ProjectScope, row: Uuid) -> SealContext<'static> {
    SealContext {
        table: "notice_chats",
        column: "url",
        row,
        project: scope.project(),
    }
}

/// Sets the chat of a project with a new URL. A chat that was stopped goes on.
pub async fn set_chat(
    tx: &mut Tx,
    scope: ProjectScope,
    keyring: &Keyring,
    new: NewChatUrl,
    set: &NoticeSettings,
    now: Instant,
) -> Result<()> {
    let sealed = keyring.seal(seal_context(scope, new.id), new.url.expose_secret().as_bytes())?;
    sql("INSERT INTO notice_chats (project_id, id, url, shown, kinds, digest, weekday, hour, version, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $9)
         ON CONFLICT (project_id) DO UPDATE SET id = $2, url = $3, shown = $4, kinds = $5, digest = $6, weekday = $7, hour = $8,
           stopped_at = NULL, stopped_because = NULL, version = notice_chats.version + 1, updated_at = $9")
    .bind(scope.project())
    .bind(new.id)
    .bind(sealed)
    .bind(new.shown)
    .bind(&set.kinds)
    .bind(set.digest)
    .bind(set.weekday)
    .bind(set.hour)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}

/// Sets what the chat of a project is sent, and lets it go on if it was stopped; [`Error::Missing`] if there is none.
pub async fn change_chat(tx: &mut Tx, scope: ProjectScope, set: &NoticeSettings, now: Instant) -> Result<()> {
    let changed = sql(
        "UPDATE notice_chats SET kinds = $2, digest = $3, weekday = $4, hour = $5, stopped_at = NULL, stopped_because = NULL,
           version = version + 1, updated_at = $6 WHERE project_id = $1",
    )
    .bind(scope.project())
    .bind(&set.kinds)
    .bind(set.digest)
    .bind(set.weekday)
    .bind(set.hour)
    .bind(now)
    .execute(tx)
    .await?;
    if changed == 0 { Err(Error::Missing) } else { Ok(()) }
}

/// Removes the chat of a project with its URL, and what was to be sent to it; `false` if there is none.
pub async fn remove_chat(tx: &mut Tx, scope: ProjectScope) -> Result<bool> {
    let removed = sql("DELETE FROM notice_chats WHERE project_id = $1")
        .bind(scope.project())
        .execute(tx)
        .await?;
    give_up_chat(tx, scope, "The chat was removed.").await?;
    Ok(removed > 0)
}

/// Stops the chat of a project, and gives up what was to be sent to it, unless it has another URL meanwhile.
pub async fn stop_chat(tx: &mut Tx, scope: ProjectScope, id: Uuid, reason: &str, now: Instant) -> Result<()> {
    let stopped = sql(
        "UPDATE notice_chats SET stopped_at = $3, stopped_because = $4, version = version + 1
         WHERE project_id = $1 AND id = $2 AND stopped_at IS NULL",
    )
    .bind(scope.project())
    .bind(id)
    .bind(now)
    .bind(reason)
    .execute(tx)
    .await?;
    if stopped > 0 {
        give_up_chat(tx, scope, reason).await?;
    }
    Ok(())
}

async fn give_up_chat(tx: &mut Tx, scope: ProjectScope, reason: &str) -> Result<()> {
    sql(
        "UPDATE notice_messages SET status = 'failed', next_at = NULL, reason = $2
         WHERE project_id = $1 AND channel = 'chat' AND next_at IS NOT NULL",
    )
    .bind(scope.project())
    .bind(reason)
    .execute(tx)
    .await?;
    Ok(())
}

/// URL of a chat, opened.
#[derive(Clone, Debug)]
pub struct ChatUrl {
    /// Id of the row: another URL has another.
    pub id: Uuid,
    /// The URL.
    pub url: SecretString,
}

/// Returns the URL of the chat of a project; `None` if there is none or it is stopped.
pub async fn find_chat_url(tx: &mut Tx, scope: ProjectScope, keyring: &Keyring) -> Result<Option<ChatUrl>> {
    let row: Option<(Uuid, Vec<u8>)> =
        sql("SELECT id, url FROM notice_chats WHERE project_id = $1 AND stopped_at IS NULL")
            .bind(scope.project())
            .fetch_optional(tx, |c| Ok((c.take()?, c.take()?)))
            .await?;
    let Some((id, sealed)) = row else { return Ok(None) };
    let url = keyring.open_text(seal_context(scope, id), &sealed)?;
    Ok(Some(ChatUrl { id, url }))
}
