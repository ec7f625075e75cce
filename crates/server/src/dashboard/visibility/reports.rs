//! Own numbers beside the sampled rates: reports of Bing and Google, and sums of access logs.

use askama::Template;
use axum::body::Body;
use http::Response;
use searchwright_contract::{
    Scope,
    reports::{
        AccessLogReport, GetReports, ImportReport, ReportTable, ReportUnit, VendorReport, VisitPurpose,
    },
    visibility::Period,
};
use searchwright_engine::Failure;

use super::{
    prompts::filled,
    shown::{RefusedForm, VisibilityTab, tenth},
};
use crate::dashboard::{
    chart::{LineChart, Point},
    frame::{ProjectFrame, Section},
    page::{self, Form},
    show,
    visit::{FilterLink, PageResult, SentForm, Visit},
};

/// A row of a table of amounts.
struct AmountRow {
    name: String,
    amount: u64,
}

/// A table of amounts.
struct AmountTable {
    title: &'static str,
    rows: Vec<AmountRow>,
    total: u64,
    values: u64,
}

/// Numbers of a vendor.
struct VendorCard {
    title: &'static str,
    unit: &'static str,
    meaning: String,
    total: Option<u64>,
    days: u64,
    average_pages: Option<String>,
    newest: Option<String>,
    imported: String,
    chart: Option<LineChart>,
    amounts: Vec<AmountRow>,
    tables: Vec<AmountTable>,
}

/// A crawler or assistant in the access log.
struct AgentRow {
    name: String,
    purpose: &'static str,
    visits: u64,
    errors: Option<u64>,
    verified: Option<u64>,
    forged: Option<u64>,
}

/// Numbers of the access log.
struct LogCard {
    meaning: String,
    visits: Option<u64>,
    referrals: Option<u64>,
    newest: Option<String>,
    imported: String,
    chart: Option<LineChart>,
    agents: Vec<AgentRow>,
    tables: Vec<AmountTable>,
}

#[derive(Template)]
#[template(path = "visibility_reports.html")]
struct ReportsView {
    frame: ProjectFrame,
    tabs: Vec<FilterLink>,
    periods: Vec<FilterLink>,
    from: String,
    to: String,
    vendors: Vec<VendorCard>,
    without: Vec<&'static str>,
    log: Option<LogCard>,
    may_write: bool,
    wrong: Option<String>,
    file: String,
    first: String,
    last: String,
}

fn count_chart(title: &str, days: impl Iterator<Item = DayAmount>) -> Option<LineChart> {
    let points: Vec<Point> = days
        .map(|day| Point {
            label: day.date,
            value: day.amount.map(|amount| amount as f64),
            ..Point::default()
        })
        .collect();
    let has_any = points.iter().any(|point| point.value.is_some());
    has_any.then(|| LineChart::of_counts(title, points))
}

/// Amount of a day.
struct DayAmount {
    date: String,
    amount: Option<u64>,
}

fn amount_row(name: &str, amount: u64) -> AmountRow {
    AmountRow {
        name: show::cut(name, 200),
        amount,
    }
}

fn amount_table(title: &'static str, table: Option<ReportTable>) -> Option<AmountTable> {
    let table = table?;
    Some(AmountTable {
        title,
        rows: table
            .rows
            .iter()
            .map(|row| amount_row(&row.value, row.amount))
            .collect(),
        total: table.total,
        values: table.values,
    })
}

fn vendor_card(visit: &Visit, title: &'static str, report: VendorReport) -> VendorCard {
    let unit = match report.unit {
        ReportUnit::Citations => "citations",
        ReportUnit::Impressions => "impressions",
    };
    let days = || report.days.iter();
    let chart = count_chart(
        &format!("{title}: {unit} of each day"),
        days().map(|day| DayAmount {
            date: day.date.clone(),
            amount: day.amount,
        }),
    );
    let amounts = days().filter_map(|day| Some(amount_row(&day.date, day.amount?)));
    VendorCard {
        title,
        unit,
        meaning: show::plain(&report.meaning),
        total: report.total,
        days: report.days_with_data,
        average_pages: report.average_cited_pages.map(tenth),
        newest: report.newest_day.clone(),
        imported: visit.time(&report.imported_at),
        amounts: amounts.collect(),
        chart,
        tables: [
            amount_table("Pages", report.pages),
            amount_table("Grounding queries", report.queries),
            amount_table("Countries", report.countries),
            amount_table("Devices", report.devices),
        ]
        .into_iter()
        .flatten()
        .collect(),
    }
}

const fn purpose(purpose: Option<VisitPurpose>) -> &'static str {
    match purpose {
        Some(VisitPurpose::Training) => "training",
        Some(VisitPurpose::Search) => "search index",
        Some(VisitPurpose::User) => "asked by a person",
        None => "not known",
    }
}

fn log_card(visit: &Visit, log: AccessLogReport) -> LogCard {
    let days = log.days.iter().map(|day| DayAmount {
        date: day.date.clone(),
        amount: day.visits,
    });
    let chart = count_chart("Visits of AI agents, each day", days);
    let assistants: Vec<AmountRow> = log
        .assistants
        .iter()
        .map(|row| amount_row(&row.assistant, row.referrals))
        .collect();
    let pages: Vec<AmountRow> = log
        .pages
        .iter()
        .map(|row| amount_row(&format!("{} by {}", row.page, row.agent), row.visits))
        .collect();
    let referred: Vec<AmountRow> = log
        .referred_pages
        .iter()
        .map(|row| amount_row(&format!("{} from {}", row.page, row.assistant), row.referrals))
        .collect();
    let table = |title, rows: Vec<AmountRow>, total: Option<u64>, values| AmountTable {
        title,
        total: total.unwrap_or_default(),
        values,
        rows,
    };
    let (assistant_count, referred_count) = (assistants.len() as u64, referred.len() as u64);
    LogCard {
        meaning: show::plain(&log.meaning),
        newest: log.newest_day.clone(),
        imported: visit.time(&log.imported_at),
        chart,
        tables: vec![
            table(
                "Referrals from assistants",
                assistants,
                log.referrals,
                assistant_count,
            ),
            table("Visited pages", pages, log.visits, log.page_count),
            table("Pages people came to", referred, log.referrals, referred_count),
        ],
        visits: log.visits,
        referrals: log.referrals,
        agents: log
            .agents
            .into_iter()
            .map(|agent| AgentRow {
                name: match &agent.vendor {
                    Some(vendor) => format!("{} ({})", show::cut(&agent.agent, 80), show::cut(vendor, 60)),
                    None => show::cut(&agent.agent, 80),
                },
                purpose: purpose(agent.purpose),
                visits: agent.visits,
                errors: agent.errors,
                verified: agent.verified,
                forged: agent.forged,
            })
            .collect(),
    }
}

/// Shows the reports.
pub(super) async fn show(visit: &Visit, refused: Option<&RefusedForm<'_>>) -> PageResult {
    let period: Option<Period> = visit.parsed("period");
    let reports = visit
        .read(&GetReports {
            project_id: visit.project_id(),
            period,
            from: None,
            to: None,
            top: None,
        })
        .await?;
    let chosen = period.unwrap_or(Period::TwentyEightDays);
    let periods = Period::ALL.iter().map(|period| FilterLink {
        href: visit.with_parameter("period", Some(period.as_str())),
        text: period.as_str().replace('d', " days").replace('m', " months"),
        is_current: *period == chosen,
    });
    let sources = [
        ("Bing: AI Performance", reports.bing_ai_performance),
        ("Google Search Console: generative AI", reports.search_console_ai),
    ];
    let (mut vendors, mut without) = (Vec::new(), Vec::new());
    for (title, report) in sources {
        match report {
            Some(report) => vendors.push(vendor_card(visit, title, report)),
            None => without.push(title),
        }
    }
    if reports.access_log.is_none() {
        without.push("Access log of the website");
    }
    let view = ReportsView {
        frame: visit.frame("Reports", Section::Visibility),
        tabs: VisibilityTab::Reports.links(visit),
        periods: periods.collect(),
        from: reports.period.from,
        to: reports.period.to,
        vendors,
        without,
        log: reports.access_log.map(|log| log_card(visit, log)),
        may_write: visit.may(Scope::VisibilityWrite),
        wrong: RefusedForm::reason(refused),
        file: RefusedForm::typed(refused, "file"),
        first: RefusedForm::typed(refused, "from"),
        last: RefusedForm::typed(refused, "to"),
    };
    Ok(page::respond(
        RefusedForm::status(refused),
        &view,
        Form::OwnWithScript,
    ))
}

/// Imports the report that was pasted.
pub(super) async fn import(sent: &SentForm) -> Result<Response<Body>, Failure> {
    let imported = sent
        .change(&ImportReport {
            project_id: sent.visit.project_id(),
            file: sent.form.get("file").to_owned(),
            format: None,
            from: filled(sent, "from"),
            to: filled(sent, "to"),
        })
        .await?;
    let address = VisibilityTab::Reports.address(&sent.visit);
    let rows = imported.rows - imported.skipped.min(imported.rows);
    Ok(sent.done(&address, "report-imported", rows))
}
