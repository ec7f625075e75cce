//! axum over tokio-postgres: a pool, prepared statements, every create a commit of its own (the server
//! groups the flushes of concurrent commits by itself).

use std::net::SocketAddr;

use anyhow::{Context, Result};
use axum::{
    Router,
    body::{Body, Bytes},
    extract,
    http::{Response, StatusCode},
    routing::get,
};
use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use jiff::Timestamp;
use tokio_postgres::{NoTls, Row};
use uuid::Uuid;

use super::{
    answer,
    keyword::{Details, Keyword, NewKeyword, PROJECT, Page, ROWS, Rest, instant, prepared},
};

/// The product's table with its keys and indexes, and below the product's own statements: what they
/// cost belongs to both sides.
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS keywords (
        project_id UUID NOT NULL, id UUID NOT NULL, keyword TEXT NOT NULL, normalized TEXT NOT NULL,
        language TEXT NOT NULL, country TEXT NOT NULL, search_volume BIGINT, keyword_difficulty BIGINT,
        intent TEXT, status TEXT NOT NULL, source TEXT NOT NULL, version BIGINT NOT NULL,
        created_at TIMESTAMPTZ NOT NULL, updated_at TIMESTAMPTZ NOT NULL,
        intent_source TEXT, intent_confidence DOUBLE PRECISION, intent_reason TEXT, score BIGINT, cluster_id UUID,
        is_cluster_head BOOLEAN NOT NULL DEFAULT FALSE, details JSONB, PRIMARY KEY (project_id, id)
    );
    CREATE UNIQUE INDEX IF NOT EXISTS keywords_by_text ON keywords (project_id, language, country, normalized);
    CREATE INDEX IF NOT EXISTS keywords_by_volume
        ON keywords (project_id, (coalesce(search_volume, -1)), id, status, intent);
    CREATE INDEX IF NOT EXISTS keywords_by_difficulty
        ON keywords (project_id, (coalesce(keyword_difficulty, -1)), id, status, intent);
    CREATE INDEX IF NOT EXISTS keywords_by_score
        ON keywords (project_id, (coalesce(score, -1)), id, status, intent);
    CREATE INDEX IF NOT EXISTS keywords_by_status ON keywords (project_id, status, id);
    CREATE INDEX IF NOT EXISTS keywords_by_intent ON keywords (project_id, intent, id);
    CREATE INDEX IF NOT EXISTS keywords_by_cluster ON keywords (project_id, cluster_id, id) WHERE cluster_id IS NOT NULL;";

const LIST: &str = "SELECT id, keyword, search_volume, keyword_difficulty, intent, language, country, status,
        source, version, created_at, updated_at,
        intent_source, intent_confidence, intent_reason, score, cluster_id, is_cluster_head, details
    FROM keywords WHERE project_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3";

const ONE: &str = "SELECT id, keyword, search_volume, keyword_difficulty, intent, language, country, status,
        source, version, created_at, updated_at,
        intent_source, intent_confidence, intent_reason, score, cluster_id, is_cluster_head, details
    FROM keywords WHERE project_id = $1 AND id = $2";

const INSERT: &str = "INSERT INTO keywords (project_id, id, keyword, normalized, language, country,
        search_volume, keyword_difficulty, intent, status, source, version, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

/// Connections; measured on two cores, 16 to 64 differ little and 8 create more slowly.
const CONNECTIONS: usize = 16;

/// Runs the server; fills the table first when it is empty.
pub fn serve(listen: SocketAddr, url: &str) -> Result<()> {
    super::serve(listen, router(url))
}

async fn router(url: &str) -> Result<Router> {
    let manager = Manager::from_config(
        url.parse().context("not a PostgreSQL URL")?,
        NoTls,
        ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        },
    );
    let pool = Pool::builder(manager).max_size(CONNECTIONS).build()?;
    prepare(&pool).await?;
    Ok(Router::new()
        .route("/keywords", get(list).post(create))
        .route("/keywords/{id}", get(one))
        .with_state(pool))
}

async fn prepare(pool: &Pool) -> Result<()> {
    let mut client = pool.get().await?;
    client.batch_execute(SCHEMA).await?;
    let there: i64 = client
        .query_one("SELECT count(*) FROM keywords", &[])
        .await?
        .get(0);
    if there > 0 {
        return Ok(());
    }
    let transaction = client.transaction().await?;
    for index in 0..ROWS {
        insert(&transaction, &prepared(index).into_keyword()).await?;
    }
    transaction.commit().await?;
    // without it the planner would guess until autovacuum comes by, in the middle of a round
    client.batch_execute("VACUUM ANALYZE keywords").await?;
    Ok(())
}

type State = extract::State<Pool>;

async fn list(extract::State(pool): State, uri: axum::http::Uri) -> Response<Body> {
    let limit = uri
        .query()
        .and_then(|query| query.strip_prefix("limit="))
        .and_then(|limit| limit.parse().ok());
    let page = async {
        let limit: i64 = limit.unwrap_or(25);
        let client = pool.get().await?;
        let statement = client.prepare_cached(LIST).await?;
        let rows = client
            .query(&statement, &[&PROJECT, &Uuid::max(), &(limit + 1)])
            .await?;
        let more = rows.len() as i64 > limit;
        let mut data = rows.iter().map(keyword).collect::<Result<Vec<_>>>()?;
        data.truncate(limit as usize);
        Ok(Page {
            next_cursor: data.last().filter(|_| more).map(|last| last.id.to_string()),
            data,
        })
    };
    answer(StatusCode::OK, page.await)
}

async fn one(extract::State(pool): State, extract::Path(id): extract::Path<Uuid>) -> Response<Body> {
    let found = async {
        let client = pool.get().await?;
        let statement = client.prepare_cached(ONE).await?;
        keyword(&client.query_one(&statement, &[&PROJECT, &id]).await?)
    };
    answer(StatusCode::OK, found.await)
}

async fn create(extract::State(pool): State, body: Bytes) -> Response<Body> {
    let created = async {
        let keyword = NewKeyword::parse(&body)?.into_keyword();
        let client = pool.get().await?;
        insert(&client, &keyword).await?;
        Ok(keyword)
    };
    answer(StatusCode::CREATED, created.await)
}

async fn insert(client: &impl deadpool_postgres::GenericClient, keyword: &Keyword) -> Result<()> {
    let (k, normalized) = (keyword, keyword.keyword.to_lowercase());
    let statement = client.prepare_cached(INSERT).await?;
    let (created, updated): (Timestamp, Timestamp) = (k.created_at.parse()?, k.updated_at.parse()?);
    client
        .execute(
            &statement,
            &[
                &k.project_id,
                &k.id,
                &k.keyword,
                &normalized,
                &k.language,
                &k.country,
                &k.search_volume,
                &k.keyword_difficulty,
                &k.intent,
                &k.status,
                &k.source,
                &k.version,
                &created,
                &updated,
            ],
        )
        .await?;
    Ok(())
}

fn keyword(row: &Row) -> Result<Keyword> {
    Ok(Keyword {
        id: row.try_get(0)?,
        project_id: PROJECT,
        keyword: row.try_get(1)?,
        search_volume: row.try_get(2)?,
        keyword_difficulty: row.try_get(3)?,
        intent: row.try_get(4)?,
        language: row.try_get(5)?,
        country: row.try_get(6)?,
        status: row.try_get(7)?,
        source: row.try_get(8)?,
        version: row.try_get(9)?,
        created_at: instant(row.try_get(10)?),
        updated_at: instant(row.try_get(11)?),
        rest: Rest {
            intent_source: row.try_get(12)?,
            intent_confidence: row.try_get(13)?,
            intent_reason: row.try_get(14)?,
            score: row
                .try_get::<_, Option<i64>>(15)?
                .map(|score| score as f64 / 1000.0),
            cluster_id: row.try_get(16)?,
            is_cluster_head: row.try_get(17)?,
            details: match row.try_get::<_, Option<serde_json::Value>>(18)? {
                Some(details) => serde_json::from_value(details)?,
                None => Details::default(),
            },
        },
    })
}
