//! Rules of posts between an edit by people or jobs and the store: fields derived from a text, warnings, and allowed
//! actions.

pub(crate) mod attempts;
pub(crate) mod draft;
pub(crate) mod generation;
pub(crate) mod own_pages;
mod posting;
pub(crate) mod schedule;
pub(crate) mod sources;

use posting::posting;
use searchwright_contract::{
    Instant, Problem, Scope,
    actions::{AllowedActions, Permission},
    events::EventType,
    ids::{EventId, PostId},
    posts::{
        CheckOutcome, ExternalSource, PostFindings, PostReadability, PostStatus, PostSummary, PostWarning,
        PublicationState, SeoCheck, TextLink,
    },
};
use searchwright_keywords::normalize;
use searchwright_store::{
    Tx,
    access::ProjectScope,
    events, keywords,
    posts::{self, MINHASH_LEN, PostRecord},
};
use searchwright_writing::{
    content_checks,
    content_checks::{Checked, Outcome},
    document::Document,
    losses::{Loss, losses},
    markdown::to_html,
    readability::Readability,
    rivals::Rival,
    sanitise::{LinkPolicy, Target},
    similarity::Shingles,
    structured_data::structured_data,
    transitions::{Action, Actor, Effect, Facts, Stage, allowed_actions, transition},
};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use sources::Sources;
use url::Url;

use crate::{call::Call, domain::start_url, failure::Result, wire_name};

/// `failure.stage` of a post that could not be published.
pub(crate) const PUBLISH: &str = "publish";
/// Codes of warnings: the text is a brief and no article, a section has no text, a step has no answer.
pub(crate) const BRIEF_ONLY: &str = "brief_only";
pub(crate) const MISSING_SECTION: &str = "missing_section";
pub(crate) const STEP_LOST: &str = "step_lost";
/// Codes of warnings: the sanitiser takes something out, an address is relative to the page.
const REMOVED: &str = "removed_html";
const RELATIVE: &str = "relative_address";

/// The site that posts belong to.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// Name of the project.
    pub(crate) name: String,
    /// Its home page.
    pub(crate) home: String,
}

impl Site {
    /// Makes the site of a project with this name and domain.
    pub(crate) fn new(name: &str, domain: &str) -> Self {
        Self {
            name: name.to_owned(),
            home: start_url(domain),
        }
    }

    /// Returns the link policy of the site: links to its host are its own.
    pub(crate) fn links(&self) -> LinkPolicy {
        let home = Url::parse(&self.home).ok();
        LinkPolicy {
            own_host: home.as_ref().and_then(|url| url.host_str().map(str::to_owned)),
            followed: Vec::new(),
            base: home,
            page: None,
        }
    }
}

/// Data that a text is checked against.
struct Against<'a> {
    /// Count of other posts with the same keyword.
    keyword_uses: Option<u32>,
    sources: &'a Sources,
    rivals: &'a [Rival],
    /// Names and texts of the sources, and of the posts that are most like it.
    others: (&'a [String], &'a [Shingles]),
    /// Similarity to the most similar page of the site.
    closest_page: f64,
    links: &'a LinkPolicy,
}

/// Computes the derived fields of a post that is about to be written, from the post and from what is stored.
pub(crate) async fn settle(
    tx: &mut Tx,
    scope: ProjectScope,
    record: &mut PostRecord,
    site: &Site,
    is_new_text: bool,
    now: Instant,
) -> Result<()> {
    let post = &mut record.post;
    let own = post.summary.id;
    // a new text for a published post does not compete with the text that it replaces
    let replaced = post.summary.replaces_post_id;
    let keyword_uses = match post.summary.keyword_id {
        Some(keyword) => {
            Some(posts::count_others_with_keyword(tx, scope, keyword, replaced.unwrap_or(own)).await?)
        }
        None => None,
    };
    let sources = match &post.generation {
        Some(_) => Sources::load(tx, scope, own).await?,
        None => Sources::default(),
    };
    let mut links = site.links();
    links.followed = sources.followed();
    let address = post
        .details
        .canonical_url
        .as_ref()
        .or(post.summary.published_url.as_ref());
    links.page = address.and_then(|address| Url::parse(address).ok());
    post.content_html = to_html(&post.content, &links)
        .map_err(|refused| Problem::fault("/content", &wire_name(&refused), refused.to_string()))?;
    let document = Document::of_html(&post.content_html);
    let plain = document.plain_text();
    let marks = Shingles::from_text(&plain).smallest(MINHASH_LEN);
    if is_new_text {
        posts::save_minhash(tx, scope, own, &marks).await?;
    }
    let own_urls = [&post.summary.published_url, &post.details.canonical_url];
    let own_urls: Vec<&str> = own_urls.into_iter().flatten().map(String::as_str).collect();
    let mut others = sources.shingles();
    others.retain(|(name, _)| !own_urls.contains(&name.as_str()));
    let similar = posts::find_similar(tx, scope, own, &marks).await?;
    for (other, content) in similar.into_iter().filter(|(other, _)| Some(*other) != replaced) {
        if let Ok(document) = Document::of_markdown(&content) {
            others.push((
                format!("posts/{other}"),
                Shingles::from_text(&document.plain_text()),
            ));
        }
    }
    let (names, texts): (Vec<String>, Vec<Shingles>) = others.into_iter().unzip();
    let against = Against {
        keyword_uses,
        sources: &sources,
        rivals: &sources.rivals(tx, scope).await?,
        others: (&names, &texts),
        closest_page: own_pages::closest(tx, scope, &plain, &own_urls).await?,
        links: &links,
    };
    judge(record, site, &document, &against, now);
    Ok(())
}

/// Checks, score, structured data, links, and the warnings that hold.
fn judge(record: &mut PostRecord, site: &Site, document: &Document, against: &Against<'_>, now: Instant) {
    let post = &mut record.post;
    let links = against.links;
    let summary = &mut post.summary;
    summary.word_count = document.words();
    summary.reading_time_minutes = document.reading_minutes();
    record.title_key = summary.title.as_deref().map(normalize).unwrap_or_default();
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
            others: Some(against.others.1),
            closest_page: against.closest_page,
            keyword_uses: against.keyword_uses,
        })
    });
    summary.seo_score = report.as_ref().map(|report| report.score);
    let plain = document.plain_text();
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
        warnings = sources::warn(warnings, &sentences, document, against.others);
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
    let posting = posting(&record.post, site, document, now).filter(|_| has_text);
    record.post.findings.structured_data = posting.map(|posting| structured_data(&posting, document));
    record.content_hash = digest(&published(record)).to_vec();
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

/// Returns the parts of a post that readers see; its content hash is made of these.
fn published(record: &PostRecord) -> Value {
    let post = &record.post;
    json!([
        post.summary.title,
        post.summary.slug,
        post.summary.language,
        post.content,
        post.details
    ])
}

/// SHA-256 of a value as JSON.
pub(crate) fn digest(value: &Value) -> [u8; 32] {
    Sha256::digest(value.to_string()).into()
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

/// Returns the facts about a post that its transitions depend on. Whether an integration is ready is set by the caller.
pub(crate) fn facts(summary: &PostSummary, warnings: &[PostWarning], now: Instant) -> Facts {
    Facts {
        has_title: summary.title.is_some(),
        has_keyword: summary.keyword_id.is_some(),
        has_content: summary.seo_score.is_some(),
        has_active_job: matches!(
            summary.status,
            PostStatus::Queued | PostStatus::Generating | PostStatus::Publishing
        ),
        is_time_ahead: summary.scheduled_at.is_some_and(|at| at > now),
        is_blocked: warnings.iter().any(|warning| warning.blocks_publishing),
        was_live: summary.is_live,
        can_unpublish: summary.is_live,
        is_uncertain: summary.publication_state == Some(PublicationState::Uncertain),
        failed_at: summary
            .failure
            .as_ref()
            .map(|failure| match failure.stage.as_str() {
                PUBLISH => Stage::Publish,
                _ => Stage::Generate,
            }),
        ..Facts::default()
    }
}

/// Moves a post to another status, or refuses with what would have been possible.
pub(crate) fn advance(
    record: &mut PostRecord,
    to: PostStatus,
    by: Actor,
    facts: &Facts,
    now: Instant,
) -> Result<&'static [Effect]> {
    let summary = &mut record.post.summary;
    let effects = transition(summary.status, to, by, facts).map_err(|refusal| {
        let allowed: Vec<&str> = refusal.allowed.iter().map(|status| status.as_str()).collect();
        let mut problem = Problem::invalid_state(summary.status.as_str(), to.as_str(), &allowed)
            .with("reason", refusal.code)
            .hint(refusal.reason);
        problem.detail = format!("{}: {}", problem.detail, refusal.reason);
        problem
    })?;
    if effects.contains(&Effect::ClearSchedule) {
        summary.scheduled_at = None;
    }
    summary.archived_at = match to {
        PostStatus::Archived => summary.archived_at.or(Some(now)),
        _ => None,
    };
    summary.status = to;
    Ok(effects)
}

/// Returns the actions of the caller on a post: every transition of the table that the caller could cause, and `update`.
pub(crate) fn actions(call: &Call, summary: &PostSummary, facts: &Facts) -> AllowedActions {
    let write = call.permission(Scope::PostsWrite);
    let update = match &write {
        Permission::Yes(_) if !summary.status.is_editable() => {
            Permission::no("invalid_state", "a job for this post is under way")
        }
        _ => write.clone(),
    };
    let mut actions = AllowedActions::default().with("update", update);
    for Action {
        by,
        to,
        allowed,
        reason,
        ..
    } in allowed_actions(summary.status, facts)
    {
        let (name, permission) = match (by, to) {
            (Actor::Patch, PostStatus::Draft) => ("draft", write.clone()),
            (Actor::Patch, PostStatus::Review) => ("review", write.clone()),
            (Actor::Patch, PostStatus::Scheduled) => {
                let publish = call.permission(Scope::ContentPublish);
                let is_granted = matches!(publish, Permission::Yes(_));
                ("schedule", if is_granted { write.clone() } else { publish })
            }
            (Actor::Patch, PostStatus::Archived) => ("archive", write.clone()),
            (Actor::Generate, _) => ("generate", call.permission(Scope::ContentGenerate)),
            (Actor::Publish, _) => ("publish", call.permission(Scope::ContentPublish)),
            (Actor::Unpublish, _) => ("unpublish", call.permission(Scope::ContentPublish)),
            _ => continue,
        };
        let permission = match permission {
            Permission::Yes(_) if !allowed => Permission::no("invalid_state", reason.unwrap_or_default()),
            other => other,
        };
        actions = actions.with(name, permission);
    }
    actions
}

/// Lets the keywords follow a post that was written: the one it aims at, and the one it aimed at before.
pub(crate) async fn follow(
    tx: &mut Tx,
    scope: ProjectScope,
    old: Option<&PostSummary>,
    new: &PostSummary,
    now: Instant,
) -> searchwright_store::Result<()> {
    let aim = |summary: &PostSummary| {
        let keyword = summary.keyword_id?;
        let (has_text, was_live) = (summary.seo_score.is_some(), summary.published_at.is_some());
        Some((
            keyword,
            keywords::status_from_post(summary.status, has_text, was_live),
        ))
    };
    let (old, new) = (old.and_then(aim), aim(new));
    if old == new {
        return Ok(());
    }
    if let Some((keyword, _)) = new {
        keywords::update_from_posts(tx, scope, keyword, now).await?;
    }
    match old {
        Some((keyword, _)) if new.is_none_or(|(now_at, _)| now_at != keyword) => {
            keywords::update_from_posts(tx, scope, keyword, now).await
        }
        _ => Ok(()),
    }
}

/// Writes an event about a post. Thin: whoever wants more reads the post.
pub(crate) async fn announce(
    tx: &mut Tx,
    scope: ProjectScope,
    id: EventId,
    kind: EventType,
    summary: &PostSummary,
    now: Instant,
) -> searchwright_store::Result<()> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Data<'a> {
        post_id: PostId,
        version: i64,
        status: PostStatus,
        title: Option<&'a str>,
        url: Option<&'a str>,
    }
    let data = json!(Data {
        post_id: summary.id,
        version: summary.version,
        status: summary.status,
        title: summary.title.as_deref(),
        url: summary.published_url.as_deref(),
    });
    events::insert(tx, scope, id, kind, &data, now).await
}
