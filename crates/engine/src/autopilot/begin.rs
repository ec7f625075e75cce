//! The beginning of a run: its keyword, its post, and the order to write it.

use std::{collections::BTreeMap, sync::Arc};

use searchwright_autopilot::{
    choice::choose,
    slots::Slot,
    ticks::{AwaitedSlot, Decision, decide},
};
use searchwright_contract::{
    Code, Instant,
    autopilot::{AutopilotOutcome, AutopilotRun, PauseReason, PostRefresh},
    events::EventType,
    keywords::{Keyword, KeywordSort, KeywordStatus},
    posts::{GenerateMode, PostOrigin, PostStatus},
    schedules::ScheduleKind,
};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    autopilot_runs, jobs,
    keywords::{self, KeywordQuery},
    posts::{self, PostRecord},
    projects,
    schedules::{self, PlannedSlot},
};
use searchwright_writing::transitions::Actor;

use super::{AutopilotState, count_month, finish, moves, pause, refresh};
use crate::{
    Engine,
    connections::connection_for_new_post,
    failure::{Result, defect},
    jobs::{Job, generate_post::Order, keyword_generation::GenerationOrder},
    operations::BUILT_IN,
    posts::{
        advance, announce,
        draft::{new_draft, set_free_slug},
        facts, follow,
        generation::{begin_generation, find_duplicate},
        settling::settle_without_text,
        site_of,
    },
};

/// Approved keywords that are compared: those with the highest scores.
const MAX_CANDIDATES: u32 = 500;
/// Keywords that are tried, because pages of the site may have turned out to be about them.
const MAX_TRIES: usize = 20;
/// Milliseconds from one search for keywords to the next.
const KEYWORD_SEARCH_MILLIS: i64 = 7 * 24 * 3_600_000;
/// Milliseconds after which it is tried again to begin a run whose slot is ahead.
const RETRY_MILLIS: i64 = 3_600_000;
/// Keywords that are searched for.
const KEYWORD_COUNT: u32 = 50;

/// Begins the run of the planned slot of a project in a transaction of its own.
pub(crate) async fn begin(engine: &Arc<Engine>, scope: ProjectScope, now: Instant) -> Result<()> {
    let shared = engine.clone();
    // counting citations takes too long for a transaction that writes
    let refresh = refresh::find(&mut engine.db.read().await?, scope, now).await?;
    let write = engine
        .db
        .write(move |tx| Box::pin(async move { begin_due(&shared, tx, scope, refresh, now).await }));
    write.await
}

/// Begins the run of the planned slot, if its time has come, and plans the next one.
async fn begin_due(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    refresh: Option<PostRefresh>,
    now: Instant,
) -> Result<()> {
    projects::lock(tx, scope).await?;
    let state = AutopilotState::load(tx, scope).await?;
    let Some(planned) = state.schedule.plan else {
        return Ok(());
    };
    moves::move_to_new_zone(engine, tx, scope, &state, now).await?;
    let awaited = AwaitedSlot {
        date: planned.date,
        at: planned.at,
        planned_from: planned.planned_from,
    };
    let decision = decide(&state.rule, &awaited, now);
    match decision {
        Decision::Plan => return state.replan(tx, scope, now, now).await,
        // written again for the time zone that it holds in
        Decision::Wait if planned.due_at > now => {
            return Ok(schedules::set_plan(tx, scope, ScheduleKind::Posts, Some(planned)).await?);
        }
        Decision::Wait | Decision::Start(_) | Decision::Skip(_) => {}
    }
    let used = autopilot_runs::list_dates(tx, scope, None, now).await?;
    if used.iter().any(|used| used.date == planned.date) {
        return state.replan(tx, scope, planned.at, now).await;
    }
    let slot = Slot {
        date: planned.date,
        time: state.rule.time,
        at: planned.at,
    };
    let mut run = AutopilotRun {
        id: engine.clock.id(),
        slot_date: slot.date.to_string(),
        slot_at: slot.at,
        outcome: AutopilotOutcome::Preparing,
        detail: None,
        keyword_id: None,
        choice: None,
        refresh: None,
        post_id: None,
        regenerated: false,
        published_url: None,
        verified: None,
        finished_at: None,
        created_at: now,
        updated_at: now,
    };
    let limit = u64::from(state.monthly_limit(tx, scope, now).await?);
    let is_skipped = matches!(decision, Decision::Skip(_));
    if !is_skipped && count_month(tx, scope, slot.date).await?.claimed >= limit {
        // before anything is paid for
        let today = state.rule.local_date(now);
        if count_month(tx, scope, today).await?.published >= limit
            && today.first_of_month() == slot.date.first_of_month()
        {
            return pause::pause(engine, tx, scope, PauseReason::MonthlyCap, now).await;
        }
        let after = state.end_of_month(slot.date).unwrap_or(slot.at);
        return state.replan(tx, scope, after, now).await;
    }
    let after = if is_skipped {
        let detail = "the server did not run for a day or longer after the time of the slot";
        finish(
            &mut run,
            AutopilotOutcome::SkippedMissed,
            Some(detail.to_owned()),
            now,
        );
        // the newest slot that is less than a day late still runs
        now.plus_millis(-searchwright_autopilot::slots::MAX_LATE_MILLIS)
    } else {
        prepare(engine, tx, scope, &mut run, refresh, now).await?;
        if run.outcome.is_final() && slot.at > now {
            if AutopilotState::load(tx, scope).await?.settings.pause.is_some() {
                return Ok(());
            }
            // the cause may be gone before the time of the slot
            let due_at = slot.at.min(now.plus_millis(RETRY_MILLIS));
            let planned = Some(PlannedSlot { due_at, ..planned });
            schedules::set_plan(tx, scope, ScheduleKind::Posts, planned).await?;
            return Ok(());
        }
        slot.at
    };
    autopilot_runs::insert(tx, scope, &run).await?;
    schedules::set_last(tx, scope, ScheduleKind::Posts, slot.at, run.outcome.as_str()).await?;
    let state = if run.outcome.is_final() {
        pause::pause_if_needed(engine, tx, scope, state, now).await?
    } else {
        state
    };
    state.replan(tx, scope, after, now).await
}

/// Chooses the keyword and orders the post, or ends the run with the reason.
async fn prepare(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    run: &mut AutopilotRun,
    refresh: Option<PostRefresh>,
    now: Instant,
) -> Result<()> {
    if let Err(why) = connection_for_new_post(tx, scope).await? {
        finish(run, AutopilotOutcome::Failed, Some(why.to_owned()), now);
        return pause::pause(engine, tx, scope, PauseReason::Integration, now).await;
    }
    if let Some(refresh) = refresh
        && let Some(record) = refresh::draft(engine, tx, scope, &refresh, now).await?
    {
        run.keyword_id = record.post.summary.keyword_id;
        run.refresh = Some(refresh);
        return have_written(engine, tx, scope, run, record, now).await;
    }
    let date = run.slot_date.parse().map_err(|e| defect("date of a slot", e))?;
    let query = KeywordQuery {
        status: Some(KeywordStatus::Approved),
        sort: Some(KeywordSort::Score),
        limit: MAX_CANDIDATES,
        ..KeywordQuery::default()
    };
    let mut candidates = keywords::list(tx, scope, query).await?;
    let last = autopilot_runs::find_last_with_keyword(tx, scope).await?;
    let last_cluster = match last.and_then(|last| last.keyword_id) {
        Some(last) => keywords::get(tx, scope, last)
            .await
            .ok()
            .and_then(|keyword| keyword.cluster_id),
        None => None,
    };
    let mut competing = 0;
    for _ in 0..MAX_TRIES {
        let Some((keyword, mut choice)) = choose(&candidates, date, last_cluster) else {
            break;
        };
        let keyword = keyword.clone();
        let record = draft_for(engine, tx, scope, &keyword, now).await?;
        if find_duplicate(tx, scope, &record.post).await?.is_some() {
            competing += 1;
            candidates.retain(|candidate| candidate.id != keyword.id);
            continue;
        }
        choice.candidates += competing;
        choice.competing += competing;
        (run.keyword_id, run.choice) = (Some(keyword.id), Some(choice));
        return have_written(engine, tx, scope, run, record, now).await;
    }
    let mut detail = "no approved keyword without a post is left: approve keywords".to_owned();
    if competing > 0 {
        detail = format!("{detail}; {competing} were left out because pages of the site are about them");
    }
    if search_keywords(engine, tx, scope, now).await? {
        detail += "; a search for keywords was started, approve what it finds";
    }
    finish(run, AutopilotOutcome::NoKeyword, Some(detail), now);
    Ok(())
}

/// Stores a draft and has its text written, or ends the run if a quota refuses it.
async fn have_written(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    run: &mut AutopilotRun,
    mut record: PostRecord,
    now: Instant,
) -> Result<()> {
    let order = Order {
        post_id: record.post.summary.id,
        mode: GenerateMode::Fill,
        instructions: refresh::instructions(&record.post.summary),
        sources: Vec::new(),
        dry_run: false,
    };
    let draft = record.clone();
    let before = facts(&record.post.summary, &[], now);
    advance(&mut record, PostStatus::Queued, Actor::Autopilot, &before, now)?;
    // before the post is created, because a quota may refuse it
    if let Err(failure) = begin_generation(engine, tx, scope, &mut record, order, now).await {
        if failure.0.code != Code::QuotaExceeded {
            return Err(failure);
        }
        (run.keyword_id, run.choice, run.refresh) = (None, None, None);
        finish(run, AutopilotOutcome::Failed, Some(failure.0.detail), now);
        return Ok(());
    }
    posts::create(tx, scope, &draft, now).await?;
    let created = posts::update(tx, scope, &record, now).await?;
    follow(tx, scope, None, &created.post.summary, now).await?;
    let (event, kind) = (engine.clock.id(), EventType::PostCreated);
    announce(tx, scope, event, kind, &created.post.summary, now).await?;
    run.post_id = Some(created.post.summary.id);
    Ok(())
}

/// Returns the draft of a post about a keyword. It is not stored yet.
async fn draft_for(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    keyword: &Keyword,
    now: Instant,
) -> Result<PostRecord> {
    let project = projects::get(tx, scope).await?;
    let mut record = new_draft(engine.clock.id(), &keyword.language, PostOrigin::Autopilot, now);
    record.post.summary.keyword_id = Some(keyword.id);
    record.post.summary.keyword = Some(keyword.keyword.clone());
    set_free_slug(tx, scope, &mut record).await?;
    let site = site_of(&project.name, &project.domain);
    settle_without_text(tx, scope, &mut record, &site, now).await?;
    Ok(record)
}

/// Starts a search for keywords in sources that cost nothing, unless there was one within a week; returns whether it was started.
async fn search_keywords(engine: &Engine, tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<bool> {
    let since = now.plus_millis(-KEYWORD_SEARCH_MILLIS);
    if jobs::has_since(tx, scope, "generate_keywords", since).await? {
        return Ok(false);
    }
    let project = projects::get(tx, scope).await?;
    let wanted = GenerationOrder {
        seeds: Vec::new(),
        sources: BUILT_IN.to_vec(),
        count: KEYWORD_COUNT,
        language: project.language,
        country: project.country.unwrap_or_default(),
        dry_run: false,
        project: project.name,
    };
    let work = Job::GenerateKeywords { wanted };
    match work.count(tx, scope, now).await {
        Ok(()) => {}
        Err(failure) if failure.0.code == Code::QuotaExceeded => return Ok(false),
        Err(failure) => return Err(failure),
    }
    work.enqueue(tx, scope, engine.clock.id(), BTreeMap::new(), now)
        .await?;
    Ok(true)
}
