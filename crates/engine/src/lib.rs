//! The service: a handler per operation, jobs, and the providers they talk to.
//!
//! Knows the contract, the store and the crawler; knows no HTTP server and no command line. The doors
//! call [`Engine::invoke`] with an endpoint of the table, a verified credential and arguments.

mod accounts;
pub mod admin;
pub mod audits;
mod autonomy;
pub mod autopilot;
mod brand;
pub mod call;
mod connect;
mod connections;
pub mod cursor;
mod denials;
pub mod endpoint;
pub mod jobs;
mod keyword_merge;
mod operations;
mod posts;
mod replays;
mod rules;
pub mod schedules;
mod starts;
pub mod webhooks;

use std::sync::{Arc, OnceLock};

use searchwright_contract::{
    Clock,
    ids::{ProjectId, UserId},
};
use searchwright_identity::verified_cache::VerifiedCache;
use searchwright_outbound::AllowOutbound;
use searchwright_store::{Db, access::ProjectAccess, seal::Keyring};
use tokio::sync::Notify;

pub use brand::language_tag;
pub use call::{Call, Credential};
pub use connect::{ConnectPage, Connected};
pub use endpoint::{Endpoint, Invocation, Reply};
pub use failure::{Failure, Result};
pub(crate) use searchwright_contract::wire_name;
pub use searchwright_failure as failure;
pub use searchwright_identity as identity;
pub use searchwright_identity::secrets;

/// Everything the handlers and the worker share. One per process.
#[derive(Debug)]
pub struct Engine {
    /// The database.
    pub db: Db,
    /// Time and ids.
    pub clock: Clock,
    /// The table, ready to be called.
    pub endpoints: Vec<Endpoint>,
    /// Wakes the worker of this process when there is something to do.
    pub wake: Arc<Notify>,
    /// Wakes the sender of webhooks of this process when something may have happened.
    pub happened: Arc<Notify>,
    /// Keys with which secrets are sealed.
    pub keyring: Arc<Keyring>,
    /// Private addresses that may be reached.
    pub allow: Vec<AllowOutbound>,
    /// Set by [`Engine::publish_with`] once the addresses of the listeners are known.
    publishing: OnceLock<searchwright_publishing::Settings>,
    /// Minutes from one manual audit of a project to the next; 0 for none.
    minutes_between_audits: u32,
    /// Ticks of the schedules in this process.
    pub(crate) ticks: schedules::TickLog,
    /// Projects that people reach, as they were read a moment ago.
    memberships: VerifiedCache<(UserId, ProjectId), Arc<ProjectAccess>>,
    /// Refused calls of connected programs, to be stored.
    pub denials: searchwright_identity::denials::DenialLog,
    cursors: cursor::Cursors,
    /// Places for the assessment of long texts.
    long_texts: posts::places::Places,
}

impl Engine {
    /// Prepares the endpoints and the secret that cursors are signed with.
    pub async fn new(
        db: Db,
        clock: Clock,
        keyring: Arc<Keyring>,
        allow: Vec<AllowOutbound>,
        minutes_between_audits: u32,
    ) -> Result<Arc<Self>> {
        let cursors = cursor::Cursors::load(&db).await?;
        Ok(Arc::new(Self {
            db,
            clock,
            endpoints: endpoint::all()?,
            wake: Arc::default(),
            happened: Arc::default(),
            keyring,
            allow,
            publishing: OnceLock::new(),
            minutes_between_audits,
            ticks: schedules::TickLog::default(),
            memberships: VerifiedCache::default(),
            denials: searchwright_identity::denials::DenialLog::default(),
            cursors,
            long_texts: posts::places::Places::default(),
        }))
    }

    /// Sets the settings for publishing. Only the first call has an effect.
    pub fn publish_with(&self, settings: searchwright_publishing::Settings) {
        let _ = self.publishing.set(settings);
    }

    /// Returns the accounts of projects at vendors, for estimates; workers have their own.
    pub(crate) fn accounts_at_vendors(&self) -> Result<accounts::Accounts> {
        let outbound = &self.publishing()?.outbound;
        Ok(accounts::Accounts::new(
            outbound,
            self.clock.clone(),
            self.keyring.clone(),
        ))
    }

    /// Returns the settings for publishing; an error before they are set.
    pub fn publishing(&self) -> Result<&searchwright_publishing::Settings> {
        let unset = || failure::defect("publishing", "the publishing settings are not set");
        self.publishing.get().ok_or_else(unset)
    }
}
