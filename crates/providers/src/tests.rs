//! Vendors against a server of the tests: what they are sent, and what is made of answers that are whole,
//! refused, stalled, cut or lies.

mod answers;
mod answers_models;
mod answers_search;
mod dataforseo;
mod google;
mod models;
mod streaming;
mod trial;

use secrecy::SecretString;

use crate::Credentials;

/// Credentials with these settings.
fn credentials(secret: Option<&str>, settings: &[(&str, &str)]) -> Credentials {
    Credentials {
        settings: settings
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect(),
        secret: secret.map(SecretString::from),
    }
}
