//! Queries and mutations, and the credential that goes with them.

use http::{HeaderName, Method};
use serde_json::{Value, json};

use super::Shopify;
use crate::{
    error::{Cause, Trouble, Why},
    http::{Answer, Server},
    values::{list, text},
};

const GRAPHQL: &str = "/admin/api/2026-10/graphql.json";
const TOKEN: HeaderName = HeaderName::from_static("x-shopify-access-token");

impl Shopify {
    pub(super) async fn server(&self) -> Result<&Server, Trouble> {
        self.server
            .get_or_try_init(|| async {
                let server = Server::new(self.client.clone(), &self.base);
                let token = match self.connection.secret("token").trim() {
                    "" => self.exchanged(server.clone()).await?,
                    token => token.to_owned(),
                };
                server.with_secret(TOKEN, &token, &token)
            })
            .await
    }

    /// The token of a day that an app of the Dev Dashboard gets.
    async fn exchanged(&self, server: Server) -> Result<String, Trouble> {
        let secret = self.connection.secret("clientSecret").trim();
        let client = self.connection.setting("clientId").trim();
        if secret.is_empty() || client.is_empty() {
            return Err(Trouble::because(
                Why::Credential,
                "enter an access token, or the client ID and the client secret",
            ));
        }
        let body =
            json!({ "client_id": client, "client_secret": secret, "grant_type": "client_credentials" });
        match server
            .hiding(secret)
            .ask("/admin/oauth/access_token", &body)
            .await
        {
            Err(Trouble::Refused {
                why: Why::Invalid,
                said,
            }) => Err(Trouble::Refused {
                why: Why::Credential,
                said,
            }),
            answer => {
                let answer = answer?.json()?;
                let token = text(&answer, "/access_token").ok_or(Trouble::refused(Why::Unreadable))?;
                Ok(token.to_owned())
            }
        }
    }

    pub(super) async fn ask(&self, query: &str, variables: Value) -> Result<Value, Trouble> {
        let body = json!({ "query": query, "variables": variables });
        let server = self.server().await?;
        understood(server, server.ask(GRAPHQL, &body).await?, false)
    }

    pub(super) async fn write(&self, query: &str, variables: Value) -> Result<Value, Trouble> {
        let body = json!({ "query": query, "variables": variables });
        let server = self.server().await?;
        understood(server, server.write(Method::POST, GRAPHQL, &body).await?, true)
    }
}

/// An answer that leaves open what happened.
pub(super) fn unreadable() -> Trouble {
    Trouble::Unclear {
        cause: Cause::Unreadable,
        status: Some(200),
    }
}

/// The data of an answer, or what its errors mean: GraphQL says all of them with status 200.
fn understood(server: &Server, answer: Answer, writes: bool) -> Result<Value, Trouble> {
    let error = list(&answer.body, "/errors").first();
    let Some(error) = error else {
        let data = answer.body.get("data").filter(|data| data.is_object());
        return data.cloned().ok_or(if writes {
            unreadable()
        } else {
            Trouble::refused(Why::Unreadable)
        });
    };
    let said = text(error, "/message").unwrap_or("it is not said why");
    Err(match text(error, "/extensions/code") {
        Some("THROTTLED") => Trouble::NotNow {
            cause: Cause::RateLimited,
            after: None,
        },
        Some("ACCESS_DENIED") => server.refusal(Why::Permission, said),
        Some("INTERNAL_SERVER_ERROR" | "TIMEOUT") if writes => Trouble::Unclear {
            cause: Cause::Status,
            status: Some(200),
        },
        Some("INTERNAL_SERVER_ERROR" | "TIMEOUT") => Trouble::NotNow {
            cause: Cause::Status,
            after: None,
        },
        _ => server.refusal(Why::Invalid, said),
    })
}
