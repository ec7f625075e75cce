//! Where keywords stand among those that are like them.

use searchwright_contract::{Instant, keywords::Intent};
use uuid::Uuid;

use crate::{Result, Tx, access::ProjectScope, sql};

/// A keyword's place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its cluster; `None` if it is alone or nobody has looked.
    pub cluster: Option<Uuid>,
    /// The cluster goes by it.
    pub is_head: bool,
}

/// A keyword as far as clusters are made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InCluster {
    /// Identifier.
    pub id: Uuid,
    /// The text.
    pub keyword: String,
    /// What a searcher wants.
    pub intent: Option<Intent>,
    /// Searches per month.
    pub search_volume: Option<i64>,
    /// Where it stands now.
    pub place: Place,
}

/// The keywords of a language, newest first, so many at most; without those that are rejected or kept for the record.
pub async fn in_language(
    tx: &mut Tx,
    scope: ProjectScope,
    language: &str,
    most: u32,
) -> Result<Vec<InCluster>> {
    sql("SELECT id, keyword, intent, search_volume, cluster_id, is_cluster_head FROM keywords
         WHERE project_id = $1 AND language = $2 AND status NOT IN ('rejected', 'archived') ORDER BY id DESC LIMIT $3")
    .bind(scope.project())
    .bind(language)
    .bind(most)
    .fetch_all(tx, |c| {
        Ok(InCluster {
            id: c.take()?,
            keyword: c.take()?,
            intent: c.parse_optional()?,
            search_volume: c.take()?,
            place: Place {
                cluster: c.take()?,
                is_head: c.take()?,
            },
        })
    })
    .await
}

/// Writes places.
pub async fn set_clusters(
    tx: &mut Tx,
    scope: ProjectScope,
    places: Vec<(Uuid, Place)>,
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
