//! Sums of cells equal the counts of all their answers, in any order and any grouping.

use std::collections::BTreeMap;

use proptest::prelude::{Just, Strategy, any, prop_assert_eq, prop_oneof, proptest};

use searchwright_visibility::{
    cells::{AnswerStatus, BrandFact, Cell, CellBlock, CellKey, Facts, SourceFact, block_of},
    overview::{BrandInfo, DayRange, OverviewInput, PromptCells, PromptInfo, SeriesInfo, compute},
    prompts::PromptClass,
    sources::{SourceClass, SourceType},
};

fn status() -> impl Strategy<Value = AnswerStatus> {
    prop_oneof![
        6 => Just(AnswerStatus::Ok),
        1 => Just(AnswerStatus::Error),
        1 => Just(AnswerStatus::NoOverview),
        1 => Just(AnswerStatus::Incomplete),
    ]
}

fn brand(id: usize, position: u32, sentiment: Option<u16>) -> BrandFact {
    BrandFact {
        brand: id.to_string(),
        is_own: id == 0,
        position: Some(position),
        sentiment_milli: sentiment.map(|value| i64::from(value) * 100_000 / 65_535),
    }
}

fn source(id: usize) -> SourceFact {
    SourceFact {
        domain: format!("d{}.example", id % 4),
        url_key: format!("https://d{}.example/{id}", id % 4),
        class: [
            SourceClass::Owned,
            SourceClass::Competitor,
            SourceClass::ThirdParty,
        ][id % 3],
        source_type: (id % 3 == 2).then_some(SourceType::Other),
        brand: (id % 3 < 2).then(|| (id % 3).to_string()),
    }
}

fn facts() -> impl Strategy<Value = Facts> {
    let brands = proptest::option::of(proptest::collection::vec(
        (0..4_usize, any::<Option<u16>>()),
        0..4,
    ));
    let sources = proptest::option::of(proptest::collection::vec(0..9_usize, 0..5));
    (status(), 0..9_u8, any::<bool>(), brands, sources).prop_map(
        |(status, probe, overview, brands, sources)| {
            let number = |mut brands: Vec<(usize, Option<u16>)>| {
                brands.sort_unstable();
                brands.dedup_by_key(|brand| brand.0);
                let numbered = brands.into_iter().enumerate();
                numbered
                    .map(|(at, (id, sentiment))| brand(id, at as u32 + 1, sentiment))
                    .collect()
            };
            Facts {
                status,
                probe: probe == 0,
                may_lack_overview: overview,
                brands: brands.map(number),
                sources: sources.map(|ids| ids.into_iter().map(source).collect()),
            }
        },
    )
}

fn cell(facts: &[Facts]) -> Cell {
    let mut cell = Cell::default();
    facts.iter().for_each(|facts| cell.add(facts));
    cell
}

fn merged(first: &Cell, second: &Cell) -> Cell {
    let mut sum = first.clone();
    sum.merge(second);
    sum
}

proptest! {
    #[test]
    fn sums_of_cells_equal_recomputation(all in proptest::collection::vec(facts(), 0..30), cuts in (0..31_usize, 0..31_usize)) {
        let (mut low, mut high) = (cuts.0.min(all.len()), cuts.1.min(all.len()));
        if low > high {
            std::mem::swap(&mut low, &mut high);
        }
        let [a, b, c] = [&all[..low], &all[low..high], &all[high..]].map(cell);
        let whole = cell(&all);
        prop_assert_eq!(&merged(&merged(&a, &b), &c), &whole);
        prop_assert_eq!(&merged(&a, &merged(&b, &c)), &whole);
        prop_assert_eq!(&merged(&c, &merged(&b, &a)), &whole);
    }

    #[test]
    fn overviews_of_rollups_equal_those_of_single_answers(all in proptest::collection::vec((-5..40_i32, 0..7_u32, 0..2_u32, facts()), 0..80)) {
        let key = |day: i32, series: u32| CellKey { series: series.into(), day };
        let single: Vec<(u32, i32, CellBlock)> = all.iter().map(|(day, prompt, series, facts)| {
            let cells = BTreeMap::from([(key(*day, *series), cell(std::slice::from_ref(facts)))]);
            (*prompt, block_of(*day), CellBlock::pack(&cells))
        }).collect();
        let mut rolled: BTreeMap<(u32, i32), BTreeMap<CellKey, Cell>> = BTreeMap::new();
        for (day, prompt, series, facts) in all.iter().rev() {
            let cells = rolled.entry((*prompt, block_of(*day))).or_default();
            cells.entry(key(*day, *series)).or_default().add(facts);
        }
        let rolled: Vec<(u32, i32, CellBlock)> =
            rolled.into_iter().map(|((prompt, block), cells)| (prompt, block, CellBlock::pack(&cells))).collect();
        let prompts: Vec<PromptInfo> = (0..7).map(|id| PromptInfo {
            id: id.to_string(), class: PromptClass::NonBranded, archived: false, first_day: 0, archived_day: None,
        }).collect();
        let series = [(0, "a"), (1, "b")].map(|(id, engine)| SeriesInfo { id, engine: engine.to_owned(), weight: 1.0 });
        let brands: Vec<BrandInfo> = (0..4).map(|id| BrandInfo { id: id.to_string(), name: id.to_string(), domain: None, is_own: id == 0 }).collect();
        let period = DayRange { from: 10, to: 34 };
        let overview = |blocks: &[(u32, i32, CellBlock)]| {
            let cells: Vec<PromptCells<'_>> =
                blocks.iter().map(|(prompt, block, cells)| PromptCells { prompt: *prompt, cells: cells.bytes(*block) }).collect();
            compute(&OverviewInput {
                project: b"p", period, previous: period.previous(), cells: &cells, prompts: &prompts, series: &series, brands: &brands, class: None,
            }).unwrap()
        };
        let (first, second) = (overview(&single), overview(&rolled));
        prop_assert_eq!(first.kpis.answers, second.kpis.answers);
        prop_assert_eq!(first, second);
    }
}
