//! Integrations, the providers that posts are published to: connected by a person, mapped by any caller with the scope.

mod survey;

use searchwright_contract::{
    Code, List, Problem, Scope,
    actions::{AllowedActions, Permission},
    events::EventType,
    integrations::{
        ConnectIntegration, ConnectKind, ConnectUrl, DisconnectIntegration, Fields, Integration, ListFields,
        ListIntegrations, Provider, Readiness, SaveMapping,
    },
};
use searchwright_publishing::{mapping, vendors};
use searchwright_store::{
    Tx,
    connect_links::{self, ConnectLink},
    integrations::{self, FieldMapping, IntegrationRecord},
    projects,
};

use self::survey::{ask_fields, asked_fields, decided};
use super::items::refuse;
use crate::{
    Engine,
    call::{Call, ConnectSite, Prepared, fault, limit},
    connect::{announce, authorise, expires, token, vendor},
    endpoint::Handle,
    failure::Result,
};

/// Returns a provider as it is shown.
fn shown(
    call: &Call,
    provider: Provider,
    record: Option<IntegrationRecord>,
    is_invited: bool,
) -> Integration {
    let vendor = vendors::find(provider);
    let write = call.permission(Scope::IntegrationsWrite);
    let no = |reason: &'static str| Permission::no("invalid_state", reason);
    let connect = match vendor {
        Some(_) => write.clone(),
        None => Permission::no(Code::ConnectNotSupported.as_str(), vendors::unsupported(provider)),
    };
    let with_connection = |permission: &Permission| match record {
        Some(_) => permission.clone(),
        None => no("it is not connected"),
    };
    let allowed_actions = AllowedActions::default()
        .with("connect", connect)
        .with("map", with_connection(&write))
        .with("disconnect", with_connection(&write));
    let status = match &record {
        None if vendor.is_none() => Readiness::Unsupported,
        None if is_invited => Readiness::PendingAuthorization,
        None => Readiness::NotConnected,
        Some(record) if record.status == Readiness::Ready && !record.missing.is_empty() => {
            Readiness::NeedsMapping
        }
        Some(record) => record.status,
    };
    let mut integration = Integration {
        provider,
        display_name: vendor.map_or("Framer", |vendor| vendor.name).to_owned(),
        connection_id: None,
        status,
        missing: Vec::new(),
        account: None,
        site_id: None,
        collection_id: None,
        field_map: std::collections::BTreeMap::new(),
        last_checked_at: None,
        last_publish_at: None,
        last_error: None,
        capabilities: vendor.map(|vendor| vendor.capabilities).unwrap_or_default(),
        unsupported_reason: vendor
            .is_none()
            .then(|| vendors::unsupported(provider).to_owned()),
        version: None,
        created_at: None,
        updated_at: None,
        allowed_actions,
    };
    if let Some(record) = record {
        integration.connection_id = Some(record.id);
        integration.missing = record.missing;
        integration.account = record.account;
        integration.site_id = record.site_id;
        integration.collection_id = record.collection_id;
        integration.field_map = record.field_map;
        integration.last_checked_at = record.last_checked_at;
        integration.last_publish_at = record.last_publish_at;
        integration.last_error = record.last_error;
        integration.version = Some(record.version);
        integration.created_at = Some(record.created_at);
        integration.updated_at = Some(record.updated_at);
    }
    integration
}

async fn one(call: &Call, tx: &mut Tx, provider: Provider) -> Result<Integration> {
    let scope = call.scope()?;
    let record = integrations::find_by_provider(tx, scope, provider).await?;
    let invited = connect_links::list_open_providers(tx, scope, call.now).await?;
    Ok(shown(call, provider, record, invited.contains(&provider)))
}

fn not_connected(provider: Provider) -> Problem {
    Problem::new(
        Code::ProviderNotConfigured,
        format!("{provider} is not connected"),
    )
    .hint("make a URL with integrations.connect and hand it to a person")
    .with("provider", provider.as_str())
}

impl Handle<ListIntegrations> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListIntegrations) -> Result<List<Integration>> {
        let limit = limit(operation.limit);
        let after: Option<usize> = call.after(&operation, operation.cursor.as_deref())?;
        let scope = call.scope()?;
        let mut records = integrations::list(tx, scope).await?;
        let invited = connect_links::list_open_providers(tx, scope, call.now).await?;
        let rows = Provider::ALL
            .iter()
            .enumerate()
            .skip(after.map_or(0, |after| after + 1))
            .take(limit as usize + 1)
            .map(|(at, provider)| {
                let found = records.iter().position(|record| record.provider == *provider);
                let record = found.map(|found| records.swap_remove(found));
                (at, shown(call, *provider, record, invited.contains(provider)))
            })
            .collect();
        let page = call.page(&operation, limit, rows, |(at, _)| *at)?;
        Ok(List {
            data: page.data.into_iter().map(|(_, shown)| shown).collect(),
            next_cursor: page.next_cursor,
        })
    }
}

impl Handle<ConnectIntegration> for Engine {
    const PREPARES: bool = true;

    async fn prepare(call: &Call, operation: &ConnectIntegration) -> Result<Prepared> {
        let vendor = vendor(&operation.provider)?;
        if let Some(url) = &operation.site_url {
            let good = url::Url::parse(url).is_ok_and(|url| {
                matches!(url.scheme(), "http" | "https")
                    && url.username().is_empty()
                    && url.password().is_none()
            });
            if !good {
                return Err(fault(
                    "/siteUrl",
                    "not_a_url",
                    "has to be an address such as https://blog.example.com",
                ));
            }
        }
        let home = {
            let project = projects::get(&mut call.engine.db.read().await?, call.scope()?).await?;
            searchwright_visibility::domains::start_url(&project.domain)
        };
        let site = operation.site_url.clone().unwrap_or(home);
        Ok(Prepared::Site(ConnectSite {
            consent_page: authorise(&call.engine, vendor.provider, &site).await?,
            url: site,
        }))
    }

    async fn handle(call: &Call, tx: &mut Tx, operation: ConnectIntegration) -> Result<ConnectUrl> {
        let (scope, vendor) = (call.scope()?, vendor(&operation.provider)?);
        let (token, digest) = token()?;
        let Prepared::Site(site) = &call.prepared else {
            return Err(crate::failure::defect("connect-url", "the site was not asked"));
        };
        let mut settings = std::collections::BTreeMap::new();
        if vendor.inputs.iter().any(|input| input.name == "siteUrl") {
            settings.insert("siteUrl".to_owned(), site.url.trim_end_matches('/').to_owned());
        }
        let link = ConnectLink {
            scope,
            provider: vendor.provider,
            settings,
        };
        let expires_at = expires(call.now);
        connect_links::create(tx, &digest, &link, call.now, expires_at).await?;
        let own = format!("{}/connect/{token}", call.engine.publishing()?.origin);
        Ok(match &site.consent_page {
            Some(page) => ConnectUrl {
                url: page.replace("{token}", &token).replace(
                    "{own}",
                    &url::form_urlencoded::byte_serialize(own.as_bytes()).collect::<String>(),
                ),
                expires_at,
                kind: ConnectKind::Provider,
            },
            None => ConnectUrl {
                url: own,
                expires_at,
                kind: ConnectKind::Dashboard,
            },
        })
    }
}

impl Handle<ListFields> for Engine {
    const PREPARES: bool = true;

    async fn prepare(call: &Call, operation: &ListFields) -> Result<Prepared> {
        let (site, collection) = (operation.site_id.as_deref(), operation.collection_id.as_deref());
        ask_fields(call, &operation.provider, site, collection)
            .await
            .map(Prepared::Fields)
    }

    async fn handle(call: &Call, _: &mut Tx, _: ListFields) -> Result<Fields> {
        asked_fields(call)
    }
}

impl Handle<SaveMapping> for Engine {
    const PREPARES: bool = true;

    async fn prepare(call: &Call, operation: &SaveMapping) -> Result<Prepared> {
        let (site, collection) = (operation.site_id.as_deref(), operation.collection_id.as_deref());
        ask_fields(call, &operation.provider, site, collection)
            .await
            .map(Prepared::Fields)
    }

    async fn handle(call: &Call, tx: &mut Tx, operation: SaveMapping) -> Result<Integration> {
        let (scope, provider) = (call.scope()?, vendor(&operation.provider)?.provider);
        let fields = asked_fields(call)?;
        projects::lock(tx, scope).await?;
        let Some(record) = integrations::find_by_provider(tx, scope, provider).await? else {
            return Err(not_connected(provider).into());
        };
        call.check_match(record.id, record.version)?;
        let is_other = |named: &String| *named != record.id.to_string();
        if fields.connection_id != record.id || operation.connection_id.as_ref().is_some_and(is_other) {
            return Err(fault(
                "/connectionId",
                "unknown_value",
                "is not the present connection of this provider",
            ));
        }
        decided("/siteId", fields.site_id.as_deref(), &fields.sites, true)?;
        decided(
            "/collectionId",
            fields.collection_id.as_deref(),
            &fields.collections,
            false,
        )?;
        refuse(mapping::faults(&operation.field_map, &fields.data))?;
        let saved = FieldMapping {
            site_id: fields.site_id,
            collection_id: fields.collection_id,
            missing: mapping::missing(&operation.field_map, &fields.data),
            field_map: operation.field_map,
        };
        integrations::update_mapping(tx, scope, record.id, &saved, call.now).await?;
        one(call, tx, provider).await
    }
}

impl Handle<DisconnectIntegration> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: DisconnectIntegration) -> Result<()> {
        let provider: Provider = operation
            .provider
            .parse()
            .map_err(|_| Problem::not_found("provider"))?;
        let scope = call.scope()?;
        projects::lock(tx, scope).await?;
        let Some(record) = integrations::find_by_provider(tx, scope, provider).await? else {
            return Err(Problem::not_found("connection").into());
        };
        call.check_match(record.id, record.version)?;
        integrations::remove(tx, scope, record.id, call.now).await?;
        let (event, kind) = (call.engine.clock.id(), EventType::IntegrationDisconnected);
        Ok(announce(tx, scope, event, kind, provider, record.id, call.now).await?)
    }
}
