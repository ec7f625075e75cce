//! An article by a language model: outline, sections, edit, texts for search results. What a model answers is
//! data: links lead only where the material points, and what it claims is traced to the material.

use schemars::json_schema;
use searchwright_contract::posts::{Post, PostWarning};
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
        steps::{Asked, Steps},
    },
    posts::{
        MISSING_SECTION, STEP_LOST, Site,
        sources::{Known, Sources},
    },
    providers::{Data, Form, LanguageModel, Prompt},
    writing::{
        brief::{Brief, Fact, Section, plain},
        document::Document,
        internal_links::{self, Candidate},
        known_links::{keep_known, keep_known_addresses},
    },
};

/// Tokens of an answer, at most.
const OUTLINE_TOKENS: u32 = 1_500;
const SECTION_TOKENS: u32 = 1_500;
const EDIT_TOKENS: u32 = 8_000;
const META_TOKENS: u32 = 500;
/// Sections of an article, at most.
const MOST_SECTIONS: usize = 8;
/// Bytes of the material that a model reads, and of each page of others.
const MOST_MATERIAL: usize = 40_000;
const MOST_OF_SOURCE: usize = 6_000;

/// What it is made with.
pub(super) struct Writer<'a> {
    pub(super) steps: &'a Steps<'a>,
    pub(super) model: &'a dyn LanguageModel,
    pub(super) order: &'a Order,
    pub(super) post: &'a Post,
    pub(super) brief: &'a Brief,
    /// Pages of others that were read.
    pub(super) read: &'a [Known],
    pub(super) site: &'a Site,
}

#[derive(Deserialize)]
struct Outline {
    title: String,
    sections: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    heading: String,
    points: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    excerpt: String,
    meta_description: String,
}

/// Notes what a step cost, and what is missing without its answer.
fn note(written: &mut Written, step: &str, asked: &Asked) {
    written.cost = written.cost.zip(asked.cost).map(|(sum, cost)| sum + cost);
    if let Some(why) = &asked.lost {
        written.warnings.push(PostWarning {
            code: STEP_LOST.to_owned(),
            detail: format!("the step \"{step}\" has no answer of the model: {why}; it was not asked again"),
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
        // No database keeps U+0000.
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
        known.extend(sources::of_brief(self.brief));
        known.extend(sources::own_pages(self.steps.run, self.brief).await?);
        written.sources = Sources { traces: true, known };
        Ok(written)
    }

    /// Writes what is missing around a text that stays.
    pub(super) async fn surroundings(&self) -> Result<Written, JobError> {
        let mut written = Written {
            cost: Some(0),
            ..Written::default()
        };
        self.meta(&mut written, &self.post.content).await?;
        Ok(written)
    }

    fn prompt(&self, data: Vec<Data>, instructions: String, max_tokens: u32, form: Option<Form>) -> Prompt {
        let brief = self.brief;
        let brand = brief.brand.as_deref().unwrap_or(&self.site.name);
        let tone = brief.tone.as_deref().unwrap_or("plain and friendly");
        let mut system = format!(
            "You write for the website of {brand}. Language: {}. Voice: {tone}. State no number, date, name, quotation or \
             study that is not in the material. Never invent people, reviews, products or addresses.",
            brief.language
        );
        if !brief.banned_phrases.is_empty() {
            system += &format!(" Never use these phrases: {}.", brief.banned_phrases.join("; "));
        }
        Prompt {
            system,
            data,
            instructions,
            max_tokens,
            temperature: None,
            form,
            nonce: self.steps.run.engine.clock.id(),
        }
    }

    /// What the model writes from: what the project knows, then the beginnings of the pages of others.
    fn material(&self) -> Vec<Data> {
        let read = self.read.iter().filter(|known| !known.text.is_empty());
        let pages = read.enumerate().map(|(at, known)| Data {
            label: format!("source {}", at + 1),
            text: format!(
                "{}\n{}",
                known.name,
                &known.text[..known.text.floor_char_boundary(MOST_OF_SOURCE)]
            ),
        });
        std::iter::once(self.known()).chain(pages).collect()
    }

    fn known(&self) -> Data {
        let brief = self.brief;
        let mut text = String::new();
        let facts = brief.sections.iter().flat_map(|section| &section.facts);
        for Fact { text: fact, source } in facts.chain(&brief.pages) {
            let line = format!("- {fact} (source: {source})\n");
            if text.len() + line.len() > MOST_MATERIAL {
                break;
            }
            text += &line;
        }
        Data {
            label: "material".to_owned(),
            text,
        }
    }

    fn subject(&self) -> String {
        let mut subject = format!("The article is about \"{}\".", self.brief.topic);
        if let Some(title) = &self.post.summary.title {
            subject += &format!(" Its title is \"{title}\".");
        }
        if let Some(wish) = &self.order.instructions {
            subject += &format!(" The editor asks: {wish}");
        }
        subject
    }

    async fn outline(&self, written: &mut Written) -> Result<Outline, JobError> {
        let questions: Vec<&str> = self
            .brief
            .sections
            .iter()
            .map(|section| section.heading.as_str())
            .collect();
        let instructions = format!(
            "{} Outline it: a title of 30 to 60 characters that begins with the topic, and two to {MOST_SECTIONS} sections of {} to {} words \
             in all. One heading asks a question. Headings that suit: {}. The points of a section name what of the \
             material it tells.",
            self.subject(),
            self.brief.words.0,
            self.brief.words.1,
            questions.join("; ")
        );
        let form = Form {
            name: "outline",
            schema: json_schema!({
                "type": "object", "additionalProperties": false, "required": ["title", "sections"],
                "properties": {
                    "title": { "type": "string" },
                    "sections": { "type": "array", "items": {
                        "type": "object", "additionalProperties": false, "required": ["heading", "points"],
                        "properties": {
                            "heading": { "type": "string" },
                            "points": { "type": "array", "items": { "type": "string" } }
                        }
                    } }
                }
            }),
        };
        let prompt = self.prompt(self.material(), instructions, OUTLINE_TOKENS, Some(form));
        let asked = self.steps.ask(self.model, "outline", prompt).await?;
        note(written, "outline", &asked);
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
            outline.sections.push(Part {
                heading: self.brief.topic.clone(),
                points: Vec::new(),
            });
        }
        outline.sections.truncate(MOST_SECTIONS);
        Ok(outline)
    }

    async fn section(
        &self,
        written: &mut Written,
        outline: &Outline,
        at: usize,
        part: &Part,
    ) -> Result<String, JobError> {
        let headings: Vec<&str> = outline
            .sections
            .iter()
            .map(|part| part.heading.as_str())
            .collect();
        let words = self.brief.words.1 / u32::try_from(headings.len()).unwrap_or(1).max(1);
        let links: Vec<&str> = self.targets();
        let instructions = format!(
            "{} Its sections are the lines of \"outline\". Write section {} only, about {words} words of Markdown without its heading. \
             Answer a question that the heading asks in the first 20 to 80 words. Link only to: {}.",
            self.subject(),
            at + 1,
            if links.is_empty() {
                "nothing".to_owned()
            } else {
                links.join(" ")
            },
        );
        let plan = Data {
            label: "outline".to_owned(),
            text: format!(
                "{}\n\nPoints of section {}: {}",
                headings.join("\n"),
                at + 1,
                part.points.join("; ")
            ),
        };
        let step = format!("section {}", at + 1);
        let data = self.material().into_iter().chain([plan]).collect();
        let prompt = self.prompt(data, instructions, SECTION_TOKENS, None);
        let asked = self.steps.ask(self.model, &step, prompt).await?;
        note(written, &step, &asked);
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
            detail: format!(
                "the section \"{}\" has its points but no text; write it",
                part.heading
            ),
            blocks_publishing: true,
            ..PostWarning::default()
        });
        Ok(format!("## {heading}\n\n{}", points.join("\n")))
    }

    async fn edit(&self, written: &mut Written, draft: &str) -> Result<Option<String>, JobError> {
        let data = Data {
            label: "draft".to_owned(),
            text: draft.to_owned(),
        };
        let instructions = "Edit the draft: one voice, no repetition, short sentences, no claim that it does not make already. Keep its \
             headings and its links. Answer with the whole Markdown and nothing else."
            .to_owned();
        let prompt = self.prompt(vec![data], instructions, EDIT_TOKENS, None);
        let asked = self.steps.ask(self.model, "edit", prompt).await?;
        note(written, "edit", &asked);
        Ok(text(asked.said).filter(|text| !text.is_empty()))
    }

    async fn meta(&self, written: &mut Written, content: &str) -> Result<(), JobError> {
        let form = Form {
            name: "meta",
            schema: json_schema!({
                "type": "object", "additionalProperties": false, "required": ["excerpt", "metaDescription"],
                "properties": { "excerpt": { "type": "string" }, "metaDescription": { "type": "string" } }
            }),
        };
        let data = Data {
            label: "article".to_owned(),
            text: content.to_owned(),
        };
        let instructions = format!(
            "{} Sum the article up: an excerpt of at most {EXCERPT} characters, and a description for search results of 120 to {DESCRIPTION} \
             characters that holds the topic. Say nothing that the article does not say.",
            self.subject()
        );
        let prompt = self.prompt(vec![data], instructions, META_TOKENS, Some(form));
        let asked = self.steps.ask(self.model, "meta", prompt).await?;
        note(written, "meta", &asked);
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

    /// Where the text may lead.
    fn targets(&self) -> Vec<&str> {
        let brief = self.brief;
        let facts = brief.sections.iter().flat_map(|section| &section.facts);
        let sources = facts
            .map(|fact| fact.source.as_str())
            .filter(|source| source.contains("://"));
        let links = brief
            .links
            .iter()
            .chain(&brief.ctas)
            .map(|link| link.url.as_str());
        let read = self.read.iter().filter(|known| !known.text.is_empty());
        let read = read.map(|known| known.name.as_str());
        let mut targets: Vec<&str> = links.chain(sources).chain(read).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    /// Takes out links that lead elsewhere, and sets those to the site's own pages that are missing.
    async fn link(&self, draft: &str) -> Result<String, JobError> {
        let content = keep_known(draft, &self.targets());
        let post = &self.post.summary;
        let found = candidates(self.steps.run, self.post, &content).await?;
        let (home, keyword, language) = (
            self.site.home.clone(),
            post.keyword.clone(),
            post.language.clone(),
        );
        // Texts of hundreds of pages take a while to compare, which the threads that wait for sockets do not have.
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

    /// What the brand does not say.
    fn judge(&self, content: &str) -> Result<Vec<PostWarning>, JobError> {
        let document = Document::of_markdown(content).map_err(|e| defect("text of a model", e))?;
        let plain = document.plain_text();
        let banned = self.brief.banned_phrases.iter().filter_map(|phrase| {
            let at = plain.to_lowercase().find(&phrase.to_lowercase())?;
            Some(PostWarning {
                code: "banned_phrase".to_owned(),
                detail: format!("the brand does not say \"{phrase}\""),
                text: plain.get(at..at + phrase.len()).map(str::to_owned),
                ..PostWarning::default()
            })
        });
        Ok(banned.collect())
    }
}

fn known(section: &Section) -> Part {
    Part {
        heading: section.heading.clone(),
        points: section.facts.iter().map(|fact| fact.text.clone()).collect(),
    }
}
