//! The raw history of a run: what was asked and answered, what the outside saw, and what was there at the end, a line of JSON each.

use std::{
    fs::File,
    io::{BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// A request that changes something, with what makes it recognisable afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub(super) enum Action {
    CreateKeyword { keyword: String },
    ChangeKeyword { id: String, volume: u64 },
    DeleteKeyword { id: String },
    CreatePost { title: String },
    PublishPost { post: String },
    GeneratePost { post: String },
    StartAudit,
    RevokeKey { key: String },
}

impl Action {
    /// Name of the operation in the log of activity; revoking is the operator's and not of a project.
    pub(super) fn operation(&self) -> Option<&'static str> {
        Some(match self {
            Self::CreateKeyword { .. } => "keywords.create",
            Self::ChangeKeyword { .. } => "keywords.update",
            Self::DeleteKeyword { .. } => "keywords.delete",
            Self::CreatePost { .. } => "posts.create",
            Self::PublishPost { .. } => "posts.publish",
            Self::GeneratePost { .. } => "posts.generate",
            Self::StartAudit => "audits.start",
            Self::RevokeKey { .. } => return None,
        })
    }

    /// Method of its request.
    pub(super) fn method(&self) -> &'static str {
        match self {
            Self::ChangeKeyword { .. } => "PATCH",
            Self::DeleteKeyword { .. } => "DELETE",
            _ => "POST",
        }
    }

    /// Id of the record that it is about, where that is known before.
    pub(super) fn record(&self) -> Option<&str> {
        match self {
            Self::ChangeKeyword { id, .. } | Self::DeleteKeyword { id } => Some(id),
            Self::PublishPost { post } | Self::GeneratePost { post } => Some(post),
            _ => None,
        }
    }
}

/// A line of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub(super) enum HistoryEntry {
    /// The first line: what ran.
    Began {
        experiment: String,
        database: String,
        processes: usize,
        seed: u64,
    },
    /// A request is about to be sent. The same call may be sent again, with the same `Idempotency-Key`.
    Sent {
        call: u64,
        #[serde(flatten)]
        action: Action,
    },
    /// An answer came.
    Answered {
        call: u64,
        status: u16,
        id: Option<String>,
        job: Option<String>,
        code: Option<String>,
    },
    /// No answer came: whether it was carried out is unknown.
    Lost {
        call: u64,
    },
    /// A fault was made.
    Fault {
        fault: String,
    },
    /// A request with a key whose revocation was confirmed more than two seconds before, the longest time that answers may be cached.
    Probed {
        key: String,
        status: u16,
    },
    /// The CMS carried out a request that creates an item.
    Created {
        item: u64,
        title: String,
    },
    /// The model received a request, which it charges.
    Charged {
        call: u64,
    },
    /// The receiver of webhooks got an event.
    Delivered {
        event: String,
        kind: String,
        digest: String,
        accepted: bool,
    },
    /// Everything has settled; what follows was read at the end.
    Settled {
        seconds: u64,
    },
    FoundKeyword {
        id: String,
        keyword: String,
        volume: Option<u64>,
    },
    FoundPost {
        id: String,
        title: String,
        state: String,
        was_live: bool,
        evidence: usize,
    },
    FoundJob {
        id: String,
        kind: String,
        status: String,
        waits: bool,
    },
    FoundEvent {
        id: String,
        kind: String,
        post: Option<String>,
    },
    FoundDelivery {
        event: String,
        status: String,
        attempts: u64,
    },
    FoundActivity {
        operation: String,
        subject: Option<String>,
    },
    FoundAudit {
        id: String,
        status: String,
    },
    FoundItem {
        item: u64,
        title: String,
    },
    FoundSpend {
        charged: u64,
        uncertain: u64,
    },
    FoundSlots {
        schedule: String,
        due: usize,
        fired: usize,
    },
}

/// A history with the time of each entry, in milliseconds from its beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) at: u64,
    #[serde(flatten)]
    pub(super) entry: HistoryEntry,
}

/// A history that is being written.
pub(super) struct History {
    path: PathBuf,
    begun: Instant,
    calls: AtomicU64,
    file: Mutex<BufWriter<File>>,
}

impl History {
    pub(super) fn create(path: PathBuf) -> Result<Self> {
        let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self {
            path,
            begun: Instant::now(),
            calls: AtomicU64::new(1),
            file: Mutex::new(BufWriter::new(file)),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Number of the next call.
    pub(super) fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    /// Appends an entry. What cannot be written is said on standard error, and the verdict misses it.
    pub(super) fn write(&self, entry: HistoryEntry) {
        let line = Line {
            at: self.begun.elapsed().as_millis() as u64,
            entry,
        };
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = serde_json::to_writer(&mut *file, &line)
            .map_err(anyhow::Error::from)
            .and_then(|()| Ok(file.write_all(b"\n")?));
        if let Err(error) = written {
            eprintln!("the history: {error:#}");
        }
    }

    /// Writes everything to the file.
    pub(super) fn flush(&self) -> Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(file.flush()?)
    }
}

/// Reads a history from its file.
pub(super) fn read(path: &Path) -> Result<Vec<Line>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = BufReader::new(file).lines().enumerate();
    lines
        .map(|(number, line)| {
            serde_json::from_str(&line?)
                .with_context(|| format!("{}:{}: no entry of a history", path.display(), number + 1))
        })
        .collect()
}
