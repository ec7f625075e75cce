//! `/projects/{id}/integrations`: the places to publish, how each is connected, and its mapping.

use std::{collections::BTreeMap, sync::Arc};

use askama::Template;
use axum::{Router, extract::Path, routing::get};
use http::StatusCode;
use searchwright_contract::{
    Scope,
    integrations::{
        ConnectIntegration, ConnectKind, ConnectUrl, DisconnectIntegration, Fields, Integration, ListFields,
        ListIntegrations, PostField, Readiness, SaveMapping,
    },
};
use searchwright_engine::Failure;

use super::{
    export::CsvFile,
    fields::Choice,
    frame::{ProjectFrame, Section},
    page::{self, Form},
    show,
    visit::{self, PageResult, Paging, SentForm, Visit},
};
use crate::app::App;

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/projects/{project}/integrations", get(list))
        .route(
            "/projects/{project}/integrations.csv",
            CsvFile::of_list("integrations").route(listing),
        )
        .route(
            "/projects/{project}/integrations/{provider}",
            get(detail).post(change),
        )
}

/// A place to publish as a row of the list.
struct PlaceRow {
    href: String,
    name: String,
    status: (&'static str, &'static str),
    reason: String,
    account: String,
    published: Option<String>,
}

/// Status with the class of its mark.
const fn status(status: Readiness) -> (&'static str, &'static str) {
    match status {
        Readiness::NotConnected => ("off", "Not connected"),
        Readiness::PendingAuthorization => ("run", "Link waits for a person"),
        Readiness::NeedsMapping => ("warning", "Needs mapping"),
        Readiness::Ready => ("good", "Ready"),
        Readiness::ReauthorizationRequired => ("error", "Connect it again"),
        Readiness::Error => ("error", "Last request failed"),
        Readiness::Disabled => ("off", "Switched off"),
        Readiness::Unsupported => ("off", "Not possible"),
    }
}

/// Reason of the status in a sentence; empty where the status says it all.
fn reason(integration: &Integration) -> String {
    if let Some(reason) = &integration.unsupported_reason {
        return show::plain(reason);
    }
    match (&integration.last_error, integration.missing.as_slice()) {
        (Some(error), _) => show::cut(&error.detail, 300),
        (None, []) => String::new(),
        (None, missing) => {
            let names = missing.iter().map(|name| missing_name(name));
            format!("Missing: {}", names.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Missing part of a mapping, in words: `fieldMap.title` is the field for the title.
fn missing_name(name: &str) -> String {
    match name {
        "siteId" => "the site".to_owned(),
        "collectionId" => "the collection".to_owned(),
        other => other.strip_prefix("fieldMap.").map_or_else(
            || show::plain(other),
            |field| format!("a field for {}", field_name(field).to_lowercase()),
        ),
    }
}

/// Name of a field of a post.
fn field_name(field: &str) -> String {
    match field {
        "content" => "Text".to_owned(),
        "slug" => "End of the address (slug)".to_owned(),
        "metaTitle" => "Title for search results".to_owned(),
        "metaDescription" => "Description for search results".to_owned(),
        "featuredImage" => "Main image".to_owned(),
        "publishedAt" => "Time of publication".to_owned(),
        "canonicalUrl" => "Canonical URL".to_owned(),
        other => show::heading(&show::plain(other)),
    }
}

#[derive(Template)]
#[template(path = "integrations.html")]
struct IntegrationsView {
    frame: ProjectFrame,
    connected: Vec<PlaceRow>,
    others: Vec<PlaceRow>,
    may_connect: bool,
    paging: Paging,
}

fn listing(visit: &Visit) -> ListIntegrations {
    ListIntegrations {
        project_id: visit.project_id(),
        limit: Some(100),
        cursor: None,
    }
}

async fn all(visit: &Visit) -> Result<Vec<Integration>, Failure> {
    Ok(visit.read(&listing(visit)).await?.data)
}

async fn list(visit: Visit) -> PageResult {
    let (mut connected, mut others) = (Vec::new(), Vec::new());
    for integration in all(&visit).await? {
        let row = PlaceRow {
            href: visit.address(&format!("/integrations/{}", integration.provider)),
            name: integration.display_name.clone(),
            status: status(integration.status),
            reason: reason(&integration),
            account: integration
                .account
                .as_deref()
                .map(|text| show::cut(text, 80))
                .unwrap_or_default(),
            published: integration.last_publish_at.map(|at| visit.time(&at)),
        };
        if integration.connection_id.is_some() {
            connected.push(row);
        } else {
            others.push(row);
        }
    }
    let view = IntegrationsView {
        frame: visit.frame("Integrations", Section::Integrations),
        connected,
        others,
        may_connect: visit.may(Scope::IntegrationsWrite),
        paging: Paging::of_whole(&visit, "/integrations.csv"),
    };
    Ok(page::respond(StatusCode::OK, &view, Form::OwnWithScript))
}

/// A field of a post with the provider's fields that it may go to.
struct MappedField {
    id: &'static str,
    name: String,
    is_required: bool,
    choices: Vec<Choice>,
}

/// Fields at the provider, or the reason they are not known.
enum Surveyed {
    Fields(Box<Fields>),
    /// Nothing to ask: it is not connected, or it has no fields.
    Nothing,
    Failed(String),
}

#[derive(Template)]
#[template(path = "integration.html")]
struct IntegrationView {
    frame: ProjectFrame,
    integration: Integration,
    status: (&'static str, &'static str),
    reason: String,
    facts: Vec<(&'static str, String)>,
    able: String,
    may_change: bool,
    version: String,
    sites: Vec<Choice>,
    collections: Vec<Choice>,
    site: String,
    collection: String,
    fields: Vec<MappedField>,
    survey_failed: Option<String>,
    /// Page of the provider to go to.
    link: Option<ConnectUrl>,
    link_until: String,
    site_url: String,
    wrong: Option<String>,
}

/// Messages beside the integration.
#[derive(Default)]
struct PlaceRemarks {
    wrong: Option<(StatusCode, String)>,
    link: Option<ConnectUrl>,
    site_url: String,
    /// The mapping that was sent.
    sent: Option<SentMapping>,
}

/// A mapping as it was sent.
struct SentMapping {
    site: String,
    collection: String,
    fields: BTreeMap<String, String>,
}

fn facts(visit: &Visit, integration: &Integration) -> Vec<(&'static str, String)> {
    let time = |at: Option<searchwright_contract::Instant>, none: &str| {
        at.map_or_else(|| none.to_owned(), |at| visit.time(&at))
    };
    let mut facts = Vec::new();
    if let Some(account) = &integration.account {
        facts.push(("Account", show::cut(account, 200)));
    }
    if let Some(site) = &integration.site_id {
        facts.push(("Site", show::cut(site, 200)));
    }
    if let Some(collection) = &integration.collection_id {
        facts.push(("Collection", show::cut(collection, 200)));
    }
    facts.push(("Connected", time(integration.created_at, "no")));
    facts.push(("Last asked", time(integration.last_checked_at, "never")));
    facts.push(("Last publication", time(integration.last_publish_at, "none")));
    if let Some(error) = &integration.last_error {
        facts.push((
            "Last failure",
            format!("{}, {}", visit.time(&error.at), error.code),
        ));
        if let Some(message) = &error.provider_message {
            facts.push(("It said", show::cut(message, 500)));
        }
    }
    facts
}

/// Abilities of a provider, in a sentence.
fn able(integration: &Integration) -> String {
    let can = integration.capabilities;
    let all = [
        (can.draft, "take drafts"),
        (can.update, "update published posts"),
        (can.unpublish, "unpublish"),
        (can.images, "store images"),
        (can.lookup, "find a post again after a lost answer"),
    ];
    let some: Vec<&str> = all
        .iter()
        .filter(|(is_able, _)| *is_able)
        .map(|(_, text)| *text)
        .collect();
    let none: Vec<&str> = all
        .iter()
        .filter(|(is_able, _)| !*is_able)
        .map(|(_, text)| *text)
        .collect();
    match (some.as_slice(), none.as_slice()) {
        ([], _) => "It only takes new posts.".to_owned(),
        (some, []) => format!("It can {}.", some.join(", ")),
        (some, none) => format!("It can {}. It cannot {}.", some.join(", "), none.join(", ")),
    }
}

async fn survey(
    visit: &Visit,
    integration: &Integration,
    remarks: &PlaceRemarks,
) -> Result<Surveyed, Failure> {
    if integration.connection_id.is_none() || !integration.capabilities.fields {
        return Ok(Surveyed::Nothing);
    }
    let named = |sent: Option<&str>, name: &str| {
        let named = sent.filter(|id| !id.is_empty()).or_else(|| visit.parameter(name));
        named.map(str::to_owned)
    };
    let sent = remarks.sent.as_ref();
    let asked = visit
        .read(&ListFields {
            project_id: visit.project_id(),
            provider: integration.provider.to_string(),
            site_id: named(sent.map(|sent| sent.site.as_str()), "site"),
            collection_id: named(sent.map(|sent| sent.collection.as_str()), "collection"),
        })
        .await;
    match asked {
        Ok(fields) => Ok(Surveyed::Fields(Box::new(fields))),
        Err(failure) => match visit::refusal(&failure) {
            Some((_, text)) => Ok(Surveyed::Failed(text)),
            None => Err(failure),
        },
    }
}

fn mapped(integration: &Integration, fields: &Fields, sent: Option<&SentMapping>) -> Vec<MappedField> {
    let known = sent.map_or(&integration.field_map, |sent| &sent.fields);
    let is_first = known.is_empty() && sent.is_none();
    let one = |field: &PostField| {
        let id = field.as_str();
        let suggested = fields
            .data
            .iter()
            .find(|theirs| theirs.suggested_for == Some(*field));
        let chosen = match known.get(id) {
            Some(chosen) => Some(chosen.as_str()),
            None if is_first => suggested.map(|theirs| theirs.id.as_str()),
            None => None,
        };
        let mut choices = vec![Choice {
            value: String::new(),
            text: "not sent".to_owned(),
            is_chosen: chosen.is_none(),
        }];
        choices.extend(fields.data.iter().map(|theirs| {
            let required = if theirs.required { ", required there" } else { "" };
            Choice {
                value: theirs.id.clone(),
                text: format!(
                    "{} ({}{required})",
                    show::cut(&theirs.name, 80),
                    show::words(theirs.kind.as_str())
                ),
                is_chosen: chosen == Some(theirs.id.as_str()),
            }
        }));
        MappedField {
            id,
            name: field_name(id),
            is_required: matches!(field, PostField::Title | PostField::Content),
            choices,
        }
    };
    PostField::ALL.iter().map(one).collect()
}

fn places(all: &[searchwright_contract::integrations::Place], chosen: Option<&str>) -> Vec<Choice> {
    let choice = |place: &searchwright_contract::integrations::Place| Choice {
        value: place.id.clone(),
        text: show::cut(&place.name, 100),
        is_chosen: chosen == Some(place.id.as_str()),
    };
    all.iter().map(choice).collect()
}

async fn show_one(visit: &Visit, provider: &str, remarks: PlaceRemarks) -> PageResult {
    let found = all(visit)
        .await?
        .into_iter()
        .find(|one| one.provider.as_str() == provider);
    let Some(integration) = found else {
        return Ok(visit::not_found());
    };
    let surveyed = survey(visit, &integration, &remarks).await?;
    let (code, wrong) = match remarks.wrong {
        Some((status, text)) => (status, Some(text)),
        None => (StatusCode::OK, None),
    };
    let version = integration.connection_id.zip(integration.version);
    let mut view = IntegrationView {
        frame: visit.frame("Integration", Section::Integrations),
        status: status(integration.status),
        reason: reason(&integration),
        facts: facts(visit, &integration),
        able: able(&integration),
        may_change: visit.may(Scope::IntegrationsWrite),
        version: version
            .map(|(id, version)| format!("{id}-{version}"))
            .unwrap_or_default(),
        sites: Vec::new(),
        collections: Vec::new(),
        site: String::new(),
        collection: String::new(),
        fields: Vec::new(),
        survey_failed: None,
        link_until: remarks
            .link
            .as_ref()
            .map(|link| visit.time(&link.expires_at))
            .unwrap_or_default(),
        link: remarks.link,
        site_url: remarks.site_url,
        wrong,
        integration,
    };
    match surveyed {
        Surveyed::Nothing => {}
        Surveyed::Failed(text) => view.survey_failed = Some(text),
        Surveyed::Fields(fields) => {
            view.sites = places(&fields.sites, fields.site_id.as_deref());
            view.collections = places(&fields.collections, fields.collection_id.as_deref());
            if !fields.data.is_empty() {
                view.fields = mapped(&view.integration, &fields, remarks.sent.as_ref());
            }
            view.site = fields.site_id.unwrap_or_default();
            view.collection = fields.collection_id.unwrap_or_default();
        }
    }
    Ok(page::respond(code, &view, Form::OwnWithScript))
}

async fn detail(visit: Visit, Path((_, provider)): Path<(String, String)>) -> PageResult {
    show_one(&visit, &provider, PlaceRemarks::default()).await
}

async fn change(Path((_, provider)): Path<(String, String)>, sent: SentForm) -> PageResult {
    match sent.form.get("action") {
        "connect" => connect(&sent, provider).await,
        "disconnect" => disconnect(&sent, provider).await,
        _ => map(&sent, provider).await,
    }
}

async fn refused(visit: &Visit, provider: &str, failure: Failure, remarks: PlaceRemarks) -> PageResult {
    match visit::refusal(&failure) {
        Some(wrong) => {
            let remarks = PlaceRemarks {
                wrong: Some(wrong),
                ..remarks
            };
            show_one(visit, provider, remarks).await
        }
        None => Err(failure.into()),
    }
}

async fn connect(sent: &SentForm, provider: String) -> PageResult {
    let site_url = sent.form.get("siteUrl").trim().to_owned();
    let made = sent
        .change(&ConnectIntegration {
            project_id: sent.visit.project_id(),
            provider: provider.clone(),
            site_url: Some(site_url.clone()).filter(|url| !url.is_empty()),
        })
        .await;
    match made {
        Ok(made) if made.kind == ConnectKind::Dashboard => Ok(page::see_other(&made.url)),
        Ok(made) => {
            let remarks = PlaceRemarks {
                link: Some(made),
                ..PlaceRemarks::default()
            };
            show_one(&sent.visit, &provider, remarks).await
        }
        Err(failure) => {
            let remarks = PlaceRemarks {
                site_url,
                ..PlaceRemarks::default()
            };
            refused(&sent.visit, &provider, failure, remarks).await
        }
    }
}

async fn disconnect(sent: &SentForm, provider: String) -> PageResult {
    let address = sent.visit.address("/integrations");
    let ended = sent
        .change(&DisconnectIntegration {
            project_id: sent.visit.project_id(),
            provider: provider.clone(),
        })
        .await;
    match ended {
        Ok(()) => Ok(sent.done(&address, "disconnected", 1)),
        Err(failure) => refused(&sent.visit, &provider, failure, PlaceRemarks::default()).await,
    }
}

async fn map(sent: &SentForm, provider: String) -> PageResult {
    let field = |name: &str| sent.form.get(name).trim().to_owned();
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let fields = PostField::ALL.iter().filter_map(|post| {
        let theirs = field(&format!("map-{post}"));
        (!theirs.is_empty()).then(|| (post.to_string(), theirs))
    });
    let mapping = SentMapping {
        site: field("site"),
        collection: field("collection"),
        fields: fields.collect(),
    };
    let saved = sent
        .change(&SaveMapping {
            project_id: sent.visit.project_id(),
            provider: provider.clone(),
            connection_id: None,
            site_id: given(&mapping.site),
            collection_id: given(&mapping.collection),
            field_map: mapping.fields.clone(),
        })
        .await;
    match saved {
        Ok(_) => {
            let address = sent.visit.address(&format!("/integrations/{provider}"));
            Ok(sent.done(&address, "mapping-saved", 1))
        }
        Err(failure) => {
            let remarks = PlaceRemarks {
                sent: Some(mapping),
                ..PlaceRemarks::default()
            };
            refused(&sent.visit, &provider, failure, remarks).await
        }
    }
}
