//! Images according to the page's source; `resources` covers their files.

use searchwright_text as text;
use serde_json::{Value, json};

use super::{
    Category::Images,
    Check, Page, Test,
    evidence::{list, with},
};
use crate::page::{HtmlFacts, Image};

const GOOGLE: &str = "https://developers.google.com/search/docs/appearance/google-images";

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "image-alt-missing",
        title: "Missing alt attribute",
        description: "An image has neither an alt attribute nor an aria-label or aria-labelledby. An empty alt is correct for decorative images. Hidden images do not count.",
        why_it_matters: "Screen readers read out the file name, and image search has no description to use.",
        recommendation: "Describe what the image shows, or set alt=\"\" if it is decorative.",
        source: GOOGLE,
        changed_in: [2, 5, 0],
        ..Check::warning(Images, Test::Html(alt_missing))
    },
    Check {
        id: "image-alt-long",
        title: "Alt text too long",
        description: "An alt text has more than 100 characters.",
        why_it_matters: "Screen readers read it out without a pause.",
        recommendation: "Shorten the alt text, and move the details into the page text.",
        source: "https://www.w3.org/WAI/tutorials/images/tips/",
        ..Check::notice(Images, Test::Html(alt_long))
    },
    Check {
        id: "image-dimensions-missing",
        title: "Missing image dimensions",
        description: "The source of the page sets neither width and height of an image, as attributes or inline style, nor an inline aspect-ratio. Images that are hidden or out of the flow of the page do not count.",
        why_it_matters: "The layout shifts when the image loads.",
        recommendation: "Set width and height.",
        source: "https://web.dev/articles/optimize-cls",
        changed_in: [2, 5, 0],
        ..Check::notice(Images, Test::Html(unsized_images))
    },
    Check {
        id: "image-lazy-first",
        title: "Lazy-loaded first image",
        description: "The first image of the content has loading=\"lazy\".",
        why_it_matters: "The image is visible at once, but loads later than it could.",
        recommendation: "Remove loading=\"lazy\" from images at the top of the page.",
        source: "https://web.dev/articles/lcp-lazy-loading",
        changed_in: [2, 5, 0],
        ..Check::notice(Images, Test::Html(lazy_first))
    },
    Check {
        id: "picture-no-img",
        needs_whole: true,
        title: "Missing img in picture element",
        description: "A <picture> element contains no <img>.",
        why_it_matters: "Browsers show no image.",
        recommendation: "Add an <img> with src and alt inside the <picture>.",
        source: "https://html.spec.whatwg.org/multipage/embedded-content.html#the-picture-element",
        ..Check::warning(Images, Test::Html(picture_no_img))
    },
];

fn some(html: &HtmlFacts, total: u32, odd: impl Fn(&Image) -> bool) -> Option<Value> {
    if total == 0 {
        return None;
    }
    let images = html
        .images
        .iter()
        .filter(|image| odd(image))
        .map(|image| json!({"src": image.src, "line": image.line}));
    // images beyond the limit are counted too
    let evidence = list("images", images).unwrap_or_else(|| json!({"images": []}));
    Some(with(evidence, "total", total))
}

fn alt_missing(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    some(html, html.images_without_alt, |image| {
        image.alt.is_none() && !image.decorative
    })
}

fn alt_long(page: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    let most = page.thresholds().alt_max as usize;
    let long = html.images.iter().filter_map(|image| {
        let length = text::length(image.alt.as_deref()?);
        (length > most).then(|| json!({"src": image.src, "length": length, "line": image.line}))
    });
    list("images", long)
}

fn unsized_images(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    some(html, html.images_unsized, |image| !image.sized)
}

fn lazy_first(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    html.lazy_first_image.as_deref().map(|src| json!({"src": src}))
}

fn picture_no_img(_: &Page<'_>, html: &HtmlFacts) -> Option<Value> {
    (html.pictures_without_img > 0).then(|| json!({"count": html.pictures_without_img}))
}
