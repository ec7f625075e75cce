//! Facts of other records that notices and digests tell.

use searchwright_contract::{
    Instant,
    ids::{AuditId, ConnectionId, IssueId, PostId},
    integrations::Provider,
    issues::Severity,
};

use crate::{Result, Tx, access::ProjectScope, sql};

/// Returns the oldest project of the first workspace that has one.
pub async fn find_first_project(tx: &mut Tx) -> Result<Option<ProjectScope>> {
    sql("SELECT id FROM projects ORDER BY workspace_id, id LIMIT 1")
        .fetch_optional(tx, |c| Ok(ProjectScope::from_row(c.take()?)))
        .await
}

/// A connection whose provider no longer accepts the credentials.
#[derive(Clone, Copy, Debug)]
pub struct LostIntegration {
    /// Id.
    pub id: ConnectionId,
    /// Provider.
    pub provider: Provider,
}

/// Returns the lost connection by which a post was last published or was to be, else another lost one of the project.
pub async fn find_lost_of_post(
    tx: &mut Tx,
    scope: ProjectScope,
    post: PostId,
) -> Result<Option<LostIntegration>> {
    sql("SELECT i.id, i.provider FROM integrations i WHERE i.project_id = $1 AND i.status = 'reauthorization_required'
         ORDER BY CASE WHEN i.id = (SELECT a.connection_id FROM publish_attempts a
           WHERE a.project_id = $1 AND a.post_id = $2 ORDER BY a.id DESC LIMIT 1) THEN 0 ELSE 1 END, i.id LIMIT 1")
    .bind(scope.project())
    .bind(post)
    .fetch_optional(tx, |c| {
        Ok(LostIntegration {
            id: c.take()?,
            provider: c.parse()?,
        })
    })
    .await
}

/// Returns the connection by which a post was last sent.
pub async fn find_connection_of_post(
    tx: &mut Tx,
    scope: ProjectScope,
    post: PostId,
) -> Result<Option<ConnectionId>> {
    sql("SELECT connection_id FROM publish_attempts WHERE project_id = $1 AND post_id = $2 ORDER BY id DESC LIMIT 1")
        .bind(scope.project())
        .bind(post)
        .fetch_optional(tx, |c| c.take())
        .await
}

/// Returns a connection if it is lost.
pub async fn find_lost(
    tx: &mut Tx,
    scope: ProjectScope,
    id: ConnectionId,
) -> Result<Option<LostIntegration>> {
    sql("SELECT id, provider FROM integrations WHERE project_id = $1 AND id = $2 AND status = 'reauthorization_required'")
        .bind(scope.project())
        .bind(id)
        .fetch_optional(tx, |c| {
            Ok(LostIntegration {
                id: c.take()?,
                provider: c.parse()?,
            })
        })
        .await
}

/// A post whose last attempt was left to a person, because nobody knows whether the provider has it.
#[derive(Clone, Debug)]
pub struct UncertainPost {
    /// Project.
    pub scope: ProjectScope,
    /// Id.
    pub id: PostId,
    /// Title.
    pub title: Option<String>,
}

/// Returns at most `limit` posts of all projects whose outcome is not known and is looked for no more.
pub async fn list_uncertain(tx: &mut Tx, limit: u32) -> Result<Vec<UncertainPost>> {
    sql("SELECT a.project_id, a.post_id, p.title FROM publish_attempts a
         JOIN posts p ON p.project_id = a.project_id AND p.id = a.post_id
         WHERE a.finished_at IS NULL AND a.state = 'uncertain' AND a.next_check_at IS NULL LIMIT $1")
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(UncertainPost {
            scope: ProjectScope::from_row(c.take()?),
            id: c.take()?,
            title: c.take()?,
        })
    })
    .await
}

/// An issue as a notice tells it.
#[derive(Clone, Debug)]
pub struct IssueOfNotice {
    /// Id of its check.
    pub check: String,
    /// Severity.
    pub severity: Severity,
    /// Occurrences that are active.
    pub active: u64,
}

/// Returns an issue.
pub async fn find_issue(tx: &mut Tx, scope: ProjectScope, id: IssueId) -> Result<Option<IssueOfNotice>> {
    sql("SELECT check_id, severity, active FROM issues WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(id)
        .fetch_optional(tx, |c| {
            Ok(IssueOfNotice {
                check: c.take()?,
                severity: c.parse()?,
                active: c.take()?,
            })
        })
        .await
}

/// Returns the health score of the newest audit with results before another.
pub async fn find_health_before(tx: &mut Tx, scope: ProjectScope, audit: AuditId) -> Result<Option<u8>> {
    let score: Option<Option<i64>> = sql(
        "SELECT health_score FROM audits WHERE project_id = $1 AND status IN ('completed', 'partial') AND id < $2 ORDER BY id DESC LIMIT 1",
    )
    .bind(scope.project())
    .bind(audit)
    .fetch_optional(tx, |c| c.take())
    .await?;
    Ok(score.flatten().and_then(|score| u8::try_from(score).ok()))
}

/// Newest audit with results at a time.
#[derive(Clone, Copy, Debug)]
pub struct HealthAt {
    /// Health score; `None` if no page counts.
    pub score: Option<u8>,
    /// Time at which it ended.
    pub finished_at: Option<Instant>,
}

/// Returns the newest audit with results that ended before a time.
pub async fn find_health_at(tx: &mut Tx, scope: ProjectScope, at: Instant) -> Result<Option<HealthAt>> {
    sql(
        "SELECT health_score, finished_at FROM audits WHERE project_id = $1 AND status IN ('completed', 'partial') AND finished_at < $2
         ORDER BY id DESC LIMIT 1",
    )
    .bind(scope.project())
    .bind(at)
    .fetch_optional(tx, |c| {
        Ok(HealthAt {
            score: c.take::<Option<i64>>()?.and_then(|score| u8::try_from(score).ok()),
            finished_at: c.take()?,
        })
    })
    .await
}

/// Returns the numbers of events of a project since a time, by kind.
pub async fn count_events(tx: &mut Tx, scope: ProjectScope, since: Instant) -> Result<Vec<(String, u64)>> {
    sql("SELECT kind, count(*) FROM events WHERE project_id = $1 AND created_at >= $2 GROUP BY kind")
        .bind(scope.project())
        .bind(since)
        .fetch_all(tx, |c| Ok((c.take()?, c.take()?)))
        .await
}

/// Numbers of what waits for a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitingCounts {
    /// Approvals.
    pub approvals: u64,
    /// Posts whose outcome is not known.
    pub uncertain: u64,
    /// Lost connections.
    pub lost: u64,
}

/// Counts what waits for a person in a project.
pub async fn count_waiting(tx: &mut Tx, scope: ProjectScope) -> Result<WaitingCounts> {
    sql("SELECT (SELECT count(*) FROM approvals WHERE project_id = $1 AND status = 'pending'),
           (SELECT count(*) FROM publish_attempts WHERE project_id = $1 AND finished_at IS NULL AND state = 'uncertain' AND next_check_at IS NULL),
           (SELECT count(*) FROM integrations WHERE project_id = $1 AND status = 'reauthorization_required')")
    .bind(scope.project())
    .fetch_one(tx, |c| {
        Ok(WaitingCounts {
            approvals: c.take()?,
            uncertain: c.take()?,
            lost: c.take()?,
        })
    })
    .await
}
