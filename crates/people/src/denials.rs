//! Refused calls of connected programs in the log of accounts.

use searchwright_store::account_activity;

use super::AccountEntry;
use crate::People;
use searchwright_failure::Result;

impl People {
    /// Stores the refused calls that wait.
    pub async fn store_denials(&self) -> Result<()> {
        let waiting = self.denials.take(self.clock.now());
        if waiting.is_empty() {
            return Ok(());
        }
        let entries: Vec<_> = waiting
            .iter()
            .map(|(denial, at)| {
                let mut entry =
                    AccountEntry::new("access.denied", Some(denial.user), "").with_detail(&denial.detail);
                entry.client = Some(&denial.client);
                self.account_activity(entry, *at)
            })
            .collect();
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    for entry in entries {
                        account_activity::insert(tx, entry).await?;
                    }
                    Ok::<_, searchwright_store::Error>(())
                })
            })
            .await?;
        Ok(())
    }
}
