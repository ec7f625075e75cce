//! Prompts.

use searchwright_contract::{
    Code, Instant, List, Problem, Scope,
    answers::Engine as AnswerEngine,
    ids::PromptId,
    prompts::{CreatePrompt, GetPrompt, ListPrompts, Prompt, PromptStatus, UpdatePrompt},
};
use searchwright_keywords::normalize;
use searchwright_store::{
    Tx,
    access::{ProjectScope, RecordKind},
    projects,
    prompts::{self, NewPrompt, PromptQuery},
};
use searchwright_tracking::{ProjectDays, TrackedBrands, overview};

use super::{items::changed_meanwhile, keyword_arguments::country_code};
use crate::{
    Engine,
    call::{Call, fault, limit},
    endpoint::Handle,
    failure::Result,
};

/// Active prompts of a project, at most.
const MAX_ACTIVE: u64 = 5_000;

fn with_actions(call: &Call, mut prompt: Prompt) -> Prompt {
    prompt.allowed_actions = call.change_and_delete(Scope::VisibilityWrite);
    prompt.allowed_actions.0.remove("delete");
    prompt
}

/// Fills in the figures of the last 28 days.
async fn with_windows(tx: &mut Tx, scope: ProjectScope, now: Instant, rows: &mut [Prompt]) -> Result<()> {
    let project = projects::get(tx, scope).await?;
    let today = ProjectDays::new(&project.timezone)?.day(now);
    let ids: Vec<PromptId> = rows.iter().map(|prompt| prompt.id).collect();
    let mut windows = overview::prompt_windows(tx, scope, today, &ids).await?;
    for prompt in rows {
        prompt.window = windows.remove(&prompt.id);
    }
    Ok(())
}

/// Trims texts and removes repeated ones; a fault if one is blank.
fn clean_tags(tags: Vec<String>) -> Result<Vec<String>> {
    let mut clean: Vec<String> = Vec::with_capacity(tags.len());
    for (at, tag) in tags.into_iter().enumerate() {
        let tag = tag.trim().to_owned();
        if tag.is_empty() {
            return Err(fault(&format!("/tags/{at}"), "blank", "has nothing but spaces"));
        }
        if !clean.contains(&tag) {
            clean.push(tag);
        }
    }
    Ok(clean)
}

fn distinct(mut engines: Vec<AnswerEngine>) -> Vec<AnswerEngine> {
    engines.sort_unstable();
    engines.dedup();
    engines
}

pub(super) fn already_exists(existing: PromptId) -> Problem {
    Problem::new(Code::AlreadyExists, "the project already tracks this prompt")
        .hint("change the existing one, or name another place or persona")
        .with("existingId", existing.to_string())
}

impl Handle<ListPrompts> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ListPrompts) -> Result<List<Prompt>> {
        let limit = limit(operation.limit);
        let query = PromptQuery {
            status: operation.status.unwrap_or(PromptStatus::Active),
            class: operation.class,
            tag: operation.tag.clone(),
            before: call.after(&operation, operation.cursor.as_deref())?,
            limit: limit + 1,
        };
        let rows = prompts::list(tx, call.scope()?, query).await?;
        let mut rows: Vec<Prompt> = rows.into_iter().map(|row| with_actions(call, row)).collect();
        with_windows(tx, call.scope()?, call.now, &mut rows).await?;
        call.page(&operation, limit, rows, |last| last.id)
    }
}

impl Handle<CreatePrompt> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: CreatePrompt) -> Result<Prompt> {
        let (access, scope) = (call.project()?, call.scope()?);
        let text = operation.text.trim().to_owned();
        if text.is_empty() {
            return Err(fault("/text", "blank", "has nothing but spaces"));
        }
        projects::lock(tx, scope).await?;
        let project = projects::get(tx, scope).await?;
        let brands = TrackedBrands::load(tx, scope, &project).await?;
        let language = operation.language.unwrap_or_else(|| access.language.clone());
        let country = country_code(operation.country, &access.country)?;
        let (city, persona) = (trimmed(operation.city), trimmed(operation.persona));
        refuse_more(tx, call, 1).await?;
        let new = NewPrompt {
            id: call.engine.clock.id(),
            class: overview::contract_class(brands.matcher.classify_prompt(&text, &language)),
            text_key: text_key([
                &text,
                &language,
                &country,
                city.as_deref().unwrap_or_default(),
                persona.as_deref().unwrap_or_default(),
            ]),
            text,
            language,
            country,
            city,
            persona,
            tags: clean_tags(operation.tags.unwrap_or_default())?,
            intent: operation.intent,
            engines: distinct(operation.engines.unwrap_or_default()),
        };
        let created = prompts::create(tx, scope, new, call.now).await?;
        Ok(with_actions(call, created.map_err(already_exists)?))
    }
}

impl Handle<GetPrompt> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: GetPrompt) -> Result<Prompt> {
        let id: PromptId = call.child(RecordKind::Prompt, &operation.prompt_id)?;
        let found = prompts::get(tx, call.scope()?, id).await;
        let mut rows = [with_actions(
            call,
            call.or_missing(tx, RecordKind::Prompt, id, found).await?,
        )];
        with_windows(tx, call.scope()?, call.now, &mut rows).await?;
        let [prompt] = rows;
        Ok(prompt)
    }
}

/// Returns the key of text, language, country, city and persona, by which an active prompt is unique.
pub(super) fn text_key([text, place @ ..]: [&str; 5]) -> String {
    format!("{}\n{}", normalize(text), place.join("\n"))
}

fn trimmed(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

impl Handle<UpdatePrompt> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: UpdatePrompt) -> Result<Prompt> {
        let id: PromptId = call.child(RecordKind::Prompt, &operation.prompt_id)?;
        let scope = call.scope()?;
        let found = prompts::get(tx, scope, id).await;
        let mut prompt = call.or_missing(tx, RecordKind::Prompt, id, found).await?;
        call.check_match(prompt.id, prompt.version)?;
        let before = prompt.clone();
        if let Some(tags) = operation.tags {
            prompt.tags = clean_tags(tags)?;
        }
        prompt.intent = operation.intent.apply(prompt.intent);
        if let Some(engines) = operation.engines {
            prompt.engines = distinct(engines);
        }
        if let Some(status) = operation.status {
            if status == PromptStatus::Active && prompt.status != status {
                // Of two changes at once that make a prompt active, the later one sees the earlier.
                projects::lock(tx, scope).await?;
                refuse_more(tx, call, 1).await?;
                refuse_twin(tx, call, id).await?;
            }
            prompt.status = status;
        }
        let changed = if prompt == before {
            prompt
        } else {
            prompts::update(tx, scope, &prompt, call.now)
                .await
                .map_err(changed_meanwhile)?
        };
        let mut rows = [with_actions(call, changed)];
        with_windows(tx, call.scope()?, call.now, &mut rows).await?;
        let [changed] = rows;
        Ok(changed)
    }
}

/// Refuses further active prompts if there would be more than a project may have.
pub(super) async fn refuse_more(tx: &mut Tx, call: &Call, new: u64) -> Result<()> {
    if prompts::count_active(tx, call.scope()?).await? + new <= MAX_ACTIVE {
        return Ok(());
    }
    let why = format!("a project has at most {MAX_ACTIVE} active prompts");
    Err(Problem::new(Code::InvalidState, why).hint("archive some").into())
}

/// Refuses to track an archived prompt again beside an active one with the same text.
async fn refuse_twin(tx: &mut Tx, call: &Call, id: PromptId) -> Result<()> {
    match prompts::find_active_twin(tx, call.scope()?, id).await? {
        Some(existing) => Err(already_exists(existing).into()),
        None => Ok(()),
    }
}
