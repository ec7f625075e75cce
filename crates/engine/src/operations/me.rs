//! Operation that returns the credential of the caller.

use searchwright_contract::me::{ApiKey, GetMe, Me};
use searchwright_store::Tx;

use crate::{
    Engine,
    call::{Call, Credential},
    endpoint::Handle,
    failure::Result,
};

impl Handle<GetMe> for Engine {
    async fn handle(call: &Call, _: &mut Tx, _: GetMe) -> Result<Me> {
        let Credential::Key(access) = &call.credential;
        let key = &access.key;
        Ok(Me {
            api_key: ApiKey {
                id: key.id,
                name: key.name.clone(),
                prefix: key.prefix.clone(),
                last_used_at: key.last_used_at,
                scopes: key.scopes.iter().map(|s| s.as_str().to_owned()).collect(),
                read_only: key.read_only,
                expires_at: key.expires_at,
            },
            project: access.project.clone(),
        })
    }
}
