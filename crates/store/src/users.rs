//! People who sign in.

use searchwright_contract::{Instant, ids::UserId};

use crate::{Result, Tx, sql};

/// A person.
#[derive(Clone, PartialEq)]
pub struct User {
    /// Identifier.
    pub id: UserId,
    /// Email address, in lower case.
    pub email: String,
    /// Name.
    pub name: String,
    /// Argon2id in the PHC string format; `None` before a password is set.
    pub password: Option<String>,
    /// Time from which the person may not sign in.
    pub disabled_at: Option<Instant>,
}

impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "User({}, {})", self.id, self.email)
    }
}

/// Creates a person; [`Error::Duplicate`](crate::Error::Duplicate) if the address is taken.
pub async fn create(tx: &mut Tx, user: &User, now: Instant) -> Result<()> {
    sql("INSERT INTO users (id, email, name, password, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $5)")
        .bind(user.id)
        .bind(&user.email)
        .bind(&user.name)
        .bind(user.password.clone())
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

const SELECT_BY_ID: &str = "SELECT id, email, name, password, disabled_at FROM users WHERE id = $1";
const SELECT_BY_EMAIL: &str = "SELECT id, email, name, password, disabled_at FROM users WHERE email = $1";

fn user(c: &mut crate::Cells<'_>) -> Result<User> {
    Ok(User {
        id: c.take()?,
        email: c.take()?,
        name: c.take()?,
        password: c.take()?,
        disabled_at: c.take()?,
    })
}

/// Returns a person by id.
pub async fn find(tx: &mut Tx, id: UserId) -> Result<Option<User>> {
    sql(SELECT_BY_ID).bind(id).fetch_optional(tx, user).await
}

/// Returns a person by id. Other transactions that lock or change them wait until this one ends.
pub async fn find_for_update(tx: &mut Tx, id: UserId) -> Result<Option<User>> {
    tx.lock_row("SELECT 1 FROM users WHERE id = $1 FOR NO KEY UPDATE", id)
        .await?;
    find(tx, id).await
}

/// Returns a person by email address, which is in lower case.
pub async fn find_by_email(tx: &mut Tx, email: &str) -> Result<Option<User>> {
    sql(SELECT_BY_EMAIL).bind(email).fetch_optional(tx, user).await
}

/// Returns whether there is any person.
pub async fn exist(tx: &mut Tx) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM users)")
        .fetch_one(tx, |c| c.take())
        .await
}

/// Sets the password hash of a person.
pub async fn set_password(tx: &mut Tx, id: UserId, password: &str, now: Instant) -> Result<()> {
    sql("UPDATE users SET password = $2, updated_at = $3 WHERE id = $1")
        .bind(id)
        .bind(password)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Sets the name of a person.
pub async fn set_name(tx: &mut Tx, id: UserId, name: &str, now: Instant) -> Result<()> {
    sql("UPDATE users SET name = $2, updated_at = $3 WHERE id = $1")
        .bind(id)
        .bind(name)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Sets the time from which a person may not sign in; `None` lets them in again.
pub async fn set_disabled(tx: &mut Tx, id: UserId, disabled_at: Option<Instant>, now: Instant) -> Result<()> {
    sql("UPDATE users SET disabled_at = $2, updated_at = $3 WHERE id = $1")
        .bind(id)
        .bind(disabled_at)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}
