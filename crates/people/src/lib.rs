//! People, and the programs that they connect: passwords, sessions, invitations, and this server as an OAuth authorization server.
//! The rules are in the crate `identity`; here they become transactions.

pub mod account;
pub mod autonomy;
mod checks;
mod denials;
pub mod keys;
mod managed;
pub mod members;
pub mod notices;
pub mod oauth;
pub mod operator;
pub mod operator_clients;
pub mod passkeys;
pub mod password_reset;
pub mod passwords;
pub mod projects;
pub mod second_factor;
pub mod sessions;
pub mod setup;
pub mod shares;
mod throttle;
pub mod vendors;
pub mod visits;

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use searchwright_contract::{
    Instant,
    ids::{ActivityId, UserId},
};
use searchwright_engine::Engine;
use searchwright_failure::{Result, fault};
use searchwright_identity::{connections::ConnectionLog, oauth::client_metadata::ClientPolicy};
use searchwright_outbound::mail::Mailer;
use searchwright_store::account_activity::AccountActivity;

use crate::passwords::Passwords;

/// Operations on people and their programs. One per process.
#[derive(Debug)]
pub struct People {
    engine: Arc<Engine>,
    /// Set by [`People::set_accounts`].
    accounts: OnceLock<AccountSettings>,
    /// Hashes passwords.
    passwords: Passwords,
    /// Steps of programs that connect, to be stored.
    pub connections: ConnectionLog,
}

impl People {
    /// Creates them for an engine.
    pub fn new(engine: Arc<Engine>) -> Result<Arc<Self>> {
        Ok(Arc::new(Self {
            engine,
            accounts: OnceLock::new(),
            passwords: Passwords::new()?,
            connections: ConnectionLog::default(),
        }))
    }

    /// Sets the settings for accounts. Only the first call has an effect; without one, no mail is sent.
    pub fn set_accounts(&self, settings: AccountSettings) {
        let _ = self.accounts.set(settings);
    }

    /// Returns the settings for accounts.
    pub fn accounts(&self) -> &AccountSettings {
        self.accounts.get_or_init(AccountSettings::default)
    }
}

/// Database, clock and keys are those of the engine.
impl Deref for People {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

/// Returns an email address in lower case; a fault unless it has the form of one.
pub(crate) fn check_email(email: &str) -> Result<String> {
    let email = email.trim().to_lowercase();
    let is_address = email.len() <= 254
        && !email.contains(|c: char| c.is_whitespace() || c.is_control())
        && email
            .split_once('@')
            .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'));
    if is_address {
        Ok(email)
    } else {
        Err(fault("/email", "not_an_email_address", "is not an email address"))
    }
}

/// Settings for accounts and for the programs that they connect.
#[derive(Debug, Default)]
pub struct AccountSettings {
    /// Clients that are accepted.
    pub clients: ClientPolicy,
    /// Sends links by mail; `None` without an SMTP server.
    pub mailer: Option<Mailer>,
    /// Origin of the pages, for links in mail.
    pub origin: String,
}

/// Network address and program of a person's browser, or of a client.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// Network address; of IPv6 the network of the subscriber.
    pub address: String,
    /// `User-Agent`.
    pub user_agent: String,
}

/// An entry of the log of accounts, to be written.
#[derive(Clone, Copy)]
pub(crate) struct AccountEntry<'a> {
    pub action: &'static str,
    pub user: Option<UserId>,
    pub client: Option<&'a str>,
    pub address: &'a str,
    pub detail: Option<&'a str>,
}

impl<'a> AccountEntry<'a> {
    pub(crate) const fn new(action: &'static str, user: Option<UserId>, address: &'a str) -> Self {
        Self {
            action,
            user,
            client: None,
            address,
            detail: None,
        }
    }

    pub(crate) const fn with_detail(self, detail: &'a str) -> Self {
        Self {
            detail: Some(detail),
            ..self
        }
    }
}

impl People {
    pub(crate) fn account_activity(&self, entry: AccountEntry<'_>, now: Instant) -> AccountActivity {
        AccountActivity {
            id: self.clock.id::<ActivityId>(),
            action: entry.action.to_owned(),
            user: entry.user,
            client: entry.client.map(str::to_owned),
            address: Some(entry.address.to_owned()).filter(|address| !address.is_empty()),
            detail: entry.detail.map(str::to_owned),
            created_at: now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check_email;

    #[test]
    fn email_addresses() {
        assert_eq!(check_email(" Ann@Example.com ").unwrap(), "ann@example.com");
        for bad in [
            "",
            "ann",
            "@example.com",
            "ann@",
            "a@b@c",
            "a b@c",
            "ann@exa\nmple.com",
        ] {
            assert!(check_email(bad).is_err(), "{bad:?}");
        }
    }
}
