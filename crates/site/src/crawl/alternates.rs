//! Reduces the answers of other sites: of a language alternate what tells whether it may stand for a page of this one,
//! of everything else its status and its headers. Nothing is judged there, and no link is followed.

use searchwright_text as text;

use super::{
    challenge::is_challenge,
    parse_job::{ParseJob, ParsedPage, read},
};
use crate::{
    checks::FetchVerdict,
    page::{HtmlFacts, Limits, LinkRel, Meta, PageFacts, UrlId, cut, directives},
};

/// Its links and texts are of no interest.
const LIMITS: Limits = Limits {
    text: 0,
    keeps_text: false,
    links: 0,
    paragraph_words: u32::MAX,
};
/// Characters kept of a language, of which the beginning counts.
const LANGUAGE: usize = 64;

/// Reads the answer of an alternate; for as long as a page takes.
pub(super) fn alternate(job: ParseJob) -> ParsedPage {
    let challenge = is_challenge(&job.response.headers);
    let mut page = read(job, &LIMITS);
    let facts = &mut page.facts;
    let told = if challenge {
        FetchVerdict::Nothing
    } else {
        told(facts)
    };
    if told == FetchVerdict::Nothing && facts.status() == Some(200) {
        // nor do its headers tell anything; that it has no body says that no page was read
        facts.html = Some(Box::default());
        facts.headers.robots_tags.clear();
        facts.headers.canonicals.clear();
        facts.body_bytes = 0;
    } else {
        facts.html = kept(facts, told).map(Box::new);
    }
    bare(facts);
    page
}

/// Reads what was asked for by its headers.
pub(super) fn head(job: ParseJob) -> ParsedPage {
    let mut page = read(job, &LIMITS);
    bare(&mut page.facts);
    page
}

/// Without what nobody will ask of it.
fn bare(facts: &mut PageFacts) {
    facts.validators = None;
    facts.headers.canonicals.retain(|link| link.target.is_some());
    facts.headers.canonicals.truncate(1);
}

/// As of a page of the site, of which a graph says later what this one may say at once: without a title, a heading, a text or
/// a link it is the shell of an application, or no page.
fn told(facts: &PageFacts) -> FetchVerdict {
    let says_nothing = |html: &HtmlFacts| {
        html.titles.is_empty()
            && html.headings.is_empty()
            && html.hreflangs.is_empty()
            && html.text_hash == 0
            && html.links_total == 0
    };
    match FetchVerdict::from_facts(facts) {
        FetchVerdict::Whole | FetchVerdict::Cut(_) if facts.html_200().is_some_and(says_nothing) => {
            FetchVerdict::Nothing
        }
        told => told,
    }
}

/// Facts of the head; of an error page none.
fn kept(facts: &mut PageFacts, told: FetchVerdict) -> Option<HtmlFacts> {
    facts.html_200()?;
    let (noindex, canonical) = (directives(facts).meta.noindex, facts.canonical());
    let html = facts.html.take()?;
    // of a list that was cut it is not known whom it leaves out
    let alternates = match told {
        FetchVerdict::Whole => html.hreflangs,
        FetchVerdict::Cut(lists) if lists & cut::ALTERNATES == 0 => html.hreflangs,
        _ => Vec::new(),
    };
    let noindex = noindex.then(|| Meta {
        name: "robots".into(),
        content: "noindex".into(),
        in_head: true,
    });
    Some(HtmlFacts {
        lang: html.lang.map(|lang| text::cut(&lang, LANGUAGE).into()),
        metas: noindex.into_iter().collect(),
        canonicals: canonical.map(link).into_iter().collect(),
        hreflangs: named(alternates.into_iter().filter_map(|link| link.target), facts.id),
        ..HtmlFacts::default()
    })
}

/// The alternates of a page, each once. One that names any names itself here, so that it is known also where none of them is a
/// page of this site.
fn named(alternates: impl Iterator<Item = UrlId>, own: UrlId) -> Vec<LinkRel> {
    let mut ids: Vec<UrlId> = alternates.collect();
    if !ids.is_empty() {
        ids.push(own);
    }
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().map(link).collect()
}

fn link(target: UrlId) -> LinkRel {
    LinkRel {
        rel: Box::default(),
        href: Box::default(),
        target: Some(target),
        in_head: true,
    }
}
