//! The names inbox. Counts are kept per prompt, so that the analysis of a prompt replaces its own, and summed up per project, so
//! that a list reads as many rows as it shows. Both change in the transaction that records or analyses answers.

use std::collections::HashMap;

use searchwright_contract::{
    Instant,
    answers::Engine,
    ids::PromptId,
    names::{NameQuote, NameStatus, NearBrand, UnknownName},
};
use searchwright_store::{
    Error, Result, Tx,
    access::ProjectScope,
    names::{self, FoundName, InboxName, NameDelta, NamePlace, PromptName},
};
use searchwright_visibility::names::{
    MAX_INBOX_NAMES, MAX_QUOTES, NameCount, NameInbox, Sighting, UnknownName as FoundInText,
};

use crate::TrackedBrands;

pub use searchwright_visibility::names::name_key;

/// Adds the names of a stored answer.
pub(crate) fn add(
    inbox: &mut NameInbox,
    answer: &searchwright_store::answers::StoredAnswer,
    found: &[FoundInText],
) {
    let sighting = Sighting {
        answer: answer.id.to_string(),
        engine: answer.engine.as_str().to_owned(),
        at: answer.asked_at.millis(),
    };
    inbox.add(&sighting, found);
}

/// Adds the names of new answers to a prompt.
pub(crate) async fn record(
    tx: &mut Tx,
    scope: ProjectScope,
    prompt: PromptId,
    new: &NameInbox,
) -> Result<()> {
    if new.names.is_empty() {
        return Ok(());
    }
    let keys: Vec<String> = new.names.keys().cloned().collect();
    let known = names::find_of_prompt(tx, scope, prompt, &keys).await?;
    let (mut rows, mut deltas) = (Vec::new(), Vec::new());
    for ((key, count), known) in new.names.iter().zip(known) {
        deltas.push(NameDelta {
            key: key.clone(),
            name: count.name().to_owned(),
            answers: count.answers.into(),
            prompts: i64::from(known.is_none()),
        });
        let mut sum = count.clone();
        if let Some(known) = known {
            sum.merge(read(&known)?);
        }
        rows.push(row(key, &sum)?);
    }
    names::save(tx, scope, prompt, rows).await?;
    names::add(tx, scope, deltas).await?;
    leave_out_rarest(tx, scope).await
}

/// Replaces the names of a prompt by those of all its answers.
pub(crate) async fn replace(
    tx: &mut Tx,
    scope: ProjectScope,
    prompt: PromptId,
    all: &NameInbox,
) -> Result<()> {
    let mut deltas: HashMap<String, NameDelta> = HashMap::new();
    for (key, answers) in names::list_counts(tx, scope, prompt).await? {
        let delta = NameDelta {
            name: key.clone(),
            answers: -i64::try_from(answers).unwrap_or(i64::MAX),
            prompts: -1,
            key: key.clone(),
        };
        deltas.insert(key, delta);
    }
    let mut rows = Vec::with_capacity(all.names.len());
    for (key, count) in &all.names {
        let delta = deltas.entry(key.clone()).or_insert_with(|| NameDelta {
            key: key.clone(),
            name: count.name().to_owned(),
            answers: 0,
            prompts: 0,
        });
        delta.answers += i64::from(count.answers);
        delta.prompts += 1;
        rows.push(row(key, count)?);
    }
    names::delete_of_prompt(tx, scope, prompt).await?;
    names::save(tx, scope, prompt, rows).await?;
    let mut deltas: Vec<NameDelta> = deltas
        .into_values()
        .filter(|delta| delta.answers != 0 || delta.prompts != 0)
        .collect();
    deltas.sort_by(|a, b| a.key.cmp(&b.key));
    names::add(tx, scope, deltas).await?;
    leave_out_rarest(tx, scope).await
}

/// Keeps the inbox small: answers may hold any number of names.
async fn leave_out_rarest(tx: &mut Tx, scope: ProjectScope) -> Result<()> {
    let most = MAX_INBOX_NAMES as u64;
    if names::count(tx, scope, NameStatus::Open).await? > 2 * most {
        let rarest = names::list_rarest(tx, scope, most).await?;
        names::delete(tx, scope, &rarest).await?;
    }
    Ok(())
}

fn row(key: &str, count: &NameCount) -> Result<PromptName> {
    Ok(PromptName {
        key: key.to_owned(),
        answers: count.answers.into(),
        found: serde_json::to_string(count).map_err(|e| Error::Defect(format!("names: {e}")))?,
    })
}

fn read(found: &str) -> Result<NameCount> {
    serde_json::from_str(found).map_err(|e| Error::Defect(format!("names: {e}")))
}

/// Rows of one page, and one more if there is a next one.
#[derive(Debug)]
pub struct NameRows {
    /// The names.
    pub names: Vec<UnknownName>,
    /// Their places in the list.
    pub places: Vec<NamePlace>,
}

/// Returns names with their details, most frequent first.
pub async fn list(
    tx: &mut Tx,
    scope: ProjectScope,
    brands: &TrackedBrands,
    status: NameStatus,
    after: Option<NamePlace>,
    limit: u32,
) -> Result<NameRows> {
    let rows = names::list(tx, scope, status, after, limit).await?;
    let keys: Vec<String> = rows.iter().map(|row| row.key.clone()).collect();
    let found = names::list_found(tx, scope, &keys).await?;
    let mut page = NameRows {
        names: Vec::with_capacity(rows.len()),
        places: Vec::with_capacity(rows.len()),
    };
    for (row, found) in rows.into_iter().zip(found) {
        page.places.push(NamePlace {
            answers: row.answers,
            key: row.key.clone(),
        });
        page.names.push(detailed(brands, row, found)?);
    }
    Ok(page)
}

/// Joins the details of a name.
fn detailed(brands: &TrackedBrands, row: InboxName, found: Vec<FoundName>) -> Result<UnknownName> {
    let mut sum: Option<NameCount> = None;
    let mut prompts: HashMap<String, PromptId> = HashMap::new();
    for found in found {
        let count = read(&found.found)?;
        let answers = count.quotes.iter().map(|quote| quote.answer.clone());
        prompts.extend(answers.map(|answer| (answer, found.prompt)));
        match &mut sum {
            Some(sum) => sum.merge(count),
            None => sum = Some(count),
        }
    }
    let quotes = sum.iter().flat_map(|sum| &sum.quotes).take(MAX_QUOTES);
    let quotes = quotes.filter_map(|quote| {
        Some(NameQuote {
            prompt_id: *prompts.get(&quote.answer)?,
            answer_id: quote.answer.parse().ok()?,
            text: quote.text.clone(),
        })
    });
    let engines = sum.iter().flat_map(|sum| &sum.engines);
    let mut engines: Vec<Engine> = engines.filter_map(|engine| engine.parse().ok()).collect();
    engines.sort_unstable();
    Ok(UnknownName {
        status: row.status,
        answers: row.answers,
        prompts: row.prompts,
        engines,
        first_seen_at: sum.as_ref().map(|sum| Instant::from_millis(sum.first_at)),
        last_seen_at: sum.as_ref().map(|sum| Instant::from_millis(sum.last_at)),
        quotes: quotes.collect(),
        near_to: brands.near_names.find(&row.key).map(|brand| NearBrand {
            brand: brands.name(brand),
            competitor_id: brands.competitor(brand),
        }),
        name: sum.as_ref().map_or(row.name, |sum| sum.name().to_owned()),
    })
}
