//! Sends due deliveries. A webhook is leased as a whole; its deliveries go out four at a time, and their outcomes are written
//! while the next ones are sent: all that ended during one commit are in the next.
//!
//! A process that dies sends again what it had not yet recorded, with the same `webhook-id`.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use http::{Request, StatusCode, header};
use searchwright_contract::{
    Instant,
    activity::CredentialKind,
    webhooks::{Attempt, DeliveryError, DisabledReason},
};
use searchwright_outbound::{Guarded, Outbound, Purpose, retry_after, webhook_signature::signatures};
use searchwright_site::fetch::{FetchError, Fetched};
use searchwright_store::{
    activity::{self, NewActivity},
    deliveries::{
        message_id,
        queue::{self, DeliveryOutcome, DueDelivery, LeasedWebhook},
    },
    webhooks,
};
use searchwright_text::hash;
use secrecy::SecretString;
use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinSet,
    time::MissedTickBehavior,
};
use tokio_util::sync::CancellationToken;

use super::schedule::{FailedAttempt, is_given_up, wait};
use crate::{Engine, failure::Result};

/// Interval at which it polls for deliveries; wake-ups only shorten it.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Concurrent requests in total.
const MAX_CONCURRENT: usize = 64;
/// Concurrent requests to one webhook.
const MAX_EACH: usize = 4;
/// Webhooks that are served at once.
const WEBHOOKS: usize = 64;
/// Deliveries read at a time.
const DELIVERIES_PER_READ: u32 = 128;
/// Deliveries after which a webhook lets others have its turn.
const TURN: usize = 4_096;
/// Milliseconds of an attempt after which others have their turn as well.
const SLOW_MILLIS: u32 = 1_000;
/// Outcomes written in one transaction.
const WRITTEN: usize = 256;
/// Bytes of an answer that are read.
const ANSWER: usize = 16 << 10;
/// Bytes of an answer that are kept.
const KEPT: usize = 2 << 10;

/// Sends events to webhooks until it is told to stop. Any number of them run side by side.
#[derive(Clone)]
pub struct Sender {
    engine: Arc<Engine>,
    client: Guarded,
    user_agent: String,
    room: Arc<Semaphore>,
}

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sender")
    }
}

impl Sender {
    /// A sender that calls itself so.
    pub fn new(engine: Arc<Engine>, outbound: &Outbound, user_agent: String) -> Self {
        Self {
            engine,
            client: outbound.for_purpose(Purpose::Webhook),
            user_agent,
            room: Arc::new(Semaphore::new(MAX_CONCURRENT)),
        }
    }

    /// Sends until `stop`, then waits for the running requests.
    pub async fn run(self, stop: CancellationToken) {
        let mut serving = JoinSet::new();
        let mut tick = tokio::time::interval(POLL_INTERVAL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.engine.happened.notified() => {}
                _ = tick.tick() => {}
                Some(_) = serving.join_next(), if !serving.is_empty() => {}
            }
            if let Err(error) = self.take(&mut serving, &stop).await {
                tracing::warn!(%error, "looking for deliveries failed; trying again");
            }
        }
        while serving.join_next().await.is_some() {}
    }

    async fn take(
        &self,
        serving: &mut JoinSet<()>,
        stop: &CancellationToken,
    ) -> Result<(), searchwright_store::Error> {
        while serving.try_join_next().is_some() {}
        let now = self.engine.clock.now();
        let room = WEBHOOKS.saturating_sub(serving.len()) as u32;
        let at = self.engine.db.lease_time(&self.engine.clock).await?;
        if room == 0 || !queue::has_due(&mut self.engine.db.read().await?, now, at).await? {
            return Ok(());
        }
        let leased = self
            .engine
            .db
            .write(move |tx| Box::pin(async move { queue::lease(tx, now, at, room).await }))
            .await?;
        for endpoint in leased {
            let (sender, stop) = (self.clone(), stop.child_token());
            serving.spawn(async move {
                let id = endpoint.id;
                if let Err(error) = sender.serve(endpoint, stop).await {
                    tracing::warn!(%error, webhook = %id, "sending stopped; its lease runs out and it goes on");
                }
            });
        }
        Ok(())
    }

    /// Sends the due deliveries of one webhook.
    async fn serve(
        &self,
        endpoint: LeasedWebhook,
        stop: CancellationToken,
    ) -> Result<(), searchwright_store::Error> {
        let (done, ended) = mpsc::channel(WRITTEN);
        let recording = async {
            let recorded = self.record_all(&endpoint, ended, &stop).await;
            // What nobody records would be sent again: nothing more goes out.
            stop.cancel();
            recorded
        };
        let serving = async { tokio::join!(self.send_all(&endpoint, &stop, done), recording) };
        let (sent, recorded) = tokio::select! {
            served = serving => served,
            never = self.keep_lease(&endpoint, &stop) => match never {},
        };
        // Where something is wrong with the store the lease runs out, which is time for it to recover.
        recorded?;
        sent?;
        self.engine
            .db
            .write(move |tx| Box::pin(async move { queue::release(tx, &endpoint).await }))
            .await
    }

    /// Renews the lease while the webhook is served. Where that fails, nothing more is sent: another process may have it.
    async fn keep_lease(
        &self,
        endpoint: &LeasedWebhook,
        stop: &CancellationToken,
    ) -> std::convert::Infallible {
        let mut tick = tokio::time::interval(Duration::from_millis(queue::RENEW_MILLIS));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // the first tick is at once
        tick.tick().await;
        loop {
            tick.tick().await;
            let renewed = async {
                let at = self.engine.db.lease_time(&self.engine.clock).await?;
                let owned = endpoint.clone();
                let db = &self.engine.db;
                db.write(move |tx| Box::pin(async move { queue::renew(tx, &owned, at).await }))
                    .await
            };
            match renewed.await {
                Ok(true) => {}
                Ok(false) => stop.cancel(),
                Err(error) => {
                    tracing::warn!(%error, webhook = %endpoint.id, "lease not renewed; sending stops");
                    stop.cancel();
                }
            }
        }
    }

    async fn send_all(
        &self,
        endpoint: &LeasedWebhook,
        stop: &CancellationToken,
        done: mpsc::Sender<DeliveryOutcome>,
    ) -> Result<(), searchwright_store::Error> {
        // One that answers slowly or not at all takes no more than one place from the others.
        let width = if endpoint.failing_since.is_some() {
            1
        } else {
            MAX_EACH
        };
        let (mut page, mut after, mut count) = (VecDeque::new(), None, 0);
        let mut secrets: Arc<[SecretString]> = Arc::default();
        let mut under_way = FuturesUnordered::new();
        loop {
            if page.is_empty() && count < TURN && !stop.is_cancelled() {
                let now = self.engine.clock.now();
                let mut tx = self.engine.db.read().await?;
                let due = queue::list_due(&mut tx, endpoint, after, now, DELIVERIES_PER_READ).await?;
                // Anew for each page: one that came or ended since the last signs, or does not, what happened after that.
                let keyring = &self.engine.keyring;
                secrets = webhooks::list_secrets(&mut tx, endpoint.scope, keyring, endpoint.id, now)
                    .await?
                    .into();
                after = due.last().map(|last| (last.next_at, last.id)).or(after);
                count = if due.is_empty() { TURN } else { count + due.len() };
                page.extend(due);
            }
            while under_way.len() < width
                && !stop.is_cancelled()
                && let Some(due) = page.pop_front()
            {
                under_way.push(self.send_one(endpoint, secrets.clone(), due, &done));
            }
            match under_way.next().await {
                Some(sent) => sent?,
                None => return Ok(()),
            }
        }
    }

    async fn send_one(
        &self,
        endpoint: &LeasedWebhook,
        secrets: Arc<[SecretString]>,
        due: DueDelivery,
        done: &mpsc::Sender<DeliveryOutcome>,
    ) -> Result<(), searchwright_store::Error> {
        let Ok(_turn) = self.room.acquire().await else {
            return Ok(());
        };
        let outcome = self.attempt(endpoint, &secrets, due).await?;
        // Refused only by a recorder that has failed, which stops the sending.
        let _ = done.send(outcome).await;
        Ok(())
    }

    async fn record_all(
        &self,
        endpoint: &LeasedWebhook,
        mut ended: mpsc::Receiver<DeliveryOutcome>,
        stop: &CancellationToken,
    ) -> Result<(), searchwright_store::Error> {
        let mut outcomes = Vec::new();
        while ended.recv_many(&mut outcomes, WRITTEN).await > 0 {
            let outcomes = std::mem::take(&mut outcomes);
            let gone = |o: &DeliveryOutcome| o.attempt.status_code == Some(StatusCode::GONE.as_u16());
            let is_gone = outcomes.iter().any(gone);
            // Those that are slow take turns, so that any number of them leaves room for the others.
            let is_slow = outcomes.iter().any(|o| o.attempt.duration_ms >= SLOW_MILLIS);
            let (owned, now, entry) = (endpoint.clone(), self.engine.clock.now(), self.engine.clock.id());
            let goes_on = self
                .engine
                .db
                .write(move |tx| {
                    Box::pin(async move {
                        let Some(failing) = queue::record_outcomes(tx, &owned, outcomes, now).await? else {
                            return Ok::<_, searchwright_store::Error>(false);
                        };
                        let reason = match () {
                            () if is_gone => DisabledReason::Gone,
                            () if is_given_up(failing, now) => DisabledReason::FailedTooLong,
                            () => return Ok(!is_slow),
                        };
                        if queue::disable(tx, &owned, reason, now).await? {
                            let (id, action) = (owned.id.to_string(), "webhooks.disable");
                            let entry =
                                NewActivity::without_credential(entry, action, id, CredentialKind::Server);
                            activity::insert(tx, owned.scope, entry, now).await?;
                        }
                        Ok(false)
                    })
                })
                .await?;
            if !goes_on {
                stop.cancel();
            }
        }
        Ok(())
    }

    async fn attempt(
        &self,
        endpoint: &LeasedWebhook,
        secrets: &[SecretString],
        due: DueDelivery,
    ) -> Result<DeliveryOutcome, searchwright_store::Error> {
        let at = self.engine.clock.now();
        let (id, seconds) = (message_id(due.id), at.millis().div_euclid(1_000));
        let signature =
            signatures(secrets, &id, seconds, &due.body).map_err(searchwright_store::Error::Seal)?;
        let request = Request::post(&endpoint.target_url)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::USER_AGENT, &self.user_agent)
            .header("webhook-id", id)
            .header("webhook-timestamp", seconds)
            .header("webhook-signature", signature)
            .body(Bytes::copy_from_slice(due.body.as_bytes()));
        let began = tokio::time::Instant::now();
        let answer = match request {
            Ok(request) => self.client.send(request, ANSWER).await,
            Err(_) => Err(FetchError::Denied),
        };
        let took = began.elapsed();
        let (attempt, failure) = read(&answer, at, took);
        let tries = due.tries + 1;
        let retried = attempt.error.is_some() && !due.is_test;
        let wait = if retried {
            // by chance, and the same whenever it is asked for
            wait(tries, failure, hash(format!("{}.{tries}", due.id).as_bytes()))
        } else {
            None
        };
        let next_at = wait.map(|wait| self.engine.clock.now().plus_millis(wait.as_millis() as i64));
        Ok(DeliveryOutcome {
            due,
            attempt,
            next_at,
        })
    }
}

/// Converts an answer, or its absence, to the attempt and its failure.
fn read(answer: &Fetched, at: Instant, took: Duration) -> (Attempt, FailedAttempt) {
    let mut attempt = Attempt {
        at,
        status_code: None,
        error: None,
        duration_ms: u32::try_from(took.as_millis()).unwrap_or(u32::MAX),
        response: None,
    };
    let mut failure = FailedAttempt::default();
    match answer {
        Ok(response) => {
            attempt.status_code = Some(response.status);
            attempt.response = shown(&response.body);
            if !(200..300).contains(&response.status) {
                attempt.error = Some(DeliveryError::Status);
                failure.busy = response.status == StatusCode::TOO_MANY_REQUESTS.as_u16();
                failure.retry_after = retry_after(&response.headers);
            }
        }
        Err(error) => {
            attempt.error = Some(match error {
                FetchError::Denied => DeliveryError::Denied,
                FetchError::Dns => DeliveryError::Dns,
                FetchError::Connect => DeliveryError::Connect,
                FetchError::Tls | FetchError::Certificate(_) => DeliveryError::Tls,
                FetchError::Timeout => DeliveryError::Timeout,
                FetchError::Broken => DeliveryError::Broken,
            });
            failure.busy = *error == FetchError::Timeout;
        }
    }
    (attempt, failure)
}

/// The beginning of an answer as text in which nothing acts on a terminal.
fn shown(body: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(&body[..body.len().min(KEPT)]);
    let shown: String = text
        .chars()
        .flat_map(|c| {
            let acts = c.is_control() && c != '\n' && c != '\t';
            let escaped = acts.then(|| c.escape_unicode());
            let plain = (!acts).then_some(c);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect();
    (!shown.is_empty()).then_some(shown)
}
