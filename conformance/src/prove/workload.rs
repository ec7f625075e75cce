//! Clients that change things and write down what they asked and heard, and the reading of everything at the end.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant as RealTime},
};

use anyhow::{Context, Result, bail, ensure};
use searchwright_contract::{Clock, Instant};
use serde_json::{Value, json};
use xtask::random::Random;

use super::{
    history::{Action, History, HistoryEntry},
    world::World,
};
use crate::{
    fleet::Fleet,
    publish::{
        cms::{list, scalar, text},
        http::{HttpClient, Message},
    },
};

/// Time that a client tries a call again while no process answers it.
const CALL_TIMEOUT: Duration = Duration::from_secs(120);
/// Time from a confirmed revocation until every process refuses the key: answers are cached for two seconds.
const REVOCATION_TIME: Duration = Duration::from_millis(2_200);
/// Projects with a schedule of audits, all at the same time.
const SCHEDULES: usize = 6;
/// Price of a call of the model: 1,000 tokens at 1 and 500 at 2 dollars a million.
const CALL_MICROS: u64 = 2_000;
/// Jobs that are due later than in so many milliseconds are not waited for.
const LONG_WAIT_MILLIS: i64 = 20_000;
/// Time until nothing is left to do after the faults have ended.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(120);

/// A project with everything it needs, and what is asked about it.
pub(super) struct Workload {
    pub(super) fleet: Arc<Fleet>,
    pub(super) history: Arc<History>,
    /// The website, which the model serves as well.
    site: String,
    project: ProofProject,
    /// Projects that have a schedule and nothing else.
    scheduled: Mutex<Vec<ProofProject>>,
    over: AtomicBool,
}

struct ProofProject {
    id: String,
    key: String,
}

impl ProofProject {
    fn create(fleet: &Fleet, site: &str) -> Result<Self> {
        let made = fleet.operate(&["project", "create", "--name", "Proof", "--domain", site], "")?;
        let id = text(&made, "/id")?;
        let made = fleet.operate(&["key", "create", "--project", &id, "--name", "clients"], "")?;
        let key = text(&made, "/key")?;
        Ok(Self { id, key })
    }

    fn path(&self, path: &str) -> String {
        format!("/v1/projects/{}{path}", self.id)
    }

    fn client(&self, fleet: &Fleet) -> HttpClient {
        fleet.site().with("Authorization", format!("Bearer {}", self.key))
    }

    /// Sends a request that is no part of the history, again until it is answered.
    fn ask(&self, fleet: &Fleet, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let begun = RealTime::now();
        loop {
            match self.client(fleet).request(method, &self.path(path), body) {
                Ok(answer) if (200..300).contains(&answer.status()) => return Ok(answer.json()),
                Ok(answer) if answer.status() < 500 && answer.status() != 429 => {
                    bail!("{method} {path}: {}", String::from_utf8_lossy(&answer.body))
                }
                _ => ensure!(begun.elapsed() < CALL_TIMEOUT, "{method} {path}: no answer"),
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// A call that was carried out.
struct Done {
    id: Option<String>,
    job: Option<String>,
}

impl Workload {
    /// Makes the project, connects it to the world, and lets a schedule of audits begin after `lead`.
    pub(super) fn prepare(fleet: &Arc<Fleet>, history: &Arc<History>, world: &World) -> Result<Self> {
        let site = format!("http://{}", world.model);
        let project = ProofProject::create(fleet, &site)?;
        let mut account = vec![
            "provider",
            "set",
            "--project",
            &project.id,
            "--provider",
            "openai",
        ];
        account.extend(["--secret-file", "-", "--base-url", &site, "--model", "m-1"]);
        account.extend(["--setting", "inputPrice=1", "--setting", "outputPrice=2"]);
        fleet.operate(&account, "a-key")?;
        let workload = Self {
            fleet: Arc::clone(fleet),
            history: Arc::clone(history),
            site,
            project,
            scheduled: Mutex::default(),
            over: AtomicBool::new(false),
        };
        let target = format!("http://{}/", world.receiver);
        workload.ask(
            "POST",
            "/webhooks",
            Some(&json!({ "targetUrl": target, "event": "*" })),
        )?;
        let address = format!("siteUrl=http://{}", world.cms);
        let mut cms = vec![
            "integration",
            "connect",
            "--project",
            &workload.project.id,
            "--provider",
            "wordpress",
        ];
        cms.extend(["--setting", &address, "--secret-file", "-"]);
        fleet.operate(&cms, r#"{"username":"ada","password":"a b c"}"#)?;
        let map = json!({ "collectionId": "posts", "fieldMap": { "title": "title", "content": "content", "slug": "slug" } });
        workload.ask("POST", "/integrations/wordpress/mapping", Some(&map))?;
        Ok(workload)
    }

    /// Makes projects whose audits fire at a time of the clock, in milliseconds since 1970 and a whole minute.
    pub(super) fn schedule_audits(&self, at: i64) -> Result<()> {
        let minutes = at / 60_000 % (24 * 60);
        let time = format!("{:02}:{:02}", minutes / 60, minutes % 60);
        let audits = json!({ "enabled": true, "interval_days": 1, "time": time, "timezone": "UTC" });
        for _ in 0..SCHEDULES {
            let project = ProofProject::create(&self.fleet, &self.site)?;
            project.ask(&self.fleet, "PATCH", "/schedules/audits", Some(&audits))?;
            self.scheduled
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(project);
        }
        Ok(())
    }

    fn client(&self) -> HttpClient {
        self.project.client(&self.fleet)
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        self.project.ask(&self.fleet, method, path, body)
    }

    /// Ends the clients.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Sends a change until it is answered, and now and then once more after that; writes all of it down.
    fn carry_out(
        &self,
        action: Action,
        path: &str,
        body: Option<&Value>,
        random: &mut Random,
    ) -> Option<Done> {
        let call = self.history.next_call();
        let method = action.method();
        self.history.write(HistoryEntry::Sent { call, action });
        let begun = RealTime::now();
        let mut done = None;
        loop {
            let client = self.client().with("Idempotency-Key", format!("prove-{call}"));
            match client.request(method, &self.project.path(path), body) {
                Err(_) => self.history.write(HistoryEntry::Lost { call }),
                Ok(answer) => {
                    let is_done = self.write_answer(call, &answer);
                    if let Some(told) = is_done {
                        // the first result has to come again, also after a crash between the two
                        let repeats = done.is_none() && random.below(4) == 0;
                        done = done.or(Some(told));
                        if !repeats {
                            return done;
                        }
                    } else if !must_repeat(&answer) {
                        return done;
                    }
                }
            }
            // whoever had an answer once may stop asking
            if begun.elapsed() > CALL_TIMEOUT || self.is_over() && done.is_some() {
                return done;
            }
            thread::sleep(Duration::from_millis(random.between(5, 100) as u64));
        }
    }

    /// Writes an answer down; what it says was done, if it says so.
    fn write_answer(&self, call: u64, answer: &Message) -> Option<Done> {
        let (status, body) = (answer.status(), answer.json());
        let word = |pointer: &str| Some(scalar(&body, pointer)).filter(|word| !word.is_empty());
        let (id, job) = (word("/id"), word("/job/id"));
        if status >= 500 && body["code"] != "overloaded" {
            // an uncertain commit is answered so
            self.history.write(HistoryEntry::Lost { call });
        }
        self.history.write(HistoryEntry::Answered {
            call,
            status,
            id: id.clone(),
            job: job.clone(),
            code: word("/code"),
        });
        (200..300).contains(&status).then_some(Done { id, job })
    }

    /// Changes things until the end; `number` tells clients apart.
    pub(super) fn run_client(&self, number: u64, seed: u64) {
        let mut random = Random::new(seed, 100 + number);
        let mut keywords: Vec<String> = Vec::new();
        let mut count = 0;
        while !self.is_over() {
            count += 1;
            match random.below(20) {
                0..=6 => {
                    let keyword = format!("lamp {number} {count}");
                    let body = json!({ "keyword": keyword });
                    let done = self.carry_out(
                        Action::CreateKeyword { keyword },
                        "/keywords",
                        Some(&body),
                        &mut random,
                    );
                    keywords.extend(done.and_then(|done| done.id));
                }
                7..=11 if !keywords.is_empty() => {
                    let id = keywords[random.below(keywords.len())].clone();
                    let path = format!("/keywords/{id}");
                    let body = json!({ "searchVolume": count });
                    let action = Action::ChangeKeyword { id, volume: count };
                    self.carry_out(action, &path, Some(&body), &mut random);
                }
                12 if !keywords.is_empty() => {
                    let id = keywords.swap_remove(random.below(keywords.len()));
                    let path = format!("/keywords/{id}");
                    self.carry_out(Action::DeleteKeyword { id }, &path, None, &mut random);
                }
                13..=16 => self.publish_new(number, count, &mut random),
                17 => self.generate_new(number, count, &mut random),
                18 => {
                    self.carry_out(Action::StartAudit, "/audits", Some(&json!({})), &mut random);
                }
                _ => self.revoke_new(number, count),
            }
        }
    }

    /// One of everything that has several steps.
    pub(super) fn run_script(&self, number: u64, seed: u64) {
        let mut random = Random::new(seed, 1_000 + number);
        let keyword = format!("chair {number}");
        let body = json!({ "keyword": keyword });
        self.carry_out(
            Action::CreateKeyword { keyword },
            "/keywords",
            Some(&body),
            &mut random,
        );
        self.publish_new(1_000, number, &mut random);
        self.generate_new(1_000, number, &mut random);
        let body = json!({});
        self.carry_out(Action::StartAudit, "/audits", Some(&body), &mut random)
            .and_then(|done| done.job)
            .inspect(|job| self.wait_for_job(job, Duration::from_secs(3)));
    }

    fn create_post(&self, title: &str, random: &mut Random) -> Option<String> {
        let slug = title.to_lowercase().replace(' ', "-");
        let body = json!({ "title": title, "slug": slug, "content": format!("About {title}.\n") });
        let action = Action::CreatePost {
            title: title.to_owned(),
        };
        self.carry_out(action, "/posts", Some(&body), random)?.id
    }

    fn publish_new(&self, number: u64, count: u64, random: &mut Random) {
        let Some(post) = self.create_post(&format!("Lamp {number} {count}"), random) else {
            return;
        };
        let path = format!("/posts/{post}/publish");
        let body = json!({ "mode": "live" });
        let action = Action::PublishPost { post };
        if let Some(job) = self
            .carry_out(action, &path, Some(&body), random)
            .and_then(|done| done.job)
        {
            self.wait_for_job(&job, Duration::from_secs(3));
        }
    }

    fn generate_new(&self, number: u64, count: u64, random: &mut Random) {
        let Some(post) = self.create_post(&format!("Shelf {number} {count}"), random) else {
            return;
        };
        let path = format!("/posts/{post}/generate");
        let body = json!({ "mode": "overwrite", "allowDuplicate": true });
        let action = Action::GeneratePost { post };
        self.carry_out(action, &path, Some(&body), random);
    }

    /// Makes a key and revokes it as the operator does, and tries it afterwards.
    fn revoke_new(&self, number: u64, count: u64) {
        let name = format!("short {number} {count}");
        let made = self.fleet.operate(
            &["key", "create", "--project", &self.project.id, "--name", &name],
            "",
        );
        let Ok(made) = made else { return };
        let (id, key) = (scalar(&made, "/id"), scalar(&made, "/key"));
        // answers to it are cached now
        drop(self.try_key(&key));
        let call = self.history.next_call();
        self.history.write(HistoryEntry::Sent {
            call,
            action: Action::RevokeKey { key: id.clone() },
        });
        if self.fleet.operate(&["key", "revoke", &id], "").is_err() {
            self.history.write(HistoryEntry::Lost { call });
            return;
        }
        self.history.write(HistoryEntry::Answered {
            call,
            status: 200,
            id: None,
            job: None,
            code: None,
        });
        thread::sleep(REVOCATION_TIME);
        for _ in 0..3 {
            if let Ok(status) = self.try_key(&key) {
                self.history.write(HistoryEntry::Probed {
                    key: id.clone(),
                    status,
                });
            }
        }
    }

    /// Status of an answer to a key that is about the key.
    fn try_key(&self, key: &str) -> Result<u16> {
        let client = self.fleet.site().with("Authorization", format!("Bearer {key}"));
        let status = client.request("GET", "/v1/me", None)?.status();
        ensure!(status == 401 || status < 300, "{status}");
        Ok(status)
    }

    /// Waits for the end of a job, at most so long.
    fn wait_for_job(&self, job: &str, limit: Duration) {
        let begun = RealTime::now();
        while begun.elapsed() < limit && !self.is_over() {
            let answer = self
                .client()
                .request("GET", &self.project.path(&format!("/jobs/{job}")), None);
            let ended =
                |answer: Message| !matches!(answer.json()["status"].as_str(), Some("queued" | "running"));
            if answer.is_ok_and(|answer| answer.status() == 200 && ended(answer)) {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn read_all(&self, path: &str) -> Result<Vec<Value>> {
        let mut all = Vec::new();
        let joined = if path.contains('?') { '&' } else { '?' };
        let first = format!("{path}{joined}limit=100");
        let mut next = first.clone();
        loop {
            let page = self.ask("GET", &next, None)?;
            all.extend_from_slice(list(&page, "/data"));
            let Some(cursor) = page["nextCursor"].as_str() else {
                return Ok(all);
            };
            next = format!("{first}&cursor={cursor}");
        }
    }

    /// Waits until nothing is left to do, as far as time allows.
    pub(super) fn settle(&self) -> Result<()> {
        let begun = RealTime::now();
        loop {
            let mut open = 0;
            for status in ["queued", "running"] {
                let jobs = self.read_all(&format!("/jobs?status={status}"))?;
                open += jobs.iter().filter(|job| !is_waiting(&job["runAfter"])).count();
            }
            let webhooks = self.read_all("/webhooks")?;
            for webhook in &webhooks {
                let path = format!("/webhooks/{}/deliveries?status=pending", scalar(webhook, "/id"));
                let deliveries = self.read_all(&path)?;
                let is_due = |delivery: &&Value| !is_waiting(&delivery["nextAttemptAt"]);
                open += deliveries.iter().filter(is_due).count();
            }
            // a process that was killed again and again had no time to look for slots
            let fired = self.count_fired()?;
            open += fired.iter().filter(|(_, fired)| *fired == 0).count();
            if open == 0 || begun.elapsed() > SETTLE_TIMEOUT {
                break;
            }
            thread::sleep(Duration::from_millis(500));
        }
        self.history.write(HistoryEntry::Settled {
            seconds: begun.elapsed().as_secs(),
        });
        Ok(())
    }

    /// Projects with a schedule, and how often each has fired.
    fn count_fired(&self) -> Result<Vec<(String, usize)>> {
        let projects = self.scheduled.lock().unwrap_or_else(PoisonError::into_inner);
        let count = |project: &ProofProject| {
            let audits = project.ask(&self.fleet, "GET", "/audits?limit=100", None)?;
            Ok((project.id.clone(), list(&audits, "/data").len()))
        };
        projects.iter().map(count).collect()
    }

    /// Writes everything that is there into the history.
    pub(super) fn record_all(&self) -> Result<()> {
        let write = |entry| self.history.write(entry);
        for keyword in self.read_all("/keywords")? {
            write(HistoryEntry::FoundKeyword {
                id: scalar(&keyword, "/id"),
                keyword: scalar(&keyword, "/keyword"),
                volume: keyword["searchVolume"].as_u64(),
            });
        }
        for post in self.read_all("/posts")? {
            let full = self.ask("GET", &format!("/posts/{}", scalar(&post, "/id")), None)?;
            write(HistoryEntry::FoundPost {
                id: scalar(&full, "/id"),
                title: scalar(&full, "/title"),
                state: scalar(&full, "/publicationState"),
                was_live: full["publishedAt"].is_string(),
                evidence: list(&full, "/publications/0/attempt/evidence").len(),
            });
        }
        for job in self.read_all("/jobs")? {
            write(HistoryEntry::FoundJob {
                id: scalar(&job, "/id"),
                kind: scalar(&job, "/type"),
                status: scalar(&job, "/status"),
                waits: is_waiting(&job["runAfter"]),
            });
        }
        for event in self.read_all("/events")? {
            write(HistoryEntry::FoundEvent {
                id: scalar(&event, "/id"),
                kind: scalar(&event, "/type"),
                post: event["data"]["postId"].as_str().map(str::to_owned),
            });
        }
        for webhook in self.read_all("/webhooks")? {
            for delivery in self.read_all(&format!("/webhooks/{}/deliveries", scalar(&webhook, "/id")))? {
                write(HistoryEntry::FoundDelivery {
                    event: scalar(&delivery, "/eventId"),
                    status: scalar(&delivery, "/status"),
                    attempts: delivery["attempts"].as_u64().unwrap_or(0),
                });
            }
        }
        for entry in self.read_all("/activity")? {
            write(HistoryEntry::FoundActivity {
                operation: scalar(&entry, "/action"),
                subject: entry["subject"].as_str().map(str::to_owned),
            });
        }
        for audit in self.read_all("/audits")? {
            write(HistoryEntry::FoundAudit {
                id: scalar(&audit, "/id"),
                status: scalar(&audit, "/status"),
            });
        }
        for (schedule, fired) in self.count_fired()? {
            write(HistoryEntry::FoundSlots {
                schedule,
                due: 1,
                fired,
            });
        }
        let usage = self.ask("GET", "/usage", None)?;
        let spend = list(&usage, "/spend")
            .iter()
            .find(|spend| spend["provider"] == "openai");
        let count = |name: &str| spend.and_then(|spend| spend[name].as_u64()).unwrap_or(0);
        write(HistoryEntry::FoundSpend {
            charged: count("spentMicrosUsd") / CALL_MICROS,
            uncertain: count("uncertainCalls"),
        });
        self.history.flush().context("the history cannot be written")
    }
}

/// Whether the same call is to be sent again: nobody answered for good.
fn must_repeat(answer: &Message) -> bool {
    matches!(answer.status(), 429 | 500..=599) || answer.json()["code"] == "idempotency_in_progress"
}

/// Whether something is not due yet, such as the next look at a CMS, which may be hours ahead.
fn is_waiting(due: &Value) -> bool {
    let due = serde_json::from_value::<Instant>(due.clone());
    due.is_ok_and(|due| due > Clock::system().now().plus_millis(LONG_WAIT_MILLIS))
}
