//! Severities and thresholds of a project's checks, as a person who manages it sets them.

use searchwright_contract::ids::{ProjectId, UserId};
use searchwright_engine::admin::checks::ChecksChange;
use searchwright_failure::Result;

use crate::People;

impl People {
    /// Changes the settings of a project's checks, as a person who manages it. They apply from the next audit on.
    pub async fn change_checks(&self, user: UserId, project: ProjectId, change: ChecksChange) -> Result<()> {
        self.change_managed(user, project, move |tx, _| {
            Box::pin(async move {
                let (_, is_changed) = change.carry_out(tx, project.into()).await?;
                Ok(((), is_changed.then(|| ("checks.update", project.to_string()))))
            })
        })
        .await
    }
}
