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
    /// Each of these has an Idempotency-Key of its own.
    pub keyed: bool,
}

/// Result of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Requests answered with 2xx a second.
    pub rate: f64,
    /// Milliseconds within which half of the requests were answered.
    pub half: f64,
    /// Milliseconds within which 99 of 100 requests were answered.
    pub most: f64,
}

const SCRIPT: &str = include_str!("post.lua");

impl Load {
    /// Requests answered with 2xx a second over some seconds; any other answer is an error.
    pub fn run(&self, seconds: u32) -> Result<f64> {
        Ok(self.outcome(seconds)?.rate)
    }

    /// Generates the load for some seconds. Any answer but 2xx is an error.
    pub fn outcome(&self, seconds: u32) -> Result<Outcome> {
        let wrk = xtask::packages::ensure("wrk", "wrk")?;
        let mut command = Command::new(wrk);
        command
            .args(["-t2", "-c64", "--latency", "--timeout", "10s"])
            .arg(format!("-d{seconds}s"));
        if let Some(authorization) = &self.authorization {
            command.arg("-H").arg(format!("Authorization: {authorization}"));
        }
        match &self.post {
            Some(prefix) => {
                let script = xtask::target().join("bench-post.lua");
                fs::write(&script, SCRIPT)?;
                command.arg("-s").arg(script).arg(&self.url).arg("--").arg(prefix);
                if self.keyed {
                    command.arg("keyed");
                }
                &mut command
            }
            None => command.arg(&self.url),
        };
        let output = command.output().context("cannot start wrk")?;
        let said = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            bail!("wrk failed: {said}{}", String::from_utf8_lossy(&output.stderr));
        }
        outcome(&said).with_context(|| format!("load on {}", self.url))
    }
}

/// Reads wrk's report.
fn outcome(said: &str) -> Result<Outcome> {
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
    let percentile = |name: &str| milliseconds(field(name).context("wrk reported no latencies")?);
    Ok(Outcome {
        rate: rate.parse()?,
        half: percentile("50%")?,
        most: percentile("99%")?,
    })
}

/// Reads a time as wrk writes it, such as `812.00us`.
fn milliseconds(time: &str) -> Result<f64> {
    let unit = time.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number: f64 = time.trim_end_matches(unit).parse()?;
    Ok(match unit {
        "us" => number / 1e3,
        "ms" => number,
        "s" => number * 1e3,
        "m" => number * 60e3,
        _ => bail!("{time} is no time"),
    })
}

#[cfg(test)]
mod tests {
    use super::{Outcome, outcome};

    const GOOD: &str = "Running 5s test @ http://127.0.0.1:1/\n  2 threads and 64 connections\n  Latency Distribution\n     50%  812.00us\n     \
                        75%    1.50ms\n     90%    9.00ms\n     99%    1.20s \n  100 requests in 5.00s, 1.00MB read\n\
                        Requests/sec:  15234.56\nTransfer/sec:      1.00MB\n";

    #[test]
    fn rate_and_latencies_are_read() {
        let expected = Outcome {
            rate: 15_234.56,
            half: 0.812,
            most: 1_200.0,
        };
        assert_eq!(outcome(GOOD).unwrap(), expected);
    }

    #[test]
    fn refused_requests_are_no_rate() {
        assert!(
            outcome(&format!("  Non-2xx or 3xx responses: 7\n{GOOD}"))
                .unwrap_err()
                .to_string()
                .starts_with('7')
        );
        assert!(
            outcome(&format!(
                "  Socket errors: connect 0, read 3, write 0, timeout 0\n{GOOD}"
            ))
            .is_err()
        );
        assert!(outcome("").is_err());
    }
}
