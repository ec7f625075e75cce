//! A whole site: crawled, and held against every check.

/// Reads one input.
pub fn run(data: &[u8]) {
    crate::audit(data);
}
