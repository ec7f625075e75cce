//! Limits of callers: requests, concurrency, time and memory.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{http::rate_limit::Quota, listen::Patience};

/// Most of `minutes_between_audits`: a week.
const MAX_MINUTES_BETWEEN_AUDITS: u32 = 7 * 24 * 60;

/// Limits, at least 1 unless they say otherwise.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Per credential.
    pub requests_per_minute: u32,
    /// Per credential, for what starts work.
    pub runs_per_minute: u32,
    /// Per project.
    pub requests_per_minute_and_project: u32,
    /// Per network address, for requests without a valid credential.
    pub failed_authentications_per_minute: u32,
    /// Requests of an OAuth client and address at the endpoints for tokens, a minute.
    pub token_requests_per_minute: u32,
    /// From the request for a manual audit of a project to the next one that starts another, 0 for none.
    pub minutes_between_audits: u32,
    /// Requests at the same time.
    pub concurrent: usize,
    /// Milliseconds that requests may wait to be looked at until they are refused, 0 for any time.
    pub wait_ms: u64,
    /// Requests of one credential at the same time.
    pub concurrent_per_credential: usize,
    /// Milliseconds until the headers of a request have to be there.
    pub headers_ms: u64,
    /// Milliseconds that a connection may be idle between two requests.
    pub idle_ms: u64,
    /// Milliseconds until a body has to be there, from the headers on.
    pub body_ms: u64,
    /// Milliseconds until a request has to be carried out, from its body on.
    pub call_ms: u64,
    /// Milliseconds in which at least a part of what is sent of an answer has to be taken.
    pub write_ms: u64,
    /// Connections at the same time, 0 for as many as the open files allow.
    pub connections: usize,
    /// Connections of one network address at the same time.
    pub connections_per_address: usize,
    /// Bytes of bodies on their way in at the same time.
    pub body_bytes: usize,
    /// Bytes of bodies on their way in of one credential, or of one network address without one.
    pub body_bytes_per_credential: usize,
    /// Bytes of answers on their way out at the same time.
    pub answer_bytes: usize,
    /// Bytes of answers on their way out to one credential, or to one network address without one.
    pub answer_bytes_per_credential: usize,
}

const MINUTE: i64 = 60_000;

impl Limits {
    /// Times for which connections wait for the other side.
    pub(crate) const fn patience(&self) -> Patience {
        Patience {
            headers: Duration::from_millis(self.headers_ms),
            idle: Duration::from_millis(self.idle_ms),
            write: Duration::from_millis(self.write_ms),
        }
    }

    /// Changes at the same time: three of four requests.
    pub(crate) const fn concurrent_changes(&self) -> usize {
        self.concurrent - self.concurrent / 4
    }

    pub(crate) const fn default(&self) -> Quota {
        Quota {
            units: self.requests_per_minute,
            window_millis: MINUTE,
        }
    }

    pub(crate) const fn run(&self) -> Quota {
        Quota {
            units: self.runs_per_minute,
            window_millis: MINUTE,
        }
    }

    pub(crate) const fn project(&self) -> Quota {
        Quota {
            units: self.requests_per_minute_and_project,
            window_millis: MINUTE,
        }
    }

    pub(crate) const fn oauth_clients(&self) -> Quota {
        Quota {
            units: self.token_requests_per_minute,
            window_millis: MINUTE,
        }
    }

    pub(crate) const fn strangers(&self) -> Quota {
        Quota {
            units: self.failed_authentications_per_minute,
            window_millis: MINUTE,
        }
    }

    /// Checks `minutes_between_audits`; the error is the name of the setting and the reason.
    pub(super) fn between_audits(&self) -> Result<(), (&'static str, String)> {
        if self.minutes_between_audits <= MAX_MINUTES_BETWEEN_AUDITS {
            return Ok(());
        }
        Err((
            "limits.minutes_between_audits",
            format!("has to be at most {MAX_MINUTES_BETWEEN_AUDITS}, a week"),
        ))
    }

    /// Every limit that is at least 1, by the name of its setting.
    pub(super) fn all(&self) -> Vec<(&'static str, usize)> {
        vec![
            ("limits.requests_per_minute", self.requests_per_minute as usize),
            ("limits.runs_per_minute", self.runs_per_minute as usize),
            (
                "limits.requests_per_minute_and_project",
                self.requests_per_minute_and_project as usize,
            ),
            (
                "limits.failed_authentications_per_minute",
                self.failed_authentications_per_minute as usize,
            ),
            (
                "limits.token_requests_per_minute",
                self.token_requests_per_minute as usize,
            ),
            ("limits.concurrent", self.concurrent),
            ("limits.concurrent_per_credential", self.concurrent_per_credential),
            ("limits.headers_ms", self.headers_ms as usize),
            ("limits.idle_ms", self.idle_ms as usize),
            ("limits.body_ms", self.body_ms as usize),
            ("limits.call_ms", self.call_ms as usize),
            ("limits.write_ms", self.write_ms as usize),
            ("limits.connections_per_address", self.connections_per_address),
            ("limits.body_bytes", self.body_bytes),
            ("limits.body_bytes_per_credential", self.body_bytes_per_credential),
            ("limits.answer_bytes", self.answer_bytes),
            (
                "limits.answer_bytes_per_credential",
                self.answer_bytes_per_credential,
            ),
        ]
    }
}
