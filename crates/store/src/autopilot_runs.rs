//! Runs of the autopilot: one for each slot.

use std::ops::Range;

use jiff::civil::Date;
use searchwright_contract::{
    Instant,
    autopilot::{AutopilotOutcome, AutopilotRun, OverduePost},
    ids::{AutopilotRunId, PostId},
};

use crate::{Cells, Json, Result, Tx, access::ProjectScope, schedules::SlotDate, sql, statement::indexed};

/// Dates of runs that are read.
const MAX_DATES: u32 = 400;
/// Overdue posts that are listed.
const MAX_OVERDUE: u32 = 100;

macro_rules! columns {
    () => {
        "id, local_date, slot_at, outcome, detail, keyword_id, choice, refresh, post_id, regenerated, published_url, verified, finished_at, created_at,
         updated_at"
    };
}

fn read_run(c: &mut Cells<'_>) -> Result<AutopilotRun> {
    Ok(AutopilotRun {
        id: c.take()?,
        slot_date: c.take()?,
        slot_at: c.take()?,
        outcome: c.parse()?,
        detail: c.take()?,
        keyword_id: c.take()?,
        choice: c.take_json_optional()?,
        refresh: c.take_json_optional()?,
        post_id: c.take()?,
        regenerated: c.take()?,
        published_url: c.take()?,
        verified: c.take()?,
        finished_at: c.take()?,
        created_at: c.take()?,
        updated_at: c.take()?,
    })
}

/// Stores a run, unless its date has one; returns whether it was stored.
pub async fn insert(tx: &mut Tx, scope: ProjectScope, run: &AutopilotRun) -> Result<bool> {
    let stored = sql(concat!(
        "INSERT INTO autopilot_runs (project_id, ",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) ON CONFLICT DO NOTHING"
    ))
    .bind(scope.project())
    .bind(run.id)
    .bind(&run.slot_date)
    .bind(run.slot_at)
    .bind(run.outcome.as_str())
    .bind(run.detail.clone())
    .bind(run.keyword_id)
    .bind(run.choice.as_ref().map(Json::encode).transpose()?)
    .bind(run.refresh.as_ref().map(Json::encode).transpose()?)
    .bind(run.post_id)
    .bind(run.regenerated)
    .bind(run.published_url.clone())
    .bind(run.verified)
    .bind(run.finished_at)
    .bind(run.created_at)
    .bind(run.updated_at)
    .execute(tx)
    .await?;
    Ok(stored == 1)
}

/// Writes a run that has changed.
pub async fn update(tx: &mut Tx, scope: ProjectScope, run: &AutopilotRun) -> Result<()> {
    sql("UPDATE autopilot_runs SET local_date = $3, slot_at = $4, outcome = $5, detail = $6, keyword_id = $7, choice = $8, post_id = $9,
           regenerated = $10, published_url = $11, verified = $12, finished_at = $13, updated_at = $14
         WHERE project_id = $1 AND id = $2")
    .bind(scope.project())
    .bind(run.id)
    .bind(&run.slot_date)
    .bind(run.slot_at)
    .bind(run.outcome.as_str())
    .bind(run.detail.clone())
    .bind(run.keyword_id)
    .bind(run.choice.as_ref().map(Json::encode).transpose()?)
    .bind(run.post_id)
    .bind(run.regenerated)
    .bind(run.published_url.clone())
    .bind(run.verified)
    .bind(run.finished_at)
    .bind(run.updated_at)
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns a run.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: AutopilotRunId) -> Result<AutopilotRun> {
    sql(concat!(
        "SELECT ",
        columns!(),
        " FROM autopilot_runs WHERE project_id = $1 AND id = $2"
    ))
    .bind(scope.project())
    .bind(id)
    .fetch_one(tx, read_run)
    .await
}

/// Lists runs, newest first.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    outcome: Option<AutopilotOutcome>,
    before: Option<AutopilotRunId>,
    limit: u32,
) -> Result<Vec<AutopilotRun>> {
    sql(concat!(
        "SELECT ",
        columns!(),
        " FROM autopilot_runs WHERE project_id = $1 AND id < $2 AND (CAST($3 AS TEXT) IS NULL OR outcome = $3)
          ORDER BY id DESC LIMIT $4"
    ))
    .bind(scope.project())
    .bind(before.unwrap_or(AutopilotRunId::MAX))
    .bind(outcome.map(AutopilotOutcome::as_str))
    .bind(limit)
    .fetch_all(tx, read_run)
    .await
}

/// Returns the runs of a project that have not ended, oldest first.
pub async fn list_open(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<AutopilotRun>> {
    sql(concat!(
        "SELECT ",
        columns!(),
        " FROM autopilot_runs WHERE project_id = $1 AND finished_at IS NULL ORDER BY id"
    ))
    .bind(scope.project())
    .fetch_all(tx, read_run)
    .await
}

/// Returns the run of a post that has not ended.
pub async fn find_open_of_post(
    tx: &mut Tx,
    scope: ProjectScope,
    post: PostId,
) -> Result<Option<AutopilotRun>> {
    sql(indexed!(
        tx,
        concat!("SELECT ", columns!(), " FROM autopilot_runs"),
        "autopilot_runs_by_post",
        "WHERE project_id = $1 AND post_id = $2 AND finished_at IS NULL"
    ))
    .bind(scope.project())
    .bind(post)
    .fetch_optional(tx, read_run)
    .await
}

/// A run that may have to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenRun {
    /// The project.
    pub scope: ProjectScope,
    /// The run.
    pub id: AutopilotRunId,
}

/// Stores the version of its post that a run has looked at.
pub async fn set_seen(tx: &mut Tx, scope: ProjectScope, id: AutopilotRunId, version: i64) -> Result<()> {
    sql("UPDATE autopilot_runs SET seen_version = $3 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .bind(version)
        .execute(tx)
        .await?;
    Ok(())
}

/// Returns runs that have not ended and whose post has changed since they last went on. Those whose post is published
/// wait for the look at its page. A run that failed goes on when its post is published after all.
pub async fn list_to_advance(tx: &mut Tx, limit: u32) -> Result<Vec<OpenRun>> {
    sql("SELECT project_id, id FROM (
           SELECT r.project_id, r.id, r.updated_at FROM autopilot_runs r JOIN posts p ON p.project_id = r.project_id AND p.id = r.post_id
           WHERE r.finished_at IS NULL AND (r.seen_version IS NULL OR p.version <> r.seen_version OR p.status = 'published')
           UNION ALL
           SELECT r.project_id, r.id, r.updated_at FROM autopilot_runs r JOIN posts p ON p.project_id = r.project_id AND p.id = r.post_id
           WHERE r.outcome = 'failed' AND r.post_id IS NOT NULL AND r.refresh IS NULL AND p.status = 'published') due
         ORDER BY updated_at, id LIMIT $1")
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(OpenRun {
            scope: ProjectScope::from_row(c.take()?),
            id: c.take()?,
        })
    })
    .await
}

/// Returns the dates of the newest runs, newest first. The interval counts from those that are published or on their way; not from
/// `moved`, whose slot is sought, nor from posts that wait for a person although their slot has passed.
pub async fn list_dates(
    tx: &mut Tx,
    scope: ProjectScope,
    moved: Option<AutopilotRunId>,
    now: Instant,
) -> Result<Vec<SlotDate>> {
    sql("SELECT id, local_date, slot_at, outcome FROM autopilot_runs WHERE project_id = $1 ORDER BY local_date DESC LIMIT $2")
        .bind(scope.project())
        .bind(MAX_DATES)
        .fetch_all(tx, |c| {
            let (id, date): (AutopilotRunId, Date) = (c.take()?, c.parse()?);
            let (at, outcome): (Instant, AutopilotOutcome) = (c.take()?, c.parse()?);
            let is_overdue = outcome == AutopilotOutcome::AwaitingReview && at <= now;
            let is_claimed = !outcome.is_final() || outcome == AutopilotOutcome::Published;
            Ok(SlotDate {
                date,
                at,
                counts: is_claimed && !is_overdue && moved != Some(id),
            })
        })
        .await
}

/// Lets the open runs of a project look at their posts again, because something else has changed.
pub async fn look_again(tx: &mut Tx, scope: ProjectScope) -> Result<()> {
    sql("UPDATE autopilot_runs SET seen_version = NULL WHERE project_id = $1 AND finished_at IS NULL")
        .bind(scope.project())
        .execute(tx)
        .await?;
    Ok(())
}

/// Returns whether another run has published, or is publishing, on a local date: its own one, or that on which its post really went
/// live or was sent, whose answer may not be there yet. `day` is the date from its beginning to its end.
pub async fn has_publication_on(
    tx: &mut Tx,
    scope: ProjectScope,
    date: Date,
    day: Range<Instant>,
    except: AutopilotRunId,
) -> Result<bool> {
    sql(
        "SELECT EXISTS (SELECT 1 FROM autopilot_runs r LEFT JOIN posts p ON p.project_id = r.project_id AND p.id = r.post_id
           WHERE r.project_id = $1 AND r.id <> $3
           AND ((r.local_date = $2 AND r.outcome IN ('published', 'publishing')) OR (p.published_at >= $4 AND p.published_at < $5)
             OR (r.outcome = 'publishing' AND EXISTS (SELECT 1 FROM publish_attempts a WHERE a.project_id = r.project_id
               AND a.post_id = r.post_id AND a.created_at >= $4 AND a.created_at < $5 AND a.state <> 'failed'))))",
    )
    .bind(scope.project())
    .bind(date.to_string())
    .bind(except)
    .bind(day.start)
    .bind(day.end)
    .fetch_one(tx, |c| c.take())
    .await
}

/// Returns the time of the next slot for which a post is being prepared or scheduled.
pub async fn find_next_slot(tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<Option<Instant>> {
    sql(
        "SELECT min(slot_at) FROM autopilot_runs WHERE project_id = $1 AND slot_at > $2
           AND outcome IN ('preparing', 'scheduled') AND finished_at IS NULL",
    )
    .bind(scope.project())
    .bind(now)
    .fetch_one(tx, |c| c.take())
    .await
}

/// Returns the number of runs that wrote a post, or tried to.
pub async fn count_with_post(tx: &mut Tx, scope: ProjectScope) -> Result<u64> {
    sql("SELECT count(*) FROM autopilot_runs WHERE project_id = $1 AND post_id IS NOT NULL")
        .bind(scope.project())
        .fetch_one(tx, |c| Ok(c.take::<i64>()?.unsigned_abs()))
        .await
}

/// Returns the newest run before one that has a keyword, for its cluster.
pub async fn find_last_with_keyword(tx: &mut Tx, scope: ProjectScope) -> Result<Option<AutopilotRun>> {
    sql(concat!(
        "SELECT ",
        columns!(),
        " FROM autopilot_runs WHERE project_id = $1 AND keyword_id IS NOT NULL AND refresh IS NULL ORDER BY id DESC LIMIT 1"
    ))
    .bind(scope.project())
    .fetch_optional(tx, read_run)
    .await
}

/// Returns the newest runs that ended since a time, newest first.
pub async fn list_ended(
    tx: &mut Tx,
    scope: ProjectScope,
    since: Option<Instant>,
    limit: u32,
) -> Result<Vec<AutopilotRun>> {
    sql(concat!(
        "SELECT ",
        columns!(),
        " FROM autopilot_runs WHERE project_id = $1 AND finished_at >= $2 ORDER BY finished_at DESC, id DESC LIMIT $3"
    ))
    .bind(scope.project())
    .bind(since.unwrap_or_default())
    .bind(limit)
    .fetch_all(tx, read_run)
    .await
}

/// Returns the number of posts that wait for a person.
pub async fn count_waiting(tx: &mut Tx, scope: ProjectScope) -> Result<u64> {
    sql("SELECT count(*) FROM autopilot_runs WHERE project_id = $1 AND outcome = 'awaiting_review' AND finished_at IS NULL")
        .bind(scope.project())
        .fetch_one(tx, |c| Ok(c.take::<i64>()?.unsigned_abs()))
        .await
}

/// Runs of some days by how far they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// Published, or on their way to the provider.
    pub published: u64,
    /// These, and those that have not ended.
    pub claimed: u64,
}

/// Counts runs with dates from `first` to `last`.
pub async fn count(tx: &mut Tx, scope: ProjectScope, first: Date, last: Date) -> Result<RunCounts> {
    sql(
        "SELECT count(CASE WHEN outcome IN ('published', 'publishing') THEN 1 END),
           count(CASE WHEN outcome = 'published' OR finished_at IS NULL THEN 1 END)
         FROM autopilot_runs WHERE project_id = $1 AND local_date >= $2 AND local_date <= $3",
    )
    .bind(scope.project())
    .bind(first.to_string())
    .bind(last.to_string())
    .fetch_one(tx, |c| {
        Ok(RunCounts {
            published: c.take::<i64>()?.unsigned_abs(),
            claimed: c.take::<i64>()?.unsigned_abs(),
        })
    })
    .await
}

/// Returns posts that wait for a person although their slot has passed, oldest first.
pub async fn list_overdue(tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<Vec<OverduePost>> {
    sql("SELECT p.id, p.title, r.slot_at FROM autopilot_runs r JOIN posts p ON p.project_id = r.project_id AND p.id = r.post_id
         WHERE r.project_id = $1 AND r.outcome = 'awaiting_review' AND r.finished_at IS NULL AND r.slot_at <= $2
         ORDER BY r.slot_at LIMIT $3")
    .bind(scope.project())
    .bind(now)
    .bind(MAX_OVERDUE)
    .fetch_all(tx, |c| {
        Ok(OverduePost {
            post_id: c.take()?,
            title: c.take()?,
            slot_at: c.take()?,
        })
    })
    .await
}

/// Returns the time of the last publication.
pub async fn find_last_publication(tx: &mut Tx, scope: ProjectScope) -> Result<Option<Instant>> {
    sql("SELECT max(finished_at) FROM autopilot_runs WHERE project_id = $1 AND outcome = 'published'")
        .bind(scope.project())
        .fetch_one(tx, |c| c.take())
        .await
}

/// Returns the times in a period at which posts that are not of the autopilot were first published.
pub async fn list_own_publications(
    tx: &mut Tx,
    scope: ProjectScope,
    from: Instant,
    until: Instant,
) -> Result<Vec<Instant>> {
    sql("SELECT published_at FROM posts WHERE project_id = $1 AND published_at >= $2 AND published_at < $3 AND origin <> 'autopilot'")
        .bind(scope.project())
        .bind(from)
        .bind(until)
        .fetch_all(tx, |c| c.take())
        .await
}
