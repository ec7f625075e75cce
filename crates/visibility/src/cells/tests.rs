//! Cells that are packed and read again.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{
    AnswerStatus, BrandFact, Cell, CellBlock, CellKey, DamagedCells, Facts, SourceFact, block_of, blocks_of,
};
use crate::sources::{SourceClass, SourceType};

const BRANDS: [&str; 4] = ["own", "bolt", "elm", ""];
const DOMAINS: [(&str, SourceClass, Option<SourceType>); 4] = [
    ("own.example", SourceClass::Owned, None),
    ("bolt.example", SourceClass::Competitor, None),
    (
        "news.example",
        SourceClass::ThirdParty,
        Some(SourceType::Editorial),
    ),
    ("bücher.example", SourceClass::ThirdParty, Some(SourceType::Other)),
];

fn brand() -> impl Strategy<Value = BrandFact> {
    let place = prop::sample::select(BRANDS.to_vec());
    (
        place,
        prop::option::of(1u32..300),
        prop::option::of(-5i64..100_000),
    )
        .prop_map(|(brand, position, sentiment_milli)| BrandFact {
            brand: brand.to_owned(),
            is_own: brand == "own",
            position,
            sentiment_milli,
        })
}

fn source() -> impl Strategy<Value = SourceFact> {
    (prop::sample::select(DOMAINS.to_vec()), 0..3).prop_map(|((domain, class, source_type), page)| {
        SourceFact {
            domain: domain.to_owned(),
            url_key: format!("https://{domain}/{page}"),
            class,
            source_type,
            brand: (class != SourceClass::ThirdParty).then(|| "own".to_owned()),
        }
    })
}

fn facts() -> impl Strategy<Value = Facts> {
    let statuses = vec![
        AnswerStatus::Ok,
        AnswerStatus::Ok,
        AnswerStatus::Refused,
        AnswerStatus::NoOverview,
    ];
    let brands = prop::option::of(prop::collection::vec(brand(), 0..4));
    let sources = prop::option::of(prop::collection::vec(source(), 0..6));
    (prop::sample::select(statuses), any::<bool>(), brands, sources).prop_map(
        |(status, may_lack_overview, brands, sources)| Facts {
            status,
            probe: false,
            may_lack_overview,
            brands,
            sources,
        },
    )
}

type Counted = Vec<((i64, i32), Facts)>;

fn block() -> impl Strategy<Value = (i32, Counted)> {
    (-3i32..800).prop_flat_map(|block| {
        let days = block * 28..(block + 1) * 28;
        let series = prop::sample::select(vec![i64::MIN, -1, 0, 7]);
        (
            Just(block),
            prop::collection::vec(((series, days), facts()), 0..30),
        )
    })
}

fn cells(counted: &Counted) -> BTreeMap<CellKey, Cell> {
    let mut cells: BTreeMap<CellKey, Cell> = BTreeMap::new();
    for ((series, day), facts) in counted {
        let key = CellKey {
            series: *series,
            day: *day,
        };
        cells.entry(key).or_default().add(facts);
    }
    cells
}

proptest! {
    #[test]
    fn packed_cells_are_read_as_they_were((block, counted) in block()) {
        let cells = cells(&counted);
        prop_assert_eq!(CellBlock::pack(&cells).bytes(block).cells().unwrap(), cells);
    }

    #[test]
    fn sums_of_packed_cells_are_those_of_the_cells((block, counted) in block(), from in 0..28, to in 0..28) {
        let days = block * 28 + from..=block * 28 + to;
        let cells = cells(&counted);
        let mut sums: BTreeMap<i64, Cell> = BTreeMap::new();
        for (key, cell) in cells.iter().filter(|(key, _)| days.contains(&key.day)) {
            sums.entry(key.series).or_default().merge(cell);
        }
        let packed = CellBlock::pack(&cells);
        let read = packed.bytes(block).sums_by_series(&days).unwrap();
        prop_assert_eq!(read.into_iter().collect::<BTreeMap<_, _>>(), sums);
    }

    #[test]
    fn damaged_cells_are_refused_or_other_numbers((block, counted) in block(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut packed = CellBlock::pack(&cells(&counted));
        for part in [&mut packed.tallies, &mut packed.maps, &mut packed.gaps] {
            if !part.is_empty() {
                let at = at.index(part.len());
                part[at] = byte;
            }
        }
        let _: Result<_, DamagedCells> = packed.bytes(block).cells();
    }
}

#[test]
fn cells_that_end_early_are_refused() {
    let facts = Facts {
        status: AnswerStatus::Ok,
        probe: false,
        may_lack_overview: false,
        brands: Some(Vec::new()),
        sources: None,
    };
    let mut packed = CellBlock::pack(&cells(&vec![((1, 30), facts)]));
    assert!(packed.bytes(1).cells().is_ok());
    packed.tallies.pop();
    assert_eq!(packed.bytes(1).cells(), Err(DamagedCells));
}

#[test]
fn blocks_have_28_days() {
    assert_eq!([-29, -28, -1, 0, 27, 28].map(block_of), [-2, -1, -1, 0, 0, 1]);
    assert_eq!(blocks_of(&(27..=28)), 0..=1);
}
