//! `searchwright admin provider …`: accounts with language models, answer engines, sources of keyword data and page measurement
//! services.

use std::{collections::BTreeMap, io::Read as _};

use clap::Subcommand;
use searchwright_cli::{CliError, Exit};
use searchwright_server::{admin::providers::ProviderAccount, config::Flags};

use super::{open, pair, project, refused, show};

/// Longest secret that is read.
const MAX_BYTES: u64 = 64 * 1024;

/// Accounts with providers.
#[derive(Clone, Debug, Subcommand)]
pub enum ProviderCommand {
    /// Set an account of a project, replacing an existing one.
    #[command(
        after_help = "Secrets: openai, anthropic, gemini, perplexity, xai and pagespeed take an API key; dataforseo takes LOGIN:PASSWORD; google-ads takes JSON with \
        clientId, clientSecret, refreshToken and developerToken; search-console the same without developerToken; autocomplete takes none.\n\n\
        Settings: inputPrice and outputPrice (US dollars per million tokens) of models; customerId, loginCustomerId, version and currency of \
        google-ads; siteUrl of search-console; tokenUrl of both.\n\n\
        Settings of answer engines: searchPrice (US dollars per thousand searches, or requests of dataforseo); maxTokens of all models; maxSearches \
        of openai and anthropic; toolVersion of openai, anthropic and xai; retrieval (auto or forced) of openai, xai and the ChatGPT page of \
        dataforseo; effort of openai, perplexity and xai; contextSize (low, medium or high) of openai and perplexity; api (responses or chat) of \
        openai and perplexity; grounding (true or false) of gemini, which Google's terms may forbid to store; engines of dataforseo, such as \
        google_ai_overview,google_ai_mode,chatgpt,gemini."
    )]
    Set {
        /// Project id.
        #[arg(long)]
        project: String,
        /// openai (any compatible server), anthropic, gemini, dataforseo, google-ads, search-console, autocomplete, pagespeed,
        /// perplexity or xai.
        #[arg(long)]
        provider: String,
        /// File with the secret, or - for standard input; if left out, the stored secret is kept.
        #[arg(long)]
        secret_file: Option<String>,
        /// URL of the provider's API, such as http://127.0.0.1:11434/v1.
        #[arg(long)]
        base_url: Option<String>,
        /// Name of the model.
        #[arg(long)]
        model: Option<String>,
        /// A further setting; may be repeated.
        #[arg(long = "setting", value_name = "NAME=VALUE", value_parser = pair)]
        settings: Vec<(String, String)>,
        #[command(flatten)]
        flags: Flags,
    },
    /// List the accounts of a project, without their secrets.
    List {
        /// Project id.
        #[arg(long)]
        project: String,
        #[command(flatten)]
        flags: Flags,
    },
    /// Delete an account and its secret.
    Remove {
        /// Project id.
        #[arg(long)]
        project: String,
        /// The provider.
        #[arg(long)]
        provider: String,
        #[command(flatten)]
        flags: Flags,
    },
}

/// Runs the command.
pub async fn run(command: ProviderCommand, json: bool) -> Result<Exit, CliError> {
    match command {
        ProviderCommand::Set {
            project: id,
            provider,
            secret_file,
            base_url,
            model,
            settings,
            flags,
        } => {
            let secret = secret_file.as_deref().map(secret).transpose()?;
            let named = [("baseUrl", base_url), ("model", model)];
            let named = named
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)));
            let settings: BTreeMap<String, String> = settings.into_iter().chain(named).collect();
            let installation = open(&flags).await?;
            let keyring = installation.keyring.clone();
            let set = installation
                .engine
                .set_provider(keyring, project(&id)?, &provider, settings, secret)
                .await;
            installation.engine.db.close().await;
            let account = set.map_err(refused)?;
            show(json, &serde_json::json!(account), &line(&account))
        }
        ProviderCommand::List { project: id, flags } => {
            let installation = open(&flags).await?;
            let listed = installation.engine.list_providers(project(&id)?).await;
            installation.engine.db.close().await;
            let accounts = listed.map_err(refused)?;
            let lines: Vec<String> = accounts.iter().map(line).collect();
            let text = if lines.is_empty() {
                "no provider is set".to_owned()
            } else {
                lines.join("\n")
            };
            show(json, &serde_json::json!({ "data": accounts }), &text)
        }
        ProviderCommand::Remove {
            project: id,
            provider,
            flags,
        } => {
            let installation = open(&flags).await?;
            let removed = installation
                .engine
                .remove_provider(project(&id)?, &provider)
                .await;
            installation.engine.db.close().await;
            let changed = removed.map_err(refused)?;
            let text = if changed { "removed" } else { "it was not set" };
            show(
                json,
                &serde_json::json!({ "provider": provider, "removed": true, "changed": changed }),
                text,
            )
        }
    }
}

/// The secret in a file, without the line end that editors add.
pub(super) fn secret(file: &str) -> Result<String, CliError> {
    let mut text = String::new();
    let read = if file == "-" {
        std::io::stdin().take(MAX_BYTES).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|f| f.take(MAX_BYTES).read_to_string(&mut text))
    };
    read.map_err(|e| CliError::new(Exit::Usage, format!("--secret-file {file}: {e}")))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn line(account: &ProviderAccount) -> String {
    let settings = account
        .settings
        .iter()
        .map(|(name, value)| format!(" {name}={value}"));
    let secret = if account.has_secret {
        "secret set"
    } else {
        "no secret"
    };
    format!(
        "{:<14} {secret}{}",
        account.provider,
        settings.collect::<String>()
    )
}
