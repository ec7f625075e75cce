//! Corrections of mentions in answers.

use searchwright_contract::{
    Code, Patch, Problem,
    answers::{AnswerStatus, DisputeMention, EngineAnswer, MentionOverride},
    ids::{AnswerId, ItemId, PromptId},
};
use searchwright_store::{Tx, access::RecordKind, answers, projects, prompts};
use searchwright_tracking::{OWN, TrackedBrands, disputes};

use crate::{
    Engine,
    call::{Call, fault},
    endpoint::Handle,
    failure::Result,
};

/// Corrections of an answer, at most.
const MAX_OVERRIDES: usize = 100;

impl Handle<DisputeMention> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: DisputeMention) -> Result<EngineAnswer> {
        let prompt: PromptId = call.child(RecordKind::Prompt, &operation.prompt_id)?;
        let scope = call.scope()?;
        projects::lock(tx, scope).await?;
        let found = prompts::get(tx, scope, prompt).await;
        call.or_missing(tx, RecordKind::Prompt, prompt, found).await?;
        let id: AnswerId = call.child(RecordKind::Answer, &operation.answer_id)?;
        let found = answers::get(tx, scope, id).await;
        let answer = call.or_missing(tx, RecordKind::Answer, id, found).await?;
        if answer.prompt != prompt {
            return Err(Problem::not_found(RecordKind::Answer.name()).into());
        }
        let project = projects::get(tx, scope).await?;
        let brands = TrackedBrands::load(tx, scope, &project).await?;
        let competitor = competitor(&brands, &operation.brand)?;
        let mut overrides = answer.overrides.clone();
        overrides.retain(|decided| decided.competitor_id != competitor);
        match operation.mentioned {
            Patch::Absent => {
                let why = "is missing: true, false, or null to withdraw the correction";
                return Err(fault("/mentioned", "required", why));
            }
            Patch::Null => {}
            Patch::Value(_) if answer.status != AnswerStatus::Ok => {
                return Err(not_counted(answer.status).into());
            }
            Patch::Value(mentioned) => overrides.push(MentionOverride {
                brand: brands.name(&operation.brand),
                competitor_id: competitor,
                mentioned,
                reason: operation.reason,
                by: call
                    .credential
                    .user()
                    .map_or_else(|| call.credential.name().to_owned(), |user| user.name),
                at: call.now,
            }),
        }
        // the same correction again, whoever makes it, is no other one
        let decisions = |all: &[MentionOverride]| -> Vec<_> {
            let decision = |one: &MentionOverride| (one.competitor_id, one.mentioned, one.reason.clone());
            all.iter().map(decision).collect()
        };
        if decisions(&overrides) == decisions(&answer.overrides) {
            return Ok(answer.into());
        }
        if overrides.len() > MAX_OVERRIDES {
            let why = format!("an answer has at most {MAX_OVERRIDES} corrections");
            return Err(Problem::new(Code::InvalidState, why)
                .hint("withdraw some with mentioned: null")
                .into());
        }
        let saved = disputes::save(tx, scope, &brands, answer, overrides).await?;
        Ok(saved.into())
    }
}

/// Returns the competitor that the caller named; `None` for the own brand.
fn competitor(brands: &TrackedBrands, brand: &str) -> Result<Option<ItemId>> {
    if brand == OWN {
        return Ok(None);
    }
    let id = ItemId::parse(brand).ok();
    match id.and_then(|id| brands.competitor(&id.to_string())) {
        Some(found) => Ok(Some(found)),
        None => Err(fault(
            "/brand",
            "not_found",
            "is neither own nor the id of an active competitor of this project",
        )),
    }
}

fn not_counted(status: AnswerStatus) -> Problem {
    let why = format!("the answer has the status {status}, so that no rate counts it");
    Problem::new(Code::InvalidState, why)
        .hint("correct answers with status ok")
        .with("from", status.as_str())
}
