//! Jobs whose code panics: the lease ends with the run, and the job is tried again until it fails with a reason.

use std::{
    net::Ipv4Addr,
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use searchwright_engine::{audits::CrawlSettings, jobs::worker::Worker};
use searchwright_outbound::{Looked, Lookup};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    audited::{Website, page, serve},
    harness::Bench,
    post_generation::until_ended,
};

on_both!(
    a_job_that_panics_is_tried_again,
    a_job_that_panics_each_time_fails,
);

/// A resolver that panics a number of times, and then finds every name on this machine.
struct BrokenResolver(AtomicUsize);

impl Lookup for BrokenResolver {
    fn lookup(&self, _: &str) -> Looked {
        let left = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if left.is_ok() {
            // without a word of the panic hook
            resume_unwind(Box::new(()));
        }
        Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) })
    }
}

/// A server whose worker resolves names so, and the job of an audit that it carries out.
struct Audited {
    bench: Bench,
    job: String,
    resolver: Arc<BrokenResolver>,
    stop: CancellationToken,
    worker: tokio::task::JoinHandle<()>,
}

impl Audited {
    async fn begin(database: &str, panics: usize) -> Self {
        let site = Website::default();
        site.put("/", 200, &page("<title>A website with one page</title>", &[]));
        let port = serve(&site).await.port();
        let mut bench = Bench::on(database, &[]).await;
        let domain = format!("http://desks.example:{port}");
        let project = bench.server.app.engine.create_project("Desks", &domain);
        bench.project = project.await.unwrap().id;
        bench.key = bench.key_for(bench.project, &[]).await;
        let started = bench.post("P/audits", json!({})).await.json();
        let engine = bench.server.app.engine.clone();
        let resolver = Arc::new(BrokenResolver(AtomicUsize::new(panics)));
        let settings = CrawlSettings {
            allow: vec![format!("crawl=desks.example:{port}").parse().unwrap()],
            logins: Vec::new(),
            user_agent: "SearchwrightBot/1.0".to_owned(),
            own: Vec::new(),
            connections: 1,
            delay: Duration::ZERO,
            connections_to_allowed: 1,
            lookup: resolver.clone(),
        };
        let worker = Worker::new(engine.clone(), 1, settings, engine.keyring.clone()).unwrap();
        let stop = CancellationToken::new();
        Self {
            bench,
            job: started["job"]["id"].as_str().unwrap().to_owned(),
            resolver,
            worker: tokio::spawn(worker.run(stop.clone())),
            stop,
        }
    }

    fn panics_left(&self) -> usize {
        self.resolver.0.load(Ordering::Relaxed)
    }

    /// Waits for the end of a run that panics, and returns the job.
    async fn until_queued(&self, attempt: i64) -> Value {
        loop {
            let job = self.bench.get(&format!("P/jobs/{}", self.job)).await.json();
            if job["status"] != "running" && job["attempt"] == attempt {
                return job;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Lets the wait before the next attempt pass.
    fn pass_time(&self) {
        self.bench.clock.advance(3_600_000);
        self.bench.server.app.engine.wake.notify_one();
    }

    async fn end(self) {
        self.stop.cancel();
        self.worker.await.unwrap();
    }
}

async fn a_job_that_panics_is_tried_again(database: &str) {
    let audited = Audited::begin(database, 1).await;
    let job = audited.until_queued(1).await;
    assert_eq!(
        (&job["status"], audited.panics_left()),
        (&json!("queued"), 0),
        "{job:#}"
    );
    let now = audited.bench.clock.now().to_string();
    assert!(job["runAfter"].as_str().unwrap() > now.as_str(), "{job:#}");
    audited.pass_time();
    let ended = until_ended(&audited.bench, &audited.job).await;
    assert_eq!(
        (&ended["status"], &ended["attempt"]),
        (&json!("succeeded"), &json!(2)),
        "{ended:#}"
    );
    audited.end().await;
}

async fn a_job_that_panics_each_time_fails(database: &str) {
    let audited = Audited::begin(database, 100).await;
    for attempt in 1..8 {
        let job = audited.until_queued(attempt).await;
        assert_eq!(job["status"], "queued", "{job:#}");
        audited.pass_time();
    }
    let ended = until_ended(&audited.bench, &audited.job).await;
    assert_eq!(
        (&ended["status"], &ended["attempt"]),
        (&json!("failed"), &json!(8)),
        "{ended:#}"
    );
    assert_eq!(ended["problem"]["code"], "internal_error", "{ended:#}");
    let detail = ended["problem"]["detail"].as_str().unwrap();
    assert!(detail.contains("8 times"), "{detail}");
    let current = audited.bench.get("P/audits/current").await;
    assert_ne!(
        current.json()["status"],
        "crawling",
        "the audit has ended as well"
    );
    audited.end().await;
}
