//! Agent Autonomy, as a person who manages a project sets it.

use searchwright_contract::{
    Problem,
    ids::{ActivityId, ProjectId, UserId},
    people::AutonomyAction,
};
use searchwright_failure::{Failure, Result, fault};
use searchwright_store::{
    access,
    activity::{self, NewActivity},
    agent_autonomy::{self, AutonomyRecord, NewAutonomy},
    projects,
};

use crate::{
    People,
    keys::{Managed, managed},
    managed::changed_meanwhile,
    sessions::RecentSession,
};

/// Days for which an action may be on, unless it has no end.
const MAX_DAYS: u32 = 3_650;

/// Setting of an action, as a person makes it.
#[derive(Clone, Debug)]
pub struct AutonomyChange {
    /// The action.
    pub action: AutonomyAction,
    /// Whether agents may perform it.
    pub is_on: bool,
    /// Times a day (UTC), at most.
    pub daily_cap: Option<u32>,
    /// Days for which it is on; without an end if `None`.
    pub days: Option<u32>,
    /// Version of what the person saw, by [`version`].
    pub seen: String,
}

/// Returns the version of the setting of an action: the change of another person makes it another.
pub fn version(record: Option<&AutonomyRecord>) -> String {
    record.map_or_else(|| "off".to_owned(), |record| record.updated_at.to_string())
}

/// Refuses a cap that would allow nothing.
pub(crate) fn check_cap(daily_cap: Option<u32>) -> Result<()> {
    if daily_cap == Some(0) {
        return Err(fault(
            "/dailyCap",
            "range",
            "has to be at least 1; turn it off to allow nothing",
        ));
    }
    Ok(())
}

impl People {
    /// Returns the actions that were turned on in a project, to a member.
    pub async fn autonomy(&self, user: UserId, project: ProjectId) -> Result<Vec<AutonomyRecord>> {
        let now = self.clock.now();
        let mut tx = self.db.read().await?;
        let access = access::find_project_of_user(&mut tx, user, project).await?;
        let access = access.ok_or_else(|| Problem::not_found("project"))?;
        Ok(agent_autonomy::list(&mut tx, access.scope(), now).await?)
    }

    /// Turns an action on or off, as a person who manages the project.
    pub async fn change_autonomy(
        &self,
        by: &RecentSession,
        project: ProjectId,
        change: AutonomyChange,
    ) -> Result<()> {
        check_cap(change.daily_cap)?;
        if change.days.is_some_and(|days| !(1..=MAX_DAYS).contains(&days)) {
            return Err(fault(
                "/days",
                "out_of_range",
                format!("have to be 1 to {MAX_DAYS}"),
            ));
        }
        let (now, user, entry) = (self.clock.now(), by.user, self.clock.id::<ActivityId>());
        let work = self.db.write(move |tx| {
            Box::pin(async move {
                let Managed { access, user } = managed(tx, user, project).await?;
                let (scope, action) = (access.scope(), change.action);
                projects::lock(tx, scope).await?;
                let known = agent_autonomy::list(tx, scope, now).await?;
                let known = known.iter().find(|record| record.set.action == action);
                if !change.seen.is_empty() && change.seen != version(known) {
                    return Err(changed_meanwhile());
                }
                let verb = if change.is_on {
                    let new = NewAutonomy {
                        action,
                        daily_cap: change.daily_cap,
                        expires_at: change
                            .days
                            .map(|days| now.plus_millis(i64::from(days) * 86_400_000)),
                        enabled_by: Some(user.name.clone()),
                    };
                    agent_autonomy::enable(tx, scope, new, now).await?;
                    "autonomy.on"
                } else {
                    agent_autonomy::disable(tx, scope, action).await?;
                    "autonomy.off"
                };
                let entry = NewActivity::of_person(entry, verb, action.as_str().to_owned(), user);
                Ok::<_, Failure>(activity::insert(tx, scope, entry, now).await?)
            })
        });
        work.await
    }
}
