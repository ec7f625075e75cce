//! Refreshing what providers know of keywords. The work itself is `jobs/keyword_metrics.rs`.

use std::collections::BTreeMap;

use searchwright_contract::keywords::{KeywordsStarted, RefreshKeywordMetrics};
use searchwright_keywords::normalize;
use searchwright_store::Tx;

use super::{jobs::with_actions, keyword_arguments::country_code};
use crate::{
    Engine,
    call::{Call, fault},
    endpoint::Handle,
    failure::Result,
    jobs::{Job, keyword_metrics::MetricsOrder},
};

impl Handle<RefreshKeywordMetrics> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: RefreshKeywordMetrics) -> Result<KeywordsStarted> {
        let scope = call.scope()?;
        let access = call.project()?;
        if let Some(at) = operation
            .keywords
            .iter()
            .position(|text| normalize(text).is_empty())
        {
            return Err(fault(
                &format!("/keywords/{at}"),
                "blank",
                "has nothing but spaces",
            ));
        }
        let wanted = MetricsOrder {
            keywords: operation.keywords,
            language: operation.language.unwrap_or_else(|| access.language.clone()),
            country: country_code(operation.country, &access.country)?,
            dry_run: operation.dry_run.unwrap_or(false),
            max_cost_micros: operation.max_cost.map(|usd| (usd * 1e6).round() as i64),
        };
        let id = call.engine.clock.id();
        let work = Job::KeywordMetrics { wanted };
        work.count(tx, scope, call.now).await?;
        let job = work.enqueue(tx, scope, id, BTreeMap::new(), call.now).await?;
        Ok(KeywordsStarted {
            job: with_actions(call, job),
            next: None,
        })
    }
}
