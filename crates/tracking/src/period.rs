//! The period of a request.

use searchwright_contract::visibility::Period;
use searchwright_failure::{Result, fault};
use searchwright_visibility::overview::{DayRange, MAX_PERIOD_DAYS};

use crate::parse_day;

/// Members of a request that name its period.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeriodRequest<'r> {
    pub period: Option<Period>,
    pub from: Option<&'r str>,
    pub to: Option<&'r str>,
}

/// Returns the period of a request.
pub(crate) fn wanted_period(request: PeriodRequest<'_>, today: i32) -> Result<DayRange> {
    let (from, to) = match (request.from, request.to, request.period) {
        (None, None, period) => {
            let days = match period.unwrap_or(Period::TwentyEightDays) {
                Period::SevenDays => 7,
                Period::FourteenDays => 14,
                Period::TwentyEightDays => 28,
                Period::ThirtyDays => 30,
                Period::NinetyDays => 90,
                Period::TwelveMonths => 365,
            };
            (today - days + 1, today)
        }
        (Some(from), Some(to), None) => (parse_day("from", from)?, parse_day("to", to)?),
        (Some(_), Some(_), Some(_)) => {
            let why = "stands beside from and to; give either";
            return Err(fault("/period", "conflict", why));
        }
        (None, _, _) => return Err(fault("/from", "required", "is needed beside to")),
        (_, None, _) => return Err(fault("/to", "required", "is needed beside from")),
    };
    if to < from {
        return Err(fault("/to", "out_of_range", "is before from"));
    }
    if to - from >= MAX_PERIOD_DAYS {
        let why = format!("is more than {} days after from", MAX_PERIOD_DAYS);
        return Err(fault("/to", "out_of_range", why));
    }
    Ok(DayRange { from, to })
}
