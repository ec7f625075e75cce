//! Processes on one PostgreSQL that are killed where they stand, again and again, while the slots of many projects come by the clock of the
//! machine: each slot has one run, one post, one file and one audit, and none is lost.

use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use searchwright_contract::Clock;
use serde_json::{Value, json};
use xtask::random::Random;

use crate::{
    autopilot::model::TopicModel,
    fleet::{Fleet, FleetOptions, Storage, Surroundings},
    publish::{
        cms::{list, scalar, text},
        installation::peer_folder,
    },
};

/// Time from the last slot until everything has an end.
const END_TIMEOUT: Duration = Duration::from_secs(600);
/// Time from the last setting to the first slot, which is a whole minute: enough to begin before it.
const LEAD_MILLIS: i64 = 90_000;
/// Minutes over which the slots are spread.
const SPREAD_MINUTES: i64 = 3;
const MINUTE_MILLIS: i64 = 60_000;
const KEYWORDS: [&str; 3] = ["standing desk", "oak bookshelf", "reading lamp"];

/// Options of a run.
#[derive(Args, Clone, Debug)]
pub struct ReplicaOptions {
    /// Projects, each with a slot of the autopilot and one of audits
    #[arg(long, default_value_t = 40)]
    projects: usize,
    /// Another seed gives other kills
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// This searchwright, instead of building one
    #[arg(long)]
    program: Option<PathBuf>,
}

struct ReplicaProject {
    id: String,
    key: String,
}

struct ReplicaFleet {
    fleet: Fleet,
    projects: Vec<ReplicaProject>,
    kills: usize,
}

/// Kills processes until every slot is over; fails if one has fired more or less than once.
pub(crate) fn check(options: &ReplicaOptions) -> Result<()> {
    let model = TopicModel::start()?;
    let mut fleet = ReplicaFleet::start(options, &model.address)?;
    for _ in 0..options.projects {
        fleet.add_project(&model.address)?;
    }
    let first = Clock::system().now().millis() + LEAD_MILLIS;
    let first = first + MINUTE_MILLIS - first % MINUTE_MILLIS;
    for (at, project) in fleet.projects.iter().enumerate() {
        fleet.turn_on(project, first + at as i64 % SPREAD_MINUTES * MINUTE_MILLIS)?;
    }
    eprintln!(
        "{} projects have slots within {SPREAD_MINUTES} minutes",
        options.projects
    );
    let mut random = Random::new(options.seed, 0);
    let last = first + SPREAD_MINUTES * MINUTE_MILLIS;
    while Clock::system().now().millis() < last {
        fleet.kill(random.below(3))?;
        // long enough for some to live until they look for slots
        thread::sleep(Duration::from_millis(random.between(500, 7_000) as u64));
    }
    eprintln!("{} kills; waiting for the end", fleet.kills);
    let begun = Instant::now();
    while let Some(open) = fleet.find_open()? {
        ensure!(begun.elapsed() < END_TIMEOUT, "it has no end: {open}");
        thread::sleep(Duration::from_secs(1));
    }
    for project in &fleet.projects {
        fleet
            .check_project(project)
            .with_context(|| format!("project {}", project.id))?;
    }
    eprintln!(
        "{} slots of {} projects fired once each, through {} kills",
        2 * fleet.projects.len(),
        fleet.projects.len(),
        fleet.kills
    );
    Ok(())
}

impl ReplicaFleet {
    fn start(options: &ReplicaOptions, model: &str) -> Result<Self> {
        let limits = ["requests_per_minute", "requests_per_minute_and_project"];
        let fleet = Fleet::start(FleetOptions {
            program: options.program.as_deref(),
            data: peer_folder("product")?.join("replicas"),
            storage: Storage::Postgres,
            processes: 3,
            allowed: vec![format!("provider={model}"), format!("crawl={model}")],
            settings: limits.map(|limit| format!("limits.{limit}=100000")).to_vec(),
        })?;
        Ok(Self {
            fleet,
            projects: Vec::new(),
            kills: 0,
        })
    }

    /// Kills a process where it stands and starts it again.
    fn kill(&mut self, number: usize) -> Result<()> {
        self.fleet.kill(number)?;
        self.kills += 1;
        self.fleet.begin(number, &Surroundings::default())
    }

    /// Adds a project with a model, a folder to publish to, and keywords.
    fn add_project(&mut self, model: &str) -> Result<()> {
        let (website, base) = (format!("http://{model}"), format!("http://{model}"));
        let made = self.fleet.operate(
            &["project", "create", "--name", "Desks", "--domain", &website],
            "",
        )?;
        let id = text(&made, "/id")?;
        let made = self
            .fleet
            .operate(&["key", "create", "--project", &id, "--name", "peers"], "")?;
        let key = text(&made, "/key")?;
        let mut account = vec!["provider", "set", "--project", &id, "--provider", "openai"];
        account.extend(["--secret-file", "-", "--base-url", &base, "--model", "m-1"]);
        account.extend(["--setting", "inputPrice=1", "--setting", "outputPrice=2"]);
        self.fleet.operate(&account, "a-key")?;
        let mut files = vec!["integration", "connect", "--project", &id, "--provider", "files"];
        files.extend(["--setting", "folder=blog"]);
        self.fleet.operate(&files, "")?;
        let project = ReplicaProject { id, key };
        let mapping = json!({ "fieldMap": { "title": "title", "content": "content" } });
        self.call(&project, "POST", "/integrations/files/mapping", Some(&mapping))?;
        for keyword in KEYWORDS {
            self.call(
                &project,
                "POST",
                "/keywords",
                Some(&json!({ "keyword": keyword })),
            )?;
        }
        self.projects.push(project);
        Ok(())
    }

    /// Turns both schedules on, with their next slots at a time.
    fn turn_on(&self, project: &ReplicaProject, at: i64) -> Result<()> {
        let minutes = at / MINUTE_MILLIS % (24 * 60);
        let time = format!("{:02}:{:02}", minutes / 60, minutes % 60);
        let audits = json!({ "enabled": true, "interval_days": 1, "time": time, "timezone": "UTC" });
        self.call(project, "PATCH", "/schedules/audits", Some(&audits))?;
        let posts = json!({
            "enabled": true, "mode": "auto", "hold_hours": 0, "min_score": 0, "lead_days": 1, "publish_interval_days": 1,
            "publish_time": time, "timezone": "UTC",
        });
        self.call(project, "PATCH", "/autopilot", Some(&posts)).map(drop)
    }

    fn call(
        &self,
        project: &ReplicaProject,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value> {
        let site = self
            .fleet
            .site()
            .with("Authorization", format!("Bearer {}", project.key));
        site.json(method, &format!("/v1/projects/{}{path}", project.id), body)
    }

    fn list_all(&self, project: &ReplicaProject, path: &str) -> Result<Vec<Value>> {
        Ok(list(&self.call(project, "GET", path, None)?, "/data").to_vec())
    }

    /// Something of the slots that has no end yet.
    fn find_open(&self) -> Result<Option<String>> {
        for project in &self.projects {
            let runs = self.list_all(project, "/autopilot/runs?limit=100")?;
            let audits = self.list_all(project, "/audits?limit=100")?;
            let is_over = |run: &&Value| run["finishedAt"].is_string();
            if runs.iter().filter(is_over).count() == 0 {
                return Ok(Some(format!("{}: {}", project.id, json!(runs))));
            }
            if audits.is_empty() || audits.iter().any(|audit| audit["finishedAt"].is_null()) {
                return Ok(Some(format!("{}: {}", project.id, json!(audits))));
            }
        }
        Ok(None)
    }

    /// Fails unless the slots of a project have had one effect each.
    fn check_project(&self, project: &ReplicaProject) -> Result<()> {
        let runs = self.list_all(project, "/autopilot/runs?limit=100")?;
        let dates: BTreeSet<String> = runs.iter().map(|run| scalar(run, "/slotDate")).collect();
        ensure!(dates.len() == runs.len(), "two runs on a date: {runs:#?}");
        let (over, ahead): (Vec<&Value>, Vec<&Value>) =
            runs.iter().partition(|run| run["finishedAt"].is_string());
        // the work for tomorrow has begun
        ensure!(over.len() == 1 && ahead.len() <= 1, "{runs:#?}");
        let run = over[0];
        ensure!(run["outcome"] == "published", "{run:#}");
        for kind in ["autopilot.published", "post.published"] {
            let told = self.list_all(project, &format!("/events?limit=100&event={kind}"))?;
            ensure!(
                told.len() == 1 && told[0]["data"]["postId"] == run["postId"],
                "{kind}: {told:#?}"
            );
        }
        let folder = self.fleet.data().join("published").join(&project.id).join("blog");
        let mut files = Vec::new();
        for entry in fs::read_dir(&folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.ends_with(".md") {
                files.push(name);
            }
        }
        ensure!(files.len() == 1, "{files:?}");
        let audits = self.list_all(project, "/audits?limit=100")?;
        ensure!(audits.len() == 1, "{audits:#?}");
        let schedules = self.list_all(project, "/schedules")?;
        let audits = schedules.iter().find(|schedule| schedule["kind"] == "audits");
        let outcome = scalar(audits.context("no schedule")?, "/last_outcome");
        ensure!(outcome == "started", "the audit is {outcome}");
        Ok(())
    }
}
