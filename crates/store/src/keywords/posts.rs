//! Keywords follow the posts that aim at them.

use searchwright_contract::{
    Instant,
    keywords::KeywordStatus::{self, Approved, Archived, InProgress, Planned, Published, Rejected},
    posts::PostStatus,
};
use uuid::Uuid;

use super::post_ids;
use crate::{Json, Result, Tx, access::ProjectScope, sql};

/// Where a post takes the keyword that it aims at; `None`: nowhere, it was put away.
pub const fn stage(post: PostStatus, has_text: bool, was_live: bool) -> Option<KeywordStatus> {
    Some(match post {
        PostStatus::Archived => return None,
        PostStatus::Published => Published,
        PostStatus::Publishing if was_live => Published,
        PostStatus::Draft | PostStatus::Failed if !has_text => Planned,
        _ => InProgress,
    })
}

/// The farther of two stages.
const fn rank(stage: KeywordStatus) -> u8 {
    match stage {
        Published => 3,
        InProgress => 2,
        _ => 1,
    }
}

/// Writes which posts aim at a keyword, and where that takes it: as far as the farthest of them; without any it is free
/// again. What somebody rejected or put away stays so. Does nothing for a keyword that is gone.
pub async fn follow(tx: &mut Tx, scope: ProjectScope, keyword: Uuid, now: Instant) -> Result<()> {
    let known = sql("SELECT status, post_ids FROM keywords WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(keyword)
        .fetch_optional(tx, |c| Ok((c.parse::<KeywordStatus>()?, post_ids(c)?)))
        .await?;
    let Some((status, had)) = known else {
        return Ok(());
    };
    let posts = sql(
        "SELECT id, status, seo_score IS NOT NULL, published_at IS NOT NULL FROM posts
         WHERE project_id = $1 AND keyword_id = $2 AND status <> 'archived' ORDER BY id LIMIT 100",
    )
    .bind(scope.project())
    .bind(keyword)
    .fetch_all(tx, |c| {
        let id = c.take::<Uuid>()?.to_string();
        Ok((id, stage(c.parse()?, c.take()?, c.take()?)))
    })
    .await?;
    let farthest = posts
        .iter()
        .filter_map(|(_, stage)| *stage)
        .max_by_key(|stage| rank(*stage));
    let next = match (status, farthest) {
        (Rejected | Archived, _) => status,
        (_, Some(stage)) => stage,
        (Planned | InProgress | Published, None) if !had.is_empty() => Approved,
        _ => status,
    };
    let has: Vec<String> = posts.into_iter().map(|(id, _)| id).collect();
    if (next, &has) == (status, &had) {
        return Ok(());
    }
    sql("UPDATE keywords SET status = $3, post_ids = $4, version = version + 1, updated_at = $5 WHERE project_id = $1 AND id = $2")
        .bind(scope.project())
        .bind(keyword)
        .bind(next.as_str())
        .bind(Some(has).filter(|has| !has.is_empty()).map(|has| Json(has.into())))
        .bind(now)
        .execute(tx)
        .await?;
    Ok(())
}

/// Keywords that several posts were published for, with where each is: keyword, its text, address.
pub async fn published_twice(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<(Uuid, String, String)>> {
    // Which keywords have several posts is read off an index: a row of a post holds its text.
    sql("SELECT k.id, k.keyword, p.published_url FROM posts p JOIN keywords k ON k.project_id = p.project_id AND k.id = p.keyword_id
         WHERE p.project_id = $1 AND p.published_url IS NOT NULL AND p.archived_at IS NULL AND p.keyword_id IN
           (SELECT keyword_id FROM posts WHERE project_id = $1 AND keyword_id IS NOT NULL GROUP BY keyword_id HAVING count(*) > 1)
         ORDER BY k.id, p.id")
    .bind(scope.project())
    .fetch_all(tx, |c| Ok((c.take()?, c.take()?, c.take()?)))
    .await
}
