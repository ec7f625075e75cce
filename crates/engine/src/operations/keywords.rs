//! Keywords.

use searchwright_contract::{
    Code, List, Problem, Scope,
    keywords::{CreateKeyword, DeleteKeyword, GetKeyword, Keyword, KeywordSort, ListKeywords, UpdateKeyword},
};
use searchwright_store::{
    Tx,
    access::Child,
    keywords::{self, New, Query},
};
use uuid::Uuid;

use crate::{
    Engine,
    call::{Call, Credential, fault, limit},
    endpoint::Handle,
    failure::Result,
    keywords::normalize,
};

fn with_actions(call: &Call, mut keyword: Keyword) -> Keyword {
    keyword.allowed_actions = call.change_and_delete(Scope::KeywordsWrite);
    keyword
}

impl Handle<ListKeywords> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListKeywords) -> Result<List<Keyword>> {
        let limit = limit(operation.limit);
        let query = Query {
            status: operation.status,
            intent: operation.intent,
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
                Some(KeywordSort::Created) | None => None,
            };
            (value.unwrap_or(-1), Uuid::try_parse(&last.id).unwrap_or_default())
        })
    }
}

impl Handle<CreateKeyword> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: CreateKeyword) -> Result<Keyword> {
        let Credential::Key(access) = &call.credential;
        let normalized = normalize(&operation.keyword);
        if normalized.is_empty() {
            return Err(fault("/keyword", "blank", "has nothing but spaces"));
        }
        let country = operation
            .country
            .map_or_else(|| access.country.clone(), |c| c.to_ascii_uppercase());
        if !country.bytes().all(|b| b.is_ascii_uppercase()) {
            return Err(fault(
                "/country",
                "not_a_country",
                "is not an ISO 3166-1 alpha-2 code",
            ));
        }
        let new = New {
            id: call.engine.clock.id(),
            keyword: operation.keyword.trim().to_owned(),
            normalized,
            language: operation.language.unwrap_or_else(|| access.language.clone()),
            country,
            search_volume: operation.search_volume,
            keyword_difficulty: operation.keyword_difficulty,
            intent: operation.intent,
        };
        match keywords::create(tx, call.scope()?, new, call.now).await? {
            Ok(keyword) => Ok(with_actions(call, keyword)),
            Err(existing) => Err(
                Problem::new(Code::AlreadyExists, "the project has this keyword already")
                    .hint("change the existing one, or name another language or country")
                    .with("existingId", existing.to_string())
                    .into(),
            ),
        }
    }
}

impl Handle<GetKeyword> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GetKeyword) -> Result<Keyword> {
        let id = call.child(Child::Keyword, &operation.keyword_id)?;
        let found = keywords::get(tx, call.scope()?, id).await;
        Ok(with_actions(
            call,
            call.or_missing(tx, Child::Keyword, id, found).await?,
        ))
    }
}

impl Handle<UpdateKeyword> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: UpdateKeyword) -> Result<Keyword> {
        let id = call.child(Child::Keyword, &operation.keyword_id)?;
        let scope = call.scope()?;
        let found = keywords::get(tx, scope, id).await;
        let mut keyword = call.or_missing(tx, Child::Keyword, id, found).await?;
        call.check_match(&keyword.id, keyword.version)?;
        keyword.status = operation.status.unwrap_or(keyword.status);
        keyword.search_volume = operation.search_volume.apply(keyword.search_volume);
        keyword.keyword_difficulty = operation.keyword_difficulty.apply(keyword.keyword_difficulty);
        keyword.intent = operation.intent.apply(keyword.intent);
        // Another replica may have changed it since it was read above.
        let changed = keywords::update(tx, scope, id, &keyword, call.now)
            .await
            .map_err(|e| match e {
                searchwright_store::Error::Missing => Problem::new(
                    Code::PreconditionFailed,
                    "the record has changed since it was read",
                )
                .into(),
                other => crate::Failure::from(other),
            })?;
        Ok(with_actions(call, changed))
    }
}

impl Handle<DeleteKeyword> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: DeleteKeyword) -> Result<()> {
        let id = call.child(Child::Keyword, &operation.keyword_id)?;
        let scope = call.scope()?;
        let found = keywords::get(tx, scope, id).await;
        let keyword = call.or_missing(tx, Child::Keyword, id, found).await?;
        call.check_match(&keyword.id, keyword.version)?;
        Ok(keywords::delete(tx, scope, id).await?)
    }
}
