//! Assessment of a post: what follows from its text and from what the text is compared with.

mod posting;
pub mod sources;

use searchwright_contract::{
    Instant,
    posts::{
        CheckOutcome, ExternalSource, Post, PostFindings, PostReadability, PostWarning, SeoCheck, TextLink,
    },
    wire_name,
};
use url::Url;

use self::{posting::posting, sources::Sources};
use crate::{
    content_checks,
    content_checks::{Checked, Outcome},
    document::Document,
    losses::{Loss, losses},
    markdown::{Refused, to_html},
    readability::Readability,
    rivals::Rival,
    sanitise::{LinkPolicy, Target},
    similarity::Shingles,
    structured_data::structured_data,
};

/// Codes of warnings: the sanitiser takes something out, an address is relative to the page.
const REMOVED: &str = "removed_html";
const RELATIVE: &str = "relative_address";

/// The site that posts belong to.
#[derive(Clone, Debug)]
pub struct Site {
    /// Name of the project.
    pub name: String,
    /// Its home page.
    pub home: String,
}

impl Site {
    /// Returns the link policy of the site: links to its host are its own.
    pub fn links(&self) -> LinkPolicy {
        let home = Url::parse(&self.home).ok();
        LinkPolicy {
            own_host: home.as_ref().and_then(|url| url.host_str().map(str::to_owned)),
            followed: Vec::new(),
            base: home,
            page: None,
        }
    }
}

/// Text of a post as HTML, with its structure.
#[derive(Debug)]
pub struct Rendered {
    /// Sanitised HTML.
    pub html: String,
    /// Structure.
    pub document: Document,
    /// Text without markup.
    pub plain: String,
}

impl Rendered {
    /// Renders Markdown.
    pub fn from_markdown(content: &str, links: &LinkPolicy) -> Result<Self, Refused> {
        let html = to_html(content, links)?;
        let document = Document::of_html(&html);
        let plain = document.plain_text();
        Ok(Self {
            html,
            document,
            plain,
        })
    }
}

/// Data that a text is checked against.
#[derive(Debug)]
pub struct Against<'a> {
    /// The site of the post.
    pub site: &'a Site,
    /// Count of other posts with the same keyword.
    pub keyword_uses: Option<u32>,
    /// Sources that the text was written from.
    pub sources: &'a Sources,
    /// Competitors of the project.
    pub rivals: &'a [Rival],
    /// Names and Markdown of the posts that are most like it.
    pub posts: &'a [(String, String)],
    /// Similarity to the most similar page of the site, 0 to 1.
    pub closest_page: f64,
    /// Policy of its links.
    pub links: &'a LinkPolicy,
}

/// Computes the derived fields of a post: checks, score, structured data, links, and the warnings that hold.
pub fn assess(post: &mut Post, text: &Rendered, against: &Against<'_>, now: Instant) {
    let (document, links) = (&text.document, against.links);
    post.content_html.clone_from(&text.html);
    let own_urls: Vec<&str> = own_urls(post).collect();
    let mut others = against.sources.shingles();
    others.retain(|(name, _)| !own_urls.contains(&name.as_str()));
    others.extend(against.posts.iter().filter_map(|(name, content)| {
        let document = Document::of_markdown(content).ok()?;
        Some((name.clone(), Shingles::from_text(&document.plain_text())))
    }));
    let (names, texts): (Vec<String>, Vec<Shingles>) = others.into_iter().unzip();
    let others = (&*names, &*texts);
    let summary = &mut post.summary;
    summary.word_count = document.words();
    summary.reading_time_minutes = document.reading_minutes();
    let has_text = !post.content.trim().is_empty();
    let report = has_text.then(|| {
        content_checks::check(&content_checks::Input {
            title: summary.title.as_deref().unwrap_or_default(),
            meta_title: post.details.meta_title.as_deref(),
            meta_description: post.details.meta_description.as_deref(),
            slug: &summary.slug,
            document,
            keyword: summary.keyword.as_deref(),
            language: &summary.language,
            target_words: None,
            featured_image_alt: post
                .details
                .featured_image
                .as_ref()
                .map(|image| image.alt.as_deref().unwrap_or_default()),
            links,
            others: Some(others.1),
            closest_page: against.closest_page,
            keyword_uses: against.keyword_uses,
        })
    });
    summary.seo_score = report.as_ref().map(|report| report.score);
    let plain = &text.plain;
    let sentences = against.sources.trace(document, &summary.language, against.rivals);
    let mut warnings = std::mem::take(&mut post.findings.warnings);
    warnings.retain(|w| w.text.as_ref().is_none_or(|text| plain.contains(text.as_str())));
    warnings.retain(|w| w.code != REMOVED && w.code != RELATIVE);
    warnings.extend(
        losses(&post.content, links)
            .unwrap_or_default()
            .iter()
            .map(warn_of_loss),
    );
    if against.sources.traces {
        warnings = sources::warn(warnings, &sentences, document, others);
    }
    let cited = links_to(document, links, &[Target::Source, Target::External]).map(|link| ExternalSource {
        url: link.url,
        title: Some(link.title),
        ..ExternalSource::default()
    });
    post.findings = PostFindings {
        readability: report.as_ref().and_then(|report| report.readability.map(shown)),
        seo_checks: report.map_or_else(Vec::new, |report| report.checks.into_iter().map(check).collect()),
        structured_data: None,
        internal_links: links_to(document, links, &[Target::Internal]).collect(),
        external_sources: against
            .sources
            .complete(cited.collect(), &sentences, &summary.language),
        warnings,
    };
    let posting = posting(post, against.site, document, now).filter(|_| has_text);
    post.findings.structured_data = posting.map(|posting| structured_data(&posting, document));
}

/// Returns the addresses at which the post itself is or will be.
pub fn own_urls(post: &Post) -> impl Iterator<Item = &str> {
    [&post.summary.published_url, &post.details.canonical_url]
        .into_iter()
        .flatten()
        .map(String::as_str)
}

/// Returns the link policy for a post of a site that was written from sources.
pub fn links_of(post: &Post, site: &Site, sources: &Sources) -> LinkPolicy {
    let mut links = site.links();
    links.followed = sources.followed();
    let address = post
        .details
        .canonical_url
        .as_ref()
        .or(post.summary.published_url.as_ref());
    links.page = address.and_then(|address| Url::parse(address).ok());
    links
}

/// The warning about something that the text loses.
fn warn_of_loss(loss: &Loss) -> PostWarning {
    let (code, text, detail) = match loss {
        Loss::Element {
            tag,
            with_content: true,
        } => (
            REMOVED,
            tag,
            "was taken out: a post holds text and images only; link to it instead".to_owned(),
        ),
        Loss::Element {
            tag,
            with_content: false,
        } => (
            REMOVED,
            tag,
            "was taken out and the text in it kept: posts have no such element".to_owned(),
        ),
        Loss::Attribute { element, attribute } => (
            REMOVED,
            attribute,
            format!("was taken off <{element}>: it is not safe or has no meaning in a post"),
        ),
        Loss::Relative { address, is_image } => {
            let kind = if *is_image { "an image" } else { "a link" };
            let detail = format!(
                "is the address of {kind} relative to the page that the post will be on; write it in full, or set canonicalUrl"
            );
            (RELATIVE, address, detail)
        }
    };
    PostWarning {
        code: code.to_owned(),
        detail,
        text: Some(text.clone()),
        ..PostWarning::default()
    }
}

fn shown(readability: Readability) -> PostReadability {
    PostReadability {
        score: readability.score,
        formula: wire_name(&readability.formula),
        band: wire_name(&readability.band),
    }
}

fn check(checked: Checked) -> SeoCheck {
    SeoCheck {
        id: checked.id.to_owned(),
        weight: checked.weight,
        outcome: match checked.outcome {
            Outcome::Pass => CheckOutcome::Pass,
            Outcome::Partial => CheckOutcome::Partial,
            Outcome::Fail => CheckOutcome::Fail,
            Outcome::NotApplicable => CheckOutcome::NotApplicable,
        },
        points: checked.points,
        value: checked.value,
        advice: checked.advice.map(str::to_owned),
    }
}

fn links_to(document: &Document, policy: &LinkPolicy, targets: &[Target]) -> impl Iterator<Item = TextLink> {
    let links = document
        .links
        .iter()
        .filter(|link| !link.href.starts_with('#') && targets.contains(&policy.target(&link.href)));
    links.map(|link| TextLink {
        url: link.href.clone(),
        title: link.text.clone(),
    })
}
