//! Operation that returns the credential of the caller.

use searchwright_contract::{
    me::{ApiKey, Authorization, ClientRef, GetMe, KeyIdentity, Me, TokenIdentity},
    people::UserRef,
};
use searchwright_store::Tx;

use super::projects::accessible_projects;
use crate::{
    Engine,
    call::{Call, Credential},
    endpoint::Handle,
    failure::{Result, defect},
};

/// Projects that are listed, at most.
const MAX_PROJECTS: u32 = 100;

impl Handle<GetMe> for Engine {
    async fn handle(call: &Call, tx: &mut Tx, _: GetMe) -> Result<Me> {
        let token = match &call.credential {
            Credential::Key(access) => {
                let key = &access.key;
                return Ok(Me::Key(KeyIdentity {
                    api_key: ApiKey {
                        id: key.id,
                        name: key.name.clone(),
                        prefix: key.prefix.clone(),
                        last_used_at: key.last_used_at,
                        scopes: key.scopes.iter().map(|s| s.as_str().to_owned()).collect(),
                        read_only: key.read_only,
                        expires_at: key.expires_at,
                    },
                    project: access.project.project.clone(),
                }));
            }
            Credential::Token(token) => token,
            Credential::Session(_) => return Err(defect("me.get", "pages know who is signed in")),
        };
        Ok(Me::Token(TokenIdentity {
            authorization: Authorization {
                kind: "oauth".to_owned(),
                user: UserRef {
                    id: token.user,
                    name: token.user_name.clone(),
                },
                client: ClientRef {
                    id: token.client.clone(),
                    name: token.client_name.clone(),
                },
                scopes: token.scopes.iter().map(|s| s.as_str().to_owned()).collect(),
                expires_at: token.expires_at,
            },
            projects: accessible_projects(tx, token.user, None, MAX_PROJECTS, call.now).await?,
        }))
    }
}
