//! Surroundings of the tests and benchmarks: programs of the system, a private PostgreSQL, a generated website with
//! known faults.
//!
//! Kept apart from the command line so that the benchmarks and the conformance program use the same pieces, and kept
//! to few dependencies because everybody's first test run compiles it.

pub mod bench;
pub mod fuzz;
pub mod house;
pub mod libraries;
pub mod lockfile;
pub mod packages;
pub mod peers;
pub mod postgres;
pub mod process;
pub mod random;
pub mod release;
pub mod schema_org;
pub mod test;
pub mod website;

use std::path::PathBuf;

/// Root folder of the workspace this program was built in.
pub fn workspace() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    own.parent().map(PathBuf::from).unwrap_or(own)
}

/// Folder that cargo builds into and that everything temporary goes into, so that it is ignored by
/// git and removed by `cargo clean`.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
}

/// True under continuous integration (`CI=true`), where nothing may be skipped.
pub fn ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}

/// The cargo that started this program, or the one in the path.
pub fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
