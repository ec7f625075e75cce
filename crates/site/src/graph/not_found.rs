//! Soft 404s: pages that say "not found" with status 200.

mod message;

use std::cmp::Reverse;

use memchr::memmem;
use searchwright_text::minhash::Sketch;

use super::{PageFlags, SiteGraph, State};
use crate::{
    origin::Probe,
    page::{HtmlFacts, UrlId},
};

/// Minimum similarity (share of common shingles) of a text to the response to a made-up URL.
const NEAR: f64 = 0.9;

/// Number of pages that may resemble the response to a made-up URL on any site, however small.
const MAX_ALIKE: usize = 5;

/// Whether a page is an error page by its title and first heading. A page that is marked as an article or a product is
/// none.
pub fn says_so(html: &HtmlFacts, title: Option<&str>, h1: Option<&str>, limit: u32) -> bool {
    message::says_so(title, h1, html.main_words, limit) && !is_marked(html)
}

fn is_marked(html: &HtmlFacts) -> bool {
    html.json_ld.iter().any(|block| {
        let has = |word: &str| memmem::find(block.source.as_bytes(), word.as_bytes()).is_some();
        ["Product\"", "Article\"", "BlogPosting\""].into_iter().any(has)
    })
}

/// Marks pages whose text is that of the response to a made-up URL, or nearly that, since the text may contain the
/// requested URL. Texts of fewer than 50 words have no sketch and have to be identical. Nothing is marked if the home
/// page is among them, or most pages: then the site responds with its home page, or the text is a template without
/// content, as of an application that renders in the browser.
pub fn mark(index: &mut SiteGraph, probes: &[Probe], sketches: &[(u32, Sketch)], home: UrlId) {
    let is_page = |id: &usize| {
        index.statuses[*id] == 200
            && index.states[*id] == State::Html
            && index.flags[*id].contains(PageFlags::INTERNAL)
    };
    let pages = (0..index.states.len()).filter(is_page).count();
    let mut found = Vec::new();
    for probe in probes.iter().filter(|p| p.status == 200) {
        let same = |id: usize| {
            probe.text != 0 && index.texts[id] == probe.text
                || probe.text == 0
                    && probe.title != 0
                    && index.titles[id] == probe.title
                    && index.texts[id] == 0
        };
        let near = sketches.iter().filter_map(|(id, sketch)| {
            let similarity = probe.sketch?.similarity(sketch);
            (similarity >= NEAR).then_some((*id, (similarity * 100.0) as u8))
        });
        let same = (0..index.states.len()).filter(|id| is_page(id) && same(*id));
        let mut alike: Vec<(u32, u8)> = same.map(|id| (id as u32, 100)).chain(near).collect();
        keep_best(&mut alike);
        if alike.len() <= MAX_ALIKE.max(pages / 2) && alike.iter().all(|(id, _)| *id != home.0) {
            found.extend(alike);
        }
    }
    keep_best(&mut found);
    for (id, _) in &found {
        index.flags[*id as usize] |= PageFlags::SOFT_404;
    }
    index.not_found = found;
}

/// Keeps the highest similarity of each page.
fn keep_best(alike: &mut Vec<(u32, u8)>) {
    alike.sort_unstable_by_key(|(id, percent)| (*id, Reverse(*percent)));
    alike.dedup_by_key(|(id, _)| *id);
}
