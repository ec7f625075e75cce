//! `/projects/{id}/visibility/prompts/{promptId}`: one prompt with its figures and its answers, in which brands are marked and can
//! be corrected; tracking it with the cost said first; an answer copied by hand.

use std::sync::Arc;

use askama::Template;
use axum::{Router, body::Body, extract::Path, routing::get};
use http::Response;
use searchwright_contract::{
    Instant, Patch, Scope,
    answers::{
        AnswerStatus, CopiedAnswer, CopiedCitation, DisputeMention, Engine, EngineAnswer, ImportAnswers,
        ListAnswers, Mention,
    },
    brand::GetBrand,
    prompts::{GetPrompt, Prompt, PromptStatus, UpdatePrompt},
    runs::TrackPrompt,
};
use searchwright_engine::{Failure, failure};

use super::{
    engines::answer_status,
    marked::{self, AnswerPart},
    prompts::{engine_boxes, engines, filled, latest, tags},
    runs::estimate,
    shown::{
        RefusedForm, SeenOption, ShareCell, VisibilityTab, class_name, dollars, engine_name, engine_names,
        engine_options, gap, sentiment, surface_name, tenth,
    },
};
use crate::{
    app::App,
    dashboard::{
        export::CsvFile,
        frame::{ProjectFrame, Section},
        page::{self, Form},
        show,
        visit::{self, FilterLink, PageResult, Paging, SentForm, Visit},
    },
};

/// Answers of a page: their texts are long.
const LISTED: u8 = 8;
/// Sources of an answer that the page shows.
const MAX_CITATIONS: usize = 10;

/// The pages.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(
            "/projects/{project}/visibility/prompts/{prompt}",
            get(detail).post(change),
        )
        .route(
            "/projects/{project}/visibility/prompts/{prompt}/answers.csv",
            CsvFile::of_list("answers").route_of(listing),
        )
}

/// A correction that the page offers: what is sent, and its text.
struct Correction {
    value: String,
    text: String,
}

/// A source of an answer.
struct CitationRow {
    text: String,
    url: String,
    href: Option<String>,
    note: String,
}

/// An answer.
struct AnswerRow {
    id: String,
    engine: &'static str,
    facts: String,
    status: (&'static str, &'static str),
    parts: Vec<AnswerPart>,
    left_out: usize,
    has_text: bool,
    mentions: Vec<String>,
    overrides: Vec<String>,
    citations: Vec<CitationRow>,
    more_citations: usize,
    sees_citations: bool,
    wrong_facts: Vec<String>,
    searches: Vec<String>,
    corrections: Vec<Correction>,
}

fn mention_words(mention: &Mention) -> String {
    let mut said = vec![show::cut(&mention.brand, 100)];
    if mention.is_own {
        said.push("you".to_owned());
    }
    if mention.candidate {
        said.push("may mean something else, not counted".to_owned());
    }
    said.extend(mention.position.map(|position| format!("position {position}")));
    said.extend(mention.list_rank.map(|rank| format!("item {rank} of a list")));
    said.extend(mention.context.map(|context| show::words(context.as_str())));
    said.extend(mention.sentiment.map(|found| sentiment(found).to_owned()));
    said.push(show::count(mention.occurrences, "time", "times"));
    said.join(", ")
}

/// Corrections that fit an answer: each brand that was found is perhaps not meant, the own one was perhaps missed, and what was
/// corrected is withdrawn.
fn corrections(answer: &EngineAnswer, own: &str) -> Vec<Correction> {
    if answer.status != AnswerStatus::Ok {
        return Vec::new();
    }
    let key = |id: Option<&searchwright_contract::ids::ItemId>| {
        id.map_or_else(|| "own".to_owned(), ToString::to_string)
    };
    let mut offered = Vec::new();
    for done in &answer.overrides {
        offered.push(Correction {
            value: format!("{} withdraw", key(done.competitor_id.as_ref())),
            text: format!("Withdraw: {}", show::cut(&done.brand, 60)),
        });
    }
    let is_corrected = |key_of: &str| {
        let mut done = answer.overrides.iter();
        done.any(|done| key(done.competitor_id.as_ref()) == key_of)
    };
    let counted = answer.mentions.iter().filter(|mention| !mention.candidate);
    for mention in counted {
        let brand = key(mention.competitor_id.as_ref());
        if !is_corrected(&brand) {
            offered.push(Correction {
                value: format!("{brand} no"),
                text: format!("{} is not meant", show::cut(&mention.brand, 60)),
            });
        }
    }
    let is_found = answer
        .mentions
        .iter()
        .any(|mention| mention.is_own && !mention.candidate);
    if !is_found && !is_corrected("own") {
        offered.push(Correction {
            value: "own yes".to_owned(),
            text: format!("It names {}", show::cut(own, 60)),
        });
    }
    offered
}

impl AnswerRow {
    fn new(visit: &Visit, answer: &EngineAnswer, own: &str) -> Self {
        let marked = answer
            .text
            .as_deref()
            .map(|text| marked::mark(text, &answer.mentions))
            .unwrap_or_default();
        let mut facts = vec![surface_name(answer.surface).to_owned()];
        let model = answer.served_model.as_ref().or(answer.requested_model.as_ref());
        facts.extend(model.map(|model| show::cut(model, 80)));
        facts.push(visit.time(&answer.asked_at));
        facts.extend(answer.search_performed.map(|searched| {
            if searched {
                "searched the web"
            } else {
                "did not search"
            }
            .to_owned()
        }));
        facts.extend(
            answer
                .latency_ms
                .map(|latency| format!("{} s", tenth(latency as f64 / 1000.0))),
        );
        facts.extend(answer.cost_micros_usd.map(|cost| dollars(cost as f64 / 1e6)));
        let overrides = answer.overrides.iter().map(|done| {
            let reason = done
                .reason
                .as_deref()
                .map_or_else(String::new, |reason| format!(": {}", show::cut(reason, 300)));
            format!(
                "{} {} {}, says {} on {}{reason}",
                show::cut(&done.brand, 60),
                if done.mentioned { "is" } else { "is not" },
                "named",
                show::cut(&done.by, 60),
                visit.time(&done.at)
            )
        });
        let citations = answer.citations.iter().take(MAX_CITATIONS).map(|citation| {
            let is_web = (citation.url.starts_with("https://") || citation.url.starts_with("http://"))
                && show::plain(&citation.url) == citation.url;
            let mut note = vec![match citation.class {
                searchwright_contract::answers::SourceClass::Owned => "yours".to_owned(),
                searchwright_contract::answers::SourceClass::Competitor => "a competitor's".to_owned(),
                searchwright_contract::answers::SourceClass::ThirdParty => {
                    show::words(citation.kind.as_deref().unwrap_or("other"))
                }
            }];
            note.push(show::words(&citation.page_type));
            if !citation.cited {
                note.push("retrieved, not cited".to_owned());
            }
            CitationRow {
                text: citation
                    .title
                    .as_deref()
                    .map_or_else(String::new, |title| show::cut(title, 120)),
                href: (is_web && citation.url.chars().count() <= 400).then(|| citation.url.clone()),
                url: show::cut(&citation.url, 160),
                note: note.join(", "),
            }
        });
        let wrong = answer.wrong_facts.iter().take(10).map(|fact| {
            format!(
                "{}: it says {}, the brand data say {}",
                show::cut(&fact.subject, 80),
                show::cut(&fact.claimed, 80),
                show::cut(&fact.expected, 80)
            )
        });
        let searches = answer.fanout_queries.iter().take(10);
        Self {
            id: answer.id.to_string(),
            engine: engine_name(answer.engine),
            facts: facts.join(" · "),
            status: answer_status(answer.status),
            parts: marked.parts,
            left_out: marked.left_out,
            has_text: answer.text.is_some(),
            mentions: answer.mentions.iter().take(20).map(mention_words).collect(),
            overrides: overrides.collect(),
            more_citations: answer.citations.len().saturating_sub(MAX_CITATIONS),
            citations: citations.collect(),
            sees_citations: answer.citations_observable,
            wrong_facts: wrong.collect(),
            searches: searches.map(|query| show::cut(query, 160)).collect(),
            corrections: corrections(answer, own),
        }
    }
}

/// The estimate of a run, and what is sent to start it.
struct TrackEstimate {
    cost: String,
    most: String,
    samples: u16,
    engines: Vec<String>,
}

#[derive(Template)]
#[template(path = "visibility_prompt.html")]
struct PromptView {
    frame: ProjectFrame,
    all: String,
    prompt: Prompt,
    text: String,
    facts: String,
    latest: String,
    mention_rate: ShareCell,
    citation_rate: ShareCell,
    gap: Option<(&'static str, &'static str)>,
    version: String,
    is_active: bool,
    tags: String,
    boxes: Vec<SeenOption>,
    filters: Vec<FilterLink>,
    rows: Vec<AnswerRow>,
    paging: Paging,
    may_write: bool,
    may_track: bool,
    estimated: Option<TrackEstimate>,
    cannot_track: Option<String>,
    samples: Vec<SeenOption>,
    wrong: Option<String>,
    reason: String,
    reason_of: String,
    copied: CopiedForm,
}

/// Fields of the form for a copied answer, as they were typed.
struct CopiedForm {
    is_open: bool,
    engines: Vec<SeenOption>,
    text: String,
    model: String,
    at: String,
    sources: String,
}

/// Asks for the cost of tracking the prompt; the refusal as a sentence if it cannot be tracked.
async fn estimate_run(visit: &Visit, prompt: &Prompt) -> Result<Result<TrackEstimate, String>, Failure> {
    let samples: u8 = visit.parsed("samples").unwrap_or(1).clamp(1, 5);
    let engine: Option<Engine> = visit.parsed("ask");
    let asked = visit
        .read(&TrackPrompt {
            project_id: visit.project_id(),
            prompt_id: prompt.id.to_string(),
            engines: engine.map(|engine| vec![engine]),
            samples: Some(samples),
            dry_run: Some(true),
            max_cost: None,
            precision_target: None,
        })
        .await;
    match asked {
        Ok(started) => Ok(Ok(TrackEstimate {
            cost: estimate(started.estimated_cost),
            most: started
                .estimated_cost
                .high
                .map_or_else(String::new, |high| format!("{:.4}", (high * 1e4).ceil() / 1e4)),
            samples: u16::from(samples),
            engines: engine.map(|engine| engine.to_string()).into_iter().collect(),
        })),
        Err(failure) => match visit::refusal(&failure) {
            Some((_, text)) => Ok(Err(text)),
            None => Err(failure),
        },
    }
}

fn facts(prompt: &Prompt) -> String {
    let mut facts = vec![class_name(prompt.class).to_owned()];
    let place = [
        Some(&prompt.language),
        prompt.country.as_ref(),
        prompt.city.as_ref(),
    ];
    let place: Vec<String> = place
        .into_iter()
        .flatten()
        .map(|part| show::cut(part, 100))
        .collect();
    facts.push(place.join(", "));
    facts.extend(
        prompt
            .persona
            .as_deref()
            .map(|persona| format!("asked by {}", show::cut(persona, 100))),
    );
    facts.push(if prompt.engines.is_empty() {
        "all configured engines".to_owned()
    } else {
        engine_names(&prompt.engines)
    });
    facts.extend(prompt.tags.iter().map(|tag| format!("#{}", show::cut(tag, 50))));
    facts.join(" · ")
}

/// The answers to a prompt with the filters of the address.
fn listing(visit: &Visit, prompt: &str) -> ListAnswers {
    ListAnswers {
        project_id: visit.project_id(),
        prompt_id: prompt.to_owned(),
        engine: visit.parsed("engine"),
        limit: Some(LISTED),
        cursor: visit.cursor(),
    }
}

async fn show_prompt(visit: &Visit, id: &str, refused: Option<&RefusedForm<'_>>) -> PageResult {
    let wanted = GetPrompt {
        project_id: visit.project_id(),
        prompt_id: id.to_owned(),
    };
    let Some(prompt) = visit.find(&wanted).await? else {
        return Ok(visit::not_found());
    };
    let asked = listing(visit, id);
    let listed = visit.read(&asked).await?;
    let engine = asked.engine;
    let brand = visit
        .read(&GetBrand {
            project_id: visit.project_id(),
        })
        .await?;
    let may_track = visit.may(Scope::VisibilityTrack) && prompt.status == PromptStatus::Active;
    let (estimated, cannot_track) = if may_track && visit.parameter("track").is_some() {
        match estimate_run(visit, &prompt).await? {
            Ok(estimated) => (Some(estimated), None),
            Err(text) => (None, Some(text)),
        }
    } else {
        (None, None)
    };
    let mut filters = vec![FilterLink::new(visit, "engine", None, "All engines")];
    let mut known: Vec<Engine> = prompt
        .latest
        .iter()
        .flat_map(|latest| latest.engines.clone())
        .collect();
    known.extend(listed.data.iter().map(|answer| answer.engine));
    known.extend(engine);
    known.sort_unstable();
    known.dedup();
    for engine in known {
        filters.push(FilterLink::new(
            visit,
            "engine",
            Some(engine.as_str()),
            engine_name(engine),
        ));
    }
    let typed = |name| RefusedForm::typed(refused, name);
    let is_of = |action: &str| typed("action") == action;
    let window = prompt.window.as_ref();
    let own = brand.profile.name;
    let samples = (1..=5u8).map(|n| SeenOption::new(n.to_string(), n.to_string(), n == 1));
    let view = PromptView {
        frame: visit.frame("Prompt", Section::Visibility),
        all: VisibilityTab::Prompts.address(visit),
        text: show::plain(&prompt.text),
        facts: facts(&prompt),
        latest: latest(visit, &prompt),
        mention_rate: ShareCell::new(window.map(|window| &window.mention_rate)),
        citation_rate: ShareCell::new(window.map(|window| &window.citation_rate)),
        gap: window.map(|window| gap(window.gap)),
        version: if is_of("edit") {
            typed("version")
        } else {
            format!("{}-{}", prompt.id, prompt.version)
        },
        is_active: prompt.status == PromptStatus::Active,
        tags: if is_of("edit") {
            typed("tags")
        } else {
            prompt.tags.join(", ")
        },
        boxes: engine_boxes(|engine| match refused {
            Some(_) if is_of("edit") => RefusedForm::has(refused, "engine", engine.as_str()),
            _ => prompt.engines.contains(&engine),
        }),
        filters,
        rows: listed
            .data
            .iter()
            .map(|answer| AnswerRow::new(visit, answer, &own))
            .collect(),
        paging: Paging::new(visit, listed.next_cursor.as_deref())
            .with_file(visit, &format!("/visibility/prompts/{id}/answers.csv")),
        may_write: visit.may(Scope::VisibilityWrite),
        may_track,
        estimated,
        cannot_track,
        samples: samples.collect(),
        wrong: RefusedForm::reason(refused),
        reason: typed("reason"),
        reason_of: typed("answer"),
        copied: CopiedForm {
            is_open: is_of("copy"),
            engines: engine_options(
                typed("engine").parse().ok().filter(|_| is_of("copy")),
                "Which engine?",
            ),
            text: typed("text"),
            model: typed("model"),
            at: typed("at"),
            sources: typed("sources"),
        },
        prompt,
    };
    Ok(page::respond(
        RefusedForm::status(refused),
        &view,
        Form::OwnWithScript,
    ))
}

async fn detail(visit: Visit, Path((_, id)): Path<(String, String)>) -> PageResult {
    show_prompt(&visit, &id, None).await
}

async fn edit(sent: &SentForm, id: &str, status: Option<PromptStatus>) -> Result<(), Failure> {
    let is_edit = status.is_none();
    let engines = engines(sent)?;
    sent.change(&UpdatePrompt {
        project_id: sent.visit.project_id(),
        prompt_id: id.to_owned(),
        status,
        tags: is_edit.then(|| tags(sent)),
        intent: Patch::Absent,
        engines: is_edit.then_some(engines),
    })
    .await?;
    Ok(())
}

/// Starts a run, which costs at most what the person was told.
async fn track(sent: &SentForm, id: &str) -> Result<&'static str, Failure> {
    let most = match sent.form.get("most") {
        "" => None,
        text => Some(text.parse().map_err(|_| {
            failure::fault(
                "/maxCost",
                "invalid",
                "has to be an amount of US dollars, such as 0.50",
            )
        })?),
    };
    let engines = engines(sent)?;
    let started = sent
        .change(&TrackPrompt {
            project_id: sent.visit.project_id(),
            prompt_id: id.to_owned(),
            engines: (!engines.is_empty()).then_some(engines),
            samples: Some(sent.form.get("samples").parse().unwrap_or(1)),
            dry_run: None,
            max_cost: most,
            precision_target: None,
        })
        .await?;
    Ok(if started.already_running {
        "run-running"
    } else {
        "run-started"
    })
}

async fn correct(sent: &SentForm, id: &str) -> Result<(), Failure> {
    let (brand, verdict) = sent
        .form
        .get("correct")
        .split_once(' ')
        .ok_or_else(|| failure::fault("", "invalid", "choose one of the corrections"))?;
    sent.change(&DisputeMention {
        project_id: sent.visit.project_id(),
        prompt_id: id.to_owned(),
        answer_id: sent.form.get("answer").to_owned(),
        brand: brand.to_owned(),
        mentioned: match verdict {
            "yes" => Patch::Value(true),
            "no" => Patch::Value(false),
            _ => Patch::Null,
        },
        reason: filled(sent, "reason"),
    })
    .await?;
    Ok(())
}

/// Time that was typed, in UTC; now if none was.
fn asked_at(sent: &SentForm) -> Result<Instant, Failure> {
    match sent.form.get("at").trim() {
        "" => Ok(sent.visit.app().engine.clock.now()),
        text => format!("{}:00Z", text.replace(' ', "T")).parse().map_err(|_| {
            failure::fault(
                "/askedAt",
                "invalid",
                "has to be a time, such as 2026-11-28T14:05",
            )
        }),
    }
}

async fn copy(sent: &SentForm, id: &str) -> Result<(), Failure> {
    let engine = sent
        .form
        .get("engine")
        .parse()
        .map_err(|_| failure::fault("/engine", "missing", "choose the engine that answered"))?;
    let sources = sent.form.get("sources").lines().map(str::trim);
    let citations: Vec<CopiedCitation> = sources
        .filter(|url| !url.is_empty())
        .map(|url| CopiedCitation {
            url: url.to_owned(),
            title: None,
        })
        .collect();
    let item = CopiedAnswer {
        engine,
        asked_at: asked_at(sent)?,
        text: sent.form.get("text").trim().replace("\r\n", "\n"),
        citations: (!citations.is_empty()).then_some(citations),
        model: filled(sent, "model"),
    };
    sent.change(&ImportAnswers {
        project_id: sent.visit.project_id(),
        prompt_id: id.to_owned(),
        items: vec![item],
    })
    .await?;
    Ok(())
}

async fn carry_out(sent: &SentForm, id: &str) -> Result<Response<Body>, Failure> {
    let address = sent.visit.address(&format!("/visibility/prompts/{id}"));
    let code = match sent.form.get("action") {
        "edit" => {
            edit(sent, id, None).await?;
            "saved"
        }
        "pause" => {
            edit(sent, id, Some(PromptStatus::Archived)).await?;
            "prompt-paused"
        }
        "resume" => {
            edit(sent, id, Some(PromptStatus::Active)).await?;
            "prompt-resumed"
        }
        "track" => {
            let code = track(sent, id).await?;
            let runs = VisibilityTab::Runs.address(&sent.visit);
            return Ok(sent.done(&runs, code, 1));
        }
        "correct" => {
            correct(sent, id).await?;
            "corrected"
        }
        "copy" => {
            copy(sent, id).await?;
            "answer-copied"
        }
        _ => return Err(failure::fault("", "invalid", "choose one of the buttons")),
    };
    Ok(sent.done(&address, code, 1))
}

async fn change(Path((_, id)): Path<(String, String)>, sent: SentForm) -> PageResult {
    match carry_out(&sent, &id).await {
        Ok(response) => Ok(response),
        Err(failure) => match visit::refusal(&failure) {
            Some((status, text)) => {
                let refused = RefusedForm {
                    status,
                    text,
                    sent: &sent,
                };
                show_prompt(&sent.visit, &id, Some(&refused)).await
            }
            None => Err(failure.into()),
        },
    }
}
