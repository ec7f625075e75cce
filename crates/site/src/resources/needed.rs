//! Resources that a page needs.

use super::purpose;
use crate::page::HtmlFacts;

/// Returns the resources that a page declares, as written: purpose, index in the list of images or files, and URL.
pub(crate) fn needed_by(html: &HtmlFacts) -> impl Iterator<Item = (u8, usize, &str)> {
    let cards = html.metas.iter().enumerate();
    let cards = cards
        .filter(|(_, meta)| &*meta.name == "og:image")
        .map(|(place, meta)| (purpose::CARD, place, &*meta.content));
    let files = html.resources.iter().enumerate();
    let files = files
        .filter(|(_, resource)| matches!(&*resource.tag, "script" | "link"))
        .map(|(place, resource)| (purpose::FILE, place, &*resource.url));
    let images = html.images.iter().enumerate();
    let images = images.map(|(place, image)| (purpose::IMAGE, place, &*image.src));
    let inline = |url: &str| {
        url.get(..5)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
    };
    cards
        .chain(files)
        .chain(images)
        .filter(move |(_, _, url)| !url.is_empty() && !inline(url))
}
