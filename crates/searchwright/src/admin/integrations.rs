//! `searchwright admin integration …`: publishing providers, connected on the server itself.

use std::{collections::BTreeMap, io::Read as _};

use clap::Subcommand;
use searchwright_cli::{CliError, Exit};
use searchwright_contract::integrations::Provider;
use searchwright_server::{config::Flags, open};

use super::{pair, project, refused, show};
use crate::settings::settings;

/// Longest file of secrets that is read.
const MAX_BYTES: u64 = 64 * 1024;

/// Publishing providers.
#[derive(Clone, Debug, Subcommand)]
pub enum IntegrationCommand {
    /// Connect a publishing provider to a project, replacing an existing connection. The credentials are checked with
    /// the provider.
    #[command(
        after_help = "What each provider asks for is on the page that `integrations connect` makes, and in docs/integrations.md. Secrets are read as \
        one JSON object by their names, such as {\"password\": \"…\"}."
    )]
    Connect {
        /// Project id.
        #[arg(long)]
        project: String,
        /// wordpress, ghost, webflow, shopify, wix, notion, contentful, strapi, directus, git, files or webhook.
        #[arg(long)]
        provider: String,
        /// Setting that is not secret, such as `siteUrl=https://blog.example.com`; may be repeated.
        #[arg(long = "setting", value_name = "NAME=VALUE", value_parser = pair)]
        settings: Vec<(String, String)>,
        /// File with the secrets as JSON, or - for standard input.
        #[arg(long)]
        secret_file: Option<String>,
        #[command(flatten)]
        flags: Flags,
    },
}

/// Runs the command.
pub async fn run(command: IntegrationCommand, json: bool) -> Result<Exit, CliError> {
    let IntegrationCommand::Connect {
        project: id,
        provider,
        settings: entered,
        secret_file,
        flags,
    } = command;
    check_provider(&provider)?;
    let secrets = secret_file
        .as_deref()
        .map(secrets)
        .transpose()?
        .unwrap_or_default();
    let entered: BTreeMap<String, String> = entered.into_iter().chain(secrets).collect();
    let configured = settings(&flags)?;
    let failed = |e: open::OpenError| CliError::new(Exit::Failed, e.to_string());
    let installation = super::open(&flags).await?;
    let engine = installation.engine.clone();
    engine.publish_with(
        open::publishing(&configured, vec![configured.listen, configured.mcp_listen]).map_err(failed)?,
    );
    let connected = engine.connect(project(&id)?, &provider, entered).await;
    engine.db.close().await;
    let connected = connected.map_err(refused)?;
    let account = connected.account.as_deref().filter(|account| !account.is_empty());
    let account = account.map_or_else(String::new, |account| format!(" as {account}"));
    show(
        json,
        &serde_json::json!({ "provider": connected.provider, "connectionId": connected.id, "account": connected.account }),
        &format!(
            "{} is connected{account}, connection {}",
            connected.provider, connected.id
        ),
    )
}

/// Refuses a word that is no provider, and names those that can be connected.
fn check_provider(word: &str) -> Result<(), CliError> {
    if word.parse::<Provider>().is_ok() {
        return Ok(());
    }
    let known: Vec<&str> = Provider::ALL
        .iter()
        // Framer has no API for publishing.
        .filter(|provider| **provider != Provider::Framer)
        .map(|provider| provider.as_str())
        .collect();
    let text = format!("--provider: {word:?} is not one of {}", known.join(", "));
    Err(CliError::new(Exit::Usage, text).hint("docs/integrations.md says what each of them asks for"))
}

fn secrets(file: &str) -> Result<BTreeMap<String, String>, CliError> {
    let bad = |why: String| CliError::new(Exit::Usage, format!("--secret-file {file}: {why}"));
    let mut text = String::new();
    let read = if file == "-" {
        std::io::stdin().take(MAX_BYTES).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|f| f.take(MAX_BYTES).read_to_string(&mut text))
    };
    read.map_err(|e| bad(e.to_string()))?;
    // What is wrong with it is not repeated: it is a secret.
    serde_json::from_str(&text)
        .map_err(|_| bad("is not a JSON object of texts, such as {\"password\": \"…\"}".to_owned()))
}
