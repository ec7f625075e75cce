//! Notices: events are read and collected, told in one message for each recipient, and sent by mail and to a chat.
//!
//! Any number of processes do it side by side. Events are read by their position, under a lock of the project; what is told is
//! stored before it is sent; a message is leased, and one that was not recorded as sent is sent again with the same `Message-ID`.

mod backups;
pub(crate) mod chat_url;
mod collect;
mod compose;
mod sending;
mod weekly;

pub(crate) use compose::wishes;

use std::{sync::Arc, time::Duration};

use searchwright_contract::{Clock, Instant};
use searchwright_engine::Engine;
use searchwright_notices::{render::ProjectOfMessage, unsubscribe::UnsubscribeKey};
use searchwright_outbound::{Guarded, Purpose, mail::Mailer};
use searchwright_store::{Db, Error, Tx, access::ProjectScope, admin, projects};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::{Settings, open::OpenError};

/// Interval at which it is looked for events, for notices that are due and for messages.
const POLL: Duration = Duration::from_secs(1);
/// Milliseconds between two looks for digests and for what no event tells.
const LOOK_MILLIS: u64 = 60_000;
/// Name of the key of the links that stop mail.
const KEY: &str = "notice_key";

/// Reads, tells and sends notices.
pub struct Notices {
    engine: Arc<Engine>,
    mailer: Option<Mailer>,
    chat: Guarded,
    key: UnsubscribeKey,
    origin: String,
}

impl std::fmt::Debug for Notices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Notices")
    }
}

/// Returns the key of the links that stop mail, the same on every replica.
async fn load_key(db: &Db) -> Result<UnsubscribeKey, Error> {
    let known = admin::get_meta(&mut db.read().await?, KEY).await?;
    let stored = match known {
        Some(known) => known,
        None => {
            let mut fresh = vec![0; 32];
            getrandom::fill(&mut fresh).map_err(|_| Error::Seal("no randomness is available"))?;
            db.write(move |tx| Box::pin(async move { admin::insert_meta(tx, KEY, fresh).await }))
                .await?
        }
    };
    let bytes = stored
        .try_into()
        .map_err(|_| Error::Seal("the key of notices is not 32 bytes"))?;
    Ok(UnsubscribeKey::new(bytes))
}

impl Notices {
    /// Prepares the notices of an installation, whose settings for publishing are set.
    pub(crate) async fn open(settings: &Settings, engine: Arc<Engine>) -> Result<Self, OpenError> {
        Ok(Self {
            mailer: settings.mailer()?,
            chat: engine.publishing()?.outbound.for_purpose(Purpose::Webhook),
            key: load_key(&engine.db).await?,
            origin: settings.public_url.clone(),
            engine,
        })
    }

    /// Whether an SMTP server is set.
    pub(crate) const fn has_mail(&self) -> bool {
        self.mailer.is_some()
    }

    /// Key of the links that stop mail.
    pub(crate) const fn key(&self) -> &UnsubscribeKey {
        &self.key
    }

    fn db(&self) -> &Db {
        &self.engine.db
    }

    fn clock(&self) -> &Clock {
        &self.engine.clock
    }

    /// Works until `stop`, then waits for messages under way.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        tokio::join!(self.read_and_tell(&stop), self.send(&stop));
    }

    async fn read_and_tell(&self, stop: &CancellationToken) {
        let mut tick = tokio::time::interval(POLL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut looked: Option<Instant> = None;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = tick.tick() => {}
            }
            self.turn(&mut looked).await;
        }
    }

    /// Reads what happened and writes the messages that are due; with what is looked for once a minute if that was not looked for
    /// since. One part that fails does not keep the others from their work.
    pub async fn turn(&self, looked: &mut Option<Instant>) {
        let now = self.clock().now();
        if let Err(error) = self.collect(now).await {
            tracing::warn!(%error, "reading events for notices failed; trying again");
        }
        if let Err(error) = self.tell_due(now).await {
            tracing::warn!(%error, "writing notices failed; trying again");
        }
        if looked.is_some_and(|at| now.millis().abs_diff(at.millis()) < LOOK_MILLIS) {
            return;
        }
        *looked = Some(now);
        if let Err(error) = self.look_for_uncertain(now).await {
            tracing::warn!(%error, "looking for uncertain publications failed; trying again in a minute");
        }
        if let Err(error) = self.write_digests(now).await {
            tracing::warn!(%error, "writing digests failed; trying again in a minute");
        }
    }

    async fn send(&self, stop: &CancellationToken) {
        let mut tick = tokio::time::interval(POLL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = tick.tick() => {}
            }
            if let Err(error) = self.send_due().await {
                tracing::warn!(%error, "sending notices failed; trying again");
            }
        }
    }

    /// Project of a message.
    async fn project(&self, tx: &mut Tx, scope: ProjectScope) -> Result<ProjectOfMessage, Error> {
        let project = projects::get(tx, scope).await?;
        Ok(ProjectOfMessage {
            base: format!("{}/projects/{}", self.origin, project.id),
            name: project.name,
            domain: project.domain,
            zone: project.timezone,
        })
    }
}
