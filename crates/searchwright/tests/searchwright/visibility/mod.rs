//! Runs of prompts by the program, across its death.

mod vendor;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::program::{Outcome, Serving, User};
use vendor::Vendor;

/// Of 10 tokens read and 30 written, at 1 and 4 dollars per million.
const PRICE: i64 = 130;
/// Answers of each run.
const SAMPLES: i64 = 5;
/// Questions that an engine is asked at a time.
const AT_ONCE: usize = 4;

/// Somebody with a project, an engine that answers, and a server that can be killed.
struct Tracker {
    owner: User,
    key: String,
    vendor: Vendor,
}

/// Traces that a run left behind.
#[derive(Debug, PartialEq)]
struct Charges {
    /// Answers that are stored.
    answers: i64,
    /// Questions that may have been charged for without an answer.
    uncertain: i64,
}

impl Tracker {
    fn new() -> Self {
        let owner = User::new();
        let project = owner.project("example.com");
        let (_, key) = owner.key(&project, &[]);
        let vendor = Vendor::new();
        let address = format!("http://{}/v1", vendor.address);
        let mut set = vec![
            "admin",
            "provider",
            "set",
            "--project",
            &project,
            "--provider",
            "openai",
        ];
        set.extend(["--secret-file", "-", "--base-url", &address, "--model", "m-1"]);
        set.extend(["--setting", "inputPrice=1", "--setting", "outputPrice=4"]);
        let set = owner.tell(&set, "sk-test");
        assert_eq!(set.code, 0, "{set:?}");
        Self { owner, key, vendor }
    }

    fn serve(&self) -> Serving {
        let allowed = format!("provider={}", self.vendor.address);
        self.owner.serve(&[
            "--allow-outbound",
            &allowed,
            "--set",
            "limits.requests_per_minute=100000",
            "--set",
            "limits.requests_per_minute_and_project=100000",
        ])
    }

    fn run(&self, server: &Serving, arguments: &[&str]) -> Outcome {
        let caller = User::new()
            .with("SEARCHWRIGHT_URL", &server.url)
            .with("SEARCHWRIGHT_KEY", &self.key);
        caller.run(&[arguments, &["--json"]].concat())
    }

    fn prompt(&self, server: &Serving, text: &str) -> String {
        let made = self.run(server, &["prompts", "create", text]).json();
        made["id"].as_str().unwrap().to_owned()
    }

    /// Starts a run; its id.
    fn track(&self, server: &Serving, prompt: &str) -> String {
        let samples = SAMPLES.to_string();
        let track = ["prompts", "track", prompt, "--samples", &samples, "--yes"];
        let started = self.run(server, &track).json();
        started["run"]["id"].as_str().unwrap().to_owned()
    }

    /// The run once it has ended.
    fn ended(&self, server: &Serving, run: &str) -> Value {
        loop {
            let run = self.run(server, &["runs", "get", run]).json();
            if !["queued", "running"].contains(&run["status"].as_str().unwrap()) {
                return run;
            }
        }
    }

    fn answers(&self, server: &Serving, prompt: &str) -> BTreeSet<String> {
        let listed = self.run(server, &["prompts", "answers", prompt]).json();
        let listed = listed["data"].as_array().unwrap().iter();
        listed
            .map(|answer| answer["id"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Returns the answers once there are so many.
    fn until_stored(&self, server: &Serving, prompt: &str, count: usize) -> BTreeSet<String> {
        loop {
            let stored = self.answers(server, prompt);
            if stored.len() >= count {
                return stored;
            }
        }
    }

    /// Fails unless a run that was killed has an end in which no question was asked twice and every answer, every charge
    /// and every count agree.
    fn check(&self, server: &Serving, prompt: &str, run: &str, before: &BTreeSet<String>) -> Charges {
        let ended = self.ended(server, run);
        let stored = self.answers(server, prompt);
        assert!(
            stored.is_superset(before),
            "an answer is gone: {before:?} {stored:?}"
        );
        let outcome = &ended["outcomes"][0];
        let answers = i64::try_from(stored.len()).unwrap();
        assert_eq!(outcome["answers"], answers, "{ended}");
        let uncertain = outcome["missing"].as_i64().unwrap();
        assert_eq!(answers + uncertain, SAMPLES, "{ended}");
        if uncertain > 0 {
            assert_eq!(outcome["reason"], "uncertain", "{ended}");
        }
        let status = match (answers, uncertain) {
            (0, _) => "failed",
            (_, 0) => "completed",
            _ => "partial",
        };
        assert_eq!(ended["status"], status, "{ended}");
        assert!(ended["finishedAt"].is_string(), "{ended}");
        let asked = i64::try_from(self.vendor.asked()).unwrap();
        // A question that was noted and did not leave any more is not asked again either.
        assert!(
            answers <= asked && asked <= SAMPLES,
            "asked {asked} times: {ended}"
        );
        let cost = ended["actualCost"].as_f64().unwrap_or(0.0) * 1e6;
        assert_eq!(cost.round() as i64, answers * PRICE, "{ended}");
        Charges { answers, uncertain }
    }

    fn usage(&self, server: &Serving) -> [Value; 3] {
        let usage = self.run(server, &["usage", "get"]).json();
        let spend = &usage["spend"][0];
        let mut quotas = usage["quotas"].as_array().unwrap().iter();
        let tracked = quotas.find(|quota| quota["metric"] == "answers_tracked").unwrap();
        [
            spend["spentMicrosUsd"].clone(),
            spend["uncertainCalls"].clone(),
            tracked["used"].clone(),
        ]
    }
}

#[test]
fn a_run_is_asked_for_with_its_cost() {
    let tracker = Tracker::new();
    let server = tracker.serve();
    let prompt = tracker.prompt(&server, "best standing desks");
    let track = ["prompts", "track", &prompt];
    let words = [
        "\"best standing desks\"",
        "Estimated cost: $",
        "needs consent",
        "--yes",
    ];
    tracker.run(&server, &track).refuses(2, &words);
    let runs = tracker.run(&server, &["runs", "list"]).json();
    assert_eq!(runs["data"], json!([]), "nothing was started");
    let gone = ["prompts", "track", "00000000-0000-7000-8000-000000000000"];
    tracker.run(&server, &gone).refuses(4, &["not_found"]);
}

#[test]
fn a_process_that_is_killed_asks_no_question_twice() {
    let tracker = Tracker::new();
    let mut server = tracker.serve();
    let mut total = Charges {
        answers: 0,
        uncertain: 0,
    };
    // Before the first answer, between answers with others under way, and with the last one under way.
    for (at, answered) in [0, 1, 2, 4].into_iter().enumerate() {
        let prompt = tracker.prompt(&server, &format!("Which desk is number {at}?"));
        tracker.vendor.plan(answered);
        let run = tracker.track(&server, &prompt);
        let under_way = AT_ONCE.min(SAMPLES as usize - answered);
        tracker.vendor.until_it_holds(under_way);
        let before = tracker.until_stored(&server, &prompt, answered);
        // dropped means SIGKILL
        drop(server);
        tracker.vendor.answer_all();
        server = tracker.serve();
        let found = tracker.check(&server, &prompt, &run, &before);
        assert_eq!(
            found,
            Charges {
                answers: SAMPLES - under_way as i64,
                uncertain: under_way as i64,
            },
            "killed after {answered} answers"
        );
        total.answers += found.answers;
        total.uncertain += found.uncertain;
    }
    assert_eq!(
        tracker.usage(&server),
        [
            json!(total.answers * PRICE),
            json!(total.uncertain),
            json!(total.answers),
        ],
        "what may have been charged for is shown, and an answer that did not come takes nothing of the quota"
    );
}

#[test]
fn a_process_that_is_killed_at_any_moment_asks_no_question_twice() {
    let tracker = Tracker::new();
    let mut server = tracker.serve();
    let mut total = 0;
    // The moments after a question are left to chance: before its answer comes, is stored, or is followed by another.
    for at in 0..=SAMPLES as usize {
        let prompt = tracker.prompt(&server, &format!("Which desk is number {at}?"));
        tracker.vendor.plan(usize::MAX);
        let run = tracker.track(&server, &prompt);
        tracker.vendor.until_asked(at);
        drop(server);
        server = tracker.serve();
        total += tracker.check(&server, &prompt, &run, &BTreeSet::new()).answers;
    }
    assert_eq!(tracker.usage(&server)[0], json!(total * PRICE));
}
