//! Finding keywords. The work itself is `jobs/keyword_generation.rs`.

use std::collections::BTreeMap;

use searchwright_contract::{
    jobs::Job as JobRecord,
    keywords::{GenerateKeywords, KeywordSource, KeywordsStarted},
};
use searchwright_keywords::normalize;
use searchwright_store::{Tx, audits};

use super::{jobs::with_actions, keyword_arguments::country_code};
use crate::{
    Engine,
    call::{Call, fault},
    endpoint::Handle,
    failure::Result,
    jobs::{
        Job,
        keyword_generation::{ACCOUNTS, GenerationOrder},
    },
};

/// Keywords wanted unless the caller names another number.
const DEFAULT_COUNT: u32 = 50;

/// Step before a search that has neither pages nor seeds.
const FIRST_STEP: &str = "no page of the website has been read, so only brand data and accounts can give keywords: start an audit \
                          and generate again when it has ended, or send seeds, the terms that customers use";

/// Sources that need no account.
pub(crate) const BUILT_IN: [KeywordSource; 5] = [
    KeywordSource::SiteContent,
    KeywordSource::Sitemap,
    KeywordSource::BrandData,
    KeywordSource::QuestionPattern,
    KeywordSource::CompetitorPage,
];

impl Handle<GenerateKeywords> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GenerateKeywords) -> Result<KeywordsStarted> {
        let scope = call.scope()?;
        let access = call.project()?;
        let seeds = operation.seeds.unwrap_or_default();
        if let Some(at) = seeds.iter().position(|seed| normalize(seed).is_empty()) {
            return Err(fault(&format!("/seeds/{at}"), "blank", "has nothing but spaces"));
        }
        let all = [BUILT_IN, ACCOUNTS].concat();
        let sources = operation.sources.unwrap_or_else(|| all.clone());
        if let Some(at) = sources.iter().position(|source| !all.contains(source)) {
            let known: Vec<&str> = all.iter().map(|source| source.as_str()).collect();
            return Err(fault(
                &format!("/sources/{at}"),
                "not_a_generator",
                format!("cannot be searched for keywords; use {}", known.join(", ")),
            ));
        }
        let is_unread = seeds.is_empty() && audits::find_newest_finished(tx, scope).await?.is_none();
        let wanted = GenerationOrder {
            seeds,
            sources,
            count: operation.count.unwrap_or(DEFAULT_COUNT),
            language: operation.language.unwrap_or_else(|| access.language.clone()),
            country: country_code(operation.country, &access.country)?,
            dry_run: operation.dry_run.unwrap_or(false),
            project: access.project.name.clone(),
        };
        let id = call.engine.clock.id();
        let work = Job::GenerateKeywords { wanted };
        work.count(tx, scope, call.now).await?;
        let job: JobRecord = work.enqueue(tx, scope, id, BTreeMap::new(), call.now).await?;
        Ok(KeywordsStarted {
            job: with_actions(call, job),
            next: is_unread.then(|| FIRST_STEP.to_owned()),
        })
    }
}
