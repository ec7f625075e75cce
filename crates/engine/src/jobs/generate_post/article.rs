//! Writes an article by a language model: outline, sections, edit, texts for search results. Answers of a model are
//! data: links lead only to targets in the material, and claims are traced to the material.

mod prompts;

use searchwright_contract::posts::{Post, PostWarning};
use searchwright_providers::LanguageModel;
use searchwright_writing::{
    assessment::{
        Site,
        sources::{SourceText, Sources},
    },
    brief::{Brief, Section, plain},
    document::Document,
    internal_links,
    internal_links::Candidate,
    known_links::{keep_known, keep_known_addresses},
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    DESCRIPTION, EXCERPT, Order, Written,
    candidates::{Linkable, candidates},
    sources,
};
use crate::{
    failure::defect,
    jobs::{
        JobError,
        checkpoints::{StepAnswer, Steps},
    },
    posts::{MISSING_SECTION, STEP_LOST},
};

/// Sections of an article, at most.
const MAX_SECTIONS: usize = 8;

/// Writer of an article, with its input.
pub(super) struct Writer<'a> {
    pub(super) steps: &'a Steps<'a>,
    pub(super) model: &'a dyn LanguageModel,
    pub(super) order: &'a Order,
    pub(super) post: &'a Post,
    pub(super) brief: &'a Brief,
    /// Pages of others that were read.
    pub(super) read: &'a [SourceText],
    /// The published text that this one replaces.
    pub(super) replaced: Option<&'a SourceText>,
    pub(super) site: &'a Site,
}

#[derive(Deserialize)]
struct Outline {
    title: String,
    sections: Vec<OutlineSection>,
}

#[derive(Deserialize)]
struct OutlineSection {
    heading: String,
    points: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    excerpt: String,
    meta_description: String,
}

/// Adds the cost of a step, and a warning if it has no answer.
fn record_step(written: &mut Written, step: &str, asked: &StepAnswer) {
    written.cost = written.cost.zip(asked.cost).map(|(sum, cost)| sum + cost);
    if let Some(why) = &asked.lost {
        written.warnings.push(PostWarning {
            code: STEP_LOST.to_owned(),
            detail: format!("the step \"{step}\" has no answer from the model: {why}; it was not repeated"),
            ..PostWarning::default()
        });
    }
}

fn read<T: for<'de> Deserialize<'de>>(said: Option<Value>) -> Result<Option<T>, JobError> {
    said.map(serde_json::from_value)
        .transpose()
        .map_err(|e| defect("answer of a model", e).into())
}

fn text(said: Option<Value>) -> Option<String> {
    match said {
        // PostgreSQL cannot store U+0000.
        Some(Value::String(text)) => Some(text.replace('\0', "").trim().to_owned()),
        _ => None,
    }
}

impl Writer<'_> {
    /// Writes all of it.
    pub(super) async fn article(&self) -> Result<Written, JobError> {
        let mut written = Written {
            cost: Some(0),
            ..Written::default()
        };
        let outline = self.outline(&mut written).await?;
        let mut parts = Vec::new();
        for (at, part) in outline.sections.iter().enumerate() {
            parts.push(self.section(&mut written, &outline, at, part).await?);
        }
        let draft = parts.join("\n\n");
        let edited = self.edit(&mut written, &draft).await?;
        let content = self.link(&edited.unwrap_or(draft)).await?;
        self.meta(&mut written, &content).await?;
        written.warnings.extend(self.judge(&content)?);
        written.title = Some(outline.title).filter(|title| !title.trim().is_empty());
        written.content = Some(content);
        let mut known = self.read.to_vec();
        known.extend(self.replaced.cloned());
        known.extend(sources::of_brief(self.brief));
        known.extend(sources::own_pages(self.steps.job, self.brief).await?);
        written.sources = Sources { traces: true, known };
        Ok(written)
    }

    /// Writes the missing parts around a text that stays.
    pub(super) async fn surroundings(&self) -> Result<Written, JobError> {
        let mut written = Written {
            cost: Some(0),
            ..Written::default()
        };
        self.meta(&mut written, &self.post.content).await?;
        Ok(written)
    }

    async fn outline(&self, written: &mut Written) -> Result<Outline, JobError> {
        let prompt = self.ask_for_outline();
        let asked = self.steps.ask(self.model, "outline", prompt).await?;
        record_step(written, "outline", &asked);
        let mut outline = read::<Outline>(asked.said)?.unwrap_or(Outline {
            title: String::new(),
            sections: Vec::new(),
        });
        let title = keep_known_addresses(&outline.title.replace('\0', ""), &self.targets());
        outline.title = title.trim().chars().take(300).collect();
        outline.sections.retain(|part| !part.heading.trim().is_empty());
        if outline.sections.is_empty() {
            outline.sections = self.brief.sections.iter().map(known).collect();
        }
        if outline.sections.is_empty() {
            outline.sections.push(OutlineSection {
                heading: self.brief.topic.clone(),
                points: Vec::new(),
            });
        }
        outline.sections.truncate(MAX_SECTIONS);
        Ok(outline)
    }

    async fn section(
        &self,
        written: &mut Written,
        outline: &Outline,
        at: usize,
        part: &OutlineSection,
    ) -> Result<String, JobError> {
        let step = format!("section {}", at + 1);
        let prompt = self.ask_for_section(outline, at, part);
        let asked = self.steps.ask(self.model, &step, prompt).await?;
        record_step(written, &step, &asked);
        let heading = plain(&part.heading);
        if let Some(text) = text(asked.said) {
            return Ok(format!("## {heading}\n\n{text}"));
        }
        let points: Vec<String> = part
            .points
            .iter()
            .map(|point| format!("- {}", plain(point)))
            .collect();
        written.warnings.push(PostWarning {
            code: MISSING_SECTION.to_owned(),
            detail: format!("section {} has points but no text; write it", at + 1),
            blocks_publishing: true,
            ..PostWarning::default()
        });
        Ok(format!("## {heading}\n\n{}", points.join("\n")))
    }

    async fn edit(&self, written: &mut Written, draft: &str) -> Result<Option<String>, JobError> {
        let prompt = self.ask_for_edit(draft);
        let asked = self.steps.ask(self.model, "edit", prompt).await?;
        record_step(written, "edit", &asked);
        Ok(text(asked.said).filter(|text| !text.is_empty()))
    }

    async fn meta(&self, written: &mut Written, content: &str) -> Result<(), JobError> {
        let prompt = self.ask_for_meta(content);
        let asked = self.steps.ask(self.model, "meta", prompt).await?;
        record_step(written, "meta", &asked);
        let of_text = Document::of_markdown(content);
        let language = &self.post.summary.language;
        let told = |said: Option<String>, most: usize| {
            let said = said.map(|text| keep_known_addresses(&text.replace('\0', ""), &self.targets()));
            let said = said.map(|text| text.trim().to_owned());
            said.filter(|text| !text.is_empty() && text.chars().count() <= most)
                .or_else(|| {
                    Some(of_text.as_ref().ok()?.excerpt(language, most)).filter(|text| !text.is_empty())
                })
        };
        let (excerpt, description) = match read::<Meta>(asked.said)? {
            Some(meta) => (Some(meta.excerpt), Some(meta.meta_description)),
            None => (None, None),
        };
        written.excerpt = told(excerpt, EXCERPT);
        written.meta_description = told(description, DESCRIPTION);
        Ok(())
    }

    /// Removes links to other targets, and adds missing links to the site's own pages.
    async fn link(&self, draft: &str) -> Result<String, JobError> {
        let content = keep_known(draft, &self.targets());
        let post = &self.post.summary;
        let found = candidates(self.steps.job, self.post, &content).await?;
        let (home, keyword, language) = (
            self.site.home.clone(),
            post.keyword.clone(),
            post.language.clone(),
        );
        // Comparing the texts of hundreds of pages takes too long for a thread of the runtime.
        let linked = tokio::task::spawn_blocking(move || {
            let candidates: Vec<Candidate<'_>> = found.iter().map(Linkable::candidate).collect();
            let post = internal_links::Post {
                markdown: &content,
                url: &home,
                keyword: keyword.as_deref(),
                language: &language,
            };
            let chosen = internal_links::choose(&post, &candidates)?;
            internal_links::insert(&content, &chosen)
        });
        let linked = linked.await.map_err(|e| defect("internal links", e))?;
        Ok(linked.map_err(|e| defect("text of a model", e))?)
    }

    /// Returns a warning for each banned phrase of the brand in the text.
    fn judge(&self, content: &str) -> Result<Vec<PostWarning>, JobError> {
        let document = Document::of_markdown(content).map_err(|e| defect("text of a model", e))?;
        let plain = document.plain_text();
        let banned = self.brief.banned_phrases.iter().filter_map(|phrase| {
            let at = plain.to_lowercase().find(&phrase.to_lowercase())?;
            Some(PostWarning {
                code: "banned_phrase".to_owned(),
                detail: format!("\"{phrase}\" is a banned phrase of the brand"),
                text: plain.get(at..at + phrase.len()).map(str::to_owned),
                ..PostWarning::default()
            })
        });
        Ok(banned.collect())
    }
}

fn known(section: &Section) -> OutlineSection {
    OutlineSection {
        heading: section.heading.clone(),
        points: section.facts.iter().map(|fact| fact.text.clone()).collect(),
    }
}
