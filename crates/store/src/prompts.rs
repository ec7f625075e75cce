//! Prompts that are tracked.

use searchwright_contract::{
    Instant,
    actions::AllowedActions,
    answers::Engine,
    ids::PromptId,
    keywords::Intent,
    prompts::{LatestAnswers, Prompt, PromptClass, PromptStatus},
};

use crate::{Cells, Error, Json, Result, Tx, access::ProjectScope, sql};

macro_rules! columns {
    ($before:literal $after:literal) => {
        concat!(
            $before,
            " id, text, class, status, language, country, city, persona, tags, intent, engines, latest, version, created_at, updated_at ",
            $after
        )
    };
}

/// A prompt to be created.
#[derive(Clone, Debug)]
pub struct NewPrompt {
    /// Identifier, UUIDv7 of now.
    pub id: PromptId,
    /// Text.
    pub text: String,
    /// Key that is unique among the active prompts.
    pub text_key: String,
    /// Language.
    pub language: String,
    /// Country; empty for none.
    pub country: String,
    /// City.
    pub city: Option<String>,
    /// Kind of person who asks.
    pub persona: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Class.
    pub class: PromptClass,
    /// Intent.
    pub intent: Option<Intent>,
    /// Engines to ask.
    pub engines: Vec<Engine>,
}

/// Filters and cursor of a list.
#[derive(Clone, Debug)]
pub struct PromptQuery {
    /// Status.
    pub status: PromptStatus,
    /// Only this class.
    pub class: Option<PromptClass>,
    /// Only with this tag.
    pub tag: Option<String>,
    /// Last prompt of the previous page.
    pub before: Option<PromptId>,
    /// Maximum number of rows.
    pub limit: u32,
}

/// A prompt, as far as figures depend on it.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptOutline {
    /// Identifier.
    pub id: PromptId,
    /// Text.
    pub text: String,
    /// Class.
    pub class: PromptClass,
    /// Status.
    pub status: PromptStatus,
    /// Language.
    pub language: String,
    /// Country; empty for none.
    pub country: String,
    /// Tags.
    pub tags: Vec<String>,
    /// Time at which it was added.
    pub created_at: Instant,
    /// Time at which it was archived.
    pub archived_at: Option<Instant>,
}

fn read_prompt(c: &mut Cells<'_>) -> Result<Prompt> {
    Ok(Prompt {
        id: c.take()?,
        text: c.take()?,
        class: c.parse()?,
        status: c.parse()?,
        language: c.take()?,
        country: Some(c.take::<String>()?).filter(|country| !country.is_empty()),
        city: c.take()?,
        persona: c.take()?,
        tags: c.take_json()?,
        intent: c.parse_optional()?,
        engines: c.take_json()?,
        latest: c.take_json_optional()?,
        window: None,
        version: c.take()?,
        created_at: c.take()?,
        updated_at: c.take()?,
        allowed_actions: AllowedActions::default(),
    })
}

/// Creates a prompt; `Err` with the id of the active one with the same key.
pub async fn create(
    tx: &mut Tx,
    scope: ProjectScope,
    new: NewPrompt,
    now: Instant,
) -> Result<Result<Prompt, PromptId>> {
    let key = new.text_key.clone();
    let created = sql(columns!("INSERT INTO prompts (project_id, id, text, text_key, language, country, city, persona, tags, class, intent, engines,
           status, version, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'active', 1, $13, $13)
         ON CONFLICT (project_id, text_key) WHERE status = 'active' DO NOTHING RETURNING" ""))
    .bind(scope.project())
    .bind(new.id)
    .bind(new.text)
    .bind(new.text_key)
    .bind(new.language)
    .bind(new.country)
    .bind(new.city)
    .bind(new.persona)
    .bind(Json::encode(&new.tags)?)
    .bind(new.class.as_str())
    .bind(new.intent.map(Intent::as_str))
    .bind(Json::encode(&new.engines)?)
    .bind(now)
    .fetch_optional(tx, read_prompt)
    .await?;
    match created {
        Some(prompt) => Ok(Ok(prompt)),
        None => Ok(Err(find_active(tx, scope, &key)
            .await?
            .ok_or_else(|| Error::Duplicate("prompts_by_text".to_owned()))?)),
    }
}

/// Returns the active prompt with a key.
pub async fn find_active(tx: &mut Tx, scope: ProjectScope, key: &str) -> Result<Option<PromptId>> {
    sql("SELECT id FROM prompts WHERE project_id = $1 AND text_key = $2 AND status = 'active'")
        .bind(scope.project())
        .bind(key)
        .fetch_optional(tx, |c| c.take())
        .await
}

/// Returns a prompt; [`Error::Missing`] if the project has none of this id.
pub async fn get(tx: &mut Tx, scope: ProjectScope, id: PromptId) -> Result<Prompt> {
    sql(columns!("SELECT" "FROM prompts WHERE project_id = $1 AND id = $2"))
        .bind(scope.project())
        .bind(id)
        .fetch_one(tx, read_prompt)
        .await
}

/// Returns one page of prompts, newest first.
pub async fn list(tx: &mut Tx, scope: ProjectScope, query: PromptQuery) -> Result<Vec<Prompt>> {
    let tag = query.tag.map(|tag| tag_pattern(&tag)).transpose()?;
    sql(columns!("SELECT" "FROM prompts WHERE project_id = $1 AND status = $2 AND id < $3
           AND (CAST($4 AS TEXT) IS NULL OR class = $4)
           AND (CAST($5 AS TEXT) IS NULL OR CAST(tags AS TEXT) LIKE $5 ESCAPE '!') ORDER BY id DESC LIMIT $6"))
    .bind(scope.project())
    .bind(query.status.as_str())
    .bind(query.before.unwrap_or(PromptId::MAX))
    .bind(query.class.map(PromptClass::as_str))
    .bind(tag)
    .bind(query.limit)
    .fetch_all(tx, read_prompt)
    .await
}

/// Returns one page of prompts by their keys. The last of the page before has this key and this id. There are a few thousand at most,
/// so there is no index.
pub async fn list_by_key(
    tx: &mut Tx,
    scope: ProjectScope,
    query: PromptQuery,
    after: Option<(String, PromptId)>,
) -> Result<Vec<Prompt>> {
    let tag = query.tag.map(|tag| tag_pattern(&tag)).transpose()?;
    let (key, id) = after.unwrap_or((String::new(), PromptId::MIN));
    sql(columns!("SELECT" "FROM prompts WHERE project_id = $1 AND status = $2 AND (text_key, id) > ($3, $4)
           AND (CAST($5 AS TEXT) IS NULL OR class = $5)
           AND (CAST($6 AS TEXT) IS NULL OR CAST(tags AS TEXT) LIKE $6 ESCAPE '!') ORDER BY text_key, id LIMIT $7"))
    .bind(scope.project())
    .bind(query.status.as_str())
    .bind(key)
    .bind(id)
    .bind(query.class.map(PromptClass::as_str))
    .bind(tag)
    .bind(query.limit)
    .fetch_all(tx, read_prompt)
    .await
}

/// Returns a pattern for the JSON of tags that have this one.
fn tag_pattern(tag: &str) -> Result<String> {
    let quoted = serde_json::to_string(tag).map_err(Error::defect)?;
    let mut pattern = String::from("%");
    for c in quoted.chars() {
        if matches!(c, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(c);
    }
    pattern.push('%');
    Ok(pattern)
}

/// Returns all prompts of a project, oldest first.
pub async fn list_outlines(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<PromptOutline>> {
    sql(
        "SELECT id, text, class, status, language, country, tags, created_at, archived_at
         FROM prompts WHERE project_id = $1 ORDER BY id",
    )
    .bind(scope.project())
    .fetch_all(tx, |c| {
        Ok(PromptOutline {
            id: c.take()?,
            text: c.take()?,
            class: c.parse()?,
            status: c.parse()?,
            language: c.take()?,
            country: c.take()?,
            tags: c.take_json()?,
            created_at: c.take()?,
            archived_at: c.take()?,
        })
    })
    .await
}

/// Returns whether a project has a prompt.
pub async fn exist(tx: &mut Tx, scope: ProjectScope) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM prompts WHERE project_id = $1)")
        .bind(scope.project())
        .fetch_one(tx, |c| c.take())
        .await
}

/// Counts the active prompts.
pub async fn count_active(tx: &mut Tx, scope: ProjectScope) -> Result<u64> {
    sql("SELECT count(*) FROM prompts WHERE project_id = $1 AND status = 'active'")
        .bind(scope.project())
        .fetch_one(tx, |c| c.take())
        .await
}

/// Writes the changeable members of a prompt that still has this version; [`Error::Missing`] if it has not,
/// [`Error::Duplicate`] if an active prompt has its text.
pub async fn update(tx: &mut Tx, scope: ProjectScope, prompt: &Prompt, now: Instant) -> Result<Prompt> {
    sql(columns!("UPDATE prompts SET tags = $4, intent = $5, engines = $6, status = $7, version = version + 1, updated_at = $8,
           archived_at = CASE WHEN $7 = 'active' THEN NULL ELSE COALESCE(archived_at, $8) END
         WHERE project_id = $1 AND id = $2 AND version = $3 RETURNING" ""))
    .bind(scope.project())
    .bind(prompt.id)
    .bind(prompt.version)
    .bind(Json::encode(&prompt.tags)?)
    .bind(prompt.intent.map(Intent::as_str))
    .bind(Json::encode(&prompt.engines)?)
    .bind(prompt.status.as_str())
    .bind(now)
    .fetch_one(tx, read_prompt)
    .await
}

/// Writes the newest answers of a prompt.
pub async fn set_latest(
    tx: &mut Tx,
    scope: ProjectScope,
    id: PromptId,
    latest: Option<&LatestAnswers>,
) -> Result<()> {
    let latest = latest.map(Json::encode).transpose()?;
    sql("UPDATE prompts SET latest = $3 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .bind(latest)
        .execute(tx)
        .await
        .map(drop)
}

/// Returns the active prompt with the text, place and persona of another one.
pub async fn find_active_twin(tx: &mut Tx, scope: ProjectScope, id: PromptId) -> Result<Option<PromptId>> {
    sql(
        "SELECT a.id FROM prompts a JOIN prompts b ON b.project_id = a.project_id AND b.text_key = a.text_key
         WHERE a.project_id = $1 AND b.id = $2 AND a.id <> b.id AND a.status = 'active'",
    )
    .bind(scope.project())
    .bind(id)
    .fetch_optional(tx, |c| c.take())
    .await
}

/// Writes the class of a prompt, which depends on the brand data.
pub async fn set_class(tx: &mut Tx, scope: ProjectScope, id: PromptId, class: PromptClass) -> Result<()> {
    sql("UPDATE prompts SET class = $3 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .bind(class.as_str())
        .execute(tx)
        .await
        .map(drop)
}
