//! Notices of backups that fail, which no event tells.

use searchwright_notices::rules::{self, NoticeStep};
use searchwright_store::{
    Error,
    notices::{self, facts as stored},
};

use super::{Notices, collect};

impl Notices {
    /// Tells that a backup failed, once until one is made. It is told in the first project: backups are of the whole server, and
    /// whoever set it up is there.
    pub(crate) async fn backup_failed(&self, why: &str) -> Result<(), Error> {
        self.step_of_backups(NoticeStep::Tell(Box::new(rules::backup_failed(why))))
            .await
    }

    /// Ends what was told of backups that failed.
    pub(crate) async fn backup_made(&self) -> Result<(), Error> {
        self.step_of_backups(NoticeStep::End(rules::BACKUPS)).await
    }

    async fn step_of_backups(&self, step: NoticeStep) -> Result<(), Error> {
        let Some(scope) = stored::find_first_project(&mut self.db().read().await?).await? else {
            return Ok(());
        };
        let (clock, now) = (self.clock().clone(), self.clock().now());
        self.db()
            .write(move |tx| {
                Box::pin(async move {
                    // Under the lock, as all that begins a notice.
                    notices::lock_head(tx, scope).await?;
                    collect::apply(tx, scope, &clock, step, now).await
                })
            })
            .await
    }
}
