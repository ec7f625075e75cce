//! Edits of a post by people: parsed from a request, normalised to the stored form, and checked.

use searchwright_contract::{
    Patch,
    posts::{Author, FeaturedImage, PostDetails, PostSummary},
};
use searchwright_store::{Tx, access::RecordKind, keywords, posts::PostRecord};
use searchwright_writing::slug::is_slug;

use super::super::items::refuse;
use crate::{
    brand::Check,
    call::{Call, fault},
    failure::Result,
};

/// Members of a post that a request sets; absent ones stay as they are.
pub(super) struct Edit {
    pub(super) title: Option<String>,
    pub(super) content: Option<String>,
    pub(super) slug: Option<String>,
    pub(super) language: Option<String>,
    pub(super) keyword_id: Patch<String>,
    pub(super) excerpt: Patch<String>,
    pub(super) meta_title: Patch<String>,
    pub(super) meta_description: Patch<String>,
    pub(super) secondary_keywords: Option<Vec<String>>,
    pub(super) tags: Option<Vec<String>>,
    pub(super) categories: Option<Vec<String>>,
    pub(super) featured_image: Patch<FeaturedImage>,
    pub(super) author: Patch<Author>,
    pub(super) canonical_url: Patch<String>,
}

macro_rules! edit {
    ($operation:ident, $patch:path) => {
        Edit {
            title: $operation.title,
            content: $operation.content,
            slug: $operation.slug,
            language: $operation.language,
            keyword_id: $patch($operation.keyword_id),
            excerpt: $patch($operation.excerpt),
            meta_title: $patch($operation.meta_title),
            meta_description: $patch($operation.meta_description),
            secondary_keywords: $operation.secondary_keywords,
            tags: $operation.tags,
            categories: $operation.categories,
            featured_image: $patch($operation.featured_image),
            author: $patch($operation.author),
            canonical_url: $patch($operation.canonical_url),
        }
    };
}
pub(super) use edit;

pub(super) fn given<T>(value: Option<T>) -> Patch<T> {
    value.map_or(Patch::Absent, Patch::Value)
}

impl Edit {
    /// Returns whether the request sets no member.
    pub(super) fn is_empty(&self) -> bool {
        self.title.is_none()
            && self.content.is_none()
            && self.slug.is_none()
            && self.language.is_none()
            && self.keyword_id.is_absent()
            && self.excerpt.is_absent()
            && self.meta_title.is_absent()
            && self.meta_description.is_absent()
            && self.secondary_keywords.is_none()
            && self.tags.is_none()
            && self.categories.is_none()
            && self.featured_image.is_absent()
            && self.author.is_absent()
            && self.canonical_url.is_absent()
    }

    /// Writes the members that are set into a record, and checks it. The slug is not looked up here.
    pub(super) async fn apply(self, call: &Call, tx: &mut Tx, record: &mut PostRecord) -> Result<()> {
        let (summary, details) = (&mut record.post.summary, &mut record.post.details);
        summary.title = self.title.or(summary.title.take());
        record.post.content = self.content.unwrap_or(std::mem::take(&mut record.post.content));
        summary.language = self.language.unwrap_or(std::mem::take(&mut summary.language));
        details.excerpt = self.excerpt.apply(details.excerpt.take());
        details.meta_title = self.meta_title.apply(details.meta_title.take());
        details.meta_description = self.meta_description.apply(details.meta_description.take());
        details.secondary_keywords = self
            .secondary_keywords
            .unwrap_or(std::mem::take(&mut details.secondary_keywords));
        details.tags = self.tags.unwrap_or(std::mem::take(&mut details.tags));
        details.categories = self.categories.unwrap_or(std::mem::take(&mut details.categories));
        details.featured_image = self.featured_image.apply(details.featured_image.take());
        details.author = self.author.apply(details.author.take());
        details.canonical_url = self.canonical_url.apply(details.canonical_url.take());
        check(summary, details)?;
        match self.keyword_id {
            Patch::Absent => {}
            Patch::Null => (summary.keyword_id, summary.keyword) = (None, None),
            Patch::Value(id) => {
                let id = call.child(RecordKind::Keyword, &id)?;
                let found = keywords::get(tx, call.scope()?, id).await;
                let keyword = call.or_missing(tx, RecordKind::Keyword, id, found).await?;
                (summary.keyword_id, summary.keyword) = (Some(keyword.id), Some(keyword.keyword));
            }
        }
        if let Some(slug) = self.slug {
            if !is_slug(&slug) {
                return Err(fault(
                    "/slug",
                    "not_a_slug",
                    "has to consist of a-z and 0-9, parted by single hyphens",
                ));
            }
            summary.slug = slug;
        }
        Ok(())
    }
}

/// Brings what people wrote into the form that is kept, and names its faults.
fn check(summary: &mut PostSummary, details: &mut PostDetails) -> Result<()> {
    let mut faults = Vec::new();
    let mut check = Check::new(String::new(), &mut faults);
    check.said_if_any("title", &mut summary.title);
    let mut language = Some(std::mem::take(&mut summary.language));
    check.language("language", &mut language);
    summary.language = language.unwrap_or_default();
    check.said_if_any("excerpt", &mut details.excerpt);
    check.said_if_any("metaTitle", &mut details.meta_title);
    check.said_if_any("metaDescription", &mut details.meta_description);
    check.all_said("secondaryKeywords", &mut details.secondary_keywords);
    check.all_said("tags", &mut details.tags);
    check.all_said("categories", &mut details.categories);
    check.url_if_any("canonicalUrl", details.canonical_url.as_deref());
    check.url_if_any(
        "featuredImage/url",
        details.featured_image.as_ref().map(|image| image.url.as_str()),
    );
    if let Some(author) = &mut details.author {
        check.said("author/name", &mut author.name);
        check.url_if_any("author/url", author.url.as_deref());
        for (at, profile) in author.same_as.iter().enumerate() {
            check.url_if_any(&format!("author/sameAs/{at}"), Some(profile));
        }
    }
    refuse(faults)
}
