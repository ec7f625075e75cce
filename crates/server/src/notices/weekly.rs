//! Digests: once a week, at the hour that each recipient chose.

use std::collections::HashMap;

use searchwright_contract::{
    Instant,
    events::EventType,
    ids::{ProjectId, UserId},
    visibility::{GetOverview, Period},
};
use searchwright_notices::{
    digest::{MentionRate, WeekFacts},
    kinds::Wishes,
    render::ProjectOfMessage,
    timing::{DIGEST_APART_MILLIS, DueDigest, due_digest},
};
use searchwright_store::{
    Error,
    access::ProjectScope,
    autopilot,
    notices::{
        facts as stored,
        messages::{self, NewMessage},
        settings,
    },
};
use searchwright_tracking::overview::OverviewData;
use uuid::Uuid;

use super::{
    Notices,
    compose::{finished, message_id, wishes, wishes_of},
};

/// Recipients read at a time.
const READERS: u32 = 200;
/// Milliseconds of a week.
const WEEK_MILLIS: i64 = 7 * 24 * 3_600_000;
/// Days over which mentions are counted: a week has too few answers.
const MENTION_DAYS: u32 = 28;

/// A recipient whose digest may be due.
struct DigestReader {
    scope: ProjectScope,
    zone: String,
    user: Option<UserId>,
    wishes: Wishes,
    /// Time of the choice: what was due before it is not sent.
    since: Instant,
}

/// Digest of a project in words.
#[derive(Clone)]
struct WrittenDigest {
    project: ProjectOfMessage,
    subject: String,
    text: String,
}

impl Notices {
    /// Writes the digests that are due.
    pub(super) async fn write_digests(&self, now: Instant) -> Result<(), Error> {
        // Recipients of one project share the figures of a day.
        let mut written: HashMap<(Uuid, String), WrittenDigest> = HashMap::new();
        if self.has_mail() {
            let mut after = (ProjectId::MIN, UserId::MIN);
            loop {
                let members = settings::list_readers(&mut self.db().read().await?, after, READERS).await?;
                let Some(last) = members.last() else { break };
                after = (last.scope.project().into(), last.user);
                for member in members {
                    let wishes = wishes_of(&member);
                    let changed = member
                        .settings
                        .as_ref()
                        .map_or(member.since, |set| set.updated_at);
                    let reader = DigestReader {
                        scope: member.scope,
                        zone: member.timezone,
                        user: Some(member.user),
                        wishes,
                        since: changed.max(member.since),
                    };
                    self.try_to_write(reader, &mut written, now).await;
                }
            }
        }
        let mut after = ProjectId::MIN;
        loop {
            let chats = settings::list_chat_readers(&mut self.db().read().await?, after, READERS).await?;
            let Some(last) = chats.last() else { return Ok(()) };
            after = last.scope.project().into();
            for chat in chats {
                let reader = DigestReader {
                    scope: chat.scope,
                    zone: chat.timezone,
                    user: None,
                    wishes: wishes(&chat.settings),
                    since: chat.settings.updated_at,
                };
                self.try_to_write(reader, &mut written, now).await;
            }
        }
    }

    /// A digest that cannot be written keeps nobody else from his; it is tried again in a minute.
    async fn try_to_write(
        &self,
        reader: DigestReader,
        written: &mut HashMap<(Uuid, String), WrittenDigest>,
        now: Instant,
    ) {
        let project = reader.scope.project();
        if let Err(error) = self.write_if_due(reader, written, now).await {
            tracing::warn!(%error, %project, "a digest was not written");
        }
    }

    async fn write_if_due(
        &self,
        reader: DigestReader,
        written: &mut HashMap<(Uuid, String), WrittenDigest>,
        now: Instant,
    ) -> Result<(), Error> {
        let DigestReader { scope, user, .. } = reader;
        let slot = due_digest(reader.wishes.weekday, reader.wishes.hour, &reader.zone, now);
        let Some(slot) = slot.filter(|slot| reader.since <= slot.at) else {
            return Ok(());
        };
        let before = slot.at.plus_millis(-DIGEST_APART_MILLIS);
        if messages::has_digest_since(&mut self.db().read().await?, scope, user, before).await? {
            return Ok(());
        }
        let key = (scope.project(), format!("{} {}", slot.date, slot.at));
        let digest = match written.get(&key) {
            Some(digest) => digest.clone(),
            None => {
                let digest = self.write_digest(scope, &slot, now).await?;
                written.insert(key, digest.clone());
                digest
            }
        };
        // Of the date and not of the time: however often it is made, one is sent.
        let batch = Uuid::new_v5(&scope.project(), format!("digest of {}", slot.date).as_bytes());
        let new = NewMessage {
            id: message_id(batch, user),
            batch,
            purpose: "digest",
            user,
            notices: Vec::new(),
            subject: digest.subject,
            text: finished(digest.text, scope, user, &digest.project, &self.links()),
        };
        self.db()
            .write(move |tx| Box::pin(async move { messages::insert(tx, scope, new, now).await }))
            .await
    }

    async fn write_digest(
        &self,
        scope: ProjectScope,
        slot: &DueDigest,
        now: Instant,
    ) -> Result<WrittenDigest, Error> {
        let since = slot.at.plus_millis(-WEEK_MILLIS);
        let mut tx = self.db().read().await?;
        let project = self.project(&mut tx, scope).await?;
        let newest = stored::find_health_at(&mut tx, scope, now).await?;
        let before = stored::find_health_at(&mut tx, scope, since).await?;
        let events = stored::count_events(&mut tx, scope, since).await?;
        let waiting = stored::count_waiting(&mut tx, scope).await?;
        let settings = autopilot::get(&mut tx, scope).await?;
        let request = GetOverview {
            project_id: scope.project().to_string(),
            period: Some(Period::TwentyEightDays),
            from: None,
            to: None,
            engine: None,
            surface: None,
            class: None,
            tag: None,
            country: None,
        };
        // Whatever is wrong with the answers of a project, its digest comes.
        let overview = OverviewData::load(&mut tx, scope, request, now).await;
        drop(tx);
        let mentions = match overview {
            Ok(data) => tokio::task::spawn_blocking(move || data.compute().ok())
                .await
                .ok()
                .flatten(),
            Err(_) => None,
        };
        let mentions = mentions.and_then(|overview| {
            let rate = overview.kpis.mention_rate.rate;
            Some(MentionRate {
                rate: rate.value?,
                low: rate.ci_low,
                high: rate.ci_high,
                answers: rate.denominator.round() as u64,
                days: MENTION_DAYS,
            })
        });
        let count = |kind: EventType| {
            let mut all = events.iter();
            all.find(|(known, _)| known == kind.as_str())
                .map_or(0, |(_, count)| *count)
        };
        let facts = WeekFacts {
            days: slot.days.clone(),
            health: newest.and_then(|audit| audit.score),
            health_before: before.and_then(|audit| audit.score),
            was_audited: newest
                .and_then(|audit| audit.finished_at)
                .is_some_and(|at| at >= since),
            opened: count(EventType::IssueOpened),
            reopened: count(EventType::IssueReopened),
            resolved: count(EventType::IssueResolved),
            published: count(EventType::PostPublished),
            failed: count(EventType::PostPublishFailed),
            approvals: waiting.approvals,
            uncertain: waiting.uncertain,
            lost: waiting.lost,
            is_paused: settings.pause.is_some(),
            mentions,
        };
        Ok(WrittenDigest {
            subject: facts.subject(&project),
            text: facts.text(&project),
            project,
        })
    }
}
