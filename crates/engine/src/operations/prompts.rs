//! Prompts.

use searchwright_contract::{
    Code, Instant, List, Problem, Scope,
    answers::Engine as AnswerEngine,
    ids::PromptId,
    prompts::{CreatePrompt, GetPrompt, ListPrompts, Prompt, PromptSort, PromptStatus, UpdatePrompt},
};
use searchwright_keywords::normalize;
use searchwright_store::{
    Tx,
    access::{ProjectScope, RecordKind},
    projects,
    prompts::{self, NewPrompt, PromptQuery},
};
use searchwright_tracking::{ProjectDays, TrackedBrands, overview};

use super::{items::changed_since_read, keyword_arguments::country_code};
use crate::{
    Engine,
    call::{Call, fault, limit},
    endpoint::Handle,
    failure::Result,
};

/// Active prompts of a project, at most.
const MAX_ACTIVE: u64 = 5_000;
/// Prompts that are sorted by a rate, at most; of archived ones there may be more, of which the newest count.
const MAX_LISTED: u64 = 2 * MAX_ACTIVE;

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
        let scope = call.scope()?;
        let query = PromptQuery {
            status: operation.status.unwrap_or(PromptStatus::Active),
            class: operation.class,
            tag: operation.tag.clone(),
            before: None,
            limit: limit + 1,
        };
        let cursor = operation.cursor.as_deref();
        let sort = operation.sort.unwrap_or(PromptSort::Created);
        let rows = match sort {
            PromptSort::Created => {
                let before = call.after(&operation, cursor)?;
                prompts::list(tx, scope, PromptQuery { before, ..query }).await?
            }
            PromptSort::Text => {
                prompts::list_by_key(tx, scope, query, call.after(&operation, cursor)?).await?
            }
            PromptSort::Rate => {
                let all = PromptQuery {
                    limit: u32::try_from(MAX_LISTED).unwrap_or(u32::MAX),
                    ..query
                };
                let mut rows = prompts::list(tx, scope, all).await?;
                with_windows(tx, scope, call.now, &mut rows).await?;
                by_rate(rows, call.after(&operation, cursor)?, limit as usize + 1)
            }
        };
        let mut rows: Vec<Prompt> = rows.into_iter().map(|row| with_actions(call, row)).collect();
        if sort != PromptSort::Rate {
            with_windows(tx, scope, call.now, &mut rows).await?;
        }
        match sort {
            PromptSort::Created => call.page(&operation, limit, rows, |last| last.id),
            PromptSort::Text => call.page(&operation, limit, rows, |last| (key_of(last), last.id)),
            PromptSort::Rate => call.page(&operation, limit, rows, |last| (rate(last), last.id)),
        }
    }
}

/// Mention rate of the last 28 days; below every rate if it was not measured.
fn rate(prompt: &Prompt) -> f64 {
    let window = prompt.window.as_ref();
    window
        .and_then(|window| window.mention_rate.value)
        .unwrap_or(-1.0)
}

/// Sorts prompts by their rates, highest first, and returns those after a place.
fn by_rate(mut rows: Vec<Prompt>, after: Option<(f64, PromptId)>, most: usize) -> Vec<Prompt> {
    let order = |a: (f64, PromptId), b: (f64, PromptId)| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1));
    rows.sort_by(|a, b| order((rate(a), a.id), (rate(b), b.id)));
    rows.retain(|row| after.is_none_or(|after| order(after, (rate(row), row.id)).is_lt()));
    rows.truncate(most);
    rows
}

fn key_of(prompt: &Prompt) -> String {
    text_key([
        &prompt.text,
        &prompt.language,
        prompt.country.as_deref().unwrap_or_default(),
        prompt.city.as_deref().unwrap_or_default(),
        prompt.persona.as_deref().unwrap_or_default(),
    ])
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
                .map_err(changed_since_read)?
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
