//! Connecting a provider: a person enters what it wants on a page that works once, and nothing is kept that the provider does not
//! accept.

use std::{collections::BTreeMap, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use searchwright_contract::{
    Code, Instant, Problem,
    activity::CredentialKind,
    events::{EventType, IntegrationData},
    ids::{ConnectionId, EventId},
    integrations::Provider,
};
use searchwright_outbound::Purpose;
use searchwright_publishing::{
    Account, Connection, Context, Input, Publisher, Settings, Trouble, Why,
    connection_input::{API_URL, sort_input},
    oauth::{self, App},
    vendors::{self, Vendor, git::address::Address},
};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    activity, admin,
    connect_links::{self, ConnectLink},
    events,
    integrations::{self, NewIntegration},
    oauth_apps, projects,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{Engine, failure::Result};

/// Timeout for asking a site for its page.
const SITE_TIMEOUT: Duration = Duration::from_secs(5);
/// Minutes that a page works.
const MINUTES: i64 = 60;

/// Makes a token for a page, and the SHA-256 under which it is stored.
pub(crate) fn token() -> Result<(String, [u8; 32])> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes).map_err(|e| crate::failure::defect("randomness", e))?;
    let token = URL_SAFE_NO_PAD.encode(bytes);
    let digest = digest(&token);
    Ok((token, digest))
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// Returns the time at which a page made now expires.
pub(crate) fn expires(now: Instant) -> Instant {
    now.plus_millis(MINUTES * 60_000)
}

/// The page of a token, as the door shows it.
#[derive(Debug)]
pub struct ConnectPage {
    /// The provider.
    pub provider: Provider,
    /// Its name.
    pub name: &'static str,
    /// Inputs of its form.
    pub inputs: &'static [Input],
    /// Settings that are known already, by name.
    pub known: BTreeMap<String, String>,
    /// Path to which the form is sent.
    pub path: String,
    vendor: &'static Vendor,
    link: ConnectLink,
    digest: [u8; 32],
}

/// A connection that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connected {
    /// The connection.
    pub id: ConnectionId,
    /// The provider.
    pub provider: Provider,
    /// Name of the account at the provider.
    pub account: Option<String>,
}

impl Engine {
    /// Returns the page of a token; `None` if the token is unknown, used or expired.
    pub async fn connect_page(&self, token: &str) -> Result<Option<ConnectPage>> {
        let digest = digest(token);
        let now = self.clock.now();
        let link = connect_links::find(&mut self.db.read().await?, &digest, now).await?;
        Ok(link.and_then(|link| {
            let vendor = vendors::find(link.provider)?;
            Some(ConnectPage {
                provider: vendor.provider,
                name: vendor.name,
                inputs: vendor.inputs,
                vendor,
                known: link.settings.clone(),
                path: format!("/connect/{token}"),
                link,
                digest,
            })
        }))
    }

    /// Connects the provider of a page with what a person entered.
    pub async fn connect_by_page(
        &self,
        page: &ConnectPage,
        entered: BTreeMap<String, String>,
    ) -> Result<Connected> {
        let scope = page.link.scope;
        if entered
            .get("repository")
            .is_some_and(|address| matches!(Address::parse(address.trim()), Ok(Address::Folder(_))))
        {
            return Err(Problem::fault(
                "/repository",
                "denied",
                "is a path of the server, which only its operator can connect",
            )
            .into());
        }
        let (made, account) = self
            .try_connection(scope, page.vendor, &page.known, entered)
            .await?;
        let digest = page.digest;
        self.keep(scope, made, account, CredentialKind::Page, move |tx, now| {
            Box::pin(async move { Ok(connect_links::mark_used(tx, &digest, now).await?) })
        })
        .await
    }

    /// Connects the provider of a page with what a person brings back from the provider's own in the address.
    pub async fn connect_by_address(
        &self,
        page: &ConnectPage,
        query: &BTreeMap<String, String>,
    ) -> Result<Connected> {
        let settings = self.publishing()?;
        let (app, secret) = self.oauth_app(page.provider).await?;
        let site = page.known.get("siteUrl").map_or("", String::as_str);
        let client = settings.outbound.for_purpose(Purpose::Publish);
        let brought = oauth::brought(client, &app, secret.expose_secret(), site, &back(settings), query)
            .await
            .map_err(|trouble| refused(&trouble))?;
        self.connect_by_app(page, app, brought).await
    }

    /// Connects the provider of a page with the token that a script of ours found where no server can.
    pub async fn connect_by_token(&self, page: &ConnectPage, token: String) -> Result<Connected> {
        let (app, _) = self.oauth_app(page.provider).await?;
        if !oauth::is_by_fragment(page.provider) {
            let why = "it does not support this way of authorisation";
            return Err(refused(&Trouble::because(Why::Unsupported, why)));
        }
        self.connect_by_app(page, app, BTreeMap::from([("token".to_owned(), token)]))
            .await
    }

    async fn oauth_app(&self, provider: Provider) -> Result<(App, SecretString)> {
        let mut tx = self.db.read().await?;
        let app = oauth_apps::find(&mut tx, provider).await?.map(publishing_app);
        let secret = oauth_apps::find_secret(&mut tx, &self.keyring, provider).await?;
        app.zip(secret).ok_or_else(|| {
            Problem::new(
                Code::ProviderNotConfigured,
                "no application is registered with the provider",
            )
            .into()
        })
    }

    async fn connect_by_app(
        &self,
        page: &ConnectPage,
        app: App,
        mut entered: BTreeMap<String, String>,
    ) -> Result<Connected> {
        entered.extend(app.settings.into_iter().filter(|(name, _)| name == API_URL));
        self.connect_by_page(page, entered).await
    }

    /// Connects a provider for the operator.
    pub async fn connect(
        &self,
        project: Uuid,
        provider: &str,
        entered: BTreeMap<String, String>,
    ) -> Result<Connected> {
        let vendor = vendor(provider)?;
        let scope = admin::get_scope(&mut self.db.read().await?, project)
            .await
            .map_err(|error| match error {
                searchwright_store::Error::Missing => Problem::not_found("project").into(),
                other => crate::Failure::from(other),
            })?;
        let (made, account) = self
            .try_connection(scope, vendor, &BTreeMap::new(), entered)
            .await?;
        self.keep(scope, made, account, CredentialKind::Operator, |_, _| {
            Box::pin(async { Ok(true) })
        })
        .await
    }

    /// A publisher of a connection.
    pub(crate) fn publisher(
        &self,
        scope: ProjectScope,
        vendor: &Vendor,
        connection: Connection,
        delivery: Uuid,
    ) -> Result<std::result::Result<Box<dyn Publisher>, Trouble>> {
        let context = Context::new(self.publishing()?, self.clock.clone(), scope.project(), delivery);
        Ok((vendor.open)(&context, connection))
    }

    /// Asks the provider whether it accepts what was entered.
    async fn try_connection(
        &self,
        scope: ProjectScope,
        vendor: &'static Vendor,
        known: &BTreeMap<String, String>,
        entered: BTreeMap<String, String>,
    ) -> Result<(NewIntegration, Account)> {
        let (settings, secrets) = sort_input(vendor, known, entered)?;
        let connection = Connection {
            settings: settings.clone(),
            secrets: secrets
                .iter()
                .map(|(name, value)| (name.clone(), SecretString::from(value.clone())))
                .collect(),
            ..Connection::default()
        };
        let asked = match self.publisher(scope, vendor, connection, Uuid::nil())? {
            Ok(publisher) => publisher.check().await,
            Err(trouble) => Err(trouble),
        };
        let account = asked.map_err(|trouble| refused(&trouble))?;
        let secret = (!secrets.is_empty()).then(|| SecretString::from(json!(secrets).to_string()));
        let new = NewIntegration {
            id: self.clock.id(),
            provider: vendor.provider,
            settings,
            secret,
            account: account.name.clone(),
            site_key: account.site.clone(),
        };
        Ok((new, account))
    }

    /// Keeps a connection that the provider accepted, and says so.
    async fn keep<F>(
        &self,
        scope: ProjectScope,
        new: NewIntegration,
        account: Account,
        by: CredentialKind,
        permit: F,
    ) -> Result<Connected>
    where
        F: for<'a> FnOnce(&'a mut Tx, Instant) -> searchwright_store::BoxFuture<'a, Result<bool>>
            + Send
            + 'static,
    {
        let (keyring, now, event) = (self.keyring.clone(), self.clock.now(), self.clock.id());
        let (provider, entry) = (new.provider, self.clock.id());
        let id = self
            .db
            .write(move |tx| {
                Box::pin(async move {
                    projects::lock(tx, scope).await?;
                    if !permit(tx, now).await? {
                        return Err(Problem::new(Code::InvalidState, "the page was already used")
                            .hint("ask for a new one with integrations.connect")
                            .into());
                    }
                    let id = integrations::connect(tx, scope, &keyring, new, now).await?;
                    announce(
                        tx,
                        scope,
                        event,
                        EventType::IntegrationConnected,
                        provider,
                        id,
                        now,
                    )
                    .await?;
                    let (action, subject) = ("integrations.connected", provider.as_str().to_owned());
                    let entry = activity::NewActivity::without_credential(entry, action, subject, by);
                    activity::insert(tx, scope, entry, now).await?;
                    Ok::<ConnectionId, crate::Failure>(id)
                })
            })
            .await?;
        self.happened.notify_one();
        Ok(Connected {
            id,
            provider,
            account: account.name,
        })
    }
}

/// Writes an event about a connection.
pub(crate) async fn announce(
    tx: &mut Tx,
    scope: ProjectScope,
    event: EventId,
    kind: EventType,
    provider: Provider,
    connection: ConnectionId,
    now: Instant,
) -> Result<(), searchwright_store::Error> {
    let data = json!(IntegrationData {
        provider,
        connection_id: connection,
    });
    events::insert(tx, scope, event, kind, &data, now).await
}

/// Returns the vendor of a provider name; an error if the name is unknown or the provider cannot be connected.
pub(crate) fn vendor(word: &str) -> Result<&'static Vendor> {
    let provider: Provider = word.parse().map_err(|_| Problem::not_found("provider"))?;
    vendors::find(provider)
        .ok_or_else(|| Problem::new(Code::ConnectNotSupported, vendors::unsupported(provider)).into())
}

/// Converts a provider's trouble to an API error.
pub(crate) fn refused(trouble: &Trouble) -> crate::Failure {
    let mut problem = Problem::new(Code::ProviderError, trouble.to_string()).with("reason", trouble.word());
    match trouble {
        Trouble::Refused { why, said } => {
            if *why == Why::Credential {
                problem = problem.hint("connect the provider again with integrations.connect");
            }
            if let Some(said) = said {
                problem = problem.with("providerMessage", said.as_str());
            }
        }
        Trouble::NotNow { after, .. } => {
            problem = problem.after(after.map_or(30, |after| after.as_secs().try_into().unwrap_or(u32::MAX)));
        }
        Trouble::Unclear { .. } => {}
    }
    problem.into()
}

/// Returns the URL to which a provider's page sends people back.
fn back(settings: &Settings) -> String {
    format!("{}/connect/callback", settings.origin)
}

/// The provider's own page on which a person lets us in, with `{own}` where our page goes and `{token}` where its token does; `None` where
/// there is none, and our page asks.
pub(crate) async fn authorise(engine: &Engine, provider: Provider, site: &str) -> Result<Option<String>> {
    let settings = engine.publishing()?;
    if let Some(app) = oauth_apps::find(&mut engine.db.read().await?, provider).await? {
        let app = publishing_app(app);
        return Ok(oauth::page(&app, site, &back(settings), "{token}")
            .map(|url| url.replace("%7Btoken%7D", "{token}")));
    }
    if provider == Provider::Wordpress {
        // A site that is slow or down is connected on a page of ours.
        let client = settings.outbound.for_purpose(Purpose::Publish);
        let page = tokio::time::timeout(
            SITE_TIMEOUT,
            oauth::wordpress_page(client, &settings.origin, site),
        );
        return Ok(page.await.ok().flatten());
    }
    Ok(None)
}

/// Converts a stored application to the form that publishing takes.
fn publishing_app(app: oauth_apps::OauthApp) -> App {
    App {
        provider: app.provider,
        client_id: app.client_id,
        settings: app.settings,
    }
}
