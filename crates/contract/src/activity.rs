//! Activity: the log of changes, each with its time and credential.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Instant,
    declare::operation,
    ids::{ActivityId, CredentialId},
    people::UserRef,
    words::words,
};

words! {
    /// Kind of a credential.
    CredentialKind {
        /// A project's API key.
        ApiKey = "api_key",
        /// An OAuth token, by its grant.
        OauthToken = "oauth",
        /// A person who is signed in to the dashboard.
        Session = "session",
        /// A single-use page opened by a person, such as the page that connects a provider.
        Page = "page",
        /// The operator, on the server's command line.
        Operator = "operator",
        /// The server itself, without a call.
        Server = "server",
    }
}

operation! {
    /// Lists the changes made in a project, newest first, each with its time and the credential that was used.
    ///
    /// Every call that changes something is one entry, written together with its change. Steps that a person takes to
    /// connect a provider, and changes that the server itself makes to a webhook or a connection, are entries too.
    /// Kept for 400 days.
    ListActivity {
        project;
        paging;
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    /// Identifier.
    #[schemars(example = &"01936f31-52b1-7d0a-9b8e-5f0c1d2e3a4b")]
    pub id: ActivityId,
    /// Name of the operation.
    #[schemars(example = &"keywords.create")]
    pub action: String,
    /// Id of the record that was changed or created, or of the job if one was started; `null` if more than one record
    /// was affected, or none.
    #[schemars(example = &"01936f30-1c1e-7f7b-8a55-0d4b8f2f7a10")]
    pub subject: Option<String>,
    /// Credential of the caller, with the name it had at the time.
    pub credential: UsedCredential,
    /// Person on whose behalf the call was made, with the name at the time; `null` without one.
    pub user: Option<UserRef>,
    /// Time of the change.
    pub created_at: Instant,
}

/// A credential that was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsedCredential {
    /// Kind of the credential.
    #[serde(rename = "type")]
    pub kind: CredentialKind,
    /// Id of the API key or of the OAuth grant; the nil UUID if none was used.
    pub id: CredentialId,
    /// Label of the API key, or name of the OAuth client.
    #[schemars(example = &"agent")]
    pub name: String,
}
