use std::collections::BTreeMap;

use super::*;
use crate::{
    cells::{AnswerStatus, BrandFact, Cell, CellBlock, CellKey, Facts, SourceFact, block_of},
    prompts::GapLabel,
    sources::SourceClass,
    statistics::{Grade, Verdict},
};

fn facts(own: bool, other: bool) -> Facts {
    let fact = |brand: &str, is_own, position| BrandFact {
        brand: brand.to_owned(),
        is_own,
        position: Some(position),
        sentiment_milli: None,
    };
    let mut brands = Vec::new();
    if own {
        brands.push(fact("acme", true, 1));
    }
    if other {
        brands.push(fact("bolt", false, brands.len() as u32 + 1));
    }
    let source = SourceFact {
        domain: "acme.example".to_owned(),
        url_key: "https://www.acme.example/a".to_owned(),
        class: SourceClass::Owned,
        source_type: None,
        brand: Some("acme".to_owned()),
    };
    Facts {
        status: AnswerStatus::Ok,
        probe: false,
        may_lack_overview: false,
        brands: Some(brands),
        sources: Some(if own { vec![source] } else { Vec::new() }),
    }
}

struct RollupRow {
    day: i32,
    prompt: u32,
    series: u32,
    cell: Cell,
}

/// Packs rows as they are stored.
fn packed(rows: &[RollupRow]) -> Vec<(u32, i32, CellBlock)> {
    let mut blocks: BTreeMap<(u32, i32), BTreeMap<CellKey, Cell>> = BTreeMap::new();
    for row in rows {
        let key = CellKey {
            series: row.series.into(),
            day: row.day,
        };
        let block = blocks.entry((row.prompt, block_of(row.day))).or_default();
        block.entry(key).or_default().merge(&row.cell);
    }
    let pack = |((prompt, block), cells): ((u32, i32), BTreeMap<CellKey, Cell>)| {
        (prompt, block, CellBlock::pack(&cells))
    };
    blocks.into_iter().map(pack).collect()
}

fn row(day: i32, prompt: u32, series: u32, hits: usize, answers: usize) -> RollupRow {
    let mut cell = Cell::default();
    for n in 0..answers {
        cell.add(&facts(n < hits, n >= hits));
    }
    RollupRow {
        day,
        prompt,
        series,
        cell,
    }
}

fn overview(rows: &[RollupRow], competitors: bool) -> Overview {
    let prompts: Vec<PromptInfo> = (0..10)
        .map(|id| PromptInfo {
            id: id.to_string(),
            class: if id == 9 {
                PromptClass::Branded
            } else {
                PromptClass::NonBranded
            },
            archived: id == 8,
            first_day: 100,
            archived_day: None,
        })
        .collect();
    let engines = ["chatgpt/manual", "chatgpt/manual", "claude/api"];
    let series: Vec<SeriesInfo> = (0i64..)
        .zip(engines)
        .map(|(id, engine)| SeriesInfo {
            id,
            engine: engine.to_owned(),
            weight: 1.0,
        })
        .collect();
    let brand = |id: &str, is_own| BrandInfo {
        id: id.to_owned(),
        name: id.to_owned(),
        domain: None,
        is_own,
    };
    let mut brands = vec![brand("acme", true)];
    if competitors {
        brands.push(brand("bolt", false));
    }
    let period = DayRange { from: 107, to: 113 };
    let packed = packed(rows);
    let cells: Vec<PromptCells<'_>> = packed
        .iter()
        .map(|(prompt, block, cells)| PromptCells {
            prompt: *prompt,
            cells: cells.bytes(*block),
        })
        .collect();
    let computed = compute(&OverviewInput {
        project: b"project",
        period,
        previous: period.previous(),
        cells: &cells,
        prompts: &prompts,
        series: &series,
        brands: &brands,
        class: Some(PromptClass::NonBranded),
    });
    computed.unwrap()
}

const HITS: [usize; 8] = [5, 5, 0, 0, 2, 0, 1, 5];

fn vector() -> Vec<RollupRow> {
    HITS.iter()
        .enumerate()
        .map(|(prompt, hits)| row(110, prompt as u32, 0, *hits, 5))
        .collect()
}

#[test]
fn figures_of_the_test_vector() {
    let overview = overview(&vector(), true);
    let rate = overview.kpis.mention_rate.rate;
    assert_eq!(
        (rate.numerator, rate.denominator, rate.value),
        (18.0, 40.0, Some(0.45))
    );
    assert!((rate.n_eff.unwrap() - 9.77).abs() < 0.01);
    assert!((rate.ci_low.unwrap() - 0.1995).abs() < 5e-5 && (rate.ci_high.unwrap() - 0.7288).abs() < 5e-5);
    assert_eq!(overview.kpis.share_of_voice.rate.value, Some(0.45));
    assert_eq!(overview.kpis.share_of_voice.formula, "tracked-mentions-v1");
    assert_eq!(overview.kpis.visibility_score.rate.value, Some(45.0));
    assert!(overview.kpis.visibility_score.rate.ci_low.is_some());
    assert_eq!(overview.kpis.top_rate.rate.value, Some(1.0));
    assert_eq!(overview.kpis.sentiment_score.rate.value, None);
    assert_eq!(overview.kpis.trigger_rate.rate.value, None);
    assert_eq!(
        overview.kpis.mention_rate.change.verdict,
        Verdict::InsufficientData
    );
    assert_eq!(overview.trend.len(), 7);
    assert_eq!(
        overview
            .trend
            .iter()
            .filter(|day| day.mention_rate.is_none())
            .count(),
        6
    );
    assert_eq!(overview.trend[6].pooled_mention_rate.unwrap().value, Some(0.45));
    assert_eq!(overview.trend[0].pooled_mention_rate, None);
    let cited = overview.trend.iter().map(|day| day.citations);
    let cited: Vec<u64> = cited
        .map(|day| day.owned + day.competitor + day.third_party)
        .collect();
    assert_eq!(cited, [0, 0, 0, 18, 0, 0, 0]);
    assert_eq!(overview.trend[3].citations.owned, 18);
    assert_eq!(overview.cited_sources[0].citations, 18);
    assert_eq!(overview.cited_sources[0].domain, "acme.example");
    assert_eq!(
        (
            overview.cited_sources[0].answers,
            overview.cited_sources[0].mentions_own
        ),
        (18, 18)
    );
    assert_eq!(overview.competitors[0].name, "bolt");
    assert_eq!(overview.competitors[1].citation_share, Some(1.0));
    let summary = &overview.prompt_summary;
    assert_eq!(
        (
            summary.active,
            summary.archived,
            summary.with_mention,
            summary.never_mentioned
        ),
        (9, 1, 5, 3)
    );
    assert_eq!(summary.gaps[&GapLabel::CompetitorOnly], 3);
    let json = serde_json::to_value(&overview).unwrap();
    assert_eq!(json["kpis"]["mentionRate"]["denominator"], 40.0);
    assert!(json["kpis"]["mentionRate"]["nEff"].is_number());
    assert_eq!(json["citedSources"][0]["class"], "owned");
}

#[test]
fn nothing_asked_is_null() {
    let overview = overview(&[], true);
    assert_eq!(overview.kpis.mention_rate.rate.value, None);
    assert_eq!(overview.kpis.share_of_voice.rate.value, None);
    assert_eq!(overview.kpis.visibility_score.rate.value, None);
    assert_eq!((overview.kpis.answers, overview.branded), (0, None));
}

#[test]
fn share_of_voice_needs_competitors() {
    let overview = overview(&vector(), false);
    assert_eq!(overview.kpis.share_of_voice.rate.value, None);
    assert_eq!(overview.kpis.citation_share_of_voice.rate.value, None);
}

#[test]
fn changes_are_over_the_common_basket() {
    let mut rows: Vec<RollupRow> = Vec::new();
    for prompt in 0..8 {
        rows.push(row(101, prompt, 0, 1, 10));
        rows.push(row(110, prompt, 0, 9, 10));
    }
    let change = overview(&rows, true).kpis;
    assert_eq!(change.mention_rate.change.verdict, Verdict::Up);
    assert!((change.mention_rate.change.value.unwrap() - 0.8).abs() < 1e-9);
    assert_eq!(change.visibility_score.change.verdict, Verdict::Up);
    // a prompt that is new in this period changes nothing
    rows.push(row(110, 8, 0, 0, 100));
    let with_new = overview(&rows, true).kpis;
    assert_eq!(with_new.mention_rate.change, change.mention_rate.change);
}

#[test]
fn another_model_is_no_change() {
    let mut rows = vector();
    rows.extend((0..8).map(|prompt| row(101, prompt, 1, 0, 5)));
    let kpis = overview(&rows, true).kpis;
    assert_eq!(kpis.mention_rate.change.verdict, Verdict::ModelChanged);
    assert_eq!(kpis.visibility_score.change.verdict, Verdict::ModelChanged);
}

#[test]
fn branded_prompts_are_kept_apart() {
    let mut rows = vector();
    rows.push(row(110, 9, 0, 5, 5));
    let overview = overview(&rows, true);
    assert_eq!(overview.kpis.mention_rate.rate.denominator, 40.0);
    assert_eq!(overview.branded.unwrap().mention_rate.rate.value, Some(1.0));
}

#[test]
fn engines_weigh_equally() {
    let rows = [row(110, 0, 0, 1, 1), row(110, 1, 0, 0, 99), row(110, 0, 2, 3, 3)];
    // (1 + 0) / 2 for one engine, 1 for the other
    assert_eq!(overview(&rows, true).kpis.visibility_score.rate.value, Some(75.0));
}

/// Returns searches of an engine that may show no overview.
fn make_searches(day: i32, prompt: u32, shown: usize, of: usize) -> RollupRow {
    let mut cell = Cell::default();
    for n in 0..of {
        let mut answer = facts(false, true);
        answer.may_lack_overview = true;
        if n >= shown {
            answer.status = AnswerStatus::NoOverview;
        }
        cell.add(&answer);
    }
    RollupRow {
        day,
        prompt,
        series: 0,
        cell,
    }
}

/// Returns answers of a series whose sources cannot be seen.
fn make_unobservable(day: i32, prompt: u32, series: u32, answers: usize) -> RollupRow {
    let mut answer = facts(false, true);
    answer.sources = None;
    let mut cell = Cell::default();
    for _ in 0..answers {
        cell.add(&answer);
    }
    RollupRow {
        day,
        prompt,
        series,
        cell,
    }
}

fn assert_no_interval(figure: &Figure) {
    assert!(figure.rate.value.is_some(), "{}", figure.formula);
    assert_eq!(figure.rate.interval(), None, "{}", figure.formula);
    assert_eq!(figure.grade, Grade::Thin, "{}", figure.formula);
}

#[test]
fn two_prompts_have_no_interval_however_many_were_asked_before() {
    let mut rows: Vec<RollupRow> = (0..8).map(|prompt| row(101, prompt, 0, 5, 5)).collect();
    rows.extend((0..2).map(|prompt| row(110, prompt, 0, 5, 5)));
    let kpis = overview(&rows, true).kpis;
    assert_eq!(kpis.visibility_score.rate.value, Some(100.0));
    for figure in [
        &kpis.visibility_score,
        &kpis.share_of_voice,
        &kpis.citation_share,
        &kpis.avg_citations,
        &kpis.avg_position,
    ] {
        assert_no_interval(figure);
        assert_eq!(figure.change.verdict, Verdict::InsufficientData);
    }
}

#[test]
fn prompts_that_were_only_refused_have_no_part_in_an_interval() {
    let mut refused = facts(false, false);
    refused.status = AnswerStatus::Refused;
    let mut rows: Vec<RollupRow> = (0..4).map(|prompt| row(110, prompt, 0, 5, 5)).collect();
    for prompt in 4..8 {
        let mut of_prompt = row(110, prompt, 0, 0, 0);
        of_prompt.cell.add(&refused);
        rows.push(of_prompt);
    }
    let kpis = overview(&rows, true).kpis;
    assert_no_interval(&kpis.visibility_score);
    assert_no_interval(&kpis.share_of_voice);
    rows.push(row(110, 4, 0, 5, 5));
    let kpis = overview(&rows, true).kpis;
    assert!(kpis.visibility_score.rate.interval().is_some());
    assert!(kpis.share_of_voice.rate.interval().is_some());
}

#[test]
fn prompts_without_answers_do_not_move_an_interval() {
    let kpis = overview(&vector(), true).kpis;
    let mut rows = vector();
    rows.push(row(101, 8, 0, 5, 5));
    let with_older = overview(&rows, true).kpis;
    assert_eq!(with_older.visibility_score.rate, kpis.visibility_score.rate);
    assert_eq!(with_older.share_of_voice.rate, kpis.share_of_voice.rate);
}

#[test]
fn overviews_that_appear_and_vanish_change_the_trigger_rate() {
    let mut rows: Vec<RollupRow> = Vec::new();
    for prompt in 0..6 {
        rows.push(make_searches(101, prompt, 0, 10));
        rows.push(make_searches(110, prompt, 10, 10));
    }
    let kpis = overview(&rows, true).kpis;
    assert_eq!(kpis.trigger_rate.change.value, Some(1.0));
    // No answer of the previous period can mention anybody.
    assert_eq!(kpis.mention_rate.change.value, None);
    assert_eq!(kpis.mention_rate.change.verdict, Verdict::InsufficientData);
    // Prompts that keep theirs are not the only ones that count.
    rows.extend([make_searches(101, 6, 10, 10), make_searches(110, 6, 10, 10)]);
    rows.extend([make_searches(101, 7, 10, 10), make_searches(110, 7, 0, 10)]);
    let change = overview(&rows, true).kpis.trigger_rate.change;
    assert!((change.value.unwrap() - 5.0 / 8.0).abs() < 1e-9, "{change:?}");
}

#[test]
fn clusters_whose_sources_one_period_shows_are_not_compared() {
    let mut rows: Vec<RollupRow> = Vec::new();
    for prompt in 0..6 {
        rows.push(row(101, prompt, 0, 5, 10));
        rows.push(row(110, prompt, 0, 5, 10));
    }
    for prompt in 6..8 {
        rows.push(make_unobservable(101, prompt, 0, 10));
        rows.push(row(110, prompt, 0, 10, 10));
    }
    let kpis = overview(&rows, true).kpis;
    assert_eq!(kpis.citation_rate.change.value, Some(0.0));
    assert_eq!(kpis.citation_share.change.value, Some(0.0));
    // Their text can be compared.
    assert!((kpis.mention_rate.change.value.unwrap() - 0.25).abs() < 1e-9);
}

#[test]
fn periods_are_incomparable_by_what_a_figure_counts() {
    let mut rows: Vec<RollupRow> = Vec::new();
    for prompt in 0..6 {
        rows.push(row(101, prompt, 1, 5, 10));
        rows.push(make_unobservable(101, prompt, 0, 10));
        rows.push(row(110, prompt, 0, 5, 10));
    }
    let kpis = overview(&rows, true).kpis;
    // The model of which both periods have answers shows its sources in one of them only.
    assert_eq!(kpis.citation_rate.change.value, None);
    assert_eq!(kpis.citation_rate.change.verdict, Verdict::ModelChanged);
    assert_eq!(kpis.mention_rate.change.value, Some(0.5));
}
