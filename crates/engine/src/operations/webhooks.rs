//! Webhooks and their deliveries. `webhooks/sender.rs` sends them.

use std::collections::BTreeMap;

use searchwright_contract::{
    Code, List, Problem, Scope,
    actions::{AllowedActions, Permission},
    events::{EventType, TestData},
    ids::{DeliveryId, EventId, WebhookId},
    webhooks::{
        CreateWebhook, DeleteWebhook, Delivery, DeliveryStatus, ListDeliveries, ListWebhooks, RecoverWebhook,
        Recovery, ReplayDelivery, RotateWebhookSecret, TestWebhook, Webhook, WebhookStatus,
    },
};
use searchwright_outbound::{Purpose, denied};
use searchwright_store::{
    Tx,
    access::RecordKind,
    deliveries::{self, DeliveryQuery},
    events, projects,
    webhooks::{self, NewSecret, NewWebhook},
};
use secrecy::ExposeSecret as _;
use serde_json::json;
use url::{Host, Url};

use super::items::changed_since_read;
use crate::{
    Engine,
    call::{Call, fault, limit},
    endpoint::Handle,
    failure::Result,
    webhooks::new_secret,
};

/// Webhooks of a project.
const MAX_WEBHOOKS: u32 = 20;
/// Deliveries that are recovered at a time: others wait for the write.
const RECOVERED: u32 = 10_000;

fn with_actions(call: &Call, mut webhook: Webhook) -> Webhook {
    let permission = call.permission(Scope::WebhooksWrite);
    webhook.allowed_actions = AllowedActions(BTreeMap::from([
        ("delete".into(), permission.clone()),
        ("recover".into(), permission.clone()),
        ("rotate".into(), permission.clone()),
        ("test".into(), permission),
    ]));
    webhook
}

/// Returns a delivery as it is shown, with its allowed actions.
fn shown(call: &Call, webhook: &Webhook, mut delivery: Delivery) -> Delivery {
    let replay = match (delivery.status, webhook.status) {
        (DeliveryStatus::Pending, _) => Permission::no("invalid_state", "it is still pending"),
        (_, WebhookStatus::Disabled) => Permission::no("invalid_state", "the webhook is disabled"),
        _ => call.permission(Scope::WebhooksWrite),
    };
    delivery.allowed_actions = AllowedActions::default().with("replay", replay);
    delivery
}

async fn find(call: &Call, tx: &mut Tx, id: &str) -> Result<(WebhookId, Webhook)> {
    let id = call.child(RecordKind::Webhook, id)?;
    let found = webhooks::get(tx, call.scope()?, id).await;
    Ok((id, call.or_missing(tx, RecordKind::Webhook, id, found).await?))
}

/// Parses the target URL of a webhook. The addresses of its host are checked on every request.
fn target(call: &Call, text: &str) -> Result<Url> {
    let refused = |code: &str, detail: &str| Err(fault("/targetUrl", code, detail));
    let Ok(url) = Url::parse(text) else {
        return refused("not_a_url", "is not an absolute URL");
    };
    let allowed = call
        .engine
        .allow
        .iter()
        .any(|allow| allow.purpose == Purpose::Webhook && allow.names(&url));
    match url.scheme() {
        "https" => {}
        "http" if allowed => {}
        "http" => {
            return refused(
                "not_https",
                "has to begin with https://; the operator of the server can allow http to a host of their own",
            );
        }
        _ => return refused("not_https", "has to begin with https://"),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refused(
            "has_user",
            "must not contain a user or password; receivers verify the sender by signature",
        );
    }
    if url.fragment().is_some() {
        return refused("has_fragment", "must not contain a fragment (#…)");
    }
    let address = match url.host() {
        Some(Host::Ipv4(address)) => Some(address.into()),
        Some(Host::Ipv6(address)) => Some(address.into()),
        Some(Host::Domain(_)) => None,
        None => return refused("not_a_url", "has no host"),
    };
    let local = matches!(url.host(), Some(Host::Domain(name)) if name.trim_end_matches('.') == "localhost");
    if !allowed && (local || address.is_some_and(|address| denied(address).is_some())) {
        return refused("denied", "is an address that this server may not reach");
    }
    Ok(url)
}

impl Handle<ListWebhooks> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListWebhooks) -> Result<List<Webhook>> {
        let limit = limit(operation.limit);
        let before: Option<WebhookId> = call.after(&operation, operation.cursor.as_deref())?;
        let rows = webhooks::list(tx, call.scope()?, before, limit + 1).await?;
        let rows = rows.into_iter().map(|row| with_actions(call, row)).collect();
        call.page(&operation, limit, rows, |last: &Webhook| last.id)
    }
}

impl Handle<CreateWebhook> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: CreateWebhook) -> Result<Webhook> {
        let scope = call.scope()?;
        let url = target(call, &operation.target_url)?;
        projects::lock(tx, scope).await?;
        let known = webhooks::list(tx, scope, None, MAX_WEBHOOKS).await?;
        let same = |w: &&Webhook| w.target_url == url.as_str() && w.event == operation.event;
        if let Some(same) = known.iter().find(same) {
            return Err(Problem::new(
                Code::AlreadyExists,
                "a webhook for this URL and event already exists",
            )
            .with("existingId", same.id)
            .hint("a second one would deliver every event twice; use the existing one")
            .into());
        }
        if known.len() >= MAX_WEBHOOKS as usize {
            return Err(Problem::new(
                Code::TooManyItems,
                format!("a project has at most {MAX_WEBHOOKS} webhooks"),
            )
            .hint("delete one, or use one webhook for all events (`*`)")
            .into());
        }
        let id = call.engine.clock.id();
        let new = NewWebhook {
            id,
            target_url: url.into(),
            event: operation.event,
        };
        webhooks::create(tx, scope, new, call.now).await?;
        with_new_secret(call, tx, id).await
    }
}

/// Gives a webhook a secret and shows it, once.
async fn with_new_secret(call: &Call, tx: &mut Tx, id: WebhookId) -> Result<Webhook> {
    let scope = call.scope()?;
    let secret = new_secret()?;
    let new = NewSecret {
        id: call.engine.clock.id(),
        secret: secret.clone(),
    };
    webhooks::add_secret(tx, scope, &call.engine.keyring, id, new, call.now).await?;
    let mut webhook = with_actions(call, webhooks::get(tx, scope, id).await?);
    webhook.secret = Some(secret.expose_secret().to_owned());
    Ok(webhook)
}

impl Handle<DeleteWebhook> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: DeleteWebhook) -> Result<()> {
        let (id, webhook) = find(call, tx, &operation.webhook_id).await?;
        call.check_match(webhook.id, webhook.version)?;
        webhooks::delete(tx, call.scope()?, id, webhook.version)
            .await
            .map_err(changed_since_read)
    }
}

impl Handle<RotateWebhookSecret> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: RotateWebhookSecret) -> Result<Webhook> {
        let (id, webhook) = find(call, tx, &operation.webhook_id).await?;
        call.check_match(webhook.id, webhook.version)?;
        webhooks::increment_version(tx, call.scope()?, id, webhook.version)
            .await
            .map_err(changed_since_read)?;
        with_new_secret(call, tx, id).await
    }
}

impl Handle<TestWebhook> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: TestWebhook) -> Result<Delivery> {
        let (id, webhook) = find(call, tx, &operation.webhook_id).await?;
        let (scope, kind) = (call.scope()?, EventType::WebhookTest);
        let event: EventId = call.engine.clock.id();
        let data = json!(TestData {
            webhook_id: webhook.id
        });
        events::insert_undelivered(tx, scope, event, kind, &data, call.now).await?;
        deliveries::create(tx, scope, id, event, kind, call.now).await?;
        Ok(shown(
            call,
            &webhook,
            deliveries::get(tx, scope, id, event.into()).await?,
        ))
    }
}

impl Handle<RecoverWebhook> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: RecoverWebhook) -> Result<Recovery> {
        let (id, webhook) = find(call, tx, &operation.webhook_id).await?;
        if webhook.status == WebhookStatus::Disabled {
            return Err(Problem::new(Code::InvalidState, "the webhook is disabled")
                .hint("test it first: a test that succeeds makes it active again")
                .with("from", webhook.status.as_str())
                .into());
        }
        let replayed =
            deliveries::recover(tx, call.scope()?, id, operation.since, RECOVERED, call.now).await?;
        Ok(Recovery {
            replayed,
            more: replayed == u64::from(RECOVERED),
        })
    }
}

impl Handle<ListDeliveries> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListDeliveries) -> Result<List<Delivery>> {
        let (id, webhook) = find(call, tx, &operation.webhook_id).await?;
        let limit = limit(operation.limit);
        let query = DeliveryQuery {
            status: operation.status,
            before: call.after(&operation, operation.cursor.as_deref())?,
            limit: limit + 1,
        };
        let rows = deliveries::list(tx, call.scope()?, id, query).await?;
        let rows = rows.into_iter().map(|row| shown(call, &webhook, row)).collect();
        call.page(&operation, limit, rows, |last: &Delivery| last.id)
    }
}

impl Handle<ReplayDelivery> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ReplayDelivery) -> Result<Delivery> {
        let (webhook_id, webhook) = find(call, tx, &operation.webhook_id).await?;
        let scope = call.scope()?;
        let id: DeliveryId = call.child(RecordKind::Delivery, &operation.delivery_id)?;
        let found = deliveries::get(tx, scope, webhook_id, id).await;
        let delivery = match found {
            // The event of another webhook of this project has the same id: what it lacks here is the delivery.
            Err(searchwright_store::Error::Missing)
                if events::find_position(tx, scope, id.into()).await?.is_some() =>
            {
                return Err(Problem::not_found(RecordKind::Delivery.name()).into());
            }
            found => call.or_missing(tx, RecordKind::Delivery, id, found).await?,
        };
        let refused = |detail: &str, hint: &str| {
            let problem = Problem::new(Code::InvalidState, detail.to_owned()).hint(hint);
            Err(problem.with("from", delivery.status.as_str()).into())
        };
        if webhook.status == WebhookStatus::Disabled {
            return refused(
                "the webhook is disabled",
                "test it first: a test that succeeds makes it active again",
            );
        }
        if !deliveries::replay(tx, scope, webhook_id, id, call.now).await? {
            return refused(
                "the delivery is still pending",
                "see nextAttemptAt; only finished deliveries can be replayed",
            );
        }
        Ok(shown(
            call,
            &webhook,
            deliveries::get(tx, scope, webhook_id, id).await?,
        ))
    }
}
