//! Answers to prompts.

use searchwright_contract::{
    Instant, List,
    answers::{CopiedAnswer, EngineAnswer, ImportAnswers, ImportedAnswers, ListAnswers, Surface},
    ids::{AnswerId, PromptId},
};
use searchwright_store::{
    Tx,
    access::RecordKind,
    answers::{self, AnswerSource, GivenCitation},
    projects, prompts,
};
use searchwright_tracking::{
    ProjectDays, TrackedBrands,
    recording::{self, NewAnswer, SeriesKey},
    require_active,
};

use crate::{
    Engine,
    call::{Call, Prepared, fault, limit},
    endpoint::Handle,
    failure::{Result, defect},
};

/// Age of a copied answer, at most.
const MAX_AGE_MILLIS: i64 = 400 * 24 * 3_600_000;
/// Time by which clocks may differ.
const CLOCK_SKEW_MILLIS: i64 = 5 * 60_000;

impl Handle<ListAnswers> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListAnswers) -> Result<List<EngineAnswer>> {
        let id: PromptId = call.child(RecordKind::Prompt, &operation.prompt_id)?;
        let scope = call.scope()?;
        let found = prompts::get(tx, scope, id).await;
        call.or_missing(tx, RecordKind::Prompt, id, found).await?;
        let limit = limit(operation.limit);
        let before: Option<(Instant, AnswerId)> = call.after(&operation, operation.cursor.as_deref())?;
        let rows = answers::list(tx, scope, id, operation.engine, before, limit + 1).await?;
        let rows = rows.into_iter().map(EngineAnswer::from).collect();
        call.page(&operation, limit, rows, |last: &EngineAnswer| {
            (last.asked_at, last.id)
        })
    }
}

impl Handle<ImportAnswers> for Engine {
    const PREPARES: bool = true;

    async fn prepare(call: &Call, operation: &ImportAnswers) -> Result<Prepared> {
        let id: PromptId = call.child(RecordKind::Prompt, &operation.prompt_id)?;
        check_times(call.now, &operation.items)?;
        let scope = call.scope()?;
        let (prompt, brands, days) = {
            let mut tx = call.engine.db.read().await?;
            let found = prompts::get(&mut tx, scope, id).await;
            let prompt = call.or_missing(&mut tx, RecordKind::Prompt, id, found).await?;
            let project = projects::get(&mut tx, scope).await?;
            let brands = TrackedBrands::load(&mut tx, scope, &project).await?;
            (prompt, brands, ProjectDays::new(&project.timezone)?)
        };
        let new: Vec<NewAnswer> = operation
            .items
            .iter()
            .map(|item| copied(call.engine.clock.id(), item))
            .collect();
        let analysed =
            tokio::task::spawn_blocking(move || recording::analyse_answers(&brands, &days, &prompt, new));
        let analysed = analysed.await.map_err(|e| defect("analysis of answers", e))?;
        Ok(Prepared::Answers(Box::new(analysed)))
    }

    async fn handle(call: &Call, tx: &mut Tx, operation: ImportAnswers) -> Result<ImportedAnswers> {
        let Prepared::Answers(analysed) = &call.prepared else {
            return Err(defect("answers", "they were not analysed"));
        };
        let scope = call.scope()?;
        let id: PromptId = call.child(RecordKind::Prompt, &operation.prompt_id)?;
        require_active(&prompts::get(tx, scope, id).await?)?;
        let stored = recording::store(tx, scope, analysed, call.now).await?;
        Ok(ImportedAnswers {
            data: stored.answers().iter().cloned().map(EngineAnswer::from).collect(),
        })
    }
}

fn check_times(now: Instant, items: &[CopiedAnswer]) -> Result<()> {
    for (at, item) in items.iter().enumerate() {
        let age = now.millis() - item.asked_at.millis();
        let why = match age {
            age if age < -CLOCK_SKEW_MILLIS => "is in the future",
            age if age > MAX_AGE_MILLIS => "is more than 400 days ago",
            _ if item.text.trim().is_empty() => {
                return Err(fault(
                    &format!("/items/{at}/text"),
                    "blank",
                    "has nothing but spaces",
                ));
            }
            _ => continue,
        };
        return Err(fault(&format!("/items/{at}/askedAt"), "out_of_range", why));
    }
    Ok(())
}

fn copied(id: AnswerId, item: &CopiedAnswer) -> NewAnswer {
    let citations = item.citations.as_ref().map(|citations| {
        let given = citations.iter().map(|citation| GivenCitation {
            url: citation.url.clone(),
            title: citation.title.clone(),
            cited: true,
        });
        given.collect()
    });
    NewAnswer {
        id,
        run: None,
        key: SeriesKey {
            engine: item.engine,
            surface: Surface::Manual,
            retrieval: "auto".to_owned(),
            variant: String::new(),
        },
        status: None,
        asked_at: item.asked_at,
        text: item.text.clone(),
        source: AnswerSource {
            served_model: item.model.clone(),
            citations,
            ..AnswerSource::default()
        },
    }
}
