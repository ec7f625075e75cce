//! `searchwright admin oauth-app …`: OAuth applications registered with publishing providers.

use clap::Subcommand;
use searchwright_cli::{CliError, Exit};
use searchwright_server::config::Flags;

use super::{open, pair, providers::secret, refused, show};

/// OAuth applications registered with publishing providers.
#[derive(Clone, Debug, Subcommand)]
pub enum OauthAppCommand {
    /// Set the application for a provider, replacing an existing one. Its redirect URL is
    /// PUBLIC_URL/connect/callback.
    Set {
        /// webflow, notion, shopify, wix or contentful.
        #[arg(long)]
        provider: String,
        /// Client id of the application at the provider.
        #[arg(long)]
        client_id: String,
        /// File with the client secret, or - for standard input.
        #[arg(long)]
        secret_file: String,
        /// authorizeUrl, tokenUrl or apiUrl, if they differ from the provider's usual ones; may be repeated.
        #[arg(long = "setting", value_name = "NAME=VALUE", value_parser = pair)]
        settings: Vec<(String, String)>,
        #[command(flatten)]
        flags: Flags,
    },
    /// List the applications, without their secrets.
    List {
        #[command(flatten)]
        flags: Flags,
    },
    /// Delete the application for a provider.
    Remove {
        /// webflow, notion, shopify, wix or contentful.
        #[arg(long)]
        provider: String,
        #[command(flatten)]
        flags: Flags,
    },
}

/// Runs the command.
pub async fn run(command: OauthAppCommand, json: bool) -> Result<Exit, CliError> {
    match command {
        OauthAppCommand::Set {
            provider,
            client_id,
            secret_file,
            settings,
            flags,
        } => {
            let secret = secret(&secret_file)?;
            let installation = open(&flags).await?;
            let (engine, settings) = (&installation.engine, settings.into_iter().collect());
            let set = engine.set_oauth_app(&provider, client_id, settings, secret).await;
            engine.db.close().await;
            set.map_err(refused)?;
            show(
                json,
                &serde_json::json!({ "provider": provider }),
                &format!("{provider} is set"),
            )
        }
        OauthAppCommand::List { flags } => {
            let installation = open(&flags).await?;
            let listed = installation.engine.oauth_apps().await;
            installation.engine.db.close().await;
            let apps = listed.map_err(refused)?;
            let lines: Vec<String> = apps
                .iter()
                .map(|app| format!("{:<10} {}", app.provider, app.client_id))
                .collect();
            let text = if lines.is_empty() {
                "none is set".to_owned()
            } else {
                lines.join("\n")
            };
            let data: Vec<_> = apps
                .iter()
                .map(|app| serde_json::json!({ "provider": app.provider, "clientId": app.client_id, "settings": app.settings }))
                .collect();
            show(json, &serde_json::json!({ "data": data }), &text)
        }
        OauthAppCommand::Remove { provider, flags } => {
            let installation = open(&flags).await?;
            let removed = installation.engine.remove_oauth_app(&provider).await;
            installation.engine.db.close().await;
            removed.map_err(refused)?;
            show(
                json,
                &serde_json::json!({ "provider": provider, "removed": true }),
                "removed",
            )
        }
    }
}
