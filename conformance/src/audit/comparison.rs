//! Comparison of the pages that fail a check with those that fail it according to peers.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use anyhow::{Result, ensure};
use serde::Deserialize;

use super::differences::{DIFFERENCES, Side};

/// Unexplained differences shown for each check.
const MAX_SHOWN: usize = 10;

/// Verdict of one peer on one check and one website.
#[derive(Debug, Deserialize)]
pub(super) struct Verdict {
    pub(super) check: String,
    pub(super) peer: String,
    pub(super) fails: BTreeSet<String>,
    /// The pages it looked at; all, unless it says so.
    pub(super) pages: Option<BTreeSet<String>>,
}

/// Verdicts of peers on a website.
#[derive(Debug, Deserialize)]
pub(super) struct PeerReport {
    /// Pages looked at.
    pub(super) pages: BTreeSet<String>,
    pub(super) verdicts: Vec<Verdict>,
    /// Pages by what is odd about them, for reasons to refer to.
    #[serde(default)]
    pub(super) signs: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Debug, Default)]
struct ComparisonRow {
    pages: usize,
    both: usize,
    ours: usize,
    theirs: usize,
    explained: usize,
    unexplained: Vec<String>,
}

/// All comparisons.
#[derive(Debug, Default)]
pub(super) struct ComparisonTable {
    rows: BTreeMap<(String, String), ComparisonRow>,
    reasons: BTreeMap<usize, usize>,
}

impl ComparisonTable {
    /// Compares pages that fail our checks with what peers say of the same website.
    pub(super) fn add(&mut self, ours: &BTreeMap<String, BTreeSet<String>>, said: &PeerReport) {
        let none = BTreeSet::new();
        for verdict in &said.verdicts {
            let row = self
                .rows
                .entry((verdict.check.clone(), verdict.peer.clone()))
                .or_default();
            let looked_at = |url: &&String| verdict.pages.as_ref().is_none_or(|pages| pages.contains(*url));
            let own: BTreeSet<&String> = ours
                .get(&verdict.check)
                .unwrap_or(&none)
                .iter()
                .filter(looked_at)
                .collect();
            let others: BTreeSet<&String> = verdict.fails.iter().filter(looked_at).collect();
            row.pages += verdict.pages.as_ref().unwrap_or(&said.pages).len();
            row.both += own.intersection(&others).count();
            let only_ours = own.difference(&others).map(|url| (*url, Side::Ours));
            let only_theirs = others.difference(&own).map(|url| (*url, Side::Theirs));
            for (url, side) in only_ours.chain(only_theirs) {
                match side {
                    Side::Ours => row.ours += 1,
                    Side::Theirs => row.theirs += 1,
                }
                let explains = |known: &super::differences::Difference| {
                    known.check == verdict.check
                        && known.peer == verdict.peer
                        && known.side == side
                        && said
                            .signs
                            .get(known.sign)
                            .is_some_and(|pages| pages.contains(url))
                };
                if let Some(number) = DIFFERENCES.iter().position(explains) {
                    row.explained += 1;
                    *self.reasons.entry(number).or_default() += 1;
                } else {
                    row.unexplained.push(format!("{side}: {url}"));
                }
            }
        }
    }

    /// Fails unless every difference has its reason and, where all websites were audited, everything was compared.
    pub(super) fn check_differences(&self, all: bool) -> Result<()> {
        let mut faults = Vec::new();
        for ((check, peer), row) in &self.rows {
            if all && row.both == 0 {
                faults.push(format!("{check}, {peer}: no page on which both see the fault"));
            }
            if !row.unexplained.is_empty() {
                let shown = row
                    .unexplained
                    .iter()
                    .take(MAX_SHOWN)
                    .map(|page| format!("\n  {page}"));
                faults.push(format!(
                    "{check}, {peer}: {} differences without a reason{}",
                    row.unexplained.len(),
                    shown.collect::<String>()
                ));
            }
        }
        ensure!(faults.is_empty(), "{}", faults.join("\n"));
        Ok(())
    }
}

impl fmt::Display for ComparisonTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<26} {:<18} {:>6} {:>6} {:>9} {:>11} {:>9}",
            "check", "peer", "pages", "both", "only ours", "only theirs", "explained"
        )?;
        for ((check, peer), row) in &self.rows {
            writeln!(
                f,
                "{check:<26} {peer:<18} {:>6} {:>6} {:>9} {:>11} {:>9}",
                row.pages, row.both, row.ours, row.theirs, row.explained
            )?;
        }
        let checks: BTreeSet<&String> = self.rows.keys().map(|(check, _)| check).collect();
        writeln!(f, "{} checks", checks.len())?;
        for (number, count) in &self.reasons {
            let known = &DIFFERENCES[*number];
            writeln!(
                f,
                "{} ({}), {}: {count} pages: {}",
                known.check, known.peer, known.side, known.reason
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{ComparisonTable, PeerReport, Verdict};

    fn set(urls: &[&str]) -> BTreeSet<String> {
        urls.iter().map(|url| (*url).to_owned()).collect()
    }

    fn judged(ours: &[&str], theirs: &[&str], sign: Option<(&str, &str)>) -> Result<String, String> {
        let check = "og-incomplete".to_owned();
        let said = PeerReport {
            pages: set(&["/a", "/b", "/c"]),
            verdicts: vec![Verdict {
                check: check.clone(),
                peer: "lexbor".to_owned(),
                fails: set(theirs),
                pages: None,
            }],
            signs: sign
                .map(|(sign, url)| (sign.to_owned(), set(&[url])))
                .into_iter()
                .collect(),
        };
        let mut table = ComparisonTable::default();
        table.add(&BTreeMap::from([(check, set(ours))]), &said);
        table.check_differences(true).map_err(|e| e.to_string())?;
        Ok(table.to_string())
    }

    #[test]
    fn unexplained_difference_fails() {
        assert!(judged(&["/a"], &["/a"], None).unwrap().contains("1 checks"));
        assert!(
            judged(&["/a", "/b"], &["/a"], None)
                .unwrap_err()
                .contains("ours: /b")
        );
        assert!(
            judged(&["/a"], &["/a", "/b"], None)
                .unwrap_err()
                .contains("theirs: /b")
        );
        let sign = "not for search results";
        assert!(judged(&["/a"], &["/a", "/b"], Some((sign, "/b"))).is_ok());
        assert!(judged(&["/a"], &["/a", "/b"], Some((sign, "/c"))).is_err());
        assert!(judged(&["/a", "/b"], &["/a"], Some((sign, "/b"))).is_err());
    }

    #[test]
    fn check_without_findings_fails() {
        assert!(
            judged(&[], &[], None)
                .unwrap_err()
                .contains("no page on which both")
        );
    }
}
