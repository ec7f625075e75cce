//! Posts, and their earlier texts.

mod minhash;
mod sources;

use searchwright_contract::{
    Instant,
    actions::AllowedActions,
    ids::{JobId, KeywordId, PostId},
    posts::{Post, PostOrigin, PostStatus, PostSummary, Revision},
};

pub use minhash::{MINHASH_LEN, SimilarPost, find_similar, save_minhash};
pub use sorted::{PostOrder, list_by};
pub use sources::{find_sources, save_sources};

use crate::{Cells, Error, Json, Result, Tx, access::ProjectScope, jobs::LeasedJob, sql, statement::indexed};

/// Maximum number of earlier texts per post.
pub const MAX_REVISIONS: i64 = 50;

/// Filters and cursor of a list.
#[derive(Clone, Debug, Default)]
pub struct PostQuery {
    /// Only this status.
    pub status: Option<PostStatus>,
    /// Only this keyword.
    pub keyword: Option<KeywordId>,
    /// Only titles whose key contains this.
    pub contains: Option<String>,
    /// Last row of the previous page.
    pub before: Option<PostId>,
    /// Maximum number of rows.
    pub limit: u32,
}

/// A post with the columns that callers do not see.
#[derive(Clone, Debug, PartialEq)]
pub struct PostRecord {
    /// Post as it is shown.
    pub post: Post,
    /// Title, normalised for search.
    pub title_key: String,
    /// Digest of the published fields as they are now.
    pub content_hash: Vec<u8>,
    /// Digest of the published fields as they were last published.
    pub published_hash: Option<Vec<u8>>,
    /// Job that works on it, or did last.
    pub job: Option<JobId>,
    /// Digest of the published fields of the post that this one replaces, when this one was begun.
    pub replaces_hash: Option<Vec<u8>>,
}

// PostgreSQL would look for EXISTS in a hash of all publications.
macro_rules! summary {
    () => {
        "p.id, p.title, p.slug, p.status, k.id, k.keyword, p.language, p.origin, p.replaces_id, p.word_count, p.reading_time_minutes, p.seo_score,
         p.published_hash IS NOT NULL AND p.published_hash <> p.content_hash, p.scheduled_at, p.published_at, p.published_url,
         coalesce((SELECT TRUE FROM publications l WHERE l.project_id = p.project_id AND l.post_id = p.id AND l.is_live LIMIT 1), FALSE),
         (SELECT l.state FROM publications l WHERE l.project_id = p.project_id AND l.post_id = p.id ORDER BY l.updated_at DESC LIMIT 1),
         p.failure, p.archived_at, p.version, p.created_at, p.updated_at"
    };
}
macro_rules! from {
    ($index:literal) => {
        concat!(
            " FROM posts p",
            $index,
            " LEFT JOIN keywords k ON k.project_id = p.project_id AND k.id = p.keyword_id WHERE p.project_id = $1 "
        )
    };
}

mod sorted;

fn read_summary(c: &mut Cells<'_>) -> Result<PostSummary> {
    Ok(PostSummary {
        id: c.take()?,
        title: c.take()?,
        slug: c.take()?,
        status: c.parse()?,
        keyword_id: c.take()?,
        keyword: c.take()?,
        language: c.take()?,
        origin: c.parse()?,
        replaces_post_id: c.take()?,
        word_count: c.take()?,
        reading_time_minutes: c.take()?,
        seo_score: c.take()?,
        has_unpublished_changes: c.take()?,
        scheduled_at: c.take()?,
        published_at: c.take()?,
        published_url: c.take()?,
        is_live: c.take()?,
        publication_state: c.parse_optional()?,
        failure: c.take_json_optional()?,
        archived_at: c.take()?,
        version: c.take()?,
        created_at: c.take()?,
        updated_at: c.take()?,
        allowed_actions: AllowedActions::default(),
    })
}

fn read_record(c: &mut Cells<'_>) -> Result<PostRecord> {
    Ok(PostRecord {
        post: Post {
            summary: read_summary(c)?,
            content: c.take()?,
            content_html: c.take()?,
            details: c.take_json()?,
            findings: c.take_json()?,
            generation: c.take_json_optional()?,
            publications: Vec::new(),
        },
        title_key: c.take()?,
        content_hash: c.take()?,
        published_hash: c.take()?,
        job: c.take()?,
        replaces_hash: c.take()?,
    })
}

macro_rules! list {
    ($index:literal, $status:literal, $keyword:literal, $contains:literal) => {
        concat!(
            "SELECT ",
            summary!(),
            from!($index),
            "AND p.id < $2 AND ",
            $status,
            " AND ",
            $keyword,
            " AND ",
            $contains,
            " ORDER BY p.id DESC LIMIT $3"
        )
    };
    ($index:literal, $status:literal, $keyword:literal, $query:expr) => {
        if $query.contains.is_some() {
            list!(
                $index,
                $status,
                $keyword,
                "replace(p.title_key, $6, '') <> p.title_key"
            )
        } else {
            list!($index, $status, $keyword, "CAST($6 AS TEXT) IS NULL")
        }
    };
}

/// Returns one page of posts, newest first, without texts. With a filter it reads from the index of that: few posts may pass.
pub async fn list(tx: &mut Tx, scope: ProjectScope, query: PostQuery) -> Result<Vec<PostSummary>> {
    // A text for each filter: PostgreSQL takes one that may be left out for one that few posts pass, and would sort. SQLite is
    // told which index: by its statistics it could take a value that few posts have for one that many have.
    let text = match (query.keyword, query.status, tx.is_postgres()) {
        (Some(_), None, true) => list!("", "CAST($4 AS TEXT) IS NULL", "p.keyword_id = $5", query),
        (Some(_), None, false) => list!(
            " INDEXED BY posts_by_keyword",
            "CAST($4 AS TEXT) IS NULL",
            "p.keyword_id = $5",
            query
        ),
        (Some(_), Some(_), true) => list!("", "p.status = $4", "p.keyword_id = $5", query),
        (Some(_), Some(_), false) => list!(
            " INDEXED BY posts_by_keyword",
            "p.status = $4",
            "p.keyword_id = $5",
            query
        ),
        (None, Some(_), true) => list!("", "p.status = $4", "CAST($5 AS UUID) IS NULL", query),
        (None, Some(_), false) => list!(
            " INDEXED BY posts_by_status",
            "p.status = $4",
            "CAST($5 AS UUID) IS NULL",
            query
        ),
        (None, None, _) => list!("", "CAST($4 AS TEXT) IS NULL", "CAST($5 AS UUID) IS NULL", query),
    };
    sql(text)
        .bind(scope.project())
        .bind(query.before.unwrap_or(PostId::MAX))
        .bind(query.limit)
        .bind(query.status.map(PostStatus::as_str))
        .bind(query.keyword)
        .bind(query.contains)
        .fetch_all(tx, read_summary)
        .await
}

/// Returns a post; [`Error::Missing`] if the project has none of this id.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: PostId) -> Result<PostRecord> {
    sql(concat!(
        "SELECT ",
        summary!(),
        ", p.content, p.content_html, p.details, p.findings, p.generation, p.title_key, p.content_hash, p.published_hash, p.job_id, p.replaces_hash",
        from!(""),
        "AND p.id = $2"
    ))
    .bind(scope.project())
    .bind(id)
    .fetch_one(tx, read_record)
    .await
}

/// Creates a post of version 1.
pub async fn create(tx: &mut Tx, scope: ProjectScope, new: &PostRecord, now: Instant) -> Result<PostRecord> {
    let (post, summary) = (&new.post, &new.post.summary);
    let id = summary.id;
    sql("INSERT INTO posts (project_id, id, title, title_key, slug, status, keyword_id, language, origin, content, content_html, details, findings,
            word_count, reading_time_minutes, seo_score, content_hash, replaces_id, replaces_hash, version, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, 1, $20, $20)")
    .bind(scope.project())
    .bind(id)
    .bind(summary.title.as_ref())
    .bind(&new.title_key)
    .bind(&summary.slug)
    .bind(summary.status.as_str())
    .bind(summary.keyword_id)
    .bind(&summary.language)
    .bind(PostOrigin::as_str(summary.origin))
    .bind(&post.content)
    .bind(&post.content_html)
    .bind(Json::encode(&post.details)?)
    .bind(Json::encode(&post.findings)?)
    .bind(summary.word_count)
    .bind(summary.reading_time_minutes)
    .bind(summary.seo_score)
    .bind(new.content_hash.as_slice())
    .bind(summary.replaces_post_id)
    .bind(new.replaces_hash.as_deref())
    .bind(now)
    .execute(tx)
    .await?;
    get(tx, scope, id).await
}

/// Updates a post and increments its version; [`Error::Missing`] if the stored version is not that of `changed`.
pub async fn update(
    tx: &mut Tx,
    scope: ProjectScope,
    changed: &PostRecord,
    now: Instant,
) -> Result<PostRecord> {
    let (post, summary) = (&changed.post, &changed.post.summary);
    let id = summary.id;
    let touched = sql("UPDATE posts SET version = version + 1, title = $4, title_key = $5, slug = $6, status = $7, keyword_id = $8, language = $9,
            content = $10, content_html = $11, details = $12, findings = $13, word_count = $14, reading_time_minutes = $15, seo_score = $16,
            content_hash = $17, generation = $18, failure = $19, job_id = $20, scheduled_at = $21, published_at = $22, published_url = $23,
            archived_at = $24, published_hash = $25, updated_at = $26, dated_at = $27
         WHERE project_id = $1 AND id = $2 AND version = $3")
    .bind(scope.project())
    .bind(id)
    .bind(summary.version)
    .bind(summary.title.as_ref())
    .bind(&changed.title_key)
    .bind(&summary.slug)
    .bind(summary.status.as_str())
    .bind(summary.keyword_id)
    .bind(&summary.language)
    .bind(&post.content)
    .bind(&post.content_html)
    .bind(Json::encode(&post.details)?)
    .bind(Json::encode(&post.findings)?)
    .bind(summary.word_count)
    .bind(summary.reading_time_minutes)
    .bind(summary.seo_score)
    .bind(changed.content_hash.as_slice())
    .bind(post.generation.as_ref().map(Json::encode).transpose()?)
    .bind(summary.failure.as_ref().map(Json::encode).transpose()?)
    .bind(changed.job)
    .bind(summary.scheduled_at)
    .bind(summary.published_at)
    .bind(summary.published_url.as_ref())
    .bind(summary.archived_at)
    .bind(changed.published_hash.as_deref())
    .bind(now)
    .bind(summary.published_at.or(summary.scheduled_at))
    .execute(tx)
    .await?;
    if touched == 0 {
        return Err(Error::Missing);
    }
    get(tx, scope, id).await
}

/// Returns the post with this slug.
pub async fn find_by_slug(tx: &mut Tx, scope: ProjectScope, slug: &str) -> Result<Option<PostId>> {
    sql("SELECT id FROM posts WHERE project_id = $1 AND slug = $2")
        .bind(scope.project())
        .bind(slug)
        .fetch_optional(tx, |c| c.take())
        .await
}

/// Returns the slugs that begin with a text, which has only characters of slugs.
pub async fn list_slugs(tx: &mut Tx, scope: ProjectScope, start: &str) -> Result<Vec<String>> {
    sql("SELECT slug FROM posts WHERE project_id = $1 AND slug >= $2 AND slug < $3")
        .bind(scope.project())
        .bind(start)
        .bind(format!("{start}~"))
        .fetch_all(tx, |c| c.take())
        .await
}

/// Counts the other posts that target a keyword, without archived ones.
pub async fn count_others_with_keyword(
    tx: &mut Tx,
    scope: ProjectScope,
    keyword: KeywordId,
    except: PostId,
) -> Result<u32> {
    sql(indexed!(
        tx,
        "SELECT count(*) FROM posts",
        "posts_by_keyword",
        "WHERE project_id = $1 AND keyword_id = $2 AND id <> $3 AND status <> 'archived' AND (replaces_id IS NULL OR replaces_id <> $3)"
    ))
        .bind(scope.project())
        .bind(keyword)
        .bind(except)
        .fetch_one(tx, |c| c.take())
        .await
}

/// Returns the first other post that targets a keyword and is neither failed nor archived.
pub async fn find_other_with_keyword(
    tx: &mut Tx,
    scope: ProjectScope,
    keyword: KeywordId,
    except: PostId,
) -> Result<Option<PostId>> {
    sql(indexed!(
        tx,
        "SELECT id FROM posts",
        "posts_by_keyword",
        "WHERE project_id = $1 AND keyword_id = $2 AND id <> $3 AND status NOT IN ('archived', 'failed') ORDER BY id LIMIT 1"
    ))
        .bind(scope.project())
        .bind(keyword)
        .bind(except)
        .fetch_optional(tx, |c| c.take())
        .await
}

/// A post that is live at its URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivePost {
    /// Its id.
    pub id: PostId,
    /// Its public URL.
    pub url: String,
    /// Time of its first publication.
    pub published_at: Instant,
}

/// Returns the posts that are live as they are, oldest publication first, except those for which a new text was begun since a
/// time.
pub async fn list_live(
    tx: &mut Tx,
    scope: ProjectScope,
    untouched_since: Instant,
    limit: u32,
) -> Result<Vec<LivePost>> {
    sql(
        "SELECT p.id, p.published_url, p.published_at FROM posts p
         WHERE p.project_id = $1 AND p.status = 'published' AND p.published_hash = p.content_hash
           AND p.published_url IS NOT NULL AND p.published_at IS NOT NULL
           AND EXISTS (SELECT 1 FROM publications l WHERE l.project_id = p.project_id AND l.post_id = p.id AND l.is_live)
           AND NOT EXISTS (SELECT 1 FROM posts r WHERE r.project_id = p.project_id AND r.replaces_id = p.id AND r.created_at > $2)
         ORDER BY p.published_at, p.id LIMIT $3",
    )
    .bind(scope.project())
    .bind(untouched_since)
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(LivePost {
            id: c.take()?,
            url: c.take()?,
            published_at: c.take()?,
        })
    })
    .await
}

/// Saves a text that is about to be replaced, and deletes the oldest beyond [`MAX_REVISIONS`].
pub async fn insert_revision(tx: &mut Tx, scope: ProjectScope, old: &Post, now: Instant) -> Result<()> {
    let post = old.summary.id;
    let number: i64 = sql(
        "INSERT INTO post_revisions (project_id, post_id, number, title, content, word_count, version, replaced_at)
         SELECT $1, $2, coalesce(max(number), 0) + 1, CAST($3 AS TEXT), $4, $5, $6, $7 FROM post_revisions WHERE project_id = $1 AND post_id = $2
         RETURNING number",
    )
    .bind(scope.project())
    .bind(post)
    .bind(old.summary.title.as_ref())
    .bind(&old.content)
    .bind(old.summary.word_count)
    .bind(old.summary.version)
    .bind(now)
    .fetch_one(tx, |c| c.take())
    .await?;
    sql("DELETE FROM post_revisions WHERE project_id = $1 AND post_id = $2 AND number <= $3")
        .bind(scope.project())
        .bind(post)
        .bind(number - MAX_REVISIONS)
        .execute(tx)
        .await?;
    Ok(())
}

fn read_revision(c: &mut Cells<'_>) -> Result<Revision> {
    Ok(Revision {
        number: c.take()?,
        title: c.take()?,
        content: c.take()?,
        word_count: c.take()?,
        version: c.take()?,
        replaced_at: c.take()?,
    })
}

/// Returns at most `limit` earlier texts of a post with numbers below `before`, newest first.
pub async fn list_revisions(
    tx: &mut Tx,
    scope: ProjectScope,
    post: PostId,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<Revision>> {
    sql(
        "SELECT number, title, content, word_count, version, replaced_at FROM post_revisions
         WHERE project_id = $1 AND post_id = $2 AND number < $3 ORDER BY number DESC LIMIT $4",
    )
    .bind(scope.project())
    .bind(post)
    .bind(before.unwrap_or(i64::MAX))
    .bind(limit)
    .fetch_all(tx, read_revision)
    .await
}

/// Returns an earlier text; [`Error::Missing`] if there is none of this number.
pub async fn get_revision(tx: &mut Tx, scope: ProjectScope, post: PostId, number: i64) -> Result<Revision> {
    sql(
        "SELECT number, title, content, word_count, version, replaced_at FROM post_revisions
         WHERE project_id = $1 AND post_id = $2 AND number = $3",
    )
    .bind(scope.project())
    .bind(post)
    .bind(number)
    .fetch_one(tx, read_revision)
    .await
}

/// Returns the output of a step of a job for this input, if the step has run.
pub async fn find_step(
    tx: &mut Tx,
    job: &LeasedJob,
    step: &str,
    input: &[u8; 32],
) -> Result<Option<serde_json::Value>> {
    sql("SELECT output FROM post_steps WHERE project_id = $1 AND job_id = $2 AND step = $3 AND input_hash = $4")
        .bind(job.scope.project())
        .bind(job.id)
        .bind(step)
        .bind(input)
        .fetch_optional(tx, |c| Ok(c.take::<Json>()?.0))
        .await
}

/// Saves the output of a step of a job.
pub async fn save_step(
    tx: &mut Tx,
    job: &LeasedJob,
    step: &str,
    input: &[u8; 32],
    output: &serde_json::Value,
    now: Instant,
) -> Result<()> {
    sql(
        "INSERT INTO post_steps (project_id, job_id, step, input_hash, output, finished_at) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (project_id, job_id, step) DO UPDATE SET input_hash = $4, output = $5, finished_at = $6",
    )
    .bind(job.scope.project())
    .bind(job.id)
    .bind(step)
    .bind(input)
    .bind(output)
    .bind(now)
    .execute(tx)
    .await?;
    Ok(())
}

/// Returns the queued post of a job, if there is one.
pub async fn find_queued_for_job(tx: &mut Tx, scope: ProjectScope, job: JobId) -> Result<Option<PostId>> {
    // Without being told, SQLite reads all posts of the project: it expects few.
    sql(indexed!(
        tx,
        "SELECT id FROM posts",
        "posts_by_status",
        "WHERE project_id = $1 AND status = 'queued' AND job_id = $2"
    ))
    .bind(scope.project())
    .bind(job)
    .fetch_optional(tx, |c| c.take())
    .await
}

/// Returns at most `limit` URLs of published posts.
pub async fn list_published_urls(tx: &mut Tx, scope: ProjectScope, limit: u32) -> Result<Vec<String>> {
    sql("SELECT published_url FROM posts WHERE project_id = $1 AND published_url IS NOT NULL AND archived_at IS NULL ORDER BY id LIMIT $2")
        .bind(scope.project())
        .bind(limit)
        .fetch_all(tx, |c| c.take())
        .await
}
