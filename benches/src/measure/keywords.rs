//! Keywords in numbers: how fast a file of them is taken in, and whether lists stay as fast among a million as
//! among a thousand. The plans of the lists are printed, because a figure alone does not say why.

use std::{fmt::Write as _, path::Path, time::Instant};

use anyhow::{Context, Result};
use searchwright_contract::keywords::{Intent, KeywordSort, KeywordStatus};
use searchwright_store::keywords::{KeywordQuery, ListPart, list_text};
use serde_json::json;
use xtask::postgres::{Binaries, Postgres};

use super::{http::new_database, keyword_generation};
use crate::{
    Effort,
    product::{Api, Database, Installation},
    report::{Figure, Report, Target, median},
};

/// Keywords of the small and the large project.
const FEW: usize = 1_000;
const MANY: usize = 1_000_000;
/// Rows of one file.
const FILE: usize = 100_000;
/// Times each list is asked for.
const TIMES: usize = 200;

/// Lists of 100: what is asked for, and the same as the store knows it.
fn lists() -> Vec<(&'static str, KeywordQuery)> {
    let query = |sort, status, intent| KeywordQuery {
        sort: Some(sort),
        status,
        intent,
        limit: 100,
        ..KeywordQuery::default()
    };
    let (new, commercial) = (Some(KeywordStatus::New), Some(Intent::Commercial));
    vec![
        ("", query(KeywordSort::Created, None, None)),
        ("&status=new", query(KeywordSort::Created, new, None)),
        (
            "&intent=commercial",
            query(KeywordSort::Created, None, commercial),
        ),
        ("&sort=searchVolume", query(KeywordSort::SearchVolume, None, None)),
        (
            "&sort=searchVolume&status=new&intent=commercial",
            query(KeywordSort::SearchVolume, new, commercial),
        ),
        (
            "&sort=keywordDifficulty",
            query(KeywordSort::KeywordDifficulty, None, None),
        ),
        (
            "&sort=score&intent=commercial",
            query(KeywordSort::Score, None, commercial),
        ),
    ]
}

/// Measures both databases.
pub fn run(effort: &Effort, report: &mut Report) -> Result<()> {
    keyword_generation::run(effort, report)?;
    let installation = Installation::new("keywords-sqlite", Database::Folder)?;
    measure("SQLite", &installation, report)?;
    explain_sqlite(&installation.folder().join("data/searchwright.sqlite"))?;
    if effort.no_postgres {
        return Ok(());
    }
    let postgres = Postgres::start(Binaries::find_or_install()?)?;
    let url = new_database(&postgres, "keywords")?;
    let installation = Installation::new("keywords-postgresql", Database::Postgres(url.clone()))?;
    measure("PostgreSQL", &installation, report)?;
    explain_postgres(&url)
}

fn measure(name: &str, installation: &Installation, report: &mut Report) -> Result<()> {
    let _server = installation.start()?;
    let api = |domain| Api::new(installation.origin(), installation.project(domain)?);
    let (small, large) = (api("small.example")?, api("large.example")?);
    small.post("keywords/import", &json!({ "file": file(0, FEW) }))?;
    let mut rates = Vec::new();
    for first in (0..MANY).step_by(FILE) {
        let body = json!({ "file": file(first, FILE) });
        let begun = Instant::now();
        let told = large.post("keywords/import", &body)?;
        rates.push(FILE as f64 / begun.elapsed().as_secs_f64());
        let created = told.get("created").and_then(serde_json::Value::as_u64);
        anyhow::ensure!(created == Some(FILE as u64), "not all rows were new: {told}");
    }
    report.add(Figure {
        name: format!("keywords imported, {FILE} a file, {name}"),
        unit: "rows/s",
        baseline: Vec::new(),
        product: rates,
        target: if name == "SQLite" {
            Target::AtLeast(20_000.0)
        } else {
            Target::Shown
        },
    });
    for (filters, _) in lists() {
        let path = format!("keywords?limit=100{filters}");
        let (mut few, mut many) = (Vec::new(), Vec::new());
        // in turn, so that what else the machine does meets both
        for _ in 0..TIMES {
            few.push(micros(&small, &path)?);
            many.push(micros(&large, &path)?);
        }
        report.add(Figure {
            name: format!("list of 100{filters}, {MANY} to {FEW}, {name}"),
            unit: "us",
            baseline: vec![median(&few).context("nothing was asked")?],
            product: vec![median(&many).context("nothing was asked")?],
            target: Target::RatioBelow(1.2),
        });
    }
    Ok(())
}

fn micros(api: &Api, path: &str) -> Result<f64> {
    let begun = Instant::now();
    api.get(path)?;
    Ok(begun.elapsed().as_secs_f64() * 1e6)
}

/// A file as Semrush writes it.
fn file(first: usize, rows: usize) -> String {
    let intents = ["Informational", "Commercial", "Transactional", "Navigational"];
    let mut file = String::from("Keyword,Intent,Volume,Keyword Difficulty,CPC (USD)\n");
    for i in first..first + rows {
        let _ = writeln!(
            file,
            "how to choose product {i} in {} steps,{},{},{},0.{}",
            i % 17,
            intents[i % 4],
            i * 37 % 90_000,
            i % 101,
            i % 99
        );
    }
    file
}

fn explain_sqlite(database: &Path) -> Result<()> {
    let connection = rusqlite::Connection::open(database)?;
    for (filters, query) in lists() {
        let mut statement = connection.prepare(&format!(
            "EXPLAIN QUERY PLAN {}",
            list_text(&query, ListPart::Known, false)
        ))?;
        // without parameters: the plan does not depend on them
        let mut steps = statement.raw_query();
        eprintln!("SQLite, list{filters}");
        while let Some(step) = steps.next()? {
            eprintln!("    {}", step.get::<_, String>(3)?);
        }
    }
    Ok(())
}

fn explain_postgres(url: &str) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
        let connection = tokio::spawn(connection);
        // the plan that serves every project, as a prepared statement comes to have
        client
            .batch_execute("ANALYZE keywords; SET plan_cache_mode = force_generic_plan")
            .await?;
        for (at, (filters, query)) in lists().into_iter().enumerate() {
            let types = "(uuid, bigint, uuid, bigint, text, text, text, uuid)";
            client
                .batch_execute(&format!(
                    "PREPARE list{at} {types} AS {}",
                    list_text(&query, ListPart::Known, true)
                ))
                .await?;
            let nobody = "NULL, NULL, NULL, 100, NULL, NULL, NULL, NULL";
            let plan = client
                .query(&format!("EXPLAIN (COSTS OFF) EXECUTE list{at} ({nobody})"), &[])
                .await?;
            eprintln!("PostgreSQL, list{filters}");
            for step in plan {
                eprintln!("    {}", step.get::<_, String>(0));
            }
        }
        drop(client);
        connection.await??;
        Ok(())
    })
}
