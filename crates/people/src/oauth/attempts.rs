//! Attempts of programs to connect: stored steps, and who may see them.

use searchwright_contract::{
    Problem,
    ids::{ProjectId, UserId},
    people::Role,
};
use searchwright_identity::connections::{Attempt, group};
use searchwright_store::{connection_steps, workspaces};

use crate::People;
use searchwright_failure::Result;

/// Steps that are read for the page.
const MAX_READ: u32 = 500;
/// Attempts that are shown.
const MAX_ATTEMPTS: usize = 20;

impl People {
    /// Stores the steps that wait.
    pub async fn store_connection_steps(&self) -> Result<()> {
        let steps = self.connections.take();
        let now = self.clock.now();
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    connection_steps::delete_expired(tx, now).await?;
                    connection_steps::insert(tx, steps).await
                })
            })
            .await?;
        Ok(())
    }

    /// Returns the last attempts to connect, newest first, as a member of the workspace of a project may see them: their own;
    /// admins also those of other members, and those in which nobody signed in.
    pub async fn connection_attempts(&self, user: UserId, project: ProjectId) -> Result<Vec<Attempt>> {
        self.store_connection_steps().await?;
        let mut tx = self.db.read().await?;
        let workspace = workspaces::find_of_project(&mut tx, user, project).await?;
        let workspace = workspace.ok_or_else(|| Problem::not_found("project"))?;
        let mut steps = connection_steps::list(&mut tx, workspace.id, MAX_READ).await?;
        steps.reverse();
        let is_admin = workspace.role >= Role::Admin;
        let attempts = group(&steps).into_iter().filter(|attempt| {
            attempt.people.contains(&user) || is_admin && (attempt.is_of_member || attempt.people.is_empty())
        });
        Ok(attempts.take(MAX_ATTEMPTS).collect())
    }
}
