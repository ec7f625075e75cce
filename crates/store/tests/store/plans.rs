//! Plans of the statements that are run most, with the statistics of tables that have grown: each reads by an index.

use searchwright_contract::{
    events::EventType,
    ids::{PostId, UserId},
    keywords::{Intent, KeywordSort, KeywordSource, KeywordStatus},
    posts::PostStatus,
};
use searchwright_store::{
    Result, Tx,
    access::{self, ProjectScope},
    activity, admin, approvals, audits, autopilot_runs,
    deliveries::queue::{self, LeasedWebhook},
    events,
    idempotency::{self, IdempotencyKey},
    issues::{self, IssueQuery},
    jobs::{self, Lane, LeaseTime},
    keywords::{self, KeywordFacts, KeywordQuery, ListPart, NewKeyword},
    oauth_tokens, occurrences,
    pages::{self, PageNumber, PageQuery},
    posts::{self, PostOrder, PostQuery},
    publications,
    rate_limits::{self, UnitOrder},
    schedules, sessions, shares, sql, visits,
};
use uuid::Uuid;

use crate::{
    fill::fill,
    harness::{Place, Store, id, later, now},
    recorder::Recorder,
};

on_both!(
    lists_of_keywords_read_by_their_indexes,
    hot_statements_read_by_their_indexes,
);

async fn grow(store: &Store) {
    let scope = store.project().await;
    let rows = (0..12_000)
        .map(|n: i64| NewKeyword {
            id: id(),
            keyword: format!("how to choose product {n}"),
            normalized: format!("how to choose product {n}"),
            language: "en".to_owned(),
            country: String::new(),
            status: if n % 100 == 7 {
                KeywordStatus::Planned
            } else {
                KeywordStatus::New
            },
            source: KeywordSource::Manual,
            facts: KeywordFacts {
                search_volume: Some(n * 37 % 9_000),
                keyword_difficulty: Some(n % 101),
                score: Some(n * 7 % 1_000),
                intent: (n % 50 == 1).then_some(Intent::Commercial),
                ..KeywordFacts::default()
            },
        })
        .collect();
    commit!(store.db, |tx| keywords::insert_new(tx, scope, rows, now()).await).unwrap();
    // SQLite renews its statistics before this, PostgreSQL in its own time.
    commit!(store.db, |tx| admin::insert_meta(tx, "next", vec![1]).await).unwrap();
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// Steps of the plan, which serves all values of the parameters on both databases.
async fn explain(tx: &mut Tx, text: &str, postgres: bool) -> Result<String> {
    if !postgres {
        let steps = sql(leak(format!("EXPLAIN QUERY PLAN {text}"))).fetch_all(tx, |c| {
            let _: (i64, i64, i64) = (c.take()?, c.take()?, c.take()?);
            c.take::<String>()
        });
        return Ok(steps.await?.join("\n"));
    }
    sql(leak(format!("PREPARE explained AS {text}")))
        .execute(tx)
        .await?;
    let count = "SELECT CAST(coalesce(array_length(parameter_types, 1), 0) AS BIGINT) FROM pg_prepared_statements WHERE name = 'explained'";
    let count: i64 = sql(count).fetch_one(tx, |c| c.take()).await?;
    let nothing: Vec<_> = (0..count).map(|_| "NULL").collect();
    let nothing = if nothing.is_empty() {
        String::new()
    } else {
        format!("({})", nothing.join(", "))
    };
    let plan = leak(format!("EXPLAIN (COSTS OFF) EXECUTE explained{nothing}"));
    let steps: Vec<String> = sql(plan).fetch_all(tx, |c| c.take()).await?;
    sql("DEALLOCATE explained").execute(tx).await?;
    Ok(steps.join("\n"))
}

async fn lists_of_keywords_read_by_their_indexes(place: &Place) {
    let store = place.store().await;
    grow(&store).await;
    let postgres = store.db.name() == "postgres";
    if postgres {
        commit!(store.db, |tx| sql("ANALYZE keywords").execute(tx).await).unwrap();
    }
    let mut tx = store.read().await;
    let query = |sort, status, intent| KeywordQuery {
        sort: Some(sort),
        status,
        intent,
        ..KeywordQuery::default()
    };
    let (planned, commercial) = (Some(KeywordStatus::Planned), Some(Intent::Commercial));
    for (query, index) in [
        (query(KeywordSort::Created, planned, None), "keywords_by_status"),
        (
            query(KeywordSort::Created, None, commercial),
            "keywords_by_intent",
        ),
        (query(KeywordSort::SearchVolume, None, None), "keywords_by_volume"),
        (
            query(KeywordSort::KeywordDifficulty, None, None),
            "keywords_by_difficulty",
        ),
        (query(KeywordSort::Score, None, None), "keywords_by_score"),
    ] {
        // PostgreSQL reads a table of this size as a whole for a sorted list.
        if postgres && query.sort != Some(KeywordSort::Created) {
            continue;
        }
        let text = keywords::list_text(&query, ListPart::Known, postgres);
        let plan = explain(&mut tx, text, postgres).await.unwrap();
        assert!(plan.contains(index), "{query:?}\n{plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{query:?}\n{plan}");
    }
    if postgres {
        let has_trigrams: bool = sql("SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm')")
            .fetch_one(&mut tx, |c| c.take())
            .await
            .unwrap();
        if has_trigrams {
            // What was inserted last waits in a list, until the table is next vacuumed.
            sql("SELECT gin_clean_pending_list('keywords_by_trigrams')")
                .fetch_one(&mut tx, |_| Ok(()))
                .await
                .unwrap();
        }
        let plan = explain(&mut tx, keywords::search_text(postgres), postgres)
            .await
            .unwrap();
        assert_eq!(plan.contains("keywords_by_trigrams"), has_trigrams, "{plan}");
    } else {
        let plan = explain(&mut tx, keywords::search_text(postgres), postgres)
            .await
            .unwrap();
        assert!(plan.contains("SCAN t VIRTUAL TABLE"), "{plan}");
    }
}

/// A statement that requests and workers run most, and the steps of its plan that would be faults in another.
struct Hot {
    name: &'static str,
    text: String,
    allowed: &'static [&'static str],
}

/// Records the statements of calls. Those that write fail on a connection to read from, after they were recorded.
macro_rules! record {
    ($store:ident, $recorder:ident: $($name:literal [$($allowed:literal)*] |$tx:ident| $call:expr;)*) => {{
        let mut hot = Vec::new();
        $(
            $recorder.take();
            {
                let mut $tx = $store.read().await;
                drop($call.await);
            }
            hot.extend($recorder.take().into_iter().map(|text| Hot { name: $name, text, allowed: &[$($allowed),*] }));
        )*
        hot
    }};
}

async fn record(store: &Store, scope: ProjectScope, recorder: &Recorder) -> Vec<Hot> {
    let at = LeaseTime(now());
    let digest = [1; 32];
    let key = IdempotencyKey {
        owner: id(),
        route: "keywords.create",
        key: "once".to_owned(),
    };
    let units = UnitOrder {
        owner: id(),
        bucket: "requests",
        units: 1,
        step: 1,
        window: 60,
        now: 0,
    };
    let webhook = LeasedWebhook {
        scope,
        id: id(),
        fence: 1,
        target_url: String::new(),
        failing_since: None,
    };
    let keywords_by = |sort, status| KeywordQuery {
        sort: Some(sort),
        status,
        limit: 25,
        ..KeywordQuery::default()
    };
    let posts_of = |status, keyword| PostQuery {
        status,
        keyword,
        limit: 25,
        ..PostQuery::default()
    };
    let pages_of = |status_code, indexable| PageQuery {
        status_code,
        indexable,
        limit: 25,
        ..PageQuery::default()
    };
    let issues = IssueQuery {
        limit: 25,
        ..IssueQuery::default()
    };
    record! { store, recorder:
        "key of a request" [] |tx| access::find_key_by_digest(&mut tx, &digest);
        "token of a request" [] |tx| oauth_tokens::find_access(&mut tx, &digest, now());
        "session of a request" [] |tx| sessions::find(&mut tx, &digest, now(), now());
        "project of a request" [] |tx| access::find_project_of_user(&mut tx, id::<UserId>(), id());
        "link of a report" [] |tx| shares::find(&mut tx, &digest, now());
        "events since a visit" ["GROUP BY" "Sort"] |tx| visits::count_events(&mut tx, scope, now());
        "changes since a visit" ["SCAN newest" "GROUP BY" "Sort"] |tx| visits::count_changes(&mut tx, scope, now(), 9);
        "rate limit" [] |tx| rate_limits::take(&mut tx, units);
        "stored answer" [] |tx| idempotency::find(&mut tx, scope, &key, now());
        "expired answers" [] |tx| idempotency::delete_expired(&mut tx, now());
        "activity" [] |tx| activity::list(&mut tx, scope, None, 25);
        "due job" [] |tx| jobs::has_due(&mut tx, Lane::Publishing, now());
        "expired leases" [] |tx| jobs::has_expired(&mut tx, at);
        "lease of a job" ["ORDER BY" "Sort" "jobs_running" "SCAN (subquery"] |tx| jobs::lease(&mut tx, Uuid::nil(), Lane::Publishing, now(), at);
        "job" [] |tx| jobs::get(&mut tx, scope, id());
        "jobs" [] |tx| jobs::list(&mut tx, scope, None, None, 25);
        "active job of a kind" ["jobs_queued" "jobs_running"] |tx| jobs::is_active(&mut tx, scope, "publish");
        "queued jobs of a kind" ["jobs_queued"] |tx| jobs::count_queued(&mut tx, scope, "publish");
        "queued twin of a job" ["jobs_queued"] |tx| jobs::find_queued(&mut tx, scope, &serde_json::Value::Null);
        "post of a job" [] |tx| posts::find_queued_for_job(&mut tx, scope, id());
        "attempt of a job" ["publish_attempts_open"] |tx| publications::find_open_attempt_of_job(&mut tx, scope, id());
        "attempt of a post" [] |tx| publications::find_open_attempt(&mut tx, scope, id());
        "due webhook" ["SCAN w" "Seq Scan on webhooks"] |tx| queue::has_due(&mut tx, now(), at);
        "lease of webhooks" ["webhooks" "SCAN w" "ORDER BY" "Sort"] |tx| queue::lease(&mut tx, now(), at, 10);
        "due deliveries" [] |tx| queue::list_due(&mut tx, &webhook, None, now(), 10);
        "events of a stream" [] |tx| events::list_after(&mut tx, scope, 5, Some(EventType::WebhookTest), 100);
        "expired events" ["Seq Scan" "SCAN old"] |tx| events::delete_expired(&mut tx, now(), 100);
        "due schedules" [] |tx| schedules::list_due(&mut tx, now(), 10);
        "due posts" ["ORDER BY" "SCAN (subquery" "Sort"] |tx| publications::list_due(&mut tx, now(), 10);
        "runs of the autopilot" ["autopilot_runs_" "SCAN due" "ORDER BY" "Sort"] |tx| autopilot_runs::list_to_advance(&mut tx, 10);
        "run of a post" ["autopilot_runs_open"] |tx| autopilot_runs::find_open_of_post(&mut tx, scope, id());
        "approval of a post" [] |tx| approvals::find_newest_of_post(&mut tx, scope, id());
        "newest keywords" [] |tx| keywords::list(&mut tx, scope, KeywordQuery { limit: 25, ..KeywordQuery::default() });
        "keywords by score" [] |tx| keywords::list(&mut tx, scope, keywords_by(KeywordSort::Score, None));
        "keywords by difficulty" [] |tx| keywords::list(&mut tx, scope, keywords_by(KeywordSort::KeywordDifficulty, None));
        "keywords by volume" [] |tx| keywords::list(&mut tx, scope, keywords_by(KeywordSort::SearchVolume, None));
        "keywords of a status" [] |tx| keywords::list(&mut tx, scope, keywords_by(KeywordSort::Created, Some(KeywordStatus::Planned)));
        "keyword" [] |tx| keywords::get(&mut tx, scope, id());
        "newest posts" ["l_1" "SEARCH l"] |tx| posts::list(&mut tx, scope, posts_of(None, None));
        "posts of a status" ["l_1" "SEARCH l"] |tx| posts::list(&mut tx, scope, posts_of(Some(PostStatus::Failed), None));
        "posts of a keyword" ["l_1" "SEARCH l"] |tx| posts::list(&mut tx, scope, posts_of(None, Some(id())));
        "post" ["l_1" "SEARCH l"] |tx| posts::get(&mut tx, scope, id());
        "slugs" [] |tx| posts::list_slugs(&mut tx, scope, "how-to");
        "other posts of a keyword" [] |tx| posts::count_others_with_keyword(&mut tx, scope, id(), id());
        "similar posts" ["SCAN m" "GROUP BY" "ORDER BY" "Sort"] |tx| posts::find_similar(&mut tx, scope, id::<PostId>(), &[1, 2, 3, 4, 5, 6, 7, 8]);
        "audits" [] |tx| audits::list(&mut tx, scope, None, None, 25);
        "running audit" ["audits_active"] |tx| audits::find_active(&mut tx, scope);
        "pages" [] |tx| pages::list(&mut tx, scope, pages_of(None, None));
        "pages of a status" ["ORDER BY" "Sort"] |tx| pages::list(&mut tx, scope, pages_of(Some(500), None));
        "pages that are not indexable" ["Seq Scan on pages" "pages_by_status_code" "ORDER BY" "Sort"] |tx| pages::list(&mut tx, scope, pages_of(None, Some(false)));
        "pages by status" [] |tx| pages::list_by_number(&mut tx, scope, &pages_of(None, None), PageNumber::StatusCode, None);
        "pages by depth" [] |tx| pages::list_by_number(&mut tx, scope, &pages_of(None, None), PageNumber::Depth, None);
        "pages without a depth" [] |tx| pages::list_by_number(&mut tx, scope, &pages_of(None, None), PageNumber::Depth, Some((-1, id())));
        "pages by links" [] |tx| pages::list_by_number(&mut tx, scope, &pages_of(None, None), PageNumber::Inlinks, None);
        "pages by links that pass a filter" ["ORDER BY" "Sort"] |tx| pages::list_by_number(&mut tx, scope, &pages_of(Some(200), None), PageNumber::Inlinks, None);
        "few pages by depth" ["ORDER BY" "Sort"] |tx| pages::list_by_number(&mut tx, scope, &pages_of(Some(500), None), PageNumber::Depth, None);
        "posts by title" ["l_1" "SEARCH l" "ORDER BY USE TEMP"] |tx| posts::list_by(&mut tx, scope, &posts_of(None, None), PostOrder::Title(None));
        "posts by score" ["l_1" "SEARCH l" "ORDER BY USE TEMP"] |tx| posts::list_by(&mut tx, scope, &posts_of(None, None), PostOrder::Score(None));
        "posts by date" ["l_1" "SEARCH l" "ORDER BY USE TEMP"] |tx| posts::list_by(&mut tx, scope, &posts_of(None, None), PostOrder::Date(None));
        "few posts by date" ["l_1" "SEARCH l" "ORDER BY" "Sort"] |tx| posts::list_by(&mut tx, scope, &posts_of(Some(PostStatus::Failed), None), PostOrder::Date(None));
        "issues" ["issues" "ORDER BY" "Sort"] |tx| issues::list(&mut tx, scope, issues);
        "occurrences" [] |tx| occurrences::list(&mut tx, scope, id(), None, None, 25);
        "occurrences of a page" ["issues" "SEARCH i "] |tx| occurrences::list_of_page(&mut tx, scope, id());
        "ignored occurrences" [] |tx| occurrences::unsnooze(&mut tx, later(1));
    }
}

/// Steps that read all rows of a table or of a project, or that sort.
fn faults(plan: &str, allowed: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut before = "";
    for line in plan.lines() {
        let step = line.trim_start().trim_start_matches("->").trim_start();
        let scans = (step.starts_with("SCAN ") && step != "SCAN CONSTANT ROW" && !step.contains("json_each"))
            || step.starts_with("Seq Scan")
            || step.ends_with("(project_id=?)")
            || (step.starts_with("Index Cond: (project_id = ") && !step.contains(" AND "));
        let sorts =
            step.contains("TEMP B-TREE") || step.starts_with("Sort ") || step.starts_with("Incremental Sort");
        // PostgreSQL names the index in the line before its condition, and the columns in the line after a sort.
        let fault = format!("{before} {step}");
        if (scans || sorts) && !allowed.iter().any(|allowed| fault.contains(allowed)) {
            found.push(fault);
        }
        before = step;
    }
    found
}

async fn check(store: &Store, hot: &[Hot], statistics: &str) -> Vec<String> {
    let postgres = store.db.name() == "postgres";
    let mut tx = store.read().await;
    let mut found = Vec::new();
    for Hot { name, text, allowed } in hot {
        let plan = explain(&mut tx, text, postgres).await.unwrap();
        let faults = faults(&plan, allowed);
        if !faults.is_empty() {
            found.push(format!("{name}, {statistics}: {faults:#?}\n{text}\n{plan}\n"));
        }
    }
    found
}

async fn hot_statements_read_by_their_indexes(place: &Place) {
    let store = place.store().await;
    let scope = store.project().await;
    let recorder = Recorder::default();
    let hot = {
        let _listens = tracing::subscriber::set_default(recorder.clone());
        record(&store, scope, &recorder).await
    };
    assert!(hot.len() > 40, "{} statements are recorded", hot.len());
    let mut found = Vec::new();
    // PostgreSQL reads small tables as a whole, and makes statistics by itself.
    if store.db.name() == "sqlite" {
        found.extend(check(&store, &hot, "without statistics").await);
    }
    fill(&store, scope).await;
    let store = Store {
        db: place.open().await,
    };
    found.extend(check(&store, &hot, "with statistics").await);
    assert!(found.is_empty(), "{}", found.join("\n"));
}
