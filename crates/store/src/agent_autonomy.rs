//! Agent Autonomy: the actions that agents may perform in a project without a person's confirmation.

use searchwright_contract::{
    Instant,
    ids::{ProjectId, UserId},
    people::{AgentAutonomy, Autonomy, AutonomyAction},
};

use crate::{Cells, Result, Tx, access::ProjectScope, projects, sql};

/// An action to be turned on.
#[derive(Clone, Debug)]
pub struct NewAutonomy {
    /// The action.
    pub action: AutonomyAction,
    /// Times a day, at most.
    pub daily_cap: Option<u32>,
    /// Time from which it is off again.
    pub expires_at: Option<Instant>,
    /// Name of the person who turns it on; `None` for the operator.
    pub enabled_by: Option<String>,
}

/// An action that was turned on, whether or not its time is over.
#[derive(Clone, Debug)]
pub struct AutonomyRecord {
    /// Setting.
    pub set: NewAutonomy,
    /// Uses of today (UTC).
    pub used: u32,
    /// Time at which it was last set.
    pub updated_at: Instant,
}

/// Turns an action on.
pub async fn enable(tx: &mut Tx, scope: ProjectScope, new: NewAutonomy, now: Instant) -> Result<()> {
    sql(
        "INSERT INTO agent_autonomy (project_id, action, daily_cap, expires_at, used_on, used, enabled_by, updated_at)
         VALUES ($1, $2, $3, $4, '', 0, $5, $6)
         ON CONFLICT (project_id, action) DO UPDATE SET daily_cap = $3, expires_at = $4, enabled_by = $5, updated_at = $6",
    )
    .bind(scope.project())
    .bind(new.action.as_str())
    .bind(new.daily_cap)
    .bind(new.expires_at)
    .bind(new.enabled_by)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns the actions that were turned on in a project.
pub async fn list(tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<Vec<AutonomyRecord>> {
    let today = day(now);
    sql("SELECT action, daily_cap, expires_at, enabled_by, CASE WHEN used_on = $2 THEN used ELSE 0 END, updated_at
         FROM agent_autonomy WHERE project_id = $1")
    .bind(scope.project())
    .bind(today)
    .fetch_all(tx, |c| {
        let (action, autonomy) = autonomy(c)?;
        Ok(AutonomyRecord {
            set: NewAutonomy {
                action,
                daily_cap: autonomy.daily_cap,
                expires_at: autonomy.expires_at,
                enabled_by: c.take()?,
            },
            used: u32::try_from(c.take::<i64>()?).unwrap_or(u32::MAX),
            updated_at: c.take()?,
        })
    })
    .await
}

/// The day in UTC.
fn day(now: Instant) -> String {
    now.to_string().get(..10).unwrap_or_default().to_owned()
}

/// Turns an action off.
pub async fn disable(tx: &mut Tx, scope: ProjectScope, action: AutonomyAction) -> Result<()> {
    sql("DELETE FROM agent_autonomy WHERE project_id = $1 AND action = $2")
        .bind(scope.project())
        .bind(action.as_str())
        .execute(tx)
        .await?;
    Ok(())
}

fn autonomy(c: &mut Cells<'_>) -> Result<(AutonomyAction, Autonomy)> {
    let action = c.parse()?;
    let daily_cap: Option<i64> = c.take()?;
    Ok((
        action,
        Autonomy {
            enabled: true,
            daily_cap: daily_cap.map(|cap| u32::try_from(cap).unwrap_or(u32::MAX)),
            expires_at: c.take()?,
        },
    ))
}

fn collect(rows: impl IntoIterator<Item = (AutonomyAction, Autonomy)>) -> AgentAutonomy {
    let mut all = AgentAutonomy::default();
    for (action, autonomy) in rows {
        set(&mut all, action, autonomy);
    }
    all
}

/// Returns the settings of a project that are in force.
pub async fn get(tx: &mut Tx, scope: ProjectScope, now: Instant) -> Result<AgentAutonomy> {
    let rows = sql("SELECT action, daily_cap, expires_at FROM agent_autonomy WHERE project_id = $1 AND (expires_at IS NULL OR expires_at > $2)")
        .bind(scope.project())
        .bind(now)
        .fetch_all(tx, autonomy)
        .await?;
    Ok(collect(rows))
}

/// Returns the settings in force of the projects that a user can access, where there are any.
pub async fn list_of_user(
    tx: &mut Tx,
    user: UserId,
    now: Instant,
) -> Result<Vec<(ProjectId, AutonomyAction, Autonomy)>> {
    sql("SELECT a.project_id, a.action, a.daily_cap, a.expires_at
         FROM agent_autonomy a JOIN projects p ON p.id = a.project_id JOIN memberships m ON m.workspace_id = p.workspace_id
         WHERE m.user_id = $1 AND (a.expires_at IS NULL OR a.expires_at > $2)")
    .bind(user)
    .bind(now)
    .fetch_all(tx, |c| {
        let project = c.take()?;
        let (action, autonomy) = autonomy(c)?;
        Ok((project, action, autonomy))
    })
    .await
}

/// Sets the members of an action in the settings of a project.
pub fn set(all: &mut AgentAutonomy, action: AutonomyAction, autonomy: Autonomy) {
    match action {
        AutonomyAction::Publish => all.publish = autonomy,
        AutonomyAction::Track => all.track = autonomy,
        AutonomyAction::Autopilot => all.autopilot = autonomy,
    }
}

/// Takes one use of an action. Returns `false`, and takes none, if it is off or the cap of the day is reached. Concurrent
/// transactions wait for each other, so that the cap holds.
pub async fn consume(tx: &mut Tx, scope: ProjectScope, action: AutonomyAction, now: Instant) -> Result<bool> {
    // First the project, as in all transactions that lock it.
    projects::lock(tx, scope).await?;
    let today = day(now);
    let taken = sql(
        "UPDATE agent_autonomy SET used = CASE WHEN used_on = $3 THEN used + 1 ELSE 1 END, used_on = $3
         WHERE project_id = $1 AND action = $2 AND (expires_at IS NULL OR expires_at > $4)
           AND (daily_cap IS NULL OR (CASE WHEN used_on = $3 THEN used ELSE 0 END) < daily_cap)",
    )
    .bind(scope.project())
    .bind(action.as_str())
    .bind(today)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(taken > 0)
}
