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
    cells::{AnswerStatus, BrandFact, Cell, CellBlock, CellKey, Facts, SourceFact, block_of, blocks_of},
    citations::Citations,
    opportunities::{self, SeriesCell},
    overview::{BrandInfo, DayRange, OverviewInput, PromptCells, PromptInfo, SeriesInfo, compute},
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
    let blocks = blocks();
    let bytes: usize = blocks
        .iter()
        .map(|block| block.cells.maps.len() + block.cells.tallies.len())
        .sum();
    writeln!(
        out,
        "675,000 answers and as many before: {} MB",
        bytes / 1_000_000
    )?;
    writeln!(
        out,
        "overview of them: {:.0} ms",
        fastest(20, || overview_millis(&blocks))
    )?;
    writeln!(
        out,
        "opportunities of 28 days: {:.0} ms",
        fastest(5, || opportunity_millis(&blocks))
    )?;
    Ok(())
}

/// Returns the least time: other programs only add to it.
fn fastest(rounds: u32, millis: impl Fn() -> f64) -> f64 {
    (0..rounds).map(|_| millis()).fold(f64::INFINITY, f64::min)
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
    for _ in 0..40 {
        counter.add(log.as_bytes());
    }
    let report = counter.finish();
    report.lines as f64 / start.elapsed().as_secs_f64()
}

/// Cells of a prompt.
struct Block {
    prompt: u32,
    block: i32,
    cells: CellBlock,
}

const PROMPTS: u32 = 500;
const SERIES: u32 = 5;
const DAYS: i32 = 180;

/// Packs the answers to 500 prompts by 5 engines, thrice a day.
fn blocks() -> Vec<Block> {
    let mut random = Random(1);
    let mut packed = Vec::new();
    for prompt in 0..PROMPTS {
        let mut blocks: BTreeMap<i32, BTreeMap<CellKey, Cell>> = BTreeMap::new();
        for day in 0..DAYS {
            for series in 0..SERIES {
                let mut cell = Cell::default();
                (0..3).for_each(|_| cell.add(&facts(&mut random, prompt, series)));
                let key = CellKey {
                    series: series.into(),
                    day,
                };
                blocks.entry(block_of(day)).or_default().insert(key, cell);
            }
        }
        packed.extend(blocks.into_iter().map(|(block, cells)| Block {
            prompt,
            block,
            cells: CellBlock::pack(&cells),
        }));
    }
    packed
}

/// Numbers that are the same each time (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % u64::from(bound)) as u32
    }
}

/// Returns an answer that mentions up to 4 of 6 brands and cites 6 pages: of the 24 that a prompt has at an engine, a third are
/// those of all engines, and domains are shared between prompts.
fn facts(random: &mut Random, prompt: u32, series: u32) -> Facts {
    let mentioned = random.below(5);
    let first = random.below(6);
    let brands = (0..mentioned).map(|id| BrandFact {
        brand: ((first + id) % 6).to_string(),
        is_own: (first + id).is_multiple_of(6),
        position: Some(id + 1),
        sentiment_milli: Some(i64::from(random.below(100_000))),
    });
    let brands = brands.collect();
    let sources = (0..6).map(|_| {
        let drawn = random.below(24).min(random.below(24));
        let engine = if drawn < 8 { 0 } else { series + 1 };
        let domain = (prompt * 7 + drawn * 13 + engine * 31) % 2_000;
        let domain = if drawn < 4 { domain % 40 } else { domain };
        SourceFact {
            domain: format!("website-{domain}.example"),
            url_key: format!("https://www.website-{domain}.example/articles/about/{prompt}-{drawn}-{engine}"),
            class: match domain {
                0 => SourceClass::Owned,
                1..5 => SourceClass::Competitor,
                _ => SourceClass::ThirdParty,
            },
            source_type: None,
            brand: (domain < 5).then(|| domain.to_string()),
        }
    });
    Facts {
        status: AnswerStatus::Ok,
        probe: false,
        may_lack_overview: false,
        sources: Some(sources.collect()),
        brands: Some(brands),
    }
}

fn overview_millis(blocks: &[Block]) -> f64 {
    let prompts: Vec<PromptInfo> = (0..PROMPTS)
        .map(|id| PromptInfo {
            id: id.to_string(),
            class: PromptClass::NonBranded,
            archived: false,
            first_day: 0,
            archived_day: None,
        })
        .collect();
    let series: Vec<SeriesInfo> = (0..SERIES)
        .map(|id| SeriesInfo {
            id: id.into(),
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
    let period = DayRange { from: 90, to: 179 };
    let start = Instant::now();
    let cells: Vec<PromptCells<'_>> = blocks
        .iter()
        .map(|block| PromptCells {
            prompt: block.prompt,
            cells: block.cells.bytes(block.block),
        })
        .collect();
    let overview = compute(&OverviewInput {
        project: b"project",
        period,
        previous: period.previous(),
        cells: &cells,
        prompts: &prompts,
        series: &series,
        brands: &brands,
        class: Some(PromptClass::NonBranded),
    });
    assert!(overview.is_ok_and(|overview| overview.kpis.answers == 675_000));
    start.elapsed().as_secs_f64() * 1000.0
}

fn opportunity_millis(blocks: &[Block]) -> f64 {
    let days = 152..=179;
    let start = Instant::now();
    let wanted = blocks_of(&days);
    let mut rows = Vec::new();
    for block in blocks.iter().filter(|block| wanted.contains(&block.block)) {
        let sums = block.cells.bytes(block.block).sums_by_series(&days);
        rows.extend(sums.into_iter().flatten().map(|(series, cell)| SeriesCell {
            prompt: block.prompt,
            series: series as u32,
            cell,
        }));
    }
    assert!(!opportunities::prompts(&rows).is_empty() || !opportunities::pages(&rows).is_empty());
    start.elapsed().as_secs_f64() * 1000.0
}
