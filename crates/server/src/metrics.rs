//! Metrics in the Prometheus text format (OpenMetrics 1.0), on a listener of their own.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicI64, AtomicU64},
    time::Duration,
};

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};
use searchwright_contract::Instant;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Call {
    operation: &'static str,
    status: u16,
}

/// Metrics of the process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<Call, Counter<u64, AtomicU64>>,
    seconds: Histogram,
    ready: Gauge<i64, AtomicI64>,
    connections: Gauge<i64, AtomicI64>,
    wait: Gauge<f64, AtomicU64>,
    refused: Gauge<i64, AtomicI64>,
    last_backup: Gauge<i64, AtomicI64>,
    backup_failures: Counter<u64, AtomicU64>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("searchwright");
        let requests = Family::<Call, Counter<u64, AtomicU64>>::default();
        let seconds = Histogram::new([
            0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
        ]);
        let ready = Gauge::<i64, AtomicI64>::default();
        registry.register(
            "requests",
            "Calls of API operations by operation and HTTP status",
            requests.clone(),
        );
        registry.register("request_seconds", "Time to carry out a call", seconds.clone());
        let connections = Gauge::<i64, AtomicI64>::default();
        registry.register(
            "connections",
            "Open connections at all doors",
            connections.clone(),
        );
        let wait = Gauge::<f64, AtomicU64>::default();
        registry.register(
            "request_wait_seconds",
            "Time that requests wait to be looked at, at this moment",
            wait.clone(),
        );
        let refused = Gauge::<i64, AtomicI64>::default();
        registry.register(
            "refused_requests",
            "Requests that were refused as overload since the start",
            refused.clone(),
        );
        let last_backup = Gauge::<i64, AtomicI64>::default();
        registry.register(
            "backup_last_success_timestamp_seconds",
            "Time of the last backup of the embedded database, in seconds since 1970; 0 for none",
            last_backup.clone(),
        );
        let backup_failures = Counter::<u64, AtomicU64>::default();
        registry.register("backup_failures", "Backups that failed", backup_failures.clone());
        registry.register("ready", "1 while the process may be given work", ready.clone());
        Self {
            registry,
            requests,
            seconds,
            ready,
            connections,
            wait,
            refused,
            last_backup,
            backup_failures,
        }
    }
}

impl Metrics {
    /// Notes one call.
    pub fn observe(&self, operation: &'static str, status: u16, took: Duration) {
        self.requests.get_or_create(&Call { operation, status }).inc();
        self.seconds.observe(took.as_secs_f64());
    }

    /// Notes whether the process is ready.
    pub fn set_ready(&self, ready: bool) {
        self.ready.set(ready.into());
    }

    /// Notes how many connections are open.
    pub fn set_connections(&self, count: usize) {
        self.connections.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Notes for how long requests wait, and how many were refused so far.
    pub fn set_pressure(&self, waited: Duration, refused: u64) {
        self.wait.set(waited.as_secs_f64());
        self.refused.set(i64::try_from(refused).unwrap_or(i64::MAX));
    }

    /// Notes when the last backup was made.
    pub fn set_last_backup(&self, at: Instant) {
        self.last_backup.set(at.millis() / 1000);
    }

    /// Notes a backup that failed.
    pub fn backup_failed(&self) {
        self.backup_failures.inc();
    }

    /// Everything, in the text format.
    pub fn text(&self) -> String {
        let mut out = String::new();
        if encode(&mut out, &self.registry).is_err() {
            let _ = writeln!(out, "# encoding failed");
        }
        out
    }
}
