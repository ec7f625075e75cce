//! `/projects/{id}/settings/providers`: accounts with providers, budgets and quotas with what was used of them. The operator sets
//! them on the server.

use std::sync::Arc;

use askama::Template;
use axum::{Router, routing::get};
use http::StatusCode;
use searchwright_contract::{
    people::Role,
    usage::{GetUsage, Metric, Quota, Spend},
};

use crate::{
    app::App,
    dashboard::{
        chart,
        frame::{ProjectFrame, Section},
        page::{self, Form},
        show,
        visit::{PageResult, Visit},
    },
};

/// The page.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/projects/{project}/settings/providers", get(show_page))
}

/// An account with a provider.
struct AccountRow {
    provider: String,
    settings: Vec<String>,
    has_secret: bool,
    updated: String,
}

/// Used part of a limit.
struct UsedRow {
    name: String,
    used: String,
    limit: Option<String>,
    bar: Option<String>,
    more: String,
    resets: String,
}

/// An amount of millionths of a US dollar.
fn dollars(micros: i64) -> String {
    let amount = micros as f64 / 1e6;
    // Calls of language models often cost less than a cent.
    if micros != 0 && micros.abs() < 1_000_000 {
        format!("${amount:.4}")
    } else {
        format!("${amount:.2}")
    }
}

/// Share of a limit that was used, as a bar.
fn bar(used: i64, limit: Option<i64>) -> Option<String> {
    let limit = limit.filter(|limit| *limit > 0)?;
    Some(chart::bar((100.0 * used as f64 / limit as f64).clamp(0.0, 100.0)))
}

fn of_spend(visit: &Visit, spend: &Spend) -> UsedRow {
    let used = spend.spent_micros_usd + spend.uncertain_micros_usd;
    let calls = u64::try_from(spend.uncertain_calls).unwrap_or_default();
    UsedRow {
        name: show::plain(&spend.provider),
        used: dollars(used),
        limit: spend.budget_micros_usd.map(dollars),
        bar: bar(used, spend.budget_micros_usd),
        more: match calls {
            0 => String::new(),
            _ => format!(
                "{} of it estimated, of {} without a known price",
                dollars(spend.uncertain_micros_usd),
                show::count(calls, "call", "calls")
            ),
        },
        resets: visit.time(&spend.resets_at),
    }
}

fn of_quota(visit: &Visit, quota: &Quota) -> UsedRow {
    let count = |value: i64| show::number(u64::try_from(value).unwrap_or_default());
    let name = match quota.metric {
        Metric::KeywordsGenerated => "Keywords generated",
        Metric::KeywordMetrics => "Keyword metrics asked",
        Metric::PostsGenerated => "Posts generated",
        Metric::PostsPublished => "Posts published",
        Metric::Audits => "Audits",
        Metric::AnswersTracked => "Answers asked from AI engines",
    };
    UsedRow {
        name: name.to_owned(),
        used: count(quota.used),
        limit: quota.limit.map(count),
        bar: bar(quota.used, quota.limit),
        more: String::new(),
        resets: visit.time(&quota.resets_at),
    }
}

#[derive(Template)]
#[template(path = "providers.html")]
struct ProvidersView {
    frame: ProjectFrame,
    accounts: Vec<AccountRow>,
    may_see_settings: bool,
    spend: Vec<UsedRow>,
    quotas: Vec<UsedRow>,
    since: String,
}

async fn show_page(visit: Visit) -> PageResult {
    let usage = visit
        .read(&GetUsage {
            project_id: visit.project_id(),
        })
        .await?;
    let accounts = visit.app().engine.list_providers(visit.project.id.into()).await?;
    let may_see_settings = visit.role >= Role::Admin;
    let accounts = accounts.into_iter().map(|account| AccountRow {
        provider: show::plain(&account.provider),
        settings: account
            .settings
            .iter()
            .map(|(name, value)| format!("{}: {}", show::plain(name), show::cut(value, 200)))
            .collect(),
        has_secret: account.has_secret,
        updated: visit.time(&account.updated_at),
    });
    let mut spend = vec![UsedRow {
        name: "All, today".to_owned(),
        used: dollars(usage.today.spent_micros_usd),
        limit: usage.today.budget_micros_usd.map(dollars),
        bar: bar(usage.today.spent_micros_usd, usage.today.budget_micros_usd),
        more: String::new(),
        resets: visit.time(&usage.today.resets_at),
    }];
    spend.extend(usage.spend.iter().map(|spend| of_spend(&visit, spend)));
    let view = ProvidersView {
        frame: visit.frame("Providers and budgets", Section::Settings),
        accounts: accounts.collect(),
        may_see_settings,
        spend,
        quotas: usage.quotas.iter().map(|quota| of_quota(&visit, quota)).collect(),
        since: visit.time(&usage.period_start),
    };
    Ok(page::respond(StatusCode::OK, &view, Form::OwnWithScript))
}

#[cfg(test)]
mod tests {
    use super::dollars;

    #[test]
    fn amounts_below_a_dollar_keep_parts_of_a_cent() {
        assert_eq!(dollars(0), "$0.00");
        assert_eq!(dollars(1_500), "$0.0015");
        assert_eq!(dollars(20_000_000), "$20.00");
    }
}
