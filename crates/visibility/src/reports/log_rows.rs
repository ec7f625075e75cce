//! Daily sums of an access log as a file: visits of agents by page, and referrals from assistants by page. There is no address
//! of a visitor in it.

use std::collections::BTreeMap;

use crate::{
    access_logs::{LogReport, Verification, is_assistant},
    agents::agents,
    days::{CivilDate, day_number},
    overview::DayRange,
};

use super::{
    fields,
    records::{Dimension, ReportRow, SkipReason},
    rows::{RowContext, RowFault, RowFields, count, field, item_text, optional_count},
};

/// Header of the file. `kind` is `visit` or `referral`, `name` the agent or the assistant. `verified` and `forged` are empty
/// where no addresses of the vendor were given, and always for referrals.
pub const HEADER: &str = "date,kind,name,page,count,errors,verified,forged";

const VISIT: &str = "visit";
const REFERRAL: &str = "referral";

/// Counts of an agent's visits to a page on a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisitSums {
    /// All visits.
    pub visits: u64,
    /// Visits answered with an error.
    pub errors: u64,
    /// Visits from addresses of the vendor; `None` if no visit could be checked.
    pub verified: Option<u64>,
    /// Visits from other addresses; `None` if no visit could be checked.
    pub forged: Option<u64>,
}

impl VisitSums {
    /// Adds visits of one verification.
    pub fn add(&mut self, verification: Verification, visits: u64, errors: u64) {
        self.visits += visits;
        self.errors += errors;
        if verification == Verification::Unknown {
            return;
        }
        let verified = self.verified.get_or_insert_default();
        let forged = self.forged.get_or_insert_default();
        match verification {
            Verification::Verified => *verified += visits,
            _ => *forged += visits,
        }
    }
}

/// Returns the rows of a log's sums, without header, in the order of days, agents and pages. Rows of days that are none are
/// left out.
pub fn log_lines(report: &LogReport) -> Vec<String> {
    let mut visits: BTreeMap<(u32, u16, &str), VisitSums> = BTreeMap::new();
    for (key, count) in &report.visits {
        let sums = visits.entry((key.day, key.agent, &key.page)).or_default();
        sums.add(key.verification, count.visits, count.errors);
    }
    let mut lines = Vec::with_capacity(visits.len() + report.referrals.len());
    for ((day, agent, page), sums) in visits {
        let name = agents().get(usize::from(agent)).map(|agent| agent.name);
        if let (Some(date), Some(name)) = (iso_day(day), name) {
            let mut line = head(&date, VISIT, name, page);
            let optional = |count: Option<u64>| count.map_or_else(String::new, |count| count.to_string());
            line.push_str(&format!(
                ",{},{},{},{}",
                sums.visits,
                sums.errors,
                optional(sums.verified),
                optional(sums.forged)
            ));
            lines.push(line);
        }
    }
    let mut referrals: Vec<_> = report.referrals.iter().collect();
    referrals.sort_unstable_by_key(|(key, _)| (key.day, key.assistant, &key.page));
    for (key, count) in referrals {
        if let Some(date) = iso_day(key.day) {
            let mut line = head(&date, REFERRAL, key.assistant, &key.page);
            line.push_str(&format!(",{count},,,"));
            lines.push(line);
        }
    }
    lines
}

fn head(date: &str, kind: &str, name: &str, page: &str) -> String {
    let mut line = format!("{date},{kind},{name},");
    fields::push(&mut line, page);
    line
}

/// Returns `YYYYMMDD` as `YYYY-MM-DD`; `None` if it is no day.
pub fn iso_day(day: u32) -> Option<String> {
    let date = CivilDate {
        year: i64::from(day / 10_000),
        month: day / 100 % 100,
        day: day % 100,
    };
    day_number(date)?;
    Some(format!("{:04}-{:02}-{:02}", date.year, date.month, date.day))
}

pub(super) fn read_row(fields: RowFields<'_, '_>, context: &RowContext<'_>) -> Result<ReportRow, RowFault> {
    let day = context.day(fields, 0)?;
    let dimension = match field(fields, 1)? {
        VISIT => Dimension::Visit,
        REFERRAL => Dimension::Referral,
        _ => {
            return Err(RowFault::new(
                SkipReason::UnknownName,
                1,
                "is neither visit nor referral",
            ));
        }
    };
    let name = field(fields, 2)?;
    let is_known = match dimension {
        Dimension::Visit => agents().iter().any(|agent| agent.name == name),
        _ => is_assistant(name),
    };
    if !is_known {
        return Err(RowFault::new(
            SkipReason::UnknownName,
            2,
            "is no agent or assistant that is known",
        ));
    }
    let page = item_text(fields, 3)?;
    if !page.starts_with('/') {
        return Err(RowFault::new(
            SkipReason::NotAPage,
            3,
            "is no path that begins with a slash",
        ));
    }
    let amount = count(fields, 4)?;
    let [errors, verified, forged] = [
        optional_count(fields, 5)?,
        optional_count(fields, 6)?,
        optional_count(fields, 7)?,
    ];
    if errors.max(Some(verified.unwrap_or(0) + forged.unwrap_or(0))) > Some(amount) {
        let why = "has more errors, or more visits that are verified or forged, than visits";
        return Err(RowFault::new(SkipReason::InvalidNumber, 4, why));
    }
    Ok(ReportRow {
        line: 0,
        dimension,
        days: DayRange { from: day, to: day },
        actor: name.to_owned(),
        item: page,
        amount,
        cited_pages: None,
        errors,
        verified,
        forged,
    })
}
