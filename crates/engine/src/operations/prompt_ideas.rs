//! Suggestions of prompts.

use searchwright_contract::{
    projects::Project,
    prompt_ideas::{SuggestPrompts, SuggestedPrompt, SuggestedPrompts},
};
use searchwright_store::{
    Tx, projects,
    prompts::{self, NewPrompt},
};
use searchwright_tracking::{TrackedBrands, prompt_ideas};

use super::prompts::{already_exists, refuse_more, text_key};
use crate::{Engine, call::Call, endpoint::Handle, failure::Result};

/// Suggestions unless the caller names another number.
const DEFAULT_LIMIT: u8 = 20;

impl Handle<SuggestPrompts> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: SuggestPrompts) -> Result<SuggestedPrompts> {
        let scope = call.scope()?;
        let saves = operation.save.unwrap_or(false);
        if saves {
            projects::lock(tx, scope).await?;
        }
        let project = projects::get(tx, scope).await?;
        let brands = TrackedBrands::load(tx, scope, &project).await?;
        let limit = operation.limit.unwrap_or(DEFAULT_LIMIT).into();
        let mut suggested = prompt_ideas::suggest(tx, scope, &project, &brands, limit).await?;
        if saves {
            refuse_more(tx, call, suggested.data.len() as u64).await?;
            for prompt in &mut suggested.data {
                save(call, tx, &project, prompt).await?;
            }
        }
        Ok(suggested)
    }
}

async fn save(call: &Call, tx: &mut Tx, project: &Project, suggested: &mut SuggestedPrompt) -> Result<()> {
    let country = project.country.clone().unwrap_or_default();
    let id = call.engine.clock.id();
    let new = NewPrompt {
        id,
        text_key: text_key([&suggested.text, &project.language, &country, "", ""]),
        text: suggested.text.clone(),
        language: project.language.clone(),
        country,
        city: None,
        persona: None,
        tags: suggested.topic.iter().cloned().collect(),
        class: suggested.class,
        intent: None,
        engines: Vec::new(),
    };
    let created = prompts::create(tx, call.scope()?, new, call.now).await?;
    created.map_err(already_exists)?;
    suggested.prompt_id = Some(id);
    Ok(())
}
