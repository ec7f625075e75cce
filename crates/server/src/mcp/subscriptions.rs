//! Subscriptions: a client hears when a job or an approval has changed, instead of asking again and again.
//!
//! The stream ends with its client, when access ends, when the server stops, and when every job that is followed has ended.

use std::{sync::atomic::Ordering, time::Duration};

use http::request::Parts;
use rmcp::{ErrorData, model::SubscriptionFilter, service::SubscriptionContext};
use searchwright_engine::Failure;
use serde_json::Value;

use super::{
    resources::Address,
    tools::{Caller, Tools},
};
use crate::http::{
    bearer::{self, Door},
    operations,
};

/// Records that one stream follows.
const MAX_FOLLOWED: usize = 20;
/// Interval at which they are read.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Operations whose records are followed.
const FOLLOWED: [&str; 3] = ["jobs.get", "approvals.get", "audits.current"];
/// States in which a record changes no more.
const ENDED: [&str; 8] = [
    "succeeded",
    "failed",
    "canceled",
    "completed",
    "approved",
    "rejected",
    "lapsed",
    "void",
];

impl Tools {
    /// Returns what of a wish is followed: the addresses of records that change by themselves.
    pub(super) fn followed(&self, wanted: &SubscriptionFilter) -> SubscriptionFilter {
        let endpoints = &self.app.engine.endpoints;
        let is_followed = |uri: &&String| {
            Address::read(endpoints, uri)
                .is_some_and(|address| FOLLOWED.contains(&address.endpoint.meta.name))
        };
        let addresses = wanted.resource_subscriptions.iter().flatten();
        let addresses: Vec<String> = addresses
            .filter(is_followed)
            .take(MAX_FOLLOWED)
            .cloned()
            .collect();
        let mut followed = SubscriptionFilter::new();
        followed.resource_subscriptions = (!addresses.is_empty()).then_some(addresses);
        followed
    }

    /// Follows records until nothing is left to hear of.
    pub(super) async fn follow(&self, context: &SubscriptionContext) -> Result<(), ErrorData> {
        let request = context.request_context();
        let mut caller = Caller::from_context(request)?;
        let none = || ErrorData::internal_error("the request carries no credential", None);
        let parts = request.extensions.get::<Parts>().ok_or_else(none)?;
        let token = bearer::token(&parts.headers, parts.uri.query()).map_err(|_| none())?;
        let busy = |failure: Failure| ErrorData::internal_error(failure.0.detail.clone(), None);
        let _turn = operations::enter_as(&self.app, &caller.credential)
            .await
            .map_err(busy)?;
        let mut left: Vec<(String, Option<String>)> = Vec::new();
        for uri in context.accepted().resource_subscriptions.iter().flatten() {
            left.push((uri.clone(), None));
        }
        while !left.is_empty() && !self.app.stopping.load(Ordering::Acquire) {
            // verified anew: a credential that is revoked ends the stream
            let Ok(credential) = self.app.gate.verify(token, &self.app, Door::Mcp).await else {
                break;
            };
            caller.credential = credential;
            let mut next = Vec::new();
            for (uri, seen) in left {
                // who may not read it, or no longer, hears nothing
                let Some(record) = self.record_at(&uri, &caller).await else {
                    continue;
                };
                let now = record.to_string();
                let is_ended = record["status"]
                    .as_str()
                    .is_some_and(|status| ENDED.contains(&status));
                // what ended before it was first read is told once
                if seen.as_ref().map_or(is_ended, |seen| *seen != now)
                    && context.sink().notify_resource_updated(uri.clone()).await.is_err()
                {
                    return Ok(());
                }
                if !is_ended {
                    next.push((uri, Some(now)));
                }
            }
            left = next;
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = tokio::time::sleep(POLL_INTERVAL) => {}
            }
        }
        Ok(())
    }

    async fn record_at(&self, uri: &str, caller: &Caller) -> Option<Value> {
        let address = Address::read(&self.app.engine.endpoints, uri)?;
        let read = self.invoke(address.endpoint, address.arguments, caller).await;
        read.ok().flatten()
    }
}
