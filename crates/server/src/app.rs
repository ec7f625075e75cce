//! The state that every request handler shares.

use searchwright_contract::ids::CredentialId;
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use searchwright_engine::Engine;
use searchwright_people::{
    People,
    oauth::{self, Resources},
};
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::{
    Settings,
    backups::{BackupSurroundings, Backups},
    http::{
        bearer::Gate,
        body::Intake,
        concurrency::Concurrency,
        kept::{KeptDocument, KeptPages},
        memory::MemoryPool,
        pressure::Pressure,
        rate_limit::Limiter,
        shared_limits::{Bucket, SharedLimits},
    },
    listen::Connections,
    metrics::Metrics,
    notices::Notices,
};

/// State shared by the HTTP API, MCP and the connect pages.
#[derive(Debug)]
pub struct App {
    /// Merged configuration.
    pub settings: Settings,
    /// The service.
    pub engine: Arc<Engine>,
    /// People and their programs.
    pub people: Arc<People>,
    /// Verifies credentials.
    pub gate: Gate,
    /// Refuses requests when more come than can be carried out.
    pub pressure: Pressure,
    /// Places for requests under way.
    pub turns: Arc<Semaphore>,
    /// Those of them that changes may take.
    pub changes: Arc<Semaphore>,
    /// Places by credential.
    pub concurrency: Concurrency<CredentialId>,
    /// Pages that follow the work of their project, by session.
    pub followers: Concurrency<CredentialId>,
    /// Files that sessions load.
    pub exports: Concurrency<CredentialId>,
    /// Bodies on their way in.
    pub intake: Intake,
    /// Connections at all doors.
    pub connections: Arc<Connections>,
    /// Memory for answers on their way out.
    pub answers: Arc<MemoryPool>,
    /// Quotas by owner and kind.
    pub limiter: Limiter<Bucket>,
    /// Quotas that all servers on a database count together; `None` for the only one.
    pub shared_limits: Option<SharedLimits>,
    /// Issuer and protected resources.
    pub resources: Resources,
    /// Quotas of OAuth clients at the endpoints for them, by digest of the client's id and address.
    pub oauth_clients: Limiter<([u8; 32], std::net::IpAddr)>,
    /// Quotas of registrations, by digest of the host of the redirect URI.
    pub registrations: Limiter<[u8; 32]>,
    /// Quotas of user codes of devices, by session or address.
    pub user_codes: Limiter<String>,
    /// Quotas of addresses without a credential.
    pub strangers: Limiter<std::net::IpAddr>,
    /// Notices to people.
    pub notices: Arc<Notices>,
    /// Backups by time.
    pub backups: Backups,
    /// Quotas of addresses that open share links.
    pub readers: Limiter<std::net::IpAddr>,
    /// Counters.
    pub metrics: Metrics,
    /// The OpenAPI document, made when first asked for.
    pub openapi: OnceLock<KeptDocument>,
    /// The manual, made when it is first asked for.
    pub docs: OnceLock<KeptPages>,
    /// `/llms.txt`, made when it is first asked for.
    pub llms: OnceLock<KeptDocument>,
    /// `/skill.md`, made when it is first asked for.
    pub skill: OnceLock<KeptDocument>,
    pub(crate) stopping: AtomicBool,
}

fn resources(settings: &Settings) -> Resources {
    let canonical = |url: &str| oauth::canonical(url).unwrap_or_else(|| url.to_owned());
    Resources {
        issuer: settings.public_url.clone(),
        api: canonical(&settings.base_url()),
        mcp: canonical(&settings.mcp_url),
    }
}

impl App {
    /// Makes a backup of the embedded database if it is time.
    pub async fn back_up_if_due(&self) {
        self.backups.turn(self.backup_surroundings()).await;
    }

    pub(crate) fn backup_surroundings(&self) -> BackupSurroundings<'_> {
        BackupSurroundings {
            settings: &self.settings,
            clock: &self.engine.clock,
            metrics: Some(&self.metrics),
            notices: &self.notices,
        }
    }

    /// Prepares the doors of an installation.
    pub(crate) fn new(
        settings: Settings,
        people: Arc<People>,
        engine: Arc<Engine>,
        notices: Arc<Notices>,
    ) -> Self {
        Self {
            gate: Gate::new(engine.clone()),
            backups: Backups::new(&settings),
            pressure: Pressure::default(),
            turns: Arc::new(Semaphore::new(settings.limits.concurrent)),
            changes: Arc::new(Semaphore::new(settings.limits.concurrent_changes())),
            concurrency: Concurrency::default(),
            followers: Concurrency::default(),
            exports: Concurrency::default(),
            intake: Intake::new(&settings.limits),
            connections: Arc::new(Connections::new(
                settings.limits.connections,
                settings.limits.connections_per_address,
                settings.database_connections,
            )),
            answers: Arc::new(MemoryPool::new(
                settings.limits.answer_bytes,
                settings.limits.answer_bytes_per_credential,
            )),
            limiter: Limiter::default(),
            shared_limits: (engine.db.name() == "postgres").then(SharedLimits::default),
            resources: resources(&settings),
            oauth_clients: Limiter::default(),
            registrations: Limiter::default(),
            user_codes: Limiter::default(),
            strangers: Limiter::default(),
            notices,
            readers: Limiter::default(),
            metrics: Metrics::default(),
            openapi: OnceLock::new(),
            docs: OnceLock::new(),
            llms: OnceLock::new(),
            skill: OnceLock::new(),
            stopping: AtomicBool::new(false),
            settings,
            people,
            engine,
        }
    }

    /// A request id, unique and in order of arrival.
    pub fn request_id(&self) -> String {
        let mut id = String::with_capacity(40);
        id.push_str("req_");
        id.push_str(
            self.engine
                .clock
                .id::<Uuid>()
                .as_hyphenated()
                .encode_lower(&mut Uuid::encode_buffer()),
        );
        id
    }

    /// Checks that the process can take requests; the error is the reason if it cannot.
    pub async fn ready(&self) -> Result<(), String> {
        if self.stopping.load(Ordering::Acquire) {
            return Err("shutting down".to_owned());
        }
        self.engine.db.ready().await.map_err(|e| e.to_string())
    }
}
