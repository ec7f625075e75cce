//! Three servers on one PostgreSQL that die at any moment while slots of many schedules come: each slot fires once, and none is lost.
//!
//! A server dies with its runtime: whatever it does ends where it waits next, and its connections close. Nothing here depends on
//! how fast that is: deaths follow what was done, and time passes when nothing is left to do.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};

use searchwright_contract::Clock;
use searchwright_engine::schedules;
use searchwright_server::serve::{self, Server};
use serde_json::{Value, json};
use tokio::{runtime::Runtime, task::JoinHandle};
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

use crate::{
    audited::{self, Website, page},
    autopilot_runs::text,
    harness::{Bench, on_postgres, settings},
    post_providers,
};

const SECOND: i64 = 1_000;
const HOUR: i64 = 3_600 * SECOND;
const SERVERS: usize = 3;
const PROJECTS: usize = 4;
const DAYS: usize = 4;
/// Deaths at the slots of one day: as many as an audit survives if it dies with each.
const DEATHS: usize = 3;
/// Milliseconds for which a job belongs to a server that does not renew its lease, and a margin.
const LEASE: i64 = 61 * SECOND;
const KEYWORDS: [&str; 8] = [
    "standing desk",
    "oak shelf",
    "reading lamp",
    "garden bench",
    "wool carpet",
    "coat rack",
    "piano stool",
    "shoe cabinet",
];

/// Variable with the number of seeds; without it, only one is tried.
const VARIABLE: &str = "SEARCHWRIGHT_SIMULATIONS";

#[test]
fn each_slot_fires_once_whichever_server_dies() {
    let seeds = std::env::var(VARIABLE).ok().and_then(|count| count.parse().ok());
    for seed in 1..=seeds.unwrap_or(1) {
        on_postgres(async |database| {
            let mut fleet = Fleet::start(database, seed).await;
            for _ in 0..DAYS {
                fleet.pass_slots().await;
            }
            fleet.check().await;
        });
    }
}

/// Chance from a seed (SplitMix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

/// A server with a clock and a runtime of its own.
struct Replica {
    runtime: Option<Runtime>,
    server: Option<Server>,
    clock: Clock,
    /// Its last look for due schedules.
    tick: Mutex<Option<JoinHandle<()>>>,
    /// Time of its clock when it began. Ids of that moment hold it, among them that of its worker.
    begun: i64,
}

impl Drop for Replica {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A project and the key to it.
struct Site {
    project: Uuid,
    key: String,
}

struct Fleet {
    /// Answers calls, does no work and never dies.
    bench: Bench,
    database: String,
    allow: String,
    client: Client,
    replicas: Vec<Replica>,
    sites: Vec<Site>,
    chance: Chance,
    /// Servers so far: no two have begun at the same time of their clocks.
    begun: i64,
    deaths: usize,
}

impl Fleet {
    async fn start(database: &str, seed: u64) -> Self {
        let (_, model) = post_providers::start().await;
        let website = Website::default();
        website.put(
            "/",
            200,
            &page("<title>The home of all the desks there are</title>", &[]),
        );
        let website = audited::serve(&website).await;
        // has no figures for anybody
        let figures = audited::serve(&Website::default()).await;
        let allow =
            format!("allow_outbound=[\"crawl={website}\", \"provider={model}\", \"provider={figures}\"]");
        let bench = Bench::on(database, &[&allow]).await;
        let (client, connection) = tokio_postgres::connect(database, NoTls).await.unwrap();
        tokio::spawn(connection);
        let mut fleet = Self {
            bench,
            database: database.to_owned(),
            allow,
            client,
            replicas: Vec::new(),
            sites: Vec::new(),
            chance: Chance(seed),
            begun: 0,
            deaths: 0,
        };
        for _ in 0..PROJECTS {
            fleet
                .add_site(&website.to_string(), &model, &figures.to_string())
                .await;
        }
        for at in 0..SERVERS {
            let replica = fleet.begin(at).await;
            fleet.replicas.push(replica);
        }
        fleet
    }

    /// Adds a project whose schedules all have a slot at 11 every day.
    async fn add_site(&mut self, website: &str, model: &str, figures: &str) {
        let bench = &mut self.bench;
        let engine = bench.server.app.engine.clone();
        let made = engine.create_project("Desks", &format!("http://{website}")).await;
        bench.project = made.unwrap().id;
        bench.key = bench.key_for(bench.project, &[]).await;
        post_providers::account(bench, model).await;
        let account = [("baseUrl".to_owned(), format!("http://{figures}"))];
        bench
            .account("dataforseo", account.into(), "login:password")
            .await;
        let files = [("folder".to_owned(), "blog".to_owned())].into();
        engine.connect(bench.project, "files", files).await.unwrap();
        let map = json!({ "fieldMap": { "title": "title", "content": "content" } });
        let mapped = bench.post("P/integrations/files/mapping", map).await;
        assert_eq!(mapped.status, 200, "{mapped:?}");
        for keyword in KEYWORDS {
            bench.keyword(keyword).await;
        }
        for kind in ["audits", "metrics"] {
            let on = json!({ "enabled": true, "interval_days": 1, "time": "11:00" });
            let set = bench.patch(&format!("P/schedules/{kind}"), on).await;
            assert_eq!(set.status, 200, "{set:?}");
        }
        let on = json!({
            "enabled": true, "mode": "auto", "hold_hours": 0, "min_score": 0, "lead_days": 1, "publish_interval_days": 1,
            "publish_time": "11:00",
        });
        let set = bench.patch("P/autopilot", on).await;
        assert_eq!(set.status, 200, "{set:?}");
        self.sites.push(Site {
            project: bench.project,
            key: bench.key.clone(),
        });
    }

    /// Starts a server whose clock is a bit ahead of that of the one before it.
    async fn begin(&mut self, at: usize) -> Replica {
        self.begun += 1;
        let skew = at as i64 * 4 * SECOND + self.begun;
        let clock = Clock::fixed(self.bench.clock.now().plus_millis(skew));
        let set = [self.allow.as_str(), "worker.jobs=2"];
        let settings = settings(&self.bench.folder, &self.database, &set);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let starting = runtime.spawn(serve::start_with(settings, clock.clone()));
        let server = starting.await.unwrap().unwrap();
        Replica {
            runtime: Some(runtime),
            server: Some(server),
            tick: Mutex::default(),
            begun: clock.now().millis(),
            clock,
        }
    }

    /// Ends a server where it stands, and starts another in its place.
    async fn kill(&mut self, at: usize) {
        let replica = self.begin(at).await;
        // the old one is dropped
        self.replicas[at] = replica;
        self.deaths += 1;
        self.tick();
    }

    fn advance(&self, millis: i64) {
        self.bench.clock.advance(millis);
        for replica in &self.replicas {
            replica.clock.advance(millis);
        }
    }

    /// Has every server look for due schedules that is not looking already, and waits for none of them.
    fn tick(&self) {
        for replica in &self.replicas {
            let mut last = replica.tick.lock().unwrap();
            if last.as_ref().is_some_and(|tick| !tick.is_finished()) {
                continue;
            }
            if let (Some(runtime), Some(server)) = (&replica.runtime, &replica.server) {
                let engine = server.app.engine.clone();
                *last = Some(runtime.spawn(async move {
                    // a server that dies meanwhile fails at it
                    let _ = schedules::tick(&engine).await;
                    engine.wake.notify_one();
                }));
            }
        }
    }

    async fn count(&self, statement: &str) -> i64 {
        self.client.query_one(statement, &[]).await.unwrap().get(0)
    }

    /// Number of things that were done so far.
    async fn progress(&self) -> i64 {
        self.count(
            "SELECT (SELECT count(*) FROM schedule_slots) + (SELECT count(*) FROM autopilot_runs) + (SELECT count(*) FROM charges)
               + (SELECT count(*) FROM publish_attempts WHERE sent IS NOT NULL) + (SELECT count(*) FROM jobs WHERE started_at IS NOT NULL)
               + (SELECT count(*) FROM jobs WHERE finished_at IS NOT NULL)",
        )
        .await
    }

    /// Lets the next slots come, with servers that die meanwhile.
    async fn pass_slots(&mut self) {
        // to the first time at 11 that is ahead, by the clock that is behind
        let ahead = 11 * HOUR - self.bench.clock.now().millis().rem_euclid(24 * HOUR);
        self.advance(ahead.rem_euclid(24 * HOUR) + SECOND);
        self.tick();
        let mut done = self.progress().await;
        for _ in 0..DEATHS {
            let wanted = done + self.chance.below(8) as i64;
            while self.progress().await < wanted && !self.is_idle().await {
                self.tick();
                tokio::task::yield_now().await;
            }
            let at = self.chance.below(SERVERS);
            self.kill(at).await;
            done = self.progress().await;
        }
        self.settle().await;
    }

    /// Returns whether nothing is due and no living server has a job, by the clock that is ahead. One statement looks at both:
    /// between two, a job that was due could be taken.
    async fn is_idle(&self) -> bool {
        let now = self
            .replicas
            .iter()
            .map(|replica| replica.clock.now().millis())
            .max();
        let now = now.unwrap_or_else(|| self.bench.clock.now().millis());
        let due = "WITH t (now) AS (SELECT to_timestamp($1::bigint::double precision / 1000))
            SELECT (SELECT count(*) FROM jobs WHERE status = 'queued' AND run_after <= t.now)
            + (SELECT count(*) FROM posts WHERE status = 'scheduled' AND scheduled_at <= t.now)
            + (SELECT count(*) FROM schedules WHERE due_at <= t.now)
            + (SELECT count(*) FROM autopilot_runs r JOIN posts p ON p.id = r.post_id AND p.project_id = r.project_id
               WHERE r.finished_at IS NULL AND r.seen_version IS DISTINCT FROM p.version),
            (SELECT array_agg(lease_owner) FROM jobs WHERE status = 'running')
            FROM t";
        let row = self.client.query_one(due, &[&now]).await.unwrap();
        let (due, owners): (i64, Option<Vec<Uuid>>) = (row.get(0), row.get(1));
        let living: BTreeSet<u64> = self
            .replicas
            .iter()
            .map(|replica| replica.begun.unsigned_abs())
            .collect();
        let is_of_living = |owner: &Uuid| living.contains(&(owner.as_u64_pair().0 >> 16));
        due == 0 && !owners.iter().flatten().any(is_of_living)
    }

    /// Lets everything be done that is due, and whatever the dead have left.
    async fn settle(&self) {
        loop {
            while !self.is_idle().await {
                self.tick();
                tokio::task::yield_now().await;
            }
            let left = "SELECT count(*) FROM jobs WHERE status IN ('queued', 'running')";
            if self.count(left).await == 0 {
                return;
            }
            self.advance(LEASE);
            self.tick();
        }
    }

    async fn get(&self, site: &Site, path: &str) -> Vec<Value> {
        let path = format!("/projects/{}{path}", site.project);
        let answer = self.bench.call("GET", &path).key(&site.key).send().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["data"].as_array().unwrap().clone()
    }

    /// Fails unless every slot of every project was used once and had one effect.
    async fn check(&self) {
        let dates: BTreeSet<String> = (0..DAYS).map(|day| format!("2026-11-{}", 21 + day)).collect();
        for site in &self.sites {
            self.check_schedules(site, &dates).await;
            self.check_posts(site, &dates).await;
        }
        let jobs = "SELECT count(*) FROM jobs WHERE crashes > 0";
        eprintln!(
            "{} servers died, and {} jobs with them",
            self.deaths,
            self.count(jobs).await
        );
    }

    async fn check_schedules(&self, site: &Site, dates: &BTreeSet<String>) {
        let rows = "SELECT kind, local_date, outcome FROM schedule_slots WHERE project_id = $1";
        let rows = self.client.query(rows, &[&site.project]).await.unwrap();
        let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for row in rows {
            let (kind, date, outcome): (String, String, String) = (row.get(0), row.get(1), row.get(2));
            assert_eq!(outcome, "started", "{kind} {date}");
            assert!(used.entry(kind).or_default().insert(date));
        }
        for kind in ["audits", "metrics"] {
            assert_eq!(used.get(kind), Some(dates), "{kind}");
        }
        let audits = self.get(site, "/audits?limit=100").await;
        assert_eq!(audits.len(), DAYS, "{audits:#?}");
        for audit in &audits {
            assert_eq!(audit["status"], "completed", "{audit:#}");
        }
        let jobs = self.get(site, "/jobs?limit=100").await;
        let count = |kind: &str| jobs.iter().filter(|job| job["type"] == kind).count();
        assert_eq!((count("audit"), count("keyword_metrics")), (DAYS, DAYS));
    }

    async fn check_posts(&self, site: &Site, dates: &BTreeSet<String>) {
        let runs = self.get(site, "/autopilot/runs?limit=100").await;
        // the one of the next day is ready
        let (past, ahead): (Vec<Value>, Vec<Value>) = runs
            .into_iter()
            .partition(|run| dates.contains(text(run, "slotDate")));
        assert!(ahead.len() <= 1, "{ahead:#?}");
        let had: Vec<&str> = past.iter().map(|run| text(run, "slotDate")).collect();
        assert_eq!(had.len(), dates.len(), "{had:?}");
        let posts: BTreeSet<&str> = past.iter().map(|run| text(run, "postId")).collect();
        assert_eq!(posts.len(), dates.len(), "{past:#?}");
        for run in &past {
            assert_eq!(run["outcome"], "published", "{run:#}");
        }
        let told = |events: Vec<Value>| -> Vec<String> {
            let mut posts: Vec<String> = events
                .iter()
                .map(|event| text(&event["data"], "postId").to_owned())
                .collect();
            posts.sort();
            posts
        };
        let wanted: Vec<String> = posts.iter().map(|post| (*post).to_owned()).collect();
        for kind in ["autopilot.published", "post.published"] {
            let events = self.get(site, &format!("/events?limit=100&event={kind}")).await;
            assert_eq!(told(events), wanted, "{kind}");
        }
        let folder = self.bench.folder.path().join("published");
        let files = list_files(&folder.join(site.project.to_string()));
        assert_eq!(files.len(), dates.len(), "{files:?}");
        let attempts = "SELECT count(*) FROM publish_attempts WHERE project_id = $1";
        let attempts = self.client.query_one(attempts, &[&site.project]).await.unwrap();
        assert_eq!(attempts.get::<_, i64>(0), dates.len() as i64);
    }
}

/// Markdown files below a folder.
fn list_files(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(list_files(&path));
        } else if path.extension().is_some_and(|end| end == "md") {
            found.push(path.display().to_string());
        }
    }
    found
}
