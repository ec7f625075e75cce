//! Derived fields of a post that is about to be written, computed from the post and from what is stored.
//!
//! A long text takes seconds to render, check and compare. [`settle_ahead`] does that before the write transaction, with a
//! few at a time on threads of their own; the transaction takes the result if the post is still the one that was assessed.
//! Only a draft without a text is settled in its transaction.

use searchwright_contract::{Instant, Problem, wire_name};
use searchwright_keywords::normalize;
use searchwright_store::{
    Tx,
    access::ProjectScope,
    crawls,
    posts::{self, MINHASH_LEN, PostRecord},
};
use searchwright_writing::{
    assessment::{self, Against, Rendered, Site, sources::Sources},
    rivals::Rival,
    sanitise::LinkPolicy,
    similarity::Shingles,
};
use serde_json::{Value, json};

use super::{hashes::digest, own_pages, sources};
use crate::{
    Engine,
    failure::{Result, changed_meanwhile, defect},
};

/// Bytes of a text that is assessed without waiting for a place: a matter of milliseconds.
const SHORT: usize = 20_000;

/// A post with its derived fields, assessed before the transaction that writes it.
#[derive(Debug)]
pub struct Settled {
    /// The post that was assessed.
    before: PostRecord,
    after: PostRecord,
    marks: Vec<i64>,
}

/// Data that a post is rendered with.
struct Ground {
    keyword_uses: Option<u32>,
    sources: Sources,
    rivals: Vec<Rival>,
    links: LinkPolicy,
}

impl Ground {
    /// Loads it, but for the sources if others are to be stored with the text.
    async fn load(
        tx: &mut Tx,
        scope: ProjectScope,
        record: &PostRecord,
        site: &Site,
        new_sources: Option<Sources>,
    ) -> Result<Self> {
        let post = &record.post;
        // a new text for a published post does not compete with the text that it replaces
        let own = post.summary.replaces_post_id.unwrap_or(post.summary.id);
        let keyword_uses = match post.summary.keyword_id {
            Some(keyword) => Some(posts::count_others_with_keyword(tx, scope, keyword, own).await?),
            None => None,
        };
        let sources = match (&post.generation, new_sources) {
            (Some(_), Some(sources)) => sources,
            (Some(_), None) => sources::load(tx, scope, post.summary.id).await?,
            (None, _) => Sources::default(),
        };
        Ok(Self {
            keyword_uses,
            rivals: sources::rivals(tx, scope, &sources).await?,
            links: assessment::links_of(post, site, &sources),
            sources,
        })
    }

    fn render(&self, content: &str) -> Result<Text> {
        let rendered = Rendered::from_markdown(content, &self.links)
            .map_err(|refused| Problem::fault("/content", &wire_name(&refused), refused.to_string()))?;
        let marks = Shingles::from_text(&rendered.plain).smallest(MINHASH_LEN);
        Ok(Text { rendered, marks })
    }

    fn assess(
        &self,
        record: &mut PostRecord,
        site: &Site,
        text: &Text,
        neighbours: &Neighbours,
        now: Instant,
    ) -> Result<()> {
        let own_urls: Vec<&str> = assessment::own_urls(&record.post).collect();
        let against = Against {
            site,
            keyword_uses: self.keyword_uses,
            sources: &self.sources,
            rivals: &self.rivals,
            posts: &neighbours.posts,
            closest_page: own_pages::closest(&neighbours.sketches, &text.rendered.plain, &own_urls)?,
            links: &self.links,
        };
        assessment::assess(&mut record.post, &text.rendered, &against, now);
        let title = record.post.summary.title.as_deref();
        record.title_key = title.map(normalize).unwrap_or_default();
        record.content_hash = digest(&published(record)).to_vec();
        Ok(())
    }
}

/// A rendered text, with the marks by which similar posts are found.
struct Text {
    rendered: Rendered,
    marks: Vec<i64>,
}

/// Texts of the project that are most like the post.
#[derive(Default)]
struct Neighbours {
    /// Names and Markdown of posts.
    posts: Vec<(String, String)>,
    /// Sketches of pages, packed.
    sketches: Vec<Vec<u8>>,
}

impl Neighbours {
    async fn load(tx: &mut Tx, scope: ProjectScope, record: &PostRecord, marks: &[i64]) -> Result<Self> {
        let summary = &record.post.summary;
        let similar = posts::find_similar(tx, scope, summary.id, marks).await?;
        let posts = similar
            .into_iter()
            .filter(|(other, _)| Some(*other) != summary.replaces_post_id)
            .map(|(other, content)| (format!("posts/{other}"), content))
            .collect();
        let sketches = crawls::list_sketches(tx, scope).await?;
        Ok(Self { posts, sketches })
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

/// Computes the derived fields of a draft that has no text yet, which takes no time.
pub(crate) async fn settle_without_text(
    tx: &mut Tx,
    scope: ProjectScope,
    record: &mut PostRecord,
    site: &Site,
    now: Instant,
) -> Result<()> {
    let ground = Ground::load(tx, scope, record, site, None).await?;
    let text = ground.render("")?;
    ground.assess(record, site, &text, &Neighbours::default(), now)
}

/// Computes the derived fields of a post before the transaction that writes it. It is compared with the posts that are
/// there now. Sources are given if they are stored together with it.
pub(crate) async fn settle_ahead(
    engine: &Engine,
    scope: ProjectScope,
    record: PostRecord,
    site: Site,
    sources: Option<Sources>,
    now: Instant,
) -> Result<Settled> {
    let ground = Ground::load(&mut engine.db.read().await?, scope, &record, &site, sources).await?;
    let _place = match record.post.content.len() {
        0..SHORT => None,
        _ => Some(engine.long_texts.take(scope).await?),
    };
    let rendering = tokio::task::spawn_blocking(move || {
        let text = ground.render(&record.post.content)?;
        Ok::<_, crate::Failure>((ground, record, text))
    });
    let (ground, record, text) = rendering.await.map_err(|e| defect("rendering", e))??;
    let neighbours = Neighbours::load(&mut engine.db.read().await?, scope, &record, &text.marks).await?;
    let assessing = tokio::task::spawn_blocking(move || {
        let mut after = record.clone();
        ground.assess(&mut after, &site, &text, &neighbours, now)?;
        Ok(Settled {
            before: record,
            after,
            marks: text.marks,
        })
    });
    assessing.await.map_err(|e| defect("assessment", e))?
}

impl Settled {
    /// Id of the post.
    pub(crate) fn id(&self) -> searchwright_contract::ids::PostId {
        self.before.post.summary.id
    }

    /// Gives a post its derived fields, unless it is another than was assessed.
    pub(crate) async fn apply(
        &self,
        tx: &mut Tx,
        scope: ProjectScope,
        record: &mut PostRecord,
        is_new_text: bool,
    ) -> Result<()> {
        // a slug that others took meanwhile is another one now, which changes no finding
        let slug = record.post.summary.slug.clone();
        let mut before = self.before.clone();
        before.post.summary.slug.clone_from(&slug);
        if before != *record {
            return Err(changed_meanwhile());
        }
        record.clone_from(&self.after);
        if record.post.summary.slug != slug {
            record.post.summary.slug = slug;
            record.content_hash = digest(&published(record)).to_vec();
        }
        if is_new_text {
            posts::save_minhash(tx, scope, self.id(), &self.marks).await?;
        }
        Ok(())
    }
}
