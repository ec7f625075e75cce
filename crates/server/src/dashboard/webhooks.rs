//! `/projects/{id}/webhooks`: receivers of events, and what became of every delivery. A secret is shown once, in the answer to the
//! form that makes it.

use std::sync::Arc;

use askama::Template;
use axum::{Router, extract::Path, routing::get};
use http::StatusCode;
use searchwright_contract::{
    Problem, Scope,
    actions::Permission,
    events::EventType,
    webhooks::{
        CreateWebhook, DeleteWebhook, Delivery, DeliveryError, DeliveryStatus, DisabledReason,
        ListDeliveries, ListWebhooks, RecoverWebhook, ReplayDelivery, RotateWebhookSecret, Subscription,
        TestWebhook, Webhook, WebhookStatus,
    },
};
use searchwright_engine::Failure;

use super::{
    export::CsvFile,
    fields::Choice,
    frame::{ProjectFrame, Section},
    page::{self, Form},
    show,
    visit::{self, FilterLink, PageResult, Paging, SentForm, Visit},
};
use crate::app::App;

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/projects/{project}/webhooks", get(list).post(create))
        .route(
            "/projects/{project}/webhooks.csv",
            CsvFile::of_list("webhooks").route(listing),
        )
        .route(
            "/projects/{project}/webhooks/{webhook}/deliveries.csv",
            CsvFile::of_list("deliveries").route_of(deliveries),
        )
        .route("/projects/{project}/webhooks/{webhook}", get(detail).post(change))
}

/// A webhook as pages show it.
struct HookRow {
    href: String,
    url: String,
    event: String,
    status: (&'static str, &'static str),
    reason: String,
    attempt: Option<String>,
    success: Option<String>,
}

impl HookRow {
    fn new(visit: &Visit, webhook: &Webhook) -> Self {
        let failing = webhook.failing_since.map(|at| visit.time(&at));
        let (status, reason) = match (webhook.status, webhook.disabled_reason, failing) {
            (WebhookStatus::Disabled, Some(DisabledReason::Gone), _) => (
                ("error", "Switched off"),
                "It answered 410: it is gone.".to_owned(),
            ),
            (WebhookStatus::Disabled, Some(DisabledReason::Imported), _) => (
                ("warning", "Switched off"),
                "It came with an imported project. Rotate its secret, then send it a test.".to_owned(),
            ),
            (WebhookStatus::Disabled, _, _) => (
                ("error", "Switched off"),
                "Every attempt of five days failed.".to_owned(),
            ),
            (WebhookStatus::Active, _, Some(at)) => (
                ("warning", "Failing"),
                format!("Every attempt since {at} failed. After five days it is switched off."),
            ),
            (WebhookStatus::Active, _, None) => (("good", "Active"), String::new()),
        };
        Self {
            href: visit.address(&format!("/webhooks/{}", webhook.id)),
            url: show::plain(&webhook.target_url),
            event: event_name(webhook.event),
            status,
            reason,
            attempt: webhook.last_attempt_at.map(|at| visit.time(&at)),
            success: webhook.last_success_at.map(|at| visit.time(&at)),
        }
    }
}

fn event_name(event: Subscription) -> String {
    match event {
        Subscription::All => "all events".to_owned(),
        Subscription::One(kind) => kind.to_string(),
    }
}

#[derive(Template)]
#[template(path = "webhooks.html")]
struct WebhooksView {
    frame: ProjectFrame,
    rows: Vec<HookRow>,
    paging: Paging,
    may_change: bool,
    /// Secret of the webhook that was just made, with its page.
    made: Option<(String, String)>,
    wrong: Option<String>,
    url: String,
    events: Vec<Choice>,
}

/// Messages beside the list of webhooks.
#[derive(Default)]
struct HookRemarks {
    wrong: Option<(StatusCode, String)>,
    made: Option<(String, String)>,
    url: String,
    event: String,
}

fn listing(visit: &Visit) -> ListWebhooks {
    ListWebhooks {
        project_id: visit.project_id(),
        limit: Some(100),
        cursor: None,
    }
}

/// The deliveries of a webhook with the filters of the address.
fn deliveries(visit: &Visit, webhook: &str) -> ListDeliveries {
    ListDeliveries {
        project_id: visit.project_id(),
        webhook_id: webhook.to_owned(),
        status: visit.parsed("status"),
        limit: Some(25),
        cursor: visit.cursor(),
    }
}

async fn all(visit: &Visit) -> Result<Vec<Webhook>, Failure> {
    Ok(visit.read(&listing(visit)).await?.data)
}

async fn show_list(visit: &Visit, remarks: HookRemarks) -> PageResult {
    let rows = all(visit).await?;
    let (status, wrong) = match remarks.wrong {
        Some((status, text)) => (status, Some(text)),
        None => (StatusCode::OK, None),
    };
    let kinds = EventType::ALL
        .iter()
        .filter(|kind| **kind != EventType::WebhookTest);
    let names = std::iter::once(("*", "All events")).chain(kinds.map(|kind| (kind.as_str(), kind.as_str())));
    let view = WebhooksView {
        frame: visit.frame("Webhooks", Section::Webhooks),
        paging: Paging::of_whole(visit, "/webhooks.csv"),
        rows: rows.iter().map(|webhook| HookRow::new(visit, webhook)).collect(),
        may_change: visit.may(Scope::WebhooksWrite),
        made: remarks.made,
        wrong,
        url: remarks.url,
        events: Choice::list(names, |event| event == remarks.event),
    };
    Ok(page::respond(status, &view, Form::OwnWithScript))
}

async fn list(visit: Visit) -> PageResult {
    show_list(&visit, HookRemarks::default()).await
}

async fn create(sent: SentForm) -> PageResult {
    let (url, event) = (
        sent.form.get("url").trim().to_owned(),
        sent.form.get("event").to_owned(),
    );
    let made = match event.parse::<Subscription>() {
        Ok(event) => {
            let create = CreateWebhook {
                project_id: sent.visit.project_id(),
                target_url: url.clone(),
                event,
            };
            sent.change(&create).await
        }
        Err(_) => Err(Problem::fault("", "not_a_choice", "choose an event from the list").into()),
    };
    match made {
        Ok(made) => {
            let address = sent.visit.address(&format!("/webhooks/{}", made.id));
            let remarks = HookRemarks {
                made: made.secret.map(|secret| (secret, address)),
                ..HookRemarks::default()
            };
            show_list(&sent.visit, remarks).await
        }
        Err(failure) => match visit::refusal(&failure) {
            Some(wrong) => {
                let remarks = HookRemarks {
                    wrong: Some(wrong),
                    made: None,
                    url,
                    event,
                };
                show_list(&sent.visit, remarks).await
            }
            None => Err(failure.into()),
        },
    }
}

/// A delivery as a row of the list.
struct DeliveryRow {
    id: String,
    event: &'static str,
    at: String,
    status: (&'static str, &'static str),
    next: Option<String>,
    attempts: Vec<AttemptLine>,
    total: u32,
    may_replay: bool,
}

/// One attempt, in words.
struct AttemptLine {
    text: String,
    answer: Option<String>,
}

impl DeliveryRow {
    fn new(visit: &Visit, delivery: &Delivery) -> Self {
        let attempts = delivery.last_attempts.iter().map(|attempt| {
            let outcome = match (attempt.status_code, attempt.error) {
                (Some(code), _) => format!("answered {code}"),
                (None, Some(error)) => failure_name(error).to_owned(),
                (None, None) => "no answer".to_owned(),
            };
            AttemptLine {
                text: format!(
                    "{}: {outcome}, {}\u{202f}ms",
                    visit.time(&attempt.at),
                    show::number(attempt.duration_ms)
                ),
                answer: attempt
                    .response
                    .as_deref()
                    .filter(|text| !text.is_empty())
                    .map(|text| show::cut(text, 2_048)),
            }
        });
        Self {
            id: delivery.id.to_string(),
            event: delivery.event.as_str(),
            at: visit.time(&delivery.created_at),
            status: match delivery.status {
                DeliveryStatus::Pending => ("run", "On its way"),
                DeliveryStatus::Succeeded => ("good", "Arrived"),
                DeliveryStatus::Failed => ("error", "Failed"),
            },
            next: delivery.next_attempt_at.map(|at| visit.time(&at)),
            attempts: attempts.collect(),
            total: delivery.attempts,
            may_replay: delivery.allowed_actions.0.get("replay") == Some(&Permission::Yes(true)),
        }
    }
}

/// Reason an attempt got no answer.
const fn failure_name(error: DeliveryError) -> &'static str {
    match error {
        DeliveryError::Status => "refused",
        DeliveryError::Timeout => "no answer in time",
        DeliveryError::Dns => "its name could not be resolved",
        DeliveryError::Connect => "no connection",
        DeliveryError::Tls => "no secure connection",
        DeliveryError::Broken => "the connection broke, or the answer was not HTTP",
        DeliveryError::Denied => "its address may not be reached from this server",
        DeliveryError::Disabled => "the webhook was switched off before",
    }
}

#[derive(Template)]
#[template(path = "webhook.html")]
struct WebhookView {
    frame: ProjectFrame,
    hook: HookRow,
    created: String,
    version: String,
    is_disabled: bool,
    may_change: bool,
    secret: Option<String>,
    wrong: Option<String>,
    filters: Vec<FilterLink>,
    is_filtered: bool,
    rows: Vec<DeliveryRow>,
    paging: Paging,
}

/// Messages beside a webhook.
#[derive(Default)]
struct DeliveryRemarks {
    wrong: Option<(StatusCode, String)>,
    secret: Option<String>,
}

async fn show_one(visit: &Visit, id: &str, remarks: DeliveryRemarks) -> PageResult {
    let Some(webhook) = all(visit)
        .await?
        .into_iter()
        .find(|webhook| webhook.id.to_string() == id)
    else {
        return Ok(visit::not_found());
    };
    let listed = visit.read(&deliveries(visit, id)).await?;
    let mut filters = vec![FilterLink::new(visit, "status", None, "All")];
    for (status, text) in [
        (DeliveryStatus::Failed, "Failed"),
        (DeliveryStatus::Pending, "On their way"),
        (DeliveryStatus::Succeeded, "Arrived"),
    ] {
        filters.push(FilterLink::new(visit, "status", Some(status.as_str()), text));
    }
    let (status, wrong) = match remarks.wrong {
        Some((status, text)) => (status, Some(text)),
        None => (StatusCode::OK, None),
    };
    let view = WebhookView {
        frame: visit.frame("Webhook", Section::Webhooks),
        hook: HookRow::new(visit, &webhook),
        created: visit.time(&webhook.created_at),
        version: format!("{}-{}", webhook.id, webhook.version),
        is_disabled: webhook.status == WebhookStatus::Disabled,
        may_change: visit.may(Scope::WebhooksWrite),
        secret: remarks.secret,
        wrong,
        filters,
        is_filtered: visit.parameter("status").is_some(),
        rows: listed
            .data
            .iter()
            .map(|delivery| DeliveryRow::new(visit, delivery))
            .collect(),
        paging: Paging::new(visit, listed.next_cursor.as_deref())
            .with_file(visit, &format!("/webhooks/{id}/deliveries.csv")),
    };
    Ok(page::respond(status, &view, Form::OwnWithScript))
}

async fn detail(visit: Visit, Path((_, webhook)): Path<(String, String)>) -> PageResult {
    show_one(&visit, &webhook, DeliveryRemarks::default()).await
}

/// Outcome of a form: the code of its message with a count, or a secret to be shown.
enum HookOutcome {
    Said(&'static str, u64),
    Secret(Option<String>),
}

async fn act(sent: &SentForm, id: &str) -> Result<HookOutcome, Failure> {
    let (project_id, webhook_id) = (sent.visit.project_id(), id.to_owned());
    match sent.form.get("action") {
        "test" => {
            let test = TestWebhook {
                project_id,
                webhook_id,
            };
            sent.change(&test).await?;
            Ok(HookOutcome::Said("webhook-tested", 1))
        }
        "rotate" => {
            let rotate = RotateWebhookSecret {
                project_id,
                webhook_id,
            };
            Ok(HookOutcome::Secret(sent.change(&rotate).await?.secret))
        }
        "delete" => {
            let delete = DeleteWebhook {
                project_id,
                webhook_id,
            };
            sent.change(&delete).await?;
            Ok(HookOutcome::Said("webhook-deleted", 1))
        }
        "replay" => {
            let replay = ReplayDelivery {
                project_id,
                webhook_id,
                delivery_id: sent.form.get("delivery").to_owned(),
            };
            sent.change(&replay).await?;
            Ok(HookOutcome::Said("webhook-replayed", 1))
        }
        "recover" => {
            let days: i64 = sent.form.get("days").parse().unwrap_or(1).clamp(1, 30);
            let now = sent.visit.app().engine.clock.now();
            let recover = RecoverWebhook {
                project_id,
                webhook_id,
                since: now.plus_millis(-days * 86_400_000),
            };
            let recovered = sent.change(&recover).await?;
            Ok(HookOutcome::Said("webhook-recovered", recovered.replayed))
        }
        _ => Err(Problem::not_found("action").into()),
    }
}

async fn change(Path((_, webhook)): Path<(String, String)>, sent: SentForm) -> PageResult {
    match act(&sent, &webhook).await {
        Ok(HookOutcome::Said(code, count)) => {
            let address = match code {
                "webhook-deleted" => sent.visit.address("/webhooks"),
                _ => sent.visit.address(&format!("/webhooks/{webhook}")),
            };
            Ok(sent.done(&address, code, count))
        }
        Ok(HookOutcome::Secret(secret)) => {
            let remarks = DeliveryRemarks { wrong: None, secret };
            show_one(&sent.visit, &webhook, remarks).await
        }
        Err(failure) => match visit::refusal(&failure) {
            Some(wrong) => {
                let remarks = DeliveryRemarks {
                    wrong: Some(wrong),
                    secret: None,
                };
                show_one(&sent.visit, &webhook, remarks).await
            }
            None => Err(failure.into()),
        },
    }
}
