//! Structured data of a post.

use searchwright_contract::{Instant, posts::Post};
use url::Url;

use super::Site;
use crate::{
    document::Document,
    structured_data::{Author, Picture, Posting},
};

/// Pictures in the structured data of a post, at most.
const MAX_PICTURES: usize = 8;

/// Returns the structured data of a post; `None` without a title.
pub(super) fn posting(post: &Post, site: &Site, document: &Document, now: Instant) -> Option<Posting> {
    let (summary, details) = (&post.summary, &post.details);
    let url = details
        .canonical_url
        .clone()
        .or_else(|| summary.published_url.clone());
    Some(Posting {
        headline: summary.title.clone()?,
        description: details
            .meta_description
            .clone()
            .or_else(|| details.excerpt.clone()),
        pictures: pictures(post, url.as_deref(), site, document),
        url,
        published_at: summary.published_at.map(|at| at.to_string()),
        modified_at: Some(now.to_string()),
        author: details.author.as_ref().map(|author| Author {
            name: author.name.clone(),
            url: author.url.clone(),
            same_as: author.same_as.clone(),
        }),
        publisher: Some((site.name.clone(), None)),
        language: summary.language.clone(),
        breadcrumbs: vec![(site.name.clone(), site.home.clone())],
    })
}

/// The featured image, then those of the text that say what they show: without that they are decoration.
fn pictures(post: &Post, url: Option<&str>, site: &Site, document: &Document) -> Vec<Picture> {
    let said = |text: &String| !text.trim().is_empty();
    let featured = post.details.featured_image.iter().map(|image| Picture {
        url: image.url.clone(),
        caption: image.alt.clone().filter(said),
        width: image.width,
        height: image.height,
        credit: image.credit.clone().filter(said),
    });
    let of_text = document.images.iter().filter(|image| said(&image.alt));
    let of_text = of_text.filter_map(|image| {
        Some(Picture {
            url: absolute(&image.src, url, site)?,
            caption: Some(image.alt.clone()),
            width: image.width,
            height: image.height,
            credit: None,
        })
    });
    let mut pictures: Vec<Picture> = Vec::new();
    for picture in featured.chain(of_text) {
        if pictures.len() < MAX_PICTURES && pictures.iter().all(|known| known.url != picture.url) {
            pictures.push(picture);
        }
    }
    pictures
}

/// The web address of an image of a text; `None` while it depends on where the text will be.
fn absolute(src: &str, url: Option<&str>, site: &Site) -> Option<String> {
    let base = match url {
        Some(url) => url,
        None if src.starts_with('/') || Url::parse(src).is_ok() => &site.home,
        None => return None,
    };
    let found = Url::parse(base).ok()?.join(src).ok()?;
    matches!(found.scheme(), "http" | "https").then(|| found.to_string())
}
