//! Results of the steps by CMS.

use std::fmt;

use anyhow::{Result, ensure};

#[derive(Debug)]
struct StepResult {
    cms: &'static str,
    what: String,
    fault: Option<String>,
    said: String,
}

/// The table of all results.
#[derive(Debug, Default)]
pub(crate) struct StepResults {
    rows: Vec<StepResult>,
}

impl StepResults {
    /// Adds and prints the result of one step.
    pub(crate) fn add(&mut self, cms: &'static str, what: impl Into<String>, outcome: Result<String>) {
        let (said, fault) = match outcome {
            Ok(said) => (said, None),
            Err(error) => (String::new(), Some(format!("{error:#}"))),
        };
        let row = StepResult {
            cms,
            what: what.into(),
            fault,
            said,
        };
        eprint!("{row}");
        self.rows.push(row);
    }

    /// Fails if a step failed.
    pub(crate) fn check(&self) -> Result<()> {
        let faults = self.rows.iter().filter(|row| row.fault.is_some()).count();
        ensure!(
            faults == 0,
            "{faults} of {} steps were not as expected",
            self.rows.len()
        );
        Ok(())
    }
}

impl fmt::Display for StepResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, text) = match &self.fault {
            Some(fault) => ("FAILED", fault),
            None => ("ok", &self.said),
        };
        let line = format!("{:<17} {:<34} {word:<6} {text}", self.cms, self.what);
        writeln!(f, "{}", line.trim_end())
    }
}

impl fmt::Display for StepResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows.iter().try_for_each(|row| row.fmt(f))
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::StepResults;

    #[test]
    fn one_failed_step_fails_the_run() {
        let mut table = StepResults::default();
        table.add("ghost", "draft", Ok("1 item".to_owned()));
        assert!(table.check().is_ok());
        table.add("ghost", "update", (|| bail!("2 items"))());
        assert!(table.check().is_err());
        let shown = table.to_string();
        assert!(
            shown.contains("ok     1 item") && shown.contains("FAILED 2 items"),
            "{shown}"
        );
    }
}
