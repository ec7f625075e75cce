//! Links that work once: to set up the first account, and to sign in without a password.

use searchwright_contract::{Code, Problem, ids::UserId, people::Role};
use searchwright_store::{
    Error, Tx, account_activity, invitations, passkeys, second_factors,
    sign_in::{self, LinkPurpose, SignInLink},
    users::{self, User},
    workspaces,
};

use super::{
    AccountEntry, Caller, check_email, passwords,
    sessions::{self, IDLE_MILLIS},
};
use crate::{People, operator::NewUser};
use searchwright_engine::{
    admin::check_name,
    secrets::{self, SecretKind},
};
use searchwright_failure::Result;

/// Time for which a link to set up the first account works.
const SETUP_MILLIS: i64 = 24 * 3_600_000;
/// Time for which a link to sign in works.
const SIGN_IN_MILLIS: i64 = 24 * 3_600_000;
/// Address of the owner of a trial.
const TRIAL_EMAIL: &str = "owner@localhost";

impl People {
    /// Creates a link to set up the first account and returns its token; `None` if there is an account.
    pub async fn create_setup_link(&self) -> Result<Option<String>> {
        if users::exist(&mut self.db.read().await?).await? {
            return Ok(None);
        }
        self.create_link(LinkPurpose::SetUp, None, SETUP_MILLIS)
            .await
            .map(Some)
    }

    /// Creates a link that lets the owner of a trial in once, and returns its token. The owner is created with the first one.
    pub async fn sign_in_link_of_owner(&self) -> Result<String> {
        let known = users::find_by_email(&mut self.db.read().await?, TRIAL_EMAIL).await?;
        let user = match known {
            Some(user) => user.id,
            None => {
                let new = NewUser {
                    email: TRIAL_EMAIL.to_owned(),
                    name: "Owner".to_owned(),
                    password: None,
                    role: Some(Role::Owner),
                    workspace: None,
                };
                self.create_user(new).await?.id
            }
        };
        self.create_sign_in_link(user).await
    }

    /// Creates a link that lets a person in once, and returns its token.
    pub async fn create_sign_in_link(&self, user: UserId) -> Result<String> {
        self.create_link(LinkPurpose::SignIn, Some(user), SIGN_IN_MILLIS)
            .await
    }

    pub(super) async fn create_link(
        &self,
        purpose: LinkPurpose,
        user: Option<UserId>,
        lifetime: i64,
    ) -> Result<String> {
        let (now, token) = (self.clock.now(), secrets::generate(SecretKind::Link)?);
        let digest = secrets::digest(&token);
        let link = SignInLink { purpose, user };
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    sign_in::create_link(tx, &digest, link, now, now.plus_millis(lifetime)).await
                })
            })
            .await?;
        Ok(token)
    }

    /// Returns whether a setup link is valid.
    pub async fn is_setup_link(&self, token: &str) -> Result<bool> {
        let link = self.find_link(token).await?;
        Ok(link.is_some_and(|link| link.purpose == LinkPurpose::SetUp))
    }

    /// Returns the person whom a link lets in.
    pub async fn user_of_link(&self, token: &str) -> Result<Option<User>> {
        self.user_of(token, LinkPurpose::SignIn).await
    }

    /// Returns the person for whom a link was made for this purpose.
    pub(super) async fn user_of(&self, token: &str, purpose: LinkPurpose) -> Result<Option<User>> {
        let link = self.find_link(token).await?;
        let link = link.filter(|link| link.purpose == purpose);
        match link.and_then(|link| link.user) {
            Some(user) => Ok(users::find(&mut self.db.read().await?, user)
                .await?
                .filter(|user| user.disabled_at.is_none())),
            None => Ok(None),
        }
    }

    async fn find_link(&self, token: &str) -> Result<Option<SignInLink>> {
        if !secrets::is_well_formed(SecretKind::Link, token) {
            return Ok(None);
        }
        let (digest, now) = (secrets::digest(token), self.clock.now());
        Ok(sign_in::find_link(&mut self.db.read().await?, &digest, now).await?)
    }

    /// Creates the first account, an owner of the first workspace, and signs it in. Returns the token for the cookie.
    pub async fn set_up(
        &self,
        link: &str,
        name: &str,
        email: &str,
        password: String,
        caller: Caller,
    ) -> Result<String> {
        let (name, email) = (check_name(name, 100)?, check_email(email)?);
        passwords::check(&password, &[&name, &email, "searchwright"])?;
        let hash = self.passwords.hash(password).await?;
        let now = self.clock.now();
        let user = User {
            id: self.clock.id(),
            email,
            name,
            password: Some(hash),
            disabled_at: None,
        };
        let opened = self.new_session(user.id, &caller, "setup", now)?;
        let entry = AccountEntry::new("user.created", Some(user.id), &caller.address).with_detail("setup");
        let entry = self.account_activity(entry, now);
        let (token, digest, workspace) = (opened.token.clone(), secrets::digest(link), self.clock.id());
        let work = async move |tx: &mut Tx| {
            // Whoever deletes the link sets up: of two at once, one.
            if !sign_in::use_link(tx, &digest).await? || users::exist(tx).await? {
                return Err(link_used().into());
            }
            users::create(tx, &user, now).await?;
            let workspace = workspaces::find_or_create_first(tx, workspace, now).await?;
            workspaces::set_member(tx, workspace, user.id, Role::Owner, now).await?;
            sign_in::delete_setup_links(tx).await?;
            account_activity::insert(tx, entry).await?;
            sessions::open(tx, opened, None, now).await
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(token)
    }

    /// Signs in the person of a link, which works once. Returns the token for the cookie.
    pub async fn sign_in_by_link(&self, link: &str, caller: Caller, former: Option<&str>) -> Result<String> {
        let user = self.user_of_link(link).await?.ok_or_else(link_used)?;
        let now = self.clock.now();
        let opened = self.new_session(user.id, &caller, "link", now)?;
        let (token, digest, former) = (
            opened.token.clone(),
            secrets::digest(link),
            former.map(secrets::digest),
        );
        let work = async move |tx: &mut Tx| {
            users::find_for_update(tx, user.id).await?;
            if !sign_in::use_link(tx, &digest).await? {
                return Err(link_used().into());
            }
            sessions::open(tx, opened, former, now).await
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(token)
    }

    /// Deletes expired sessions, links, challenges and invitations, and failures to sign in that no longer count.
    pub async fn delete_expired_sign_ins(&self) -> Result<()> {
        let now = self.clock.now();
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    let idle_since = now.plus_millis(-IDLE_MILLIS);
                    searchwright_store::sessions::delete_expired(tx, now, idle_since).await?;
                    sign_in::delete_expired(tx, now, idle_since).await?;
                    second_factors::delete_expired(tx, now).await?;
                    passkeys::delete_expired(tx, now).await?;
                    invitations::delete_expired(tx, now).await?;
                    account_activity::delete_expired(tx, now).await.map(drop)
                })
            })
            .await
            .map_err(|e: Error| e.into())
    }
}

pub(super) fn link_used() -> Problem {
    Problem::new(
        Code::InvalidState,
        "this link is no longer valid: it was used, or its time is over",
    )
    .hint("ask for a new link")
}
