//! Sources that the text of a post is checked against: its claims must be supported by them, and it must not repeat them.

use searchwright_contract::{
    Instant,
    posts::{ExternalSource, PostWarning},
};
use serde::{Deserialize, Serialize};

use crate::{
    document::Document,
    facts::{Claim, ClaimKind, Sentence, Source, bearing, trace, unverified},
    rivals::Rival,
    similarity::{MAX_CONTAINED, Shingles},
};

/// Code of the warning that no source supports a sentence.
pub const UNVERIFIED: &str = "unverified_claims";
/// Code of the warning that too much of the text is in one source.
const TOO_SIMILAR: &str = "too_similar";
/// Words of a text below which similarity is not measured.
const MIN_WORDS: u32 = 50;
/// Characters of a quotation that is shown.
const QUOTE: usize = 300;

/// A source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceText {
    /// Address, or the name of a piece of brand data.
    pub name: String,
    /// Title.
    pub title: Option<String>,
    /// Its text; empty if it could not be read.
    pub text: String,
    /// Time at which it was read, if it is a page of another site.
    pub checked_at: Option<Instant>,
}

impl SourceText {
    fn source(&self) -> Source<'_> {
        Source {
            name: &self.name,
            text: &self.text,
        }
    }
}

/// All sources of a post, as they are stored with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sources {
    /// Whether claims have to be supported by a source, because a model wrote the text.
    pub traces: bool,
    /// The sources.
    pub known: Vec<SourceText>,
}

impl Sources {
    /// Returns the URLs of pages of other sites that were read.
    pub fn followed(&self) -> Vec<String> {
        let read = |known: &&SourceText| known.checked_at.is_some() && !known.text.is_empty();
        self.known
            .iter()
            .filter(read)
            .map(|known| known.name.clone())
            .collect()
    }

    /// Returns the shingles of each source, with its name, to find text that was copied from it.
    pub fn shingles(&self) -> Vec<(String, Shingles)> {
        let read = self.known.iter().filter(|known| !known.text.is_empty());
        read.map(|known| (known.name.clone(), Shingles::from_text(&known.text)))
            .collect()
    }

    /// Returns the sentences of a text with their claims, each traced to a source where one supports it.
    pub fn trace(&self, document: &Document, language: &str, rivals: &[Rival]) -> Vec<Sentence> {
        let sources: Vec<Source<'_>> = self.known.iter().map(SourceText::source).collect();
        trace(document, language, &sources, rivals)
    }

    /// Adds the pages of other sites that were read to those that a text links to, with a quotation.
    pub fn complete(
        &self,
        links: Vec<ExternalSource>,
        sentences: &[Sentence],
        language: &str,
    ) -> Vec<ExternalSource> {
        let mut all = links;
        for known in self.known.iter().filter(|known| known.checked_at.is_some()) {
            let quote = sentences
                .iter()
                .find_map(|sentence| bearing(sentence, language, &known.source()))
                .map(|quote| quote.chars().take(QUOTE).collect());
            let at = all.iter().position(|link| link.url == known.name);
            let at = at.unwrap_or_else(|| {
                all.push(ExternalSource {
                    url: known.name.clone(),
                    ..ExternalSource::default()
                });
                all.len() - 1
            });
            if let Some(link) = all.get_mut(at) {
                link.title = known.title.clone().or(link.title.take());
                (link.quote, link.checked_at) = (quote, known.checked_at);
                link.ok = Some(!known.text.is_empty());
            }
        }
        all
    }
}

/// Replaces the warnings about claims and copied text by current ones. Claims that a person has accepted stay accepted.
pub fn warn(
    old: Vec<PostWarning>,
    sentences: &[Sentence],
    document: &Document,
    others: (&[String], &[Shingles]),
) -> Vec<PostWarning> {
    let is_accepted = |text: &str| {
        let mut accepted = old
            .iter()
            .filter(|w| w.code == UNVERIFIED && !w.blocks_publishing);
        accepted.any(|warning| warning.text.as_deref() == Some(text))
    };
    let mut new: Vec<PostWarning> = Vec::new();
    for sentence in unverified(sentences) {
        let is_of_rival = |claim: &Claim| claim.kind == ClaimKind::Competitor && claim.source.is_none();
        let detail = if sentence.claims.iter().any(is_of_rival) {
            "the competitor's record does not have this claim; add it there with its source, change or remove the sentence, or accept it with acceptClaims"
        } else {
            "no source of the project supports this; add one, change or remove the sentence, or accept it with acceptClaims"
        };
        let mut warning = PostWarning {
            code: UNVERIFIED.to_owned(),
            detail: detail.to_owned(),
            text: Some(sentence.text.clone()),
            blocks_publishing: true,
            ..PostWarning::default()
        };
        if is_accepted(&sentence.text) {
            accept(&mut warning);
        }
        new.push(warning);
    }
    new.extend(too_similar(document, others.0, others.1));
    let stay = old
        .into_iter()
        .filter(|w| ![UNVERIFIED, TOO_SIMILAR].contains(&w.code.as_str()));
    new.extend(stay);
    new
}

/// Marks the warning about a sentence as accepted by a person, so that it no longer blocks publishing.
pub fn accept(warning: &mut PostWarning) {
    "no source of the project supports this; it was accepted by a caller".clone_into(&mut warning.detail);
    warning.blocks_publishing = false;
}

fn too_similar(document: &Document, names: &[String], texts: &[Shingles]) -> Option<PostWarning> {
    if document.words() < MIN_WORDS {
        return None;
    }
    let own = Shingles::from_text(&document.plain_text());
    let shares = texts.iter().map(|text| own.contained_in(text)).zip(names);
    let (share, name) = shares.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (share > MAX_CONTAINED).then(|| PostWarning {
        code: TOO_SIMILAR.to_owned(),
        detail: format!(
            "{:.0} % of the text is also in one source, more than {:.0} %: rephrase it, or quote less",
            share * 100.0,
            MAX_CONTAINED * 100.0
        ),
        text: None,
        blocks_publishing: true,
        source: Some(name.clone()),
        share: Some((share * 100.0).round() / 100.0),
    })
}
