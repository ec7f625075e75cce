//! Lists, single records and durable creates over HTTP, on SQLite and on PostgreSQL.

use anyhow::{Context, Result};
use serde_json::Value;
use xtask::{
    postgres::{Binaries, Postgres},
    process::{Running, free_port},
};

use crate::{
    Effort,
    load::{Load, Outcome},
    product::{Access, Api, Database, Installation, prepared_keywords, start_baseline, text},
    report::{Figure, Report, Target},
};

/// One side of a comparison while its server runs.
pub(super) struct Side {
    /// Held so that the server lives as long as the side.
    _server: Running,
    /// Address of the list, without a query.
    keywords: String,
    /// Query of a list of fifty.
    fifty: &'static str,
    /// Id of a record to read.
    id: String,
    authorization: Option<String>,
    /// `Authorization` with an OAuth token, at the product.
    oauth: Option<String>,
}

impl Side {
    /// A side whose list is asked with `limit`.
    pub(super) const fn new(
        server: Running,
        keywords: String,
        id: String,
        authorization: Option<String>,
    ) -> Self {
        Self {
            _server: server,
            keywords,
            fifty: "limit=50",
            id,
            authorization,
            oauth: None,
        }
    }

    /// Returns the side with another query of a list of fifty.
    pub(super) const fn with_list(mut self, query: &'static str) -> Self {
        self.fifty = query;
        self
    }
}

/// Call that is sent to both sides.
#[derive(Clone, Copy)]
pub(super) enum Call {
    List,
    One,
    Create,
}

impl Call {
    pub(super) const ALL: [(Self, &str, f64); 3] = [
        (Self::List, "GET keywords?limit=50", 0.6),
        (Self::One, "GET keywords/{id}", 0.5),
        (Self::Create, "POST keywords, durable", 0.5),
    ];

    pub(super) fn load(self, side: &Side, round: u32) -> Load {
        let url = match self {
            Self::List => format!("{}?{}", side.keywords, side.fifty),
            Self::One => format!("{}/{}", side.keywords, side.id),
            Self::Create => side.keywords.clone(),
        };
        let post = matches!(self, Self::Create).then(|| format!("round {round}"));
        Load {
            url,
            authorization: side.authorization.clone(),
            post,
            keyed: false,
        }
    }
}

/// Measures all calls on both databases.
pub fn run(effort: &Effort, report: &mut Report) -> Result<()> {
    let folder = xtask::target().join("bench").join("baseline");
    crate::product::clean(&folder)?;
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("baseline.db");
    let file = file.to_str().context("the target folder's name is not UTF-8")?;
    compare(
        "SQLite",
        effort,
        report,
        &["baseline-sqlite", "--database", file],
        Database::Folder,
    )?;
    if effort.no_postgres {
        return Ok(());
    }
    let postgres = Postgres::start(Binaries::find_or_install()?)?;
    let baseline = new_database(&postgres, "baseline")?;
    let product = new_database(&postgres, "product")?;
    let arguments = ["baseline-postgres", "--database-url", &baseline];
    compare(
        "PostgreSQL",
        effort,
        report,
        &arguments,
        Database::Postgres(product),
    )
}

fn compare(
    name: &str,
    effort: &Effort,
    report: &mut Report,
    arguments: &[&str],
    database: Database,
) -> Result<()> {
    eprintln!("preparing {name}");
    let baseline = baseline(arguments)?;
    let product = if effort.baseline_only {
        None
    } else {
        Some(product(name, database)?)
    };
    for (call, title, bound) in Call::ALL {
        let mut figure = Figure {
            name: format!("{title}, {name}"),
            unit: "req/s",
            baseline: Vec::new(),
            product: Vec::new(),
            target: Target::RatioAtLeast(bound),
        };
        for round in 0..effort.rounds {
            figure
                .baseline
                .push(call.load(&baseline, round).run(effort.seconds)?);
            if let Some(product) = &product {
                figure
                    .product
                    .push(call.load(product, round).run(effort.seconds)?);
            }
        }
        report.add(figure);
    }
    let Some(product) = &product else {
        return Ok(());
    };
    compare_credentials(name, effort, report, product)?;
    measure_durable_writes(name, effort, report, product)
}

/// Measures how long single writes wait, and what an Idempotency-Key costs.
fn measure_durable_writes(name: &str, effort: &Effort, report: &mut Report, product: &Side) -> Result<()> {
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for round in 0..effort.rounds {
        let mut load = Call::Create.load(product, round);
        load.post = Some(format!("plain {round}"));
        without.push(load.outcome(effort.seconds)?);
        load.post = Some(format!("keyed {round}"));
        load.keyed = true;
        with.push(load.outcome(effort.seconds)?);
    }
    let column = |of: fn(&Outcome) -> f64, outcomes: &[Outcome]| outcomes.iter().map(of).collect::<Vec<_>>();
    report.add(Figure {
        name: format!("POST keywords with an Idempotency-Key, beside without, {name}"),
        unit: "req/s",
        baseline: column(|outcome| outcome.rate, &without),
        product: column(|outcome| outcome.rate, &with),
        target: Target::RatioAtLeast(0.9),
    });
    for (title, outcomes) in [("without a key", &without), ("with a key", &with)] {
        report.add(Figure {
            name: format!("POST keywords {title}, 99th percentile beside the median, {name}"),
            unit: "ms",
            baseline: column(|outcome| outcome.half, outcomes),
            product: column(|outcome| outcome.most, outcomes),
            target: Target::Below(25.0),
        });
    }
    Ok(())
}

/// Measures one call with an API key and with an OAuth token.
fn compare_credentials(name: &str, effort: &Effort, report: &mut Report, product: &Side) -> Result<()> {
    let mut figure = Figure {
        name: format!("GET keywords/{{id}} with an OAuth token, beside an API key, {name}"),
        unit: "req/s",
        baseline: Vec::new(),
        product: Vec::new(),
        target: Target::RatioAtLeast(0.9),
    };
    for round in 0..effort.rounds {
        let key = Call::One.load(product, round);
        let token = Load {
            authorization: product.oauth.clone(),
            ..key.clone()
        };
        figure.baseline.push(key.run(effort.seconds)?);
        figure.product.push(token.run(effort.seconds)?);
    }
    report.add(figure);
    Ok(())
}

fn baseline(arguments: &[&str]) -> Result<Side> {
    let port = free_port()?;
    let server = start_baseline(arguments, port)?;
    let origin = format!("http://127.0.0.1:{port}");
    let nobody = Access {
        project: String::new(),
        authorization: String::new(),
    };
    let first = Api::new(origin.clone(), nobody)?.get_at(&format!("{origin}/keywords?limit=1"))?;
    Ok(Side::new(
        server,
        format!("{origin}/keywords"),
        first_id(&first)?,
        None,
    ))
}

/// The product with the keywords.
pub(super) fn product(name: &str, database: Database) -> Result<Side> {
    let installation = Installation::new(&format!("http-{}", name.to_lowercase()), database)?;
    let server = installation.start()?;
    let access = installation.project("example.com")?;
    let api = Api::new(installation.origin(), access.clone())?;
    api.post_all("keywords", &prepared_keywords())?;
    let first = api.get("keywords?limit=1")?;
    let side = Side::new(
        server,
        api.url("keywords"),
        first_id(&first)?,
        Some(access.authorization),
    );
    Ok(Side {
        oauth: Some(installation.oauth_authorization()?),
        ..side
    })
}

fn first_id(page: &Value) -> Result<String> {
    text(page.pointer("/data/0").context("the list is empty")?, "id")
}

/// Makes a database in the private server; its URL.
pub(super) fn new_database(postgres: &Postgres, name: &str) -> Result<String> {
    let url = postgres.url();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await?;
        let connection = tokio::spawn(connection);
        client.batch_execute(&format!("CREATE DATABASE {name}")).await?;
        drop(client);
        connection.await??;
        let (server, _) = url.rsplit_once('/').context("not a PostgreSQL URL")?;
        Ok(format!("{server}/{name}"))
    })
}
