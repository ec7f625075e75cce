//! Announcements of changes of credentials between the processes on one PostgreSQL (LISTEN and NOTIFY).

use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::task::AbortHandle;
use tokio_postgres::{AsyncMessage, Config};

use super::tls::Connector;
use crate::error::Result;

/// Statement that announces a change.
pub(super) const NOTIFY: &str = "NOTIFY searchwright_credentials";
const LISTEN: &str = "LISTEN searchwright_credentials";
/// Wait before the connection is opened again.
const RECONNECT: Duration = Duration::from_secs(1);

/// Counts the changes that are announced.
#[derive(Debug)]
pub(super) struct CredentialChanges {
    counter: Arc<Counter>,
    task: AbortHandle,
}

#[derive(Debug, Default)]
struct Counter {
    changes: AtomicU64,
    /// Whether announcements arrive.
    is_listening: AtomicBool,
}

impl Drop for CredentialChanges {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl CredentialChanges {
    /// Begins to listen, on a connection of its own.
    pub(super) fn listen(config: Config, connector: Connector) -> Self {
        let counter = Arc::new(Counter::default());
        let task = tokio::spawn(keep_listening(config, connector, counter.clone()));
        Self {
            counter,
            task: task.abort_handle(),
        }
    }

    /// Returns the number of changes so far; `None` while announcements would be missed.
    pub(super) fn generation(&self) -> Option<u64> {
        let changes = self.counter.changes.load(Ordering::Acquire);
        self.counter
            .is_listening
            .load(Ordering::Acquire)
            .then_some(changes)
    }

    /// Counts a change of this process, which need not wait for its own announcement.
    pub(super) fn count(&self) {
        self.counter.changes.fetch_add(1, Ordering::AcqRel);
    }
}

async fn keep_listening(config: Config, connector: Connector, counter: Arc<Counter>) {
    loop {
        let ended = listen(&config, &connector, &counter).await;
        counter.is_listening.store(false, Ordering::Release);
        counter.changes.fetch_add(1, Ordering::AcqRel);
        if let Err(error) = ended {
            tracing::warn!(%error, "changes of credentials are not announced: each call reads its credential until the connection is back");
        }
        tokio::time::sleep(RECONNECT).await;
    }
}

/// Counts announcements until the connection ends.
async fn listen(config: &Config, connector: &Connector, counter: &Counter) -> Result<()> {
    let (client, mut connection) = connector.open(config).await?;
    let begin = async {
        client.batch_execute(LISTEN).await?;
        // What was announced before is not known.
        counter.changes.fetch_add(1, Ordering::AcqRel);
        counter.is_listening.store(true, Ordering::Release);
        std::future::pending::<Result<()>>().await
    };
    let drive = async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(_) = message? {
                counter.changes.fetch_add(1, Ordering::AcqRel);
            }
        }
        Ok(())
    };
    tokio::select! {
        ended = begin => ended,
        ended = drive => ended,
    }
}
