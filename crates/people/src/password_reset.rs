//! A new password by a link in a mail. The link replaces the password only: where a second factor is set, its code is asked for
//! as well.

use searchwright_contract::{Code, Problem};
use searchwright_outbound::mail::Mail;
use searchwright_store::{
    Tx, account_activity, oauth_grants, second_factors, sessions as stored,
    sign_in::{self, LinkPurpose},
    users,
};

use super::{
    AccountEntry, Caller, passwords, second_factor,
    sessions::{self, SignIn},
    setup::link_used,
    throttle::{self, Subject},
};
use crate::People;
use searchwright_engine::secrets;
use searchwright_failure::Result;

/// Time for which a link works.
const RESET_MILLIS: i64 = 3_600_000;

/// A link to set a new password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasswordReset {
    /// Email address of the account.
    pub email: String,
    /// A code of the second factor is needed.
    pub needs_code: bool,
}

impl People {
    /// Counts a request for a link. Returns the seconds to wait if there were too many.
    pub async fn begin_password_reset(&self, email: &str, caller: &Caller) -> Result<Option<u32>> {
        let email = email.trim().to_lowercase();
        let subjects = [
            Subject::password_reset(&email),
            Subject::password_reset(&caller.address),
        ];
        let now = self.clock.now();
        self.db
            .write(move |tx| Box::pin(async move { throttle::begin(tx, &subjects, now).await }))
            .await
    }

    /// Mails a link to the person with this address, if there is one. To be run apart from the request: the time it takes would
    /// tell whether there is.
    pub async fn mail_password_reset(&self, email: &str, caller: &Caller) -> Result<()> {
        let email = email.trim().to_lowercase();
        let found = users::find_by_email(&mut self.db.read().await?, &email).await?;
        let Some(user) = found.filter(|user| user.disabled_at.is_none()) else {
            return Ok(());
        };
        let settings = self.accounts();
        let Some(mailer) = &settings.mailer else {
            return Ok(());
        };
        let token = self
            .create_link(LinkPurpose::ResetPassword, Some(user.id), RESET_MILLIS)
            .await?;
        let text = format!(
            "Hello {},\n\nsomebody, probably you, asked for a new password on {}.\nOpen this address within an hour to choose one:\n\n{}/login/reset/{token}\n\nIf it was not you, do nothing: your password stays as it is.\n",
            user.name, settings.origin, settings.origin
        );
        let mail = Mail {
            to: &user.email,
            subject: "Your new password for Searchwright",
            text: &text,
        };
        let sent = mailer.send(mail).await;
        let action = match &sent {
            Ok(()) => "password_reset.mailed",
            Err(_) => "password_reset.mail_failed",
        };
        let entry = AccountEntry::new(action, Some(user.id), &caller.address);
        let entry = self.account_activity(entry, self.clock.now());
        self.db
            .write(move |tx| Box::pin(async move { account_activity::insert(tx, entry).await }))
            .await?;
        sent.map_err(|e| Problem::new(Code::ProviderError, e.to_string()).into())
    }

    /// Returns for whom a link sets a new password.
    pub async fn find_password_reset(&self, link: &str) -> Result<Option<PasswordReset>> {
        let Some(user) = self.user_of(link, LinkPurpose::ResetPassword).await? else {
            return Ok(None);
        };
        Ok(Some(PasswordReset {
            needs_code: second_factors::has_totp(&mut self.db.read().await?, user.id).await?,
            email: user.email,
        }))
    }

    /// Sets the password of the person of a link, and signs them in. Their sessions end, and applications have to be connected
    /// again: whoever knew the former password keeps nothing.
    pub async fn reset_password(
        &self,
        link: &str,
        password: String,
        code: &str,
        caller: Caller,
    ) -> Result<SignIn> {
        let user = self.user_of(link, LinkPurpose::ResetPassword).await?;
        let user = user.ok_or_else(link_used)?;
        passwords::check(&password, &[&user.name, &user.email, "searchwright"])?;
        let now = self.clock.now();
        let (account, address) = (Subject::account(&user.email), Subject::address(&caller.address));
        let blocked = self
            .db
            .write(move |tx| Box::pin(async move { throttle::begin(tx, &[account, address], now).await }))
            .await?;
        if let Some(seconds) = blocked {
            return Ok(SignIn::Blocked { seconds });
        }
        let hash = self.passwords.hash(password).await?;
        let opened = self.new_session(user.id, &caller, "new password", now)?;
        let entry = |action, detail| {
            let entry = AccountEntry::new(action, Some(user.id), &caller.address).with_detail(detail);
            self.account_activity(entry, now)
        };
        let (changed, failed) = (
            entry("password.set", "link by mail"),
            entry("sign_in.failed", "code"),
        );
        let (token, digest) = (opened.token.clone(), secrets::digest(link));
        let (user, code, keyring) = (user.id, code.to_owned(), self.keyring.clone());
        let work = async move |tx: &mut Tx| {
            users::find_for_update(tx, user).await?;
            if second_factors::has_totp(tx, user).await?
                && !second_factor::accept(tx, &keyring, user, &code, now).await?
            {
                account_activity::insert(tx, failed).await?;
                return Ok::<_, searchwright_failure::Failure>(false);
            }
            if !sign_in::use_link(tx, &digest).await? {
                // Used by another request meanwhile: rolled back, so that the code is not used up for nothing.
                return Err(link_used().into());
            }
            users::set_password(tx, user, &hash, now).await?;
            sign_in::delete_links_of_user(tx, user).await?;
            stored::delete_others(tx, user, None).await?;
            second_factors::delete_pending_of_user(tx, user).await?;
            oauth_grants::revoke_of_user(tx, user, "the password was changed", now).await?;
            throttle::succeed(tx, account, address, now).await?;
            account_activity::insert(tx, changed).await?;
            sessions::open(tx, opened, None, now).await?;
            Ok(true)
        };
        let is_done = self.db.write(move |tx| Box::pin(work(tx))).await?;
        self.db.credentials_changed().await?;
        Ok(if is_done {
            SignIn::Done(token)
        } else {
            SignIn::Wrong
        })
    }
}
