//! Clusters of similar keywords.

use searchwright_contract::{
    Instant,
    ids::{ClusterId, KeywordId},
    keywords::Intent,
};

use crate::{Result, Tx, access::ProjectScope, sql};

/// Place of a keyword in a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterPlace {
    /// Cluster; `None` if it is in none.
    pub cluster: Option<ClusterId>,
    /// Whether the cluster is named after it.
    pub is_head: bool,
}

/// A keyword to be clustered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterCandidate {
    /// Identifier.
    pub id: KeywordId,
    /// Text.
    pub keyword: String,
    /// Search intent.
    pub intent: Option<Intent>,
    /// Searches per month.
    pub search_volume: Option<i64>,
    /// Current place.
    pub place: ClusterPlace,
}

/// Returns at most `limit` keywords of a language, newest first, without rejected and archived ones.
pub async fn list_in_language(
    tx: &mut Tx,
    scope: ProjectScope,
    language: &str,
    limit: u32,
) -> Result<Vec<ClusterCandidate>> {
    sql("SELECT id, keyword, intent, search_volume, cluster_id, is_cluster_head FROM keywords
         WHERE project_id = $1 AND language = $2 AND status NOT IN ('rejected', 'archived') ORDER BY id DESC LIMIT $3")
    .bind(scope.project())
    .bind(language)
    .bind(limit)
    .fetch_all(tx, |c| {
        Ok(ClusterCandidate {
            id: c.take()?,
            keyword: c.take()?,
            intent: c.parse_optional()?,
            search_volume: c.take()?,
            place: ClusterPlace {
                cluster: c.take()?,
                is_head: c.take()?,
            },
        })
    })
    .await
}

/// Updates the places of keywords.
pub async fn update_clusters(
    tx: &mut Tx,
    scope: ProjectScope,
    places: Vec<(KeywordId, ClusterPlace)>,
    now: Instant,
) -> Result<()> {
    let rows = places
        .into_iter()
        .map(|(id, place)| vec![id.into(), place.cluster.into(), place.is_head.into()])
        .collect();
    sql(
        "UPDATE keywords SET cluster_id = $4, is_cluster_head = $5, version = version + 1, updated_at = $2
         WHERE project_id = $1 AND id = $3",
    )
    .bind(scope.project())
    .bind(now)
    .execute_each(tx, rows)
    .await?;
    Ok(())
}
