//! Keywords from files of other tools.

use std::collections::{HashMap, hash_map};

use searchwright_contract::{
    Instant,
    argument::file_bytes,
    keywords::{
        Cannibalisation, CannibalisationReason, CompetitionLevel, ImportKeywords, Imported, ImportedRow,
        IntentSource, KeywordOrigin, KeywordSource, KeywordStatus, RowOutcome, TrendMonth, VolumeRange,
    },
};
use searchwright_store::{
    Tx,
    keywords::{self, Known, New, Text},
};
use uuid::Uuid;

use super::{
    jobs::with_actions,
    keywords::{brands, country_code, score_of},
};
use crate::{
    Engine,
    call::{Call, Credential, fault},
    endpoint::Handle,
    failure::Result,
    jobs::Job,
    keywords::{
        import::{Import, Level, Row, RowFault, Trend},
        intent::{self, Brands},
        normalize,
    },
};

/// Rows of one file.
const MOST_ROWS: usize = 100_000;
/// Rows told one by one.
const MOST_OUTCOMES: usize = 1_000;
/// Keywords looked up and written together.
const PORTION: usize = 1_000;

/// The rows of a file that speak of one keyword.
struct Entry {
    text: Text,
    row: Row,
}

impl Handle<ImportKeywords> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, operation: ImportKeywords) -> Result<Imported> {
        let Credential::Key(access) = &call.credential;
        let language = operation.language.unwrap_or_else(|| access.language.clone());
        let country = country_code(operation.country, &access.country)?;
        let bytes = file_bytes(operation.file)
            .ok_or_else(|| fault("/file", "not_base64", "is a data: URL without sound base64 in it"))?;
        let mut import =
            Import::open(&*bytes).map_err(|e| fault("/file", "unknown_format", e.to_string()))?;
        let source = import.format().source();
        let mut told = Told::new(import.format().as_str());
        let entries = entries(&mut import, &language, &country, &mut told)?;
        let context = Context {
            source,
            status: operation.status.unwrap_or(KeywordStatus::New),
            brands: brands(call, tx).await?,
            now: call.now,
        };
        for portion in entries.chunks(PORTION) {
            write(call, tx, portion, &context, &mut told).await?;
        }
        if told.imported.created + told.imported.updated > 0 {
            let clusters = Job::ClusterKeywords { language };
            let job = clusters
                .enqueue_once(tx, call.scope()?, call.engine.clock.id(), call.now)
                .await?;
            told.imported.job = job.map(|job| with_actions(call, job));
        }
        Ok(told.finish())
    }
}

/// Reads every row. Of rows with one text the one that knows most of searches stays.
fn entries(import: &mut Import<&[u8]>, language: &str, country: &str, told: &mut Told) -> Result<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut places: HashMap<Text, usize> = HashMap::new();
    for row in import {
        told.imported.rows += 1;
        if told.imported.rows as usize > MOST_ROWS {
            let detail = format!("has more than {MOST_ROWS} rows; split it");
            return Err(fault("/file", "too_many_rows", detail));
        }
        let row = match row {
            Ok(row) => row,
            Err(broken) => {
                told.failed(broken);
                continue;
            }
        };
        let country = row.country.as_deref().unwrap_or(country).to_owned();
        let text = (language.to_owned(), country, normalize(&row.keyword));
        match places.entry(text.clone()) {
            hash_map::Entry::Vacant(place) => {
                place.insert(entries.len());
                entries.push(Entry { text, row });
            }
            hash_map::Entry::Occupied(place) => {
                let known = &mut entries[*place.get()].row;
                let later = if row.volume_quality() > known.volume_quality() {
                    std::mem::replace(known, row)
                } else {
                    row
                };
                told.row(later.line, RowOutcome::Duplicate, None);
            }
        }
    }
    Ok(entries)
}

/// What rows of one origin share.
pub(crate) struct Context {
    /// Where they come from.
    pub(crate) source: KeywordSource,
    /// Status of keywords that are new.
    pub(crate) status: KeywordStatus,
    /// Whose a keyword is.
    pub(crate) brands: Brands,
    /// When.
    pub(crate) now: Instant,
}

async fn write(
    call: &Call,
    tx: &mut Tx,
    portion: &[Entry],
    context: &Context,
    told: &mut Told,
) -> Result<()> {
    let scope = call.scope()?;
    let texts = portion.iter().map(|entry| entry.text.clone()).collect();
    let found = keywords::by_texts(tx, scope, texts).await?;
    let (mut new, mut learnt) = (Vec::new(), Vec::new());
    for (entry, existing) in portion.iter().zip(found) {
        let Some(existing) = existing else {
            let id = call.engine.clock.id();
            let (language, country, normalized) = entry.text.clone();
            new.push(New {
                id,
                keyword: entry.row.keyword.clone(),
                known: learn(Known::default(), &entry.row, &normalized, &language, context),
                normalized,
                language,
                country,
                status: context.status,
                source: context.source,
            });
            told.row(entry.row.line, RowOutcome::Created, Some(id));
            continue;
        };
        let id = Uuid::try_parse(&existing.id).unwrap_or_default();
        let before = Known::of(&existing);
        let after = learn(before.clone(), &entry.row, &entry.text.2, &entry.text.0, context);
        if same(&before, &after) {
            told.row(entry.row.line, RowOutcome::Unchanged, Some(id));
        } else {
            learnt.push((id, after));
            told.row(entry.row.line, RowOutcome::Updated, Some(id));
        }
    }
    keywords::add(tx, scope, new, context.now).await?;
    keywords::learn(tx, scope, learnt, context.now).await?;
    Ok(())
}

/// Whether two states say the same, whenever it was learnt.
fn same(a: &Known, b: &Known) -> bool {
    let plain = |known: &Known| {
        let mut known = known.clone();
        known.details.metrics_updated_at = None;
        for origin in &mut known.details.sources {
            origin.at = Instant::default();
        }
        known
    };
    plain(a) == plain(b)
}

/// What is known after a row. What it does not say stays; a bucket does not replace an exact number.
pub(crate) fn learn(
    mut known: Known,
    row: &Row,
    normalized: &str,
    language: &str,
    context: &Context,
) -> Known {
    let details = &mut known.details;
    if let Some(volume) = row.search_volume {
        known.search_volume = Some(volume);
        details.volume_range = None;
    } else if let Some(range) = row.volume_range.filter(|_| known.search_volume.is_none()) {
        details.volume_range = Some(VolumeRange {
            min: range.min,
            max: range.max,
        });
    }
    if row.difficulty.is_some() {
        known.keyword_difficulty = row.difficulty;
        details.difficulty_source = Some(context.source);
    }
    set(&mut details.cpc, row.cpc.or(row.bid_high));
    set(&mut details.currency, row.currency.clone());
    set(&mut details.competition, row.competition);
    set(&mut details.competition_level, row.competition_level.map(level));
    set(&mut details.parent_topic, row.parent_topic.clone());
    set(&mut details.position, row.position);
    set(&mut details.ranking_url, row.ranking_url.clone());
    // An export by query alone does not know.
    if context.source == KeywordSource::Gsc && row.ranking_url.is_some() {
        details.cannibalisation = (!row.competing.is_empty()).then(|| Cannibalisation {
            reason: CannibalisationReason::SearchConsole,
            urls: row.competing.clone(),
            post_ids: Vec::new(),
        });
    }
    set(&mut details.clicks, row.clicks);
    set(&mut details.impressions, row.impressions);
    if !row.serp_features.is_empty() {
        details.serp_features.clone_from(&row.serp_features);
    }
    match &row.trend {
        Some(Trend::Relative(values)) => details.trend_relative = values.to_vec(),
        Some(Trend::Months(months)) => {
            let month = |m: &crate::keywords::import::Month| TrendMonth {
                month: m.month.clone(),
                value: m.value,
            };
            details.trend = months.iter().rev().take(24).rev().map(month).collect();
        }
        None => {}
    }
    details.metrics_updated_at = Some(context.now);
    details.sources.retain(|origin| origin.source != context.source);
    details.sources.push(KeywordOrigin {
        source: context.source,
        place: None,
        detail: None,
        search_volume: row.search_volume,
        keyword_difficulty: row.difficulty,
        at: context.now,
    });
    let by_hand = known.intent_source == Some(IntentSource::Manual);
    if let (Some(intent), false) = (row.intents.first(), by_hand) {
        known.intent = Some(*intent);
        known.details.secondary_intents = row.intents[1..].to_vec();
        known.intent_source = Some(IntentSource::Provider);
        (known.intent_confidence, known.intent_reason) = (None, None);
    } else if known.intent.is_none() {
        judge(&mut known, normalized, language, &context.brands);
    }
    known.score = score_of(&known);
    known
}

fn set<T>(place: &mut Option<T>, said: Option<T>) {
    if said.is_some() {
        *place = said;
    }
}

const fn level(level: Level) -> CompetitionLevel {
    match level {
        Level::Low => CompetitionLevel::Low,
        Level::Medium => CompetitionLevel::Medium,
        Level::High => CompetitionLevel::High,
    }
}

/// Lets the rules say what a searcher wants.
pub(super) fn judge(known: &mut Known, normalized: &str, language: &str, brands: &Brands) {
    let verdict = intent::classify(normalized, language, brands);
    known.intent = Some(verdict.intent);
    known.details.secondary_intents = verdict.secondary;
    known.intent_source = Some(IntentSource::Rules);
    known.intent_confidence = Some(verdict.confidence);
    known.intent_reason = Some(verdict.reason);
}

/// What became of the rows so far.
struct Told {
    imported: Imported,
    broken: Vec<ImportedRow>,
    sound: Vec<ImportedRow>,
}

impl Told {
    fn new(format: &str) -> Self {
        Self {
            imported: Imported {
                format: format.to_owned(),
                ..Imported::default()
            },
            broken: Vec::new(),
            sound: Vec::new(),
        }
    }

    fn row(&mut self, line: u64, outcome: RowOutcome, keyword: Option<Uuid>) {
        let count = match outcome {
            RowOutcome::Created => &mut self.imported.created,
            RowOutcome::Updated => &mut self.imported.updated,
            RowOutcome::Unchanged => &mut self.imported.unchanged,
            RowOutcome::Duplicate => &mut self.imported.duplicates,
            RowOutcome::Failed => &mut self.imported.failed,
        };
        *count += 1;
        if self.sound.len() < MOST_OUTCOMES {
            self.sound.push(ImportedRow {
                line,
                outcome,
                keyword_id: keyword.map(|id| id.to_string()),
                code: None,
                column: None,
                detail: None,
            });
        }
    }

    fn failed(&mut self, broken: RowFault) {
        self.imported.failed += 1;
        if self.broken.len() < MOST_OUTCOMES {
            self.broken.push(ImportedRow {
                line: broken.line,
                outcome: RowOutcome::Failed,
                keyword_id: None,
                code: Some(broken.code.as_str().to_owned()),
                column: broken.column,
                detail: Some(broken.detail),
            });
        }
    }

    fn finish(mut self) -> Imported {
        self.sound.sort_by_key(|row| row.line);
        self.broken.append(&mut self.sound);
        self.broken.truncate(MOST_OUTCOMES);
        self.imported.more_outcomes = self.imported.rows.saturating_sub(self.broken.len() as u64);
        self.imported.outcomes = self.broken;
        self.imported
    }
}
