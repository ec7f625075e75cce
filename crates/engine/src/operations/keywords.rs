//! Keywords.

use searchwright_contract::{
    Code, List, Patch, Problem, Scope,
    ids::ClusterId,
    keywords::{
        CreateKeyword, DeleteKeyword, GetKeyword, IntentSource, Keyword, KeywordSort, KeywordSource,
        KeywordStatus, ListKeywords, UpdateKeyword,
    },
};
use searchwright_keywords::normalize;
use searchwright_store::{
    Tx,
    access::RecordKind,
    keywords::{self, KeywordFacts, KeywordQuery, NewKeyword},
};

use super::{
    items::changed_since_read,
    keyword_arguments::{country_code, load_brands},
};
use crate::{
    Engine,
    call::{Call, fault, limit},
    endpoint::Handle,
    failure::Result,
    keyword_merge::{classify_intent, score_of},
};

/// Parses the id of a cluster; a fault if it is not a UUID.
fn cluster(id: &str) -> Result<ClusterId> {
    ClusterId::parse(id).map_err(|_| fault("/clusterId", "not_an_id", "is not the id of a cluster"))
}

fn with_actions(call: &Call, mut keyword: Keyword) -> Keyword {
    keyword.allowed_actions = call.change_and_delete(Scope::KeywordsWrite);
    keyword
}

impl Handle<ListKeywords> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListKeywords) -> Result<List<Keyword>> {
        let limit = limit(operation.limit);
        let query = KeywordQuery {
            status: operation.status,
            intent: operation.intent,
            cluster: operation.cluster_id.as_deref().map(cluster).transpose()?,
            contains: operation.q.as_deref().map(normalize),
            sort: operation.sort,
            after: call.after(&operation, operation.cursor.as_deref())?,
            limit: limit + 1,
        };
        let actions = call.change_and_delete(Scope::KeywordsWrite);
        let mut rows = keywords::list(tx, call.scope()?, query).await?;
        for row in &mut rows {
            row.allowed_actions = actions.clone();
        }
        call.page(&operation, limit, rows, |last| {
            let value = match operation.sort {
                Some(KeywordSort::SearchVolume) => last.search_volume,
                Some(KeywordSort::KeywordDifficulty) => last.keyword_difficulty,
                Some(KeywordSort::Score) => last.score.map(|score| (score * 1000.0).round() as i64),
                Some(KeywordSort::Created) | None => None,
            };
            (value.unwrap_or(-1), last.id)
        })
    }
}

impl Handle<CreateKeyword> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: CreateKeyword) -> Result<Keyword> {
        let access = call.project()?;
        let normalized = normalize(&operation.keyword);
        if normalized.is_empty() {
            return Err(fault("/keyword", "blank", "has nothing but spaces"));
        }
        let language = operation.language.unwrap_or_else(|| access.language.clone());
        let country = country_code(operation.country, &access.country)?;
        let scope = call.scope()?;
        let mut known = KeywordFacts {
            search_volume: operation.search_volume,
            keyword_difficulty: operation.keyword_difficulty,
            intent: operation.intent,
            intent_source: operation.intent.map(|_| IntentSource::Manual),
            ..KeywordFacts::default()
        };
        if known.intent.is_none() {
            classify_intent(&mut known, &normalized, &language, &load_brands(call, tx).await?);
        }
        known.score = score_of(&known);
        let new = NewKeyword {
            id: call.engine.clock.id(),
            keyword: operation.keyword.trim().to_owned(),
            normalized,
            language,
            country,
            status: KeywordStatus::Approved,
            source: KeywordSource::Manual,
            facts: known,
        };
        match keywords::create(tx, scope, new, call.now).await? {
            Ok(keyword) => Ok(with_actions(call, keyword)),
            Err(existing) => Err(
                Problem::new(Code::AlreadyExists, "the project already has this keyword")
                    .hint("change the existing one, or name another language or country")
                    .with("existingId", existing.to_string())
                    .into(),
            ),
        }
    }
}

impl Handle<GetKeyword> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GetKeyword) -> Result<Keyword> {
        let id = call.child(RecordKind::Keyword, &operation.keyword_id)?;
        let found = keywords::get(tx, call.scope()?, id).await;
        Ok(with_actions(
            call,
            call.or_missing(tx, RecordKind::Keyword, id, found).await?,
        ))
    }
}

impl Handle<UpdateKeyword> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: UpdateKeyword) -> Result<Keyword> {
        let id = call.child(RecordKind::Keyword, &operation.keyword_id)?;
        let scope = call.scope()?;
        let found = keywords::get(tx, scope, id).await;
        let mut keyword = call.or_missing(tx, RecordKind::Keyword, id, found).await?;
        call.check_match(keyword.id, keyword.version)?;
        let before = keyword.clone();
        keyword.status = operation.status.unwrap_or(keyword.status);
        keyword.search_volume = operation.search_volume.apply(keyword.search_volume);
        keyword.keyword_difficulty = operation.keyword_difficulty.apply(keyword.keyword_difficulty);
        if operation.intent != Patch::Absent {
            keyword.intent = operation.intent.apply(keyword.intent);
            keyword.intent_source = keyword.intent.map(|_| IntentSource::Manual);
            (keyword.intent_confidence, keyword.intent_reason) = (None, None);
            keyword.details.secondary_intents.clear();
        }
        if keyword == before {
            return Ok(with_actions(call, keyword));
        }
        keyword.score = score_of(&KeywordFacts::from_keyword(&keyword)).map(|score| score as f64 / 1000.0);
        let changed = keywords::update(tx, scope, id, &keyword, call.now)
            .await
            .map_err(changed_since_read)?;
        Ok(with_actions(call, changed))
    }
}

impl Handle<DeleteKeyword> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: DeleteKeyword) -> Result<()> {
        let id = call.child(RecordKind::Keyword, &operation.keyword_id)?;
        let scope = call.scope()?;
        let found = keywords::get(tx, scope, id).await;
        let keyword = call.or_missing(tx, RecordKind::Keyword, id, found).await?;
        call.check_match(keyword.id, keyword.version)?;
        keywords::delete(tx, scope, id, keyword.version)
            .await
            .map_err(changed_since_read)
    }
}
