//! Reduces responses of other sites. A language alternate keeps what shows whether it is valid for a page of this site,
//! everything else its status and headers. Other sites are not audited, and their links are not followed.

use searchwright_text as text;

use super::{
    challenge::is_challenge,
    parse_job::{ParseJob, ParsedPage, read},
};
use crate::{
    checks::FetchVerdict,
    page::{HtmlFacts, Limits, LinkRel, Meta, PageFacts, UrlId, cut, directives},
};

/// Limits without links and texts, which are not needed.
const LIMITS: Limits = Limits {
    text: 0,
    keeps_text: false,
    links: 0,
    paragraph_words: u32::MAX,
};
/// Maximum number of characters kept of a `lang` value; only its beginning matters.
const LANGUAGE: usize = 64;

/// Parses the response of an alternate, which takes as long as for any page.
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
        // its headers are not reliable either; a body of 0 bytes shows that no page was read
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

/// Reads a response of which only the headers were fetched.
pub(super) fn head(job: ParseJob) -> ParsedPage {
    let mut page = read(job, &LIMITS);
    bare(&mut page.facts);
    page
}

/// Drops facts that no check uses.
fn bare(facts: &mut PageFacts) {
    facts.validators = None;
    facts.headers.canonicals.retain(|link| link.target.is_some());
    facts.headers.canonicals.truncate(1);
}

/// Returns the verdict on an alternate. For a page of the site the graph decides this later; here a page without title,
/// heading, text and link counts at once as an application shell, or as no page.
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

/// Keeps facts of the head; none of an error page.
fn kept(facts: &mut PageFacts, told: FetchVerdict) -> Option<HtmlFacts> {
    facts.html_200()?;
    let (noindex, canonical) = (directives(facts).meta.noindex, facts.canonical());
    let html = facts.html.take()?;
    // a list that was cut does not show which alternates are missing
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

/// Returns the alternates of a page, each once. If there is any, the page itself is added, so that "it names
/// alternates" is known even if none of them is a page of this site.
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
