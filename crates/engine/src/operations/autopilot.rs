//! Settings of the autopilot, its slots and its runs. What it does at its slots is `autopilot.rs` of the engine.

use jiff::civil::Date;
use searchwright_autopilot::conditions::EnableCondition;
use searchwright_autopilot::slots::Slot;
use searchwright_contract::{
    Code, List, Patch, Problem, Scope,
    actions::{AllowedActions, Permission},
    autopilot::{
        Autopilot, AutopilotMode, AutopilotOutcome, AutopilotRun, GetAutopilot, ListAutopilotRuns,
        PreviewAutopilot, PreviewSlot, SlotPreview, UpdateAutopilot, Weekday,
    },
    ids::{AutopilotRunId, JobId},
    jobs::JobStatus,
    posts::PostStatus,
};
use searchwright_store::{
    Tx, access::ProjectScope, autopilot, autopilot_runs, jobs, keywords, posts, projects, publications,
    schedules,
};

use super::items::{changed_since_read, refuse};
use crate::{
    Engine,
    autopilot::{
        AutopilotState,
        approvals::{make_void, unschedule, write_post},
        cap::settings_url,
        move_prepared, pause, volume_limit,
    },
    call::{Call, fault, limit},
    connections,
    endpoint::Handle,
    failure::Result,
    schedules::{TimesEdit, slot_rule},
};

/// Slots of a preview unless the caller names another number.
const DEFAULT_SLOTS: u8 = 10;
/// Posts of one local day.
const MAX_POSTS_PER_DAY: u8 = 1;

/// Texts of conditions as one sentence.
fn join(conditions: &[EnableCondition], text: fn(EnableCondition) -> &'static str) -> String {
    let texts: Vec<&str> = conditions.iter().map(|condition| text(*condition)).collect();
    texts.join("; ")
}

/// Returns the conditions for enabling that the project does not meet.
async fn list_missing(call: &Call, tx: &mut Tx) -> Result<Vec<EnableCondition>> {
    let scope = call.scope()?;
    let mut missing = Vec::new();
    match connections::list_ready(tx, scope).await?.len() {
        0 => missing.push(EnableCondition::Integration),
        1 => {}
        _ => missing.push(EnableCondition::OneIntegration),
    }
    if !keywords::has_approved_without_live_post(tx, scope).await? {
        missing.push(EnableCondition::Keyword);
    }
    Ok(missing)
}

/// Returns `409 invalid_state` with the conditions that are not met.
fn cannot_enable(missing: &[EnableCondition]) -> Problem {
    let words: Vec<&str> = missing.iter().map(|condition| condition.as_str()).collect();
    let detail = join(missing, EnableCondition::detail);
    Problem::new(
        Code::InvalidState,
        format!("the autopilot cannot be enabled: {detail}"),
    )
    .hint(join(missing, EnableCondition::hint))
    .with("missing", words)
}

/// Returns the settings as they are answered.
async fn to_record(
    call: &Call,
    tx: &mut Tx,
    missing: &[EnableCondition],
    state: AutopilotState,
) -> Result<Autopilot> {
    let scope = call.scope()?;
    let update = call.permission(Scope::AutopilotWrite);
    let enable = match update {
        Permission::Yes(true) if !missing.is_empty() => Permission::no(
            Code::InvalidState.as_str(),
            join(missing, EnableCondition::detail),
        ),
        _ => update.clone(),
    };
    let AutopilotState {
        settings,
        schedule,
        zone,
        ..
    } = state;
    let weekdays = schedule.times.weekdays.as_deref();
    let planned = schedule.plan.map(|plan| plan.at);
    let prepared = match planned {
        Some(_) => {
            let from = settings
                .paused_until
                .map_or(call.now, |until| until.max(call.now));
            autopilot_runs::find_next_slot(tx, scope, from).await?
        }
        None => None,
    };
    Ok(Autopilot {
        project_id: scope.project().into(),
        enabled: schedule.enabled,
        publish_interval_days: schedule.times.interval_days,
        publish_weekdays: weekdays.map(|days| days.iter().map(|day| day.number()).collect()),
        publish_weekday_names: weekdays.unwrap_or(Weekday::ALL).to_vec(),
        publish_time: schedule.times.time.strftime("%H:%M").to_string(),
        timezone: zone,
        mode: settings.mode,
        auto_publish: settings.mode == AutopilotMode::Auto,
        hold_hours: settings.hold_hours,
        lead_days: settings.lead_days,
        min_score: settings.min_score,
        max_posts_per_day: MAX_POSTS_PER_DAY,
        monthly_cap: settings.monthly_cap,
        reviewer_other_than_author: settings.reviewer_other_than_author,
        draft_only: settings.draft_only,
        refresh_share: settings.refresh_share,
        paused_until: settings.paused_until.filter(|until| *until > call.now),
        paused_reason: settings.pause.as_ref().map(|pause| pause.reason),
        paused_detail: settings.pause.map(|pause| pause.detail),
        consecutive_failures: pause::consecutive_failures(tx, scope, settings.resumed_at).await?,
        next_publish_at: planned.into_iter().chain(prepared).min(),
        last_publish_at: autopilot_runs::find_last_publication(tx, scope).await?,
        overdue: autopilot_runs::list_overdue(tx, scope, call.now).await?,
        version: schedule.version,
        updated_at: schedule.updated_at,
        allowed_actions: AllowedActions::default()
            .with("update", update)
            .with("enable", enable),
    })
}

impl Handle<GetAutopilot> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, _: GetAutopilot) -> Result<Autopilot> {
        let state = AutopilotState::load(tx, call.scope()?).await?;
        let missing = list_missing(call, tx).await?;
        to_record(call, tx, &missing, state).await
    }
}

impl Handle<UpdateAutopilot> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: UpdateAutopilot) -> Result<Autopilot> {
        let scope = call.scope()?;
        projects::lock(tx, scope).await?;
        let mut state = AutopilotState::load(tx, scope).await?;
        call.check_match(scope.project(), state.schedule.version)?;
        let before = (state.schedule.clone(), state.settings.clone());
        let times = TimesEdit {
            interval_days: operation.publish_interval_days,
            weekdays: operation.publish_weekdays,
            time: operation.publish_time,
            timezone: operation.timezone,
            prefix: "publish_",
        };
        let (times_before, rule_before) = (state.schedule.times.clone(), state.rule.clone());
        refuse(times.apply(&mut state.schedule.times))?;
        let settings = &mut state.settings;
        settings.mode = match (operation.mode, operation.auto_publish) {
            (Some(mode), Some(auto)) if auto != (mode == AutopilotMode::Auto) => {
                return Err(fault(
                    "/auto_publish",
                    "contradicts_mode",
                    "says something else than mode; send one of them",
                ));
            }
            (Some(mode), _) => mode,
            (None, Some(true)) => AutopilotMode::Auto,
            (None, Some(false)) => AutopilotMode::Review,
            (None, None) => settings.mode,
        };
        settings.hold_hours = operation.hold_hours.unwrap_or(settings.hold_hours);
        settings.lead_days = operation.lead_days.unwrap_or(settings.lead_days);
        settings.min_score = operation.min_score.unwrap_or(settings.min_score);
        settings.reviewer_other_than_author = operation
            .reviewer_other_than_author
            .unwrap_or(settings.reviewer_other_than_author);
        settings.draft_only = operation.draft_only.unwrap_or(settings.draft_only);
        settings.refresh_share = operation.refresh_share.unwrap_or(settings.refresh_share);
        if let Patch::Value(until) = operation.paused_until
            && until <= call.now
        {
            return Err(fault(
                "/paused_until",
                "not_in_the_future",
                "has to be in the future",
            ));
        }
        settings.paused_until = operation.paused_until.apply(settings.paused_until);
        if let Some(cap) = operation.monthly_cap {
            if let Some(limit) = state
                .cap_limit(tx, scope, call.now)
                .await?
                .filter(|limit| u32::from(cap) > *limit)
            {
                let volume = volume_limit(tx, scope, &state.rule, call.now)
                    .await?
                    .unwrap_or_default();
                let why = format!(
                    "is {cap}, and the site published at most {} posts in one month of the last six: at most {limit} are allowed; a person may allow more at {}",
                    volume / searchwright_autopilot::limits::MAX_GROWTH,
                    settings_url(&call.engine, scope.project().into())
                );
                return Err(fault("/monthly_cap", "volume_limit", why));
            }
            state.settings.monthly_cap = cap;
        }
        let missing = list_missing(call, tx).await?;
        let was_enabled = state.schedule.enabled;
        if operation.enabled == Some(true) && !was_enabled && !missing.is_empty() {
            return Err(cannot_enable(&missing).into());
        }
        state.schedule.enabled = operation.enabled.unwrap_or(was_enabled);
        if operation.enabled == Some(true) && (state.settings.pause.is_some() || !was_enabled) {
            state.settings.pause = None;
            state.settings.resumed_at = Some(call.now);
        }
        let project = projects::get(tx, scope).await?;
        state.rule = slot_rule(&state.schedule.times, &project.timezone)?;
        state.schedule.plan = state.plan(tx, scope, state.plan_from(call.now), call.now).await?;
        if (&state.schedule, &state.settings) == (&before.0, &before.1) {
            return to_record(call, tx, &missing, state).await;
        }
        autopilot_runs::look_again(tx, scope).await?;
        autopilot::set(tx, scope, &state.settings).await?;
        schedules::change(tx, scope, &state.schedule, call.now)
            .await
            .map_err(changed_since_read)?;
        if was_enabled && !state.schedule.enabled {
            cancel_runs(call, tx).await?;
        }
        if state.schedule.times != times_before {
            move_prepared(&call.engine, tx, scope, &state, &rule_before, call.now).await?;
        }
        let state = AutopilotState::load(tx, scope).await?;
        to_record(call, tx, &missing, state).await
    }
}

/// Cancels what is under way. Posts keep their text; what is at a provider stays there.
async fn cancel_runs(call: &Call, tx: &mut Tx) -> Result<()> {
    let scope = call.scope()?;
    for mut run in autopilot_runs::list_open(tx, scope).await? {
        if let Some(post) = run.post_id {
            let mut record = posts::get(tx, scope, post).await?;
            let old = record.post.summary.clone();
            match old.status {
                // it waits for a provider that is down
                PostStatus::Publishing if is_nothing_sent(tx, scope, record.job).await? => {
                    if let Some(job) = record.job {
                        super::jobs::cancel(call, tx, job).await?;
                    }
                }
                // it is at the provider, or on its way there
                PostStatus::Publishing | PostStatus::Published => continue,
                PostStatus::Queued | PostStatus::Generating => {
                    if let Some(job) = record.job {
                        super::jobs::cancel(call, tx, job).await?;
                    }
                }
                PostStatus::Scheduled => {
                    unschedule(&mut record, call.now)?;
                    write_post(tx, scope, call.engine.clock.id(), &record, &old, call.now).await?;
                }
                _ => {}
            }
            make_void(tx, scope, post).await?;
        }
        run.outcome = AutopilotOutcome::Canceled;
        run.detail = Some("the autopilot was turned off".to_owned());
        (run.finished_at, run.updated_at) = (Some(call.now), call.now);
        autopilot_runs::update(tx, scope, &run).await?;
    }
    Ok(())
}

/// Returns whether the publication of a job waits for its next try, with nothing sent yet.
async fn is_nothing_sent(tx: &mut Tx, scope: ProjectScope, job: Option<JobId>) -> Result<bool> {
    let Some(job) = job else { return Ok(false) };
    let is_queued = jobs::get(tx, scope, job).await?.status == JobStatus::Queued;
    let attempt = publications::find_open_attempt_of_job(tx, scope, job).await?;
    Ok(is_queued && attempt.is_some_and(|attempt| attempt.sent.is_none()))
}

fn preview_slot(slot: &Slot) -> PreviewSlot {
    PreviewSlot {
        local_date: slot.date.to_string(),
        local_time: slot.time.strftime("%H:%M").to_string(),
        at: slot.at,
    }
}

impl Handle<PreviewAutopilot> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: PreviewAutopilot) -> Result<SlotPreview> {
        let scope = call.scope()?;
        let mut state = AutopilotState::load(tx, scope).await?;
        let times = TimesEdit {
            interval_days: operation.publish_interval_days,
            weekdays: operation.publish_weekdays,
            time: operation.publish_time,
            timezone: operation.timezone,
            prefix: "publish_",
        };
        refuse(times.apply(&mut state.schedule.times))?;
        let project = projects::get(tx, scope).await?;
        let rule = slot_rule(&state.schedule.times, &project.timezone)?;
        let last = match operation.last_publish_date {
            Some(text) => {
                let parsed = text.parse::<Date>().ok().filter(|date| date.to_string() == text);
                let wrong = || {
                    fault(
                        "/last_publish_date",
                        "not_a_day",
                        "is not a day such as 2026-11-28",
                    )
                };
                Some(parsed.ok_or_else(wrong)?)
            }
            None => {
                let used = autopilot_runs::list_dates(tx, scope, None, call.now).await?;
                used.iter().filter(|used| used.counts).map(|used| used.date).max()
            }
        };
        let paused_until = operation.paused_until.apply(state.settings.paused_until);
        let after = operation.after.unwrap_or(call.now);
        let after = paused_until.map_or(after, |until| after.max(until));
        let slots = rule.preview(after, last, operation.count.unwrap_or(DEFAULT_SLOTS).into());
        Ok(SlotPreview {
            slots: slots.iter().map(preview_slot).collect(),
        })
    }
}

impl Handle<ListAutopilotRuns> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListAutopilotRuns) -> Result<List<AutopilotRun>> {
        let limit = limit(operation.limit);
        let before: Option<AutopilotRunId> = call.after(&operation, operation.cursor.as_deref())?;
        let rows = autopilot_runs::list(tx, call.scope()?, operation.outcome, before, limit + 1).await?;
        call.page(&operation, limit, rows, |last| last.id)
    }
}
