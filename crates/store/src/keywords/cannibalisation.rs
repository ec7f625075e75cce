//! Cannibalisation: pages and posts of a site that compete for a keyword. It is reported by Search Console (pages that take turns),
//! or follows from pages of the same name, or from posts of the same keyword.

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant,
    ids::{KeywordId, PostId},
    keywords::{
        Cannibalisation,
        CannibalisationReason::{SamePages, SamePosts, SearchConsole},
        KeywordDetails,
    },
};
use serde_json::Value;

use crate::{Json, Param, Result, Tx, access::ProjectScope, sql};

/// Whether Search Console reports it. Only then it is stored in the details.
pub(super) fn is_reported(details: &KeywordDetails) -> bool {
    let cannibalisation = details.cannibalisation.as_ref();
    cannibalisation.is_some_and(|c| c.reason == SearchConsole)
}

/// Returns the most certain of the three kinds, with the posts if there are several.
pub(super) fn combine(
    reported: Option<Cannibalisation>,
    pages: Option<Json>,
    posts: &[PostId],
) -> Result<Option<Cannibalisation>> {
    let new = |reason, urls| Cannibalisation {
        reason,
        urls,
        post_ids: Vec::new(),
    };
    let mut combined = match (reported, pages) {
        (Some(reported), _) => reported,
        (None, Some(urls)) => new(SamePages, urls.decode()?),
        (None, None) if posts.len() > 1 => new(SamePosts, Vec::new()),
        (None, None) => return Ok(None),
    };
    if posts.len() > 1 {
        combined.post_ids = posts.to_vec();
    }
    Ok(Some(combined))
}

/// Returns the languages of the keywords of a project.
pub async fn list_languages(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<String>> {
    sql("SELECT DISTINCT language FROM keywords WHERE project_id = $1 ORDER BY language")
        .bind(scope.project())
        .fetch_all(tx, |c| c.take())
        .await
}

/// Returns the keywords of a language for which pages compete, with the URLs of the pages.
pub async fn list_competing_pages(
    tx: &mut Tx,
    scope: ProjectScope,
    language: &str,
) -> Result<BTreeMap<KeywordId, Vec<String>>> {
    let all = sql("SELECT id, cannibalisation FROM keywords WHERE project_id = $1 AND language = $2 AND cannibalisation IS NOT NULL")
        .bind(scope.project())
        .bind(language)
        .fetch_all(tx, |c| {
            Ok((c.take()?, c.take_json()?))
        })
        .await?;
    Ok(all.into_iter().collect())
}

/// Updates the URLs of the pages that compete for keywords; an empty list deletes them.
pub async fn update_competing_pages(
    tx: &mut Tx,
    scope: ProjectScope,
    changed: Vec<(KeywordId, Vec<String>)>,
    now: Instant,
) -> Result<()> {
    let rows = changed
        .into_iter()
        .map(|(id, urls)| {
            let urls = (!urls.is_empty()).then(|| Json(Value::from(urls)));
            vec![Param::from(id), urls.into()]
        })
        .collect();
    sql("UPDATE keywords SET cannibalisation = $4, version = version + 1, updated_at = $2 WHERE project_id = $1 AND id = $3")
        .bind(scope.project())
        .bind(now)
        .execute_each(tx, rows)
        .await?;
    Ok(())
}
