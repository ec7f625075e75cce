//! Webhooks by Standard Webhooks 1.0.0: secrets, signatures, when a delivery is tried again, and the sender.

mod schedule;
mod sender;
#[cfg(test)]
mod tests;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use searchwright_store::Error;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;

pub use sender::Sender;

use crate::failure::{Result, defect};

/// Begins every secret.
const PREFIX: &str = "whsec_";
/// Random bytes of a secret.
const SECRET_BYTES: usize = 32;

/// A secret that nobody has had.
pub(crate) fn new_secret() -> Result<SecretString> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|_| defect("secret", "no randomness is available"))?;
    Ok(SecretString::from(format!("{PREFIX}{}", STANDARD.encode(bytes))))
}

/// The `webhook-signature` header: one signature for each secret, parted by spaces.
pub(crate) fn signatures(
    secrets: &[SecretString],
    id: &str,
    seconds: i64,
    body: &str,
) -> Result<String, Error> {
    let sign = |secret: &SecretString| {
        let text = secret.expose_secret().strip_prefix(PREFIX).unwrap_or_default();
        let key = STANDARD
            .decode(text)
            .map_err(|_| Error::Seal("a webhook's secret is not base64"))?;
        let mut mac = Hmac::<Sha256>::new_from_slice(&key)
            .map_err(|_| Error::Seal("a webhook's secret has no length of a key"))?;
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body.as_bytes());
        Ok(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
    };
    let signatures: Vec<String> = secrets.iter().map(sign).collect::<Result<_, Error>>()?;
    Ok(signatures.join(" "))
}
