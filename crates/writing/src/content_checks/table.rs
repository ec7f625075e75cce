//! The checks, one row each.
//!
//! Sources of the thresholds: Yoast SEO (share of subheadings with the keyword, sentence length, density up to
//! 3 %), Rank Math (keyword early in the text, density, bands), and the specification of this product.

use searchwright_text::{length, title_pixels, words};

use super::measure::Measured;
use crate::{
    document::Kind,
    phrases::Stems,
    readability::Band,
    sanitise::Target,
    similarity::{NEAR_DUPLICATE, Shingles},
    slug::{MAX_SLUG, slugify},
    structured_data::faqs,
};

/// Finding of a check.
pub struct Found {
    /// Share of the weight it earns, 0 to 1; `None` where it does not apply.
    pub(super) share: Option<f64>,
    /// Measured value.
    pub(super) value: Option<f64>,
}

/// A row of the table.
pub struct Check {
    /// Stable word.
    pub id: &'static str,
    /// Points it can earn.
    pub weight: f64,
    /// Advice if the check does not pass, with the value that it measures.
    pub advice: &'static str,
    pub(super) run: fn(&Measured<'_>) -> Found,
}

/// Every check. The weights add up to 110; a score is in percent of those that apply.
#[rustfmt::skip]
pub const CHECKS: &[Check] = &[
    row("keyword_in_title", 10.0, "put the keyword into the first half of the title (word it begins with)", keyword_in_title),
    row("keyword_early", 6.0, "use the keyword in the first tenth of the text (word it begins with)", keyword_early),
    row("keyword_in_slug", 5.0, "use the words of the keyword in the slug (share of them)", keyword_in_slug),
    row("keyword_in_description", 4.0, "use the keyword in the meta description", keyword_in_description),
    row("keyword_in_subheadings", 5.0, "use the keyword in 30 to 75 % of the headings of level 2 and 3 (percent)", keyword_in_subheadings),
    row("keyword_density", 6.0, "let the keyword be 0.5 to 2.5 % of the text (percent)", keyword_density),
    row("keyword_distribution", 4.0, "use the keyword in each third of the text (thirds with it)", keyword_distribution),
    row("title_length", 6.0, "make the title 30 to 60 characters and at most 580 pixels wide (characters)", title_length),
    row("description_length", 4.0, "make the meta description 120 to 155 characters (characters)", description_length),
    row("one_h1", 3.0, "leave the text one heading of level 1 at most (headings)", one_h1),
    row("slug_length", 3.0, "shorten the slug to 75 characters (characters)", slug_length),
    row("word_count", 10.0, "write at least 600 words, or as many as what ranks (words)", word_count),
    row("subheading_distance", 5.0, "put a heading at least every 300 words (words of the longest section)", subheading_distance),
    row("paragraph_length", 4.0, "split paragraphs of more than 150 words (words of the longest)", paragraph_length),
    row("sentence_length", 4.0, "let at most a quarter of the sentences have more than 20 words (percent)", sentence_length),
    row("readability", 5.0, "use shorter sentences and words (readability score)", readability),
    row("images", 4.0, "add an image with alternative text (images with it)", images),
    row("internal_links", 6.0, "link to at least two pages of the site (links)", internal_links),
    row("external_sources", 4.0, "link to at least one checked source elsewhere (links)", external_sources),
    row("direct_answer", 3.0, "answer a question heading in 20 to 80 words below it (such answers)", direct_answer),
    row("structured_content", 2.0, "add a list, a table or questions with answers", structured_content),
    row("unique_text", 5.0, "make the text differ from other pages of the site (likeness to the closest)", unique_text),
    row("keyword_unused", 2.0, "choose a keyword no other page aims at (other pages)", keyword_unused),
];

const fn row(id: &'static str, weight: f64, advice: &'static str, run: fn(&Measured<'_>) -> Found) -> Check {
    Check {
        id,
        weight,
        advice,
        run,
    }
}

fn found(share: f64, value: f64) -> Found {
    Found {
        share: Some(share),
        value: Some(value),
    }
}

fn passes(passes: bool, value: f64) -> Found {
    found(f64::from(u8::from(passes)), value)
}

const NOT_APPLICABLE: Found = Found {
    share: None,
    value: None,
};

/// The check needs a keyword and, without one, does not apply.
fn with_keyword(check: Option<Found>) -> Found {
    check.unwrap_or(NOT_APPLICABLE)
}

fn title<'a>(m: &Measured<'a>) -> &'a str {
    m.input.meta_title.unwrap_or(m.input.title)
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole as f64
}

fn keyword_in_title(m: &Measured<'_>) -> Found {
    let check = |keyword| {
        let stems = Stems::from_text(title(m), &m.lexicon);
        match stems.places(keyword).first() {
            // three of the ten points are for the first half
            Some(at) if 2 * at < stems.word_count() => found(1.0, *at as f64 + 1.0),
            Some(at) => found(0.7, *at as f64 + 1.0),
            None => Found {
                share: Some(0.0),
                value: None,
            },
        }
    };
    with_keyword(m.keyword.as_ref().map(check))
}

fn keyword_early(m: &Measured<'_>) -> Found {
    // Rank Math looks through short texts as a whole
    const SHORT: usize = 400;
    let early = if m.text.word_count() <= SHORT {
        SHORT
    } else {
        m.text.word_count() / 10
    };
    with_keyword(m.keyword_places().map(|places| match places.first() {
        Some(first) => passes(*first < early, *first as f64 + 1.0),
        None => Found {
            share: Some(0.0),
            value: None,
        },
    }))
}

fn keyword_in_slug(m: &Measured<'_>) -> Found {
    let Some(keyword) = m
        .input
        .keyword
        .and_then(|keyword| slugify(keyword, m.input.language))
    else {
        return NOT_APPLICABLE;
    };
    let all: Vec<&str> = keyword.split('-').collect();
    let content: Vec<&str> = all
        .iter()
        .copied()
        .filter(|word| !m.lexicon.is_stop(word))
        .collect();
    let wanted = if content.is_empty() { all } else { content };
    let stem = |word: &str| m.lexicon.stem(word).into_owned();
    let slug: Vec<String> = m.input.slug.split('-').map(stem).collect();
    let there = wanted.iter().filter(|word| slug.contains(&stem(word))).count();
    let share = there as f64 / wanted.len() as f64;
    found(share, share)
}

fn keyword_in_description(m: &Measured<'_>) -> Found {
    let description = m.input.meta_description.unwrap_or_default();
    with_keyword(m.has_keyword(description).map(|has| Found {
        share: Some(f64::from(u8::from(has))),
        value: None,
    }))
}

fn keyword_in_subheadings(m: &Measured<'_>) -> Found {
    let headings = m.headings(2..=3);
    if m.keyword.is_none() || headings.is_empty() {
        return NOT_APPLICABLE;
    }
    let with = headings
        .iter()
        .filter(|heading| m.has_keyword(heading) == Some(true))
        .count();
    let percent = percent(with, headings.len());
    let share = match percent {
        30.0..=75.0 => 1.0,
        _ if with > 0 => 0.5,
        _ => 0.0,
    };
    found(share, percent)
}

fn keyword_density(m: &Measured<'_>) -> Found {
    with_keyword(
        m.keyword_places()
            .filter(|_| m.text.word_count() > 0)
            .map(|places| {
                let density = percent(places.len(), m.text.word_count());
                let share = match density {
                    0.5..=2.5 => 1.0,
                    // what Yoast still takes
                    2.5..=3.0 => 0.5,
                    _ => 0.0,
                };
                found(share, density)
            }),
    )
}

fn keyword_distribution(m: &Measured<'_>) -> Found {
    with_keyword(
        m.keyword_places()
            .filter(|_| m.text.word_count() > 0)
            .map(|places| {
                let in_third = |third: usize| places.iter().any(|at| at * 3 / m.text.word_count() == third);
                let thirds = (0..3).filter(|third| in_third(*third)).count();
                let share = match thirds {
                    3 => 1.0,
                    2 => 0.5,
                    _ => 0.0,
                };
                found(share, thirds as f64)
            }),
    )
}

fn title_length(m: &Measured<'_>) -> Found {
    let characters = length(title(m));
    let fits = title_pixels(title(m)) <= 580;
    let share = match (fits, (30..=60).contains(&characters)) {
        (true, true) => 1.0,
        (true, false) | (false, true) if characters > 0 => 0.5,
        _ => 0.0,
    };
    found(share, characters as f64)
}

fn description_length(m: &Measured<'_>) -> Found {
    let characters = length(m.input.meta_description.unwrap_or_default());
    let share = match characters {
        0 => 0.0,
        120..=155 => 1.0,
        _ => 0.5,
    };
    found(share, characters as f64)
}

fn one_h1(m: &Measured<'_>) -> Found {
    // without one in the text, the title is it
    let count = m.headings(1..=1).len();
    passes(count <= 1, count as f64)
}

fn slug_length(m: &Measured<'_>) -> Found {
    let characters = length(m.input.slug);
    passes((1..=MAX_SLUG).contains(&characters), characters as f64)
}

fn word_count(m: &Measured<'_>) -> Found {
    const MIN_WORDS: u32 = 600;
    const TOO_FEW: u32 = 300;
    let target = m.input.target_words.unwrap_or(MIN_WORDS).max(MIN_WORDS);
    let share = match m.words {
        words if words >= target => 1.0,
        words if words < TOO_FEW => 0.0,
        words => f64::from(words) / f64::from(target),
    };
    found(share, f64::from(m.words))
}

fn subheading_distance(m: &Measured<'_>) -> Found {
    let longest = m.sections().into_iter().max().unwrap_or(0);
    passes(longest <= 300, f64::from(longest))
}

fn paragraph_length(m: &Measured<'_>) -> Found {
    match m.input.document.prose().map(words).max() {
        Some(longest) => passes(longest <= 150, f64::from(longest)),
        None => NOT_APPLICABLE,
    }
}

fn sentence_length(m: &Measured<'_>) -> Found {
    if m.counts.sentences == 0 {
        return NOT_APPLICABLE;
    }
    let percent = percent(m.counts.long_sentences as usize, m.counts.sentences as usize);
    let share = match percent {
        0.0..=25.0 => 1.0,
        // what Yoast calls orange
        25.0..=30.0 => 0.5,
        _ => 0.0,
    };
    found(share, percent)
}

fn readability(m: &Measured<'_>) -> Found {
    match m.readability {
        None => NOT_APPLICABLE,
        Some(readability) => {
            let share = match readability.band {
                Band::Good => 1.0,
                Band::Fair => 0.5,
                Band::Poor => 0.0,
            };
            found(share, readability.score)
        }
    }
}

fn images(m: &Measured<'_>) -> Found {
    let own = m.input.document.images.iter().map(|image| image.alt.as_str());
    let alts: Vec<&str> = own.chain(m.input.featured_image_alt).collect();
    let described = alts.iter().filter(|alt| !alt.trim().is_empty()).count();
    let share = match (described, alts.len()) {
        (0, 0) => 0.0,
        (0, _) => 0.5,
        _ => 1.0,
    };
    found(share, described as f64)
}

fn internal_links(m: &Measured<'_>) -> Found {
    let count = m.links(Target::Internal);
    found((count as f64 / 2.0).min(1.0), count as f64)
}

fn external_sources(m: &Measured<'_>) -> Found {
    let followed = m.links(Target::Source);
    let share = match (followed, m.links(Target::External)) {
        (1.., _) => 1.0,
        // a link that nobody vouches for
        (0, 1..) => 0.5,
        (0, 0) => 0.0,
    };
    found(share, followed as f64)
}

fn direct_answer(m: &Measured<'_>) -> Found {
    let blocks = &m.input.document.blocks;
    let answered = blocks
        .windows(2)
        .filter(|pair| matches!(pair[0].kind, Kind::Heading(..)) && pair[0].text.ends_with(['?', '？', '؟']))
        .filter(|pair| pair[1].kind == Kind::Paragraph && (20..=80).contains(&words(&pair[1].text)))
        .count();
    passes(answered > 0, answered as f64)
}

fn structured_content(m: &Measured<'_>) -> Found {
    let blocks = m.input.document.blocks.iter();
    let parts = blocks
        .filter(|block| matches!(block.kind, Kind::Item | Kind::Cell))
        .count();
    let questions = faqs(m.input.document).len();
    passes(parts > 0 || questions > 1, (parts + questions) as f64)
}

fn unique_text(m: &Measured<'_>) -> Found {
    let Some(others) = m.input.others.filter(|_| m.words > 0) else {
        return NOT_APPLICABLE;
    };
    let own = Shingles::from_text(&m.input.document.plain_text());
    let closest = others.iter().map(|other| own.jaccard(other));
    let closest = closest.fold(m.input.closest_page, f64::max);
    passes(closest < NEAR_DUPLICATE, closest)
}

fn keyword_unused(m: &Measured<'_>) -> Found {
    match (&m.keyword, m.input.keyword_uses) {
        (Some(_), Some(uses)) => passes(uses == 0, f64::from(uses)),
        _ => NOT_APPLICABLE,
    }
}
