//! Analysis of all stored answers again, after the names, domains or competitors of the brand have changed.

use std::collections::BTreeMap;

use searchwright_contract::{
    answers::AnswerStatus,
    ids::{AnswerId, PromptId},
    prompts::{LatestAnswers, PromptClass},
};
use searchwright_failure::Result;
use searchwright_store::{
    Tx,
    access::ProjectScope,
    answers::{self, AnswerAnalysis, AnswersState, CellCounts, StoredAnswer},
    projects,
    prompts::{self, PromptOutline},
};
use searchwright_visibility::{cells::Cell, names::NameInbox};

use crate::{
    TrackedBrands,
    analysis::{AskedPrompt, RawAnswer, analyse},
    facts::facts,
    names,
    overview::contract_class,
    recording::{latest, write_cell},
};

/// Results for the answers to a prompt.
#[derive(Debug)]
pub struct PromptAnalysis {
    prompt: PromptId,
    class: PromptClass,
    analyses: Vec<(AnswerId, AnswerAnalysis)>,
    cells: Vec<CellCounts>,
    names: NameInbox,
    read: AnswersState,
    latest: Option<LatestAnswers>,
}

impl PromptAnalysis {
    /// Number of answers that were analysed.
    pub const fn answers(&self) -> u64 {
        self.read.answers
    }
}

/// Analyses the answers to a prompt. Takes time: not within a transaction.
pub fn analyse_prompt(
    brands: &TrackedBrands,
    prompt: &PromptOutline,
    found: Vec<StoredAnswer>,
) -> Result<PromptAnalysis> {
    let asked = AskedPrompt::new(brands, &prompt.text, &prompt.language);
    let newest = found
        .iter()
        .filter(|answer| answer.status == AnswerStatus::Ok)
        .map(|answer| answer.day)
        .max();
    let mut cells: BTreeMap<(i32, i64), Cell> = BTreeMap::new();
    let (mut analyses, mut of_newest_day) = (Vec::with_capacity(found.len()), Vec::new());
    let mut inbox = NameInbox::default();
    let read = AnswersState {
        answers: found.len() as u64,
        override_changes: found.iter().map(|answer| answer.override_changes).sum(),
    };
    for mut answer in found {
        let analysed = analyse(brands, asked, RawAnswer::of(&answer));
        names::add(&mut inbox, &answer, &analysed.names);
        answer.analysis = analysed.analysis;
        cells
            .entry((answer.day, answer.series))
            .or_default()
            .add(&facts(brands, &answer));
        analyses.push((answer.id, answer.analysis.clone()));
        if Some(answer.day) == newest && answer.status == AnswerStatus::Ok {
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
        prompt: prompt.id,
        class: contract_class(asked.class),
        analyses,
        cells: cells?,
        names: inbox,
        read,
        latest: latest(&of_newest_day),
    })
}

/// Writes the results unless answers or corrections have come meanwhile; returns whether it did.
pub async fn save(
    tx: &mut Tx,
    scope: ProjectScope,
    found: PromptAnalysis,
) -> searchwright_store::Result<bool> {
    projects::lock(tx, scope).await?;
    if answers::state_of_prompt(tx, scope, found.prompt).await? != found.read {
        return Ok(false);
    }
    prompts::set_class(tx, scope, found.prompt, found.class).await?;
    answers::update_analyses(tx, scope, found.analyses).await?;
    answers::save_cells(tx, scope, found.cells).await?;
    names::replace(tx, scope, found.prompt, &found.names).await?;
    prompts::set_latest(tx, scope, found.prompt, found.latest.as_ref()).await?;
    Ok(true)
}
