//! Measures how long an answer, a log and an overview take: `cargo run --release --example visibility_speed`.

use std::{
    collections::BTreeMap,
    io::{Write as _, stdout},
    time::Instant,
};

use searchwright_visibility::{
    access_logs::{AgentRanges, LogCounter},
    answer_text::AnswerText,
    brands::{Alias, Brand, BrandMatcher},
    cells::{AnswerStatus, BrandFact, Cell, Facts, SourceFact},
    citations::Citations,
    overview::{BrandInfo, DayRange, OverviewInput, PromptInfo, RollupRow, SeriesInfo, compute},
    prompts::PromptClass,
    refusal::find_refusal,
    sources::SourceClass,
};

const PARAGRAPH: &str = "1. **Name17 Desk** – For small rooms, **Name3 Desk** is a reliable choice, and it is cheaper than \
    Name44 Desk. Many reviewers recommend it, see [the review](https://reviews.example/desks?utm_source=chatgpt.com) and \
    name5.example. However, its legs wobble when the desk is raised, and the motor is louder than that of Bolt.\n";

fn main() -> std::io::Result<()> {
    let mut out = stdout();
    writeln!(out, "answer: {:.3} ms", answer_millis())?;
    writeln!(out, "log: {:.0} lines/s", log_lines_per_second())?;
    writeln!(out, "overview of 225,000 cells: {:.0} ms", overview_millis(false))?;
    writeln!(
        out,
        "overview of 225,000 tallies, and maps apart: {:.0} ms",
        overview_millis(true)
    )
}

fn answer_millis() -> f64 {
    let brand = |id: usize| Brand {
        id: id.to_string(),
        name: format!("Name{id} Desk"),
        aliases: (0..4)
            .map(|n| Alias::from(&*format!("Name{id} Alias {n}")))
            .collect(),
        domains: vec![format!("name{id}.example")],
        category_terms: vec!["standing desk".to_owned()],
        ..Brand::default()
    };
    let matcher = BrandMatcher::new(&(0..40).map(brand).collect::<Vec<_>>());
    let text = PARAGRAPH.repeat(24);
    assert!(AnswerText::parse(&text, "en").words() >= 1000);
    let rounds = 200;
    let start = Instant::now();
    let mut mentions = 0;
    for _ in 0..rounds {
        let answer = AnswerText::parse(&text, "en");
        let matched = matcher.match_answer(&answer, Some("Which desk is best?"));
        mentions += matched.mentions().mentions.len() + matched.unknown_names().len();
        mentions += matched.sentiment("3").words as usize + Citations::from_text(&answer).items.len();
        mentions += usize::from(find_refusal(&answer).is_some());
    }
    assert!(mentions > 0);
    start.elapsed().as_secs_f64() * 1000.0 / f64::from(rounds)
}

fn log_lines_per_second() -> f64 {
    let mut log = String::new();
    for n in 0..10_000 {
        let agent = if n % 5 == 0 {
            "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
        } else {
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
        };
        log += &format!(
            "203.0.113.{} - - [28/Nov/2026:12:00:00 +0000] \"GET /page/{}?q=1 HTTP/1.1\" 200 5120 \"https://www.example.com/\" \"{agent}\"\n",
            n % 250,
            n % 900
        );
    }
    let start = Instant::now();
    let mut counter = LogCounter::new(AgentRanges::default());
    for _ in 0..100 {
        counter.add(log.as_bytes());
    }
    let report = counter.finish();
    report.lines as f64 / start.elapsed().as_secs_f64()
}

fn overview_millis(is_split: bool) -> f64 {
    let facts = |n: u32| Facts {
        status: AnswerStatus::Ok,
        probe: false,
        may_lack_overview: false,
        brands: Some(
            (0..3)
                .map(|id| BrandFact {
                    brand: ((n + id) % 6).to_string(),
                    is_own: (n + id).is_multiple_of(6),
                    position: Some(id + 1),
                    sentiment_milli: Some(60_000),
                })
                .collect(),
        ),
        sources: Some(
            (0..4)
                .map(|id| SourceFact {
                    domain: format!("d{}.example", (n * 7 + id) % 300),
                    url_key: format!("https://d{}.example/{}", (n * 7 + id) % 300, n % 50),
                    class: SourceClass::ThirdParty,
                    source_type: None,
                    brand: None,
                })
                .collect(),
        ),
    };
    let mut rows = Vec::new();
    for day in 0..90 {
        for prompt in 0..500 {
            for series in 0..5 {
                let mut cell = Cell::default();
                cell.add(&facts(day as u32 + prompt * 3 + series));
                rows.push(RollupRow {
                    day,
                    prompt,
                    series,
                    cell,
                });
            }
        }
    }
    if is_split {
        rows = split(rows);
    }
    let prompts: Vec<PromptInfo> = (0..500)
        .map(|id| PromptInfo {
            id: id.to_string(),
            class: PromptClass::NonBranded,
            archived: false,
            first_day: 0,
            archived_day: None,
        })
        .collect();
    let series: Vec<SeriesInfo> = (0..5)
        .map(|id| SeriesInfo {
            engine: id.to_string(),
            weight: 1.0,
        })
        .collect();
    let brands: Vec<BrandInfo> = (0..6)
        .map(|id| BrandInfo {
            id: id.to_string(),
            name: id.to_string(),
            domain: None,
            is_own: id == 0,
        })
        .collect();
    let period = DayRange { from: 0, to: 89 };
    let start = Instant::now();
    let overview = compute(&OverviewInput {
        project: b"project",
        period,
        previous: period.previous(),
        rows: &rows,
        prompts: &prompts,
        series: &series,
        brands: &brands,
        class: Some(PromptClass::NonBranded),
    });
    assert!(overview.kpis.answers > 0);
    start.elapsed().as_secs_f64() * 1000.0
}

/// Parts rows into tallies, brands per prompt and series, and domains per day and series.
fn split(rows: Vec<RollupRow>) -> Vec<RollupRow> {
    let mut parts: BTreeMap<[i64; 3], Cell> = BTreeMap::new();
    let mut tallies = Vec::new();
    for row in rows {
        let cell = row.cell;
        let brands = Cell {
            brands: cell.brands,
            ..Cell::default()
        };
        let domains = Cell {
            domains: cell.domains,
            ..Cell::default()
        };
        let (prompt, series) = (i64::from(row.prompt), i64::from(row.series));
        parts.entry([0, prompt, series]).or_default().merge(&brands);
        parts
            .entry([i64::from(row.day), 0, series])
            .or_default()
            .merge(&domains);
        tallies.push(RollupRow {
            cell: Cell {
                tally: cell.tally,
                ..Cell::default()
            },
            ..row
        });
    }
    tallies.extend(parts.into_iter().map(|([day, prompt, series], cell)| RollupRow {
        day: day as i32,
        prompt: prompt as u32,
        series: series as u32,
        cell,
    }));
    tallies
}
