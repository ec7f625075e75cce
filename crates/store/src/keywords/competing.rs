//! What of a site competes for a keyword: pages that Search Console shows in turn, pages of one name, posts.

use std::collections::BTreeMap;

use searchwright_contract::{
    Instant,
    keywords::{
        Cannibalisation,
        CannibalisationReason::{SamePages, SamePosts, SearchConsole},
        KeywordDetails,
    },
};
use serde_json::Value;
use uuid::Uuid;

use crate::{Error, Json, Param, Result, Tx, access::ProjectScope, sql};

/// Whether an account says it. The rest follows from pages and posts and is no part of the details.
pub(super) fn is_said(details: &KeywordDetails) -> bool {
    let said = details.cannibalisation.as_ref();
    said.is_some_and(|c| c.reason == SearchConsole)
}

/// What is known, the surest first; posts are named whatever it is.
pub(super) fn known(
    said: Option<Cannibalisation>,
    pages: Option<Json>,
    posts: &[String],
) -> Result<Option<Cannibalisation>> {
    let of = |reason, urls| Cannibalisation {
        reason,
        urls,
        post_ids: Vec::new(),
    };
    let mut known = match (said, pages) {
        (Some(said), _) => said,
        (None, Some(Json(urls))) => of(
            SamePages,
            serde_json::from_value(urls).map_err(|e| Error::Defect(e.to_string()))?,
        ),
        (None, None) if posts.len() > 1 => of(SamePosts, Vec::new()),
        (None, None) => return Ok(None),
    };
    if posts.len() > 1 {
        known.post_ids = posts.to_vec();
    }
    Ok(Some(known))
}

/// The languages of the keywords of a project.
pub async fn languages(tx: &mut Tx, scope: ProjectScope) -> Result<Vec<String>> {
    sql("SELECT DISTINCT language FROM keywords WHERE project_id = $1 ORDER BY language")
        .bind(scope.project())
        .fetch_all(tx, |c| c.take())
        .await
}

/// The keywords of a language that pages are known to compete for, and which.
pub async fn with_pages(
    tx: &mut Tx,
    scope: ProjectScope,
    language: &str,
) -> Result<BTreeMap<Uuid, Vec<String>>> {
    let all = sql("SELECT id, cannibalisation FROM keywords WHERE project_id = $1 AND language = $2 AND cannibalisation IS NOT NULL")
        .bind(scope.project())
        .bind(language)
        .fetch_all(tx, |c| {
            let (id, Json(urls)) = (c.take()?, c.take::<Json>()?);
            Ok((id, serde_json::from_value(urls).map_err(|e| Error::Defect(e.to_string()))?))
        })
        .await?;
    Ok(all.into_iter().collect())
}

/// Writes which pages compete for keywords; none where there are none any more.
pub async fn set_competing(
    tx: &mut Tx,
    scope: ProjectScope,
    changed: Vec<(Uuid, Vec<String>)>,
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
