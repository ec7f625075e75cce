//! Webhooks by Standard Webhooks 1.0.0: secrets, the schedule of retries, and the sender.

mod schedule;
mod sender;
#[cfg(test)]
mod tests;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use searchwright_outbound::webhook_signature::SECRET_PREFIX;
use secrecy::SecretString;

pub use sender::Sender;

use crate::failure::{Result, defect};

/// Random bytes of a secret.
const SECRET_BYTES: usize = 32;

/// Returns a new random secret.
pub(crate) fn new_secret() -> Result<SecretString> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|_| defect("secret", "no randomness is available"))?;
    Ok(SecretString::from(format!(
        "{SECRET_PREFIX}{}",
        STANDARD.encode(bytes)
    )))
}
