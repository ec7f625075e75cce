//! A server with a project and a key, and calls to it.

use searchwright_contract::ids::CredentialId;
use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, resume_unwind},
    sync::Arc,
};

use futures_util::FutureExt as _;
use http::HeaderMap;
use searchwright_contract::{Clock, Instant};
use searchwright_engine::{Endpoint, admin::Grant};
use searchwright_server::{
    Settings,
    config::Flags,
    serve::{self, Server},
};
use searchwright_store::seal::Keyring;
use serde_json::Value;
use tempfile::TempDir;
use tokio_postgres::NoTls;
use uuid::Uuid;

use crate::document::Document;

const VARIABLE: &str = "SEARCHWRIGHT_TEST_POSTGRES";

/// Limits that no test meets by accident.
const WIDE: &[&str] = &[
    "worker.jobs=0",
    "backups.every_hours=0",
    "limits.wait_ms=0",
    "limits.requests_per_minute=100000",
    "limits.runs_per_minute=100000",
    "limits.requests_per_minute_and_project=100000",
    "limits.failed_authentications_per_minute=100000",
    "limits.token_requests_per_minute=100000",
];

/// A running server.
pub struct Bench {
    pub server: Server,
    pub clock: Clock,
    pub folder: Arc<TempDir>,
    pub project: Uuid,
    pub key: String,
    pub http: reqwest::Client,
    document: Arc<Document>,
}

/// Names tests of this module; each is run on SQLite and on PostgreSQL, and is passed the database's URL.
macro_rules! on_both {
    ($($name:ident,)*) => {
        mod sqlite { $(#[test] fn $name() { $crate::harness::on_sqlite(super::$name); })* }
        mod postgres { $(#[test] fn $name() { $crate::harness::on_postgres(super::$name); })* }
    };
}

/// Answer to a call.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// A call to be made; with the bench's key unless another is named.
pub struct Call<'a> {
    bench: &'a Bench,
    method: http::Method,
    path: String,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
}

/// Runs a test on SQLite.
pub fn on_sqlite(test: impl AsyncFnOnce(&str)) {
    runtime().block_on(test(""));
}

/// Runs a test on PostgreSQL, in a database of its own; its URL is passed.
pub fn on_postgres(test: impl AsyncFnOnce(&str)) {
    let Some(server) = std::env::var(VARIABLE).ok().filter(|url| !url.is_empty()) else {
        let ci = std::env::var("CI").is_ok_and(|v| v == "true");
        assert!(
            !ci,
            "{VARIABLE} is not set, and in continuous integration nothing is skipped"
        );
        return eprintln!("skipped: {VARIABLE} is not set");
    };
    runtime().block_on(async {
        let name = format!(
            "server_{}_{}",
            std::process::id(),
            Clock::system().id::<Uuid>().simple()
        );
        let drop_it = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        run(&server, &format!("CREATE DATABASE {name}")).await;
        let (root, _) = server.rsplit_once('/').unwrap();
        let outcome = AssertUnwindSafe(test(&format!("{root}/{name}")))
            .catch_unwind()
            .await;
        run(&server, &drop_it).await;
        if let Err(panic) = outcome {
            resume_unwind(panic);
        }
    });
}

async fn run(url: &str, statement: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute(statement).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap()
}

/// Settings of a server in this folder, with wide limits and then these.
pub fn settings(folder: &TempDir, database: &str, set: &[&str]) -> Settings {
    let zero = Some("127.0.0.1:0".parse().unwrap());
    Settings::load(&Flags {
        data_dir: Some(folder.path().to_owned()),
        database_url: Some(database.to_owned()),
        listen: zero,
        mcp_listen: zero,
        metrics_listen: zero,
        set: WIDE.iter().chain(set).map(|s| (*s).to_owned()).collect(),
        ..Flags::default()
    })
    .unwrap()
}

/// Returns the time at which every test begins.
pub fn now() -> Instant {
    Instant::from_millis(1_795_255_200_000)
}

impl Bench {
    /// A server on SQLite.
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    /// A server on SQLite with some settings.
    pub async fn with(set: &[&str]) -> Self {
        Self::on("", set).await
    }

    /// A server on the database of this URL, or on SQLite.
    pub async fn on(database: &str, set: &[&str]) -> Self {
        let folder = Arc::new(TempDir::new().unwrap());
        let settings = settings(&folder, database, set);
        Self::open(folder, settings, Clock::fixed(now())).await
    }

    /// A server in an existing folder.
    pub async fn open(folder: Arc<TempDir>, settings: Settings, clock: Clock) -> Self {
        let server = serve::start_with(settings, clock.clone()).await.unwrap();
        let engine = &server.app.engine;
        let project = engine
            .create_project("Fern & Fir", "example.com")
            .await
            .unwrap()
            .id;
        let document = Arc::new(Document::of(&server.app));
        let mut bench = Self {
            server,
            clock,
            folder,
            project,
            key: String::new(),
            http: client(),
            document,
        };
        bench.key = bench.key_for(project, &[]).await;
        bench
    }

    pub fn endpoints(&self) -> &[Endpoint] {
        &self.server.app.engine.endpoints
    }

    /// A key with these scopes, or with all.
    pub async fn key_for(&self, project: Uuid, scopes: &[&str]) -> String {
        let grant = Grant {
            scopes: scopes.iter().map(|s| (*s).to_owned()).collect(),
            read_only: false,
            lifetime_millis: None,
        };
        self.grant(project, grant).await.1
    }

    /// A key and its id.
    pub async fn grant(&self, project: Uuid, grant: Grant) -> (CredentialId, String) {
        let created = self
            .server
            .app
            .engine
            .create_key(project, "test", grant)
            .await
            .unwrap();
        (created.id, created.key)
    }

    /// Another project with a key that may do everything.
    pub async fn neighbour(&self) -> (Uuid, String) {
        let project = self
            .server
            .app
            .engine
            .create_project("Oak", "example.org")
            .await
            .unwrap()
            .id;
        (project, self.key_for(project, &[]).await)
    }

    /// A call below `/v1`; `P` at the beginning stands for the bench's project.
    pub fn call(&self, method: &str, path: &str) -> Call<'_> {
        let path = match path.strip_prefix("P") {
            Some(rest) => format!("/projects/{}{rest}", self.project),
            None => path.to_owned(),
        };
        let call = Call {
            bench: self,
            method: method.parse().unwrap(),
            path,
            headers: HeaderMap::new(),
            body: None,
        };
        call.key(&self.key)
    }

    /// Sets an account of the project with a provider, as the operator would.
    pub async fn account(&self, provider: &str, settings: BTreeMap<String, String>, secret: &str) {
        let key = std::fs::read(self.folder.path().join("sealing.key")).unwrap();
        let keyring = Keyring::new([(1, key.try_into().unwrap())]).unwrap();
        let secret = Some(secret.to_owned()).filter(|secret| !secret.is_empty());
        let engine = &self.server.app.engine;
        engine
            .set_provider(Arc::new(keyring), self.project, provider, settings, secret)
            .await
            .unwrap();
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call("GET", path).send().await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.call("POST", path).json(&body).send().await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.call("PATCH", path).json(&body).send().await
    }

    /// Sends a form as a browser does: the status, and the page that answers.
    pub async fn enter(&self, page: &str, fields: &[(&str, &str)]) -> (u16, String) {
        let body: String = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(fields)
            .finish();
        let sent = self
            .http
            .post(page)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body);
        let answer = sent.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// Adds a keyword; its id.
    pub async fn keyword(&self, text: &str) -> String {
        let added = self
            .post("P/keywords", serde_json::json!({ "keyword": text }))
            .await;
        assert_eq!(added.status, 201, "{added:?}");
        added.json()["id"].as_str().unwrap().to_owned()
    }

    /// Every keyword of the project, newest first.
    pub async fn keywords(&self) -> Vec<String> {
        let list = self.get("P/keywords?limit=100").await.json();
        let texts = list["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|k| k["keyword"].as_str().unwrap().to_owned());
        texts.collect()
    }

    /// Checks what some other client was answered against the document.
    pub fn check(&self, method: &str, path: &str, answer: &Answer) {
        self.document.check(method, path, answer);
    }
}

/// A client that follows no redirect and uses no proxy; TLS is not spoken here, but has to be configured.
fn client() -> reqwest::Client {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .build()
        .unwrap()
}

impl Call<'_> {
    pub fn key(self, key: &str) -> Self {
        self.header("authorization", &format!("Bearer {key}"))
    }

    pub fn no_key(mut self) -> Self {
        self.headers.remove("authorization");
        self
    }

    /// Replaces a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name: http::HeaderName = name.parse().unwrap();
        self.headers.insert(name, value.parse().unwrap());
        self
    }

    /// Adds a header beside one of the same name.
    pub fn and_header(mut self, name: &str, value: &str) -> Self {
        let name: http::HeaderName = name.parse().unwrap();
        self.headers.append(name, value.parse().unwrap());
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    pub fn body(mut self, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        if kind.is_empty() {
            self
        } else {
            self.header("content-type", kind)
        }
    }

    pub async fn send(self) -> Answer {
        let url = format!("http://{}/v1{}", self.bench.server.addresses.api, self.path);
        let mut request = self
            .bench
            .http
            .request(self.method.clone(), url)
            .headers(self.headers);
        if let Some(body) = self.body {
            request = request.body(body);
        }
        let response = request.send().await.unwrap();
        let answer = Answer {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response.bytes().await.unwrap().to_vec(),
        };
        self.bench
            .check(self.method.as_str(), &format!("/v1{}", self.path), &answer);
        answer
    }
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The code of a problem.
    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|v| v.to_str().unwrap())
    }

    pub fn number(&self, name: &str) -> u32 {
        self.header(name)
            .unwrap_or_else(|| panic!("no {name}: {self:?}"))
            .parse()
            .unwrap()
    }

    /// Fails unless it is this problem.
    #[track_caller]
    pub fn refuses(&self, status: u16, code: &str) -> Value {
        let problem = self.json();
        assert_eq!(
            (self.status, problem["code"].as_str()),
            (status, Some(code)),
            "{problem:#}"
        );
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(problem["status"], status);
        assert_eq!(problem["requestId"].as_str(), self.header("x-request-id"));
        problem
    }

    /// The body with the only member that may differ between two equal refusals taken out.
    pub fn without_request_id(&self) -> String {
        let mut problem = self.json();
        problem["requestId"] = Value::Null;
        problem.to_string()
    }
}
