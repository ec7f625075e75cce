//! Sessions of browsers: signing in with a password, and signing out.

use searchwright_contract::{Instant, ids::UserId};
use searchwright_store::{
    Tx, account_activity,
    sessions::{self, NewSession, Session},
    users,
};

use super::{
    AccountEntry, Caller,
    throttle::{self, Subject},
};
use crate::{
    Engine,
    failure::Result,
    secrets::{self, SecretKind},
};

/// Time after which a session without use ends.
pub const IDLE_MILLIS: i64 = 24 * 3_600_000;
/// Time after which a session ends.
const LIFETIME_MILLIS: i64 = 30 * 24 * 3_600_000;
/// Precision of the last use of a session.
const TOUCH_MILLIS: i64 = 60_000;
/// Characters of `User-Agent` that are stored.
const MAX_USER_AGENT: usize = 200;

/// Outcome of an attempt to sign in.
#[derive(Debug)]
pub enum SignIn {
    /// Signed in: the token for the cookie.
    Done(String),
    /// Unknown address, wrong password, or disabled: not told apart.
    Wrong,
    /// Too many failures.
    Blocked {
        /// Seconds to wait.
        seconds: u32,
    },
}

impl Engine {
    /// Signs a person in with a password. A session that the browser had ends.
    pub async fn sign_in(
        &self,
        email: &str,
        password: String,
        caller: Caller,
        former: Option<&str>,
    ) -> Result<SignIn> {
        let now = self.clock.now();
        let email = email.trim().to_lowercase();
        let (account, address) = (Subject::account(&email), Subject::address(&caller.address));
        let blocked = self
            .db
            .write(move |tx| Box::pin(async move { throttle::begin(tx, &[account, address], now).await }))
            .await?;
        if let Some(seconds) = blocked {
            return Ok(SignIn::Blocked { seconds });
        }
        let found = users::find_by_email(&mut self.db.read().await?, &email).await?;
        let stored = found.as_ref().and_then(|user| user.password.clone());
        let matches = self.passwords.verify(password, stored).await?;
        let user = found.as_ref().map(|user| user.id);
        if !matches || found.is_none_or(|user| user.disabled_at.is_some()) {
            let entry = self.account_activity(
                AccountEntry {
                    action: "sign_in.failed",
                    user,
                    client: None,
                    address: &caller.address,
                    detail: None,
                },
                now,
            );
            self.db
                .write(move |tx| Box::pin(async move { account_activity::insert(tx, entry).await }))
                .await?;
            return Ok(SignIn::Wrong);
        }
        let Some(user) = user else {
            return Ok(SignIn::Wrong);
        };
        let opened = self.new_session(user, &caller, "password", now)?;
        let (token, former) = (opened.token.clone(), former.map(secrets::digest));
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    throttle::succeed(tx, account, address).await?;
                    open(tx, opened, former, now).await
                })
            })
            .await?;
        Ok(SignIn::Done(token))
    }

    /// Prepares a session; it is stored by [`open`].
    pub(super) fn new_session(
        &self,
        user: UserId,
        caller: &Caller,
        by: &str,
        now: Instant,
    ) -> Result<NewSignIn> {
        let token = secrets::generate(SecretKind::Session)?;
        let entry = AccountEntry {
            action: "session.created",
            user: Some(user),
            client: None,
            address: &caller.address,
            detail: Some(by),
        };
        Ok(NewSignIn {
            session: NewSession {
                id: self.clock.id(),
                user,
                digest: secrets::digest(&token),
                address: caller.address.clone(),
                user_agent: caller.user_agent.chars().take(MAX_USER_AGENT).collect(),
                expires_at: now.plus_millis(LIFETIME_MILLIS),
            },
            entry: self.account_activity(entry, now),
            token,
        })
    }

    /// Returns the session of a cookie, and records its use.
    pub async fn session(&self, token: &str) -> Result<Option<Session>> {
        if !secrets::is_well_formed(SecretKind::Session, token) {
            return Ok(None);
        }
        let now = self.clock.now();
        let idle_since = now.plus_millis(-IDLE_MILLIS);
        let digest = secrets::digest(token);
        let found = sessions::find(&mut self.db.read().await?, &digest, now, idle_since).await?;
        if let Some(session) = &found
            && now.millis() - session.last_seen_at.millis() >= TOUCH_MILLIS
        {
            let id = session.id;
            self.db
                .write(move |tx| Box::pin(async move { sessions::touch(tx, id, now).await }))
                .await?;
        }
        Ok(found)
    }

    /// Ends the session of a cookie.
    pub async fn sign_out(&self, token: &str, session: &Session, caller: &Caller) -> Result<()> {
        let now = self.clock.now();
        let entry = AccountEntry {
            action: "session.ended",
            user: Some(session.user),
            client: None,
            address: &caller.address,
            detail: None,
        };
        let (digest, entry) = (secrets::digest(token), self.account_activity(entry, now));
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    sessions::delete(tx, &digest).await?;
                    account_activity::insert(tx, entry).await
                })
            })
            .await?;
        Ok(())
    }
}

/// A session to be stored with its entry in the log, and the token for its cookie.
pub(super) struct NewSignIn {
    pub session: NewSession,
    pub entry: account_activity::AccountActivity,
    pub token: String,
}

/// Stores a session, and ends the one that the browser had.
pub(super) async fn open(tx: &mut Tx, new: NewSignIn, former: Option<[u8; 32]>, now: Instant) -> Result<()> {
    if let Some(former) = former {
        sessions::delete(tx, &former).await?;
    }
    sessions::create(tx, &new.session, now).await?;
    account_activity::insert(tx, new.entry).await?;
    Ok(())
}
