//! Keywords from files of other tools.

use std::{
    collections::{BTreeSet, HashMap, hash_map},
    sync::Arc,
};

use searchwright_contract::{
    argument::file_bytes,
    ids::KeywordId,
    keywords::{ImportKeywords, Imported, ImportedRow, KeywordStatus, RowOutcome},
};
use searchwright_keywords::{
    import::{Import, Row, RowFault},
    normalize,
};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    keywords::{self, KeywordFacts, NewKeyword, TextKey},
};

use super::{
    jobs::with_actions,
    keyword_arguments::{country_code, load_brands},
};
use crate::{
    Engine,
    call::{Call, ImportedFile, Prepared, fault},
    endpoint::Handle,
    failure::{Failure, Result, defect},
    jobs::Job,
    keyword_merge::{RowOrigin, merge_row},
};

/// Rows of one file.
const MAX_ROWS: usize = 100_000;
/// Rows listed one by one in the answer, at most.
const MAX_OUTCOMES: usize = 1_000;
/// Rows of each outcome listed one by one in the answer of a dry run.
const MAX_OF_OUTCOME: u64 = 50;
/// Keywords looked up and written together.
const KEYWORDS_PER_BATCH: usize = 1_000;

/// The rows of a file that speak of one keyword.
struct Entry {
    text: TextKey,
    row: Row,
}

impl Handle<ImportKeywords> for Engine {
    const PREPARES: bool = true;

    /// Imports the rows, a portion per transaction, so that the writes of others wait for no more than one. Whoever
    /// repeats an import that was interrupted finds the rows that were written unchanged.
    async fn prepare(call: &Call, operation: &ImportKeywords) -> Result<Prepared> {
        let (access, operation) = (call.project()?, operation.clone());
        let language = operation.language.unwrap_or_else(|| access.language.clone());
        let country = country_code(operation.country, &access.country)?;
        let (file, is_dry_run) = (operation.file, operation.dry_run == Some(true));
        let reading = tokio::task::spawn_blocking(move || {
            let bytes = file_bytes(file).map_err(|e| fault("/file", e.code(), e.to_string()))?;
            let mut import =
                Import::open(&*bytes).map_err(|e| fault("/file", "unknown_format", e.to_string()))?;
            let mut told = Told::new(import.format().as_str(), is_dry_run);
            let entries = entries(&mut import, &language, &country, &mut told)?;
            Ok::<_, Failure>((import.format().source(), entries, told))
        });
        let (source, mut entries, mut told) = reading.await.map_err(|e| defect("import", e))??;
        let origin = Arc::new(RowOrigin {
            source,
            status: operation.status.unwrap_or(KeywordStatus::New),
            brands: load_brands(call, &mut call.engine.db.read().await?).await?,
            now: call.now,
        });
        while !entries.is_empty() {
            let portion: Vec<Entry> = entries.drain(..entries.len().min(KEYWORDS_PER_BATCH)).collect();
            let (engine, scope, origin) = (call.engine.clone(), call.scope()?, origin.clone());
            let work = async move |tx: &mut Tx| {
                write(&engine, tx, scope, &portion, &origin, &mut told).await?;
                Ok::<_, Failure>(told)
            };
            told = call.engine.db.write(move |tx| Box::pin(work(tx))).await?;
        }
        Ok(Prepared::Import(Box::new(told.finish())))
    }

    async fn handle(call: &Call, tx: &mut Tx, _: ImportKeywords) -> Result<Imported> {
        let Prepared::Import(file) = &call.prepared else {
            return Err(defect("import", "no row was imported"));
        };
        let mut imported = file.imported.clone();
        if imported.dry_run {
            return Ok(imported);
        }
        for language in file.changed_languages.iter().cloned() {
            let clusters = Job::ClusterKeywords { language };
            let job = clusters
                .enqueue_once(tx, call.scope()?, call.engine.clock.id(), call.now)
                .await?;
            imported.job = imported.job.or(job.map(|job| with_actions(call, job)));
        }
        Ok(imported)
    }
}

/// Reads every row. Of rows with one text the one that knows most of searches stays.
fn entries(import: &mut Import, language: &str, country: &str, told: &mut Told) -> Result<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut places: HashMap<TextKey, usize> = HashMap::new();
    for row in import {
        told.imported.rows += 1;
        if told.imported.rows as usize > MAX_ROWS {
            let detail = format!("has more than {MAX_ROWS} rows; split it");
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
        let language = row.language.as_deref().unwrap_or(language).to_owned();
        let text = (language, country, normalize(&row.keyword));
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

async fn write(
    engine: &Engine,
    tx: &mut Tx,
    scope: ProjectScope,
    portion: &[Entry],
    origin: &RowOrigin,
    told: &mut Told,
) -> Result<()> {
    let texts = || portion.iter().map(|entry| entry.text.clone()).collect();
    let mut found = keywords::find_by_texts_for_update(tx, scope, texts()).await?;
    let missing = portion.iter().zip(&found).filter(|(_, found)| found.is_none());
    let new: Vec<NewKeyword> = missing
        .map(|(entry, _)| new_keyword(engine, entry, origin))
        .collect();
    let mut ids: HashMap<TextKey, KeywordId> = HashMap::new();
    if !told.imported.dry_run {
        let wanted: Vec<(TextKey, KeywordId)> = new.iter().map(|new| (new.key(), new.id)).collect();
        let created: BTreeSet<KeywordId> = keywords::insert_new(tx, scope, new, origin.now)
            .await?
            .into_iter()
            .collect();
        if created.len() < wanted.len() {
            // Another request made some of them meanwhile.
            found = keywords::find_by_texts_for_update(tx, scope, texts()).await?;
            for keyword in &mut found {
                keyword.take_if(|keyword| created.contains(&keyword.id));
            }
        }
        ids.extend(wanted);
    }
    let mut learnt = Vec::new();
    for (entry, existing) in portion.iter().zip(found) {
        let Some(existing) = existing else {
            told.changed_languages.insert(entry.text.0.clone());
            told.row(entry.row.line, RowOutcome::Created, ids.get(&entry.text).copied());
            continue;
        };
        let before = KeywordFacts::from_keyword(&existing);
        let after = merge_row(before.clone(), &entry.row, &entry.text.2, &entry.text.0, origin);
        if before.equals_but_for_times(&after) {
            told.row(entry.row.line, RowOutcome::Unchanged, Some(existing.id));
        } else {
            learnt.push((existing.id, after));
            told.changed_languages.insert(entry.text.0.clone());
            told.row(entry.row.line, RowOutcome::Updated, Some(existing.id));
        }
    }
    if !told.imported.dry_run {
        keywords::update_facts(tx, scope, learnt, origin.now).await?;
    }
    Ok(())
}

fn new_keyword(engine: &Engine, entry: &Entry, origin: &RowOrigin) -> NewKeyword {
    let (language, country, normalized) = entry.text.clone();
    NewKeyword {
        id: engine.clock.id(),
        keyword: entry.row.keyword.clone(),
        facts: merge_row(
            KeywordFacts::default(),
            &entry.row,
            &normalized,
            &language,
            origin,
        ),
        normalized,
        language,
        country,
        status: origin.status,
        source: origin.source,
    }
}

/// Outcomes of the rows so far.
struct Told {
    imported: Imported,
    /// Languages of keywords that were added or changed.
    changed_languages: BTreeSet<String>,
    broken: Vec<ImportedRow>,
    sound: Vec<ImportedRow>,
}

impl Told {
    fn new(format: &str, dry_run: bool) -> Self {
        Self {
            imported: Imported {
                format: format.to_owned(),
                dry_run,
                ..Imported::default()
            },
            changed_languages: BTreeSet::new(),
            broken: Vec::new(),
            sound: Vec::new(),
        }
    }

    fn row(&mut self, line: u64, outcome: RowOutcome, keyword: Option<KeywordId>) {
        let count = match outcome {
            RowOutcome::Created => &mut self.imported.created,
            RowOutcome::Updated => &mut self.imported.updated,
            RowOutcome::Unchanged => &mut self.imported.unchanged,
            RowOutcome::Duplicate => &mut self.imported.duplicates,
            RowOutcome::Failed => &mut self.imported.failed,
        };
        *count += 1;
        let is_listed = !self.imported.dry_run || *count <= MAX_OF_OUTCOME;
        if is_listed && self.sound.len() < MAX_OUTCOMES {
            self.sound.push(ImportedRow {
                line,
                outcome,
                keyword_id: keyword,
                code: None,
                column: None,
                detail: None,
            });
        }
    }

    fn failed(&mut self, broken: RowFault) {
        self.imported.failed += 1;
        let is_listed = !self.imported.dry_run || self.imported.failed <= MAX_OF_OUTCOME;
        if is_listed && self.broken.len() < MAX_OUTCOMES {
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

    fn finish(mut self) -> ImportedFile {
        self.sound.sort_by_key(|row| row.line);
        self.broken.append(&mut self.sound);
        self.broken.truncate(MAX_OUTCOMES);
        self.imported.more_outcomes = self.imported.rows.saturating_sub(self.broken.len() as u64);
        self.imported.outcomes = self.broken;
        ImportedFile {
            imported: self.imported,
            changed_languages: self.changed_languages,
        }
    }
}
