//! Usage.

use searchwright_contract::usage::{GetUsage, Quota, Spend, TodaySpend, Usage};
use searchwright_store::{
    Tx,
    usage::{self, Month},
};

use crate::{Engine, call::Call, endpoint::Handle, failure::Result};

impl Handle<GetUsage> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, _: GetUsage) -> Result<Usage> {
        let (scope, month) = (call.scope()?, Month::from_instant(call.now));
        let counts = usage::list_usage(tx, scope, call.now).await?;
        let spent = usage::list_spend(tx, scope, call.now).await?;
        let today = usage::spend_of_day(tx, scope, call.now).await?;
        Ok(Usage {
            period_start: month.start,
            quotas: counts
                .into_iter()
                .map(|count| Quota {
                    metric: count.metric,
                    limit: count.limit,
                    used: count.used,
                    resets_at: month.end,
                })
                .collect(),
            spend: spent
                .into_iter()
                .map(|spent| Spend {
                    provider: spent.provider,
                    budget_micros_usd: spent.budget,
                    spent_micros_usd: spent.settled,
                    uncertain_micros_usd: spent.uncertain,
                    uncertain_calls: spent.uncertain_calls,
                    resets_at: month.end,
                })
                .collect(),
            today: TodaySpend {
                budget_micros_usd: today.limit,
                spent_micros_usd: today.spent,
                resets_at: today.resets_at,
            },
        })
    }
}
