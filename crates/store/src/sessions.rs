//! Sessions of browsers, by the digest of the token in their cookie.

use searchwright_contract::{
    Instant,
    ids::{SessionId, UserId},
};

use crate::{Result, Tx, sql};

/// A session to be created.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Identifier.
    pub id: SessionId,
    /// Person who signed in.
    pub user: UserId,
    /// SHA-256 of the token.
    pub digest: [u8; 32],
    /// Network address of the browser.
    pub address: String,
    /// `User-Agent` of the browser, cut.
    pub user_agent: String,
    /// Time of the absolute end.
    pub expires_at: Instant,
}

/// A session with its person.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Identifier.
    pub id: SessionId,
    /// The person.
    pub user: UserId,
    /// Name of the person.
    pub user_name: String,
    /// Email address of the person.
    pub email: String,
    /// Last time at which the person proved who they are.
    pub authenticated_at: Instant,
    /// Last use, to the minute.
    pub last_seen_at: Instant,
}

/// Creates a session, whose person has just proved who they are.
pub async fn create(tx: &mut Tx, new: &NewSession, now: Instant) -> Result<()> {
    sql("INSERT INTO sessions (id, user_id, digest, address, user_agent, authenticated_at, last_seen_at, expires_at, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $6)")
    .bind(new.id)
    .bind(new.user)
    .bind(&new.digest)
    .bind(&new.address)
    .bind(&new.user_agent)
    .bind(now)
    .bind(new.expires_at)
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns a session that has neither ended nor been idle since `idle_since`, and whose person may sign in.
pub async fn find(
    tx: &mut Tx,
    digest: &[u8; 32],
    now: Instant,
    idle_since: Instant,
) -> Result<Option<Session>> {
    sql(
        "SELECT s.id, s.user_id, u.name, u.email, s.authenticated_at, s.last_seen_at
         FROM sessions s JOIN users u ON u.id = s.user_id
         WHERE s.digest = $1 AND s.expires_at > $2 AND s.last_seen_at > $3 AND u.disabled_at IS NULL",
    )
    .bind(digest)
    .bind(now)
    .bind(idle_since)
    .fetch_optional(tx, |c| {
        Ok(Session {
            id: c.take()?,
            user: c.take()?,
            user_name: c.take()?,
            email: c.take()?,
            authenticated_at: c.take()?,
            last_seen_at: c.take()?,
        })
    })
    .await
}

/// A session as its person sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionOfUser {
    /// Identifier.
    pub id: SessionId,
    /// Network address of the browser.
    pub address: String,
    /// `User-Agent` of the browser.
    pub user_agent: String,
    /// Beginning.
    pub created_at: Instant,
    /// Last use, to the minute.
    pub last_seen_at: Instant,
}

/// Returns whether a session has not ended by a person's choice or a change of the password.
pub async fn exists(tx: &mut Tx, id: SessionId) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM sessions WHERE id = $1)")
        .bind(id)
        .fetch_one(tx, |c| c.take())
        .await
}

/// Returns the sessions of a person that have neither ended nor been idle since `idle_since`, newest first.
pub async fn list_of_user(
    tx: &mut Tx,
    user: UserId,
    now: Instant,
    idle_since: Instant,
) -> Result<Vec<SessionOfUser>> {
    sql(
        "SELECT id, address, user_agent, created_at, last_seen_at FROM sessions
         WHERE user_id = $1 AND expires_at > $2 AND last_seen_at > $3 ORDER BY id DESC",
    )
    .bind(user)
    .bind(now)
    .bind(idle_since)
    .fetch_all(tx, |c| {
        Ok(SessionOfUser {
            id: c.take()?,
            address: c.take()?,
            user_agent: c.take()?,
            created_at: c.take()?,
            last_seen_at: c.take()?,
        })
    })
    .await
}

/// Records that the person of a session has proved again who they are.
pub async fn set_authenticated(tx: &mut Tx, id: SessionId, now: Instant) -> Result<()> {
    sql("UPDATE sessions SET authenticated_at = $2 WHERE id = $1")
        .bind(id)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Records the use of a session.
pub async fn touch(tx: &mut Tx, id: SessionId, now: Instant) -> Result<()> {
    sql("UPDATE sessions SET last_seen_at = $2 WHERE id = $1 AND last_seen_at < $2")
        .bind(id)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Ends a session.
pub async fn delete(tx: &mut Tx, digest: &[u8; 32]) -> Result<()> {
    sql("DELETE FROM sessions WHERE digest = $1")
        .bind(digest)
        .execute(tx)
        .await?;
    Ok(())
}

/// Ends a session of a person. Returns `false` if there is no such session any more.
pub async fn delete_of_user(tx: &mut Tx, user: UserId, id: SessionId) -> Result<bool> {
    let deleted = sql("DELETE FROM sessions WHERE user_id = $1 AND id = $2")
        .bind(user)
        .bind(id)
        .execute(tx)
        .await?;
    Ok(deleted > 0)
}

/// Ends the sessions of a person except `kept`.
pub async fn delete_others(tx: &mut Tx, user: UserId, kept: Option<SessionId>) -> Result<u64> {
    sql("DELETE FROM sessions WHERE user_id = $1 AND id <> $2")
        .bind(user)
        .bind(kept.unwrap_or(SessionId::MIN))
        .execute(tx)
        .await
}

/// Deletes sessions that ended or have been idle since `idle_since`.
pub async fn delete_expired(tx: &mut Tx, now: Instant, idle_since: Instant) -> Result<u64> {
    sql("DELETE FROM sessions WHERE expires_at <= $1 OR last_seen_at <= $2")
        .bind(now)
        .bind(idle_since)
        .execute(tx)
        .await
}
