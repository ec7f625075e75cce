//! Changes of mentions that a run shows.

use searchwright_contract::{
    events::{MentionCount, MentionData},
    ids::RunId,
};
use searchwright_store::{
    Result, Tx,
    access::ProjectScope,
    answer_overrides::{self, AnswerPlace, CountedAnswer},
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
    let before = count(&answer_overrides::list_newest(tx, scope, &place, Some(run), NEWEST).await?);
    let now = count(&answer_overrides::list_newest(tx, scope, &place, None, NEWEST).await?);
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

fn count(answers: &[CountedAnswer]) -> MentionCount {
    MentionCount {
        answers: answers.len() as u32,
        mentions: answers.iter().filter(|answer| answer.mentions_own()).count() as u32,
    }
}
