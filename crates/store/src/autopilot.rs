//! Settings of the autopilot of a project.

use searchwright_contract::{Instant, autopilot::Weekday};

use crate::{Cells, Json, Result, Tx, access::ProjectScope, sql};

/// Settings of the autopilot. The default is that of a project that has set none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutopilotSettings {
    /// Whether it publishes.
    pub enabled: bool,
    /// Minimum number of calendar days from one of its publications to the next.
    pub publish_interval_days: u8,
    /// Days on which it publishes, sorted; `None` for every day.
    pub publish_weekdays: Option<Vec<Weekday>>,
}

impl Default for AutopilotSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            publish_interval_days: 7,
            publish_weekdays: None,
        }
    }
}

/// Settings as they are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAutopilot {
    /// The settings.
    pub settings: AutopilotSettings,
    /// Number of changes.
    pub version: i64,
    /// Time of the last change.
    pub updated_at: Instant,
}

fn read_settings(c: &mut Cells<'_>) -> Result<StoredAutopilot> {
    Ok(StoredAutopilot {
        settings: AutopilotSettings {
            enabled: c.take()?,
            publish_interval_days: c.take()?,
            publish_weekdays: c.take_json_optional()?,
        },
        version: c.take()?,
        updated_at: c.take()?,
    })
}

/// Returns the settings, if any were set.
pub async fn find(tx: &mut Tx, scope: ProjectScope) -> Result<Option<StoredAutopilot>> {
    sql(
        "SELECT enabled, publish_interval_days, publish_weekdays, version, updated_at FROM autopilot_settings
         WHERE project_id = $1",
    )
    .bind(scope.project())
    .fetch_optional(tx, read_settings)
    .await
}

/// Writes the settings and increments their version; [`Error::Missing`](crate::Error::Missing) if it is not `version` (0 if none
/// were set).
pub async fn set(
    tx: &mut Tx,
    scope: ProjectScope,
    settings: &AutopilotSettings,
    version: i64,
    now: Instant,
) -> Result<StoredAutopilot> {
    sql(
        "INSERT INTO autopilot_settings (project_id, enabled, publish_interval_days, publish_weekdays, version, updated_at)
         VALUES ($1, $2, $3, $4, $5 + 1, $6)
         ON CONFLICT (project_id) DO UPDATE SET enabled = $2, publish_interval_days = $3, publish_weekdays = $4, version = $5 + 1,
           updated_at = $6
         WHERE autopilot_settings.version = $5 RETURNING enabled, publish_interval_days, publish_weekdays, version, updated_at",
    )
    .bind(scope.project())
    .bind(settings.enabled)
    .bind(settings.publish_interval_days)
    .bind(settings.publish_weekdays.as_ref().map(Json::encode).transpose()?)
    .bind(version)
    .bind(now)
    .fetch_one(tx, read_settings)
    .await
}
