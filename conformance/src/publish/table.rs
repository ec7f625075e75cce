//! What was tried with which CMS, and what came of it.

use std::fmt;

use anyhow::{Result, ensure};

#[derive(Debug)]
struct Row {
    cms: &'static str,
    what: String,
    fault: Option<String>,
    said: String,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Row>,
}

impl Table {
    /// Notes what came of one step; a fault does not keep the next from being tried.
    pub(super) fn add(&mut self, cms: &'static str, what: impl Into<String>, outcome: Result<String>) {
        let (said, fault) = match outcome {
            Ok(said) => (said, None),
            Err(error) => (String::new(), Some(format!("{error:#}"))),
        };
        let row = Row {
            cms,
            what: what.into(),
            fault,
            said,
        };
        eprint!("{row}");
        self.rows.push(row);
    }

    /// Fails where something was not as expected.
    pub(super) fn judge(&self) -> Result<()> {
        let faults = self.rows.iter().filter(|row| row.fault.is_some()).count();
        ensure!(
            faults == 0,
            "{faults} of {} steps were not as expected",
            self.rows.len()
        );
        Ok(())
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, text) = match &self.fault {
            Some(fault) => ("FAILED", fault),
            None => ("ok", &self.said),
        };
        let line = format!("{:<17} {:<34} {word:<6} {text}", self.cms, self.what);
        writeln!(f, "{}", line.trim_end())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows.iter().try_for_each(|row| row.fmt(f))
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::Table;

    #[test]
    fn one_fault_is_enough() {
        let mut table = Table::default();
        table.add("ghost", "draft", Ok("1 item".to_owned()));
        assert!(table.judge().is_ok());
        table.add("ghost", "update", (|| bail!("2 items"))());
        assert!(table.judge().is_err());
        let shown = table.to_string();
        assert!(
            shown.contains("ok     1 item") && shown.contains("FAILED 2 items"),
            "{shown}"
        );
    }
}
