//! Summary of a log, as it is printed.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    io::Write as _,
};

use searchwright_visibility::{
    access_logs::LogReport,
    agents::{AgentPurpose, agents},
    reports::log_rows::{VisitSums, iso_day},
};
use serde::Serialize;
use serde_json::{Value, json};

use super::SentSums;
use crate::{exit::CliError, output};

const FLOOR: &str = "Referrals are a floor: many assistants and apps do not say where a visitor comes from.";
const UNVERIFIED: &str = "Without --ranges an agent is believed by the name that it gives.";
const EDGES: &str = "The first and the last day of a log may be incomplete.";

/// Numbers of a log.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LogSummary {
    lines: u64,
    unparsed_lines: u64,
    too_long_lines: u64,
    /// Visits and referrals in no sum, because there were too many pages.
    uncounted: u64,
    first_day: Option<String>,
    last_day: Option<String>,
    agents: Vec<Value>,
    page_count: usize,
    pages: Vec<Value>,
    assistants: Vec<Value>,
    referred_pages: Vec<Value>,
    notes: Vec<&'static str>,
    sent: Option<SentSums>,
}

/// Prints the numbers of a log.
pub(super) fn print(
    report: &LogReport,
    top: usize,
    sent: Option<SentSums>,
    json: bool,
) -> Result<(), CliError> {
    let summary = summarise(report, top, sent);
    let mut out = std::io::stdout().lock();
    if json {
        crate::json_text::write_json(&mut out, &summary)?;
        return Ok(());
    }
    let agents: &[(&str, &str)] = &[
        ("agent", "agent"),
        ("vendor", "vendor"),
        ("purpose", "purpose"),
        ("visits", "visits"),
        ("errors", "errors"),
        ("verified", "verified"),
        ("forged", "forged"),
    ];
    let pages: &[(&str, &str)] = &[("visits", "visits"), ("agent", "agent"), ("page", "page")];
    let assistants: &[(&str, &str)] = &[("assistant", "assistant"), ("referrals", "referrals")];
    let referred: &[(&str, &str)] = &[
        ("referrals", "referrals"),
        ("assistant", "assistant"),
        ("page", "page"),
    ];
    for (columns, rows) in [
        (agents, &summary.agents),
        (pages, &summary.pages),
        (assistants, &summary.assistants),
        (referred, &summary.referred_pages),
    ] {
        if !rows.is_empty() {
            writeln!(out, "{}\n", output::table(columns, rows))?;
        }
    }
    if summary.agents.is_empty() && summary.assistants.is_empty() {
        writeln!(
            out,
            "no visit of a known agent and no referral from an assistant\n"
        )?;
    }
    let days = match (&summary.first_day, &summary.last_day) {
        (Some(first), Some(last)) => format!(", {first} to {last}"),
        _ => String::new(),
    };
    eprintln!(
        "{} lines{days}; {} in no known format, {} too long",
        summary.lines, summary.unparsed_lines, summary.too_long_lines
    );
    if summary.uncounted > 0 {
        eprintln!(
            "{} visits and referrals are in no sum, because there are too many different pages: import fewer days at once",
            summary.uncounted
        );
    }
    for note in &summary.notes {
        eprintln!("{note}");
    }
    match &summary.sent {
        Some(sent) => eprintln!(
            "sent to project {}: {} sums, {} new, {} replaced, {} unchanged, {} skipped",
            sent.project_id, sent.rows, sent.added, sent.replaced, sent.unchanged, sent.skipped
        ),
        None => eprintln!("nothing was sent; --project or --profile sends the daily sums"),
    }
    Ok(())
}

fn summarise(report: &LogReport, top: usize, sent: Option<SentSums>) -> LogSummary {
    let mut by_agent: BTreeMap<u16, VisitSums> = BTreeMap::new();
    let mut by_page: HashMap<(u16, &str), u64> = HashMap::new();
    for (key, count) in &report.visits {
        by_agent
            .entry(key.agent)
            .or_default()
            .add(key.verification, count.visits, count.errors);
        *by_page.entry((key.agent, &key.page)).or_default() += count.visits;
    }
    let mut by_assistant: HashMap<&str, u64> = HashMap::new();
    let mut by_referred: HashMap<(&str, &str), u64> = HashMap::new();
    for (key, count) in &report.referrals {
        *by_assistant.entry(key.assistant).or_default() += count;
        *by_referred.entry((key.assistant, &key.page)).or_default() += count;
    }
    let visit_days = report.visits.keys().map(|key| key.day);
    let days = visit_days.chain(report.referrals.keys().map(|key| key.day));
    let days: Vec<String> = [days.clone().min(), days.max()]
        .into_iter()
        .flatten()
        .filter_map(iso_day)
        .collect();
    let is_verified = by_agent.values().any(|sums| sums.verified.is_some());
    let mut notes = vec![FLOOR, EDGES];
    if !is_verified && !by_agent.is_empty() {
        notes.insert(1, UNVERIFIED);
    }
    let mut of_agents: Vec<(u16, VisitSums)> = by_agent.into_iter().collect();
    of_agents.sort_by_key(|(agent, sums)| (Reverse(sums.visits), *agent));
    LogSummary {
        lines: report.lines,
        unparsed_lines: report.unparsed,
        too_long_lines: report.too_long,
        uncounted: report.uncounted,
        first_day: days.first().cloned(),
        last_day: days.last().cloned(),
        agents: of_agents.iter().map(|(agent, sums)| agent_row(*agent, sums)).collect(),
        page_count: by_page.len(),
        pages: largest(by_page, top)
            .into_iter()
            .map(|((agent, page), visits)| json!({ "page": page, "agent": agent_name(agent), "visits": visits }))
            .collect(),
        assistants: largest(by_assistant, usize::MAX)
            .into_iter()
            .map(|(assistant, referrals)| json!({ "assistant": assistant, "referrals": referrals }))
            .collect(),
        referred_pages: largest(by_referred, top)
            .into_iter()
            .map(|((assistant, page), referrals)| json!({ "page": page, "assistant": assistant, "referrals": referrals }))
            .collect(),
        notes,
        sent,
    }
}

/// Returns the largest counts, equal ones in the order of their keys.
fn largest<K: Ord>(counts: HashMap<K, u64>, top: usize) -> Vec<(K, u64)> {
    let mut all: Vec<(K, u64)> = counts.into_iter().collect();
    all.sort_unstable_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    all.truncate(top);
    all
}

fn agent_name(agent: u16) -> &'static str {
    agents().get(usize::from(agent)).map_or("", |agent| agent.name)
}

fn agent_row(agent: u16, sums: &VisitSums) -> Value {
    let known = agents().get(usize::from(agent));
    json!({
        "agent": agent_name(agent),
        "vendor": known.map(|agent| agent.vendor),
        "purpose": known.map(|agent| purpose(agent.purpose)),
        "visits": sums.visits,
        "errors": sums.errors,
        "verified": sums.verified,
        "forged": sums.forged,
    })
}

fn purpose(purpose: AgentPurpose) -> &'static str {
    match purpose {
        AgentPurpose::Training => "training",
        AgentPurpose::Search => "search",
        AgentPurpose::User => "user",
    }
}
