//! New posts: their first fields, and the address that is free.

use searchwright_contract::{
    Instant,
    actions::AllowedActions,
    ids::PostId,
    posts::{Post, PostDetails, PostFindings, PostOrigin, PostStatus, PostSummary},
};
use searchwright_store::{
    Tx,
    access::ProjectScope,
    posts::{self, PostRecord},
};
use searchwright_writing::slug::{slugify, unique};

use crate::failure::Result;

/// Bytes by which slugs are looked up whose number is to be found: less than any number takes off the end.
const SLUG_START: usize = 50;

/// Returns a draft without title, keyword and text.
pub(crate) fn new_draft(id: PostId, language: &str, origin: PostOrigin, now: Instant) -> PostRecord {
    PostRecord {
        post: Post {
            summary: PostSummary {
                id,
                title: None,
                slug: String::new(),
                status: PostStatus::Draft,
                keyword_id: None,
                keyword: None,
                language: language.to_owned(),
                origin,
                replaces_post_id: None,
                word_count: 0,
                reading_time_minutes: 0,
                seo_score: None,
                has_unpublished_changes: false,
                scheduled_at: None,
                published_at: None,
                published_url: None,
                is_live: false,
                publication_state: None,
                failure: None,
                archived_at: None,
                version: 1,
                created_at: now,
                updated_at: now,
                allowed_actions: AllowedActions::default(),
            },
            content: String::new(),
            content_html: String::new(),
            details: PostDetails::default(),
            findings: PostFindings::default(),
            generation: None,
            publications: Vec::new(),
        },
        title_key: String::new(),
        content_hash: Vec::new(),
        published_hash: None,
        job: None,
        replaces_hash: None,
    }
}

/// Gives a post a slug from its title or keyword that no other post has.
pub(crate) async fn set_free_slug(tx: &mut Tx, scope: ProjectScope, record: &mut PostRecord) -> Result<()> {
    let summary = &mut record.post.summary;
    let named = summary.title.as_deref().or(summary.keyword.as_deref());
    let slug = slugify(named.unwrap_or_default(), &summary.language).unwrap_or_else(|| "post".to_owned());
    let taken = posts::list_slugs(tx, scope, &slug[..slug.len().min(SLUG_START)]).await?;
    summary.slug = unique(&slug, |slug| taken.iter().any(|taken| taken == slug));
    Ok(())
}
