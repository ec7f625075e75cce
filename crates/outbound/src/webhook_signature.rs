//! Signatures by Standard Webhooks 1.0.0.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;

/// Prefix of every secret.
pub const SECRET_PREFIX: &str = "whsec_";

/// Returns the `webhook-signature` header: one signature for each secret, separated by spaces. Fails when a secret is not
/// base64 after its prefix.
pub fn signatures(
    secrets: &[SecretString],
    id: &str,
    seconds: i64,
    body: &str,
) -> Result<String, &'static str> {
    let sign = |secret: &SecretString| {
        let text = secret
            .expose_secret()
            .strip_prefix(SECRET_PREFIX)
            .unwrap_or_default();
        let key = STANDARD
            .decode(text)
            .map_err(|_| "a webhook's secret is not base64")?;
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&key).map_err(|_| "a webhook's secret has no length of a key")?;
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body.as_bytes());
        Ok::<_, &'static str>(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
    };
    let signatures: Vec<String> = secrets.iter().map(sign).collect::<Result<_, _>>()?;
    Ok(signatures.join(" "))
}
