//! Corrections of mentions by people. A correction is stored with the answer, and the counts of the day of the answer change in the
//! same transaction.

use searchwright_contract::answers::MentionOverride;
use searchwright_store::{
    Result, Tx,
    access::ProjectScope,
    answer_cells,
    answer_overrides::{self, CountedAnswer},
    answers::{self, StoredAnswer},
    prompts,
};
use searchwright_visibility::cells::Cell;

use crate::{
    TrackedBrands,
    facts::{AnalysisParts, facts},
    recording::{cell_key, latest},
    stored_cells,
};

impl<'a> From<&'a CountedAnswer> for AnalysisParts<'a> {
    fn from(answer: &'a CountedAnswer) -> Self {
        Self {
            engine: answer.engine,
            status: answer.status,
            analysis: &answer.analysis,
            overrides: &answer.overrides,
        }
    }
}

/// Replaces the corrections of an answer, and counts its cell again. The project has to be locked.
pub async fn save(
    tx: &mut Tx,
    scope: ProjectScope,
    brands: &TrackedBrands,
    mut answer: StoredAnswer,
    overrides: Vec<MentionOverride>,
) -> Result<StoredAnswer> {
    answer_overrides::set_overrides(tx, scope, answer.id, &overrides).await?;
    answer.overrides = overrides;
    let mut cell = Cell::default();
    for counted in answer_overrides::list_of_cell(tx, scope, &answer).await? {
        cell.add(&facts(brands, &counted));
    }
    let mut cells = stored_cells::load(tx, scope, answer.prompt, [answer.day]).await?;
    cells.insert(cell_key(&answer), cell);
    answer_cells::save(tx, scope, stored_cells::pack(answer.prompt, cells)).await?;
    let newest = answers::list_newest_day(tx, scope, answer.prompt).await?;
    prompts::set_latest(tx, scope, answer.prompt, latest(&newest).as_ref()).await?;
    Ok(answer)
}
