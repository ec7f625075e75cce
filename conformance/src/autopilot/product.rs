//! The product in this process: its server and its worker, with a clock that only the comparison moves.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant as RealTime},
};

use anyhow::{Context, Result, bail, ensure};
use searchwright_contract::{Clock, Instant, people::Role};
use searchwright_engine::{admin::Grant, schedules};
use searchwright_server::{
    Settings,
    config::Flags,
    people::operator::NewUser,
    serve::{self, Server},
};
use searchwright_store::seal::Keyring;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::publish::{
    cms::{Cms, list, scalar, text},
    http::{HttpClient, Message},
    installation::{empty_folder, peer_folder},
};

/// Limits that the comparison does not meet by accident.
const SETTINGS: [&str; 3] = [
    "worker.jobs=2",
    "limits.requests_per_minute=100000",
    "limits.requests_per_minute_and_project=100000",
];
/// Longest time of the machine until nothing is left to do at a time of the clock.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(120);
/// Longest time of the clock from one tick to the next.
const STEP_MILLIS: i64 = 3_600_000;
const EMAIL: &str = "ann@example.com";
const PASSWORD: &str = "correct horse battery staple 7";

/// A server that may be stopped and started again with the same data.
pub(super) struct TimedProduct {
    runtime: Runtime,
    pub(super) clock: Clock,
    data: PathBuf,
    allowed: Vec<String>,
    server: Option<Server>,
    project: Uuid,
    key: String,
}

impl TimedProduct {
    /// Starts it at a time of its clock, with a project, a key and a person.
    pub(super) fn start(at: Instant, allowed: Vec<String>) -> Result<Self> {
        let mut product = Self {
            runtime: Runtime::new()?,
            clock: Clock::fixed(at),
            data: empty_folder(peer_folder("product")?.join("autopilot"))?,
            allowed,
            server: None,
            project: Uuid::nil(),
            key: String::new(),
        };
        product.resume()?;
        let engine = product.server()?.app.engine.clone();
        let people = product.server()?.app.people.clone();
        let (project, key) = product.runtime.block_on(async {
            let project = engine.create_project("Peers", "example.com").await?.id;
            let grant = Grant {
                scopes: Vec::new(),
                read_only: false,
                lifetime_millis: None,
            };
            let key = engine.create_key(project, "peers", grant).await?.key;
            let person = NewUser {
                email: EMAIL.to_owned(),
                name: "Ann".to_owned(),
                password: Some(PASSWORD.to_owned()),
                role: Some(Role::Editor),
                workspace: None,
            };
            people.create_user(person).await?;
            anyhow::Ok((project, key))
        })?;
        (product.project, product.key) = (project, key);
        Ok(product)
    }

    /// Starts the server.
    pub(super) fn resume(&mut self) -> Result<()> {
        let zero = Some("127.0.0.1:0".parse()?);
        let quoted: Vec<String> = self
            .allowed
            .iter()
            .map(|allowed| format!("{allowed:?}"))
            .collect();
        let allowed = format!("allow_outbound=[{}]", quoted.join(","));
        let settings = Settings::load(&Flags {
            data_dir: Some(self.data.clone()),
            database_url: Some(String::new()),
            listen: zero,
            mcp_listen: zero,
            set: SETTINGS.into_iter().map(str::to_owned).chain([allowed]).collect(),
            ..Flags::default()
        })?;
        let clock = self.clock.clone();
        self.server = Some(self.runtime.block_on(serve::start_with(settings, clock))?);
        Ok(())
    }

    /// Stops the server.
    pub(super) fn stop(&mut self) -> Result<()> {
        let server = self.server.take().context("it does not run")?;
        self.runtime.block_on(server.stop());
        Ok(())
    }

    fn server(&self) -> Result<&Server> {
        self.server.as_ref().context("it does not run")
    }

    fn site(&self) -> Result<HttpClient> {
        Ok(HttpClient::new(format!(
            "http://{}",
            self.server()?.addresses.api
        )))
    }

    /// Sends a request about the project and returns the body of a 2xx answer.
    pub(super) fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let site = self.site()?.with("Authorization", format!("Bearer {}", self.key));
        site.json(method, &format!("/v1/projects/{}{path}", self.project), body)
    }

    pub(super) fn get(&self, path: &str) -> Result<Value> {
        self.call("GET", path, None)
    }

    /// Sets the model and connects the CMS, as the operator does.
    pub(super) fn connect(&self, model: &str, cms: &dyn Cms) -> Result<()> {
        let engine = &self.server()?.app.engine;
        let key = fs::read(self.data.join("sealing.key"))?;
        let key = <[u8; 32]>::try_from(key).ok().context("no sealing key")?;
        let keyring = Arc::new(Keyring::new([(1, key)])?);
        let account = [
            ("baseUrl", format!("http://{model}")),
            ("model", "m-1".to_owned()),
            ("inputPrice", "1".to_owned()),
            ("outputPrice", "2".to_owned()),
        ];
        let account = account.map(|(name, value)| (name.to_owned(), value)).into();
        let secret = cms.secret();
        let secret = secret.as_object().context("no secret")?;
        let mut entered: BTreeMap<String, String> = secret
            .iter()
            .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
            .collect();
        entered.insert("siteUrl".to_owned(), format!("http://{}", cms.address()));
        self.runtime.block_on(async {
            let secret = Some("a-key".to_owned());
            engine
                .set_provider(keyring, self.project, "openai", account, secret)
                .await?;
            engine.connect(self.project, cms.provider(), entered).await?;
            anyhow::Ok(())
        })?;
        let path = format!("/integrations/{}/mapping", cms.provider());
        let mapped = self.call("POST", &path, Some(&cms.mapping()))?;
        ensure!(mapped["status"] == "ready", "it is {}", mapped["status"]);
        Ok(())
    }

    /// Lets time pass to a point: tick by tick, with everything done that is due at each.
    pub(super) fn pass_to(&self, at: Instant) -> Result<()> {
        self.settle()?;
        while self.clock.now() < at {
            let now = self.clock.now();
            let next = self
                .times_ahead()?
                .into_iter()
                .chain([at, now.plus_millis(STEP_MILLIS)])
                .filter(|time| *time > now)
                .min()
                .unwrap_or(at);
            self.clock.advance(next.millis() - now.millis());
            self.settle()?;
        }
        Ok(())
    }

    /// Does everything that is due now.
    pub(super) fn settle(&self) -> Result<()> {
        let begun = RealTime::now();
        let mut before = Value::Null;
        loop {
            let engine = &self.server()?.app.engine;
            self.runtime.block_on(schedules::tick(engine))?;
            while self.is_busy()? {
                ensure!(
                    begun.elapsed() < SETTLE_TIMEOUT,
                    "at {} there is always something to do",
                    self.clock.now()
                );
                engine.wake.notify_one();
                thread::sleep(Duration::from_millis(5));
            }
            let state = json!([
                self.get("/autopilot/runs?limit=100")?,
                self.get("/posts?limit=100")?,
                self.get("/approvals?limit=100")?
            ]);
            if state == before {
                return Ok(());
            }
            before = state;
        }
    }

    fn is_busy(&self) -> Result<bool> {
        let now = self.clock.now();
        let jobs = self.jobs()?;
        let is_due = |job: &Value| match job["status"].as_str() {
            Some("running") => true,
            Some("queued") => time(job, "runAfter").is_none_or(|at| at <= now),
            _ => false,
        };
        let posts = self.get("/posts?limit=100&status=scheduled")?;
        let is_late = |post: &Value| time(post, "scheduledAt").is_some_and(|at| at <= now);
        Ok(jobs.iter().any(is_due) || list(&posts, "/data").iter().any(is_late))
    }

    fn jobs(&self) -> Result<Vec<Value>> {
        let mut all = Vec::new();
        for status in ["queued", "running"] {
            let found = self.get(&format!("/jobs?limit=100&status={status}"))?;
            all.extend_from_slice(list(&found, "/data"));
        }
        Ok(all)
    }

    /// Times at which something is due that is known now.
    fn times_ahead(&self) -> Result<Vec<Instant>> {
        let posts = self.get("/posts?limit=100&status=scheduled")?;
        let posts = list(&posts, "/data").iter();
        let jobs = self.jobs()?;
        let jobs = jobs.iter().filter_map(|job| time(job, "runAfter"));
        Ok(posts
            .filter_map(|post| time(post, "scheduledAt"))
            .chain(jobs)
            .collect())
    }

    /// All runs, newest first.
    pub(super) fn runs(&self) -> Result<Vec<Value>> {
        let all = self.get("/autopilot/runs?limit=100")?;
        Ok(list(&all, "/data").to_vec())
    }

    /// Run of the slot of a local date.
    pub(super) fn run_on(&self, date: &str) -> Result<Value> {
        let all = self.runs()?;
        let dates: Vec<String> = all.iter().map(|run| scalar(run, "/slotDate")).collect();
        let found = all.into_iter().find(|run| run["slotDate"] == date);
        found.with_context(|| format!("no run on {date}, only on {dates:?}"))
    }

    /// The newest approval of a post.
    pub(super) fn approval_of(&self, post: &Value) -> Result<Value> {
        let all = self.get("/approvals?limit=100")?;
        let found = list(&all, "/data")
            .iter()
            .find(|approval| approval["postId"] == *post);
        Ok(found.with_context(|| format!("no approval: {all:#}"))?.clone())
    }

    /// Signs in as the person and decides on the page of an approval; what the page says after it.
    pub(super) fn decide(&self, approval: &Value, decision: &str) -> Result<String> {
        let url = text(approval, "/url")?;
        let path = url.trim_start_matches("http://");
        let path = path.find('/').map(|at| &path[at..]).context("no path")?;
        let signed_in = self.send_form("/login", "", &[("email", EMAIL), ("password", PASSWORD)])?;
        let cookie = signed_in.header("set-cookie").context("no session")?;
        let cookie = cookie.split(';').next().unwrap_or_default();
        let site = self.site()?.with("Cookie", cookie);
        let page = site.request("GET", path, None)?;
        let page = String::from_utf8_lossy(&page.body).into_owned();
        let field = page.split('<').find(|tag| tag.contains("name=\"csrf\""));
        let value = field
            .and_then(|tag| tag.split_once("value=\""))
            .map(|(_, rest)| rest);
        let csrf = value
            .and_then(|rest| rest.split('"').next())
            .context("the page has no form")?;
        let sent = self.send_form(
            path,
            cookie,
            &[("csrf", csrf), ("decision", decision), ("reason", "")],
        )?;
        ensure!(
            matches!(sent.status(), 200 | 303),
            "{}: {}",
            sent.start,
            find_alert(&String::from_utf8_lossy(&sent.body))
        );
        let page = site.request("GET", path, None)?;
        Ok(String::from_utf8_lossy(&page.body).into_owned())
    }

    fn send_form(&self, path: &str, cookie: &str, fields: &[(&str, &str)]) -> Result<Message> {
        let site = self.site()?;
        let encode = |text: &str| {
            text.bytes()
                .map(|byte| format!("%{byte:02X}"))
                .collect::<String>()
        };
        let body: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{name}={}", encode(value)))
            .collect();
        let headers = [
            ("Host", site.address()),
            ("Cookie", cookie),
            ("Sec-Fetch-Site", "same-origin"),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ];
        let message = Message {
            start: format!("POST {path} HTTP/1.1"),
            headers: headers
                .into_iter()
                .filter(|(_, value)| !value.is_empty())
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            body: body.join("&").into_bytes(),
        };
        message.send(site.address())
    }
}

/// The alert of a page.
fn find_alert(page: &str) -> &str {
    let alert = page.split_once("role=\"alert\">").map_or("", |(_, rest)| rest);
    alert.split('<').next().unwrap_or_default()
}

/// Reads a time in the form of the interface.
pub(super) fn read_time(written: &str) -> Result<Instant> {
    Ok(serde_json::from_value(json!(written))?)
}

fn time(record: &Value, name: &str) -> Option<Instant> {
    serde_json::from_value(record[name].clone()).ok()
}

/// Fails unless a run ended or stands like this.
pub(super) fn expect_outcome(run: &Value, outcome: &str) -> Result<()> {
    if run["outcome"] != outcome {
        bail!(
            "the run of {} is {}, not {outcome}: {}",
            scalar(run, "/slotDate"),
            scalar(run, "/outcome"),
            scalar(run, "/detail")
        );
    }
    Ok(())
}
