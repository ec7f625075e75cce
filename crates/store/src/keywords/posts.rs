//! Status of keywords, which follows from the posts that target them.

use searchwright_contract::{
    Instant,
    ids::{KeywordId, PostId},
    keywords::KeywordStatus::{self, Approved, Archived, InProgress, Planned, Published, Rejected},
    posts::PostStatus,
};

use super::read_post_ids;
use crate::{Json, Result, Tx, access::ProjectScope, sql};

/// Returns the status that a post gives to its keyword; `None` for an archived post.
pub const fn status_from_post(post: PostStatus, has_text: bool, was_live: bool) -> Option<KeywordStatus> {
    Some(match post {
        PostStatus::Archived => return None,
        PostStatus::Published => Published,
        PostStatus::Publishing if was_live => Published,
        PostStatus::Draft | PostStatus::Failed if !has_text => Planned,
        _ => InProgress,
    })
}

/// Returns the rank of a status; a keyword takes that of highest rank.
const fn rank(status: KeywordStatus) -> u8 {
    match status {
        Published => 3,
        InProgress => 2,
        _ => 1,
    }
}

/// Updates the posts of a keyword and its status, which is the most advanced that its posts give it, or `approved` when the last
/// post is gone. Rejected and archived keywords keep their status. Does nothing if there is no such keyword.
pub async fn update_from_posts(
    tx: &mut Tx,
    scope: ProjectScope,
    keyword: KeywordId,
    now: Instant,
) -> Result<()> {
    let text = if tx.is_postgres() {
        // What a person sets meanwhile waits, and is not written over with what was read before.
        "SELECT status, post_ids FROM keywords WHERE project_id = $1 AND id = $2 FOR NO KEY UPDATE"
    } else {
        "SELECT status, post_ids FROM keywords WHERE project_id = $1 AND id = $2"
    };
    let known = sql(text)
        .bind(scope.project())
        .bind(keyword)
        .fetch_optional(tx, |c| Ok((c.parse::<KeywordStatus>()?, read_post_ids(c)?)))
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
        let id: PostId = c.take()?;
        Ok((id, status_from_post(c.parse()?, c.take()?, c.take()?)))
    })
    .await?;
    let most_advanced = posts
        .iter()
        .filter_map(|(_, status)| *status)
        .max_by_key(|status| rank(*status));
    let next = match (status, most_advanced) {
        (Rejected | Archived, _) => status,
        (_, Some(advanced)) => advanced,
        (Planned | InProgress | Published, None) if !had.is_empty() => Approved,
        _ => status,
    };
    let has: Vec<PostId> = posts.into_iter().map(|(id, _)| id).collect();
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

/// Returns whether the project has an approved keyword for which no post is live.
pub async fn has_approved_without_live_post(tx: &mut Tx, scope: ProjectScope) -> Result<bool> {
    sql("SELECT EXISTS (SELECT 1 FROM keywords k WHERE k.project_id = $1 AND k.status = 'approved' AND NOT EXISTS
           (SELECT 1 FROM posts p JOIN publications l ON l.project_id = p.project_id AND l.post_id = p.id AND l.is_live
            WHERE p.project_id = k.project_id AND p.keyword_id = k.id))")
    .bind(scope.project())
    .fetch_one(tx, |c| c.take())
    .await
}

/// Returns the keywords for which several posts were published: id, text, and URL of each post.
pub async fn list_published_twice(
    tx: &mut Tx,
    scope: ProjectScope,
) -> Result<Vec<(KeywordId, String, String)>> {
    // The keywords with several posts are found in an index, because the rows of posts are long.
    sql("SELECT k.id, k.keyword, p.published_url FROM posts p JOIN keywords k ON k.project_id = p.project_id AND k.id = p.keyword_id
         WHERE p.project_id = $1 AND p.published_url IS NOT NULL AND p.archived_at IS NULL AND p.keyword_id IN
           (SELECT keyword_id FROM posts WHERE project_id = $1 AND keyword_id IS NOT NULL GROUP BY keyword_id HAVING count(*) > 1)
         ORDER BY k.id, p.id")
    .bind(scope.project())
    .fetch_all(tx, |c| Ok((c.take()?, c.take()?, c.take()?)))
    .await
}
