//! `searchwright admin oauth-client …`: programs that connect to this server with a secret.

use clap::Subcommand;
use searchwright_cli::{CliError, Exit};
use searchwright_server::config::Flags;
use serde_json::{Value, json};

use super::{open, refused, show};

/// Programs that connect to this server with a secret.
#[derive(Clone, Debug, Subcommand)]
pub enum OauthClientCommand {
    /// Create a client, and print its id and its secret, which is shown only once. It may look tokens up (RFC 7662).
    Create {
        /// Name, which people see when they are asked for consent.
        #[arg(long)]
        name: String,
        /// Redirect URI; may be repeated. Without one the client can only look tokens up.
        #[arg(long = "redirect-uri", value_name = "URI")]
        redirect_uris: Vec<String>,
        #[command(flatten)]
        flags: Flags,
    },
    /// List the clients that were created here, without their secrets.
    List {
        #[command(flatten)]
        flags: Flags,
    },
    /// Delete a client. Its tokens end.
    Remove {
        /// Id of the client.
        id: String,
        #[command(flatten)]
        flags: Flags,
    },
}

/// Runs the command.
pub async fn run(command: OauthClientCommand, json: bool) -> Result<Exit, CliError> {
    match command {
        OauthClientCommand::Create {
            name,
            redirect_uris,
            flags,
        } => {
            let installation = open(&flags).await?;
            let created = installation
                .people
                .create_oauth_client(&name, redirect_uris)
                .await;
            installation.engine.db.close().await;
            let created = created.map_err(refused)?;
            let text = format!(
                "client_id      {}\nclient_secret  {}\n\nthe secret is shown only now",
                created.client_id, created.client_secret
            );
            show(json, &json!(created), &text)
        }
        OauthClientCommand::List { flags } => {
            let installation = open(&flags).await?;
            let listed = installation.people.created_oauth_clients().await;
            installation.engine.db.close().await;
            let clients = listed.map_err(refused)?;
            let lines: Vec<String> = clients
                .iter()
                .map(|client| format!("{} {}", client.id, client.name))
                .collect();
            let values: Vec<Value> = clients
                .iter()
                .map(|client| {
                    json!({ "clientId": client.id, "name": client.name, "redirectUris": client.redirect_uris })
                })
                .collect();
            let text = match lines.is_empty() {
                true => "none was created".to_owned(),
                false => lines.join("\n"),
            };
            show(json, &json!({ "data": values }), &text)
        }
        OauthClientCommand::Remove { id, flags } => {
            let installation = open(&flags).await?;
            let deleted = installation.people.delete_oauth_client(&id).await;
            installation.engine.db.close().await;
            deleted.map_err(refused)?;
            show(json, &json!({ "clientId": id }), &format!("{id} is deleted"))
        }
    }
}
