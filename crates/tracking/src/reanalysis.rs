//! Analysis of all stored answers again, after the names, domains or competitors of the brand have changed. Answers whose text is no
//! longer stored keep their analysis, and count by it.

use searchwright_contract::{
    answers::AnswerStatus,
    ids::{AnswerId, PromptId},
    prompts::{LatestAnswers, PromptClass},
};
use searchwright_failure::Result;
use searchwright_store::{
    Tx,
    access::ProjectScope,
    answer_cells::{self, StoredCells},
    answers::{self, AnswerAnalysis, AnswersState, StoredAnswer},
    projects,
    prompts::{self, PromptOutline},
};
use searchwright_visibility::names::NameInbox;

use crate::{
    TrackedBrands,
    analysis::{AskedPrompt, RawAnswer, analyse},
    facts::facts,
    names,
    overview::contract_class,
    recording::{cell_key, latest},
    stored_cells::{self, PromptCells},
};

/// Numbers of answers of an analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnalysisCounts {
    /// Answers that were analysed.
    pub analysed: u64,
    /// Answers whose text is no longer stored: they count as they were last analysed.
    pub without_text: u64,
}

/// Results for the answers to a prompt.
#[derive(Debug)]
pub struct PromptAnalysis {
    prompt: PromptId,
    names_version: i64,
    class: PromptClass,
    analyses: Vec<(AnswerId, AnswerAnalysis)>,
    cells: Vec<StoredCells>,
    names: NameInbox,
    read: AnswersState,
    latest: Option<LatestAnswers>,
}

impl PromptAnalysis {
    /// Numbers of answers.
    pub const fn counts(&self) -> AnalysisCounts {
        AnalysisCounts {
            analysed: self.analyses.len() as u64,
            without_text: self.read.answers - self.analyses.len() as u64,
        }
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
    let mut cells = PromptCells::new();
    let (mut analyses, mut of_newest_day) = (Vec::with_capacity(found.len()), Vec::new());
    let mut inbox = NameInbox::default();
    let read = AnswersState {
        answers: found.len() as u64,
        override_changes: found.iter().map(|answer| answer.override_changes).sum(),
    };
    for mut answer in found {
        if let Some(raw) = RawAnswer::from_stored(&answer) {
            let analysed = analyse(brands, asked, raw);
            names::add(&mut inbox, &answer, &analysed.names);
            answer.analysis = analysed.analysis;
            analyses.push((answer.id, answer.analysis.clone()));
        }
        cells
            .entry(cell_key(&answer))
            .or_default()
            .add(&facts(brands, &answer));
        if Some(answer.day) == newest && answer.status == AnswerStatus::Ok {
            of_newest_day.push(answer);
        }
    }
    of_newest_day.sort_by_key(|answer| std::cmp::Reverse((answer.asked_at, answer.id)));
    Ok(PromptAnalysis {
        prompt: prompt.id,
        names_version: brands.names_version,
        class: contract_class(asked.class),
        analyses,
        cells: stored_cells::pack(prompt.id, cells),
        names: inbox,
        read,
        latest: latest(&of_newest_day),
    })
}

/// Writes the results unless answers, corrections or other names have come meanwhile; returns whether it did.
pub async fn save(
    tx: &mut Tx,
    scope: ProjectScope,
    found: PromptAnalysis,
) -> searchwright_store::Result<bool> {
    projects::lock(tx, scope).await?;
    if projects::names_version(tx, scope).await? != found.names_version
        || answers::state_of_prompt(tx, scope, found.prompt).await? != found.read
    {
        return Ok(false);
    }
    prompts::set_class(tx, scope, found.prompt, found.class).await?;
    answers::update_analyses(tx, scope, found.analyses).await?;
    answer_cells::save(tx, scope, found.cells).await?;
    names::replace(tx, scope, found.prompt, &found.names).await?;
    prompts::set_latest(tx, scope, found.prompt, found.latest.as_ref()).await?;
    Ok(true)
}
