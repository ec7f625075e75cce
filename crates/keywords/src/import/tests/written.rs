//! A row written by a CSV writer in any format is read again.

use proptest::{
    collection::vec,
    prelude::{Just, Strategy, prop_assert_eq, prop_oneof, proptest},
};
use searchwright_contract::keywords::Intent;

use super::text;
use crate::import::{Format, Import, Month, Row, Trend, VolumeRange};

/// Generates a row with data for all formats; each format writes the data that it has columns for.
fn some_row() -> impl Strategy<Value = Row> {
    let intents = prop_oneof![
        Just(vec![]),
        Just(vec![Intent::Navigational]),
        Just(vec![Intent::Commercial, Intent::Informational]),
    ];
    let cents = |most: u32| proptest::option::of((0..most).prop_map(|n| f64::from(n) / 100.0));
    (
        "[a-zäß\"'0-9;|<>-][a-z \",;\téß]{0,30}[a-z]",
        proptest::option::of(0i64..=1_000_000_000),
        proptest::option::of(0i64..=100),
        cents(10_000),
        cents(101),
        intents,
        vec(0u8..=100, 12),
        proptest::option::of(0i64..1_000_000),
    )
        .prop_map(
            |(keyword, volume, difficulty, cpc, competition, intents, trend, seen)| {
                let mut months = [0.0; 12];
                for (month, value) in months.iter_mut().zip(trend) {
                    *month = f64::from(value) / 100.0;
                }
                Row {
                    keyword: keyword.split_whitespace().collect::<Vec<_>>().join(" "),
                    search_volume: volume,
                    difficulty,
                    cpc,
                    competition,
                    intents,
                    trend: Some(Trend::Relative(months)),
                    impressions: seen,
                    clicks: seen.map(|n| n / 2),
                    ..Row::default()
                }
            },
        )
}

fn number<T: ToString>(value: Option<T>) -> String {
    value.map(|v| v.to_string()).unwrap_or_default()
}

/// Header and fields of a row in a format, and the row as that format can know it.
fn written(format: Format, row: &Row) -> (Vec<&'static str>, Vec<String>, Row) {
    let keyword = row.keyword.clone();
    let trend = match &row.trend {
        Some(Trend::Relative(months)) => months.map(|m| m.to_string()).join(","),
        _ => String::new(),
    };
    let intents: Vec<&str> = row.intents.iter().map(|i| i.as_str()).collect();
    let line = 2;
    match format {
        Format::SemrushKeywords => (
            vec![
                "Keyword",
                "Intent",
                "Volume",
                "Trend",
                "Keyword Difficulty",
                "CPC (USD)",
                "Competitive Density",
            ],
            vec![
                keyword,
                intents.join(", "),
                number(row.search_volume),
                trend,
                number(row.difficulty),
                number(row.cpc),
                number(row.competition),
            ],
            Row {
                line,
                currency: row.cpc.and(text("USD")),
                impressions: None,
                clicks: None,
                ..row.clone()
            },
        ),
        Format::SemrushPositions => (
            vec![
                "Keyword",
                "Position",
                "Search Volume",
                "CPC",
                "URL",
                "Trends",
                "Keyword Intents",
            ],
            vec![
                keyword,
                "7".into(),
                number(row.search_volume),
                number(row.cpc),
                "https://example.com/a,b".into(),
                trend,
                intents.join(", "),
            ],
            Row {
                line,
                keyword: row.keyword.clone(),
                search_volume: row.search_volume,
                cpc: row.cpc,
                intents: row.intents.clone(),
                trend: row.trend.clone(),
                position: Some(7.0),
                ranking_url: text("https://example.com/a,b"),
                ..Row::default()
            },
        ),
        Format::SemrushApi => (
            vec![
                "Keyword",
                "Search Volume",
                "Competition",
                "Keyword Difficulty Index",
            ],
            vec![
                keyword,
                number(row.search_volume),
                number(row.competition),
                number(row.difficulty),
            ],
            Row {
                line,
                keyword: row.keyword.clone(),
                search_volume: row.search_volume,
                competition: row.competition,
                difficulty: row.difficulty,
                ..Row::default()
            },
        ),
        Format::Ahrefs => (
            vec![
                "#",
                "Keyword",
                "Country",
                "Difficulty",
                "Volume",
                "CPC",
                "Global volume",
                "Intents",
            ],
            vec![
                "1".into(),
                keyword,
                "de".into(),
                number(row.difficulty),
                number(row.search_volume),
                number(row.cpc),
                "99".into(),
                intents.join(","),
            ],
            Row {
                line,
                keyword: row.keyword.clone(),
                country: text("DE"),
                difficulty: row.difficulty,
                search_volume: row.search_volume,
                cpc: row.cpc,
                intents: row.intents.clone(),
                ..Row::default()
            },
        ),
        Format::KeywordPlanner => (
            vec![
                "Keyword",
                "Currency",
                "Avg. monthly searches",
                "Searches: Jan 2026",
            ],
            vec![
                keyword,
                "EUR".into(),
                number(row.search_volume),
                number(row.impressions),
            ],
            {
                let month = |value| {
                    Trend::Months(vec![Month {
                        month: "2026-01".into(),
                        value,
                    }])
                };
                let bucket = row.impressions.is_none() && row.search_volume == Some(0);
                Row {
                    line,
                    keyword: row.keyword.clone(),
                    currency: text("EUR"),
                    search_volume: if bucket { None } else { row.search_volume },
                    volume_range: bucket.then_some(VolumeRange { min: 0, max: 10 }),
                    trend: row.impressions.map(month),
                    ..Row::default()
                }
            },
        ),
        Format::KeywordList => (
            vec!["keyword", "searchVolume", "keywordDifficulty", "cpc"],
            vec![
                keyword,
                number(row.search_volume),
                number(row.difficulty),
                number(row.cpc),
            ],
            Row {
                line,
                keyword: row.keyword.clone(),
                search_volume: row.search_volume,
                difficulty: row.difficulty,
                cpc: row.cpc,
                ..Row::default()
            },
        ),
        Format::SearchConsole => (
            vec!["Top queries", "Clicks", "Impressions", "CTR", "Position"],
            vec![
                keyword,
                number(row.clicks),
                number(row.impressions),
                "25%".into(),
                "3.5".into(),
            ],
            Row {
                line,
                keyword: row.keyword.clone(),
                clicks: row.clicks,
                impressions: row.impressions,
                ctr: Some(0.25),
                position: Some(3.5),
                ..Row::default()
            },
        ),
    }
}

proptest! {
    #[test]
    fn a_written_row_is_read_again(
        row in some_row(),
        format in proptest::sample::select(Format::ALL),
        delimiter in proptest::sample::select(b",;\t".as_slice()),
    ) {
        let (header, fields, expected) = written(format, &row);
        let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
        writer.write_record(&header).unwrap();
        writer.write_record(&fields).unwrap();
        let bytes = writer.into_inner().unwrap();
        let import = Import::open(bytes.as_slice()).unwrap();
        prop_assert_eq!(import.format(), format);
        let rows: Vec<_> = import.collect();
        prop_assert_eq!(rows, [Ok(expected)]);
    }
}
