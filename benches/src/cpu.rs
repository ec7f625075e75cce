//! Processor time of a process as the kernel counts it (Linux).

use std::fs;

use anyhow::{Context, Result};

/// Linux tells times in hundredths of a second, whatever its own clock is (`USER_HZ`).
const TICKS: f64 = 100.0;

/// Seconds all threads of a running process have computed so far, in the program and in the kernel.
pub fn seconds(process: u32) -> Result<f64> {
    let stat =
        fs::read_to_string(format!("/proc/{process}/stat")).context("the measured process has ended")?;
    // the name of the program, which may hold anything, ends at the last bracket
    let (_, fields) = stat.rsplit_once(')').context("no times in /proc")?;
    let times: Vec<&str> = fields.split_whitespace().skip(11).take(2).collect();
    let ticks: Result<Vec<f64>, _> = times.iter().map(|ticks| ticks.parse::<f64>()).collect();
    Ok(ticks?.iter().sum::<f64>() / TICKS)
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_process_computes() {
        let seconds = super::seconds(std::process::id()).unwrap();
        assert!((0.0..3_600.0).contains(&seconds));
    }
}
