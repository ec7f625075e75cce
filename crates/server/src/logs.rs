//! Logs on stderr, as text for people or JSON for machines. Never secrets, never bodies.

use tracing::level_filters::LevelFilter;
use tracing_subscriber::{
    Layer as _, filter::Targets, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use crate::config::Log;

/// The level of a name.
pub fn level(name: &str) -> Result<LevelFilter, String> {
    match name {
        "error" => Ok(LevelFilter::ERROR),
        "warn" => Ok(LevelFilter::WARN),
        "info" => Ok(LevelFilter::INFO),
        "debug" => Ok(LevelFilter::DEBUG),
        "trace" => Ok(LevelFilter::TRACE),
        other => Err(format!("{other:?} is none of error, warn, info, debug, trace")),
    }
}

/// Begins logging; a second call does nothing.
pub fn init(log: &Log) {
    let level = level(&log.level).unwrap_or(LevelFilter::INFO);
    // Libraries speak up only when something is wrong, unless everything is asked for.
    let others = if level == LevelFilter::TRACE {
        level
    } else {
        LevelFilter::WARN.min(level)
    };
    let targets = Targets::new().with_default(others).with_targets(
        // a prefix of the targets of all our crates
        [("searchwright", level)],
    );
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry();
    let _ = if log.format == "json" {
        registry
            .with(layer.json().flatten_event(true).with_filter(targets))
            .try_init()
    } else {
        registry
            .with(layer.with_target(false).with_ansi(false).with_filter(targets))
            .try_init()
    };
}
