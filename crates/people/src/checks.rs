//! Severities and thresholds of a project's checks, as a person who manages it sets them.

use searchwright_contract::ids::{ActivityId, ProjectId, UserId};
use searchwright_engine::admin::checks::ChecksChange;
use searchwright_failure::{Failure, Result};
use searchwright_store::activity::{self, NewActivity};

use crate::{
    People,
    keys::{Managed, managed},
};

impl People {
    /// Changes the settings of a project's checks, as a person who manages it. They apply from the next audit on.
    pub async fn change_checks(&self, user: UserId, project: ProjectId, change: ChecksChange) -> Result<()> {
        let (now, entry) = (self.clock.now(), self.clock.id::<ActivityId>());
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    let Managed { access, user } = managed(tx, user, project).await?;
                    let (_, is_changed) = change.carry_out(tx, project.into()).await?;
                    if is_changed {
                        let entry = NewActivity::of_person(entry, "checks.update", project.to_string(), user);
                        activity::insert(tx, access.scope(), entry, now).await?;
                    }
                    Ok::<_, Failure>(())
                })
            })
            .await
    }
}
