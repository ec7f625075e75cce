//! Gaps of prompts and pages, by cells of whole answers.

use super::{SeriesCell, pages, prompts, score};
use crate::{
    cells::{AnswerStatus, BrandFact, Cell, Facts, SourceFact},
    prompts::GapLabel,
    sources::{SourceClass, SourceType},
    statistics::{Cluster, Rate},
};

fn facts(brands: &[&str], urls: &[&str]) -> Facts {
    let brand = |(position, name): (u32, &&str)| BrandFact {
        brand: (*name).to_owned(),
        is_own: *name == "own",
        position: Some(position),
        sentiment_milli: None,
    };
    let source = |url: &&str| SourceFact {
        domain: url.split('/').nth(2).unwrap().to_owned(),
        url_key: (*url).to_owned(),
        class: if url.contains("own.example") {
            SourceClass::Owned
        } else {
            SourceClass::ThirdParty
        },
        source_type: Some(SourceType::Other),
        brand: None,
    };
    Facts {
        status: AnswerStatus::Ok,
        probe: false,
        may_lack_overview: false,
        brands: Some((1..).zip(brands).map(brand).collect()),
        sources: Some(urls.iter().map(source).collect()),
    }
}

fn row(prompt: u32, series: u32, answers: &[Facts]) -> SeriesCell {
    let mut cell = Cell::default();
    answers.iter().for_each(|answer| cell.add(answer));
    SeriesCell { prompt, series, cell }
}

const LIST: &str = "https://list.example/best";
const OWN: &str = "https://own.example/a";

#[test]
fn gaps_of_prompts_have_their_answers() {
    let rows = [
        row(
            0,
            0,
            &[
                facts(&["bolt", "elm"], &[]),
                facts(&["bolt"], &[]),
                facts(&[], &[]),
            ],
        ),
        row(0, 1, &[facts(&[], &[])]),
        row(1, 0, &[facts(&["bolt"], &[OWN]), facts(&[], &[LIST])]),
        row(2, 1, &[facts(&["own"], &[LIST])]),
        row(3, 0, &[facts(&["own"], &[OWN])]),
        row(4, 0, &[facts(&[], &[])]),
    ];
    let found = prompts(&rows);
    let labels: Vec<(u32, GapLabel, f64, f64)> = found
        .iter()
        .map(|gap| (gap.prompt, gap.gap, gap.rate.numerator, gap.rate.denominator))
        .collect();
    assert_eq!(
        labels,
        [
            (0, GapLabel::CompetitorOnly, 2.0, 4.0),
            (1, GapLabel::CitedNotMentioned, 1.0, 2.0),
            (2, GapLabel::MentionedNotCited, 1.0, 1.0),
        ]
    );
    assert_eq!(found[0].brands[0].key, "bolt");
    assert_eq!((found[0].brands[0].answers, found[0].brands[1].answers), (2, 1));
    assert_eq!(
        Vec::from_iter(&found[0].series),
        [&0],
        "the other engine names nobody"
    );
    assert_eq!(found[1].owned_urls, [OWN]);
}

#[test]
fn pages_count_only_answers_without_the_brand() {
    let rows = [
        row(
            0,
            0,
            &[
                facts(&["bolt"], &[LIST]),
                facts(&["bolt", "own"], &[LIST]),
                facts(&[], &[LIST]),
            ],
        ),
        row(1, 0, &[facts(&["bolt"], &[LIST, OWN]), facts(&["elm"], &[LIST])]),
        row(2, 0, &[facts(&["bolt"], &[OWN])]),
    ];
    let found = pages(&rows);
    assert_eq!(found.len(), 1, "an own page is no page of others");
    assert_eq!(found[0].url, LIST);
    assert_eq!((found[0].rate.numerator, found[0].rate.denominator), (3.0, 5.0));
    let prompts: Vec<(u32, u64)> = found[0].prompts.iter().map(|p| (p.key, p.answers)).collect();
    assert_eq!(prompts, [(1, 2), (0, 1)]);
}

#[test]
fn sums_of_cells_keep_gaps() {
    let (a, b) = (facts(&["bolt"], &[LIST]), facts(&["elm"], &[LIST]));
    let mut sum = row(0, 0, std::slice::from_ref(&a)).cell;
    sum.merge(&row(0, 0, std::slice::from_ref(&b)).cell);
    assert_eq!(sum, row(0, 0, &[a, b]).cell);
}

#[test]
fn more_evidence_ranks_higher() {
    let of = |hits, answers| score(&Rate::from_clusters(&[Cluster { hits, answers }]));
    assert!(of(20, 20) > of(10, 10) && of(10, 10) > of(1, 1));
    assert!(of(9, 10) > of(5, 10));
    assert!(of(40, 80) > of(1, 1), "one answer is little evidence");
    assert_eq!(of(0, 10), 0.0);
    assert_eq!(of(0, 0), 0.0);
}
