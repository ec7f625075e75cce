//! `searchwright admin quota …` and `admin budget …`: limits of a project.

use clap::Subcommand;
use searchwright_cli::{CliError, Exit};
use searchwright_server::{admin::limits::micros_of_usd, config::Flags};

use super::{open, project, refused, show};

/// Quotas.
#[derive(Clone, Debug, Subcommand)]
pub enum QuotaCommand {
    /// Set a monthly quota of a project.
    Set {
        /// Project id.
        #[arg(long)]
        project: String,
        /// Metric that is counted, such as posts_generated.
        #[arg(long)]
        metric: String,
        /// Maximum per calendar month (UTC), or unlimited.
        #[arg(long, value_parser = count)]
        limit: Limit<i64>,
        #[command(flatten)]
        flags: Flags,
    },
}

/// Budgets.
#[derive(Clone, Debug, Subcommand)]
pub enum BudgetCommand {
    /// Set the monthly budget of a project at a provider, or its daily budget at all providers.
    Set {
        /// Project id.
        #[arg(long)]
        project: String,
        /// Provider that charges, such as openai.
        #[arg(long, required_unless_present = "per_day", conflicts_with = "per_day")]
        provider: Option<String>,
        /// Budget per day (UTC) at all providers together.
        #[arg(long)]
        per_day: bool,
        /// Maximum in US dollars per calendar month or day (UTC), or unlimited.
        #[arg(long, value_parser = amount)]
        usd: Limit<String>,
        #[command(flatten)]
        flags: Flags,
    },
}

/// A limit, `None` for none. A type of its own, because clap reads `Option` as "may be left out".
#[derive(Clone, Debug)]
pub struct Limit<T>(Option<T>);

fn count(text: &str) -> Result<Limit<i64>, String> {
    match text {
        "unlimited" => Ok(Limit(None)),
        _ => text
            .parse()
            .map(|n| Limit(Some(n)))
            .map_err(|_| "is neither a number nor unlimited".to_owned()),
    }
}

fn amount(text: &str) -> Result<Limit<String>, String> {
    Ok(Limit((text != "unlimited").then(|| text.to_owned())))
}

/// Runs a command about quotas.
pub async fn quota(command: QuotaCommand, json: bool) -> Result<Exit, CliError> {
    let QuotaCommand::Set {
        project: id,
        metric,
        limit,
        flags,
    } = command;
    let installation = open(&flags).await?;
    let set = installation
        .engine
        .set_quota(project(&id)?, &metric, limit.0)
        .await;
    installation.engine.db.close().await;
    let set = set.map_err(refused)?;
    let most = set
        .limit
        .map_or("unlimited".to_owned(), |l| format!("at most {l}"));
    show(
        json,
        &serde_json::json!(set),
        &format!("{} per month: {most}", set.metric),
    )
}

/// Runs a command about budgets.
pub async fn budget(command: BudgetCommand, json: bool) -> Result<Exit, CliError> {
    let BudgetCommand::Set {
        project: id,
        provider,
        usd,
        flags,
        per_day: _,
    } = command;
    let micros = usd.0.as_deref().map(micros_of_usd).transpose().map_err(refused)?;
    let installation = open(&flags).await?;
    let (engine, id) = (&installation.engine, project(&id)?);
    let set = match &provider {
        Some(provider) => engine.set_budget(id, provider, micros).await,
        None => engine.set_daily_budget(id, micros).await,
    };
    installation.engine.db.close().await;
    let set = set.map_err(refused)?;
    let most = usd
        .0
        .map_or("unlimited".to_owned(), |usd| format!("at most {usd} USD"));
    show(
        json,
        &serde_json::json!(set),
        &match set.provider {
            Some(provider) => format!("{provider} per month: {most}"),
            None => format!("all providers per day: {most}"),
        },
    )
}
