//! Tests over data files, properties, and bounds on hostile text.

#![expect(clippy::unwrap_used, reason = "a test that fails may say so by panicking")]

mod hostile;
mod intervals;
mod labelled;
mod rollups;
