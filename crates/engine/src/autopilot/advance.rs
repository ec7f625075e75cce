//! The next step of a run, after its post or its approval has changed.

use std::sync::Arc;

use searchwright_contract::{
    Code, Instant,
    approvals::ApprovalStatus,
    autopilot::{AutopilotMode, AutopilotOutcome, AutopilotRun},
    events::{AutopilotPublishedData, EventType},
    ids::AutopilotRunId,
    posts::{GenerateMode, GenerationMethod, Post, PostStatus, PublicationState, VerificationState},
    schedules::ScheduleKind,
};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    approvals, autopilot_runs, events,
    integrations::IntegrationRecord,
    posts::{self, PostRecord},
    projects, publications, schedules,
};
use searchwright_writing::{review, transitions::Actor};

use super::{
    AutopilotState,
    approvals::{
        ApprovalRequest, hash_to_send, make_void, request, schedule_post, unschedule, void_waiting,
        write_post,
    },
    finish, pause, refresh,
};
use crate::{
    Engine,
    connections::connection_for_schedule,
    failure::{Result, defect},
    jobs::generate_post::Order,
    posts::{advance, facts, generation::begin_generation},
};

/// Runs that go on at a time.
const MAX_RUNS: u32 = 100;
/// Milliseconds after which the look at the page of a post is no longer waited for.
const VERIFICATION_MILLIS: i64 = 3_600_000;
/// Milliseconds between a decision and a publication that is due at once.
const SOON_MILLIS: i64 = 1_000;
const HOUR_MILLIS: i64 = 3_600_000;
/// Detail of a run whose provider may have published.
const UNCERTAIN: &str =
    "the provider's answer was lost: it is looked up a few times, and then a person has to look";

/// Lets all runs go on whose post has changed, each in a transaction of its own; returns whether there were any.
pub(crate) async fn advance_all(engine: &Arc<Engine>) -> Result<bool> {
    let now = engine.clock.now();
    let open = autopilot_runs::list_to_advance(&mut engine.db.read().await?, MAX_RUNS).await?;
    let is_any = !open.is_empty();
    for run in open {
        let shared = engine.clone();
        let write = engine
            .db
            .write(move |tx| Box::pin(async move { advance_run(&shared, tx, run.scope, run.id, now).await }));
        if let Err(error) = write.await {
            tracing::error!(%error, run = %run.id, "a run of the autopilot did not go on; trying again");
        }
    }
    Ok(is_any)
}

/// Everything that a step looks at.
struct RunStep<'a> {
    engine: &'a Engine,
    scope: ProjectScope,
    state: AutopilotState,
    record: PostRecord,
    old: Post,
    connection: Option<IntegrationRecord>,
    now: Instant,
}

async fn advance_run(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    id: AutopilotRunId,
    now: Instant,
) -> Result<()> {
    projects::lock(tx, scope).await?;
    let mut run = autopilot_runs::get(tx, scope, id).await?;
    let Some(post) = run.post_id else {
        return Ok(());
    };
    let record = posts::get(tx, scope, post).await?;
    if run.outcome == AutopilotOutcome::Failed && record.post.summary.status == PostStatus::Published {
        // somebody repeated it, and it counts for the interval and the month like any other
        (run.outcome, run.detail, run.finished_at) = (AutopilotOutcome::Publishing, None, None);
    }
    if run.outcome.is_final() {
        return Ok(());
    }
    let mut step = RunStep {
        engine,
        scope,
        state: AutopilotState::load(tx, scope).await?,
        old: record.post.clone(),
        connection: connection_for_schedule(tx, scope, &record.post.summary)
            .await?
            .ok(),
        record,
        now,
    };
    step.take(tx, &mut run).await?;
    let mut seen = step.old.summary.version;
    if step.record.post.summary != step.old.summary {
        let written = write_post(tx, scope, engine.clock.id(), &step.record, &step.old.summary, now).await?;
        seen = written.post.summary.version;
    }
    autopilot_runs::set_seen(tx, scope, run.id, seen).await?;
    run.updated_at = now;
    autopilot_runs::update(tx, scope, &run).await?;
    schedules::set_last(tx, scope, ScheduleKind::Posts, run.slot_at, run.outcome.as_str()).await?;
    let is_waiting = run.outcome == AutopilotOutcome::AwaitingReview;
    if run.outcome.is_final() || is_waiting {
        let state = pause::pause_if_needed(engine, tx, scope, step.state, now).await?;
        let from = state.plan_from(now);
        state.replan(tx, scope, from, now).await?;
    }
    Ok(())
}

impl RunStep<'_> {
    async fn take(&mut self, tx: &mut Tx, run: &mut AutopilotRun) -> Result<()> {
        let summary = &self.record.post.summary;
        match summary.status {
            PostStatus::Queued | PostStatus::Generating => Ok(()),
            PostStatus::Publishing => {
                run.outcome = AutopilotOutcome::Publishing;
                let sent = publications::list_of_post(tx, self.scope, summary.id).await?;
                run.detail = sent.into_iter().find_map(|publication| match publication.state {
                    PublicationState::Pending => {
                        let error = publication.last_error?;
                        Some(format!("{}: {}; it is tried again", error.code, error.detail))
                    }
                    PublicationState::Uncertain => Some(UNCERTAIN.to_owned()),
                    _ => None,
                });
                Ok(())
            }
            PostStatus::Failed => {
                void_waiting(tx, self.scope, summary.id).await?;
                let failure = summary.failure.as_ref();
                let detail = failure.map(|failure| format!("{}: {}", failure.code, failure.detail));
                if run.regenerated && run.outcome == AutopilotOutcome::Preparing {
                    return self.first_text(tx, run, detail).await;
                }
                finish(run, AutopilotOutcome::Failed, detail, self.now);
                Ok(())
            }
            PostStatus::Archived => {
                make_void(tx, self.scope, summary.id).await?;
                finish(
                    run,
                    AutopilotOutcome::Canceled,
                    Some("the post was archived".to_owned()),
                    self.now,
                );
                Ok(())
            }
            PostStatus::Published => self.published(tx, run).await,
            PostStatus::Scheduled => self.scheduled(tx, run).await,
            PostStatus::Draft | PostStatus::Review => match run.outcome {
                AutopilotOutcome::Preparing => self.written(tx, run).await,
                AutopilotOutcome::Publishing => self.sent_as_draft(tx, run).await,
                _ => self.waiting(tx, run).await,
            },
        }
    }

    /// Returns the treatment of the post.
    fn mode(&self) -> AutopilotMode {
        self.state.mode_for(&self.record.post.summary)
    }

    /// Looks at a post that has just been written.
    async fn written(&mut self, tx: &mut Tx, run: &mut AutopilotRun) -> Result<()> {
        let mut reasons = self.reasons_for_review();
        let by_model = self
            .record
            .post
            .generation
            .as_ref()
            .and_then(|generation| generation.method)
            == Some(GenerationMethod::Model);
        // what somebody has changed meanwhile is not written over
        if !self.faults().is_empty() && by_model && !run.regenerated && !self.was_edited() {
            match self.write_again(tx).await? {
                None => {
                    run.regenerated = true;
                    return Ok(());
                }
                Some(why) => reasons.push(why),
            }
        }
        let mode = self.mode();
        if reasons.is_empty() && mode == AutopilotMode::Auto {
            return self.schedule_with_hold(tx, run).await;
        }
        run.outcome = AutopilotOutcome::AwaitingReview;
        if mode == AutopilotMode::Propose {
            reasons.push("mode propose: schedule or publish it by hand".to_owned());
            run.detail = Some(reasons.join("; "));
            return Ok(());
        }
        self.ask(tx, run, reasons, None).await
    }

    /// Shows the first text of a post to a person after it could not be written a second time.
    async fn first_text(&mut self, tx: &mut Tx, run: &mut AutopilotRun, why: Option<String>) -> Result<()> {
        let known = facts(
            &self.record.post.summary,
            &self.record.post.findings.warnings,
            self.now,
        );
        if let Err(failure) = advance(
            &mut self.record,
            PostStatus::Review,
            Actor::Autopilot,
            &known,
            self.now,
        ) {
            finish(run, AutopilotOutcome::Failed, Some(failure.0.detail), self.now);
            return Ok(());
        }
        self.record.post.summary.failure = None;
        let mut reasons = self.reasons_for_review();
        reasons.push(format!(
            "it could not be written a second time: {}",
            why.unwrap_or_default()
        ));
        run.outcome = AutopilotOutcome::AwaitingReview;
        self.ask(tx, run, reasons, None).await
    }

    /// Returns whether the text was changed after it was written.
    fn was_edited(&self) -> bool {
        let generation = self.record.post.generation.as_ref();
        let written_at = generation.and_then(|generation| generation.finished_at);
        written_at.is_some_and(|at| self.record.post.summary.updated_at > at)
    }

    /// Returns the reasons for which a person has to look at the text whatever the mode is.
    fn reasons_for_review(&self) -> Vec<String> {
        review::list_reasons(&self.record.post, self.state.settings.min_score)
    }

    /// Returns the faults of the text.
    fn faults(&self) -> Vec<String> {
        review::list_faults(&self.record.post, self.state.settings.min_score)
    }

    /// Has the post written once more; returns why that cannot be.
    async fn write_again(&mut self, tx: &mut Tx) -> Result<Option<String>> {
        let order = Order {
            post_id: self.record.post.summary.id,
            mode: GenerateMode::Overwrite,
            instructions: refresh::instructions(&self.record.post.summary),
            sources: Vec::new(),
            dry_run: false,
        };
        let mut record = self.record.clone();
        let before = facts(&record.post.summary, &record.post.findings.warnings, self.now);
        if let Err(failure) = advance(
            &mut record,
            PostStatus::Queued,
            Actor::Autopilot,
            &before,
            self.now,
        ) {
            return Ok(Some(failure.0.detail.clone()));
        }
        match begin_generation(self.engine, tx, self.scope, &mut record, order, self.now).await {
            Ok(_) => {
                self.record = record;
                Ok(None)
            }
            Err(failure) if failure.0.code == Code::QuotaExceeded => Ok(Some(failure.0.detail.clone())),
            Err(failure) => Err(failure),
        }
    }

    /// Schedules the post, and gives people the hours of the mode to stop it.
    async fn schedule_with_hold(&mut self, tx: &mut Tx, run: &mut AutopilotRun) -> Result<()> {
        let before = self.record.post.summary.clone();
        let hold = i64::from(self.state.settings.hold_hours) * HOUR_MILLIS;
        let earliest = self.now.plus_millis(hold.max(SOON_MILLIS));
        if run.slot_at < earliest && self.state.rule.local_date(earliest).to_string() != run.slot_date {
            // the hold reaches into another day, which has a slot of its own
            let slot = self
                .state
                .next_slot(tx, self.scope, Some(run.id), earliest, self.now)
                .await?;
            if let Some(slot) = slot {
                (run.slot_date, run.slot_at) = (slot.date.to_string(), slot.at);
            }
        }
        let at = run.slot_at.max(earliest);
        if let Err(failure) = schedule_post(tx, self.scope, &mut self.record, at, self.now).await {
            self.record.post.summary = before;
            run.outcome = AutopilotOutcome::AwaitingReview;
            return self.ask(tx, run, vec![failure.0.detail.clone()], None).await;
        }
        (run.outcome, run.detail) = (AutopilotOutcome::Scheduled, None);
        if hold == 0 {
            return Ok(());
        }
        self.ask(
            tx,
            run,
            vec!["mode auto: it is published unless a person stops it".to_owned()],
            Some(at),
        )
        .await
    }

    /// Asks a person. The detail of a run that waits says why.
    async fn ask(
        &self,
        tx: &mut Tx,
        run: &mut AutopilotRun,
        mut reasons: Vec<String>,
        expires_at: Option<Instant>,
    ) -> Result<()> {
        if self.record.post.summary.replaces_post_id.is_some() {
            reasons.insert(0, refresh::REASON.to_owned());
        } else if reasons.is_empty() {
            reasons.push("mode review: every post needs an approval".to_owned());
        }
        if expires_at.is_none() {
            run.detail = Some(reasons.join("; "));
        }
        let asked = ApprovalRequest {
            run,
            record: &self.record,
            connection: self.connection.as_ref(),
            draft_only: self.state.settings.draft_only,
            reasons,
            expires_at,
        };
        request(self.engine, tx, self.scope, asked, self.now).await
    }

    /// Looks at a post that waits for a person, or that was taken off the schedule.
    async fn waiting(&mut self, tx: &mut Tx, run: &mut AutopilotRun) -> Result<()> {
        let was_scheduled = run.outcome == AutopilotOutcome::Scheduled;
        run.outcome = AutopilotOutcome::AwaitingReview;
        if self.mode() == AutopilotMode::Propose {
            return Ok(());
        }
        let newest = approvals::find_newest_of_post(tx, self.scope, self.record.post.summary.id).await?;
        let Some(newest) = newest else {
            let mut reasons: Vec<String> = run.detail.take().into_iter().collect();
            reasons.extend(self.reasons_for_review());
            return self.ask(tx, run, reasons, None).await;
        };
        let is_same = newest.content_hash == self.hash();
        let before = run.detail.take();
        let why = match newest.status {
            ApprovalStatus::Pending | ApprovalStatus::Held if is_same && newest.expires_at.is_none() => {
                run.detail = before;
                return Ok(());
            }
            ApprovalStatus::Rejected => return Ok(()),
            ApprovalStatus::Pending | ApprovalStatus::Held | ApprovalStatus::Void if !is_same => {
                "it was changed after the last request".to_owned()
            }
            // the reason for which it was not published, or a caller took it back
            _ => before
                .filter(|_| !was_scheduled)
                .unwrap_or_else(|| "it was taken off the schedule".to_owned()),
        };
        make_void(tx, self.scope, newest.post).await?;
        let mut reasons = vec![why];
        reasons.extend(self.reasons_for_review());
        self.ask(tx, run, reasons, None).await
    }

    fn hash(&self) -> Vec<u8> {
        hash_to_send(
            &self.record,
            self.connection.as_ref(),
            self.state.settings.draft_only,
        )
    }

    /// Looks at a post that is scheduled: by the autopilot, or by a caller.
    async fn scheduled(&mut self, tx: &mut Tx, run: &mut AutopilotRun) -> Result<()> {
        use ApprovalStatus::{Approved, Lapsed, Pending};
        let newest = approvals::find_newest_of_post(tx, self.scope, self.record.post.summary.id).await?;
        if newest.is_none() && self.mode() == AutopilotMode::Auto {
            // nobody was asked because nothing was wrong with it: it may have been changed since
            let reasons = self.reasons_for_review();
            if !reasons.is_empty() {
                unschedule(&mut self.record, self.now)?;
                run.outcome = AutopilotOutcome::AwaitingReview;
                return self.ask(tx, run, reasons, None).await;
            }
        }
        if let Some(newest) = newest
            && matches!(newest.status, Pending | Approved | Lapsed)
            && newest.content_hash != self.hash()
        {
            make_void(tx, self.scope, newest.post).await?;
            unschedule(&mut self.record, self.now)?;
            let mut reasons = vec!["it was changed after the last request".to_owned()];
            reasons.extend(self.reasons_for_review());
            if self.mode() == AutopilotMode::Auto && reasons.len() == 1 {
                return self.schedule_with_hold(tx, run).await;
            }
            run.outcome = AutopilotOutcome::AwaitingReview;
            return self.ask(tx, run, reasons, None).await;
        }
        (run.outcome, run.detail) = (AutopilotOutcome::Scheduled, None);
        let Some(at) = self.record.post.summary.scheduled_at else {
            return Ok(());
        };
        // a caller may have moved it; its date stays known by the slot that it had if the new one is taken
        let date = self.state.rule.local_date(at);
        run.slot_at = at;
        if date.to_string() != run.slot_date {
            let used = autopilot_runs::list_dates(tx, self.scope, None, self.now).await?;
            if used.iter().all(|used| used.date != date) {
                run.slot_date = date.to_string();
            }
        }
        Ok(())
    }

    /// Ends the run of a post that was sent as a draft.
    async fn sent_as_draft(&mut self, tx: &mut Tx, run: &mut AutopilotRun) -> Result<()> {
        void_waiting(tx, self.scope, self.record.post.summary.id).await?;
        let sent = publications::list_of_post(tx, self.scope, self.record.post.summary.id).await?;
        if sent
            .iter()
            .any(|sent| sent.state == PublicationState::Unpublished)
        {
            let detail = "it was taken back after it had been published".to_owned();
            finish(run, AutopilotOutcome::Published, Some(detail), self.now);
            return Ok(());
        }
        let done = sent
            .iter()
            .find(|sent| sent.external_id.is_some() && sent.state == PublicationState::Draft);
        match done {
            Some(sent) => {
                let detail = format!("it is a draft at {}: publish it there", sent.provider);
                run.published_url = sent.url.clone();
                finish(run, AutopilotOutcome::Published, Some(detail), self.now);
                self.announce_published(tx, run).await
            }
            None => {
                let error = sent.into_iter().find_map(|sent| sent.last_error);
                let detail = error.map(|error| format!("{}: {}", error.code, error.detail));
                finish(run, AutopilotOutcome::Failed, detail, self.now);
                Ok(())
            }
        }
    }

    /// Ends the run of a published post once its page was looked at.
    async fn published(&mut self, tx: &mut Tx, run: &mut AutopilotRun) -> Result<()> {
        let summary = &self.record.post.summary;
        if let Some(failure) = summary.failure.as_ref().filter(|_| run.refresh.is_some()) {
            // the text that was there before is still there
            let detail = format!("{}: {}", failure.code, failure.detail);
            finish(run, AutopilotOutcome::Failed, Some(detail), self.now);
            return Ok(());
        }
        let live = publications::list_of_post(tx, self.scope, summary.id).await?;
        let live = live.into_iter().find(|publication| publication.is_live);
        run.outcome = AutopilotOutcome::Publishing;
        run.published_url = live.as_ref().and_then(|live| live.url.clone());
        let verification = live.as_ref().and_then(|live| live.verification.clone());
        run.verified = match verification.as_ref().map(|verification| verification.state) {
            Some(VerificationState::Passed) => Some(true),
            Some(VerificationState::Failed) => Some(false),
            Some(VerificationState::Pending) | None => None,
        };
        let since = live
            .as_ref()
            .and_then(|live| live.published_at.filter(|_| run.refresh.is_none()))
            .unwrap_or(summary.updated_at);
        let is_waiting = run.verified.is_none()
            && run.published_url.is_some()
            && self.now.millis() - since.millis() < VERIFICATION_MILLIS;
        if is_waiting {
            return Ok(());
        }
        let detail = match (run.verified, verification) {
            (Some(false), Some(verification)) => Some(format!(
                "the page was not found as it should be: {}",
                verification.findings.join(", ")
            )),
            _ => None,
        };
        finish(run, AutopilotOutcome::Published, detail, self.now);
        // it may have been published in another way
        void_waiting(tx, self.scope, summary.id).await?;
        self.announce_published(tx, run).await
    }

    async fn announce_published(&self, tx: &mut Tx, run: &AutopilotRun) -> Result<()> {
        let data = AutopilotPublishedData {
            run_id: run.id,
            post_id: self.record.post.summary.id,
            url: run.published_url.clone(),
            verified: run.verified,
        };
        let data = serde_json::to_value(data).map_err(|e| defect("event", e))?;
        let event = self.engine.clock.id();
        events::insert(
            tx,
            self.scope,
            event,
            EventType::AutopilotPublished,
            &data,
            self.now,
        )
        .await?;
        Ok(())
    }
}
