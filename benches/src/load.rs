//! Load from `wrk` (installed when missing): 64 connections, two threads, the same for both sides.

use std::{fs, process::Command};

use anyhow::{Context, Result, bail};

/// Load to generate.
#[derive(Clone, Debug)]
pub struct Load {
    /// Address with path and query.
    pub url: String,
    /// `Authorization` header, where the server wants one.
    pub authorization: Option<String>,
    /// Posts keywords whose texts start with this instead of getting `url`; must differ each time.
    pub post: Option<String>,
}

const SCRIPT: &str = include_str!("post.lua");

impl Load {
    /// Requests answered with 2xx a second over some seconds; any other answer is an error.
    pub fn run(&self, seconds: u32) -> Result<f64> {
        let wrk = xtask::packages::ensure("wrk", "wrk")?;
        let mut command = Command::new(wrk);
        command
            .args(["-t2", "-c64", "--timeout", "10s"])
            .arg(format!("-d{seconds}s"));
        if let Some(authorization) = &self.authorization {
            command.arg("-H").arg(format!("Authorization: {authorization}"));
        }
        match &self.post {
            Some(prefix) => {
                let script = xtask::target().join("bench-post.lua");
                fs::write(&script, SCRIPT)?;
                command.arg("-s").arg(script).arg(&self.url).arg("--").arg(prefix)
            }
            None => command.arg(&self.url),
        };
        let output = command.output().context("cannot start wrk")?;
        let said = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            bail!("wrk failed: {said}{}", String::from_utf8_lossy(&output.stderr));
        }
        rate(&said).with_context(|| format!("load on {}", self.url))
    }
}

/// Reads wrk's report.
fn rate(said: &str) -> Result<f64> {
    let field = |name: &str| {
        said.lines()
            .find_map(|line| line.trim().strip_prefix(name))
            .map(str::trim)
    };
    if let Some(count) = field("Non-2xx or 3xx responses:") {
        bail!("{count} answers were no success");
    }
    if let Some(errors) = field("Socket errors:") {
        bail!("connections failed: {errors}");
    }
    let rate = field("Requests/sec:").context("wrk reported no rate")?;
    Ok(rate.parse()?)
}

#[cfg(test)]
mod tests {
    use super::rate;

    const GOOD: &str = "Running 5s test @ http://127.0.0.1:1/\n  2 threads and 64 connections\n  100 requests in 5.00s, 1.00MB read\n\
                        Requests/sec:  15234.56\nTransfer/sec:      1.00MB\n";

    #[test]
    fn the_rate_is_read() {
        assert_eq!(rate(GOOD).unwrap(), 15_234.56);
    }

    #[test]
    fn refused_requests_are_no_rate() {
        assert!(
            rate(&format!("  Non-2xx or 3xx responses: 7\n{GOOD}"))
                .unwrap_err()
                .to_string()
                .starts_with('7')
        );
        assert!(
            rate(&format!(
                "  Socket errors: connect 0, read 3, write 0, timeout 0\n{GOOD}"
            ))
            .is_err()
        );
        assert!(rate("").is_err());
    }
}
