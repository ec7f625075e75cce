//! Answers with their counts: stored together, so that a sum over cells is always the sum over answers.

use std::borrow::Cow;

use searchwright_contract::{
    Instant,
    answers::{AnswerStatus, Engine, Sentiment, Surface},
    ids::{AnswerId, RunId},
    prompts::{LatestAnswers, Prompt},
};
use searchwright_store::{
    Result, Tx,
    access::ProjectScope,
    answer_cells,
    answers::{self, AnswerSource, Series, StoredAnswer},
    projects, prompts,
};
use searchwright_visibility::{
    cells::{CellKey, Facts},
    names::NameInbox,
};
use sha2::{Digest as _, Sha256};

use crate::{
    ProjectDays, TrackedBrands,
    analysis::{AskedPrompt, RawAnswer, analyse},
    facts::{facts, own_override},
    names, stored_cells,
};

/// An answer to be recorded.
#[derive(Clone, Debug)]
pub struct NewAnswer {
    /// Identifier.
    pub id: AnswerId,
    /// Run; `None` if it was copied by hand.
    pub run: Option<RunId>,
    /// Way by which it was obtained.
    pub key: SeriesKey,
    /// Outcome; `None` if only the text tells whether the engine refused.
    pub status: Option<AnswerStatus>,
    /// Time of the answer.
    pub asked_at: Instant,
    /// Text.
    pub text: String,
    /// Facts that the engine gave.
    pub source: AnswerSource,
}

/// Members by which series differ, beside the model that answered.
#[derive(Clone, Debug)]
pub struct SeriesKey {
    /// Engine.
    pub engine: Engine,
    /// Way by which it was obtained.
    pub surface: Surface,
    /// Whether the engine searches.
    pub retrieval: String,
    /// Version of the tool and effort.
    pub variant: String,
}

/// Answers to one prompt that were analysed, ready to be stored.
#[derive(Clone, Debug)]
pub struct AnalysedAnswers {
    prompt: Prompt,
    names_version: i64,
    series: Vec<Series>,
    answers: Vec<StoredAnswer>,
    facts: Vec<Facts>,
    names: NameInbox,
}

impl AnalysedAnswers {
    /// Returns the answers.
    pub fn answers(&self) -> &[StoredAnswer] {
        &self.answers
    }
}

/// Analyses answers to one prompt. Takes time: not within a transaction.
pub fn analyse_answers(
    brands: &TrackedBrands,
    days: &ProjectDays,
    prompt: &Prompt,
    new: Vec<NewAnswer>,
) -> AnalysedAnswers {
    let asked = AskedPrompt::new(brands, &prompt.text, &prompt.language);
    let mut all = AnalysedAnswers {
        prompt: prompt.clone(),
        names_version: brands.names_version,
        series: Vec::new(),
        answers: Vec::with_capacity(new.len()),
        facts: Vec::with_capacity(new.len()),
        names: NameInbox::default(),
    };
    for answer in new {
        let series = series(&answer);
        let raw = RawAnswer {
            status: answer.status,
            surface: answer.key.surface,
            text: &answer.text,
            source: &answer.source,
        };
        let analysed = analyse(brands, asked, raw);
        let stored = StoredAnswer {
            id: answer.id,
            prompt: prompt.id,
            run: answer.run,
            series: series.id,
            engine: answer.key.engine,
            surface: answer.key.surface,
            status: analysed.status,
            day: days.day(answer.asked_at),
            asked_at: answer.asked_at,
            text: Some(answer.text),
            source: answer.source,
            analysis: analysed.analysis,
            overrides: Vec::new(),
            override_changes: 0,
        };
        names::add(&mut all.names, &stored, &analysed.names);
        all.facts.push(facts(brands, &stored));
        all.answers.push(stored);
        if !all.series.contains(&series) {
            all.series.push(series);
        }
    }
    all
}

/// Returns the series of an answer. Its id follows from its members, so that no two transactions give one series two ids.
fn series(answer: &NewAnswer) -> Series {
    let model = answer
        .source
        .served_model
        .as_deref()
        .map(model_family)
        .unwrap_or_default();
    let key = &answer.key;
    let text = [
        key.engine.as_str(),
        key.surface.as_str(),
        &key.retrieval,
        &model,
        &key.variant,
    ]
    .join("\n");
    let digest = Sha256::digest(text);
    let mut id = [0; 8];
    id.copy_from_slice(&digest[..8]);
    Series {
        id: i64::from_be_bytes(id),
        engine: key.engine,
        surface: key.surface,
        retrieval: key.retrieval.clone(),
        model,
        variant: key.variant.clone(),
    }
}

/// Returns the family of a model: its name without the date of a snapshot, such as `-2026-03-01` or `-20260301`.
fn model_family(model: &str) -> String {
    let is_date = |digits: &str| digits.len() >= 6 && digits.bytes().all(|b| b.is_ascii_digit());
    let mut parts: Vec<&str> = model.split('-').collect();
    let count = parts.len();
    let is_iso = count > 3
        && parts[count - 3].len() == 4
        && parts[count - 3..]
            .iter()
            .all(|part| part.bytes().all(|b| b.is_ascii_digit()));
    if is_iso {
        parts.truncate(count - 3);
    } else if count > 1 && is_date(parts[count - 1]) {
        parts.truncate(count - 1);
    }
    parts.join("-")
}

/// Stores answers to a prompt and adds them to their cells. Returns them as they were stored: analysed again if names have
/// changed since the analysis, because the job that follows the change may have passed the prompt already.
pub async fn store<'a>(
    tx: &mut Tx,
    scope: ProjectScope,
    analysed: &'a AnalysedAnswers,
    now: Instant,
) -> Result<Cow<'a, AnalysedAnswers>> {
    // Two transactions that add to one cell, or that change names, wait for each other.
    projects::lock(tx, scope).await?;
    let analysed = if projects::names_version(tx, scope).await? == analysed.names_version {
        Cow::Borrowed(analysed)
    } else {
        let project = projects::get(tx, scope).await?;
        let brands = TrackedBrands::load(tx, scope, &project).await?;
        Cow::Owned(analyse_again(&brands, analysed))
    };
    for series in &analysed.series {
        answers::save_series(tx, scope, series, now).await?;
    }
    answers::insert(tx, scope, &analysed.answers, now).await?;
    add_to_cells(tx, scope, &analysed).await?;
    let prompt = analysed.prompt.id;
    names::record(tx, scope, prompt, &analysed.names).await?;
    let newest = answers::list_newest_day(tx, scope, prompt).await?;
    prompts::set_latest(tx, scope, prompt, latest(&newest).as_ref()).await?;
    Ok(analysed)
}

/// Analyses answers with other names.
fn analyse_again(brands: &TrackedBrands, known: &AnalysedAnswers) -> AnalysedAnswers {
    let asked = AskedPrompt::new(brands, &known.prompt.text, &known.prompt.language);
    let mut all = AnalysedAnswers {
        names_version: brands.names_version,
        facts: Vec::with_capacity(known.answers.len()),
        names: NameInbox::default(),
        ..known.clone()
    };
    for answer in &mut all.answers {
        if let Some(raw) = RawAnswer::from_stored(answer) {
            let analysed = analyse(brands, asked, raw);
            answer.analysis = analysed.analysis;
            names::add(&mut all.names, answer, &analysed.names);
        }
        all.facts.push(facts(brands, &*answer));
    }
    all
}

async fn add_to_cells(tx: &mut Tx, scope: ProjectScope, analysed: &AnalysedAnswers) -> Result<()> {
    let days = analysed.answers.iter().map(|answer| answer.day);
    let mut cells = stored_cells::load(tx, scope, analysed.prompt.id, days).await?;
    for (answer, facts) in analysed.answers.iter().zip(&analysed.facts) {
        cells.entry(cell_key(answer)).or_default().add(facts);
    }
    answer_cells::save(tx, scope, stored_cells::pack(analysed.prompt.id, cells)).await
}

/// Returns the cell that counts an answer.
pub(crate) fn cell_key(answer: &StoredAnswer) -> CellKey {
    CellKey {
        series: answer.series,
        day: answer.day,
    }
}

/// Returns the summary of the newest answers.
pub(crate) fn latest(newest: &[StoredAnswer]) -> Option<LatestAnswers> {
    let first = newest.first()?;
    let own = |answer: &StoredAnswer| {
        let mut mentions = answer.analysis.mentions.iter();
        let found = mentions.find(|mention| mention.is_own && !mention.candidate);
        found.filter(|_| own_override(answer) != Some(false)).cloned()
    };
    let mentions: Vec<_> = newest.iter().filter_map(own).collect();
    let is_added = newest.iter().any(|answer| own_override(answer) == Some(true));
    let observable: Vec<&StoredAnswer> = newest
        .iter()
        .filter(|answer| answer.analysis.citations_observable)
        .collect();
    let cites = |answer: &&StoredAnswer| {
        let mut citations = answer.analysis.citations.iter();
        citations.any(|c| c.cited && c.class == searchwright_contract::answers::SourceClass::Owned)
    };
    let scores: Vec<f64> = mentions
        .iter()
        .filter_map(|mention| mention.sentiment_score)
        .collect();
    let mut engines: Vec<Engine> = newest.iter().map(|answer| answer.engine).collect();
    engines.sort_unstable();
    engines.dedup();
    Some(LatestAnswers {
        answer_at: first.asked_at,
        mentioned: is_added || !mentions.is_empty(),
        position: mentions.iter().filter_map(|mention| mention.position).min(),
        cited: (!observable.is_empty()).then(|| observable.iter().any(cites)),
        sentiment: mean_sentiment(&scores),
        engines,
    })
}

fn mean_sentiment(scores: &[f64]) -> Option<Sentiment> {
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    match mean {
        mean if mean.is_nan() => None,
        mean if mean <= -0.2 => Some(Sentiment::Negative),
        mean if mean >= 0.2 => Some(Sentiment::Positive),
        _ => Some(Sentiment::Neutral),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_of_a_model_are_one_family() {
        for (model, family) in [
            ("gpt-5.2-2026-03-01", "gpt-5.2"),
            ("claude-sonnet-5-20260301", "claude-sonnet-5"),
            ("gemini-3-flash", "gemini-3-flash"),
            ("llama3:70b", "llama3:70b"),
            ("m-2026", "m-2026"),
            ("20260301", "20260301"),
        ] {
            assert_eq!(model_family(model), family);
        }
    }
}
