//! Memory of a process as the kernel counts it (Linux).

use std::fs;

use anyhow::{Context, Result};

/// Highest resident memory of a running process so far, in MB of 10^6 bytes (`VmHWM`).
pub fn peak(process: u32) -> Result<f64> {
    field(process, "VmHWM:")
}

/// Resident memory of a running process now, in MB of 10^6 bytes (`VmRSS`).
pub fn resident(process: u32) -> Result<f64> {
    field(process, "VmRSS:")
}

fn field(process: u32, name: &str) -> Result<f64> {
    let status =
        fs::read_to_string(format!("/proc/{process}/status")).context("the measured process has ended")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .context("no memory figures in /proc")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib * 1_024.0 / 1_000_000.0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_process_has_memory() {
        let id = std::process::id();
        let resident = super::resident(id).unwrap();
        assert!(resident > 0.5 && resident <= super::peak(id).unwrap() * 1.5);
    }
}
