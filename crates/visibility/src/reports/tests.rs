use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::{
    cells::{DateOrder, parse_count, parse_date},
    *,
};
use crate::{
    access_logs::{AgentRanges, LogCounter},
    days::iso_date,
    overview::DayRange,
};

const NOV_28: i32 = 20_785;

fn owns_host(host: &str) -> bool {
    host == "acme.example" || host.ends_with(".acme.example")
}

fn context() -> ReportContext<'static> {
    ReportContext {
        format: None,
        period: None,
        last_day: NOV_28,
        owns_host: &owns_host,
    }
}

fn dated(file: &str) -> ParsedReport {
    parse_report(file.as_bytes(), &context()).unwrap_or_else(|e| panic!("{e}: {file}"))
}

fn undated(file: &str) -> ParsedReport {
    let period = Some(DayRange {
        from: NOV_28 - 27,
        to: NOV_28,
    });
    let context = ReportContext { period, ..context() };
    parse_report(file.as_bytes(), &context).unwrap_or_else(|e| panic!("{e}: {file}"))
}

fn shown(report: &ParsedReport) -> Vec<String> {
    let row = |row: &ReportRow| format!("{} {} {}", iso_date(row.days.from), row.item, row.amount);
    report.rows.iter().map(row).collect()
}

fn reasons(report: &ParsedReport) -> Vec<String> {
    let row = |row: &SkippedRow| format!("{} {}", row.line, row.reason.as_str());
    report.skipped_rows.iter().map(row).collect()
}

#[test]
fn known_headers() {
    let page = "https://www.acme.example/a";
    for (file, format, dimension) in [
        (
            "Date,Citations,Cited Pages\n2026-11-01,1,1\n".to_owned(),
            ReportFormat::BingAiPerformance,
            Dimension::Day,
        ),
        (
            format!("Date,URL,Citations\n2026-11-01,{page},1\n"),
            ReportFormat::BingAiPerformance,
            Dimension::Page,
        ),
        (
            "Date\tGrounding Query\tCitations\n2026-11-01\tdesk\t1\n".to_owned(),
            ReportFormat::BingAiPerformance,
            Dimension::Query,
        ),
        (
            "Date,Impressions\n2026-11-01,1\n".to_owned(),
            ReportFormat::SearchConsoleAi,
            Dimension::Day,
        ),
    ] {
        let report = dated(&file);
        let row = &report.rows[0];
        assert_eq!(
            (report.format, row.dimension, row.amount),
            (format, dimension, 1),
            "{file}"
        );
    }
    for (file, format, dimension) in [
        (
            format!("Page,Citations\n{page},1\n"),
            ReportFormat::BingAiPerformance,
            Dimension::Page,
        ),
        (
            "Grounding Query,Intent,Topic,Citations,Citation Share\ndesk,informational,home,1,10%\n"
                .to_owned(),
            ReportFormat::BingAiPerformance,
            Dimension::Query,
        ),
        (
            format!("Top pages,Impressions\n{page},1\n"),
            ReportFormat::SearchConsoleAi,
            Dimension::Page,
        ),
        (
            "sep=;\nCountry;Impressions\nGermany;1\n".to_owned(),
            ReportFormat::SearchConsoleAi,
            Dimension::Country,
        ),
        (
            "\n\nDevice,Impressions\r\nMobile,1\r\n".to_owned(),
            ReportFormat::SearchConsoleAi,
            Dimension::Device,
        ),
    ] {
        let report = undated(&file);
        let row = &report.rows[0];
        assert_eq!(
            (report.format, row.dimension, row.amount),
            (format, dimension, 1),
            "{file}"
        );
        assert_eq!((row.days.from, row.days.to), (NOV_28 - 27, NOV_28));
    }
}

#[test]
fn refused_files() {
    for (file, code, words) in [
        (
            "Fecha,Impresiones\n2026-11-01,1\n",
            "unknown_format",
            "Fecha,Impresiones",
        ),
        ("Datum;Impressionen\n", "unknown_format", "English"),
        ("", "unknown_format", "known are"),
        ("PK\u{3}\u{4}xyz", "not_text", "unpack"),
        (
            "Top pages,Clicks,Impressions,CTR,Position\n",
            "web_search_report",
            "keywords/import",
        ),
        (
            "Top queries,Impressions\n",
            "web_search_report",
            "generative AI report",
        ),
        (
            "Filter,Value\nDate,\"Nov 1, 2026-Nov 28, 2026\"\n",
            "unknown_format",
            "from and to",
        ),
        ("Top pages,Impressions\n", "required", "first and last day"),
        ("Page,Grounding Query,Citations\n", "unknown_format", "known are"),
    ] {
        let refusal = parse_report(file.as_bytes(), &context()).unwrap_err();
        assert_eq!(refusal.code(), code, "{file}");
        assert!(refusal.to_string().contains(words), "{refusal}");
    }
    let wrong = ReportContext {
        format: Some(ReportFormat::BingAiPerformance),
        ..context()
    };
    let refusal = parse_report(b"Date,Impressions\n", &wrong).unwrap_err();
    assert_eq!(refusal, ReportRefusal::OtherFormat(ReportFormat::SearchConsoleAi));
    let period = Some(DayRange { from: 1, to: 2 });
    let needless = ReportContext { period, ..context() };
    let refusal = parse_report(b"Date,Impressions\n", &needless).unwrap_err();
    assert_eq!(refusal, ReportRefusal::UnneededPeriod);
    let many = format!("Date,Impressions\n{}", "2026-11-01,1\n".repeat(MAX_ROWS + 1));
    assert_eq!(
        parse_report(many.as_bytes(), &context()).unwrap_err(),
        ReportRefusal::TooManyRows
    );
}

#[test]
fn encodings() {
    let text = "Date;Impressions\r\n2026-11-01;1 234\r\n";
    let units = |unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect::<Vec<u8>>();
    for bytes in [
        [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        [b"\xff\xfe".as_slice(), &units(u16::to_le_bytes)].concat(),
        [b"\xfe\xff".as_slice(), &units(u16::to_be_bytes)].concat(),
    ] {
        let report = parse_report(&bytes, &context()).unwrap();
        assert_eq!(shown(&report), ["2026-11-01  1234"]);
    }
    for bytes in [
        units(u16::to_le_bytes),
        b"\xff\xfea".to_vec(),
        b"\xff\xfe\x00\xd8".to_vec(),
        b"Date,Impressions\n\xe9,1\n".to_vec(),
    ] {
        assert_eq!(
            parse_report(&bytes, &context()).unwrap_err(),
            ReportRefusal::NotText
        );
    }
}

#[test]
fn a_faulty_row_costs_itself_only() {
    let long = "x".repeat(MAX_ITEM_BYTES);
    let report = undated(&format!(
        "Top pages,Impressions\n\
         https://acme.example/a,\"1,234\"\n\
         \"https://acme.example/b,5\n\
         https://other.example/,5\n\
         https://notacme.example/,5\n\
         ftp://acme.example/,5\n\
         Total,5\n\
         https://acme.example/c,1.5\n\
         https://acme.example/d,\n\
         https://acme.example/e\n\
         ,5\n\
         https://acme.example/{long},5\n\
         https://acme.example/a,5\n\
         https://shop.acme.example./z,0\n"
    ));
    assert_eq!(
        shown(&report),
        [
            "2026-11-01 https://acme.example/a 1234",
            "2026-11-01 https://shop.acme.example./z 0"
        ]
    );
    assert_eq!(
        reasons(&report),
        [
            "3 unclosed_quote",
            "4 other_domain",
            "5 other_domain",
            "6 not_a_page",
            "7 not_a_page",
            "8 invalid_number",
            "9 invalid_number",
            "10 missing_field",
            "11 empty",
            "12 too_long",
            "13 duplicate"
        ]
    );
    assert_eq!((report.read, report.skipped), (13, 11));
    assert_eq!(report.skipped_rows[1].column.as_deref(), Some("Top pages"));
    let bad = "Date,Impressions\n".to_owned() + &"x,1\n".repeat(MAX_SKIPPED + 5);
    let report = dated(&bad);
    assert_eq!((report.skipped, report.skipped_rows.len()), (105, MAX_SKIPPED));
}

#[test]
fn dates() {
    for text in [
        "2026-11-28",
        "2026-11-28T00:00:00Z",
        "2026-11-28 00:00",
        "2026/11/28",
        "Nov 28, 2026",
        "November 28 2026",
        "28-Nov-2026",
        "28 nov 2026",
    ] {
        assert_eq!(parse_date(text, None), Some(NOV_28), "{text}");
    }
    assert_eq!(
        parse_date("11/28/2026 12:00:00 AM", Some(DateOrder::MonthFirst)),
        Some(NOV_28)
    );
    assert_eq!(parse_date("28/11/2026", Some(DateOrder::DayFirst)), Some(NOV_28));
    for text in [
        "",
        "Total",
        "28/11/2026",
        "2026-02-30",
        "26-11-28",
        "Xyz 28, 2026",
        "ma 28, 2026",
        "2026-11",
        "20261128",
        "2026-11-28-1",
    ] {
        assert_eq!(parse_date(text, None), None, "{text}");
    }
    let report = dated("Date,Impressions\n11/2/2026,1\n11/13/2026,2\n");
    assert_eq!(shown(&report), ["2026-11-02  1", "2026-11-13  2"]);
    let report = dated("Date,Impressions\n2/11/2026,1\n3/11/2026,2\n");
    assert_eq!(reasons(&report), ["2 invalid_date", "3 invalid_date"]);
    let report = dated("Date,Impressions\n2026-11-29,1\n1999-12-31,2\n");
    assert_eq!(reasons(&report), ["2 out_of_range", "3 out_of_range"]);
}

#[test]
fn counts() {
    for (text, count) in [
        ("0", 0),
        ("1234", 1_234),
        ("1,234", 1_234),
        ("1.234.567", 1_234_567),
        ("1 234", 1_234),
        ("1\u{202f}234", 1_234),
        ("12'345", 12_345),
    ] {
        assert_eq!(parse_count(text), Some(count), "{text}");
    }
    for text in [
        "",
        "-1",
        "1,5",
        "12.34",
        "1,2345",
        "1,234.567",
        ",123",
        "1234,567",
        "1e3",
        "9999999999999",
        "<10",
        "٣",
    ] {
        assert_eq!(parse_count(text), None, "{text}");
    }
}

#[test]
fn sums_of_a_log_are_read_back() {
    let line = |address: &str, day: u32, path: &str, referrer: &str, agent: &str| {
        format!(
            "{address} - - [{day:02}/Nov/2026:00:00:00 +0000] \"GET {path} HTTP/2\" 200 1 \"{referrer}\" \"{agent}\"\n"
        )
    };
    let mut ranges = AgentRanges::default();
    assert!(ranges.insert("GPTBot", &["10.0.0.0/24".parse().unwrap()]));
    let log = line("10.0.0.1", 1, "/a", "-", "GPTBot/1.2")
        + &line("10.0.9.1", 1, "/a", "-", "GPTBot/1.2")
        + &line("host", 1, "/a", "-", "GPTBot/1.2")
        + &line("10.0.0.1", 2, "/a,\\\"b", "-", "ClaudeBot/1.0")
        + &line("10.0.0.1", 31, "/c", "-", "ClaudeBot/1.0")
        + &line("10.0.0.1", 2, "/a?x=1", "https://chatgpt.com/", "Mozilla/5.0");
    let mut counter = LogCounter::new(ranges);
    counter.add(log.as_bytes());
    let lines = log_rows::log_lines(&counter.finish());
    assert_eq!(
        lines,
        [
            "2026-11-01,visit,GPTBot,/a,3,0,1,1",
            "2026-11-02,visit,ClaudeBot,\"/a,\\\"\"b\",1,0,,",
            "2026-11-02,referral,chatgpt,/a,1,,,"
        ],
        "the 31st of November is no day"
    );
    let report = dated(&format!("{}\n{}\n", log_rows::HEADER, lines.join("\n")));
    assert_eq!((report.format, report.skipped), (ReportFormat::AccessLog, 0));
    let first = &report.rows[0];
    assert_eq!(
        (first.amount, first.errors, first.verified, first.forged),
        (3, Some(0), Some(1), Some(1))
    );
    let second = &report.rows[1];
    assert_eq!(
        (&*second.actor, &*second.item, second.verified),
        ("ClaudeBot", "/a,\\\"b", None)
    );
    let bad = format!(
        "{}\n2026-11-01,visit,Nobody,/a,1,,,\n2026-11-01,look,GPTBot,/a,1,,,\n2026-11-01,visit,GPTBot,a,1,,,\n2026-11-01,referral,GPTBot,/a,1,,,\n\
         2026-11-01,visit,GPTBot,/a,3,4,,\n2026-11-01,visit,GPTBot,/a,3,,2,2\n",
        log_rows::HEADER
    );
    assert_eq!(
        reasons(&dated(&bad)),
        [
            "2 unknown_name",
            "3 unknown_name",
            "4 not_a_page",
            "5 unknown_name",
            "6 invalid_number",
            "7 invalid_number"
        ]
    );
}

#[test]
fn overlapping_periods_are_not_counted_twice() {
    let range = |from: i32, to: i32| DayRange { from, to };
    let wanted = range(100, 127);
    let chosen = |stored: &[DayRange]| choose_periods(stored, wanted);
    assert_eq!(chosen(&[]), []);
    // an export that ended some days ago
    assert_eq!(chosen(&[range(97, 124)]), [range(97, 124)]);
    assert_eq!(chosen(&[range(60, 112)]), [], "more than half lies outside");
    // weekly exports of 28 days: only one of them
    assert_eq!(chosen(&[range(90, 117), range(97, 124)]), [range(97, 124)]);
    assert_eq!(
        chosen(&[range(100, 106), range(107, 113), range(105, 110)]),
        [range(100, 106), range(107, 113)]
    );
    // days win where they cover as much
    assert_eq!(
        chosen(&[range(100, 101), range(101, 101), range(100, 100)]),
        [range(100, 100), range(101, 101)]
    );
    assert_eq!(
        chosen(&[range(100, 102), range(101, 101), range(100, 100)]),
        [range(100, 102)]
    );
}

proptest! {
    #[test]
    fn no_file_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse_report(&bytes, &context());
        let file = [b"Date,Citations,Cited Pages\n".as_slice(), &bytes].concat();
        let _ = parse_report(&file, &context());
    }

    #[test]
    fn every_row_is_read_or_skipped(lines in proptest::collection::vec("[^\0\r\n]{0,40}", 0..30)) {
        let file = format!("Grounding Query,Citations\n{}", lines.join("\n"));
        let report = undated(&file);
        let blank = lines.iter().filter(|line| line.trim().is_empty()).count();
        prop_assert_eq!(report.read as usize, lines.len() - blank);
        prop_assert_eq!(report.read, report.rows.len() as u64 + report.skipped);
    }

    #[test]
    fn written_fields_are_read_back(texts in proptest::collection::vec("[^\\p{Cc}]{0,20}", 1..6)) {
        let mut line = String::new();
        for (at, text) in texts.iter().enumerate() {
            if at > 0 {
                line.push(',');
            }
            fields::push(&mut line, text.trim());
        }
        let read = fields::split(&line, b',').unwrap();
        prop_assert_eq!(read, texts.iter().map(|text| text.trim()).collect::<Vec<_>>());
    }

    #[test]
    fn grouped_counts_are_read_back(count in 0_i64..=1_000_000_000_000, separator in 0_usize..4) {
        let digits = count.to_string();
        let mut grouped = String::new();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                grouped.push([',', '.', ' ', '\u{a0}'][separator]);
            }
            grouped.push(digit);
        }
        prop_assert_eq!(parse_count(&grouped), Some(count));
        prop_assert_eq!(parse_count(&digits), Some(count));
    }

    #[test]
    fn dates_are_read_back(day in 0..60_000_i32) {
        prop_assert_eq!(parse_date(&iso_date(day), None), Some(day));
    }

    #[test]
    fn chosen_periods_do_not_overlap(stored in proptest::collection::vec((0..60_i32, 0..15_i32), 0..12)) {
        let stored: Vec<DayRange> = stored.into_iter().map(|(from, days)| DayRange { from, to: from + days }).collect();
        let chosen = choose_periods(&stored, DayRange { from: 10, to: 50 });
        prop_assert!(chosen.windows(2).all(|pair| pair[0].to < pair[1].from));
        prop_assert!(chosen.iter().all(|period| stored.contains(period)));
    }
}
