//! `searchwright audits run`: one audit without a server, for build pipelines. No data is left behind.

use std::io::Write as _;

use clap::Args;
use searchwright_cli::{
    CliError, Client, Exit,
    export::{Format, Target},
    follow::{self, FailOn},
    output,
};
use searchwright_contract::audits::{Audit, AuditStatus, StartAudit};
use searchwright_server::{admin::Grant, config::Flags, serve};
use url::Url;

use crate::{
    admin::refused,
    report::to_text,
    settings::settings,
    try_it::{failed, private, website},
};

/// Rate limit in requests per minute, high enough not to slow down reading the results.
const UNHURRIED: u32 = 1_000_000;

/// Arguments of `audits run`.
#[derive(Clone, Debug, Args)]
pub struct RunAudit {
    /// URL of the website, without a path: an audit begins at the home page, and `--include '/path*'` limits it to a
    /// part. A private address given here may be crawled.
    target: String,
    /// Maximum number of pages to fetch.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_pages: u32,
    /// Maximum click depth from the start page.
    #[arg(long, value_parser = clap::value_parser!(u16).range(0..=100))]
    max_depth: Option<u16>,
    /// Crawl only URLs whose path and query match one of these patterns.
    #[arg(long)]
    include: Option<Vec<String>>,
    /// Skip URLs whose path and query match one of these patterns.
    #[arg(long)]
    exclude: Option<Vec<String>>,
    /// Include subdomains other than www., each with its own robots.txt.
    #[arg(long)]
    include_subdomains: bool,
    /// Threshold or severity for this audit, such as title-min=20 or severity.CHECK_ID=off; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    check: Vec<String>,
    /// Exit with 5 on error, warning, or score<N.
    #[arg(long, value_name = "WHAT")]
    fail_on: Option<FailOn>,
    /// Write the results in this format; a report for the terminal by default.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// File to write the results to, overwritten if it exists; standard output by default.
    #[arg(long, value_name = "FILE", requires = "format")]
    output: Option<std::path::PathBuf>,
    /// Private address that outbound requests may reach in addition to the website: PURPOSE=HOST:PORT.
    #[arg(long, value_name = "PURPOSE=HOST:PORT")]
    allow_outbound: Vec<String>,
    /// Login of the website behind HTTP Basic authentication, such as a staging site: https://USER:PASSWORD@HOST.
    #[arg(
        long = "site-login",
        env = "SEARCHWRIGHT_SITE_LOGIN",
        value_name = "URL",
        value_delimiter = ',',
        hide_env_values = true
    )]
    site_logins: Vec<String>,
    /// Log level: error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    log: String,
    /// Any other setting: NAME=VALUE.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
}

/// Audits a website and reports the results.
pub async fn run(mut run: RunAudit, json: bool) -> Result<Exit, CliError> {
    let target = website(&run.target, "--include")?;
    let own = private(&target).map(|private| format!("crawl={private}"));
    let folder = tempfile::tempdir().map_err(failed)?;
    // An installation of this user is neither asked nor touched.
    let flags = Flags {
        data_dir: Some(folder.path().to_owned()),
        allow_outbound: std::mem::take(&mut run.allow_outbound)
            .into_iter()
            .chain(own)
            .collect(),
        site_logins: std::mem::take(&mut run.site_logins),
        log: Some(run.log.clone()),
        set: std::mem::take(&mut run.set),
        ..Flags::default()
    };
    let mut settings = settings(&flags)?;
    for address in [&mut settings.listen, &mut settings.mcp_listen] {
        *address = ([127, 0, 0, 1], 0).into();
    }
    // The folder is gone when the audit has ended.
    settings.backups.every_hours = 0;
    settings.limits.requests_per_minute = UNHURRIED;
    settings.limits.requests_per_minute_and_project = UNHURRIED;
    // The folder is removed whenever the signal comes.
    let interrupted = serve::signalled();
    let server = serve::start(settings).await.map_err(failed)?;
    let outcome = tokio::select! {
        biased;
        () = interrupted => Err(given_up()),
        outcome = audit(&server, &target, &run, json) => outcome,
    };
    server.stop().await;
    outcome
}

/// Error of an audit that was interrupted.
fn given_up() -> CliError {
    CliError::new(
        Exit::Interrupted,
        "interrupted: the audit is given up, and nothing of it is left",
    )
    .hint("run it again; --max-pages makes it shorter")
}

async fn audit(server: &serve::Server, target: &Url, run: &RunAudit, json: bool) -> Result<Exit, CliError> {
    let engine = &server.app.engine;
    let domain = target.origin().ascii_serialization();
    let project = engine.project_for(&domain).await.map_err(failed)?;
    engine.set_checks(project, &run.check).await.map_err(refused)?;
    let grant = Grant {
        scopes: Vec::new(),
        read_only: false,
        lifetime_millis: None,
    };
    let key = engine
        .replace_key(project, "audits run", grant)
        .await
        .map_err(failed)?;
    let client = Client::new(&format!("http://{}", server.addresses.api), &key.key)?;
    let start = StartAudit {
        project_id: project.to_string(),
        max_pages: Some(run.max_pages),
        max_depth: run.max_depth,
        include: run.include.clone(),
        exclude: run.exclude.clone(),
        include_subdomains: Some(run.include_subdomains),
    };
    let started = client.call(&start).await?;
    let audit = follow::audit(&client, started.audit, given_up).await?;
    if matches!(audit.status, AuditStatus::Failed | AuditStatus::Cancelled) {
        let why = audit
            .error
            .as_ref()
            .map_or_else(|| audit.status.to_string(), |error| error.message.clone());
        return Err(CliError::new(
            Exit::Failed,
            format!("the audit of {domain} did not succeed: {why}"),
        ));
    }
    show(&client, &audit, run, json).await?;
    run.fail_on.map_or(Ok(Exit::Done), |fail_on| fail_on.exit(&audit))
}

async fn show(client: &Client, audit: &Audit, run: &RunAudit, json: bool) -> Result<(), CliError> {
    if let Some(format) = run.format.or(json.then_some(Format::Json)) {
        let target = Target {
            format,
            output: run.output.clone(),
        };
        target.write(client, audit).await?;
        if run.output.is_none() {
            return Ok(());
        }
        if json {
            let audit =
                serde_json::to_value(audit).map_err(|e| CliError::new(Exit::Failed, e.to_string()))?;
            return output::print("audits.get", &audit, true);
        }
    }
    let text = to_text(client, audit.project_id, audit).await?;
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(())
}
