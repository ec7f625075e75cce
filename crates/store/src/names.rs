//! Names in answers that no tracked brand covers: counts per prompt, and their sums per project with what was decided.

use searchwright_contract::{Instant, ids::PromptId, names::NameStatus};

use crate::{Cells, Param, Result, Tx, access::ProjectScope, sql};

/// A name in the answers to a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptName {
    /// Normal form.
    pub key: String,
    /// Answers that hold it.
    pub answers: u64,
    /// Spellings, engines, times and quotes, in the form of their owner.
    pub found: String,
}

/// Change of the sums of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameDelta {
    /// Normal form.
    pub key: String,
    /// A spelling, for a name that is new.
    pub name: String,
    /// Change of the number of answers.
    pub answers: i64,
    /// Change of the number of prompts.
    pub prompts: i64,
}

/// A name with its sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxName {
    /// Normal form.
    pub key: String,
    /// A spelling.
    pub name: String,
    /// Status.
    pub status: NameStatus,
    /// Answers that hold it.
    pub answers: u64,
    /// Prompts to which those are answers.
    pub prompts: u64,
}

/// Place in the list of names.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NamePlace {
    /// Answers of the last name.
    pub answers: u64,
    /// Normal form of the last name.
    pub key: String,
}

/// Details of a name in the answers to a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundName {
    /// Prompt.
    pub prompt: PromptId,
    /// Spellings, engines, times and quotes, in the form of their owner.
    pub found: String,
}

fn rows(keys: &[String]) -> Vec<Vec<Param>> {
    keys.iter().map(|key| vec![key.into()]).collect()
}

fn read_name(c: &mut Cells<'_>) -> Result<InboxName> {
    Ok(InboxName {
        key: c.take()?,
        name: c.take()?,
        status: c.parse()?,
        answers: c.take()?,
        prompts: c.take()?,
    })
}

/// Returns the content of names of a prompt, in the order of the keys.
pub async fn find_of_prompt(
    tx: &mut Tx,
    scope: ProjectScope,
    prompt: PromptId,
    keys: &[String],
) -> Result<Vec<Option<String>>> {
    sql("SELECT found FROM prompt_names WHERE project_id = $1 AND prompt_id = $2 AND name_key = $3")
        .bind(scope.project())
        .bind(prompt)
        .fetch_optional_each(tx, rows(keys), |c| c.take())
        .await
}

/// Returns the keys of the names of a prompt with their numbers of answers.
pub async fn list_counts(tx: &mut Tx, scope: ProjectScope, prompt: PromptId) -> Result<Vec<(String, u64)>> {
    sql("SELECT name_key, answers FROM prompt_names WHERE project_id = $1 AND prompt_id = $2 ORDER BY name_key")
        .bind(scope.project())
        .bind(prompt)
        .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
        .await
}

/// Writes names of a prompt.
pub async fn save(tx: &mut Tx, scope: ProjectScope, prompt: PromptId, names: Vec<PromptName>) -> Result<()> {
    let rows = names
        .into_iter()
        .map(|name| vec![name.key.into(), name.answers.into(), name.found.into()]);
    sql(
        "INSERT INTO prompt_names (project_id, prompt_id, name_key, answers, found) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (project_id, name_key, prompt_id) DO UPDATE SET answers = excluded.answers, found = excluded.found",
    )
    .bind(scope.project())
    .bind(prompt)
    .execute_each(tx, rows.collect())
    .await
    .map(drop)
}

/// Deletes all names of a prompt.
pub async fn delete_of_prompt(tx: &mut Tx, scope: ProjectScope, prompt: PromptId) -> Result<()> {
    sql("DELETE FROM prompt_names WHERE project_id = $1 AND prompt_id = $2")
        .bind(scope.project())
        .bind(prompt)
        .execute(tx)
        .await
        .map(drop)
}

/// Adds changes to the sums. An open name that no answer holds any longer is gone.
pub async fn add(tx: &mut Tx, scope: ProjectScope, deltas: Vec<NameDelta>) -> Result<()> {
    let rows = deltas.into_iter().map(|delta| {
        vec![
            delta.key.into(),
            delta.name.into(),
            delta.answers.into(),
            delta.prompts.into(),
        ]
    });
    sql(
        "INSERT INTO inbox_names (project_id, status, name_key, name, answers, prompts) VALUES ($1, 'open', $2, $3, $4, $5)
         ON CONFLICT (project_id, name_key) DO UPDATE SET answers = inbox_names.answers + excluded.answers,
           prompts = inbox_names.prompts + excluded.prompts",
    )
    .bind(scope.project())
    .execute_each(tx, rows.collect())
    .await?;
    sql("DELETE FROM inbox_names WHERE project_id = $1 AND status = 'open' AND answers <= 0")
        .bind(scope.project())
        .execute(tx)
        .await
        .map(drop)
}

/// Counts the names with a status.
pub async fn count(tx: &mut Tx, scope: ProjectScope, status: NameStatus) -> Result<u64> {
    sql("SELECT count(*) FROM inbox_names WHERE project_id = $1 AND status = $2")
        .bind(scope.project())
        .bind(status.as_str())
        .fetch_one(tx, |c| c.take())
        .await
}

/// Returns the keys of the rarest open names, behind the `most` that are kept.
pub async fn list_rarest(tx: &mut Tx, scope: ProjectScope, most: u64) -> Result<Vec<String>> {
    sql(
        "SELECT name_key FROM inbox_names WHERE project_id = $1 AND status = 'open'
         ORDER BY answers DESC, name_key LIMIT 1000000 OFFSET $2",
    )
    .bind(scope.project())
    .bind(most)
    .fetch_all(tx, |c| c.take())
    .await
}

/// Deletes names with their counts.
pub async fn delete(tx: &mut Tx, scope: ProjectScope, keys: &[String]) -> Result<()> {
    sql("DELETE FROM prompt_names WHERE project_id = $1 AND name_key = $2")
        .bind(scope.project())
        .execute_each(tx, rows(keys))
        .await?;
    sql("DELETE FROM inbox_names WHERE project_id = $1 AND name_key = $2")
        .bind(scope.project())
        .execute_each(tx, rows(keys))
        .await
        .map(drop)
}

/// Returns names by their keys, in the same order.
pub async fn find(tx: &mut Tx, scope: ProjectScope, keys: &[String]) -> Result<Vec<Option<InboxName>>> {
    sql("SELECT name_key, name, status, answers, prompts FROM inbox_names WHERE project_id = $1 AND name_key = $2")
        .bind(scope.project())
        .fetch_optional_each(tx, rows(keys), read_name)
        .await
}

/// Returns one page of names, most frequent first.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    status: NameStatus,
    after: Option<NamePlace>,
    limit: u32,
) -> Result<Vec<InboxName>> {
    let after = after.unwrap_or(NamePlace {
        answers: i64::MAX as u64,
        key: String::new(),
    });
    sql("SELECT name_key, name, status, answers, prompts FROM inbox_names
         WHERE project_id = $1 AND status = $2 AND answers <= $3 AND (answers < $3 OR name_key > $4)
         ORDER BY answers DESC, name_key LIMIT $5")
    .bind(scope.project())
    .bind(status.as_str())
    .bind(after.answers)
    .bind(after.key)
    .bind(limit)
    .fetch_all(tx, read_name)
    .await
}

/// Returns the details of names by prompt, for each key in the same order.
pub async fn list_found(tx: &mut Tx, scope: ProjectScope, keys: &[String]) -> Result<Vec<Vec<FoundName>>> {
    sql("SELECT prompt_id, found FROM prompt_names WHERE project_id = $1 AND name_key = $2 ORDER BY prompt_id")
        .bind(scope.project())
        .fetch_all_each(tx, rows(keys), |c| {
            Ok(FoundName {
                prompt: c.take()?,
                found: c.take()?,
            })
        })
        .await
}

/// Sets the status of names.
pub async fn set_status(
    tx: &mut Tx,
    scope: ProjectScope,
    keys: &[String],
    status: NameStatus,
    by: &str,
    now: Instant,
) -> Result<()> {
    sql(
        "UPDATE inbox_names SET status = $2, decided_by = $3, decided_at = $4
         WHERE project_id = $1 AND name_key = $5",
    )
    .bind(scope.project())
    .bind(status.as_str())
    .bind(by)
    .bind(now)
    .execute_each(tx, rows(keys))
    .await?;
    sql("DELETE FROM inbox_names WHERE project_id = $1 AND status = 'open' AND answers <= 0")
        .bind(scope.project())
        .execute(tx)
        .await
        .map(drop)
}
