//! Links from a post to other pages of the site: which, and where in the text.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use ammonia::Url;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use searchwright_keywords::{normalize, words::Lexicon};
use searchwright_site::url_key::url_key;
use serde::Serialize;

use super::{
    document::Document,
    markdown::{Refused, options},
    phrases::Stems,
    sanitise::{LinkPolicy, Target},
};

/// Links per 1,000 words, the post's own included.
const MAX_PER_THOUSAND: u32 = 5;
/// Links even a short post may have.
const MIN_MOST: u32 = 2;
/// Words of an anchor.
pub const ANCHOR_WORDS: Range<usize> = 2..7;

/// A page of the site that may be linked to: indexable, or a published post.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// Absolute address.
    pub url: &'a str,
    /// The keywords it aims at, or what it is called, the best first; without one that stands in the text there is no
    /// anchor, and it is not chosen.
    pub keywords: Vec<&'a str>,
    /// Topic of the page: its description, and as much of its text as is known.
    pub text: &'a str,
    /// Pages that link to it.
    pub inlinks: u32,
    /// Whether its keyword is in the cluster of the post's.
    pub same_cluster: bool,
}

/// A link that is worth setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Chosen {
    /// Address that the link leads to.
    pub url: String,
    /// The words of the text that carry it.
    pub anchor: String,
    /// Bytes of the Markdown where they stand.
    pub at: Range<usize>,
    /// 0 to 1.
    pub score: f64,
}

/// The post as far as links are concerned.
#[derive(Clone, Debug)]
pub struct Post<'a> {
    /// Text of the post.
    pub markdown: &'a str,
    /// Absolute address of the post, or one of the site, to which relative links are resolved.
    pub url: &'a str,
    /// Keyword of the post, which no anchor contains: such a link would compete with the post.
    pub keyword: Option<&'a str>,
    /// BCP 47.
    pub language: &'a str,
}

/// The best links for a post, in reading order: one per target and paragraph, two to five per 1,000 words.
pub fn choose(post: &Post<'_>, candidates: &[Candidate<'_>]) -> Result<Vec<Chosen>, Refused> {
    let document = Document::of_markdown(post.markdown)?;
    let lexicon = Lexicon::for_language(post.language);
    let base = Url::parse(post.url).ok();
    let key = |href: &str| {
        let url = base
            .as_ref()
            .map_or_else(|| Url::parse(href), |base| base.join(href))
            .ok()?;
        Some(url_key(&url).into_owned())
    };
    let policy = LinkPolicy {
        own_host: base.as_ref().and_then(|base| base.host_str().map(str::to_owned)),
        followed: Vec::new(),
        base: None,
        page: None,
    };
    let internal = |href: &str| !href.starts_with('#') && policy.target(href) == Target::Internal;
    let own = document.links.iter().filter(|link| internal(&link.href));
    let mut taken: HashSet<String> = own.clone().filter_map(|link| key(&link.href)).collect();
    taken.extend(key(post.url));
    let most = (document.words() * MAX_PER_THOUSAND / 1000).max(MIN_MOST) as usize;
    let most = most.saturating_sub(own.count());

    let own_keyword = post.keyword.map(|keyword| Stems::from_text(keyword, &lexicon));
    let scores = scores(&document.plain_text(), candidates, &lexicon);
    let mut ranked: Vec<(f64, &Candidate<'_>)> = scores.into_iter().zip(candidates).collect();
    ranked.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.url.cmp(y.url)));

    let spans = linkable(post.markdown);
    let stems: Vec<Stems> = spans
        .iter()
        .map(|span| Stems::from_text(&post.markdown[span.at.clone()], &lexicon))
        .collect();
    let mut used = HashSet::new();
    let mut chosen = Vec::new();
    for (score, candidate) in ranked {
        if chosen.len() == most {
            break;
        }
        let Some(target) = key(candidate.url).filter(|target| !taken.contains(target)) else {
            continue;
        };
        let place = candidate.keywords.iter().find_map(|keyword| {
            let phrase = Stems::from_text(keyword, &lexicon);
            let competes = own_keyword.as_ref().is_some_and(|own| phrase.has(own));
            if competes || !ANCHOR_WORDS.contains(&phrase.word_count()) {
                return None;
            }
            let free = spans
                .iter()
                .zip(&stems)
                .filter(|(span, _)| !used.contains(&span.block));
            free.into_iter().find_map(|(span, stems)| {
                let first = stems.places(&phrase).into_iter().next()?;
                let words = stems.span(first..first + phrase.word_count())?;
                Some((span.block, span.at.start + words.start..span.at.start + words.end))
            })
        });
        if let Some((block, at)) = place {
            used.insert(block);
            taken.insert(target);
            chosen.push(Chosen {
                url: candidate.url.to_owned(),
                anchor: post.markdown[at.clone()].to_owned(),
                at,
                score,
            });
        }
    }
    chosen.sort_by_key(|link| link.at.start);
    Ok(chosen)
}

/// Sets links in Markdown. A link that would change anything but itself, such as one in a heading, in code or in
/// another link, is left out.
pub fn insert(markdown: &str, links: &[Chosen]) -> Result<String, Refused> {
    let mut text = markdown.to_owned();
    let mut before = Document::of_markdown(markdown)?;
    let mut links: Vec<&Chosen> = links.iter().collect();
    links.sort_by_key(|link| std::cmp::Reverse(link.at.start));
    for link in links {
        let inside = |span: &Span| span.at.start <= link.at.start && link.at.end <= span.at.end;
        if text.get(link.at.clone()) != Some(&link.anchor) || !linkable(&text).iter().any(inside) {
            continue;
        }
        let mut next = text.clone();
        next.replace_range(
            link.at.clone(),
            &format!("[{}](<{}>)", link.anchor, escaped(&link.url)),
        );
        let after = Document::of_markdown(&next)?;
        if after.blocks == before.blocks && after.links.len() == before.links.len() + 1 {
            text = next;
            before = after;
        }
    }
    Ok(text)
}

/// An address as it may stand between `<` and `>`.
fn escaped(url: &str) -> String {
    url.replace('<', "%3C")
        .replace('>', "%3E")
        .replace('\\', "%5C")
        .replace(['\n', '\r'], "")
}

/// Source text that a reader sees as it is written, and that a link may be put into.
struct Span {
    at: Range<usize>,
    block: usize,
}

fn linkable(markdown: &str) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut closed = 0usize;
    let mut block = 0;
    let mut with_html = HashSet::new();
    for (event, at) in Parser::new_ext(markdown, options()).into_offset_iter() {
        match event {
            Event::Start(
                Tag::Heading { .. }
                | Tag::CodeBlock(_)
                | Tag::HtmlBlock
                | Tag::Link { .. }
                | Tag::Image { .. }
                | Tag::FootnoteDefinition(_),
            ) => closed += 1,
            Event::End(
                TagEnd::Heading(_)
                | TagEnd::CodeBlock
                | TagEnd::HtmlBlock
                | TagEnd::Link
                | TagEnd::Image
                | TagEnd::FootnoteDefinition,
            ) => closed = closed.saturating_sub(1),
            Event::Start(Tag::Paragraph | Tag::Item | Tag::TableCell) => block += 1,
            Event::InlineHtml(_) => {
                // what is between two raw tags may be a link or code
                with_html.insert(block);
            }
            Event::Text(text) if closed == 0 && markdown.get(at.clone()) == Some(&*text) => {
                match spans.last_mut() {
                    Some(last) if last.block == block && last.at.end == at.start => last.at.end = at.end,
                    _ => spans.push(Span { at, block }),
                }
            }
            _ => {}
        }
    }
    spans.retain(|span| !with_html.contains(&span.block));
    spans
}

/// Scores the candidates: likeness to the post 0.6, need of links 0.2, same cluster 0.2.
fn scores(text: &str, candidates: &[Candidate<'_>], lexicon: &Lexicon) -> Vec<f64> {
    let bag = |text: &str| {
        let normal = normalize(text);
        let mut bag: HashMap<String, f64> = HashMap::new();
        for stem in lexicon.content_stems(&normal) {
            *bag.entry(stem.into_owned()).or_default() += 1.0;
        }
        bag
    };
    let mut bags = vec![bag(text)];
    bags.extend(
        candidates
            .iter()
            .map(|c| bag(&format!("{} {}", c.keywords.join(" "), c.text))),
    );
    let mut documents: HashMap<String, f64> = HashMap::new();
    for stem in bags.iter().flat_map(HashMap::keys) {
        *documents.entry(stem.clone()).or_default() += 1.0;
    }
    let count = bags.len() as f64;
    for bag in &mut bags {
        for (stem, weight) in bag.iter_mut() {
            *weight *= ((1.0 + count) / (1.0 + documents[stem])).ln() + 1.0;
        }
        let length = bag.values().map(|w| w * w).sum::<f64>().sqrt();
        bag.values_mut().for_each(|w| *w /= length);
    }
    let Some((own, others)) = bags.split_first() else {
        return Vec::new();
    };
    others
        .iter()
        .zip(candidates)
        .map(|(other, candidate)| {
            // added up in a fixed order, so that equal texts score equal
            let mut products: Vec<f64> = other
                .iter()
                .filter_map(|(stem, w)| Some(w * own.get(stem)?))
                .collect();
            products.sort_by(f64::total_cmp);
            let cosine = products.iter().sum::<f64>().min(1.0);
            let need = 1.0 / (1.0 + f64::from(candidate.inlinks));
            0.6 * cosine + 0.2 * need + 0.2 * f64::from(u8::from(candidate.same_cluster))
        })
        .collect()
}

#[cfg(test)]
#[path = "internal_links_tests.rs"]
mod tests;
