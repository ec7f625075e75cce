//! The item that is sent for a post: its text with our marker, and its main image as the provider has it.

use searchwright_contract::Instant;
use searchwright_outbound::Purpose;
use searchwright_publishing::{Item, Marker, Publisher, Trouble, Uploaded, pictures, vendors};
use searchwright_store::{integrations, publications};
use serde_json::json;

use super::{Stop, View};
use crate::{
    jobs::{JobContext, JobError},
    posts::attempts::LIVE,
};

/// Returns the main image at the provider; uploads it once.
pub(super) async fn picture(
    job: &JobContext,
    view: &View,
    connection: &integrations::IntegrationRecord,
    publisher: &dyn Publisher,
) -> Result<Option<Uploaded>, Stop> {
    let image = match &view.post.details.featured_image {
        Some(image) if connection.field_map.contains_key("featuredImage") => image,
        _ => return Ok(None),
    };
    let vendor = vendors::find(connection.provider);
    if !vendor.is_some_and(|vendor| vendor.capabilities.images) {
        return Ok(Some(Uploaded {
            reference: image.url.clone(),
            url: Some(image.url.clone()),
            alt: image.alt.clone(),
        }));
    }
    let settings = job.engine.publishing().map_err(JobError::from)?;
    let client = settings.outbound.for_purpose(Purpose::Publish);
    let found = pictures::fetch(&client, &image.url).await?;
    let (scope, id, digest) = (job.leased.scope, connection.id, found.digest);
    let known = publications::find_upload(
        &mut job.engine.db.read().await.map_err(JobError::from)?,
        scope,
        id,
        &digest,
    )
    .await
    .map_err(JobError::from)?;
    if let Some(known) = known.and_then(|known| serde_json::from_value::<Uploaded>(known).ok()) {
        let alt = image.alt.clone();
        return Ok(Some(Uploaded { alt, ..known }));
    }
    let picture = found.picture(image.alt.clone()).await?;
    // A duplicate image does less harm than a duplicate post, so after a lost answer it is uploaded again.
    let uploaded = publisher
        .upload(&picture)
        .await
        .map_err(|trouble| match trouble {
            Trouble::Unclear { cause, .. } => Trouble::not_now(cause),
            other => other,
        })?;
    let (stored, now) = (json!(uploaded), job.engine.clock.now());
    job.write_fenced(move |tx, scope| {
        Box::pin(async move { publications::save_upload(tx, scope, id, &digest, &stored, now).await })
    })
    .await?;
    Ok(Some(uploaded))
}

/// Builds the item that is sent. Markers in its text are removed: they belong to another copy and would be taken for ours.
pub(super) fn build(view: &View, picture: Option<Uploaded>, now: Instant) -> Item {
    let (summary, details) = (&view.post.summary, &view.post.details);
    Item {
        marker: view.marker(),
        live: view.attempt.aim == LIVE,
        title: summary.title.clone().unwrap_or_default(),
        slug: summary.slug.clone(),
        html: Marker::without(&view.post.content_html),
        markdown: Marker::without(&view.post.content),
        excerpt: details.excerpt.clone(),
        meta_title: details.meta_title.clone(),
        meta_description: details.meta_description.clone(),
        tags: details.tags.clone(),
        categories: details.categories.clone(),
        author: details.author.as_ref().map(|author| author.name.clone()),
        language: summary.language.clone(),
        canonical_url: details.canonical_url.clone(),
        published_at: view.published.published_at.unwrap_or(now),
        picture,
    }
}
