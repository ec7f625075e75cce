//! `/projects/{id}/settings/providers`: accounts with vendors, budgets and quotas with what was used of them.

use std::sync::Arc;

use askama::Template;
use axum::{Router, routing::get};
use http::StatusCode;
use searchwright_contract::{
    Problem,
    people::Role,
    usage::{GetUsage, Metric, Quota, Spend},
};
use searchwright_engine::{Failure, admin::limits::micros_of_usd};
use searchwright_people::vendors::Provider;

use super::accounts::{self, AccountFields, VendorAccount, vendor_name};
use crate::{
    app::App,
    dashboard::{
        chart,
        fields::{self, Choice},
        frame::{ProjectFrame, Section},
        page::{self, Form},
        show,
        visit::{self, ConfirmedForm, FilterLink, PageResult, Visit},
    },
};

/// The page.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(
        "/projects/{project}/settings/providers",
        get(show_page).post(change),
    )
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
        name: match Provider::parse(&spend.provider) {
            Ok(provider) => vendor_name(provider.word()).to_owned(),
            Err(_) => show::plain(&spend.provider),
        },
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

const fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::KeywordsGenerated => "Keywords generated",
        Metric::KeywordMetrics => "Keyword metrics asked",
        Metric::PostsGenerated => "Posts generated",
        Metric::PostsPublished => "Posts published",
        Metric::Audits => "Audits",
        Metric::AnswersTracked => "Answers asked from AI engines",
    }
}

fn of_quota(visit: &Visit, quota: &Quota) -> UsedRow {
    let count = |value: i64| show::number(u64::try_from(value).unwrap_or_default());
    UsedRow {
        name: metric_name(quota.metric).to_owned(),
        used: count(quota.used),
        limit: quota.limit.map(count),
        bar: bar(quota.used, quota.limit),
        more: String::new(),
        resets: visit.time(&quota.resets_at),
    }
}

/// Form of a limit: what is limited, and how much of it.
#[derive(Default)]
struct LimitFields {
    of: String,
    most: String,
    wrong: Option<String>,
}

/// Word that stands for all providers together.
const ALL: &str = "all";

#[derive(Template)]
#[template(path = "providers.html")]
struct ProvidersView {
    frame: ProjectFrame,
    accounts: Vec<VendorAccount>,
    may_manage: bool,
    confirm: Option<String>,
    /// Refusal of who may not change anything.
    wrong: Option<String>,
    /// Vendors without an account.
    others: Vec<FilterLink>,
    /// Form of one account.
    fields: Option<AccountFields>,
    spend: Vec<UsedRow>,
    budget: LimitFields,
    budgets: Vec<Choice>,
    quotas: Vec<UsedRow>,
    quota: LimitFields,
    metrics: Vec<Choice>,
    since: String,
    base: String,
}

/// Forms of the page that were refused, with what was typed.
#[derive(Default)]
struct SentLimits {
    /// Reason, for those who see no form.
    wrong: Option<String>,
    account: Option<AccountFields>,
    budget: LimitFields,
    quota: LimitFields,
}

async fn show_all(visit: &Visit, sent: SentLimits, status: StatusCode) -> PageResult {
    let usage = visit
        .read(&GetUsage {
            project_id: visit.project_id(),
        })
        .await?;
    let known = visit.app().engine.list_providers(visit.project.id.into()).await?;
    let may_manage = visit.role >= Role::Admin;
    let base = visit.address("/settings/providers");
    let others = Provider::ALL.iter().map(|provider| provider.word());
    let others = others
        .filter(|word| known.iter().all(|account| account.provider != *word))
        .map(|word| FilterLink {
            href: format!("{base}?provider={word}#account"),
            text: vendor_name(word).to_owned(),
            is_current: visit.parameter("provider") == Some(word),
        });
    let chosen = visit.parameter("provider").filter(|_| may_manage);
    let fields = sent.account.or_else(|| {
        let provider = Provider::parse(chosen?).ok()?;
        let account = known.iter().find(|account| account.provider == provider.word());
        Some(AccountFields::stored(provider, account))
    });
    let mut spend = vec![UsedRow {
        name: "All, today".to_owned(),
        used: dollars(usage.today.spent_micros_usd),
        limit: usage.today.budget_micros_usd.map(dollars),
        bar: bar(usage.today.spent_micros_usd, usage.today.budget_micros_usd),
        more: String::new(),
        resets: visit.time(&usage.today.resets_at),
    }];
    spend.extend(usage.spend.iter().map(|spend| of_spend(visit, spend)));
    let words = Provider::ALL.iter().map(|provider| provider.word());
    let words =
        std::iter::once((ALL, "All of them, a day")).chain(words.map(|word| (word, vendor_name(word))));
    // Audits are counted and never limited.
    let metrics = Metric::ALL.iter().filter(|metric| **metric != Metric::Audits);
    let metrics = metrics.map(|metric| (metric.as_str(), metric_name(*metric)));
    let view = ProvidersView {
        frame: visit.frame("Providers and budgets", Section::Settings),
        accounts: known
            .iter()
            .map(|account| VendorAccount::new(visit, account, &base))
            .collect(),
        may_manage,
        confirm: visit.confirm(),
        wrong: sent.wrong,
        others: others.collect(),
        fields,
        spend,
        budgets: Choice::list(words, |word| word == sent.budget.of),
        budget: sent.budget,
        quotas: usage.quotas.iter().map(|quota| of_quota(visit, quota)).collect(),
        metrics: Choice::list(metrics, |word| word == sent.quota.of),
        quota: sent.quota,
        since: visit.time(&usage.period_start),
        base,
    };
    Ok(page::respond(status, &view, Form::OwnWithScript))
}

async fn show_page(visit: Visit) -> PageResult {
    show_all(&visit, SentLimits::default(), StatusCode::OK).await
}

fn limit_of(confirmed: &ConfirmedForm) -> LimitFields {
    let form = &confirmed.sent.form;
    LimitFields {
        of: form.get("of").to_owned(),
        most: form.get("most").trim().to_owned(),
        wrong: None,
    }
}

async fn set_budget(confirmed: &ConfirmedForm, fields: &LimitFields) -> Result<(), Failure> {
    let visit = &confirmed.sent.visit;
    visit.check_manages()?;
    let micros = match fields.most.as_str() {
        "" => None,
        text => Some(micros_of_usd(text)?),
    };
    let provider = Some(fields.of.as_str()).filter(|of| *of != ALL);
    let people = &visit.app().people;
    people
        .change_budget(&confirmed.by, visit.project.id, provider, micros)
        .await
}

async fn set_quota(confirmed: &ConfirmedForm, fields: &LimitFields) -> Result<(), Failure> {
    let visit = &confirmed.sent.visit;
    visit.check_manages()?;
    let fault = |why: &str| Failure::from(Problem::fault("", "invalid", why));
    let metric: Metric = fields.of.parse().map_err(|_| fault("choose what is limited"))?;
    let limit = fields::whole("the limit", &fields.most).map_err(|why| fault(&why))?;
    let people = &visit.app().people;
    people
        .change_quota(&confirmed.by, visit.project.id, metric, limit)
        .await
}

async fn change(confirmed: ConfirmedForm) -> PageResult {
    let sent = &confirmed.sent;
    let base = sent.visit.address("/settings/providers");
    let (outcome, code, mut back) = match sent.form.get("action") {
        "budget" => {
            let budget = limit_of(&confirmed);
            let back = |budget| SentLimits {
                budget,
                ..SentLimits::default()
            };
            (set_budget(&confirmed, &budget).await, "saved", back(budget))
        }
        "quota" => {
            let quota = limit_of(&confirmed);
            let back = |quota| SentLimits {
                quota,
                ..SentLimits::default()
            };
            (set_quota(&confirmed, &quota).await, "saved", back(quota))
        }
        action => {
            let Ok(provider) = Provider::parse(sent.form.get("provider")) else {
                return Ok(visit::not_found());
            };
            let account = Some(AccountFields::sent(provider, sent));
            let back = SentLimits {
                account,
                ..SentLimits::default()
            };
            match action {
                "test" => (accounts::test(&confirmed, provider).await, "account-works", back),
                "remove" => (
                    accounts::remove(&confirmed, provider).await,
                    "account-removed",
                    back,
                ),
                _ => (accounts::set(&confirmed, provider).await, "account-saved", back),
            }
        }
    };
    match outcome {
        Ok(()) => Ok(sent.done(&base, code, 1)),
        Err(failure) => match visit::refusal(&failure) {
            Some((status, why)) => {
                back.wrong = Some(why.clone());
                let places = [
                    back.account.as_mut().map(|account| &mut account.wrong),
                    Some(&mut back.budget.wrong).filter(|_| sent.form.get("action") == "budget"),
                    Some(&mut back.quota.wrong).filter(|_| sent.form.get("action") == "quota"),
                ];
                for place in places.into_iter().flatten() {
                    *place = Some(why.clone());
                }
                show_all(&sent.visit, back, status).await
            }
            None => Err(failure.into()),
        },
    }
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
