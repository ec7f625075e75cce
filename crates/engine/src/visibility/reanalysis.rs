//! Analysis of all stored answers again, after the names, domains or competitors of the brand have changed.

use std::collections::BTreeMap;

use searchwright_contract::{answers::AnswerStatus, ids::PromptId};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    answers::{self, AnswerAnalysis, CellCounts, StoredAnswer},
    projects,
    prompts::{self, PromptOutline},
};
use searchwright_visibility::cells::Cell;
use serde_json::{Value, json};

use super::{
    TrackedBrands,
    analysis::{AskedPrompt, RawAnswer, analyse},
    overview::contract_class,
    recording::{latest, write_cell},
};
use crate::{
    call::Call,
    failure::{Result, defect},
    jobs::{Job, JobContext, JobError},
};

/// Queues the analysis, if there is anything to analyse and it is not queued already.
pub(crate) async fn enqueue(call: &Call, tx: &mut Tx) -> Result<()> {
    let scope = call.scope()?;
    if prompts::exist(tx, scope).await? {
        let id = call.engine.clock.id();
        Job::AnalyzeAnswers.enqueue_once(tx, scope, id, call.now).await?;
    }
    Ok(())
}

/// Runs the job.
pub(crate) async fn run(job: JobContext) -> Result<Value, JobError> {
    let interrupted = job.clone();
    tokio::select! {
        reason = interrupted.interrupted() => Err(reason),
        done = carry_out(&job) => done,
    }
}

async fn carry_out(job: &JobContext) -> Result<Value, JobError> {
    let (db, scope) = (&job.engine.db, job.leased.scope);
    let (brands, prompts) = {
        let mut tx = db.read().await?;
        let project = projects::get(&mut tx, scope).await?;
        let brands = TrackedBrands::load(&mut tx, scope, &project).await?;
        (
            std::sync::Arc::new(brands),
            prompts::list_outlines(&mut tx, scope).await?,
        )
    };
    let (mut count, total) = (0, prompts.len());
    for prompt in prompts {
        // Answers that come meanwhile make the result old; it is then computed again.
        loop {
            let found = answers::list_of_prompt(&mut db.read().await?, scope, prompt.id).await?;
            let read = found.len() as u64;
            let (brands, outline) = (brands.clone(), prompt.clone());
            let analysed = tokio::task::spawn_blocking(move || analyse_prompt(&brands, &outline, found));
            let analysed = analysed.await.map_err(|e| defect("analysis of answers", e))??;
            if save(job, prompt.id, read, analysed).await? {
                count += read;
                break;
            }
        }
    }
    Ok(json!({ "prompts": total, "answers": count }))
}

/// Results for the answers to a prompt.
struct PromptAnalysis {
    class: searchwright_contract::prompts::PromptClass,
    analyses: Vec<(searchwright_contract::ids::AnswerId, AnswerAnalysis)>,
    cells: Vec<CellCounts>,
    latest: Option<searchwright_contract::prompts::LatestAnswers>,
}

fn analyse_prompt(
    brands: &TrackedBrands,
    prompt: &PromptOutline,
    found: Vec<StoredAnswer>,
) -> Result<PromptAnalysis> {
    let asked = AskedPrompt {
        text: prompt.text.clone(),
        language: prompt.language.clone(),
    };
    let newest = found
        .iter()
        .filter(|answer| answer.status == AnswerStatus::Ok)
        .map(|answer| answer.day)
        .max();
    let mut cells: BTreeMap<(i32, i64), Cell> = BTreeMap::new();
    let (mut analyses, mut of_newest_day) = (Vec::with_capacity(found.len()), Vec::new());
    for mut answer in found {
        let raw = RawAnswer {
            engine: answer.engine,
            status: answer.status,
            text: &answer.text,
            source: &answer.source,
        };
        let analysed = analyse(brands, &asked, raw);
        cells
            .entry((answer.day, answer.series))
            .or_default()
            .add(&analysed.facts);
        analyses.push((answer.id, analysed.analysis.clone()));
        if Some(answer.day) == newest && answer.status == AnswerStatus::Ok {
            answer.analysis = analysed.analysis;
            of_newest_day.push(answer);
        }
    }
    of_newest_day.sort_by_key(|answer| std::cmp::Reverse((answer.asked_at, answer.id)));
    let cells: Result<Vec<CellCounts>> = cells
        .into_iter()
        .map(|((day, series), cell)| {
            Ok(CellCounts {
                day,
                prompt: prompt.id,
                series,
                counts: write_cell(&cell)?,
            })
        })
        .collect();
    Ok(PromptAnalysis {
        class: contract_class(brands.matcher.classify_prompt(&prompt.text, &prompt.language)),
        analyses,
        cells: cells?,
        latest: latest(&of_newest_day),
    })
}

/// Writes the results unless answers have come meanwhile; returns whether it did.
async fn save(job: &JobContext, id: PromptId, read: u64, found: PromptAnalysis) -> Result<bool, JobError> {
    let done = job
        .write_fenced(move |tx, scope| {
            Box::pin(async move {
                projects::lock(tx, scope).await?;
                if answers::count_of_prompt(tx, scope, id).await? != read {
                    return Ok(false);
                }
                prompts::set_class(tx, scope, id, found.class).await?;
                replace(tx, scope, id, found).await?;
                Ok(true)
            })
        })
        .await?;
    Ok(done)
}

async fn replace(
    tx: &mut Tx,
    scope: ProjectScope,
    id: PromptId,
    found: PromptAnalysis,
) -> searchwright_store::Result<()> {
    answers::update_analyses(tx, scope, found.analyses).await?;
    answers::save_cells(tx, scope, found.cells).await?;
    prompts::set_latest(tx, scope, id, found.latest.as_ref()).await
}
