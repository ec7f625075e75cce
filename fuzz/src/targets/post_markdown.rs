//! Markdown of a post, in a language: rendered, judged, traced, linked.

use searchwright_writing::{
    content_checks::{Input, check},
    document::Document,
    facts::{Source, bearing, trace},
    internal_links::{Candidate, Post, choose, insert},
    known_links::{keep_known, keep_known_addresses},
    markdown::to_html,
    sanitise::sanitise,
    slug::{is_slug, slugify},
    structured_data::faqs,
};

use crate::{fault, in_language, policy};

const KNOWN: &str = "https://example.com/a";

/// Reads one input.
pub fn run(data: &[u8]) {
    let Some((language, text)) = in_language(data) else {
        return;
    };
    let links = policy();
    let Ok(html) = to_html(text, &links) else { return };
    assert_eq!(fault(&html), None, "{html:?}");
    assert_eq!(sanitise(&html, &links).as_deref(), Ok(html.as_str()));
    let document = Document::of_html(&html);
    let plain = document.plain_text();
    let title: String = plain.chars().take(60).collect();
    let slug = slugify(&title, language);
    assert!(slug.as_deref().is_none_or(is_slug), "{slug:?}");
    let report = check(&Input {
        title: &title,
        meta_title: None,
        meta_description: Some(&title),
        slug: slug.as_deref().unwrap_or("a"),
        document: &document,
        keyword: Some("desk lamp"),
        language,
        target_words: Some(800),
        featured_image_alt: None,
        links: &links,
        others: None,
        closest_page: 0.0,
        keyword_uses: None,
    });
    assert!(report.score <= 100);
    let source = Source {
        name: "s",
        text: &plain,
    };
    for sentence in trace(&document, language, &[source], &[]) {
        bearing(&sentence, language, &source);
    }
    faqs(&document);
    let kept = keep_known(text, &[KNOWN]);
    if let Ok(document) = Document::of_markdown(&kept) {
        for link in &document.links {
            assert_eq!(link.href, KNOWN, "{kept:?}");
        }
    }
    keep_known_addresses(text, &[KNOWN]);
    let post = Post {
        markdown: text,
        url: "https://example.com/post",
        keyword: Some("desk lamp"),
        language,
    };
    let candidate = Candidate {
        url: "https://example.com/a",
        keywords: vec!["reading light", &title],
        text: "about light",
        inlinks: 1,
        same_cluster: true,
    };
    if let Ok(chosen) = choose(&post, &[candidate])
        && let Ok(linked) = insert(text, &chosen)
    {
        assert!(linked.len() >= text.len());
    }
}
