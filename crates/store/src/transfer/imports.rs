//! Projects that are being imported.
//!
//! Until its last row is there, a project is in a workspace without members, where nobody sees it and nothing happens to it. A mark in
//! `meta` says how far its import has come. Every part of an import replaces the mark that it knows, and every part of a removal looks
//! that there is none: so of two processes that work at one project, one stops before it does harm.

use searchwright_contract::{Instant, ids::WorkspaceId};
use uuid::Uuid;

use super::tables;
use crate::{Result, Tx, access::ProjectScope, sql};

/// Name of the workspace of projects that are being imported. Nobody is a member of it.
const UNDER_WAY: &str = "(import under way)";
/// Its id, after all others: the first workspace is that of the operator.
pub(crate) const UNDER_WAY_ID: Uuid = Uuid::max();
/// Beginning of the names of marks.
const MARK: &str = "import:";

/// A project whose import has not ended.
#[derive(Clone, Debug)]
pub struct UnfinishedProject {
    /// Id.
    pub id: Uuid,
    /// Name.
    pub name: String,
    /// Mark of its import; `None` where its removal has begun.
    pub mark: Option<Vec<u8>>,
}

/// Outcome of a part of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalStep {
    /// So many rows were removed, and there may be more.
    Rows(u64),
    /// Nothing is left.
    Done,
    /// An import of the project has begun meanwhile.
    Overtaken,
}

fn mark(project: Uuid) -> String {
    format!("{MARK}{project}")
}

/// Returns the mark of an import.
pub async fn find_mark(tx: &mut Tx, project: Uuid) -> Result<Option<Vec<u8>>> {
    sql("SELECT value FROM meta WHERE name = $1")
        .bind(mark(project))
        .fetch_optional(tx, |c| c.take())
        .await
}

/// Writes how far an import has come in place of the mark `known`; returns whether that was the mark.
pub async fn replace_mark(
    tx: &mut Tx,
    project: Uuid,
    known: Option<Vec<u8>>,
    value: Vec<u8>,
) -> Result<bool> {
    let written = match known {
        Some(known) => {
            sql("UPDATE meta SET value = $2 WHERE name = $1 AND value = $3")
                .bind(mark(project))
                .bind(value)
                .bind(known)
                .execute(tx)
                .await?
        }
        None => {
            sql("INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING")
                .bind(mark(project))
                .bind(value)
                .execute(tx)
                .await?
        }
    };
    Ok(written == 1)
}

/// Returns the projects whose import has not ended, in the order of their ids.
pub async fn list(tx: &mut Tx) -> Result<Vec<UnfinishedProject>> {
    let found: Vec<(Uuid, String)> = sql("SELECT id, name FROM projects WHERE workspace_id = $1 ORDER BY id")
        .bind(UNDER_WAY_ID)
        .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
        .await?;
    let mut unfinished = Vec::with_capacity(found.len());
    for (id, name) in found {
        let mark = find_mark(tx, id).await?;
        unfinished.push(UnfinishedProject { id, name, mark });
    }
    Ok(unfinished)
}

/// Returns whether the import of a project has begun and not ended.
pub async fn is_unfinished(tx: &mut Tx, project: Uuid) -> Result<bool> {
    let found = sql("SELECT 1 FROM projects WHERE id = $1 AND workspace_id = $2")
        .bind(project)
        .bind(UNDER_WAY_ID)
        .fetch_optional(tx, |_| Ok(()))
        .await?;
    Ok(found.is_some())
}

/// Returns the workspace in which a project is as long as it is being imported.
pub async fn find_or_create_workspace(tx: &mut Tx, now: Instant) -> Result<Uuid> {
    sql("INSERT INTO workspaces (id, name, created_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING")
        .bind(UNDER_WAY_ID)
        .bind(UNDER_WAY)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(UNDER_WAY_ID)
}

/// Ends an import whose mark is `known`: gives the project to its workspace. Returns whether that was the mark.
pub async fn end(tx: &mut Tx, project: Uuid, known: Vec<u8>, workspace: WorkspaceId) -> Result<bool> {
    let ended = sql("DELETE FROM meta WHERE name = $1 AND value = $2")
        .bind(mark(project))
        .bind(known)
        .execute(tx)
        .await?;
    if ended == 0 {
        return Ok(false);
    }
    sql("UPDATE projects SET workspace_id = $2 WHERE id = $1")
        .bind(project)
        .bind(workspace)
        .execute(tx)
        .await?;
    delete_empty_workspace(tx).await?;
    Ok(true)
}

/// Deletes the mark of an import, which ends at its next part if a process still works at it.
pub async fn delete_mark(tx: &mut Tx, project: Uuid) -> Result<()> {
    sql("DELETE FROM meta WHERE name = $1")
        .bind(mark(project))
        .execute(tx)
        .await?;
    Ok(())
}

/// Removes a part of a project whose import has not ended and which has no mark.
pub async fn remove_part(tx: &mut Tx, project: Uuid) -> Result<RemovalStep> {
    // The row is locked, so that nobody ends the removal and begins the import anew before this part is over.
    let locked = sql("UPDATE projects SET updated_at = updated_at WHERE id = $1 AND workspace_id = $2")
        .bind(project)
        .bind(UNDER_WAY_ID)
        .execute(tx)
        .await?;
    if locked == 0 {
        return Ok(RemovalStep::Done);
    }
    if find_mark(tx, project).await?.is_some() {
        return Ok(RemovalStep::Overtaken);
    }
    let scope = ProjectScope::from_row(project);
    // Each table before those that it refers to.
    for text in tables().iter().rev().filter_map(|table| table.delete) {
        let deleted = sql(text).bind(scope.project()).execute(tx).await?;
        if deleted > 0 {
            return Ok(RemovalStep::Rows(deleted));
        }
    }
    Ok(RemovalStep::Done)
}

/// Deletes the workspace of projects that are being imported, if there is none.
pub async fn delete_empty_workspace(tx: &mut Tx) -> Result<()> {
    sql("DELETE FROM workspaces WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM projects WHERE workspace_id = $1)")
        .bind(UNDER_WAY_ID)
        .execute(tx)
        .await?;
    Ok(())
}
