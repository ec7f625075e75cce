//! Hashes of what is stored as JSON.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// SHA-256 of a value as JSON.
pub(crate) fn digest(value: &Value) -> [u8; 32] {
    Sha256::digest(value.to_string()).into()
}
