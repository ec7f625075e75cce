//! Prompts for the steps of an article. Instructions are texts of ours, of the brand's owner and of the caller. Text that
//! may be a stranger's, such as a keyword from a competitor's page, is in a block of data.

use schemars::json_schema;
use searchwright_providers::{Data, Form, Prompt};
use searchwright_writing::brief::Fact;

use super::{DESCRIPTION, EXCERPT, MAX_SECTIONS, Outline, OutlineSection, Writer};

/// Tokens of an answer, at most.
const OUTLINE_TOKENS: u32 = 1_500;
const SECTION_TOKENS: u32 = 1_500;
const EDIT_TOKENS: u32 = 8_000;
const META_TOKENS: u32 = 500;
/// Bytes of the material that a model reads, and of each page of others.
const MAX_MATERIAL: usize = 40_000;
const MAX_OF_SOURCE: usize = 6_000;
/// Bytes of the text that is replaced.
const MAX_OF_REPLACED: usize = 24_000;

impl Writer<'_> {
    pub(super) fn ask_for_outline(&self) -> Prompt {
        let brief = self.brief;
        let instructions = format!(
            "{} Outline it: a title of 30 to 60 characters that begins with the topic, and two to {MAX_SECTIONS} sections of {} to {} words \
             in all. One heading asks a question. Headings that suit are the lines of \"headings\". The points of a \
             section name what of the material it tells.",
            self.task(),
            brief.words.0,
            brief.words.1,
        );
        let headings: Vec<&str> = brief
            .sections
            .iter()
            .map(|section| section.heading.as_str())
            .collect();
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
        let mut blocks = self.material();
        blocks.extend([self.subject(), data("headings", headings.join("\n"))]);
        self.prompt(blocks, instructions, OUTLINE_TOKENS, Some(form))
    }

    pub(super) fn ask_for_section(&self, outline: &Outline, at: usize, part: &OutlineSection) -> Prompt {
        let headings: Vec<&str> = outline
            .sections
            .iter()
            .map(|part| part.heading.as_str())
            .collect();
        let words = self.brief.words.1 / u32::try_from(headings.len()).unwrap_or(1).max(1);
        let number = at + 1;
        let instructions = format!(
            "{} Its sections are the lines of \"outline\". Write section {number} only, about {words} words of Markdown without its heading. \
             Answer a question that the heading asks in the first 20 to 80 words. Link only to the lines of \
             \"addresses\", and to nothing where it is empty.",
            self.task(),
        );
        let plan = format!(
            "{}\n\nPoints of section {number}: {}",
            headings.join("\n"),
            part.points.join("; ")
        );
        let mut blocks = self.material();
        blocks.extend([
            self.subject(),
            data("outline", plan),
            data("addresses", self.targets().join("\n")),
        ]);
        self.prompt(blocks, instructions, SECTION_TOKENS, None)
    }

    pub(super) fn ask_for_edit(&self, draft: &str) -> Prompt {
        let instructions = "Edit the draft: one voice, no repetition, short sentences, no claim that it does not make already. Keep its \
             headings and its links. Answer with the whole Markdown and nothing else."
            .to_owned();
        let blocks = vec![data("draft", draft.to_owned())];
        self.prompt(blocks, instructions, EDIT_TOKENS, None)
    }

    pub(super) fn ask_for_meta(&self, content: &str) -> Prompt {
        let instructions = format!(
            "{} Sum the article up: an excerpt of at most {EXCERPT} characters, and a description for search results of 120 to {DESCRIPTION} \
             characters that holds the topic. Say nothing that the article does not say.",
            self.task()
        );
        let form = Form {
            name: "meta",
            schema: json_schema!({
                "type": "object", "additionalProperties": false, "required": ["excerpt", "metaDescription"],
                "properties": { "excerpt": { "type": "string" }, "metaDescription": { "type": "string" } }
            }),
        };
        let blocks = vec![self.subject(), data("article", content.to_owned())];
        self.prompt(blocks, instructions, META_TOKENS, Some(form))
    }

    fn prompt(&self, data: Vec<Data>, instructions: String, max_tokens: u32, form: Option<Form>) -> Prompt {
        let brief = self.brief;
        let brand = brief.brand.as_deref().unwrap_or(&self.site.name);
        let tone = brief.tone.as_deref().unwrap_or("plain and friendly");
        let mut system = format!(
            "You write for the website of {brand}. Language: {}. Voice: {tone}. State no number, date, name, quotation or \
             study that is not in the material. Of other companies say only what the material says of them. Never invent \
             people, reviews, products or addresses.",
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
            nonce: self.steps.job.engine.clock.id(),
        }
    }

    /// Returns the data a model writes from: facts of the project, then the beginnings of the pages of others.
    fn material(&self) -> Vec<Data> {
        let read = self.read.iter().filter(|known| !known.text.is_empty());
        let pages = read.enumerate().map(|(at, known)| Data {
            label: format!("source {}", at + 1),
            text: format!(
                "{}\n{}",
                known.name,
                &known.text[..known.text.floor_char_boundary(MAX_OF_SOURCE)]
            ),
        });
        let replaced = self.replaced.map(|known| {
            let text = &known.text[..known.text.floor_char_boundary(MAX_OF_REPLACED)];
            data("published text", text.to_owned())
        });
        std::iter::once(self.known())
            .chain(replaced)
            .chain(pages)
            .collect()
    }

    fn known(&self) -> Data {
        let brief = self.brief;
        let mut text = String::new();
        let facts = brief.sections.iter().flat_map(|section| &section.facts);
        for Fact { text: fact, source } in facts.chain(&brief.pages) {
            let line = format!("- {fact} (source: {source})\n");
            if text.len() + line.len() > MAX_MATERIAL {
                break;
            }
            text += &line;
        }
        data("material", text)
    }

    /// Returns the topic and title as data: a keyword may come from anybody's page, and a title from a model that read one.
    fn subject(&self) -> Data {
        let mut text = format!("Topic: {}", self.brief.topic);
        if let Some(title) = &self.post.summary.title {
            text += &format!("\nTitle: {title}");
        }
        data("subject", text)
    }

    fn task(&self) -> String {
        let mut task =
            "The article is about the topic in \"subject\", under the title there if there is one."
                .to_owned();
        if let Some(wish) = &self.order.instructions {
            task += &format!(" The editor asks: {wish}");
        }
        task
    }

    /// Returns the URLs that the text may link to.
    pub(super) fn targets(&self) -> Vec<&str> {
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
}

fn data(label: &str, text: String) -> Data {
    Data {
        label: label.to_owned(),
        text,
    }
}
