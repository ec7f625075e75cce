//! Puts the keywords of a language in clusters, after keywords have come or their figures have changed. A cluster
//! keeps its id as long as most of its keywords stay together. Says too which pages of the site compete for a
//! keyword, after keywords have come or an audit has ended.

use std::collections::{BTreeMap, HashSet};

use searchwright_contract::{
    Instant,
    ids::{ClusterId, KeywordId},
};
use searchwright_keywords::{
    cannibalisation::name_key,
    cluster::{Cluster, Item, clusters},
};
use searchwright_store::{
    audits,
    keywords::{self, ClusterCandidate, ClusterPlace},
    page_names,
};
use serde_json::{Value, json};

use super::{JobContext, JobError};
use crate::failure::defect;

/// Keywords that are compared, the newest: the rest keep the cluster they have.
const MAX_COMPARED: u32 = 10_000;
/// Keywords whose pages are looked up in one go, so that others never wait long.
const KEYWORDS_PER_LOOKUP: usize = 200;

/// Runs the job.
pub(super) async fn run(job: JobContext, language: String) -> Result<Value, JobError> {
    let interrupted = job.clone();
    tokio::select! {
        reason = interrupted.interrupted() => Err(reason),
        changed = cluster(&job, &language) => Ok(json!({ "changed": changed? })),
    }
}

/// Clusters the keywords of a language; how many of them changed.
pub(super) async fn cluster(job: &JobContext, language: &str) -> Result<usize, JobError> {
    let (db, scope) = (&job.engine.db, job.leased.scope);
    let found = keywords::list_in_language(&mut db.read().await?, scope, language, MAX_COMPARED).await?;
    let competing = competing(job, language, &found).await?;
    let (clock, language) = (job.engine.clock.clone(), language.to_owned());
    let changed = tokio::task::spawn_blocking(move || {
        let items: Vec<Item<'_>> = found.iter().map(|keyword| item(keyword, &language)).collect();
        changes(&found, &clusters(&items), || clock.id())
    });
    let changed = changed.await.map_err(|e| defect("clusters", e))?;
    let (count, now): (_, Instant) = (changed.len() + competing.len(), job.engine.clock.now());
    job.write_fenced(move |tx, scope| {
        Box::pin(async move {
            keywords::update_clusters(tx, scope, changed, now).await?;
            keywords::update_competing_pages(tx, scope, competing, now).await
        })
    })
    .await?;
    Ok(count)
}

/// The keywords for which other pages compete now than are noted, and which: several that may be found, each with the
/// keyword as its title or first heading.
async fn competing(
    job: &JobContext,
    language: &str,
    all: &[ClusterCandidate],
) -> Result<Vec<(KeywordId, Vec<String>)>, JobError> {
    let (db, scope) = (&job.engine.db, job.leased.scope);
    let Some(audit) = audits::find_newest_finished(&mut db.read().await?, scope).await? else {
        return Ok(Vec::new());
    };
    let mut noted = keywords::list_competing_pages(&mut db.read().await?, scope, language).await?;
    let mut changed = Vec::new();
    for portion in all.chunks(KEYWORDS_PER_LOOKUP) {
        let mut tx = db.read().await?;
        for keyword in portion {
            let Some(key) = name_key(&keyword.keyword) else {
                continue;
            };
            let urls = page_names::find_urls(&mut tx, scope, audit, key).await?;
            let urls = if urls.len() > 1 { urls } else { Vec::new() };
            if noted.remove(&keyword.id).unwrap_or_default() != urls {
                changed.push((keyword.id, urls));
            }
        }
    }
    Ok(changed)
}

fn item<'a>(keyword: &'a ClusterCandidate, language: &'a str) -> Item<'a> {
    Item {
        keyword: &keyword.keyword,
        language,
        intent: keyword.intent,
        volume: keyword.search_volume,
    }
}

/// The keywords whose place is another one now. One keyword alone is in no cluster.
fn changes(
    keywords: &[ClusterCandidate],
    clusters: &[Cluster],
    mut new: impl FnMut() -> ClusterId,
) -> Vec<(KeywordId, ClusterPlace)> {
    let mut taken = HashSet::new();
    let mut changed = Vec::new();
    for cluster in clusters {
        let alone = cluster.members.len() < 2;
        let mut ids: BTreeMap<ClusterId, usize> = BTreeMap::new();
        for id in cluster
            .members
            .iter()
            .filter_map(|at| keywords[*at].place.cluster)
        {
            *ids.entry(id).or_default() += 1;
        }
        ids.retain(|id, _| !taken.contains(id));
        let most = ids
            .iter()
            .max_by_key(|(id, count)| (**count, std::cmp::Reverse(**id)));
        let id = (!alone).then(|| most.map_or_else(&mut new, |(id, _)| *id));
        taken.extend(id);
        for at in &cluster.members {
            let place = ClusterPlace {
                cluster: id,
                is_head: !alone && *at == cluster.head,
            };
            if keywords[*at].place != place {
                changed.push((keywords[*at].id, place));
            }
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn keyword(n: u128, cluster: Option<u128>, is_head: bool) -> ClusterCandidate {
        ClusterCandidate {
            id: Uuid::from_u128(n).into(),
            keyword: n.to_string(),
            intent: None,
            search_volume: None,
            place: ClusterPlace {
                cluster: cluster.map(|id| Uuid::from_u128(id).into()),
                is_head,
            },
        }
    }

    #[test]
    fn a_cluster_keeps_its_id_while_most_of_it_stays() {
        let keywords = [
            keyword(1, Some(7), true),
            keyword(2, Some(7), false),
            keyword(3, None, false),
            keyword(4, Some(7), false),
            keyword(5, None, false),
            keyword(6, Some(8), true),
        ];
        let of = |head, members: &[usize]| Cluster {
            head,
            members: members.to_vec(),
        };
        let clusters = [of(0, &[0, 1, 2]), of(4, &[3, 4]), of(5, &[5])];
        let place = |n, cluster: Option<u128>, is_head| {
            let cluster = cluster.map(|id| Uuid::from_u128(id).into());
            (Uuid::from_u128(n).into(), ClusterPlace { cluster, is_head })
        };
        assert_eq!(
            changes(&keywords, &clusters, || Uuid::from_u128(99).into()),
            [
                place(3, Some(7), false),
                place(4, Some(99), false),
                place(5, Some(99), true),
                place(6, None, false),
            ]
        );
    }
}
