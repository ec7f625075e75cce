//! Changes of mentions that a run shows.

use searchwright_contract::{
    events::{MentionCount, MentionData},
    ids::RunId,
};
use searchwright_store::{
    Result, Tx,
    access::ProjectScope,
    answers::{self, AnswerAnalysis, AnswerPlace},
};

/// Number of the newest answers that decide. One answer alone says little: the same question is often answered otherwise.
const NEWEST: u32 = 5;

/// Returns the change that a run made to the newest answers of one engine to a prompt: a gain if none of those before
/// mentions the brand and one of those now does, a loss in the other direction. `None` if nothing was known before.
pub async fn mention_change(
    tx: &mut Tx,
    scope: ProjectScope,
    place: AnswerPlace,
    run: RunId,
) -> Result<Option<MentionData>> {
    let before = count(&answers::list_newest_analyses(tx, scope, &place, Some(run), NEWEST).await?);
    let now = count(&answers::list_newest_analyses(tx, scope, &place, None, NEWEST).await?);
    let changed = (before.mentions > 0) != (now.mentions > 0);
    Ok((before.answers > 0 && changed).then_some(MentionData {
        prompt_id: place.prompt,
        run_id: run,
        engine: place.engine,
        surface: place.surface,
        before,
        now,
    }))
}

fn count(analyses: &[AnswerAnalysis]) -> MentionCount {
    let mentions = analyses.iter().filter(|analysis| analysis.mentions_own()).count();
    MentionCount {
        answers: analyses.len() as u32,
        mentions: mentions as u32,
    }
}
