//! The form that makes a share link, on the page of what it shows.

use searchwright_contract::{Instant, people::Role};
use searchwright_store::shares::FixedPeriod;

use crate::dashboard::{fields::Choice, session::FormData, visit::Visit};

/// Lengths of time that the form offers.
const DAYS: [(&str, &str); 3] = [("7", "7 days"), ("30", "30 days"), ("90", "90 days")];
/// The one that is chosen first.
const DEFAULT_DAYS: &str = "30";
const DAY_MILLIS: i64 = 86_400_000;

/// The form with what was chosen.
pub(in crate::dashboard) struct ShareForm {
    /// Address to which it is sent.
    pub action: String,
    /// Address that confirms who is signed in; `None` if that is recent.
    pub confirm: Option<String>,
    /// The audit; empty for the visibility.
    pub audit: String,
    /// The fixed period that is offered.
    pub period: Option<FixedPeriod>,
    /// Choices of the period.
    pub periods: Vec<Choice>,
    pub days: Vec<Choice>,
    /// Day on which it ends, if one was typed.
    pub until: String,
    /// Whether it is open.
    pub is_open: bool,
}

impl ShareForm {
    /// The form for the report of an audit; `None` for somebody who may not share it.
    pub fn of_audit(visit: &Visit, audit: &str) -> Option<Self> {
        Self::new(visit, audit.to_owned(), None)
    }

    /// The form for the visibility of the last days or of these.
    pub fn of_visibility(visit: &Visit, first: &str, last: &str) -> Option<Self> {
        let period = FixedPeriod {
            first: first.to_owned(),
            last: last.to_owned(),
        };
        Self::new(visit, String::new(), Some(period))
    }

    /// The form as it was sent.
    pub fn sent(visit: &Visit, form: &FormData) -> Option<Self> {
        let period = FixedPeriod {
            first: form.get("first").to_owned(),
            last: form.get("last").to_owned(),
        };
        let audit = form.get("audit").to_owned();
        let period = audit.is_empty().then_some(period);
        Some(Self {
            periods: periods(period.as_ref(), form.get("period")),
            days: Choice::list(DAYS, |days| days == form.get("days")),
            until: form.get("until").to_owned(),
            is_open: true,
            ..Self::new(visit, audit, period)?
        })
    }

    fn new(visit: &Visit, audit: String, period: Option<FixedPeriod>) -> Option<Self> {
        (visit.role >= Role::Admin).then(|| Self {
            action: visit.address("/settings/shares"),
            confirm: visit.confirm(),
            audit,
            periods: periods(period.as_ref(), "moving"),
            period,
            days: Choice::list(DAYS, |days| days == DEFAULT_DAYS),
            until: String::new(),
            is_open: false,
        })
    }
}

fn periods(period: Option<&FixedPeriod>, chosen: &str) -> Vec<Choice> {
    let fixed = period.map(|days| format!("Only {} to {}", days.first, days.last));
    let texts = [
        ("moving", Some("The last 28 days, whenever it is opened")),
        ("fixed", fixed.as_deref()),
    ];
    let offered = texts.into_iter().filter_map(|(value, text)| Some((value, text?)));
    Choice::list(offered, |value| value == chosen)
}

/// Returns the time at which a link ends: after the days that were chosen, or at the end of the day that was typed. An error is what
/// is wrong.
pub(super) fn end(visit: &Visit, form: &FormData, now: Instant) -> Result<Instant, &'static str> {
    match (form.get("until").trim(), form.get("days")) {
        ("", "") => Ok(now.plus_millis(30 * DAY_MILLIS)),
        ("", days) => {
            let known = DAYS.iter().any(|(value, _)| *value == days);
            let days = days.parse::<i64>().ok().filter(|_| known);
            let days = days.ok_or("choose from the list how long the link is valid")?;
            Ok(now.plus_millis(days * DAY_MILLIS))
        }
        (day, _) => {
            let at = visit.moment(day, "23:59");
            at.ok_or("the last day of the link has to be a date, such as 2027-01-31")
        }
    }
}
