//! Settings of the autopilot beyond its schedule, and its pauses.

use searchwright_contract::{
    Instant,
    autopilot::{AutopilotMode, PauseReason},
};

use crate::{Cells, Result, Tx, access::ProjectScope, sql};

/// Settings of the autopilot. The default is that of a project that has set none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutopilotSettings {
    /// Treatment of posts that are ready.
    pub mode: AutopilotMode,
    /// Hours for which mode `auto` holds a post.
    pub hold_hours: u8,
    /// Days before a slot on which its post is written.
    pub lead_days: u8,
    /// Content score below which a person is asked.
    pub min_score: u8,
    /// Posts per calendar month.
    pub monthly_cap: u8,
    /// Whether the author of a post may not approve it.
    pub reviewer_other_than_author: bool,
    /// Whether posts become drafts at the provider.
    pub draft_only: bool,
    /// Percent of the slots that bring a published post up to date.
    pub refresh_share: u8,
    /// Posts per month up to which a person allowed more than the site's own volume does.
    pub allowed_cap: Option<u8>,
    /// Time until which it pauses.
    pub paused_until: Option<Instant>,
    /// The pause that it made itself.
    pub pause: Option<AutopilotPause>,
    /// Time of the last resumption. Failures count from here.
    pub resumed_at: Option<Instant>,
}

/// A pause that the autopilot made itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutopilotPause {
    /// Reason.
    pub reason: PauseReason,
    /// The reason in a sentence, with what to do.
    pub detail: String,
    /// Time of its beginning.
    pub since: Instant,
}

impl Default for AutopilotSettings {
    fn default() -> Self {
        Self {
            mode: AutopilotMode::Review,
            hold_hours: 24,
            lead_days: 2,
            min_score: 60,
            monthly_cap: 12,
            reviewer_other_than_author: true,
            draft_only: false,
            refresh_share: 0,
            allowed_cap: None,
            paused_until: None,
            pause: None,
            resumed_at: None,
        }
    }
}

fn read_settings(c: &mut Cells<'_>) -> Result<AutopilotSettings> {
    Ok(AutopilotSettings {
        mode: c.parse()?,
        hold_hours: c.take::<i64>()? as u8,
        lead_days: c.take::<i64>()? as u8,
        min_score: c.take::<i64>()? as u8,
        monthly_cap: c.take::<i64>()? as u8,
        reviewer_other_than_author: c.take()?,
        draft_only: c.take()?,
        refresh_share: c.take::<i64>()? as u8,
        allowed_cap: c.take::<Option<i64>>()?.map(|cap| cap as u8),
        paused_until: c.take()?,
        pause: {
            let reason: Option<PauseReason> = c.parse_optional()?;
            let (detail, since): (Option<String>, Option<Instant>) = (c.take()?, c.take()?);
            reason
                .zip(detail)
                .zip(since)
                .map(|((reason, detail), since)| AutopilotPause {
                    reason,
                    detail,
                    since,
                })
        },
        resumed_at: c.take()?,
    })
}

/// Returns the settings, or those of a project that has set none.
pub async fn get(tx: &mut Tx, scope: ProjectScope) -> Result<AutopilotSettings> {
    let found = sql("SELECT mode, hold_hours, lead_days, min_score, monthly_cap, reviewer_other_than_author, draft_only, refresh_share, allowed_cap, paused_until,
           paused_reason, paused_detail, paused_at, resumed_at FROM autopilot_settings WHERE project_id = $1")
    .bind(scope.project())
    .fetch_optional(tx, read_settings)
    .await?;
    Ok(found.unwrap_or_default())
}

/// Writes the settings.
pub async fn set(tx: &mut Tx, scope: ProjectScope, settings: &AutopilotSettings) -> Result<()> {
    let pause = settings.pause.clone();
    sql("INSERT INTO autopilot_settings (project_id, mode, hold_hours, lead_days, min_score, monthly_cap, reviewer_other_than_author,
           draft_only, refresh_share, paused_until, paused_reason, paused_detail, paused_at, resumed_at, allowed_cap)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
         ON CONFLICT (project_id) DO UPDATE SET mode = $2, hold_hours = $3, lead_days = $4, min_score = $5, monthly_cap = $6,
           reviewer_other_than_author = $7, draft_only = $8, refresh_share = $9, paused_until = $10, paused_reason = $11,
           paused_detail = $12, paused_at = $13, resumed_at = $14, allowed_cap = $15")
    .bind(scope.project())
    .bind(settings.mode.as_str())
    .bind(settings.hold_hours)
    .bind(settings.lead_days)
    .bind(settings.min_score)
    .bind(settings.monthly_cap)
    .bind(settings.reviewer_other_than_author)
    .bind(settings.draft_only)
    .bind(settings.refresh_share)
    .bind(settings.paused_until)
    .bind(pause.as_ref().map(|pause| pause.reason.as_str()))
    .bind(pause.as_ref().map(|pause| pause.detail.clone()))
    .bind(pause.map(|pause| pause.since))
    .bind(settings.resumed_at)
    .bind(settings.allowed_cap)
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns the projects whose autopilot is on and paused itself.
pub async fn list_paused(tx: &mut Tx) -> Result<Vec<ProjectScope>> {
    sql("SELECT a.project_id FROM autopilot_settings a JOIN schedules s ON s.project_id = a.project_id AND s.kind = 'posts'
         WHERE a.paused_reason IS NOT NULL AND s.enabled ORDER BY a.project_id")
    .fetch_all(tx, |c| Ok(ProjectScope::from_row(c.take()?)))
    .await
}
