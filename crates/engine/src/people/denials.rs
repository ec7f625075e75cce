//! Refused calls of connected programs in the log of accounts.

use searchwright_contract::{Code, Meta, Problem};
use searchwright_identity::denials::Denial;
use searchwright_store::account_activity;

use super::AccountEntry;
use crate::{Engine, call::Credential, failure::Result};

impl Engine {
    /// Records a call that a token may not make.
    pub fn record_denial(&self, meta: &Meta, credential: &Credential, problem: &Problem) {
        let Credential::Token(token) = credential else {
            return;
        };
        let code = problem.code;
        let is_denial = matches!(
            code,
            Code::ProjectForbidden
                | Code::InsufficientScope
                | Code::InsufficientRole
                | Code::AgentAutonomyRequired
        );
        if is_denial {
            let denial = Denial {
                user: token.user,
                client: token.client.clone(),
                detail: format!("{} {}", code.as_str(), meta.name),
            };
            self.denials.record(denial, self.clock.now());
        }
    }

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
