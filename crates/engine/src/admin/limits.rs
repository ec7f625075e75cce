//! Limits of a project, set by the operator: quotas and budgets.

use searchwright_contract::{Problem, usage::Metric};
use searchwright_providers::Provider;
use searchwright_store::{Error, usage};
use uuid::Uuid;

use crate::{
    Engine, Failure,
    call::fault,
    failure::{Result, defect},
};

/// Largest budget: a billion dollars, in millionths of one.
const MAX_MICROS_USD: i64 = 1_000_000_000_000_000;

/// A quota as it is now.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QuotaSet {
    /// The project.
    pub project_id: Uuid,
    /// Metric that is counted.
    pub metric: Metric,
    /// Most per month; `null` is unlimited.
    pub limit: Option<i64>,
}

/// A budget as it is now.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetSet {
    /// The project.
    pub project_id: Uuid,
    /// Provider that charges; `null` for the daily budget at all providers.
    pub provider: Option<String>,
    /// Most per month, or per day at all providers, in millionths of a US dollar; `null` is unlimited.
    pub budget_micros_usd: Option<i64>,
}

impl Engine {
    /// Sets how much of something a project may use per month; `None` is unlimited.
    pub async fn set_quota(&self, project: Uuid, metric: &str, limit: Option<i64>) -> Result<QuotaSet> {
        let metric: Metric = metric
            .parse()
            .map_err(|e: String| fault("/metric", "unknown_value", format!("{metric:?} {e}")))?;
        check_quota(metric, limit)?;
        let done = self
            .db
            .write(move |tx| Box::pin(async move { usage::set_quota(tx, project, metric, limit).await }));
        done.await.map_err(no_project)?;
        Ok(QuotaSet {
            project_id: project,
            metric,
            limit,
        })
    }

    /// Sets how much of a provider's money a project may spend per month; `None` is unlimited.
    pub async fn set_budget(
        &self,
        project: Uuid,
        provider: &str,
        micros_usd: Option<i64>,
    ) -> Result<BudgetSet> {
        let provider = Provider::parse(provider)?.word();
        check_budget(micros_usd)?;
        let done = self.db.write(move |tx| {
            Box::pin(async move { usage::set_budget(tx, project, provider, micros_usd).await })
        });
        done.await.map_err(no_project)?;
        Ok(BudgetSet {
            project_id: project,
            provider: Some(provider.to_owned()),
            budget_micros_usd: micros_usd,
        })
    }

    /// Sets how much money a project may spend per day at all providers; `None` is unlimited.
    pub async fn set_daily_budget(&self, project: Uuid, micros_usd: Option<i64>) -> Result<BudgetSet> {
        check_budget(micros_usd)?;
        let done = self
            .db
            .write(move |tx| Box::pin(async move { usage::set_daily_budget(tx, project, micros_usd).await }));
        done.await.map_err(no_project)?;
        Ok(BudgetSet {
            project_id: project,
            provider: None,
            budget_micros_usd: micros_usd,
        })
    }
}

/// Checks how much of something may be used in a month.
pub fn check_quota(metric: Metric, limit: Option<i64>) -> Result<()> {
    if metric == Metric::Audits {
        let why = "audits are counted and never limited";
        return Err(fault("/metric", "unlimited", why));
    }
    if limit.is_some_and(|limit| limit < 0) {
        return Err(fault("/limit", "out_of_range", "has to be 0 or more"));
    }
    Ok(())
}

/// Checks what may be spent.
pub fn check_budget(micros_usd: Option<i64>) -> Result<()> {
    if micros_usd.is_some_and(|m| !(0..=MAX_MICROS_USD).contains(&m)) {
        return Err(fault("/usd", "out_of_range", "has to be 0 to 1000000000"));
    }
    Ok(())
}

pub(super) fn no_project(error: Error) -> Failure {
    match error {
        Error::Dangling | Error::Missing => Problem::not_found("project").into(),
        other => other.into(),
    }
}

/// Millionths of a dollar of an amount such as `12.50`.
pub fn micros_of_usd(text: &str) -> Result<i64> {
    let bad = || {
        fault(
            "/usd",
            "not_an_amount",
            "is not an amount in US dollars such as 12.50",
        )
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || whole.len() > 10 || fraction.len() > 6 || !digits(whole) || !digits(fraction) {
        return Err(bad());
    }
    format!("{whole}{fraction:0<6}")
        .parse()
        .map_err(|e| defect("an amount", e))
}

#[cfg(test)]
mod tests {
    use super::micros_of_usd;

    #[test]
    fn amounts_are_exact() {
        for (text, micros) in [
            ("0", 0),
            ("12.50", 12_500_000),
            ("0.000001", 1),
            ("1000000000", 1_000_000_000_000_000),
            ("3.", 3_000_000),
        ] {
            assert_eq!(micros_of_usd(text).unwrap(), micros, "{text}");
        }
        for bad in [
            "",
            ".5",
            "-1",
            "+1",
            "1e3",
            "1,5",
            "1.0000001",
            "12345678901",
            "NaN",
            "1.2.3",
            " 1",
        ] {
            assert!(micros_of_usd(bad).is_err(), "{bad}");
        }
    }
}
