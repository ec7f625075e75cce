//! `/projects/{id}/keywords/import`: keywords from the text of a file: first what would come of each row, then the import.

use askama::Template;
use http::StatusCode;
use searchwright_contract::{
    Scope,
    keywords::{ImportKeywords, Imported, ImportedRow, KeywordStatus, RowOutcome},
};

use super::{
    super::{
        frame::{ProjectFrame, Section},
        page::{self, Form},
        show,
        visit::{self, PageResult, SentText, Visit},
    },
    KeywordChoice, status_mark,
};

/// Rows of the result that are shown.
const MAX_SHOWN: usize = 300;
/// Rows of each outcome that a preview shows.
const MAX_PREVIEWED: usize = 50;
/// Characters of a line of the file that are shown.
const MAX_LINE: usize = 80;

/// A row of the file with its outcome.
struct ImportedLine {
    line: u64,
    mark: (&'static str, &'static str),
    text: String,
    detail: String,
}

/// Outcome of an import.
struct ImportOutcome {
    done: Imported,
    lines: Vec<ImportedLine>,
    /// Rows that are not shown.
    more: u64,
}

/// Rows with one outcome, of a preview.
struct PreviewedRows {
    mark: (&'static str, &'static str),
    count: u64,
    lines: Vec<ImportedLine>,
}

impl PreviewedRows {
    const fn is_cut(&self) -> bool {
        self.count > self.lines.len() as u64
    }
}

/// Outcome that an import would have.
struct ImportPreview {
    format: String,
    rows: u64,
    /// Rows that would add or change a keyword.
    useful: u64,
    groups: Vec<PreviewedRows>,
}

fn mark(outcome: RowOutcome) -> (&'static str, &'static str) {
    match outcome {
        RowOutcome::Created => ("good", "Added"),
        RowOutcome::Updated => ("good", "Updated"),
        RowOutcome::Unchanged => ("off", "Nothing new"),
        RowOutcome::Duplicate => ("off", "Repeats an earlier row"),
        RowOutcome::Failed => ("error", "Not imported"),
    }
}

fn told_line(row: &ImportedRow, texts: &[&str]) -> ImportedLine {
    let at = usize::try_from(row.line.saturating_sub(1)).unwrap_or(usize::MAX);
    let column = row
        .column
        .as_ref()
        .map(|column| format!("{}: ", show::cut(column, 40)));
    let code = row.code.as_ref().map(|code| format!("{}: ", show::words(code)));
    let detail = row.detail.as_ref().map(|detail| show::cut(detail, 200));
    ImportedLine {
        line: row.line,
        mark: mark(row.outcome),
        text: show::cut(texts.get(at).copied().unwrap_or_default(), MAX_LINE),
        detail: column.unwrap_or_default() + &code.unwrap_or_default() + &detail.unwrap_or_default(),
    }
}

impl ImportPreview {
    fn new(told: &Imported, file: &str) -> Self {
        let texts: Vec<&str> = file.lines().collect();
        let groups = [
            (RowOutcome::Failed, "Would be refused", told.failed),
            (RowOutcome::Created, "Would be added", told.created),
            (RowOutcome::Updated, "Exist, and would be updated", told.updated),
            (
                RowOutcome::Unchanged,
                "Exist, with the same values",
                told.unchanged,
            ),
            (RowOutcome::Duplicate, "Repeat an earlier row", told.duplicates),
        ];
        let groups = groups.into_iter().filter(|(_, _, count)| *count > 0);
        let groups = groups.map(|(outcome, title, count)| PreviewedRows {
            mark: (mark(outcome).0, title),
            count,
            lines: told
                .outcomes
                .iter()
                .filter(|row| row.outcome == outcome)
                .take(MAX_PREVIEWED)
                .map(|row| told_line(row, &texts))
                .collect(),
        });
        Self {
            format: show::words(&told.format),
            rows: told.rows,
            useful: told.created + told.updated,
            groups: groups.collect(),
        }
    }
}

impl ImportOutcome {
    fn new(done: Imported, file: &str) -> Self {
        let texts: Vec<&str> = file.lines().collect();
        let line = |row| told_line(row, &texts);
        let lines: Vec<ImportedLine> = done.outcomes.iter().take(MAX_SHOWN).map(line).collect();
        let hidden = done.outcomes.len() - lines.len();
        Self {
            more: done.more_outcomes + hidden as u64,
            lines,
            done,
        }
    }
}

#[derive(Template)]
#[template(path = "keywords_import.html")]
struct ImportView {
    frame: ProjectFrame,
    keywords: String,
    may_import: bool,
    statuses: Vec<KeywordChoice>,
    file: String,
    preview: Option<ImportPreview>,
    outcome: Option<ImportOutcome>,
    wrong: Option<String>,
}

fn view(visit: &Visit, status: &str) -> ImportView {
    let choice = |word: &KeywordStatus| {
        let is_chosen = if status.is_empty() {
            *word == KeywordStatus::New
        } else {
            word.as_str() == status
        };
        (word.as_str(), status_mark(*word).1.to_owned(), is_chosen)
    };
    ImportView {
        frame: visit.frame("Import keywords", Section::Keywords),
        keywords: visit.address("/keywords"),
        may_import: visit.may(Scope::KeywordsWrite),
        statuses: KeywordStatus::ALL.iter().map(choice).collect(),
        file: String::new(),
        preview: None,
        outcome: None,
        wrong: None,
    }
}

pub(super) async fn show(visit: Visit) -> PageResult {
    Ok(page::respond(
        StatusCode::OK,
        &view(&visit, ""),
        Form::OwnWithScript,
    ))
}

pub(super) async fn submit(SentText(sent): SentText) -> PageResult {
    let (file, status) = (sent.form.get("file"), sent.form.get("status"));
    let mut shown = view(&sent.visit, status);
    let is_preview = sent.form.get("action") == "preview";
    let operation = ImportKeywords {
        project_id: sent.visit.project_id(),
        file: file.to_owned(),
        language: None,
        country: None,
        status: status.parse().ok(),
        dry_run: is_preview.then_some(true),
    };
    let done = if is_preview {
        // Nothing is stored: the form may be sent as often as it takes.
        sent.visit.read(&operation).await
    } else {
        sent.change(&operation).await
    };
    match done {
        Ok(told) if told.dry_run => {
            shown.preview = Some(ImportPreview::new(&told, file));
            file.clone_into(&mut shown.file);
            let page = page::respond(StatusCode::OK, &shown, Form::OwnWithScript);
            Ok(sent.visit.charge(page, true))
        }
        Ok(done) => {
            // What has faults can be mended and sent again; rows that were taken are then known.
            if done.failed > 0 {
                file.clone_into(&mut shown.file);
            }
            shown.outcome = Some(ImportOutcome::new(done, file));
            let page = page::respond(StatusCode::OK, &shown, Form::OwnWithScript);
            Ok(sent.visit.charge(page, false))
        }
        Err(failure) => {
            let Some((status, text)) = visit::refusal(&failure) else {
                return Err(failure.into());
            };
            file.clone_into(&mut shown.file);
            shown.wrong = Some(text);
            let page = page::respond(status, &shown, Form::OwnWithScript);
            Ok(sent.visit.charge(page, true))
        }
    }
}
