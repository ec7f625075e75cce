//! Sessions of browsers: signing in with a password and the code of a second factor, and signing out.

use searchwright_contract::{
    Code, Instant, Problem,
    ids::{SessionId, UserId},
};
use searchwright_store::{
    Tx, account_activity, second_factors,
    sessions::{self, NewSession, Session},
    users,
};

use super::{
    AccountEntry, Caller, second_factor,
    throttle::{self, Subject},
};
use crate::People;
use searchwright_engine::secrets::{self, SecretKind};
use searchwright_failure::Result;

/// Time after which a session without use ends.
pub const IDLE_MILLIS: i64 = 24 * 3_600_000;
/// Time after which a session ends.
const LIFETIME_MILLIS: i64 = 30 * 24 * 3_600_000;
/// Time in which the code of the second factor has to be entered.
const PENDING_MILLIS: i64 = 10 * 60_000;
/// Time for which a sign-in counts as recent.
const RECENT_MILLIS: i64 = 15 * 60_000;
/// Precision of the last use of a session.
const TOUCH_MILLIS: i64 = 60_000;
/// Characters of `User-Agent` that are stored.
const MAX_USER_AGENT: usize = 200;

/// Outcome of an attempt to sign in.
#[derive(Debug)]
pub enum SignIn {
    /// Signed in: the token for the cookie.
    Done(String),
    /// The password is right, and the code of the second factor is missing: the token of the sign-in that waits for it.
    NeedsCode(String),
    /// Unknown address, wrong password, wrong code, or disabled: not told apart.
    Wrong,
    /// The code came too late.
    Late,
    /// Too many failures.
    Blocked {
        /// Seconds to wait.
        seconds: u32,
    },
}

impl People {
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
        let Some(user) = found.filter(|user| matches && user.disabled_at.is_none()) else {
            let entry = AccountEntry {
                action: "sign_in.failed",
                user,
                client: None,
                address: &caller.address,
                detail: None,
            };
            let entry = self.account_activity(entry, now);
            self.db
                .write(move |tx| Box::pin(async move { account_activity::insert(tx, entry).await }))
                .await?;
            return Ok(SignIn::Wrong);
        };
        let opened = self.new_session(user.id, &caller, "password", now)?;
        let (waiting, former) = (
            secrets::generate(SecretKind::PendingSignIn)?,
            former.map(secrets::digest),
        );
        let work = async move |tx: &mut Tx| {
            // The password that was verified may have been changed meanwhile.
            let current = users::find_for_update(tx, user.id).await?;
            if current
                .is_none_or(|current| current.password != user.password || current.disabled_at.is_some())
            {
                return Ok::<_, searchwright_failure::Failure>(SignIn::Wrong);
            }
            if second_factors::has_totp(tx, user.id).await? {
                // Its failures stay: a known password must not give further guesses at the code.
                throttle::take_back(tx, &[account, address], now).await?;
                let (digest, expires_at) = (secrets::digest(&waiting), now.plus_millis(PENDING_MILLIS));
                second_factors::create_pending(tx, &digest, user.id, expires_at).await?;
                return Ok(SignIn::NeedsCode(waiting));
            }
            let token = opened.token.clone();
            throttle::succeed(tx, account, address, now).await?;
            open(tx, opened, former, now).await?;
            Ok(SignIn::Done(token))
        };
        self.db.write(move |tx| Box::pin(work(tx))).await
    }

    /// Completes a sign-in with a code of the second factor, or a recovery code.
    pub async fn enter_code(
        &self,
        pending: &str,
        code: &str,
        caller: Caller,
        former: Option<&str>,
    ) -> Result<SignIn> {
        if !secrets::is_well_formed(SecretKind::PendingSignIn, pending) {
            return Ok(SignIn::Late);
        }
        let (now, pending) = (self.clock.now(), secrets::digest(pending));
        let mut tx = self.db.read().await?;
        let Some(user) = second_factors::find_pending(&mut tx, &pending, now).await? else {
            return Ok(SignIn::Late);
        };
        let Some(user) = users::find(&mut tx, user)
            .await?
            .filter(|user| user.disabled_at.is_none())
        else {
            return Ok(SignIn::Late);
        };
        drop(tx);
        let (account, address) = (Subject::account(&user.email), Subject::address(&caller.address));
        let blocked = self
            .db
            .write(move |tx| Box::pin(async move { throttle::begin(tx, &[account, address], now).await }))
            .await?;
        if let Some(seconds) = blocked {
            return Ok(SignIn::Blocked { seconds });
        }
        let opened = self.new_session(user.id, &caller, "password and code", now)?;
        let failure = AccountEntry::new("sign_in.failed", Some(user.id), &caller.address).with_detail("code");
        let failure = self.account_activity(failure, now);
        let (token, code, keyring) = (opened.token.clone(), code.to_owned(), self.keyring.clone());
        let former = former.map(secrets::digest);
        let work = async move |tx: &mut Tx| {
            users::find_for_update(tx, user.id).await?;
            if !second_factor::accept(tx, &keyring, user.id, &code, now).await? {
                account_activity::insert(tx, failure).await?;
                return Ok::<_, searchwright_failure::Failure>(false);
            }
            if !second_factors::use_pending(tx, &pending).await? {
                // Completed by another request meanwhile: rolled back, so that the code is not used up for nothing.
                return Err(Problem::new(Code::InvalidState, "this sign-in was completed before").into());
            }
            throttle::succeed(tx, account, address, now).await?;
            open(tx, opened, former, now).await?;
            Ok(true)
        };
        let is_done = self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(if is_done {
            SignIn::Done(token)
        } else {
            SignIn::Wrong
        })
    }

    /// Returns the session if its person proved recently who they are.
    pub fn recent(&self, session: &Session) -> Option<RecentSession> {
        let age = self.clock.now().millis() - session.authenticated_at.millis();
        (age < RECENT_MILLIS).then_some(RecentSession {
            id: session.id,
            user: session.user,
        })
    }

    /// Ends another session of a person. Returns `false` if there is no such session.
    pub async fn end_session(&self, user: UserId, id: SessionId, caller: &Caller) -> Result<bool> {
        let now = self.clock.now();
        let entry = AccountEntry::new("session.ended", Some(user), &caller.address)
            .with_detail("from another session");
        let entry = self.account_activity(entry, now);
        let work = async move |tx: &mut Tx| {
            let is_ended = sessions::delete_of_user(tx, user, id).await?;
            if is_ended {
                account_activity::insert(tx, entry).await?;
            }
            Ok::<_, searchwright_store::Error>(is_ended)
        };
        Ok(self.db.write(move |tx| Box::pin(work(tx))).await?)
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
        let entry = AccountEntry::new("session.created", Some(user), &caller.address).with_detail(by);
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
        let entry = AccountEntry::new("session.ended", Some(session.user), &caller.address);
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

/// A session whose person proved within the last 15 minutes who they are. Privileged actions need one.
#[derive(Clone, Copy, Debug)]
pub struct RecentSession {
    pub(super) id: SessionId,
    pub(super) user: UserId,
}

/// A session to be stored with its entry in the log, and the token for its cookie.
pub(super) struct NewSignIn {
    pub session: NewSession,
    pub entry: account_activity::AccountActivity,
    pub token: String,
}

/// Stores a session, and ends the one that the browser had.
pub(super) async fn open(tx: &mut Tx, new: NewSignIn, former: Option<[u8; 32]>, now: Instant) -> Result<()> {
    // Whoever changes the password or disables the account ends its sessions: this one too, or it comes after that.
    let user = users::find_for_update(tx, new.session.user).await?;
    if user.is_none_or(|user| user.disabled_at.is_some()) {
        return Err(Problem::new(Code::InvalidState, "this account may not sign in").into());
    }
    if let Some(former) = former {
        sessions::delete(tx, &former).await?;
    }
    sessions::create(tx, &new.session, now).await?;
    account_activity::insert(tx, new.entry).await?;
    Ok(())
}
