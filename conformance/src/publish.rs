//! Publishing to real content management systems, directly and through a network that spoils requests, while the product is killed.

pub(crate) mod cms;
mod directus;
mod fault_load;
mod ghost;
pub(crate) mod http;
mod image_server;
pub(crate) mod installation;
mod product;
mod proxy;
mod scenario;
mod self_test;
pub(crate) mod step_results;
mod strapi;
pub(crate) mod wordpress;

use std::{fs, io, path::PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;

use cms::Cms;
use directus::Directus;
use fault_load::FaultLoad;
use ghost::Ghost;
use product::CmsProduct;
use proxy::Proxy;
use scenario::CmsFixture;
use step_results::StepResults;
use strapi::Strapi;
use wordpress::WordPress;

/// Options of a run.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Only these: wordpress, wordpress-marker (with a meta field for marks), ghost, strapi, directus
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Posts published under faults at each; 0 leaves out all that takes more than minutes
    #[arg(long, default_value_t = 200)]
    publishes: usize,
    /// Another seed gives other faults
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Processes of the product; more than one share a PostgreSQL and are not only killed but also frozen
    #[arg(long, default_value_t = 1)]
    replicas: usize,
    /// This searchwright, instead of building one
    #[arg(long)]
    program: Option<PathBuf>,
    /// Starts them with nothing before them, says how they are entered, and waits until its input ends
    #[arg(long)]
    serve: bool,
}

/// Name and start function of a CMS.
type CmsKind = (&'static str, fn() -> Result<Box<dyn Cms>>);

const CMS_KINDS: [CmsKind; 5] = [
    ("wordpress", || {
        Ok(Box::new(WordPress::start("wordpress", false)?))
    }),
    ("wordpress-marker", || {
        Ok(Box::new(WordPress::start("wordpress-marker", true)?))
    }),
    ("ghost", || Ok(Box::new(Ghost::start()?))),
    ("strapi", || Ok(Box::new(Strapi::start()?))),
    ("directus", || Ok(Box::new(Directus::start()?))),
];

/// Runs every step with each CMS; fails if one is not as expected.
pub(crate) fn check(options: &Options) -> Result<()> {
    for name in &options.only {
        ensure!(
            CMS_KINDS.iter().any(|(kind, _)| kind == name),
            "there is no {name} here"
        );
    }
    let chosen = CMS_KINDS
        .iter()
        .filter(|(name, _)| options.only.is_empty() || options.only.iter().any(|only| only == name))
        .map(|(name, start)| start().with_context(|| format!("cannot start {name}")));
    if options.serve {
        return serve(&chosen.collect::<Result<Vec<_>>>()?);
    }
    let images = image_server::serve()?;
    let mut table = StepResults::default();
    for cms in chosen {
        compare(&mut *cms?, &images, options, &mut table)?;
    }
    eprintln!("\n{table}");
    table.check()
}

fn serve(all: &[Box<dyn Cms>]) -> Result<()> {
    for cms in all {
        eprintln!("{:<17} http://{}  {}", cms.name(), cms.address(), cms.secret());
    }
    eprintln!("end the input to stop them");
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

fn compare(cms: &mut dyn Cms, images: &str, options: &Options, table: &mut StepResults) -> Result<()> {
    table.add(cms.name(), "by itself", self_test::check(cms));
    let proxy = Proxy::start(cms.address(), options.seed)?;
    let allowed = [proxy.address(), cms.address(), images].map(str::to_owned);
    let product = CmsProduct::start(
        cms.name(),
        options.program.as_deref(),
        options.replicas,
        allowed.to_vec(),
    )?;
    let mut fixture = CmsFixture {
        product: &product,
        cms,
        proxy: &proxy,
        images,
    };
    if !scenario::run_steps(&mut fixture, table) {
        return Ok(());
    }
    if options.publishes > 0 {
        let load = FaultLoad {
            product: &product,
            cms: &*fixture.cms,
            proxy: &proxy,
            publishes: options.publishes,
            seed: options.seed,
        };
        load.run(table);
        scenario::run_slow_step(&mut fixture, table);
    }
    scenario::run_destructive_steps(&mut fixture, table);
    let log: String = proxy.log().iter().map(|entry| format!("{entry}\n")).collect();
    fs::write(product.folder().join("requests.log"), log)?;
    Ok(())
}
