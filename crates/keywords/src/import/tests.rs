//! Whole files of every format, sound and broken.

mod forms;
mod written;

use proptest::{
    collection::vec,
    prelude::{Just, any, prop_assert, prop_oneof, proptest},
};
use searchwright_contract::keywords::Intent;

use super::{FaultCode, Format, Import, Level, Month, Refused, Row, RowFault, Trend, VolumeRange};

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!("../../tests/data/", $name)).as_slice()
    };
}

/// All rows of a sound file.
fn rows(bytes: &[u8], format: Format) -> Vec<Row> {
    let import = Import::open(bytes).unwrap();
    assert_eq!(import.format(), format);
    import.collect::<Result<_, _>>().unwrap()
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn semrush_keywords() {
    let rows = rows(fixture!("semrush_keywords.csv"), Format::SemrushKeywords);
    let first = Row {
        line: 2,
        keyword: "standing desk".into(),
        search_volume: Some(90_500),
        difficulty: Some(71),
        cpc: Some(2.53),
        currency: text("USD"),
        competition: Some(1.0),
        trend: Some(Trend::Relative([
            0.67, 0.67, 0.54, 0.54, 0.54, 0.54, 0.67, 0.67, 0.82, 1.0, 1.0, 0.82,
        ])),
        intents: vec![Intent::Commercial, Intent::Transactional],
        serp_features: ["Sitelinks", "Reviews", "Image pack"].map(str::to_owned).into(),
        ..Row::default()
    };
    assert_eq!(rows[0], first);
    assert_eq!(rows[1].keyword, "what is a \"sit-stand\" desk");
    assert_eq!(rows[1].difficulty, None);
    assert_eq!(
        (rows[2].keyword.as_str(), rows[2].search_volume),
        ("stehtisch büro", Some(1300))
    );
    assert_eq!(rows.len(), 3);
}

#[test]
fn semrush_positions_with_broken_rows() {
    let import = Import::open(fixture!("semrush_positions.csv")).unwrap();
    assert_eq!(import.format(), Format::SemrushPositions);
    let (rows, faults) = split(import.collect());
    assert_eq!(rows.len(), 2, "a row that ends before its volume is none");
    assert_eq!(rows[0].position, Some(3.0));
    assert_eq!(rows[0].search_volume, Some(8100));
    assert_eq!(rows[0].ranking_url, text("https://example.com/desk-height"));
    assert_eq!(rows[1].intents, [Intent::Commercial, Intent::Transactional]);
    assert_eq!(
        (rows[1].cpc, rows[1].competition, rows[1].difficulty),
        (None, None, None)
    );
    assert_eq!(
        faults,
        [
            RowFault {
                line: 3,
                column: text("Position"),
                code: FaultCode::NotANumber,
                detail: "one".into()
            },
            RowFault {
                line: 4,
                column: None,
                code: FaultCode::ColumnCount,
                detail: "2 columns, the header has 17".into()
            }
        ]
    );
}

#[test]
fn semrush_api() {
    let rows = rows(fixture!("semrush_api.csv"), Format::SemrushApi);
    assert_eq!(rows[0].difficulty, Some(46));
    assert_eq!(rows[0].intents, [Intent::Commercial, Intent::Transactional]);
    assert_eq!(rows[1].intents, [Intent::Informational]);
    assert_eq!((rows[1].cpc, rows[1].competition), (Some(0.12), Some(0.03)));
    assert_eq!((rows[1].currency.as_deref(), &rows[1].trend), (None, &None));
}

#[test]
fn ahrefs() {
    let rows = rows(fixture!("ahrefs.csv"), Format::Ahrefs);
    // not the global volume
    assert_eq!(rows[0].search_volume, Some(27_000));
    assert_eq!(rows[0].country, text("US"));
    assert_eq!(rows[0].intents, [Intent::Commercial, Intent::Transactional]);
    assert_eq!((rows[1].search_volume, rows[1].cpc), (Some(1200), None));
    assert_eq!(rows[2].keyword, "two lines");
    assert_eq!((rows[2].difficulty, rows[2].search_volume), (None, None));
    assert_eq!(rows[2].volume_range, Some(VolumeRange { min: 0, max: 10 }));
}

#[test]
fn keyword_planner() {
    let exact = rows(fixture!("keyword_planner_exact.csv"), Format::KeywordPlanner);
    assert_eq!(exact[0].line, 4);
    assert_eq!(exact[0].search_volume, Some(49_500));
    assert_eq!((exact[0].bid_low, exact[0].bid_high), (Some(0.38), Some(1.52)));
    assert_eq!(
        (exact[0].competition, exact[0].competition_level),
        (Some(1.0), Some(Level::High))
    );
    let month = |month: &str, value| Month {
        month: month.to_owned(),
        value,
    };
    // a round volume with months is exact, and an empty month is unknown
    assert_eq!(exact[1].search_volume, Some(500));
    let months = vec![month("2025-11", 500), month("2025-12", 720)];
    assert_eq!(exact[1].trend, Some(Trend::Months(months)));

    let buckets = rows(fixture!("keyword_planner_buckets.csv"), Format::KeywordPlanner);
    let ranges: Vec<_> = buckets
        .iter()
        .map(|r| r.volume_range.map(|v| (v.min, v.max)))
        .collect();
    assert_eq!(
        ranges,
        [Some((10_000, 100_000)), Some((10, 100)), None, Some((0, 10))]
    );
    assert!(buckets.iter().all(|r| r.search_volume.is_none()));
}

#[test]
fn search_console() {
    let sound = rows(fixture!("search_console.csv"), Format::SearchConsole);
    assert_eq!(
        (sound[1].impressions, sound[1].clicks, sound[1].search_volume),
        (Some(1900), Some(4), None)
    );
    assert_eq!(
        (sound[0].ctr, sound[0].position),
        (Some(35.29 / 100.0), Some(1.2))
    );
    assert_eq!(sound[2].clicks, Some(0));

    let (rows, faults) = split(
        Import::open(fixture!("search_console_broken.csv"))
            .unwrap()
            .collect(),
    );
    let keywords: Vec<_> = rows.iter().map(|r| (r.line, r.keyword.as_str())).collect();
    assert_eq!(
        keywords,
        [
            (2, "good one"),
            (5, "latin ü"),
            (12, "trailing comma"),
            (15, "good two")
        ]
    );
    let faults: Vec<_> = faults
        .iter()
        .map(|f| (f.line, f.code, f.column.as_deref()))
        .collect();
    assert_eq!(
        faults,
        [
            (3, FaultCode::UnclosedQuote, None),
            (4, FaultCode::NotText, None),
            (6, FaultCode::Blank, Some("Top queries")),
            (7, FaultCode::OutOfRange, Some("Clicks")),
            (8, FaultCode::OutOfRange, Some("CTR")),
            (9, FaultCode::NotANumber, Some("Clicks")),
            (10, FaultCode::ColumnCount, None),
            (11, FaultCode::ColumnCount, None),
        ]
    );
}

#[test]
fn utf_16_without_a_mark() {
    let bytes = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        let text = "Keyword\tAvg. monthly searches\tSearches: Jan 2026\nstühle\t70\t70\n";
        text.encode_utf16().flat_map(order).collect()
    };
    for bytes in [bytes(u16::to_le_bytes), bytes(u16::to_be_bytes)] {
        let rows = rows(&bytes, Format::KeywordPlanner);
        assert_eq!(
            (rows[0].keyword.as_str(), rows[0].search_volume),
            ("stühle", Some(70))
        );
    }
}

#[test]
fn what_is_no_file_of_keywords_is_refused() {
    let open = |bytes: &[u8]| Import::open(bytes).unwrap_err();
    assert!(matches!(open(b"PK\x03\x04 a workbook"), Refused::NotText));
    assert!(matches!(open(&[7; 500]), Refused::NotText));
    assert!(matches!(open(b""), Refused::NoHeader));
    let late = format!("{}Top queries,Clicks,Impressions\n", "x,y\n".repeat(40));
    let refused = open(late.as_bytes());
    assert!(matches!(refused, Refused::NoHeader));
    let message = refused.to_string();
    for expected in [
        "40 rows",
        "semrush_keywords (keyword, volume",
        "avg. monthly searches",
    ] {
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_refused() {
    struct Failing;
    impl std::io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("connection lost"))
        }
    }
    assert!(matches!(Import::open(Failing), Err(Refused::Unreadable(_))));
}

fn split(all: Vec<Result<Row, RowFault>>) -> (Vec<Row>, Vec<RowFault>) {
    let (rows, faults): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_ok);
    (
        rows.into_iter().filter_map(Result::ok).collect(),
        faults.into_iter().filter_map(Result::err).collect(),
    )
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..400)) {
        if let Ok(import) = Import::open(bytes.as_slice()) {
            prop_assert!(import.count() < 400);
        }
    }

    #[test]
    fn any_bytes_behind_a_header_are_rows_or_faults(
        bytes in vec(prop_oneof![any::<u8>(), Just(b','), Just(b'"'), Just(b'\n'), Just(b'7')], 0..400),
    ) {
        let file = [b"Top queries,Clicks,Impressions\n".as_slice(), &bytes].concat();
        // odd bytes may make the head look like UTF-16, whose header is then none
        if let Ok(import) = Import::open(file.as_slice()) {
            let mut last = 1;
            for row in import {
                let line = match row {
                    Ok(row) => row.line,
                    Err(fault) => fault.line,
                };
                prop_assert!(line > last);
                last = line;
            }
        }
    }
}
