//! Links that let a person in once, and failed attempts to sign in.

use searchwright_contract::{Instant, ids::UserId};

use crate::{Cells, Result, Tx, sql};

/// Purpose of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPurpose {
    /// Set up the first account.
    SetUp,
    /// Sign in without a password.
    SignIn,
    /// Set a new password.
    ResetPassword,
}

impl LinkPurpose {
    const fn as_str(self) -> &'static str {
        match self {
            Self::SetUp => "set_up",
            Self::SignIn => "sign_in",
            Self::ResetPassword => "reset_password",
        }
    }
}

impl std::str::FromStr for LinkPurpose {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::SetUp, Self::SignIn, Self::ResetPassword]
            .into_iter()
            .find(|purpose| purpose.as_str() == text)
            .ok_or_else(|| format!("{text} is no purpose of a link"))
    }
}

/// A link that lets a person in once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignInLink {
    /// Purpose.
    pub purpose: LinkPurpose,
    /// The person; `None` for the setup of the first account.
    pub user: Option<UserId>,
}

/// Creates a link by the digest of its token, and deletes earlier ones of the same person for the same purpose.
pub async fn create_link(
    tx: &mut Tx,
    digest: &[u8; 32],
    link: SignInLink,
    now: Instant,
    expires_at: Instant,
) -> Result<()> {
    let earlier = match link.user {
        Some(user) => sql("DELETE FROM sign_in_links WHERE user_id = $1 AND purpose = $2")
            .bind(user)
            .bind(link.purpose.as_str()),
        None => sql("DELETE FROM sign_in_links WHERE user_id IS NULL"),
    };
    earlier.execute(tx).await?;
    sql("INSERT INTO sign_in_links (digest, purpose, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)")
        .bind(digest)
        .bind(link.purpose.as_str())
        .bind(link.user)
        .bind(now)
        .bind(expires_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Returns a link that is still valid.
pub async fn find_link(tx: &mut Tx, digest: &[u8; 32], now: Instant) -> Result<Option<SignInLink>> {
    sql("SELECT purpose, user_id FROM sign_in_links WHERE digest = $1 AND expires_at > $2")
        .bind(digest)
        .bind(now)
        .fetch_optional(tx, |c| {
            Ok(SignInLink {
                purpose: c.parse()?,
                user: c.take()?,
            })
        })
        .await
}

/// Deletes the links of a person: a new password ends them.
pub async fn delete_links_of_user(tx: &mut Tx, user: UserId) -> Result<()> {
    sql("DELETE FROM sign_in_links WHERE user_id = $1")
        .bind(user)
        .execute(tx)
        .await?;
    Ok(())
}

/// Deletes a link. Returns `false` if it was used before.
pub async fn use_link(tx: &mut Tx, digest: &[u8; 32]) -> Result<bool> {
    let deleted = sql("DELETE FROM sign_in_links WHERE digest = $1")
        .bind(digest)
        .execute(tx)
        .await?;
    Ok(deleted > 0)
}

/// Deletes the links of the setup.
pub async fn delete_setup_links(tx: &mut Tx) -> Result<()> {
    sql("DELETE FROM sign_in_links WHERE user_id IS NULL")
        .execute(tx)
        .await?;
    Ok(())
}

/// Deletes expired links and attempts older than `forgotten_before`.
pub async fn delete_expired(tx: &mut Tx, now: Instant, forgotten_before: Instant) -> Result<()> {
    sql("DELETE FROM sign_in_links WHERE expires_at <= $1")
        .bind(now)
        .execute(tx)
        .await?;
    sql("DELETE FROM sign_in_attempts WHERE last_at <= $1")
        .bind(forgotten_before)
        .execute(tx)
        .await?;
    Ok(())
}

/// Failed attempts of an account or an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempts {
    /// Number of failures in a row.
    pub failures: u32,
    /// Time of the last one.
    pub last_at: Instant,
}

fn read_attempts(c: &mut Cells<'_>) -> Result<Attempts> {
    Ok(Attempts {
        failures: c.take::<i64>()?.try_into().unwrap_or(u32::MAX),
        last_at: c.take()?,
    })
}

/// Returns the failed attempts of a subject.
pub async fn find_attempts(tx: &mut Tx, subject: &[u8; 32]) -> Result<Option<Attempts>> {
    sql("SELECT failures, last_at FROM sign_in_attempts WHERE subject = $1")
        .bind(subject)
        .fetch_optional(tx, read_attempts)
        .await
}

/// Returns the failed attempts of a subject, none at `now` for a new one. Other transactions that ask for them wait until this one
/// ends, for those of a new subject too.
pub async fn lock_attempts(tx: &mut Tx, subject: &[u8; 32], now: Instant) -> Result<Attempts> {
    sql(
        "INSERT INTO sign_in_attempts (subject, failures, last_at) VALUES ($1, 0, $2)
         ON CONFLICT (subject) DO UPDATE SET failures = sign_in_attempts.failures RETURNING failures, last_at",
    )
    .bind(subject)
    .bind(now)
    .fetch_one(tx, read_attempts)
    .await
}

/// Sets the failed attempts of a subject.
pub async fn set_attempts(tx: &mut Tx, subject: &[u8; 32], attempts: Attempts) -> Result<()> {
    sql(
        "INSERT INTO sign_in_attempts (subject, failures, last_at) VALUES ($1, $2, $3)
         ON CONFLICT (subject) DO UPDATE SET failures = $2, last_at = $3",
    )
    .bind(subject)
    .bind(attempts.failures)
    .bind(attempts.last_at)
    .execute(tx)
    .await?;
    Ok(())
}

/// Forgets the failed attempts of a subject.
pub async fn clear_attempts(tx: &mut Tx, subject: &[u8; 32]) -> Result<()> {
    sql("DELETE FROM sign_in_attempts WHERE subject = $1")
        .bind(subject)
        .execute(tx)
        .await?;
    Ok(())
}
