//! Jobs: one worker at a time; expired leases are requeued; a worker without a lease writes nothing.

use std::collections::{BTreeMap, BTreeSet};

use searchwright_contract::{Code, Instant, Problem, ids::JobId, jobs::JobStatus};
use searchwright_store::{
    Error, Tx,
    access::ProjectScope,
    jobs::{self, JobEnd, LEASE_MILLIS, Lane, LeaseStatus, LeaseTime, LeasedJob, MAX_CRASHES, NewJob},
    sql,
};
use serde_json::json;

use crate::harness::{Place, Store, id, later, now, on_postgres};

on_both!(
    queued_job_reads_back,
    jobs_are_listed_by_status_and_cursor,
    eight_workers_take_four_hundred_jobs_once_each,
    longest_due_job_is_leased_first,
    lost_lease_writes_nothing,
    expired_job_is_requeued,
    job_fails_after_too_many_crashes,
    queued_job_is_canceled_at_once,
    running_job_sees_cancel_request,
    cancel_and_lease_agree,
    retries_wait_for_their_time,
    postponed_job_costs_no_attempt,
    running_job_that_is_asked_for_again_does_not_wait,
    released_job_costs_no_attempt,
    time_that_a_job_ran_is_kept,
    leases_are_expired_at_start,
    worker_takes_no_job_from_itself,
    lanes_wait_only_for_themselves,
    projects_take_turns,
    queue_of_a_project_is_bounded,
    jobs_that_wait_for_their_time_hold_up_nobody,
);

/// A worker that another one overtakes between the beginning and the end of its write must not commit it: it would overwrite
/// what the other has read.
#[test]
fn lease_that_is_lost_meanwhile_commits_nothing() {
    on_postgres(async |place| {
        let store = place.store().await;
        let scope = store.project().await;
        queue(&store, scope, 0).await;
        let slow = lease(&store, now()).await.unwrap();
        let db = store.db.clone();
        let (at_start, at_end) = commit!(store.db, |tx| {
            let at_start = jobs::holds_lease(tx, &slow).await?;
            let later = later(LEASE_MILLIS + 1);
            commit!(db, |tx| jobs::requeue_expired(
                tx,
                id(),
                &[],
                later,
                LeaseTime(later)
            )
            .await)?;
            Ok::<_, Error>((at_start, jobs::keeps_lease(tx, &slow).await?))
        })
        .unwrap();
        assert_eq!((at_start, at_end), (true, false));
    });
}

/// Queues a job that is due after `millis` milliseconds.
pub async fn queue(store: &Store, scope: ProjectScope, due: i64) -> JobId {
    let job = new(due);
    let id = job.id;
    commit!(store.db, |tx| jobs::enqueue(tx, scope, job, now()).await).unwrap();
    id
}

fn new(due: i64) -> NewJob {
    let id = id();
    NewJob {
        id,
        kind: "audit",
        lane: Lane::Audits,
        payload: json!({ "kind": "audit", "id": id, "text": "ünïcode \u{1f33f}" }),
        run_after: later(due),
        links: BTreeMap::from([("audit".to_owned(), "/audits/1".to_owned())]),
    }
}

async fn lease(store: &Store, at: Instant) -> Option<LeasedJob> {
    commit!(store.db, |tx| jobs::lease(
        tx,
        id(),
        Lane::Audits,
        at,
        LeaseTime(at)
    )
    .await)
    .unwrap()
}

async fn requeue(store: &Store, at: Instant) -> Vec<LeasedJob> {
    commit!(store.db, |tx| jobs::requeue_expired(
        tx,
        id(),
        &[],
        at,
        LeaseTime(at)
    )
    .await)
    .unwrap()
}

/// Renews the lease, after saving what was done.
async fn renew(
    store: &Store,
    job: &LeasedJob,
    progress: Option<serde_json::Value>,
    at: Instant,
) -> LeaseStatus {
    let job = job.clone();
    let work = async move |tx: &mut Tx| {
        if let Some(progress) = progress {
            jobs::save_progress(tx, &job, progress).await?;
        }
        jobs::renew_lease(tx, &job, LeaseTime(at)).await
    };
    commit!(store.db, |tx| work(tx).await).unwrap()
}

/// Whether a job is due or a lease has expired.
async fn has_work(store: &Store, at: Instant) -> bool {
    let mut tx = store.read().await;
    jobs::has_due(&mut tx, Lane::Audits, at).await.unwrap()
        || jobs::has_expired(&mut tx, LeaseTime(at)).await.unwrap()
}

async fn check(store: &Store, job: &LeasedJob) -> LeaseStatus {
    jobs::check_lease(&mut store.db.read().await.unwrap(), job)
        .await
        .unwrap()
}

async fn finish(store: &Store, job: &LeasedJob, end: JobEnd, at: Instant) -> bool {
    let job = job.clone();
    commit!(store.db, |tx| jobs::finish(tx, &job, end, at).await).unwrap()
}

async fn check_before_commit(store: &Store, leased: &LeasedJob) -> LeaseStatus {
    let leased = leased.clone();
    commit!(store.db, |tx| jobs::check_before_commit(tx, &leased).await).unwrap()
}

async fn cancel(store: &Store, scope: ProjectScope, job: JobId) -> Result<JobStatus, Error> {
    commit!(store.db, |tx| jobs::cancel(tx, scope, job, later(7)).await)
}

async fn get(store: &Store, scope: ProjectScope, job: JobId) -> searchwright_contract::jobs::Job {
    jobs::get(&mut store.read().await, scope, job).await.unwrap()
}

async fn projects_take_turns(place: &Place) {
    let store = place.store().await;
    let (busy, quiet) = (store.project().await, store.project().await);
    let mut first = Vec::new();
    for due in 0..6 {
        first.push(queue(&store, busy, due).await);
    }
    let late = queue(&store, quiet, 9).await;
    let take = async || lease(&store, later(20)).await;
    assert_eq!(take().await.unwrap().id, first[0], "the oldest, where none runs");
    assert_eq!(take().await.unwrap().id, late, "then who has nothing running");
    let more = [
        take().await.unwrap(),
        take().await.unwrap(),
        take().await.unwrap(),
    ];
    assert_eq!(more.each_ref().map(|job| job.id), [first[1], first[2], first[3]]);
    assert!(take().await.is_none(), "four of one project run, no more");
    assert!(finish(&store, &more[0], JobEnd::Succeeded(json!({})), later(21)).await);
    assert_eq!(take().await.unwrap().id, first[4]);
    assert!(take().await.is_none());
}

async fn queue_of_a_project_is_bounded(place: &Place) {
    let store = place.store().await;
    let (busy, quiet) = (store.project().await, store.project().await);
    // waits for its time, as the next look at a published page does, and takes no place until then
    queue(&store, busy, 3_600).await;
    for _ in 0..jobs::MAX_QUEUED {
        queue(&store, busy, 0).await;
    }
    let one_more = new(0);
    let refused = commit!(store.db, |tx| jobs::enqueue(tx, busy, one_more, now()).await);
    assert!(matches!(refused, Err(Error::Overloaded)));
    queue(&store, quiet, 0).await;
    lease(&store, later(1)).await.unwrap();
    queue(&store, busy, 0).await;
}

async fn jobs_that_wait_for_their_time_hold_up_nobody(place: &Place) {
    let store = place.store().await;
    let busy = store.project().await;
    for _ in 0..2 * jobs::MAX_QUEUED {
        queue(&store, busy, 60).await;
    }
    for _ in 0..jobs::MAX_QUEUED {
        queue(&store, busy, 0).await;
    }
    let one_more = new(0);
    let refused = commit!(store.db, |tx| jobs::enqueue(tx, busy, one_more, now()).await);
    assert!(matches!(refused, Err(Error::Overloaded)));
    for _ in 3 * jobs::MAX_QUEUED..jobs::MAX_WAITING {
        queue(&store, busy, 60).await;
    }
    let one_more = new(60);
    let refused = commit!(store.db, |tx| jobs::enqueue(tx, busy, one_more, now()).await);
    assert!(matches!(refused, Err(Error::Overloaded)));
}

async fn queued_job_reads_back(place: &Place) {
    let store = place.store().await;
    let (scope, foreign) = (store.project().await, store.project().await);
    let wanted = new(5);
    let (id, payload) = (wanted.id, wanted.payload.clone());
    let queued = commit!(store.db, |tx| jobs::enqueue(tx, scope, wanted, now()).await).unwrap();
    assert_eq!(get(&store, scope, id).await, queued);
    assert_eq!(
        (queued.kind.as_str(), queued.status, queued.attempt),
        ("audit", JobStatus::Queued, 0)
    );
    assert_eq!(
        (queued.created_at, queued.run_after, queued.started_at),
        (now(), Some(later(5)), None)
    );
    assert_eq!(queued.links["audit"], "/audits/1");
    let refused = jobs::get(&mut store.read().await, foreign, id).await;
    assert!(matches!(refused, Err(Error::Missing)));
    assert!(matches!(cancel(&store, foreign, id).await, Err(Error::Missing)));
    assert!(!has_work(&store, later(4)).await);
    assert!(has_work(&store, later(5)).await);
    assert!(!jobs::has_running(&mut store.read().await).await.unwrap());
    assert!(lease(&store, later(4)).await.is_none());
    let leased = lease(&store, later(6)).await.unwrap();
    assert_eq!((leased.id, leased.scope, &leased.payload), (id, scope, &payload));
    assert_eq!((leased.attempt, leased.crashes), (1, 0));
    assert!(jobs::has_running(&mut store.read().await).await.unwrap());
    assert_eq!(
        renew(&store, &leased, Some(json!({ "fetched": 3 })), later(8)).await,
        LeaseStatus::Alive
    );
    assert_eq!(renew(&store, &leased, None, later(9)).await, LeaseStatus::Alive);
    let running = get(&store, scope, id).await;
    assert_eq!(
        (running.status, running.attempt, running.started_at),
        (JobStatus::Running, 1, Some(later(6)))
    );
    assert_eq!(
        (running.run_after, running.progress),
        (None, Some(json!({ "fetched": 3 })))
    );
    let again = leased.clone();
    assert!(commit!(store.db, |tx| jobs::holds_lease(tx, &again).await).unwrap());
    assert!(
        finish(
            &store,
            &leased,
            JobEnd::Succeeded(json!({ "pages": 3 })),
            later(10)
        )
        .await
    );
    let done = get(&store, scope, id).await;
    assert_eq!(
        (done.status, done.finished_at, done.result),
        (JobStatus::Succeeded, Some(later(10)), Some(json!({ "pages": 3 })))
    );
    assert!(
        !finish(&store, &leased, JobEnd::Canceled, later(11)).await,
        "it ends once"
    );
    assert!(!has_work(&store, later(1_000_000)).await);
}

async fn jobs_are_listed_by_status_and_cursor(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    queue(&store, store.project().await, 0).await;
    let mut ids = Vec::new();
    for due in 0..5 {
        ids.push(queue(&store, scope, due).await);
    }
    lease(&store, later(0)).await.unwrap();
    ids.reverse();
    let list = async |status, before, limit| {
        let rows = jobs::list(&mut store.read().await, scope, status, before, limit)
            .await
            .unwrap();
        rows.into_iter().map(|job| job.id).collect::<Vec<_>>()
    };
    assert_eq!(list(None, None, 3).await, ids[..3]);
    assert_eq!(list(None, Some(ids[2]), 3).await, ids[3..]);
    assert_eq!(list(Some(JobStatus::Succeeded), None, 9).await, [] as [JobId; 0]);
    let queued = list(Some(JobStatus::Queued), None, 9).await.len();
    assert_eq!(queued + list(Some(JobStatus::Running), None, 9).await.len(), 5);
}

async fn eight_workers_take_four_hundred_jobs_once_each(place: &Place) {
    let store = place.store().await;
    let mut projects = Vec::new();
    for _ in 0..5 {
        projects.push(store.project().await);
    }
    commit!(store.db, |tx| {
        for scope in projects {
            for _ in 0..80 {
                jobs::enqueue(tx, scope, new(0), now()).await?;
            }
        }
        // PostgreSQL's plan depends on what it knows of the table; no plan may take more than one job.
        sql("ANALYZE jobs").execute(tx).await
    })
    .unwrap();
    let workers: Vec<_> = (0..8)
        .map(|_| {
            let db = store.db.clone();
            tokio::spawn(async move {
                let mut taken = Vec::new();
                while let Some(job) = commit!(db, |tx| jobs::lease(
                    tx,
                    id(),
                    Lane::Audits,
                    later(1),
                    LeaseTime(later(1))
                )
                .await)
                .unwrap()
                {
                    taken.push((job.id, job.fence));
                    let done = commit!(db, |tx| jobs::finish(
                        tx,
                        &job,
                        JobEnd::Succeeded(json!({})),
                        later(2)
                    )
                    .await);
                    assert!(done.unwrap());
                }
                taken
            })
        })
        .collect();
    let mut taken = Vec::new();
    for worker in workers {
        taken.extend(worker.await.unwrap());
    }
    assert_eq!(
        taken.len(),
        400,
        "each lease gives one job, and none is left over"
    );
    assert_eq!(taken.iter().map(|(id, _)| id).collect::<BTreeSet<_>>().len(), 400);
    assert!(taken.iter().all(|(_, fence)| *fence == 1));
}

async fn longest_due_job_is_leased_first(place: &Place) {
    let store = place.store().await;
    let (one, two) = (store.project().await, store.project().await);
    let late = queue(&store, one, 30).await;
    let early = queue(&store, two, 10).await;
    let middle = queue(&store, one, 20).await;
    for expected in [early, middle, late] {
        assert_eq!(lease(&store, later(100)).await.unwrap().id, expected);
    }
}

async fn lost_lease_writes_nothing(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let job = queue(&store, scope, 0).await;
    let zombie = lease(&store, now()).await.unwrap();
    assert!(requeue(&store, later(LEASE_MILLIS + 1)).await.is_empty());
    let heir = lease(&store, later(LEASE_MILLIS + 2)).await.unwrap();
    assert_eq!((heir.id, heir.attempt, heir.crashes), (job, 2, 1));
    assert!(heir.fence > zombie.fence);
    let at = later(LEASE_MILLIS + 3);
    assert_eq!(
        renew(&store, &zombie, Some(json!("zombie")), at).await,
        LeaseStatus::Lost
    );
    assert_eq!(check_before_commit(&store, &zombie).await, LeaseStatus::Lost);
    for end in [
        JobEnd::Succeeded(json!("zombie")),
        JobEnd::Canceled,
        JobEnd::Released,
        JobEnd::Retry(at),
        JobEnd::Failed(Box::new(Problem::not_found("job"))),
    ] {
        assert!(!finish(&store, &zombie, end, at).await);
    }
    let (old, new) = (zombie.clone(), heir.clone());
    let held = commit!(store.db, |tx| Ok::<_, Error>((
        jobs::holds_lease(tx, &old).await?,
        jobs::holds_lease(tx, &new).await?
    )));
    assert_eq!(held.unwrap(), (false, true));
    let running = get(&store, scope, job).await;
    assert_eq!(
        (running.status, running.progress, running.result),
        (JobStatus::Running, None, None)
    );
    assert!(finish(&store, &heir, JobEnd::Succeeded(json!("heir")), at).await);
    assert_eq!(get(&store, scope, job).await.result, Some(json!("heir")));
}

async fn running_job_that_is_asked_for_again_does_not_wait(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let job = queue(&store, scope, 0).await;
    let first = lease(&store, now()).await.unwrap();
    commit!(store.db, |tx| jobs::run_now(tx, scope, job, later(1)).await).unwrap();
    assert!(finish(&store, &first, JobEnd::Waits(later(60_000)), later(2)).await);
    let again = lease(&store, later(2)).await.unwrap();
    assert_eq!(again.id, job);
    assert!(finish(&store, &again, JobEnd::Waits(later(60_000)), later(3)).await);
    assert!(lease(&store, later(59_999)).await.is_none(), "asked for once");
}

#[test]
fn job_whose_run_ends_while_it_is_asked_for_does_not_wait() {
    on_postgres(async |place| {
        let store = place.store().await;
        let scope = store.project().await;
        let job = queue(&store, scope, 0).await;
        let first = lease(&store, now()).await.unwrap();
        let (ended, wait_ended) = tokio::sync::oneshot::channel();
        let (committed, wait_committed) = tokio::sync::oneshot::channel();
        let ending = store.db.write(move |tx: &mut Tx| {
            Box::pin(async move {
                assert!(jobs::finish(tx, &first, JobEnd::Waits(later(60_000)), later(1)).await?);
                ended.send(()).unwrap();
                wait_committed.await.unwrap();
                Ok::<(), Error>(())
            })
        });
        let asking = async {
            wait_ended.await.unwrap();
            commit!(store.db, |tx| jobs::run_now(tx, scope, job, later(2)).await)
        };
        // The run is over for others once the request waits for it.
        let watching = async {
            let waits = || async {
                let waiting: i64 = sql("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
                    .fetch_one(&mut store.db.read().await.unwrap(), |c| c.take())
                    .await
                    .unwrap();
                waiting > 0
            };
            while !waits().await {
                tokio::task::yield_now().await;
            }
            committed.send(()).unwrap();
        };
        let (ended, asked, ()) = tokio::join!(ending, asking, watching);
        ended.unwrap();
        asked.unwrap();
        assert_eq!(lease(&store, later(2)).await.map(|again| again.id), Some(job));
    });
}

async fn expired_job_is_requeued(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let job = queue(&store, scope, 0).await;
    let leased = lease(&store, now()).await.unwrap();
    assert_eq!(
        renew(&store, &leased, None, later(50_000)).await,
        LeaseStatus::Alive
    );
    let ends = 50_000 + LEASE_MILLIS;
    requeue(&store, later(ends)).await;
    assert_eq!(
        get(&store, scope, job).await.status,
        JobStatus::Running,
        "a heartbeat prolonged the lease"
    );
    assert!(!has_work(&store, later(ends)).await);
    assert!(has_work(&store, later(ends + 1)).await);
    requeue(&store, later(ends + 1)).await;
    let waiting = get(&store, scope, job).await;
    assert_eq!(
        (waiting.status, waiting.run_after),
        (JobStatus::Queued, Some(later(ends + 1)))
    );
    assert_eq!(waiting.started_at, Some(now()), "the first start counts");
}

async fn job_fails_after_too_many_crashes(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let (job, mut at) = (queue(&store, scope, 0).await, now());
    for crashes in 1..MAX_CRASHES {
        let leased = lease(&store, at).await.unwrap();
        assert_eq!((leased.attempt, leased.crashes), (crashes, crashes - 1));
        at = at.plus_millis(LEASE_MILLIS + 1);
        assert!(requeue(&store, at).await.is_empty(), "crash {crashes}");
    }
    let last = lease(&store, at).await.unwrap();
    at = at.plus_millis(LEASE_MILLIS + 1);
    let poisoned = requeue(&store, at).await;
    let [poison] = poisoned.as_slice() else {
        panic!("{poisoned:?}")
    };
    assert_eq!((poison.id, poison.crashes), (job, MAX_CRASHES));
    assert_eq!(renew(&store, &last, None, at).await, LeaseStatus::Lost);
    assert!(
        requeue(&store, at).await.is_empty(),
        "whoever rescued it holds it"
    );
    let problem = Problem::new(Code::InternalError, "poison");
    assert!(finish(&store, poison, JobEnd::Failed(Box::new(problem)), at).await);
    let failed = get(&store, scope, job).await;
    assert_eq!(
        (failed.status, failed.problem.map(|p| (p.code, p.detail))),
        (
            JobStatus::Failed,
            Some((Code::InternalError, "poison".to_owned()))
        )
    );
    assert!(lease(&store, at.plus_millis(1_000_000)).await.is_none());
}

async fn queued_job_is_canceled_at_once(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let job = queue(&store, scope, 0).await;
    assert_eq!(cancel(&store, scope, job).await.unwrap(), JobStatus::Queued);
    let canceled = get(&store, scope, job).await;
    assert_eq!(
        (canceled.status, canceled.finished_at),
        (JobStatus::Canceled, Some(later(7)))
    );
    assert!(lease(&store, later(100)).await.is_none());
    assert_eq!(cancel(&store, scope, job).await.unwrap(), JobStatus::Canceled);
    assert_eq!(get(&store, scope, job).await, canceled);
    assert!(matches!(cancel(&store, scope, id()).await, Err(Error::Missing)));
}

async fn running_job_sees_cancel_request(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let job = queue(&store, scope, 0).await;
    let leased = lease(&store, now()).await.unwrap();
    assert_eq!(check(&store, &leased).await, LeaseStatus::Alive);
    assert_eq!(check_before_commit(&store, &leased).await, LeaseStatus::Alive);
    assert_eq!(cancel(&store, scope, job).await.unwrap(), JobStatus::Running);
    assert_eq!(check(&store, &leased).await, LeaseStatus::Cancel);
    assert_eq!(check_before_commit(&store, &leased).await, LeaseStatus::Cancel);
    assert_eq!(get(&store, scope, job).await.status, JobStatus::Running);
    assert_eq!(renew(&store, &leased, None, later(8)).await, LeaseStatus::Cancel);
    assert!(finish(&store, &leased, JobEnd::Canceled, later(9)).await);
    assert_eq!(check(&store, &leased).await, LeaseStatus::Lost);
    assert_eq!(get(&store, scope, job).await.status, JobStatus::Canceled);
    assert_eq!(cancel(&store, scope, job).await.unwrap(), JobStatus::Canceled);
}

/// A caller acts on the status that `cancel` returns: `queued` means that no worker has the job now, and
/// `running` that its worker will see the request.
async fn cancel_and_lease_agree(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    for round in 0..100 {
        let job = queue(&store, scope, 0).await;
        let (leasing, canceling) = (store.db.clone(), store.db.clone());
        let (leased, canceled) = tokio::join!(
            tokio::spawn(async move {
                commit!(leasing, |tx| jobs::lease(
                    tx,
                    id(),
                    Lane::Audits,
                    now(),
                    LeaseTime(now())
                )
                .await)
                .unwrap()
            }),
            tokio::spawn(async move {
                commit!(canceling, |tx| jobs::cancel(tx, scope, job, now()).await).unwrap()
            }),
        );
        match (canceled.unwrap(), leased.unwrap()) {
            (JobStatus::Queued, None) => {
                assert_eq!(get(&store, scope, job).await.status, JobStatus::Canceled)
            }
            (JobStatus::Running, Some(leased)) => {
                assert_eq!(
                    renew(&store, &leased, None, now()).await,
                    LeaseStatus::Cancel,
                    "round {round}"
                );
                assert!(finish(&store, &leased, JobEnd::Canceled, now()).await);
            }
            (told, leased) => panic!("round {round}: told {told:?}, leased {leased:?}"),
        }
    }
}

async fn retries_wait_for_their_time(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let job = queue(&store, scope, 0).await;
    let first = lease(&store, now()).await.unwrap();
    assert!(finish(&store, &first, JobEnd::Retry(later(500)), later(1)).await);
    let waiting = get(&store, scope, job).await;
    assert_eq!(
        (waiting.status, waiting.run_after, waiting.finished_at),
        (JobStatus::Queued, Some(later(500)), None)
    );
    assert!(lease(&store, later(499)).await.is_none());
    let second = lease(&store, later(500)).await.unwrap();
    assert_eq!((second.attempt, second.crashes), (2, 0), "a retry is no crash");
    assert!(!finish(&store, &first, JobEnd::Canceled, later(501)).await);
}

async fn postponed_job_costs_no_attempt(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let job = queue(&store, scope, 0).await;
    let leased = lease(&store, now()).await.unwrap();
    assert!(finish(&store, &leased, JobEnd::Waits(later(30)), later(3)).await);
    let waits = get(&store, scope, job).await;
    assert_eq!(
        (waits.status, waits.attempt, waits.run_after),
        (JobStatus::Queued, 0, Some(later(30)))
    );
    assert!(lease(&store, later(29)).await.is_none());
    assert_eq!(lease(&store, later(30)).await.unwrap().attempt, 1);
}

async fn released_job_costs_no_attempt(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let job = queue(&store, scope, 0).await;
    let leased = lease(&store, now()).await.unwrap();
    assert!(finish(&store, &leased, JobEnd::Released, later(3)).await);
    let released = get(&store, scope, job).await;
    assert_eq!((released.status, released.attempt), (JobStatus::Queued, 0));
    assert!(!jobs::has_running(&mut store.read().await).await.unwrap());
    let again = lease(&store, later(3)).await.unwrap();
    assert_eq!((again.id, again.attempt, again.crashes), (job, 1, 0));
    assert!(
        again.fence > leased.fence,
        "the worker that gave it back writes nothing more"
    );
}

/// Time in the queue is none; of a run that crashes the time until the last renewal is known.
async fn time_that_a_job_ran_is_kept(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    queue(&store, scope, 0).await;
    let mut leased = lease(&store, now()).await.unwrap();
    assert_eq!(leased.ran_millis, 0);
    leased.ran_millis = 5_000;
    assert!(finish(&store, &leased, JobEnd::Released, later(5_000)).await);
    let mut leased = lease(&store, later(9_000_000)).await.unwrap();
    assert_eq!(leased.ran_millis, 5_000);
    leased.ran_millis = 7_000;
    renew(&store, &leased, None, later(9_002_000)).await;
    let crashed_at = later(9_002_000 + LEASE_MILLIS + 1);
    requeue(&store, crashed_at).await;
    let again = lease(&store, crashed_at).await.unwrap();
    assert_eq!((again.ran_millis, again.crashes), (7_000, 1));
}

async fn leases_are_expired_at_start(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let job = queue(&store, scope, 0).await;
    lease(&store, now()).await.unwrap();
    assert_eq!(
        commit!(store.db, |tx| jobs::expire_leases(tx, LeaseTime(later(10))).await).unwrap(),
        1
    );
    assert_eq!(
        commit!(store.db, |tx| jobs::expire_leases(tx, LeaseTime(later(10))).await).unwrap(),
        0
    );
    assert!(requeue(&store, later(10)).await.is_empty());
    assert_eq!(lease(&store, later(10)).await.unwrap().id, job);
}

/// A clock that is set forward makes every lease look expired.
async fn worker_takes_no_job_from_itself(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let job = queue(&store, scope, 0).await;
    let (owner, other) = (id(), id());
    let at = |millis| LeaseTime(later(millis));
    let lease = async |owner, millis| {
        commit!(store.db, |tx| {
            jobs::lease(tx, owner, Lane::Audits, later(millis), at(millis)).await
        })
        .unwrap()
    };
    let requeue = async |owner, running: Vec<JobId>, millis| {
        commit!(store.db, |tx| {
            jobs::requeue_expired(tx, owner, &running, later(millis), at(millis)).await
        })
        .unwrap()
    };
    let first = lease(owner, 1).await.unwrap();
    let late = LEASE_MILLIS + 10;
    assert!(requeue(owner, vec![job], late).await.is_empty());
    assert_eq!(check(&store, &first).await, LeaseStatus::Alive);
    // it runs no more and its end was not written: nothing crashed
    requeue(owner, vec![], late).await;
    let second = lease(owner, late).await.unwrap();
    assert_eq!((second.attempt, second.crashes), (2, 0));
    // another process takes what is not renewed: that is a crash
    requeue(other, vec![], 2 * late).await;
    let third = lease(other, 2 * late).await.unwrap();
    assert_eq!((third.attempt, third.crashes), (3, 1));
}

async fn lanes_wait_only_for_themselves(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    for _ in 0..5 {
        queue(&store, scope, 0).await;
    }
    let publication = NewJob {
        lane: Lane::Publishing,
        ..new(0)
    };
    let publication = commit!(store.db, |tx| jobs::enqueue(tx, scope, publication, now()).await).unwrap();
    for _ in 0..4 {
        assert!(lease(&store, later(1)).await.is_some());
    }
    assert!(lease(&store, later(1)).await.is_none(), "four of a lane");
    let taken = commit!(store.db, |tx| {
        jobs::lease(tx, id(), Lane::Publishing, later(1), LeaseTime(later(1))).await
    });
    assert_eq!(taken.unwrap().unwrap().id, publication.id);
}
