//! One row of fields made a [`Row`].

use std::io::Read;

use memchr::{memchr, memmem};
use searchwright_contract::keywords::Intent;

use super::{
    FaultCode, MAX_KEYWORD, MAX_VOLUME, Month, Row, RowFault, Trend, VolumeRange,
    formats::{Column, Field, Format, Layout},
    languages,
    numbers::{Figure, NumberKind, figure},
    records::Records,
};
use crate::normalize;

/// Numbers that Keyword Planner shows in place of a volume to accounts that spend little, with their buckets.
const BUCKETS: [(i64, VolumeRange); 6] = [
    (0, VolumeRange { min: 0, max: 10 }),
    (50, VolumeRange { min: 10, max: 100 }),
    (500, VolumeRange { min: 100, max: 1_000 }),
    (
        5_000,
        VolumeRange {
            min: 1_000,
            max: 10_000,
        },
    ),
    (
        50_000,
        VolumeRange {
            min: 10_000,
            max: 100_000,
        },
    ),
    (
        500_000,
        VolumeRange {
            min: 100_000,
            max: 1_000_000,
        },
    ),
];

/// A fault of one field.
type Fault = (FaultCode, String);

/// Reads the row that `records` stands on.
pub(super) fn read<R: Read>(
    records: &Records<R>,
    layout: &Layout,
    comma_decimal: bool,
) -> Result<Row, RowFault> {
    let fault = |column: Option<&Field>, (code, detail): Fault| RowFault {
        line: records.line(),
        column: column.map(|field| field.header.clone()),
        code,
        detail,
    };
    let bytes = records.bytes();
    if memchr(0, bytes).is_some() || memmem::find(bytes, "\u{fffd}".as_bytes()).is_some() {
        let what = "holds characters that are none in the encoding of the file";
        return Err(fault(None, (FaultCode::NotText, what.to_owned())));
    }
    let extra = (layout.width..records.len()).any(|i| records.field(i) != Some(""));
    if records.len() < layout.least_width() || extra {
        let what = format!("{} columns, the header has {}", records.len(), layout.width);
        return Err(fault(None, (FaultCode::ColumnCount, what)));
    }
    let mut row = Row {
        line: records.line(),
        ..Row::default()
    };
    for field in &layout.fields {
        let Some(text) = records.field(field.index) else {
            return Err(fault(Some(field), (FaultCode::NotText, String::new())));
        };
        read_field(&mut row, field.column, text.trim(), layout.format, comma_decimal)
            .map_err(|f| fault(Some(field), f))?;
    }
    if row.cpc.is_some() && row.currency.is_none() {
        row.currency.clone_from(&layout.currency);
    }
    if layout.format == Format::KeywordPlanner {
        let is_filled = |field: &Field| {
            matches!(field.column, Column::SomeMonth(_)) && records.field(field.index) != Some("")
        };
        settle_bucket(&mut row, layout.fields.iter().any(is_filled));
    }
    Ok(row)
}

fn read_field(row: &mut Row, column: Column, text: &str, format: Format, comma: bool) -> Result<(), Fault> {
    let decimal = NumberKind::Decimal { comma };
    match column {
        Column::Keyword => row.keyword = keyword(text)?,
        Column::Volume => match known(text, NumberKind::Whole)? {
            Figure::Unknown => {}
            Figure::Exact(value) => row.search_volume = Some(count(value, text)?),
            Figure::Range(low, high) => {
                let (min, max) = (count(low, text)?, count(high, text)?);
                row.volume_range = Some(VolumeRange { min, max });
            }
        },
        Column::Difficulty => {
            let value = within(text, decimal, 100.0)?;
            row.difficulty = value.map(|value| value.round() as i64);
        }
        Column::Cpc => row.cpc = within(text, decimal, f64::MAX)?,
        Column::BidLow => row.bid_low = within(text, decimal, f64::MAX)?,
        Column::BidHigh => row.bid_high = within(text, decimal, f64::MAX)?,
        Column::Currency => row.currency = code(text, 3)?,
        Column::Country => row.country = code(text, 2)?,
        Column::Competition => match languages::level(text) {
            Some(level) => row.competition_level = Some(level),
            // the planner's words for "unknown" differ by language
            None if format == Format::KeywordPlanner && !text.contains(|c: char| c.is_ascii_digit()) => {}
            // the exact index of the planner may have come before
            None => row.competition = within(text, decimal, 1.0)?.or(row.competition),
        },
        Column::CompetitionLevel => match languages::level(text) {
            None if known(text, decimal) != Ok(Figure::Unknown) => {
                return Err((FaultCode::UnknownValue, shown(text)));
            }
            level => row.competition_level = level,
        },
        Column::CompetitionIndex => {
            row.competition = within(text, decimal, 100.0)?.map(|index| index / 100.0);
        }
        Column::Trend => row.trend = trend(text)?,
        Column::Month(month) => {
            if let Figure::Exact(value) = known(text, NumberKind::Whole)? {
                let month = String::from_utf8_lossy(&month).into_owned();
                let value = count(value, text)?;
                match &mut row.trend {
                    Some(Trend::Months(months)) => months.push(Month { month, value }),
                    _ => row.trend = Some(Trend::Months(vec![Month { month, value }])),
                }
            }
        }
        // only that it is filled is of interest
        Column::SomeMonth(_) => {}
        Column::Intents => {
            let more = std::mem::replace(&mut row.intents, intents(text, format));
            add_intents(row, more);
        }
        Column::SecondaryIntents => add_intents(row, intents(text, format)),
        Column::Language => row.language = language(text)?,
        Column::ParentTopic => row.parent_topic = some(text),
        Column::SerpFeatures => {
            let features = text.split([',', ';']).map(str::trim).filter(|f| !f.is_empty());
            row.serp_features = features.map(str::to_owned).collect();
        }
        Column::Position => row.position = within(text, decimal, f64::MAX)?,
        Column::Url => row.ranking_url = some(text),
        Column::Clicks => row.clicks = whole(text)?,
        Column::Impressions => row.impressions = whole(text)?,
        Column::Ctr => {
            let percent = text.strip_suffix('%').or_else(|| text.strip_prefix('%'));
            row.ctr = match percent {
                Some(percent) => within(percent, decimal, 100.0)?.map(|percent| percent / 100.0),
                None => within(text, decimal, 1.0)?,
            };
        }
    }
    Ok(())
}

/// A planner row without a single month and with a round volume is a bucket.
fn settle_bucket(row: &mut Row, has_months: bool) {
    if row.trend.is_none()
        && !has_months
        && let Some(volume) = row.search_volume
        && let Some((_, range)) = BUCKETS.iter().find(|(shown, _)| *shown == volume)
    {
        row.search_volume = None;
        row.volume_range = Some(*range);
    }
    if let Some(Trend::Months(months)) = &mut row.trend {
        months.sort_by(|a, b| a.month.cmp(&b.month));
    }
}

fn keyword(text: &str) -> Result<String, Fault> {
    // a quoted line break within a keyword is white space
    let keyword = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if normalize(&keyword).is_empty() {
        Err((FaultCode::Blank, "the keyword is empty".to_owned()))
    } else if keyword.chars().count() > MAX_KEYWORD {
        Err((FaultCode::KeywordTooLong, shown(&keyword)))
    } else if keyword.chars().any(char::is_control) {
        Err((FaultCode::NotText, shown(&keyword)))
    } else {
        Ok(keyword)
    }
}

fn known(text: &str, kind: NumberKind) -> Result<Figure, Fault> {
    figure(text, kind).ok_or_else(|| (FaultCode::NotANumber, shown(text)))
}

/// A count that is whole and not negative.
fn count(value: f64, text: &str) -> Result<i64, Fault> {
    if value.fract() != 0.0 {
        return Err((FaultCode::NotANumber, shown(text)));
    }
    if !(0.0..=MAX_VOLUME as f64).contains(&value) {
        return Err((FaultCode::OutOfRange, shown(text)));
    }
    Ok(value as i64)
}

/// A count; a bucket is no count.
fn whole(text: &str) -> Result<Option<i64>, Fault> {
    match known(text, NumberKind::Whole)? {
        Figure::Exact(value) => count(value, text).map(Some),
        Figure::Unknown | Figure::Range(..) => Ok(None),
    }
}

/// A number from 0 to `most`; a range such as `< 0.01` is unknown.
fn within(text: &str, kind: NumberKind, most: f64) -> Result<Option<f64>, Fault> {
    match known(text, kind)? {
        Figure::Exact(value) if (0.0..=most).contains(&value) => Ok(Some(value)),
        Figure::Exact(_) => Err((FaultCode::OutOfRange, shown(text))),
        Figure::Unknown | Figure::Range(..) => Ok(None),
    }
}

/// A code of so many letters, in upper case.
fn code(text: &str, letters: usize) -> Result<Option<String>, Fault> {
    if text.is_empty() {
        Ok(None)
    } else if text.len() == letters && text.bytes().all(|b| b.is_ascii_alphabetic()) {
        Ok(Some(text.to_ascii_uppercase()))
    } else {
        Err((FaultCode::UnknownValue, shown(text)))
    }
}

/// A language tag, BCP 47.
fn language(text: &str) -> Result<Option<String>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    let mut parts = text.split('-');
    let is_primary =
        |part: &str| matches!(part.len(), 2 | 3) && part.bytes().all(|b| b.is_ascii_alphabetic());
    let is_part =
        |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric());
    if text.len() <= 35 && parts.next().is_some_and(is_primary) && parts.all(is_part) {
        Ok(Some(text.to_owned()))
    } else {
        Err((FaultCode::UnknownValue, shown(text)))
    }
}

fn add_intents(row: &mut Row, more: Vec<Intent>) {
    for intent in more {
        if !row.intents.contains(&intent) {
            row.intents.push(intent);
        }
    }
}

/// Twelve shares of the best month.
fn trend(text: &str) -> Result<Option<Trend>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    let mut months = [0.0; 12];
    let mut parts = text.split([',', '|']);
    for month in &mut months {
        let value: Option<f64> = parts.next().and_then(|part| part.trim().parse().ok());
        *month = match value {
            Some(value) if (0.0..=1.0).contains(&value) => value,
            Some(_) => return Err((FaultCode::OutOfRange, shown(text))),
            None => return Err((FaultCode::NotANumber, shown(text))),
        };
    }
    match parts.next() {
        None => Ok(Some(Trend::Relative(months))),
        Some(_) => Err((FaultCode::OutOfRange, shown(text))),
    }
}

/// Intents by name, or by the numbers of the Semrush API. Other words (`Branded`, `Local`) are no intents.
fn intents(text: &str, format: Format) -> Vec<Intent> {
    let semrush = matches!(format, Format::SemrushApi | Format::SemrushPositions);
    let mut intents = Vec::new();
    for word in text.split([',', ';', '|']) {
        let intent = match word.trim() {
            "0" if semrush => Some(Intent::Commercial),
            "1" if semrush => Some(Intent::Informational),
            "2" if semrush => Some(Intent::Navigational),
            "3" if semrush => Some(Intent::Transactional),
            word => word.to_ascii_lowercase().parse().ok(),
        };
        if let Some(intent) = intent
            && !intents.contains(&intent)
        {
            intents.push(intent);
        }
    }
    intents
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// A value as it is shown in a fault.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}
