//! This server as OAuth 2.1 authorization server: clients, consent, tokens.
//!
//! Tokens are opaque and stored by their digests. All tokens of a grant are one family, which ends as a whole. Redemption,
//! rotation and revocation are each one transaction, together with their entries in the log.

pub mod attempts;
mod client_documents;
pub mod clients;
pub mod devices;
pub mod requests;
pub mod revocation;
pub mod tokens;

pub(crate) use searchwright_identity::oauth::known_scopes;
pub use searchwright_identity::oauth::{
    OFFLINE_ACCESS, OauthCode, OauthError, Resources, canonical, client_metadata::is_document_url,
    parameters, read_scopes,
};
