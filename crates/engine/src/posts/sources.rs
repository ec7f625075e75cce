//! What the text of a post is held against: where its claims may be known from, and what it must not repeat.

use searchwright_contract::{
    Instant,
    brand::Item,
    competitors::Competitor,
    posts::{ExternalSource, PostWarning},
};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    brand::{self, Resource},
    posts,
};
use searchwright_writing::{
    document::Document,
    facts::{Claim, ClaimKind, Sentence, Source, bearing, trace, unverified},
    rivals::Rival,
    similarity::{MOST_CONTAINED, Shingles},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::failure::{Result, defect};

/// Codes of warnings: no source bears a sentence out, and too much of the text stands in one source.
pub(crate) const UNVERIFIED: &str = "unverified_claims";
const TOO_SIMILAR: &str = "too_similar";
/// Words of a text below which likeness says nothing.
const LEAST_WORDS: u32 = 50;
/// Competitors of a project, at most (domain rule).
const MOST_ITEMS: u32 = 2_000;
/// Characters of a quotation that is shown.
const QUOTE: usize = 300;

/// One of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// Address, or the name of a piece of brand data.
    pub(crate) name: String,
    /// What it is called.
    pub(crate) title: Option<String>,
    /// Its text; empty if it could not be read.
    pub(crate) text: String,
    /// When it was read, if it is a page of others.
    pub(crate) checked_at: Option<Instant>,
}

impl Known {
    fn source(&self) -> Source<'_> {
        Source {
            name: &self.name,
            text: &self.text,
        }
    }
}

/// All of them, as they are kept beside a post.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sources {
    /// A model wrote the text: what it claims has to stand in one of them.
    pub(crate) traces: bool,
    pub(crate) known: Vec<Known>,
}

impl Sources {
    /// Those that are kept of a post; none of one that no job wrote.
    pub(crate) async fn of(tx: &mut Tx, scope: ProjectScope, post: Uuid) -> Result<Self> {
        let kept = posts::find_sources(tx, scope, post).await?;
        kept.map_or_else(
            || Ok(Self::default()),
            |kept| serde_json::from_value(kept).map_err(|e| defect("sources of a post", e)),
        )
    }

    /// Keeps them.
    pub(crate) async fn save(&self, tx: &mut Tx, scope: ProjectScope, post: Uuid) -> Result<()> {
        let kept = serde_json::to_value(self).map_err(|e| defect("sources of a post", e))?;
        Ok(posts::save_sources(tx, scope, post, &kept).await?)
    }

    /// Pages of others that were read.
    pub(crate) fn followed(&self) -> Vec<String> {
        let read = |known: &&Known| known.checked_at.is_some() && !known.text.is_empty();
        self.known
            .iter()
            .filter(read)
            .map(|known| known.name.clone())
            .collect()
    }

    /// Those that tell others of a text: its own words stand in none too much.
    pub(crate) fn shingles(&self) -> Vec<(String, Shingles)> {
        let read = self.known.iter().filter(|known| !known.text.is_empty());
        read.map(|known| (known.name.clone(), Shingles::of(&known.text)))
            .collect()
    }

    /// The competitors of whom a text may not say what their records do not; none of one that no model wrote.
    pub(crate) async fn rivals(&self, tx: &mut Tx, scope: ProjectScope) -> Result<Vec<Rival>> {
        if !self.traces {
            return Ok(Vec::new());
        }
        let items: Vec<Item<Competitor>> =
            brand::list(tx, scope, Resource::Competitors, None, MOST_ITEMS).await?;
        Ok(items.into_iter().map(|item| item.data.into()).collect())
    }

    /// What the sentences of a text claim.
    pub(crate) fn trace(&self, document: &Document, language: &str, rivals: &[Rival]) -> Vec<Sentence> {
        let sources: Vec<Source<'_>> = self.known.iter().map(Known::source).collect();
        trace(document, language, &sources, rivals)
    }

    /// Completes the pages of others that a text links to with what was read.
    pub(crate) fn complete(
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

/// Replaces what was said of a text by what is to be said of it now. What somebody vouched for stays vouched for.
pub(crate) fn warn(
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
            "the record of the competitor does not say this; put it there with its source, change it, take it out, or vouch for it with acceptClaims"
        } else {
            "no source of the project bears this out; show one, change it, take it out, or vouch for it with acceptClaims"
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
    new.extend(too_similar(document, others));
    let stay = old
        .into_iter()
        .filter(|w| ![UNVERIFIED, TOO_SIMILAR].contains(&w.code.as_str()));
    new.extend(stay);
    new
}

/// Somebody vouches for a sentence.
pub(crate) fn accept(warning: &mut PostWarning) {
    "no source of the project bears this out; somebody vouched for it".clone_into(&mut warning.detail);
    warning.blocks_publishing = false;
}

fn too_similar(document: &Document, (names, texts): (&[String], &[Shingles])) -> Option<PostWarning> {
    if document.words() < LEAST_WORDS {
        return None;
    }
    let own = Shingles::of(&document.plain_text());
    let shares = texts.iter().map(|text| own.contained_in(text)).zip(names);
    let (share, name) = shares.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (share > MOST_CONTAINED).then(|| PostWarning {
        code: TOO_SIMILAR.to_owned(),
        detail: format!(
            "{:.0} % of the text stands in one source already, more than {:.0} %: say it in other words, or quote less",
            share * 100.0,
            MOST_CONTAINED * 100.0
        ),
        text: None,
        blocks_publishing: true,
        source: Some(name.clone()),
        share: Some((share * 100.0).round() / 100.0),
    })
}
