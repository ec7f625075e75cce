//! Own numbers: import of reports and access logs, and their totals of a period.

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant,
    argument::file_bytes,
    reports::{
        AccessLogReport, AgentVisits, AssistantReferrals, GetReports, ImportReport, ImportedReport, LogDay,
        ReferredPage, ReportDay, ReportFormat, ReportPeriod, ReportTable, ReportTableRow, ReportUnit,
        Reports, SkippedReportRow, VendorReport, VisitPurpose, VisitedPage,
    },
};
use searchwright_failure::{Result, fault};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    projects,
    reports::{self as rows, ImportDays, LastImport, PeriodSums, RowSelection, StoredReportRow},
};
use searchwright_visibility::{
    agents::{AgentPurpose, agents},
    overview::DayRange,
    reports::{
        self as rules, Dimension, ParsedReport, ReportContext, ReportRefusal, ReportRow, choose_periods,
    },
};

use crate::{
    ProjectDays, TrackedBrands,
    days::format_day,
    parse_day,
    period::{PeriodRequest, wanted_period},
};

/// Rows of a table by default.
const DEFAULT_TOP: u8 = 20;
/// Spans of days that are named, at most.
const MAX_SPANS: usize = 100;

const BING_MEANING: &str = "Citations as Bing counts them in Microsoft Copilot, AI summaries in Bing and partners: the times that pages were shown as sources. They say nothing of position, prominence or clicks. Grounding queries are a sample of what the system searched for, not what people typed.";
const SEARCH_CONSOLE_MEANING: &str = "Impressions as Google counts them in its generative AI features: a link counts wherever it stands in an answer, whether or not anybody saw it. There are no clicks and no queries, and the features are not told apart. Days are those of Pacific Time.";
const LOG_MEANING: &str = "Visits of agents by the name they give; verified are those from addresses that the agent's vendor publishes. A visit is neither a citation nor a person. Referrals are visits of people that name an assistant as their origin: a floor, because many assistants and apps name none.";

/// A report that was parsed.
#[derive(Debug)]
pub struct ReadReport {
    format: ReportFormat,
    /// Rows without the header.
    rows: u64,
    wanted: Vec<StoredReportRow>,
    first: Option<i32>,
    last: Option<i32>,
    skipped: u64,
    skipped_rows: Vec<SkippedReportRow>,
}

/// Parses a report. It takes long enough for a large file to keep it off the threads of the runtime.
pub fn read(
    operation: ImportReport,
    brands: &TrackedBrands,
    days: &ProjectDays,
    now: Instant,
) -> Result<ReadReport> {
    // A vendor's day may begin before the project's.
    let parsed = parse(operation, brands, days.day(now) + 1)?;
    let skipped = parsed.skipped_rows.into_iter().map(|row| SkippedReportRow {
        line: row.line,
        code: row.reason.as_str().to_owned(),
        column: row.column,
        detail: row.detail,
    });
    Ok(ReadReport {
        format: contract_format(parsed.format),
        rows: parsed.read,
        first: parsed.rows.iter().map(|row| row.days.from).min(),
        last: parsed.rows.iter().map(|row| row.days.to).max(),
        wanted: parsed.rows.into_iter().map(stored_row).collect(),
        skipped: parsed.skipped,
        skipped_rows: skipped.collect(),
    })
}

/// Stores a report.
pub async fn save(
    tx: &mut Tx,
    scope: ProjectScope,
    report: &ReadReport,
    now: Instant,
) -> Result<ImportedReport> {
    let written = rows::save(tx, scope, report.format, report.wanted.clone()).await?;
    let oldest = report.wanted.iter().map(|row| row.last_day).min();
    if let (Some(oldest), Some(newest)) = (oldest, report.last) {
        let import = ImportDays { oldest, newest };
        rows::set_imported(tx, scope, report.format, import, now).await?;
    }
    let stored = written.added + written.replaced;
    Ok(ImportedReport {
        format: report.format,
        rows: report.rows,
        added: written.added,
        replaced: written.replaced,
        unchanged: (report.wanted.len() as u64).saturating_sub(stored),
        skipped: report.skipped,
        skipped_rows: report.skipped_rows.clone(),
        from: report.first.map(format_day),
        to: report.last.map(format_day),
    })
}

fn parse(operation: ImportReport, brands: &TrackedBrands, last_day: i32) -> Result<ParsedReport> {
    let period = export_period(operation.from.as_deref(), operation.to.as_deref(), last_day)?;
    let bytes = file_bytes(operation.file).map_err(|e| fault("/file", e.code(), e.to_string()))?;
    let context = ReportContext {
        format: operation.format.map(rule_format),
        period,
        last_day,
        owns_host: &|host| brands.matcher.owns_host(host),
    };
    rules::parse_report(&bytes, &context).map_err(|refusal| refused(&refusal))
}

/// Returns the period of an export without dates.
fn export_period(from: Option<&str>, to: Option<&str>, last_day: i32) -> Result<Option<DayRange>> {
    let (from, to) = match (from, to) {
        (None, None) => return Ok(None),
        (Some(from), Some(to)) => (parse_day("from", from)?, parse_day("to", to)?),
        (None, _) => return Err(fault("/from", "required", "is needed beside to")),
        (_, None) => return Err(fault("/to", "required", "is needed beside from")),
    };
    if to < from {
        return Err(fault("/to", "out_of_range", "is before from"));
    }
    if to > last_day {
        return Err(fault("/to", "out_of_range", "lies in the future"));
    }
    // Bing and Google keep 16 months.
    if to - from >= 500 {
        return Err(fault("/to", "out_of_range", "is more than 500 days after from"));
    }
    Ok(Some(DayRange { from, to }))
}

fn refused(refusal: &ReportRefusal) -> searchwright_failure::Failure {
    let member = match refusal {
        ReportRefusal::OtherFormat(_) => "/format",
        ReportRefusal::NoPeriod | ReportRefusal::UnneededPeriod => "/from",
        _ => "/file",
    };
    fault(member, refusal.code(), refusal.to_string())
}

fn rule_format(format: ReportFormat) -> rules::ReportFormat {
    match format {
        ReportFormat::BingAiPerformance => rules::ReportFormat::BingAiPerformance,
        ReportFormat::SearchConsoleAi => rules::ReportFormat::SearchConsoleAi,
        ReportFormat::AccessLog => rules::ReportFormat::AccessLog,
    }
}

fn contract_format(format: rules::ReportFormat) -> ReportFormat {
    match format {
        rules::ReportFormat::BingAiPerformance => ReportFormat::BingAiPerformance,
        rules::ReportFormat::SearchConsoleAi => ReportFormat::SearchConsoleAi,
        rules::ReportFormat::AccessLog => ReportFormat::AccessLog,
    }
}

fn stored_row(row: ReportRow) -> StoredReportRow {
    StoredReportRow {
        dimension: row.dimension.as_str(),
        first_day: row.days.from,
        last_day: row.days.to,
        actor: row.actor,
        item: row.item,
        amount: row.amount,
        cited_pages: row.cited_pages,
        errors: row.errors,
        verified: row.verified,
        forged: row.forged,
    }
}

/// The request.
struct ReportQuery {
    scope: ProjectScope,
    days: DayRange,
    top: u32,
}

/// Returns the own numbers of a period.
pub async fn reports(
    tx: &mut Tx,
    scope: ProjectScope,
    operation: &GetReports,
    now: Instant,
) -> Result<Reports> {
    let project = projects::get(tx, scope).await?;
    let today = ProjectDays::new(&project.timezone)?.day(now);
    let wanted = PeriodRequest {
        period: operation.period,
        from: operation.from.as_deref(),
        to: operation.to.as_deref(),
    };
    let days = wanted_period(wanted, today)?;
    let query = ReportQuery {
        scope,
        days,
        top: u32::from(operation.top.unwrap_or(DEFAULT_TOP)),
    };
    let mut reports = Reports {
        period: span(days),
        bing_ai_performance: None,
        search_console_ai: None,
        access_log: None,
    };
    for import in rows::list_imports(tx, scope).await? {
        match import.format {
            ReportFormat::BingAiPerformance => {
                reports.bing_ai_performance = Some(vendor_report(tx, &query, import).await?);
            }
            ReportFormat::SearchConsoleAi => {
                reports.search_console_ai = Some(vendor_report(tx, &query, import).await?);
            }
            ReportFormat::AccessLog => reports.access_log = Some(log_report(tx, &query, import).await?),
        }
    }
    Ok(reports)
}

fn span(days: DayRange) -> ReportPeriod {
    ReportPeriod {
        from: format_day(days.from),
        to: format_day(days.to),
    }
}

/// Returns a stored amount; none is negative.
fn amount(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or_default()
}

async fn vendor_report(tx: &mut Tx, query: &ReportQuery, import: LastImport) -> Result<VendorReport> {
    let days = query.days;
    let periods = rows::list_periods(tx, query.scope, import.format, days.from..=days.to).await?;
    let by_day = daily(&periods, Dimension::Day, days);
    let cited: Vec<i64> = by_day.values().filter_map(|sums| sums.cited_pages).collect();
    let (unit, meaning) = match import.format {
        ReportFormat::BingAiPerformance => (ReportUnit::Citations, BING_MEANING),
        _ => (ReportUnit::Impressions, SEARCH_CONSOLE_MEANING),
    };
    Ok(VendorReport {
        unit,
        meaning: meaning.to_owned(),
        newest_day: Some(format_day(import.newest_day)),
        imported_at: import.imported_at,
        total: total(&by_day),
        days_with_data: by_day.len() as u64,
        average_cited_pages: (!cited.is_empty())
            .then(|| cited.iter().sum::<i64>() as f64 / cited.len() as f64),
        days: (days.from..=days.to)
            .map(|day| ReportDay {
                date: format_day(day),
                amount: by_day.get(&day).map(|sums| amount(sums.amount)),
                cited_pages: by_day.get(&day).and_then(|sums| sums.cited_pages).map(amount),
            })
            .collect(),
        pages: table(tx, query, import.format, &periods, Dimension::Page).await?,
        queries: table(tx, query, import.format, &periods, Dimension::Query).await?,
        countries: table(tx, query, import.format, &periods, Dimension::Country).await?,
        devices: table(tx, query, import.format, &periods, Dimension::Device).await?,
    })
}

/// Returns the sums of the single days of a period.
fn daily(periods: &[PeriodSums], dimension: Dimension, days: DayRange) -> BTreeMap<i32, &PeriodSums> {
    let of_day = periods.iter().filter(|sums| {
        sums.dimension == dimension.as_str()
            && sums.first_day == sums.last_day
            && days.contains(sums.first_day)
    });
    of_day.map(|sums| (sums.first_day, sums)).collect()
}

/// Returns the sum of days; `None` if there is none.
fn total(by_day: &BTreeMap<i32, &PeriodSums>) -> Option<u64> {
    (!by_day.is_empty()).then(|| by_day.values().map(|sums| amount(sums.amount)).sum())
}

async fn table(
    tx: &mut Tx,
    query: &ReportQuery,
    format: ReportFormat,
    periods: &[PeriodSums],
    dimension: Dimension,
) -> Result<Option<ReportTable>> {
    let of_dimension: Vec<&PeriodSums> = periods
        .iter()
        .filter(|sums| sums.dimension == dimension.as_str())
        .collect();
    let stored: Vec<DayRange> = of_dimension.iter().map(|sums| range(sums)).collect();
    let chosen = choose_periods(&stored, query.days);
    let (Some(first), Some(last)) = (chosen.first(), chosen.last()) else {
        return Ok(None);
    };
    let selection = RowSelection {
        format,
        dimension: dimension.as_str(),
        first_day: first.from,
        last_day: last.to,
        longer: chosen
            .iter()
            .filter(|days| days.from < days.to)
            .map(|days| days.from..=days.to)
            .collect(),
    };
    let counted = of_dimension.iter().filter(|sums| chosen.contains(&range(sums)));
    let total = counted.map(|sums| amount(sums.amount)).sum();
    let items = rows::list_items(tx, query.scope, &selection, query.top).await?;
    Ok(Some(ReportTable {
        values: rows::count_items(tx, query.scope, &selection).await?,
        total,
        coverage: spans(&chosen),
        rows: items
            .into_iter()
            .map(|sums| ReportTableRow {
                value: sums.item,
                amount: amount(sums.amount),
            })
            .collect(),
    }))
}

fn range(sums: &PeriodSums) -> DayRange {
    DayRange {
        from: sums.first_day,
        to: sums.last_day,
    }
}

/// Joins periods that follow each other.
fn spans(periods: &[DayRange]) -> Vec<ReportPeriod> {
    let mut joined: Vec<DayRange> = Vec::new();
    for period in periods {
        match joined.last_mut().filter(|last| last.to + 1 == period.from) {
            Some(last) => last.to = period.to,
            None => joined.push(*period),
        }
    }
    joined.truncate(MAX_SPANS);
    joined.into_iter().map(span).collect()
}

async fn log_report(tx: &mut Tx, query: &ReportQuery, import: LastImport) -> Result<AccessLogReport> {
    let (scope, days) = (query.scope, query.days);
    let periods = rows::list_periods(tx, scope, import.format, days.from..=days.to).await?;
    let visits = daily(&periods, Dimension::Visit, days);
    let referrals = daily(&periods, Dimension::Referral, days);
    let selection = |dimension: Dimension| RowSelection {
        format: import.format,
        dimension: dimension.as_str(),
        first_day: days.from,
        last_day: days.to,
        longer: Vec::new(),
    };
    let (of_visits, of_referrals) = (selection(Dimension::Visit), selection(Dimension::Referral));
    let visited = rows::list_items(tx, scope, &of_visits, query.top).await?;
    let referred = rows::list_items(tx, scope, &of_referrals, query.top).await?;
    let assistants = rows::list_actors(tx, scope, &of_referrals).await?;
    Ok(AccessLogReport {
        meaning: LOG_MEANING.to_owned(),
        newest_day: Some(format_day(import.newest_day)),
        imported_at: import.imported_at,
        visits: total(&visits),
        referrals: total(&referrals),
        days: (days.from..=days.to)
            .map(|day| LogDay {
                date: format_day(day),
                visits: visits.get(&day).map(|sums| amount(sums.amount)),
                referrals: referrals.get(&day).map(|sums| amount(sums.amount)),
            })
            .collect(),
        agents: rows::list_actors(tx, scope, &of_visits)
            .await?
            .into_iter()
            .map(agent_visits)
            .collect(),
        page_count: rows::count_items(tx, scope, &of_visits).await?,
        pages: visited
            .into_iter()
            .map(|sums| VisitedPage {
                page: sums.item,
                agent: sums.actor,
                visits: amount(sums.amount),
            })
            .collect(),
        assistants: assistants
            .into_iter()
            .map(|sums| AssistantReferrals {
                assistant: sums.actor,
                referrals: amount(sums.amount),
            })
            .collect(),
        referred_pages: referred
            .into_iter()
            .map(|sums| ReferredPage {
                page: sums.item,
                assistant: sums.actor,
                referrals: amount(sums.amount),
            })
            .collect(),
    })
}

fn agent_visits(sums: rows::RowSums) -> AgentVisits {
    let known = agents().iter().find(|agent| agent.name == sums.actor);
    AgentVisits {
        vendor: known.map(|agent| agent.vendor.to_owned()),
        purpose: known.map(|agent| match agent.purpose {
            AgentPurpose::Training => VisitPurpose::Training,
            AgentPurpose::Search => VisitPurpose::Search,
            AgentPurpose::User => VisitPurpose::User,
        }),
        agent: sums.actor,
        visits: amount(sums.amount),
        errors: sums.errors.map(amount),
        verified: sums.verified.map(amount),
        forged: sums.forged.map(amount),
    }
}
