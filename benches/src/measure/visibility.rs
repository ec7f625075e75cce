//! Overview and opportunities over 675,000 answers and as many before them, and access logs read by the command.

use std::{collections::BTreeMap, fs::File, io::BufWriter, path::Path, time::Instant};

use anyhow::{Context, Result, ensure};
use flate2::{Compression, write::GzEncoder};
use searchwright_contract::Clock;
use searchwright_store::{Db, Settings, Tx, sql};
use searchwright_visibility::{
    cells::{AnswerStatus, BrandFact, Cell, CellBlock, CellKey, Facts, SourceFact, block_of},
    sources::SourceClass,
};
use serde_json::{Value, json};
use tokio::runtime::Builder;
use uuid::Uuid;
use xtask::{
    postgres::{Binaries, Postgres},
    random::Random,
};

use super::http::new_database;
use crate::{
    Effort,
    product::{Api, Database, Installation, command, text},
    report::{Figure, Report, Target},
};

const PROMPTS: u32 = 500;
const ENGINES: [&str; 5] = ["chatgpt", "claude", "gemini", "perplexity", "grok"];
/// Both periods.
const DAYS: i32 = 180;
/// Answers of an engine to a prompt on a day.
const SAMPLES: u32 = 3;
const COMPETITORS: usize = 5;
/// Requests of one round, of which the 95th percentile and the median count.
const REQUESTS: usize = 20;
/// Lines of the log.
const LINES: u32 = 3_000_000;

/// Measures both databases, and the command.
pub fn run(effort: &Effort, report: &mut Report) -> Result<()> {
    let installation = Installation::new("visibility-sqlite", Database::Folder)?;
    let file = installation.folder().join("data/searchwright.sqlite");
    measure("SQLite", effort, &installation, &Settings::Sqlite(file), report)?;
    if !effort.no_postgres {
        let postgres = Postgres::start(Binaries::find_or_install()?)?;
        let url = new_database(&postgres, "visibility")?;
        let place = Settings::Postgres {
            url: url.clone(),
            connections: 2,
        };
        let installation = Installation::new("visibility-postgresql", Database::Postgres(url))?;
        measure("PostgreSQL", effort, &installation, &place, report)?;
    }
    logs(effort, installation.folder(), report)
}

fn measure(
    name: &str,
    effort: &Effort,
    installation: &Installation,
    place: &Settings,
    report: &mut Report,
) -> Result<()> {
    let _running = installation.start()?;
    let access = installation.project("brand.example")?;
    let project = Uuid::try_parse(&access.project)?;
    let api = Api::new(installation.origin(), access)?;
    let competitors = (0..COMPETITORS).map(
        |n| json!({ "name": format!("Competitor {n}"), "domain": format!("website-{}.example", n + 1) }),
    );
    let items: Vec<Value> = competitors.collect();
    let made = api.post("brand/competitors", &json!({ "items": items }))?;
    let mut brands = vec!["own".to_owned()];
    for item in made["data"].as_array().context("no competitors were made")? {
        brands.push(text(&item["item"], "id")?);
    }
    let mut prompts = Vec::new();
    for n in 0..PROMPTS {
        let question = format!("Which standing desk is stable enough for two monitors in room {n}?");
        let made = api.post("visibility/prompts", &json!({ "text": question }))?;
        prompts.push(Uuid::try_parse(&text(&made, "id")?)?);
    }
    fill(place, project, &prompts, &brands)?;
    let overview = api.get("visibility/overview?period=90d")?;
    let answers = f64::from(PROMPTS) * 90.0 * ENGINES.len() as f64 * f64::from(SAMPLES);
    ensure!(
        overview["kpis"]["answers"].as_f64() == Some(answers),
        "the overview counts {} answers",
        overview["kpis"]["answers"]
    );
    let of_answers = "675,000 answers and as many before";
    let paths = [
        (
            "visibility/overview?period=90d",
            format!("overview of {of_answers}"),
            150.0,
        ),
        (
            "visibility/opportunities?limit=50",
            "opportunities of 210,000 answers".to_owned(),
            300.0,
        ),
    ];
    for (path, what, bound) in paths {
        let (mut medians, mut slowest) = (Vec::new(), Vec::new());
        for _ in 0..effort.rounds {
            let times = times(&api, path)?;
            medians.push(times[REQUESTS / 2]);
            slowest.push(times[REQUESTS * 95 / 100 - 1]);
        }
        report.add(Figure {
            name: format!("{what}, 95th percentile, {name}"),
            unit: "ms",
            baseline: Vec::new(),
            product: slowest,
            target: Target::Below(bound),
        });
        report.add(Figure {
            name: format!("{what}, median, {name}"),
            unit: "ms",
            baseline: Vec::new(),
            product: medians,
            target: Target::Shown,
        });
    }
    Ok(())
}

/// Milliseconds of requests one after the other, in order of size.
fn times(api: &Api, path: &str) -> Result<Vec<f64>> {
    let mut times = Vec::with_capacity(REQUESTS);
    for _ in 0..REQUESTS {
        let begun = Instant::now();
        api.get(path)?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_unstable_by(f64::total_cmp);
    Ok(times)
}

/// Writes the counts of answers beside the server, as months of runs would have left them.
fn fill(place: &Settings, project: Uuid, prompts: &[Uuid], brands: &[String]) -> Result<()> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let db = runtime.block_on(Db::open(place))?;
    let today = (Clock::system().now().millis() / 86_400_000) as i32;
    let series = (1i64..)
        .zip(ENGINES)
        .map(|(id, engine)| vec![id.into(), engine.into()])
        .collect();
    let work = async move |tx: &mut Tx| -> searchwright_store::Result<()> {
        sql(
            "INSERT INTO answer_series (project_id, created_at, id, engine, surface, retrieval, model, variant)
             VALUES ($1, $2, $3, $4, 'api', 'auto', 'm', '')",
        )
        .bind(project)
        .bind(searchwright_contract::Instant::from_millis(0))
        .execute_each(tx, series)
        .await
        .map(drop)
    };
    runtime.block_on(db.write(move |tx| Box::pin(async move { work(tx).await })))?;
    let mut random = Random::new(1, 0);
    for (number, prompt) in (0u32..).zip(prompts) {
        let rows = cells(&mut random, number, today, brands)
            .into_iter()
            .map(|(block, cells)| {
                vec![
                    i64::from(block).into(),
                    (*prompt).into(),
                    cells.tallies.into(),
                    cells.maps.into(),
                    cells.gaps.into(),
                ]
            });
        let rows = rows.collect();
        let work = async move |tx: &mut Tx| -> searchwright_store::Result<()> {
            sql(
                "INSERT INTO answer_cells (project_id, block, prompt_id, tallies, maps, gaps) VALUES ($1, $2, $3, $4, $5, $6)",
            )
            .bind(project)
            .execute_each(tx, rows)
            .await
            .map(drop)
        };
        runtime.block_on(db.write(move |tx| Box::pin(async move { work(tx).await })))?;
    }
    let Settings::Postgres { url, .. } = place else {
        return Ok(());
    };
    // what PostgreSQL would do in the next minutes
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
        let connection = tokio::spawn(connection);
        client.batch_execute("VACUUM (ANALYZE) answer_cells").await?;
        client.batch_execute("CHECKPOINT").await?;
        drop(client);
        Ok(connection.await??)
    })
}

fn cells(random: &mut Random, prompt: u32, today: i32, brands: &[String]) -> BTreeMap<i32, CellBlock> {
    let mut blocks: BTreeMap<i32, BTreeMap<CellKey, Cell>> = BTreeMap::new();
    for day in today - DAYS + 1..=today {
        for series in 1..=ENGINES.len() as u32 {
            let mut cell = Cell::default();
            (0..SAMPLES).for_each(|_| cell.add(&facts(random, prompt, series, brands)));
            let key = CellKey {
                series: series.into(),
                day,
            };
            blocks.entry(block_of(day)).or_default().insert(key, cell);
        }
    }
    let packed = blocks
        .into_iter()
        .map(|(block, cells)| (block, CellBlock::pack(&cells)));
    packed.collect()
}

/// A number below a bound.
fn below(random: &mut Random, bound: u32) -> u32 {
    random.below(bound as usize) as u32
}

/// An answer that mentions up to 4 of 6 brands and cites 6 pages. A prompt has 24 pages at each engine, of which a third are those of
/// all engines, the first more often than the last. There are 2,000 domains, 40 of which have a part in each prompt.
fn facts(random: &mut Random, prompt: u32, series: u32, brands: &[String]) -> Facts {
    let mentioned = below(random, 5);
    let first = below(random, brands.len() as u32);
    let mentions = (0..mentioned).map(|n| {
        let place = (first + n) as usize % brands.len();
        BrandFact {
            brand: brands[place].clone(),
            is_own: place == 0,
            position: Some(n + 1),
            sentiment_milli: Some(i64::from(below(random, 100_000))),
        }
    });
    let mentions = mentions.collect();
    let sources = (0..6).map(|_| {
        let drawn = below(random, 24).min(below(random, 24));
        let engine = if drawn < 8 { 0 } else { series };
        let domain = (prompt * 7 + drawn * 13 + engine * 31) % 2_000;
        let domain = if drawn < 4 { domain % 40 } else { domain };
        SourceFact {
            domain: format!("website-{domain}.example"),
            url_key: format!("https://www.website-{domain}.example/articles/about/{prompt}-{drawn}-{engine}"),
            class: match domain as usize {
                0 => SourceClass::Owned,
                1..=COMPETITORS => SourceClass::Competitor,
                _ => SourceClass::ThirdParty,
            },
            source_type: None,
            brand: brands.get(domain as usize).cloned(),
        }
    });
    Facts {
        status: AnswerStatus::Ok,
        probe: false,
        may_lack_overview: false,
        sources: Some(sources.collect()),
        brands: Some(mentions),
    }
}

/// Measures `logs import` without a project, plain and gzip.
fn logs(effort: &Effort, folder: &Path, report: &mut Report) -> Result<()> {
    let plain = folder.join("access.log");
    let zipped = folder.join("access.log.gz");
    write_log(BufWriter::new(File::create(&plain)?))?;
    let mut encoder = GzEncoder::new(File::create(&zipped)?, Compression::default());
    std::io::copy(&mut File::open(&plain)?, &mut encoder)?;
    encoder.finish()?;
    for (file, kind) in [(&plain, "plain"), (&zipped, "gzip")] {
        let mut rates = Vec::new();
        for _ in 0..effort.rounds {
            let begun = Instant::now();
            let output = command()
                .args(["logs", "import", "--dry-run", "--json"])
                .arg(file)
                .output()?;
            let took = begun.elapsed().as_secs_f64();
            let said = String::from_utf8_lossy(&output.stderr);
            ensure!(output.status.success(), "logs import failed: {said}");
            let counted: Value = serde_json::from_slice(&output.stdout)?;
            ensure!(counted["lines"] == LINES, "{} lines were read", counted["lines"]);
            rates.push(f64::from(LINES) / took);
        }
        report.add(Figure {
            name: format!("lines of an access log, {kind}"),
            unit: "1/s",
            baseline: Vec::new(),
            product: rates,
            target: Target::AtLeast(300_000.0),
        });
    }
    Ok(())
}

/// Writes lines in the combined format: every fifth visit is of an agent, every hundredth comes from an assistant.
fn write_log(mut out: impl std::io::Write) -> Result<()> {
    let mut random = Random::new(2, 0);
    for n in 0..LINES {
        let agent = match random.below(10) {
            0 => {
                "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
            }
            1 => "Mozilla/5.0 (compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)",
            _ => {
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
            }
        };
        let referrer = match random.below(100) {
            0 => "https://chatgpt.com/",
            1..30 => "https://www.search.example/",
            _ => "-",
        };
        writeln!(
            out,
            "203.0.113.{} - - [{:02}/Nov/2026:{:02}:{:02}:{:02} +0000] \"GET /guides/desks/{}?page=2 HTTP/1.1\" 200 {} \"{referrer}\" \"{agent}\"",
            random.below(250),
            1 + n / (LINES / 28 + 1),
            random.below(24),
            random.below(60),
            random.below(60),
            random.below(3_000),
            random.below(60_000),
        )?;
    }
    out.flush()?;
    Ok(())
}
