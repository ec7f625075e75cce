//! Activity: who changed what, when, and with which credential.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Instant, declare::operation, words::words};

words! {
    /// Kind of a credential.
    CredentialKind {
        /// A project's API key.
        ApiKey = "api_key",
        /// A person on a page that works once, such as the one that connects a provider.
        Page = "page",
        /// The operator, on the server itself.
        Operator = "operator",
        /// The server, by itself.
        Server = "server",
    }
}

operation! {
    /// Lists what was changed in a project, newest first: by whom, when and with which credential.
    ///
    /// Every call that changes something is one entry, written together with its change; so is what a person does to connect a provider, and what the
    /// server does by itself to a webhook or a connection. Kept for 400 days.
    ListActivity {
        project;
        paging;
    }
}

/// A call that changed something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    /// Identifier.
    #[schemars(example = &"01936f31-52b1-7d0a-9b8e-5f0c1d2e3a4b")]
    pub id: String,
    /// Name of the operation.
    #[schemars(example = &"keywords.create")]
    pub action: String,
    /// Id of the record that was acted on or made, of the job where work was started; `null` where there is
    /// not one record.
    #[schemars(example = &"01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10")]
    pub subject: Option<String>,
    /// With what the caller proved who they are, as it was called then.
    pub credential: UsedCredential,
    /// When.
    pub created_at: Instant,
}

/// A credential that was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsedCredential {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: CredentialKind,
    /// Its identifier; the nil UUID where no credential was used.
    pub id: String,
    /// Its label.
    #[schemars(example = &"agent")]
    pub name: String,
}
